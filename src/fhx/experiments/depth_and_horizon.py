r"""A task that a frozen cell cannot do, over depth and horizon: the product of two letters that stand far apart.

Two letters of the group :math:`S_3` stand at random among blanks, and at the end their product is asked for
(:func:`fhx.tasks.spaced_word`). Holding the inputs is not enough, as it is in :mod:`fhx.experiments.trainability`: what
is asked is no sum over the inputs, and the letters' order counts. So a cell that keeps its random start, of which the
readout alone is trained, has to guess, and what a trained one is ahead of it was learned through :math:`L T` layers.

Kinds of cell of :math:`L` layers and 32 units are trained over :math:`T` steps, each once as a whole and once frozen.
They start for the horizon: matrices orthogonal; carry gates of a highway with the bias :math:`\ln(L T - 1)`, by which
its direct path keeps about :math:`1/e` of a number; forget gates of an LSTM with the biases :math:`\ln u` and input
gates with :math:`-\ln u`, :math:`u` uniform on :math:`[1, T - 1]` for each unit (Tallec and Ollivier 2018); residual
layers with scale :math:`1 / L`. Rate and weight decay are chosen for each kind at each depth and horizon, as
:mod:`fhx.experiments.comparison` says; a frozen one has the same settings to choose from.
"""

from collections.abc import Mapping
from functools import cache, partial
from math import log
from typing import Any

import torch
from torch import nn

from fhx.cells import Cell, HighwayCell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import frozen
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.variants import CELLS as VARIANTS
from fhx.experiments.variants import initialize, open_gates
from fhx.tasks import Task, majority_class, spaced_word

__all__ = ["BUDGET", "DEPTHS", "EXPERIMENT", "GAIN", "KINDS", "PLACES", "STEPS", "evidence", "make", "run", "task"]

KINDS = ("plain", "residual", "stacked", "highway", "gated")
"""The kinds of cell; plain ones are orthogonal at the start."""
DEPTHS = (1, 2)
"""L, the layers of a cell."""
STEPS = (10,)
"""T, the steps of a sequence."""
GROUP, LETTERS = "S3", 2
"""The group, and how many letters there are."""
MAX_LAYERS = 20
"""Of a run, depth times steps; places beyond are not run."""
PLACES = sorted(
    ((depth, steps) for depth in DEPTHS for steps in STEPS if depth * steps <= MAX_LAYERS),
    key=lambda at: (at[0] * at[1], at[0]),
)
"""L and T of what is run, the cheap ones first."""
UNITS = 32
"""Of every layer."""
SIZES = (8000, 400, 1000)
"""Words to train on, to validate with and to test on."""
BUDGET = Budget(
    rates=(0.001, 0.003, 0.01, 0.03),
    decays=(0.0, 0.1),
    seeds=range(5),
    others=range(5, 7),
    updates=1200,
    batch_size=32,
)
"""How all of them are trained."""
GAIN = 0.02
"""Accuracy that the last tenth of the updates may add."""
SHOWN = len(PLACES) * len(KINDS)
"""Comparisons that are shown together."""


@cache
def task(steps: int) -> Task:
    """Two letters among blanks."""
    return spaced_word(GROUP, steps, LETTERS, SIZES)


@torch.no_grad()
def make(name: str, depth: int, steps: int) -> Realization:
    """A new net of a kind that starts for this horizon, with an affine readout."""
    problem = task(steps)
    cell: Cell
    if name == "highway":
        cell = HighwayCell(problem.input_size, UNITS, depth, carry_bias=log(depth * steps - 1))
    else:
        cell = VARIANTS[name](problem.input_size, UNITS, depth)
    initialize(cell)
    open_gates(cell, steps)
    return Realization(cell, nn.Linear(UNITS, problem.output_size))


def run(point: Point) -> Result:
    """Train a kind as a whole, or its readout on frozen cells.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`; the score is the share of test words named right.
    """
    new, problem = partial(make, point["kind"], point["depth"], point["steps"]), task(point["steps"])
    if point["frozen"]:
        return compare(*frozen(new, problem), BUDGET)[1]
    return compare(new, problem, BUDGET)[1]


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """For each kind, depth and horizon: the net that is trained as a whole against the frozen one."""
    found = {tuple(e["point"].values()): e["result"] for e in stored["points"]}
    return {
        f"{name}, L = {depth}, T = {steps}": Evidence(
            kinds={"trained": kind(found[name, depth, steps, False]), "frozen": kind(found[name, depth, steps, True])},
            higher_is_better=True,
            control="frozen",
            baselines={"guess": majority_class(task(steps))},
            statements=(Ahead("trained", "frozen"),),
            shown=SHOWN,
            gain=GAIN,
        )
        for name, depth, steps, is_frozen in found
        if not is_frozen
    }


def _points() -> list[Point]:
    """All kinds at all places, each frozen before it is trained."""
    return [
        {"kind": name, "depth": depth, "steps": steps, "frozen": is_frozen}
        for depth, steps in PLACES
        for name in KINDS
        for is_frozen in (True, False)
    ]


EXPERIMENT = Experiment(
    name="depth_and_horizon",
    question="Over which depths and horizons is a cell trained to do what a frozen one cannot?",
    settings={
        "group": GROUP,
        "letters": LETTERS,
        "units": UNITS,
        "sizes": SIZES,
        "gain of a settled net": GAIN,
        **BUDGET.as_json,
    },
    points=_points(),
    run=run,
    evidence=evidence,
)
