r"""Cells that are stable by construction: weights for which every value is a contraction, so that nothing is projected.

For a simple or a linear cell, :math:`f(h, x) = \sigma(W h + U x + b)` with slopes of :math:`\sigma` from 0 to L, let

.. math:: W = \frac{\lambda}{L} P^{-1/2} Q P^{1/2}, \qquad P \succ 0 \text{ diagonal}, \quad \lVert Q \rVert_2 \le 1.

*Then a step is a contraction at the rate* :math:`\lambda` *in* :math:`|h|_P = |P^{1/2} h|_2`, *for all biases and
inputs.* Two states that are :math:`\delta` apart have next states :math:`\Sigma W \delta` apart, with a diagonal
:math:`\Sigma` of slopes. It commutes with :math:`P^{1/2}`, so that :math:`|\Sigma W \delta|_P = \frac{\lambda}{L}
|\Sigma Q P^{1/2} \delta|_2 \le \lambda |\delta|_P`.

All such Q but few are reached from numbers that are free, by a Cayley transform:

.. math:: Q = (I - M)(I + M)^{-1}, \qquad M = S - S^\top + V V^\top.

*Every S and V give* :math:`\lVert Q \rVert_2 \le 1`. Since :math:`u^\top M u = |V^\top u|^2 \ge 0`, no :math:`u \ne 0`
has :math:`(I + M) u = 0`; and with :math:`v = (I + M) u`, :math:`|v|^2 - |Q v|^2 = |u + M u|^2 - |u - M u|^2 =
4\, u^\top M u \ge 0`.

*Every Q with* :math:`\lVert Q \rVert_2 \le 1` *and without the eigenvalue -1 is reached.* Take
:math:`M = (I - Q)(I + Q)^{-1}`. With :math:`u = (I + Q) w`, :math:`u^\top M u = |w|^2 - |Q w|^2 \ge 0`, so its
symmetric part is some :math:`V V^\top`, and half its skew part is an S. As :math:`I + M = 2 (I + Q)^{-1}` and
:math:`I - M = 2 Q (I + Q)^{-1}`, M gives Q back.

So the weights reached are those with :math:`W^\top P W \preceq (\lambda / L)^2 P` for some diagonal P (diagonal Schur
stability at this rate, see :mod:`fhx.stability.slopes`) but for those with the eigenvalue :math:`-\lambda / L`. That
set contains the ball :math:`\lVert W \rVert_2 \le \lambda / L`, onto which :func:`~fhx.stability.project` moves W (but
for that eigenvalue), and is larger: of :math:`W = \begin{pmatrix} 0 & c \\ 0 & 0 \end{pmatrix}` it holds every c. With
P = I it is the ball.

Sources: the Cayley transform for recurrent weights is that of Helfrich, Willmott and Ye (2018), "Orthogonal recurrent
neural networks with scaled Cayley transform", whose M is skew and whose signs reach the eigenvalue -1 too; with a
semidefinite part beside the skew one it is in Wang and Manchester (2023), "Direct parameterization of Lipschitz-bounded
deep networks". Sets of contracting nets without constraints on their parameters are those of Revay, Wang and
Manchester, "Recurrent equilibrium networks: flexible dynamic models with guaranteed stability and robustness" (arXiv
2104.05942), whose norms are more general than diagonal ones. Erichson, Azencot, Queiruga, Hodgkinson and Mahoney
(2021), "Lipschitz recurrent neural networks", build weights of nets in continuous time from a symmetric and a skew
part. The linear recurrent units of Orvieto et al. (2023), "Resurrecting recurrent neural networks for long sequences",
have eigenvalues of moduli below 1 by their form.
"""

from math import sqrt

import numpy as np
import torch
from jaxtyping import Float, Integer
from scipy.optimize import minimize
from torch import Tensor, nn
from torch.nn.utils import parametrize

