r"""Where deep cells can be trained: a map over depth, horizon and gain, with and without the known remedies.

The task is to name, after :math:`T` steps, the symbol that came first (:func:`fhx.tasks.recall`), so that the question
is the same at every horizon; what grows is the path of the gradient, :math:`L T` layers in a cell of depth :math:`L`,
and the noise that a state collects. The later inputs are noise a tenth of the symbol's size, so that holding the symbol
is hard and telling it from noise is not.

A net starts from matrices of a given gain: independent normal entries of variance :math:`\sigma_w^2 / d`, or
:math:`\sigma_w` times a uniformly drawn orthogonal matrix. Biases start at 0, those of an LSTM's forget gates at 1. A
net succeeds when its cross-entropy on the validation set falls to ``TARGET`` nats, where :math:`\ln 4 = 1.39` is a
guess, within a number of updates: ``UPDATES`` for every variant, and ``MORE_UPDATES`` for plain cells once more, since
a net that has not learned yet may be about to. All gains and seeds of a point are trained as one batch. The learning
rate is the one with most successes of other seeds at a short horizon, or where none succeeds, that of the least loss.

Beside every variant stands its control: cells "frozen" at their random start, of which the readout alone is trained, by
the same rule and for as many updates. What they reach was there before any training of the cell.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

import numpy as np
from torch import nn

from fhx.dynamics import Realization
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import frozen as frozen_cells
from fhx.experiments.variants import CELLS, initialize
from fhx.tasks import Task, recall
from fhx.training import OBJECTIVES, Fit, fit

__all__ = [
    "CELLS",
    "DEPTHS",
    "EXPERIMENT",
    "GAINS",
    "MORE_UPDATES",
    "NATS",
    "SEEDS",
    "STEPS",
    "SYMBOLS",
    "TARGET",
    "UPDATES",
    "initialize",
    "make",
    "run",
    "task",
    "train",
    "tuned",
]

DEPTHS = (1, 2, 4, 8, 16)
"""L, the layers of a cell."""
STEPS = (10, 30, 100, 300)
"""T, the steps for which the symbol is kept."""
GAINS = (0.6, 0.8, 1.0, 1.25, 1.6)
"""Of the matrices at the start."""
SEEDS = range(5)
"""Of the nets that are reported."""
OTHER_SEEDS = range(5, 8)
"""Of the nets that the learning rate is chosen by."""
UNITS = 32
"""Of every layer."""
SYMBOLS = 4
"""How many there are; a guess costs ln 4 nats."""
NOISE = 0.1
"""Standard deviation of the inputs after the symbol."""
UPDATES = 150
"""Of every net."""
MORE_UPDATES = 600
"""Of plain cells once more."""
BATCH = 8
"""Sequences of an update."""
EVERY = 10
"""Updates between two looks at the validation set."""
CLIP = 1.0
"""The bound on the 2-norm of a gradient."""
TARGET = 0.1
"""Nats at which a net has succeeded."""
LEARNING_RATES = (0.001, 0.003, 0.01)
"""Learning rates that are tried."""
RATE_DEPTHS = (1, 4)
"""Layers of the nets that the rate is chosen by."""
RATE_STEPS = 30
"""Steps of the task that it is chosen on."""
MAX_LAYERS = 1200
"""Of a run, depth times steps; points beyond are not run."""
NATS = OBJECTIVES["class at end"].by_loss("nats")
"""The objective: cross-entropy, which also is what success is judged by."""


def make(variant: str, depth: int, gain: float) -> Realization:
    """A new net: a cell of 32 units whose state-side matrices have this gain, and an affine readout.

    Args:
        variant: one of ``CELLS``.
        depth: :math:`L`, layers of the cell; for "stacked" simple cells on top of one another.
        gain: :math:`\\sigma_w`.
    """
    cell = CELLS[variant](SYMBOLS + 1, UNITS, depth)
    initialize(cell, gain, orthogonal=variant == "orthogonal")
    return Realization(cell, nn.Linear(UNITS, SYMBOLS))


@cache
def task(steps: int) -> Task:
    """Recall after ``steps`` steps."""
    return recall(steps, SYMBOLS, noise=NOISE, sizes=(512, 16, 64))


def train(
    variant: str, depth: int, steps: int, updates: int, rate: float, seeds: range, frozen: bool = False
) -> Fit[nn.Module]:
    """Train every gain with every seed; row ``i * len(seeds) + j`` is gain ``i`` and seed ``j``.

    Args:
        variant: one of ``CELLS``.
        depth, steps, updates, rate, seeds: of the nets, the task and the training.
        frozen: whether the cells stay at their start, and the readouts alone are trained.
    """

    nets = [partial(make, variant, depth, gain) for gain in GAINS for _ in seeds]
    makers, problem = cast(list[Callable[[], nn.Module]], nets), task(steps)
    if frozen:
        kept = [frozen_cells(new, problem) for new in nets]
        makers, problem = [new for new, _ in kept], kept[0][1]
    return fit(
        makers,
        problem,
        seeds=[1000 * i + seed for i in range(len(GAINS)) for seed in seeds],
        updates=updates,
        batch_size=BATCH,
        learning_rate=rate,
        clip=CLIP,
        evaluate_every=EVERY,
        target=TARGET,
        objective=NATS,
        progress=False,
    )


@cache
def tuned(variant: str, updates: int, frozen: bool = False) -> dict[float, tuple[int, float]]:
    """By learning rate how many nets of other seeds succeed at a short horizon, and the mean of their best losses."""

    def outcome(rate: float) -> tuple[int, float]:
        fits = [train(variant, depth, RATE_STEPS, updates, rate, OTHER_SEEDS, frozen) for depth in RATE_DEPTHS]
        losses = np.nan_to_num(np.concatenate([found.best_valid for found in fits]), nan=np.inf)
        return sum(len(found.reached) for found in fits), losses.mean().item()

    return {rate: outcome(rate) for rate in LEARNING_RATES}


def chosen(found: dict[float, tuple[int, float]]) -> float:
    """The rate with most successes, of equally good ones the smallest; where none succeeds, that of the least loss."""
    if any(count for count, _ in found.values()):
        return max(found, key=lambda rate: (found[rate][0], -rate))
    return min(found, key=lambda rate: found[rate][1])


def _points() -> list[Point]:
    """Every variant at every depth and horizon of at most ``MAX_LAYERS`` layers in all, the cheap ones first.

    The controls of all come after the nets that are trained as a whole.
    """
    grid = [(depth, steps) for depth in DEPTHS for steps in STEPS if depth * steps <= MAX_LAYERS]
    grid.sort(key=lambda at: (at[0] * at[1], at[0]))
    runs = [(variant, UPDATES) for variant in CELLS] + [("plain", MORE_UPDATES)]
    points: list[Point] = [
        {"variant": variant, "depth": depth, "steps": steps, "updates": updates}
        for depth, steps in grid
        for variant, updates in runs
    ]
    return points + [{**point, "frozen": True} for point in points]


def run(point: Point) -> Result:
    """Train all gains and seeds of a point.

    Returns:
        ``rate``, the learning rate; ``rates``, the successes it was chosen by; and tables with a row per gain and a
        number per seed: ``reached``, the update of success or None, ``loss``, the best validation loss, ``diverged``.
    """
    variant, updates, frozen = point["variant"], point["updates"], point.get("frozen", False)
    found = tuned(variant, updates, frozen)
    rate = chosen(found)
    result = train(variant, point["depth"], point["steps"], updates, rate, SEEDS, frozen)

    def table(values: list[Any]) -> list[list[Any]]:
        return [values[i : i + len(SEEDS)] for i in range(0, len(values), len(SEEDS))]

    best = [loss if loss == loss else None for loss in result.best_valid.tolist()]
    return {
        "rate": rate,
        "rates": {str(rate): count for rate, (count, _) in found.items()},
        "reached": table([result.reached.get(seed) for seed in result.seeds]),
        "loss": table(best),
        "diverged": table([seed in result.diverged for seed in result.seeds]),
    }


EXPERIMENT = Experiment(
    name="trainability",
    question="At which depth, horizon and gain can deep cells be trained, with and without the known remedies?",
    settings={
        "depths": DEPTHS,
        "steps": STEPS,
        "gains": GAINS,
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "units": UNITS,
        "symbols": SYMBOLS,
        "noise": NOISE,
        "updates": UPDATES,
        "more updates": MORE_UPDATES,
        "batch_size": BATCH,
        "evaluated every": EVERY,
        "clip": CLIP,
        "target": TARGET,
        "rates": LEARNING_RATES,
    },
    points=_points(),
    run=run,
)
