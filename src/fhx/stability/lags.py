r"""What each lag adds to a gradient, what truncated back-propagation leaves out, and random cuts that are unbiased.

With :math:`J_t = \partial_h f` and :math:`G_t = \partial_\theta f` at step t, the loss :math:`p_T = \ell(h_T)` has

.. math:: \nabla p_T = \sum_{j=0}^{T-1} g_j, \qquad
   g_j = G_{T-j}^\top J_{T-j+1}^\top \cdots J_T^\top \nabla \ell(h_T) .

Truncated back-propagation with the window k keeps :math:`g_0, \dots, g_{k-1}`. If the step contracts by
:math:`\lambda`, what it leaves out is at most :math:`\lambda^k L \Sigma`.
"""

from collections.abc import Callable
from math import exp, expm1

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from fhx._checks import positive
from fhx.cells import Cell
from fhx.dynamics import unroll
from fhx.stability.arguments import check_shape, satisfies

FLAT = 1e-12  # a slope that rounding can make of none


def lag_gradients(
    cell: Cell, inputs: Float[Tensor, "time batch d_in"], loss: Callable[[Tensor], Tensor], lags: int | None = None
) -> Float[Tensor, "lags weights"]:
    r"""The parts :math:`g_0, g_1, \dots` of the gradient of :math:`\ell(h_T)` by all weights, one row each.

    The states are those of the whole run from zero; only the way back is taken apart, step by step.

    Args:
        cell: its weights, in the order of ``parameters``, are :math:`\theta`.
        inputs: :math:`x_1, \dots, x_T`.
        loss: :math:`\ell`, from what the readout sees of the last state, ``(batch, d)``, to a number.
        lags: how many; None: all T, which add up to the gradient. Never more than T.

    Raises:
        ValueError: there are no inputs, ``lags`` is not a positive integer, or what ``unroll`` raises.
    """
    check_shape("inputs", inputs, "time", "batch", "d_in")
    if not len(inputs):
        raise ValueError("a loss of the last state needs at least one input")
    count = len(inputs) if lags is None else min(positive("lags", lags), len(inputs))
    with torch.no_grad():
        states = unroll(cell, inputs)
        before = torch.cat([cell.initial_state(inputs.shape[1]).to(states)[None], states])
    with torch.enable_grad():
        last = states[-1].detach().requires_grad_()
        (back,) = torch.autograd.grad(loss(cell.hidden(last)), last)
        rows, weights = [], list(cell.parameters())
        for t in range(len(inputs), len(inputs) - count, -1):
            h = before[t - 1].detach().requires_grad_()
            back, *parts = torch.autograd.grad(cell(h, inputs[t - 1]), [h, *weights], back, materialize_grads=True)
            rows.append(parameters_to_vector(parts))
    return torch.stack(rows)


def window_for_gradient(lags: Float[Tensor, "lags weights"], tolerance: float) -> int:
    r"""The smallest k whose truncated gradient is off by at most a part of the true one, as far as the decay tells.

    From a line through :math:`\log |g_j|` over the later half of the R lags, :math:`|g_j| \approx a \rho^j`, comes an
    estimate of what the window k leaves out, in the R lags and beyond them:

    .. math:: \tau_k = \sum_{k \le j < R} |g_j| + \frac{a \rho^R}{1 - \rho} .

    The true gradient is then no smaller than :math:`| \sum_{j < k} g_j | - \tau_k`, and k is large enough if

    .. math:: \tau_k \le \delta \Bigl( \Bigl| \sum_{j < k} g_j \Bigr| - \tau_k \Bigr) .

    Where the last lags are exactly 0, as those of a nilpotent W are, nothing is left out beyond them, and no line is
    drawn. Otherwise this is an estimate and no certificate: beyond R the decay is a guess.

    Args:
        lags: from :func:`lag_gradients`, one row each, the latest first; at least four, unless the last is 0.
        tolerance: :math:`\delta`, the part of the true gradient that may be missing, above 0 and at most 1: 0.1 is a
            tenth.

    Returns:
        k, at least 1; R if the R lags are too few to tell, since no k up to R is large enough by this estimate.

    Raises:
        ValueError: ``lags`` is no matrix, or has fewer than four rows; one is not finite, or one of the later half
            is 0 and the last is not; they do not decay; or the tolerance is not above 0 and at most 1.

    Source: after Aicher, Foti and Fox (2019), "Adaptively truncating backpropagation through time to control gradient
    bias", who bound the norms of the gradients by the states.
    """
    check_shape("lags", lags, "lags", "weights")
    if not satisfies(tolerance, lambda tolerance: 0 < tolerance <= 1):
        raise ValueError(f"tolerance is a part of the gradient, above 0 and at most 1, got {tolerance!r}")
    g = lags.detach().double()
    sizes = g.norm(dim=1)
    beyond = _beyond(sizes)
    left_out = [*sizes.flip(0).cumsum(0).flip(0)[1:].tolist(), 0.0]
    kept = g.cumsum(0).norm(dim=1).tolist()
    for k, (tail, size) in enumerate(zip(left_out, kept, strict=True), 1):
        if tail + beyond <= tolerance * (size - tail - beyond):
            return k
    return len(sizes)