from fhx._checks import positive, positive_number
from fhx.cells import Cell, LinearCell, SimpleCell
from fhx.cells.activations import identity
from fhx.dynamics import Realization
from fhx.stability.certificates import check_kind
from fhx.stability.contraction import SMALLEST, check_positive_rate
from fhx.stability.norms import EPS, exact, slope_bound, two_norm

INSIDE = 1 - 2.0**-10
"""The largest norm of a Q that a given W starts with: where Q is orthogonal V is 0, and no gradient moves it."""
WIDEST = 10.0
"""The largest logarithm of a number of :math:`P^{1/2}` that is looked for."""
POWERS = (2, 8, 32, 128, 512)
"""Of the singular values, in the smooth functions whose minima lead to that of the largest one."""


class Contracting(nn.Module):
    r"""The weights :math:`W = \lambda P^{-1/2} Q P^{1/2}` of S, V and s, for ``torch.nn.utils.parametrize``.

    The diagonal of :math:`P^{1/2}` is :math:`e^s`. All is computed in float64 and rounded to the weights' type at the
    end. Rounding moves each number of W by a part of itself, and so :math:`\lVert Q \rVert_2` by no more than that part
    times :math:`\sqrt d`; the rate is lowered by as much, and by what a solution of :math:`(I + M) X = I - M` in
    float64 leaves, as long as :math:`\lVert M \rVert` is moderate. :func:`diagonal_rate` certifies without that.

    Args:
        rate: :math:`\lambda`, above 0 and below 1 for a contraction.
        size: d.
        dtype: of the weights.
        diagonal: whether P is free; if not it is I.

    Raises:
        ValueError: the rate is not a positive number, or the size is not a positive integer.
    """

    def __init__(self, rate: float, size: int, dtype: torch.dtype, diagonal: bool = True) -> None:
        super().__init__()
        rate = positive_number("rate", rate)
        self.size, self.dtype, self.diagonal = positive("size", size), dtype, diagonal
        self.rate = rate * (1 - (sqrt(size) + 1) * torch.finfo(dtype).eps - 64 * (size + 16) * EPS)

    def forward(
        self, S: Float[Tensor, "d d"], V: Float[Tensor, "d d"], *s: Float[Tensor, " d"]
    ) -> Float[Tensor, "d d"]:
        """W."""
        S, V = S.double(), V.double()
        M, one = S - S.mT + V @ V.mT, torch.eye(self.size, dtype=torch.float64, device=S.device)
        W = self.rate * torch.linalg.solve(one + M, one - M)
        if self.diagonal:
            root = s[0].double()
            W = W * torch.exp(root - root[:, None])
        return W.to(self.dtype)

    def right_inverse(self, W: Float[Tensor, "d d"]) -> tuple[Tensor, ...]:
        r"""S, V and s for which :meth:`forward` gives W, or what is nearest to it.

        If :math:`\lVert W \rVert_2` is within the rate, P = I. Otherwise P is that of :func:`best_diagonal_norm`. Where
        the norm of Q is still above ``INSIDE``, its singular values are clipped there: of all matrices within that
        bound the result is the nearest one, in the Frobenius norm of :math:`P^{1/2} W P^{-1/2}`.

        Raises:
            ValueError: W is not of the size, or holds a number that is not finite.
        """
        Q = exact("W", W).cpu() / self.rate
        if Q.shape != (self.size, self.size):
            raise ValueError(f"W must have shape {(self.size, self.size)}, got {tuple(Q.shape)}")
        one, log_root = torch.eye(self.size, dtype=torch.float64), torch.zeros(self.size, dtype=torch.float64)
        if self.diagonal and torch.linalg.matrix_norm(Q, 2) > INSIDE:
            log_root = best_diagonal_norm(Q).log() / 2
            Q = Q * torch.exp(log_root[:, None] - log_root)
        if torch.linalg.matrix_norm(Q, 2) > INSIDE:
            left, values, right = torch.linalg.svd(Q)
            Q = (left * values.clamp(max=INSIDE)) @ right
        M = torch.linalg.solve(one + Q, one - Q)
        values, vectors = torch.linalg.eigh((M + M.mT) / 2)
        V = (vectors * values.clamp(min=0).sqrt()) @ vectors.mT
        found = ((M - M.mT) / 4, V, *([log_root] if self.diagonal else []))
        return tuple(part.to(W) for part in found)


