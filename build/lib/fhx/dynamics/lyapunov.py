r"""Lyapunov exponents: the mean rates, in nats per step, at which a run stretches small differences.

Along a run with Jacobians :math:`J_1, J_2, \dots` a frame of :math:`k` orthonormal columns is carried by

.. math:: J_t Q_{t-1} = Q_t R_t, \qquad \lambda_i = \lim_{T \to \infty} \frac1T \sum_{t=1}^T \log |(R_t)_{ii}|,

a QR factorisation a step (Benettin et al. 1980; Eckmann & Ruelle 1985; for recurrent nets Engelken, Wolf & Abbott
2023, Vogt et al. 2022). Several steps share a factorisation where that costs no more than ``LOSS``. The sum of the
first :math:`i` exponents is the rate of :math:`i`-dimensional volumes, and that of all of them the mean of
:math:`\log |\det J_t|`, for every finite :math:`T` too.
"""

from math import isfinite, isqrt, log
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Integer, Shaped
from torch import Tensor

from fhx.cells.function import Step
from fhx.dynamics.jacobians import jacobian_chunks

LOSS = 1e-10  # what rounding may change the logarithm of a stretch by for the sake of a longer piece, in nats


class LyapunovEstimate(NamedTuple):
    r"""Lyapunov exponents and their standard errors.

    Args:
        exponents: in nats per step, largest first.
        errors: of each exponent; infinite where the exponent is.
    """

    exponents: Float[Tensor, "batch k"]
    errors: Float[Tensor, "batch k"]


@torch.no_grad()
def lyapunov_spectrum(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    k: int | None = None,
    h0: Shaped[Tensor, "*state"] | None = None,
    warmup: int = 0,
) -> Float[Tensor, "batch k"]:
    r"""The first :math:`k` Lyapunov exponents of each run, in nats per step, largest first.

    The frame starts at random (from a fixed seed), so that it meets every direction. Where a product of Jacobians is
    singular because rows or columns of a Jacobian are zero, as for a ReLU net with silent units or a saturated one, the
    exponents beyond its rank are :math:`-\infty`; none is NaN while the states are finite. What is singular
    without a zero row or column shows as an exponent near the logarithm of the rounding unit.

    Args:
        cell, inputs, h0: as for ``jacobians``.
        k: how many exponents, 1 to the state's width; all if None.
        warmup: this many first steps turn the frame and move the state, but are not counted.

    Raises:
        ValueError: what ``jacobians`` raises, or a ``k`` or ``warmup`` out of range.

    Source: Benettin et al. (1980), part 2; Engelken, Wolf & Abbott (2023).
    """
    _, growth, counted = _counted_growth(cell, inputs, k, h0, warmup)
    return (growth.sum(0) / counted).sort(-1, descending=True).values