def _beyond(sizes: Float[Tensor, " lags"]) -> float:
    """An estimate of the sum of the sizes after the last one, from their decay over the later half."""
    count, half = len(sizes), len(sizes) // 2
    if not sizes.isfinite().all():
        raise ValueError(f"lag {int(sizes.isfinite().int().argmin())} is not finite")
    if count and sizes[-1] == 0:
        return 0.0
    if count < 4:
        raise ValueError(f"the decay is read off at least four lags, got {count}")
    late = sizes[half:]
    if (late == 0).any():
        raise ValueError(f"lag {half + int(late.argmin())} is 0 and the last is not: they do not decay steadily")
    steps = torch.arange(half, count, dtype=torch.float64)
    design = torch.stack([steps, torch.ones_like(steps)], 1)
    slope, level = torch.linalg.lstsq(design, late.log()[:, None]).solution[:, 0].tolist()
    if slope >= -FLAT:
        raise ValueError(
            f"the gradients do not decay over the last lags but grow by a factor of {exp(min(slope, 700.0)):.3g} a "
            "lag: lags are the rows, the latest first"
        )
    return exp(level + slope * count) / -expm1(slope)


def random_cut(
    lags: Float[Tensor, "lags weights"], keep: float, generator: torch.Generator | None = None, draws: int = 1
) -> Float[Tensor, "draws weights"]:
    r"""Gradients of random windows, reweighted so that their mean is the gradient: :math:`\sum_{j < N} c^{-j} g_j`.

    On the way back each step is the last one with probability :math:`1 - c`; so lag j is reached with
    :math:`c^j = P(N > j)`, and the mean window is at most :math:`1 / (1 - c)`.

    Args:
        lags: all lags, from :func:`lag_gradients`.
        keep: c, above 0 and below 1.
        generator: of the windows.
        draws: how many.

    Raises:
        ValueError: ``lags`` is no matrix, ``keep`` is not between 0 and 1, or ``draws`` is not a positive integer.

    Source: Tallec and Ollivier (2017), "Unbiasing truncated backpropagation through time".
    """
    reached = _reached(lags, keep)
    dice = torch.rand(positive("draws", draws), 1, generator=generator, dtype=torch.float64)
    return (dice < reached).to(lags.dtype) / reached.to(lags.dtype) @ lags


def random_cut_variance(lags: Float[Tensor, "lags weights"], keep: float) -> float:
    r"""The mean of :math:`|\hat g - \nabla p_T|^2` over all windows of :func:`random_cut`, exactly:

    .. math:: \sum_{i, j} g_i \cdot g_j \, (c^{-\min(i, j)} - 1) .

    It is bounded in T where :math:`|g_j|` falls faster than :math:`c^{j/2}`.

    Args:
        lags, keep: as for :func:`random_cut`.

    Raises:
        ValueError: ``lags`` is no matrix, ``keep`` is not between 0 and 1.
    """
    extra = 1 / _reached(lags, keep) - 1
    g = lags.detach().double()
    return ((g @ g.mT) * extra[:, None].minimum(extra)).sum().item()


def _reached(lags: Tensor, keep: float) -> Float[Tensor, " lags"]:
    """The probability that each lag is reached."""
    check_shape("lags", lags, "lags", "weights")
    if not satisfies(keep, lambda keep: 0 < keep < 1):
        raise ValueError(f"keep must lie between 0 and 1, got {keep!r}")
    return keep ** torch.arange(len(lags), dtype=torch.float64)