def contracting(cell: Cell, rate: float, *, diagonal: bool = True) -> Cell:
    r"""Make a cell stable by construction, in place: from now on all values of its parameters are contractions.

    Its W is computed from S, V and s (see :class:`Contracting`), which take its place among the parameters, at
    :math:`\lambda / L_\sigma`. It starts at the W that the cell has, or as near to it as this form allows. An optimiser
    must be made after that. What is assigned to ``cell.W`` is brought to the form too; what is written into it in
    place, as initialisers and ``project`` do, is lost. The cell stays a ``SimpleCell`` or ``LinearCell`` for
    ``isinstance``, but torch's ``parametrize`` gives it a class of its own: a ``SimpleCell`` becomes a
    ``ParametrizedSimpleCell``.

    W is computed at every use, once a step. A :class:`CachedRealization` computes it once a pass, and so does

    .. code-block:: python

       with torch.nn.utils.parametrize.cached():
           states = unroll(cell, inputs)

    Args:
        cell: simple or linear.
        rate: :math:`\lambda`, above 0 and below 1.
        diagonal: whether the norm is free, :math:`|h|_P` with a trained diagonal P. If not, P = I, the norm is the
            2-norm, and ``contraction_rate(cell)`` is at most the rate.

    Returns:
        The same cell, with ``diagonal_rate(cell) <= rate``.

    Raises:
        ValueError: the cell is of another kind, or its class overrides what is known of its kind; its W is not a
            parameter or has been parametrised before; the Lipschitz constant of its activation is unknown; the rate is
            not above 0 and below 1; or a number of W is not finite.
    """
    rate = check_positive_rate(rate)
    _, slope = _one_layer(cell, "only simple and linear cells are stable by construction here, not")
    if parametrize.is_parametrized(cell, "W"):
        raise ValueError(f"W of {cell} has been parametrised before")
    form = Contracting(rate / slope, cell.state_size, cell.get_parameter("W").dtype, diagonal)
    parametrize.register_parametrization(cell, "W", form)
    return cell


def diagonal_rate(cell: Cell, P: Float[Tensor, " d"] | None = None) -> float:
    r"""A certified upper bound of a cell's one-step gain in :math:`|h|_P`, P diagonal; for all biases and inputs.

    It is :math:`L_\sigma \lVert P^{1/2} W P^{-1/2} \rVert_2`, rounded upwards, of the weights as they are: how the cell
    came to them is not asked. With :math:`P_{jj}` from a to b, runs that forget at the rate :math:`\lambda` in this
    norm do so in the 2-norm up to a factor of :math:`\sqrt{b / a}`.

    Args:
        cell: simple or linear.
        P: the diagonal, of positive numbers; None for that of a cell that :func:`contracting` has made, and for ones
            of any other cell.

    Raises:
        ValueError: the cell is of another kind, or its class overrides what is known of its kind; the Lipschitz
            constant of its activation is unknown; a weight is not finite; or P is not as many numbers from 1e-100
            to 1e100.
    """
    found, slope = _one_layer(cell, "a diagonal quadratic norm is known for simple and linear cells only, not for")
    W = exact(f"W of {cell}", found.W).cpu()
    P = contracting_norm(cell) if P is None else torch.as_tensor(P).detach().double().cpu()
    if P.shape != (len(W),) or not ((P >= SMALLEST) & (P <= 1 / SMALLEST)).all():
        raise ValueError(f"P must be {len(W)} numbers from 1e-100 to 1e100, got {P.tolist()}")
    root = P.sqrt()
    return slope * two_norm(root[:, None] / root * W) * (1 + 4 * (len(W) + 4) * EPS)