@torch.no_grad()
def lyapunov_estimate(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    k: int | None = None,
    h0: Shaped[Tensor, "*state"] | None = None,
    warmup: int = 0,
) -> LyapunovEstimate:
    r"""The exponents of ``lyapunov_spectrum`` and their standard errors, from one run.

    The errors measure the fluctuation over the run, by the spread of its means over :math:`\lfloor\sqrt T\rfloor`
    successive blocks of time.

    Args:
        cell, inputs, k, h0, warmup: as for ``lyapunov_spectrum``.

    Raises:
        ValueError: what ``lyapunov_spectrum`` raises, or fewer than four counted steps.
    """
    if warmup >= 0 and 0 < len(inputs) - warmup < 4:
        raise ValueError(f"an error needs at least 4 counted steps, got {len(inputs) - warmup}")
    lengths, growth, counted = _counted_growth(cell, inputs, k, h0, warmup)
    mean, ends, blocks = growth.sum(0) / counted, lengths.cumsum(0), isqrt(counted)
    exponents, order = mean.sort(-1, descending=True)
    away = mean.new_zeros(blocks, *mean.shape)
    away.index_add_(0, (ends - 1) * blocks // counted, growth - lengths[:, None, None] * mean)
    error = (blocks / (blocks - 1) * away.square().sum(0)).sqrt() / counted
    return LyapunovEstimate(exponents, error.gather(-1, order).nan_to_num(nan=torch.inf))


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
    _, growth = _growth(cell, inputs, k, h0, longest=1)
    return growth.cumsum(0) / torch.ones_like(growth).cumsum(0)


def _counted_growth(
    cell: Step, inputs: Tensor, k: int | None, h0: Tensor | None, warmup: int
) -> tuple[Int[Tensor, " pieces"], Float[Tensor, "pieces batch k"], int]:
    """``_growth`` after the warm-up, and the number of steps that it is of."""
    if not 0 <= warmup < len(inputs):
        raise ValueError(f"warmup must leave a step of T = {len(inputs)} to count, got {warmup}")
    counted = len(inputs) - warmup
    lengths, growth = _growth(cell, inputs, k, h0, longest=min(64, isqrt(counted)), cut=warmup)
    after = lengths.cumsum(0) > warmup
    return lengths[after], growth[after], counted


def _growth(
    cell: Step, inputs: Tensor, k: int | None, h0: Tensor | None, longest: int, cut: int = 0
) -> tuple[Int[Tensor, " pieces"], Float[Tensor, "pieces batch k"]]:
    r"""The run in pieces of at most ``longest`` steps, one of which ends after ``cut``: their lengths, and the
    :math:`\log |R_{ii}|` of each.

    Rounding changes a piece's :math:`\log |R_{ii}|` by about
    :math:`\varepsilon \prod_t \lVert J_t \rVert / |R_{ii}|`. A piece for which that may exceed ``LOSS`` is made again
    in halves, down to one step; its length is foretold from the one before.
    """
    frame: Tensor | None = None
    lengths: list[int] = []
    pieces: list[Tensor] = []
    done, steps = 0, 1
    for _, chunk in jacobian_chunks(cell, inputs, h0):
        bounds, ranks = _log_norm_bound(chunk), _rank_bound(chunk)
        if frame is None:
            frame, rank = _first_frame(chunk[0], k), ranks[0]
            column = frame.new_ones(frame.shape[-1]).cumsum(0)
            allowed = log(LOSS / torch.finfo(frame.dtype).eps)
        start = 0
        while start < len(chunk):
            steps = min(steps, len(chunk) - start, cut - done if done < cut else longest)
            piece, image = slice(start, start + steps), frame
            for jacobian in chunk[piece]:
                image = jacobian @ image
            turned, r = torch.linalg.qr(image)
            left = torch.minimum(rank, ranks[piece].amin(0))
            beyond = column > left[:, None]
            growth = r.diagonal(dim1=-2, dim2=-1).abs().log()
            lost = (bounds[piece].sum(0)[:, None] - growth.masked_fill(beyond, torch.inf)).amax().item()
            if steps > 1 and not lost <= allowed:
                steps //= 2
                continue
            frame, rank, start, done = turned, left, start + steps, done + steps
            lengths.append(steps)
            pieces.append(growth.masked_fill(beyond, -torch.inf))
            foretold = allowed * steps / max(lost, 1e-3) if isfinite(lost) else 1
            steps = max(1, min(longest, 2 * steps, int(foretold)))
    growths = torch.stack(pieces)
    return growths.new_tensor(lengths, dtype=torch.long), growths


def _log_norm_bound(jacobian: Float[Tensor, "*batch width width"]) -> Float[Tensor, "*batch"]:
    """The logarithm of the root of the 1-norm times the max norm, which bounds that of the 2-norm."""
    size = jacobian.abs()
    return (size.sum(-1).amax(-1).log() + size.sum(-2).amax(-1).log()) / 2


def _rank_bound(jacobian: Float[Tensor, "*batch width width"]) -> Integer[Tensor, "*batch"]:
    """The number of rows, or of columns if that is smaller, that are not zero."""
    filled = jacobian != 0
    return torch.minimum(filled.any(-1).sum(-1), filled.any(-2).sum(-1))


def _first_frame(jacobian: Float[Tensor, "batch width width"], k: int | None) -> Float[Tensor, "batch width k"]:
    """Random orthonormal columns, the same ones for every sequence."""
    batch, width, _ = jacobian.shape
    k = width if k is None else k
    if not 1 <= k <= width:
        raise ValueError(f"k must lie between 1 and the state's width {width}, got {k}")
    normal = torch.randn(width, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(normal[:, :k])[0].to(jacobian).expand(batch, -1, -1)
