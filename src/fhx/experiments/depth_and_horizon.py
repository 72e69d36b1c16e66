r"""A task that a frozen cell cannot do, over depth and horizon: the product of two letters that stand far apart.

Two letters of the group :math:`S_3` stand at random among blanks, and at the end their product is asked for
(:func:`fhx.tasks.spaced_word`). Holding the inputs is not enough, as it is in :mod:`fhx.experiments.trainability`: what
is asked is no sum over the inputs, and the letters' order counts. So a cell that keeps its random start, of which the
readout alone is trained, has to guess, and what a trained one is ahead of it was learned through :math:`L T` layers.

Kinds of cell of :math:`L` layers and 32 units are trained over :math:`T` steps, each once as a whole and once frozen.
They start for the horizon: matrices orthogonal; carry gates of a highway with the bias :math:`\ln(L T - 1)`, by which
its direct path keeps about :math:`1/e` of a number; forget gates of an LSTM with the biases :math:`\ln u` and input
gates with :math:`-\ln u`, :math:`u` uniform on :math:`[1, T - 1]` for each unit (Tallec and Ollivier 2018); residual
layers with scale :math:`1 / L`, :math:`1 / \sqrt L` or 1, and leaky ones, which forget :math:`1 / (L T)` in each layer.
Rate and weight decay are chosen for each kind at each depth and horizon, as :mod:`fhx.experiments.comparison` says; a
frozen one has the same settings to choose from.

All kinds run over ten steps; those with gates also deeper and over more steps, and those without for four times as many
updates.
"""

from collections.abc import Mapping
from functools import cache, partial
from math import log
from typing import Any

import torch
from attrs import evolve
from torch import nn

from fhx.cells import Cell, HighwayCell, ResidualCell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import frozen
from fhx.experiments.protocol import Ahead, Evidence, Kind
from fhx.experiments.variants import CELLS as VARIANTS
from fhx.experiments.variants import initialize, open_gates
from fhx.tasks import Task, majority_class, spaced_word

__all__ = [
    "BUDGET",
    "EXPERIMENT",
    "FAR",
    "GAIN",
    "GATED",
    "KINDS",
    "LONGER",
    "NEAR",
    "RESIDUAL",
    "SLOW",
    "evidence",
    "label",
    "make",
    "run",
    "task",
]

KINDS = ("plain", "residual", "stacked", "highway", "gated")
"""The kinds of cell; plain ones are orthogonal at the start."""
GATED = ("highway", "gated")
"""Those of them that run deeper and longer."""
RESIDUAL = ("residual", "residual, root", "residual, one", "leaky")
"""Residual cells of scale 1 / L, its root, 1, and 1 / L with a leak."""
SLOW = ("plain", *RESIDUAL, "stacked")
"""Kinds without gates, which get more updates."""
NEAR = ((1, 10), (2, 10))
"""L and T of the places where all kinds run, layers of a cell and steps of a sequence."""
FAR = ((1, 30), (4, 10), (2, 30), (4, 30))
"""L and T where those with gates run, the cheap ones first."""
GROUP, LETTERS = "S3", 2
"""The group, and how many letters there are."""
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
LONGER = 4 * BUDGET.updates
"""Updates of those that get more."""
GAIN = 0.02
"""Accuracy that the last tenth of the updates may add."""


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
    elif name in RESIDUAL:
        scale = {"residual, root": depth**-0.5, "residual, one": 1.0}.get(name, 1 / depth)
        leak = 1 / (depth * steps) if name == "leaky" else 0.0
        cell = ResidualCell(problem.input_size, UNITS, depth, scale, leak=leak)
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
    budget = evolve(BUDGET, updates=point["updates"])
    if point["frozen"]:
        return compare(*frozen(new, problem), budget)[1]
    return compare(new, problem, budget)[1]


def label(point: Point) -> str:
    """Of a kind at a place, and of the updates if they are more than usual."""
    longer = f", {point['updates']} updates" if point["updates"] > BUDGET.updates else ""
    return f"{point['kind']}, L = {point['depth']}, T = {point['steps']}{longer}"


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """For each kind, depth and horizon: the net that is trained as a whole against the frozen one."""
    found: dict[str, dict[str, Kind]] = {}
    steps = {}
    for entry in stored["points"]:
        name = label(entry["point"])
        steps[name] = entry["point"]["steps"]
        found.setdefault(name, {})["frozen" if entry["point"]["frozen"] else "trained"] = kind(entry["result"])
    return {
        name: Evidence(
            kinds={"trained": both["trained"], "frozen": both["frozen"]},
            higher_is_better=True,
            control="frozen",
            baselines={"guess": majority_class(task(steps[name]))},
            statements=(Ahead("trained", "frozen"),),
            shown=len(found),
            gain=GAIN,
        )
        for name, both in found.items()
    }


def _points() -> list[Point]:
    """All kinds near, those without gates for longer, those with gates far; each frozen before it is trained.

    A stack of one layer is a plain cell and left out.
    """
    nets = [
        *[(name, *place, BUDGET.updates) for place in NEAR for name in KINDS if (name, place[0]) != ("stacked", 1)],
        *[(name, *NEAR[-1], LONGER) for name in SLOW],
        *[(name, *place, BUDGET.updates) for place in FAR for name in GATED],
    ]
    return [
        {"kind": name, "depth": depth, "steps": steps, "updates": updates, "frozen": is_frozen}
        for name, depth, steps, updates in nets
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
