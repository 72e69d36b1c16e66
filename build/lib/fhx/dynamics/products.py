r"""Long products of Jacobians, :math:`J_T J_{T-1} \cdots J_1`, whose numbers leave the range of floats.

The derivative through :math:`T` steps grows or shrinks exponentially in :math:`T`. So a product is kept as a matrix of
moderate numbers and a logarithm. A matrix is only ever scaled by powers of two, which rounds nothing. A product that is
exactly zero, as in a ReLU net that falls silent, has the logarithm :math:`-\infty`; nothing is NaN as long as the
Jacobians are finite.
"""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor

SWEEPS = 60  # of rotations, at most; a few are enough


def log_product(
    jacobians: Float[Tensor, "time batch width width"],
) -> tuple[Float[Tensor, "batch width width"], Float[Tensor, " batch"]]:
    r"""The product :math:`J_T \cdots J_1 = e^{\ell} M`, as :math:`M` and :math:`\ell`.

    The largest entry of :math:`M` lies between 1/2 and 1; of no Jacobians the product is the identity. A product of
    zero is :math:`M = 0`, :math:`\ell = -\infty`.

    Args:
        jacobians: :math:`J_1, \dots, J_T`, as from ``jacobians``.

    Raises:
        ValueError: the matrices are not square.
    """
    product, exponent = rescaled(_identity(jacobians), (-2, -1))
    for jacobian in jacobians:
        product, exponent = rescaled(jacobian @ product, (-2, -1), exponent)
    zero = ~product.any(-1).any(-1)
    return product, natural_log(exponent[:, 0, 0], product).masked_fill(zero, -torch.inf)


def product_norms(jacobians: Float[Tensor, "time batch width width"]) -> Float[Tensor, "steps batch"]:
    r"""Logarithms of the norms of the derivatives of the last state by every state.

    Row :math:`t` holds :math:`\log \lVert \partial h_T / \partial h_t \rVert_2`, :math:`t = 0, \dots, T`: the largest
    singular value of :math:`J_T \cdots J_{t+1}`. The last row is 0, the identity's. Shape ``(time + 1, batch)``.

    Args:
        jacobians: :math:`J_1, \dots, J_T`, as from ``jacobians``.

    Raises:
        ValueError: the matrices are not square.
    """
    product, exponent = rescaled(_identity(jacobians), (-2, -1))
    logs = [_log_norm(product, exponent)]
    for jacobian in jacobians.flip(0):
        product, exponent = rescaled(product @ jacobian, (-2, -1), exponent)
        logs.append(_log_norm(product, exponent))
    return torch.stack(logs).flip(0)


def log_singular_values(jacobians: Float[Tensor, "time batch width width"]) -> Float[Tensor, "batch width"]:
    r"""Logarithms of all singular values of :math:`J_T \cdots J_1`, largest first.

    The factors are made triangular one after the other, :math:`J_t Q_{t-1} = Q_t R_t`, so that the product is
    :math:`Q_T R_T \cdots R_1 Q_0^\top`, and the triangular product is kept as rows of norm one, each with its
    logarithm. Its rows are then turned into orthogonal ones by one-sided Jacobi rotations, in the same form, so
    that a small singular value beside one that is :math:`e^{1000}` times larger keeps its digits.

    Args:
        jacobians: :math:`J_1, \dots, J_T`, as from ``jacobians``.

    Raises:
        ValueError: the matrices are not square.

    Source: Demmel & Veselić (1992) on why Jacobi's method keeps the digits of graded matrices.
    """
    frame = rows = _identity(jacobians)
    logs = rows.new_zeros(rows.shape[:-1])
    for jacobian in jacobians:
        frame, r = torch.linalg.qr(jacobian @ frame)
        weights = r.abs().log() + logs[:, None, :]
        top = weights.amax(-1, keepdim=True)
        rows, logs = _unit_rows((r.sign() * (weights - top.clamp(min=-1e300)).exp()) @ rows, top[..., 0])
    return _orthogonal_rows(rows, logs).sort(-1, descending=True).values


def rescaled(
    x: Tensor, dims: tuple[int, ...], exponent: Int[Tensor, "..."] | int = 0
) -> tuple[Tensor, Int[Tensor, "..."]]:
    r"""The numbers :math:`2^e x` scaled so that the largest over ``dims`` lies in [1/2, 1), and the new exponent."""
    shift = torch.frexp(x.abs().amax(dims, keepdim=True)).exponent
    half = shift // 2  # two steps: the power itself may not be a float
    return torch.ldexp(torch.ldexp(x, -half), half - shift), exponent + shift