def contracting_norm(cell: Cell) -> Float[Tensor, " d"]:
    """The diagonal of P of a cell that :func:`contracting` has made, in float64; ones for any other cell."""
    if parametrize.is_parametrized(cell, "W"):
        parts = cell.parametrizations.W  # type: ignore[union-attr]  # torch adds it
        form = parts[0]  # type: ignore[index]
        if isinstance(form, Contracting) and form.diagonal:
            return torch.exp(2 * parts.original2.detach().double().cpu())  # type: ignore[union-attr,operator]
    return torch.ones(cell.state_size, dtype=torch.float64)


def best_diagonal_norm(W: Float[Tensor, "d d"]) -> Float[Tensor, " d"]:
    r"""A diagonal P for which :math:`\lVert P^{1/2} W P^{-1/2} \rVert_2` is least, or nearly; without a solver.

    That norm is convex in the logarithms of P. So are the Schatten norms :math:`(\sum_i \sigma_i^p)^{1/p}`, which are
    smooth and come near it as p grows: their minima are looked for one after the other, with p from 4 to 1024. Any P
    certifies (:func:`diagonal_rate`); this one is for use where ``best_slope_norm(W, diagonal=True)`` and its solver
    are not at hand.

    Returns:
        Numbers from :math:`e^{-20}` to :math:`e^{20}`; ones if nothing better is found.

    Raises:
        ValueError: W is not a square matrix of finite numbers.

    Source: of convexity, Sezginer and Overton (1990), "The largest singular value of :math:`e^X A_0 e^{-X}` is convex
    on convex sets of commuting matrices".
    """
    A = exact("W", W).cpu().numpy()
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"W must be a square matrix, got shape {A.shape}")
    best = s = np.zeros(len(A))
    for power in POWERS if A.any() else ():
        s = minimize(_schatten, s, (A, power), jac=True, method="L-BFGS-B", bounds=[(-WIDEST, WIDEST)] * len(A)).x
        best = min(best, s, key=lambda s: np.linalg.norm(_scaled(A, s), 2))
    return torch.exp(2 * torch.from_numpy(best))


def _scaled(A: np.ndarray, s: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = A * np.exp(s[:, None] - s)
    return scaled


def _schatten(s: np.ndarray, A: np.ndarray, power: int) -> tuple[float, np.ndarray]:
    r"""The logarithm of the Schatten norm of order p = twice the power, and its gradient in s.

    That is :math:`\sum_i q_i (u_i^2 - v_i^2)` with singular vectors, and the parts q of :math:`\sum_i \sigma_i^p`.
    """
    left, values, right = np.linalg.svd(_scaled(A, s))
    parts = (values / values[0]) ** (2 * power)
    value = np.log(values[0]) + np.log(parts.sum()) / (2 * power)
    return float(value), (left**2 - right.T**2) @ (parts / parts.sum())


def _one_layer(cell: Cell, refusal: str) -> tuple[SimpleCell | LinearCell, float]:
    """A simple or linear cell and the Lipschitz constant of its activation; other cells are refused in these words."""
    check_kind(cell)
    if not isinstance(cell, SimpleCell | LinearCell):
        raise ValueError(f"{refusal} {cell}")
    return cell, slope_bound(cell.activation if isinstance(cell, SimpleCell) else identity)


class CachedRealization(Realization):
    """A realisation that computes the parametrised weights of its cell once a pass, and not once a step.

    Args:
        cell, readout, h0: as for :class:`~fhx.dynamics.Realization`.
    """

    def states(
        self, inputs: Float[Tensor, "time batch d_in"], lengths: Integer[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "time batch width"]:
        """The states, by ``unroll``."""
        with parametrize.cached():
            return super().states(inputs, lengths)
