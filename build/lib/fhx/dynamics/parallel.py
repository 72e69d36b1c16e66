r"""All states of a run at once, by sweeps over the whole trajectory.

The trajectory :math:`H = (h_1, \dots, h_T)` is the fixed point of :math:`F(H)_t = f(h_{t-1}, x_t)`. A sweep replaces
:math:`H` by

.. math:: h_t^{+} = f(h_{t-1}, x_t) + s K_t (h_{t-1}^{+} - h_{t-1}),

which is one evaluation of :math:`f` for all times side by side and, unless :math:`s = 0`, one scan. Jacobi's method has
:math:`s = 0`; Newton's has :math:`s = 1` and the Jacobian :math:`K_t = J_t = \partial f / \partial h (h_{t-1}, x_t)`;
the quasi-Newton method keeps its diagonal only. Whatever :math:`s` and :math:`K` are, states before the first wrong one
stay as they are and the first wrong one becomes right, so that T sweeps are always enough.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal, TypeVar, get_args

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from fhx._checks import one_of, positive
from fhx.cells.function import Step
from fhx.dynamics.trajectory import Attached, TrajectoryMap

Method = Literal["jacobi", "newton", "quasi-newton"]
METHODS: tuple[Method, ...] = get_args(Method)
SMALLEST = 2.0**-8  # of a damping factor before it is zero
PROBES = 2

State = TypeVar("State")
Input = TypeVar("Input")


@dataclass(frozen=True)
class ParallelRun:
    r"""What ``parallel_unroll`` found.

    Args:
        states: :math:`h_1, \dots, h_T`, ``(time, batch, width)``.
        sweeps: how many sweeps made them.
        residuals: :math:`\max_{t} \lVert f(h_{t-1}, x_t) - h_t \rVert_\infty` after each sweep, over the whole batch.
        converged: the next undamped Newton correction is at most ``tolerance``, and so is what rounding may do to
            the states.
        correction: the size of that correction, in the maximum norm.
        conditioning: an estimate of how much the run amplifies rounding errors: the largest entry of
            :math:`(I - N)^{-1} u` over that of :math:`u`, the larger one of two random :math:`u`.
    """

    states: Float[Tensor, "time batch width"]
    sweeps: int
    residuals: list[float]
    converged: bool
    correction: float
    conditioning: float


def parallel_unroll(
    cell: Step,
    inputs: Shaped[Tensor, "time batch d_in"],
    method: Method = "newton",
    h0: Shaped[Tensor, "*state"] | None = None,
    tolerance: float | int | None = None,
    max_sweeps: int | None = None,
    damping: bool = True,
) -> ParallelRun:
    r"""The states :math:`h_t = f(h_{t-1}, x_t)`, all :math:`t = 1, \dots, T` at once, from the trajectory of zeros.

    ``"jacobi"`` steps every state at once; after k sweeps the states are those of the model that is truncated to k
    inputs, whatever :math:`h_0` and the biases. ``"newton"`` solves the recurrence linearised along the trajectory;
    near the solution each sweep squares the error. ``"quasi-newton"`` keeps the diagonal of the Jacobians.

    A small residual does not make a right trajectory where the run is unstable: an error of the size of the residual
    grows from step to step. So the run has ``converged`` when the undamped Newton correction, an estimate of the
    error, is at most ``tolerance``, and an estimate of the effect of rounding is too: the largest entry of
    :math:`(I - N)^{-1} u` with :math:`u = \pm\epsilon (1 + |h|)`, :math:`\epsilon` the rounding unit and the signs
    random, from a fixed seed. Both are worked out where residuals suggest it, and at the end.

    Gradients flow into parameters, inputs and ``h0``, by one scan in reverse, :math:`l_t = g_t + J_{t+1}^\top l_{t+1}`,
    and one derivative of all steps side by side; not twice, and not through a run that has not converged.

    Args:
        cell: a cell, or any function ``f(h, x)`` of ``(batch, width)`` and ``(batch, d_in)`` in which no sequence
            depends on another one of the batch; a function needs ``h0``, and must work under ``torch.func.vmap``.
        inputs: :math:`x_1, \dots, x_T`, time first.
        method: "jacobi", "newton" or "quasi-newton".
        h0: :math:`h_0` as for ``unroll``.
        tolerance: the absolute error allowed in a state; with 0 the sweeps go on to ``max_sweeps``, or until nothing
            changes any more. None: 1e-10, or 1e-4 in single precision.
        max_sweeps: T if None; never more than T are made.
        damping: where a sweep leaves the range of floats, repeat it with a quarter of :math:`s`, down to Jacobi's; it
            rises again to twice as much at every sweep. Without it :math:`s = 1`, and a sweep that overflows is the
            last.

    Raises:
        ValueError: an unknown method, a negative ``tolerance``, a ``max_sweeps`` that is not a positive integer, or
            what ``jacobians`` raises.
        RuntimeError: on the way back, where the run has not converged.

    Source: Lim et al. (2024), "Parallelizing non-linear sequential models over the sequence length" (DEER); Gonzalez et
    al. (2024), "Towards scalable and stable parallelization of nonlinear RNNs", on damping and on diagonals.
    """
    one_of("method", method, METHODS)
    problem = TrajectoryMap.of(cell, inputs, h0)
    if tolerance is None:
        tolerance = 1e-10 if problem.h0.dtype == torch.float64 else 1e-4
    if not tolerance >= 0:
        raise ValueError(f"tolerance must not be negative, got {tolerance}")
    limit = len(inputs) if max_sweeps is None else min(len(inputs), positive("max_sweeps", max_sweeps))
    run = _search(problem.detached(), method, float(tolerance), limit, damping)
    image = problem.image(run.states) if torch.is_grad_enabled() else run.states
    if not image.requires_grad:
        return run
    states = Attached.apply(image, run.states, problem.detached(), run.converged)
    return ParallelRun(states, run.sweeps, run.residuals, run.converged, run.correction, run.conditioning)


def jacobi_sweeps(
    f: Callable[[State, Input], State], h0: State, inputs: Sequence[Input], sweeps: int, zero: State
) -> Iterator[list[State]]:
    r"""The trajectory after each of some Jacobi sweeps, :math:`H^{(i+1)} = F(H^{(i)})` from :math:`H^{(0)} = 0`.

    The definition, in plain Python, for numbers of any kind: fractions give exact states.

    Args:
        f: the step, of a state and an input.
        h0: :math:`h_0`.
        inputs: :math:`x_1, \dots, x_T`.
        sweeps: how many.
        zero: the zero state.
    """
    states = [zero] * len(inputs)
    for _ in range(sweeps):
        states = list(map(f, [h0, *states], inputs))  # as many as inputs
        yield states


@torch.no_grad()
def _search(problem: TrajectoryMap, method: Method, tolerance: float, limit: int, damping: bool) -> ParallelRun:
    residuals: list[float] = []
    states, gain, scale = problem.zeros(), 1.0, 1.0
    image = problem.image(states)
    correction = conditioning = residual = inf
    converged = False
    while len(residuals) < limit and not converged:
        states, scale = _sweep(problem, states, image, scale, method, damping)
        image = problem.image(states)
        residual = _largest(image - states)
        residuals.append(residual)
        if residual * gain <= tolerance:
            correction, conditioning, error = _assessed(problem, states, image)
            converged = max(correction, error) <= tolerance
            gain = max(correction, error) / residual if residual else inf
        if residual == 0 or not (damping or isfinite(residual)):
            break
    if not converged:
        correction, conditioning, error = _assessed(problem, states, image)
        converged = max(correction, error) <= tolerance
    return ParallelRun(states, len(residuals), residuals, converged, correction, conditioning)


def _sweep(
    problem: TrajectoryMap, states: Tensor, image: Tensor, scale: float, method: Method, damping: bool
) -> tuple[Tensor, float]:
    """The next trajectory, and the damping factor to try first in the sweep after it."""
    if method == "jacobi":
        return image, scale
    if damping:  # any guess will do behind the first wrong state, and zero is one
        image = image.nan_to_num(0, 0, 0)
    while scale:
        new = image + problem.carried(states, image - states, scale, diagonal=method == "quasi-newton")
        if not damping or new.isfinite().all():
            return new, min(1.0, 2 * scale)
        scale = scale / 4 if scale > SMALLEST else 0.0
    return image, SMALLEST


def _assessed(problem: TrajectoryMap, states: Tensor, image: Tensor) -> tuple[float, float, float]:
    """The undamped Newton correction, the gain of rounding errors, and what they may amount to."""
    residual = image - states
    if not states.numel():
        return 0.0, 1.0, 0.0
    if not residual.isfinite().all():
        return inf, inf, inf
    correction = _largest(residual + problem.carried(states, residual))
    generator, gains, errors = torch.Generator().manual_seed(0), [], []
    rounding = torch.finfo(states.dtype).eps * (1 + states.abs())
    for _ in range(PROBES):
        signs = torch.randint(0, 2, states.shape, generator=generator).mul_(2).sub_(1).to(states)
        probe = signs * rounding
        errors.append(_largest(probe + problem.carried(states, probe)))
        gains.append(errors[-1] / _largest(probe))
    return correction, max(gains), max(errors)


def _largest(x: Tensor) -> float:
    """The largest absolute value, infinite where one is not a number; 0 of none."""
    return float(x.abs().nan_to_num(inf, inf).max()) if x.numel() else 0.0