def natural_log(exponent: Int[Tensor, "*shape"], like: Tensor) -> Float[Tensor, "*shape"]:
    """The logarithm of a power of two, of the dtype of ``like``."""
    return exponent.to(like.dtype) * log(2)


def _log_norm(matrices: Tensor, exponent: Int[Tensor, "batch 1 1"]) -> Float[Tensor, " batch"]:
    return torch.linalg.matrix_norm(matrices, 2).log() + natural_log(exponent[:, 0, 0], matrices)


def _identity(jacobians: Tensor) -> Float[Tensor, "batch width width"]:
    _, batch, rows, columns = jacobians.shape
    if rows != columns:
        raise ValueError(f"the matrices of a product must be square, got {rows} x {columns}")
    return torch.eye(rows).to(jacobians).expand(batch, -1, -1)


def _unit_rows(rows: Tensor, logs: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and their logarithms with every row's norm moved to its logarithm; a row of zeros stays."""
    norms = torch.linalg.vector_norm(rows, dim=-1)
    return rows / norms.where(norms > 0, 1)[..., None], norms.log() + logs


def _orthogonal_rows(rows: Tensor, logs: Tensor) -> Float[Tensor, "batch width"]:
    """One-sided Jacobi: each round turns disjoint pairs of rows, and a sweep of rounds meets every pair once.

    Returns the logarithms of the norms of the rows when no two are further from orthogonal than rounding, or after
    ``SWEEPS`` sweeps.
    """
    width = rows.shape[-2]
    rounds = [rows.new_tensor(pairs, dtype=torch.long).T for pairs in _tournament(width)]
    for _ in range(SWEEPS):
        gram = rows @ rows.mT
        gram = gram - torch.diag_embed(gram.diagonal(dim1=-2, dim2=-1))
        if not gram.numel() or gram.abs().max() <= width * torch.finfo(rows.dtype).eps:
            break
        for first, second in rounds:
            swap = logs[:, first] < logs[:, second]
            large, small = torch.where(swap, second, first), torch.where(swap, first, second)
            rows, logs = _turn(rows, logs, large, small)
    return logs


def _turn(rows: Tensor, logs: Tensor, large: Tensor, small: Tensor) -> tuple[Tensor, Tensor]:
    r"""Make pairs of rows :math:`e^{a} u, e^{b} v`, :math:`b \le a`, orthogonal.

    With :math:`r = e^{b-a}` and :math:`\gamma = u \cdot v` the rotation has the tangent :math:`r \tau`,
    :math:`\tau = 2 \gamma / (1 - r^2 + \sqrt{(1 - r^2)^2 + 4 r^2 \gamma^2})`, in which nothing overflows.
    """
    index = torch.cat([large, small], 1)
    entries = index[..., None].expand_as(rows[:, : index.shape[1]])
    (a, b), (u, v) = (x.chunk(2, 1) for x in (logs.gather(1, index), rows.gather(1, entries)))
    r = torch.where(b > -torch.inf, b - a, b).exp()
    gamma = (u * v).sum(-1)
    below = 1 - r**2 + torch.hypot(1 - r**2, 2 * r * gamma)
    tau = 2 * gamma / below.where(below > 0, 1)  # 0 of two orthogonal rows of one norm
    cosine = torch.rsqrt(1 + (r * tau) ** 2)
    turned = torch.cat([u + (tau * r**2)[..., None] * v, v - tau[..., None] * u], 1)
    turned, norms = _unit_rows(torch.cat([cosine, cosine], 1)[..., None] * turned, torch.cat([a, b], 1))
    return rows.scatter(1, entries, turned), logs.scatter(1, index, norms)


def _tournament(width: int) -> list[list[tuple[int, int]]]:
    """Rounds in which every two of ``width`` players meet once; one sits out where they are odd in number."""
    if width < 2:
        return []
    players = list(range(width + width % 2))
    rounds = []
    for _ in range(len(players) - 1):
        pairs = [(players[i], players[-1 - i]) for i in range(len(players) // 2)]
        rounds.append([pair for pair in pairs if max(pair) < width])
        players = [players[0], players[-1], *players[1:-1]]
    return rounds
