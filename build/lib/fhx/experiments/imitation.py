r"""Imitating a step by one hidden layer of ReLUs: the error of one step, and what repeating makes of it.

Four systems: a damped pendulum under a torque that is redrawn every few steps, which forgets its past; the Lorenz
system in Runge-Kutta steps of 0.05; and two chaotic maps with a kink, along the straight line :math:`u = 0` (the Lozi
map) and along the parabola :math:`u = v^2 / 2`,

.. math:: (u, v) \mapsto (1 - 1.7\, |u| + v, \; 0.5\, u), \qquad
   (u, v) \mapsto (1 - 1.6\, |u - v^2/2| + v, \; 0.4\, u).

Each is imitated on a box that holds its runs, with 8 to 128 units. The imitation is then left to itself from states of
the true run, and the time at which its error passes a threshold is compared with the time predicted from the error of
one step and the system's top Lyapunov exponent.
"""

from collections.abc import Callable
from functools import cache
from math import isfinite, log

import torch
from attrs import frozen
from torch import Tensor

from fhx.approximation import (
    imitate,
    imitation_errors,
    passing_times,
    predicted_steps,
    rollout_errors,
)
from fhx.dynamics import Box, jacobians, lyapunov_estimate, unroll
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.tasks import lorenz_step, pendulum_step

__all__ = [
    "EXPERIMENT",
    "SYSTEMS",
    "TIMES",
    "UNITS",
    "System",
    "bent_step",
    "facts",
    "lozi_step",
    "run",
    "torques",
    "true_run",
]

UNITS = (8, 16, 32, 64, 128)
"""Of the hidden layer."""
SEEDS = range(5)
"""Of the imitations."""
RUNS = 64
"""True runs that an imitation is compared with."""
WARMUP = 200
"""Steps before a run, after which it is where the system stays."""
STEPS = 400
"""Of a run."""
TIMES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 400)
"""Steps after which errors are kept."""
EXPONENT_STEPS = 2000
"""Of the runs that the Lyapunov exponent is measured on."""
EXPONENT_RUNS = 8
"""How many there are."""
TORQUE = 0.3
"""The largest one on the pendulum."""
HOLD = 5
"""Steps for which a torque stays as it is."""
DT = 0.05
"""Time of a step of the Lorenz system."""
LEAST = 1e-17
"""An error below rounding."""


def lozi_step(h: Tensor, x: Tensor) -> Tensor:
    """The Lozi map, whose kink is a straight line."""
    u, v = h.unbind(-1)
    return torch.stack([1 - 1.7 * u.abs() + v, 0.5 * u], -1)


def bent_step(h: Tensor, x: Tensor) -> Tensor:
    """A map whose kink is a parabola."""
    u, v = h.unbind(-1)
    return torch.stack([1 - 1.6 * (u - v * v / 2).abs() + v, 0.4 * u], -1)


@frozen
class System:
    """One of the systems.

    Attributes:
        step: from states and inputs to the next states.
        states, inputs: the boxes on which it is imitated; without inputs None.
        h0: the state that runs start near.
        threshold: the error that counts as lost.
    """

    step: Callable[[Tensor, Tensor], Tensor]
    states: Box
    inputs: Box | None
    h0: tuple[float, ...]
    threshold: float


SYSTEMS = {
    "pendulum": System(pendulum_step, Box([-2.5, -2.5], [2.5, 2.5]), Box([-TORQUE], [TORQUE]), (0.0, 0.0), 0.1),
    "lorenz": System(
        lambda h, x: lorenz_step(h, dt=DT), Box([-22.0, -30.0, 0.0], [22.0, 30.0, 55.0]), None, (1.0, 1.0, 20.0), 1.0
    ),
    "lozi": System(lozi_step, Box([-1.6, -0.8], [1.6, 0.8]), None, (0.1, 0.1), 0.1),
    "bent": System(bent_step, Box([-1.6, -0.8], [1.6, 0.8]), None, (0.1, 0.1), 0.1),
}
"""The four systems by name."""


