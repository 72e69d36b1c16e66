r"""Lyapunov exponents: the mean rates, in nats per step, at which a run stretches small differences.

Along a run with Jacobians :math:`J_1, J_2, \dots` a frame of :math:`k` orthonormal columns is carried by

.. math:: J_t Q_{t-1} = Q_t R_t, \qquad \lambda_i = \lim_{T \to \infty} \frac1T \sum_{t=1}^T \log |(R_t)_{ii}|,

a QR factorisation a step (Benettin et al. 1980; Eckmann & Ruelle 1985; for recurrent nets Engelken, Wolf & Abbott
2023, Vogt et al. 2022). The sum of the first :math:`i` exponents is the rate of :math:`i`-dimensional volumes, and that
of all of them the mean of :math:`\log |\det J_t|`, for every finite :math:`T` too.
"""

from collections.abc import Iterator
from math import isqrt

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from recurrence.dynamics.jacobians import jacobian_chunks
from recurrence.dynamics.unrolling import Step


@torch.no_grad()
def lyapunov_spectrum(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    k: int | None = None,
    h0: Shaped[Tensor, "*state"] | None = None,
    warmup: int = 0,
    with_error: bool = False,
) -> Float[Tensor, "batch k"] | tuple[Float[Tensor, "batch k"], Float[Tensor, "batch k"]]:
    r"""The first :math:`k` Lyapunov exponents of each run, in nats per step, largest first.

    The frame starts at random (from a fixed seed), so that it meets every direction. Where a product of Jacobians is
    singular because rows or columns of a Jacobian are zero, as for a ReLU net with silent units or a saturated one, the
    exponents beyond its rank are :math:`-\infty`; none is NaN while the states are finite. What is singular
    without a zero row or column shows as an exponent near the logarithm of the rounding unit.

    Args:
        cell, inputs, h0: as for ``jacobians``.
        k: how many exponents, 1 to the state's width; all if None.
        warmup: this many first steps turn the frame and move the state, but are not counted.
        with_error: also return the standard errors. They measure the fluctuation over the run, by the spread of its
            means over :math:`\lfloor\sqrt T\rfloor` successive blocks of time, and are infinite where the exponent is.

    Raises:
        ValueError: what ``jacobians`` raises, a ``k`` or ``warmup`` out of range, or fewer than four counted steps
            where an error is asked for.

    Source: Benettin et al. (1980), part 2; Engelken, Wolf & Abbott (2023).
    """
    if not 0 <= warmup < len(inputs):
        raise ValueError(f"warmup must leave a step of T = {len(inputs)} to count, got {warmup}")
    counted = len(inputs) - warmup
    if with_error and counted < 4:
        raise ValueError(f"an error needs at least 4 counted steps, got {counted}")
    growth = torch.stack(list(_growth(cell, inputs, k, h0)))[warmup:]
    exponents, order = growth.mean(0).sort(-1, descending=True)
    if not with_error:
        return exponents
    blocks = growth.tensor_split(isqrt(counted))
    away = torch.stack([(block - growth.mean(0)).sum(0) for block in blocks])
    error = (len(blocks) / (len(blocks) - 1) * away.square().sum(0)).sqrt() / counted
    return exponents, error.gather(-1, order).nan_to_num(nan=torch.inf)


@torch.no_grad()
def finite_time_exponents(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    k: int | None = None,
    h0: Shaped[Tensor, "*state"] | None = None,
) -> Float[Tensor, "time batch k"]:
    r"""The exponents up to each time, :math:`\lambda_i(t) = \frac1t \sum_{s \le t} \log |(R_s)_{ii}|`, nats per step.

    In the order of the frame's columns, which becomes that of size as time goes on. The last row holds the same numbers
    as ``lyapunov_spectrum`` without a warm-up.

    Args:
        cell, inputs, k, h0: as for ``lyapunov_spectrum``.

    Raises:
        ValueError: what ``jacobians`` raises, no inputs, or ``k`` out of range.
    """
    if not len(inputs):
        raise ValueError("finite-time exponents need at least one input")
    growth = torch.stack(list(_growth(cell, inputs, k, h0)))
    times = torch.arange(1, len(growth) + 1, device=growth.device, dtype=growth.dtype)
    return growth.cumsum(0) / times[:, None, None]


def _growth(cell: Step, inputs: Tensor, k: int | None, h0: Tensor | None) -> Iterator[Float[Tensor, "batch k"]]:
    r"""The rows :math:`\log |(R_t)_{ii}|`, one for each step."""
    frame = rank = None
    for _, chunk in jacobian_chunks(cell, inputs, h0):
        if frame is None:
            frame = _first_frame(chunk[0], k)
            rank = torch.full(frame.shape[:1], frame.shape[-2], device=frame.device)
        for jacobian in chunk:
            frame, r = torch.linalg.qr(jacobian @ frame)
            rank = torch.minimum(rank, _rank_bound(jacobian))
            beyond = torch.arange(r.shape[-1], device=r.device) >= rank[:, None]
            yield r.diagonal(dim1=-2, dim2=-1).abs().log().masked_fill(beyond, -torch.inf)


def _rank_bound(jacobian: Float[Tensor, "batch width width"]) -> Shaped[Tensor, " batch"]:
    """The number of rows, or of columns if that is smaller, that are not zero."""
    filled = jacobian != 0
    return torch.minimum(filled.any(-1).sum(-1), filled.any(-2).sum(-1))


def _first_frame(jacobian: Float[Tensor, "batch width width"], k: int | None) -> Float[Tensor, "batch width k"]:
    """Random orthonormal columns, the same ones for every sequence."""
    batch, width, _ = jacobian.shape
    k = width if k is None else k
    if not 1 <= k <= width:
        raise ValueError(f"k must lie between 1 and the state's width {width}, got {k}")
    normal = torch.randn(width, k, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(normal)[0].to(jacobian).expand(batch, -1, -1)