def torques(system: System, steps: int, runs: int, seed: int) -> Tensor:
    """Inputs ``(steps, runs, d_in)``: drawn uniformly from the box and held; zeros that are not read without one."""
    if system.inputs is None:
        return torch.zeros(steps, runs, 1, dtype=torch.float64)
    levels = -(-steps // HOLD)
    drawn = system.inputs.sample(levels * runs, seed).reshape(levels, runs, system.inputs.width)
    return drawn.repeat_interleave(HOLD, 0)[:steps]


def true_run(system: System, steps: int, runs: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A state after the warm-up, the inputs from there on and the states that follow. Runs start near the h0 given."""
    generator = torch.Generator().manual_seed(seed)
    nudge = 0.01 * torch.randn(runs, system.states.width, generator=generator, dtype=torch.float64)
    inputs = torques(system, WARMUP + steps, runs, seed)
    states = unroll(system.step, inputs, torch.tensor(system.h0, dtype=torch.float64) + nudge)
    return states[WARMUP - 1], inputs[WARMUP:], states[WARMUP:]


@cache
def facts(name: str) -> dict[str, float]:
    r"""The system itself: its top exponent with standard error, and the largest :math:`\lVert \partial f / \partial h
    \rVert` along a run.
    """
    system = SYSTEMS[name]
    h0, inputs, _ = true_run(system, EXPONENT_STEPS, EXPONENT_RUNS, seed=1000)
    exponents, errors = lyapunov_estimate(system.step, inputs, k=1, h0=h0)
    largest = torch.linalg.matrix_norm(jacobians(system.step, inputs[:200], h0), 2).max()
    return {
        "exponent": exponents.mean().item(),
        "exponent error": (errors.square().sum().sqrt() / len(errors)).item(),
        "largest stretch": largest.item(),
    }


def run(point: Point) -> Result:
    """Imitate with every seed, and let the imitations run.

    Returns:
        ``exponent``, ``exponent error`` and ``largest stretch`` of the system, and lists with a number per seed:
        ``sup``, ``rms``, ``derivative sup`` and ``derivative rms`` over the box; ``rms of the run`` and ``median of
        the run``, of the error of one step on the states of true runs; ``errors``, at each of ``TIMES`` the median
        error over the runs (None: not finite); ``passed``, the median time at which it is above the threshold (None:
        not within ``STEPS``); ``predicted``, that time by ``predicted_steps`` from the root mean square (None:
        never), and ``predicted from the median``, the same from the median; ``logarithm``,
        :math:`\\ln(\\theta/\\varepsilon)/ \\lambda` from the root mean square (None where the exponent is not
        positive).
    """
    system, known = SYSTEMS[point["system"]], facts(point["system"])
    h0, inputs, states = true_run(system, STEPS, RUNS, seed=0)
    before = torch.cat([h0[None], states[:-1]])
    result: Result = dict(known)
    for seed in SEEDS:
        net = imitate(system.step, system.states, system.inputs, units=point["units"], seed=seed)
        box = imitation_errors(system.step, net, system.states, system.inputs, samples=10_000)
        with torch.no_grad():
            single = (net(before, inputs) - states).norm(dim=-1)
        errors = rollout_errors(system.step, net, inputs, h0)
        passed = passing_times(errors, system.threshold).median().item()
        eps, typical = single.square().mean().sqrt().item(), single.median().item()
        rate, threshold = known["exponent"], system.threshold
        values = {
            "sup": box.sup,
            "rms": box.rms,
            "derivative sup": box.derivative_sup,
            "derivative rms": box.derivative_rms,
            "rms of the run": eps,
            "median of the run": typical,
            "errors": [_finite(errors[t - 1].nan_to_num(nan=torch.inf).median().item()) for t in TIMES],
            "passed": _finite(passed),
            "predicted": _finite(predicted_steps(eps, threshold, rate)),
            "predicted from the median": _finite(predicted_steps(max(typical, LEAST), threshold, rate)),
            "logarithm": log(threshold / eps) / rate if rate > 0 else None,
        }
        for key, value in values.items():
            result.setdefault(key, []).append(value)
    return result


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


EXPERIMENT = Experiment(
    name="imitation",
    question="How large is the error of imitating a step by one hidden layer, and what does repeating make of it?",
    settings={
        "seeds": list(SEEDS),
        "runs": RUNS,
        "steps before them": WARMUP,
        "steps": STEPS,
        "times": TIMES,
        "torque": TORQUE,
        "steps of a torque": HOLD,
        "time of a Lorenz step": DT,
        "steps and runs of the exponent": (EXPONENT_STEPS, EXPONENT_RUNS),
        "thresholds": {name: system.threshold for name, system in SYSTEMS.items()},
        "boxes": {name: [system.states.low.tolist(), system.states.high.tolist()] for name, system in SYSTEMS.items()},
        "imitated in": "float64",
    },
    points=[{"system": name, "units": units} for units in UNITS for name in SYSTEMS],
    run=run,
)
