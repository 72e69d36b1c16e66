r"""Whether stacked simple layers and a deep cell differ: a search at equal size over teacher recurrences.

A stack of :math:`L` layers has a state of :math:`L d` numbers, of which only the bottom layer's are written next to the
input; the deep cell has :math:`d` numbers, and all of its :math:`L` layers lie between one state and the next. The
problems are teacher recurrences whose step has 1, 2 or 4 layers (two draws of each; mean squared error, 1 is a guess).
Everything is trained on sequences of 16 steps, from small sets to larger ones that contain them, and judged on steps 1
to 16, 17 to 32 and 33 to 64 of one test set.

All nets start orthogonal; see :mod:`fhx.experiments.equal_size`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from attrs import evolve
from torch import nn

from fhx.experiments.comparison import kind_by_rate
from fhx.experiments.equal_size import make, sweep, units_for
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.tasks import Sequences, Task, teacher_recurrence
from fhx.training import OBJECTIVES, Objective

__all__ = ["BANDS", "EXPERIMENT", "STATEMENTS", "STUDENTS", "TEACHERS", "by_band", "evidence", "run", "task"]

STUDENTS = (("plain", 1), ("plain", 2), ("plain", 4), ("stacked", 2), ("stacked", 4), ("GRU", 1), ("gated", 1))
"""The kinds of cell that learn, and their layers."""
TEACHERS = {f"teacher {depth}, draw {draw}": (depth, draw) for draw in (1, 2) for depth in (1, 2, 4)}
"""The recurrences to learn: layers of the step, and the seed of its weights."""
STEPS = 16
"""Of the sequences to train on."""
TEST_STEPS = 64
"""Of the test set, four times as many."""
BANDS = {"1x": (0, 16), "2x": (16, 32), "4x": (32, 64)}
"""Steps of the test set, from the first to before the last."""
SIZES = dict.fromkeys(TEACHERS, (64, 256, 1024))
"""Sequences to train on; a smaller set is the first part of a larger one."""
EVALUATED = (256, 256)
"""Sequences to validate with and to test on."""
BUDGETS = {name: {"parameters": 1000, "updates": 250, "evaluate_every": 25} for name in TEACHERS}
"""For each problem the parameters of a net, and how long it is trained."""
SEEDS = range(5)
"""Of the nets that are reported."""
OTHER_SEEDS = range(5, 8)
"""Of the nets that the learning rate is chosen by."""
LEARNING_RATES = (0.002, 0.008, 0.032, 0.128)
"""Learning rates that are tried."""
BATCH = 16
"""Sequences of an update."""


@cache
def task(name: str) -> Task:
    """A problem with its largest training set; its test sequences are four times as long."""
    sizes = (max(SIZES[name]), *EVALUATED)
    depth, draw = TEACHERS[name]
    return teacher_recurrence(depth, STEPS, sizes=sizes, seed=draw, test_steps=TEST_STEPS)


@torch.no_grad()
def by_band(net: nn.Module, part: Sequences, objective: Objective) -> dict[str, float]:
    """The mean metric over the steps of each band."""
    values = objective.metric(net(part.inputs, part.lengths), part.targets).mean(1)
    return {name: values[start:end].mean().item() for name, (start, end) in BANDS.items()}


def _points() -> list[Point]:
    """Every student on every problem with every size of its training set."""
    pairs = [(name, size) for name, sizes in SIZES.items() for size in sizes]
    return [
        {"task": name, "size": size, "cell": cell, "depth": depth} for name, size in pairs for cell, depth in STUDENTS
    ]


def run(point: Point) -> Result:
    """Train a student.

    Returns:
        That of :func:`~fhx.experiments.equal_size.sweep`, whose ``test`` is over all 64 steps, and ``bands``, by
        band the test metric of each seed; ``units`` and ``parameters``.
    """
    whole, budget = task(point["task"]), dict(BUDGETS[point["task"]])
    problem = evolve(whole, train=whole.train.take(slice(point["size"])))
    cell, depth = point["cell"], point["depth"]
    units = units_for(budget.pop("parameters"), cell, depth, problem)
    found = sweep(
        lambda: make(cell, depth, problem, units, orthogonal=True),
        problem,
        rates=LEARNING_RATES,
        seeds=SEEDS,
        others=OTHER_SEEDS,
        batch_size=BATCH,
        **budget,
    )
    models = [found.fit.models[row] for row in found.rows]
    bands = [by_band(net, problem.test, OBJECTIVES[problem.kind]) for net in models]
    return {
        **found.result,
        "bands": {name: [band[name] for band in bands] for name in BANDS},
        "units": units,
        "parameters": sum(p.numel() for p in models[0].parameters()),
    }


GAIN = 0.01
"""What the last tenth of the updates may take from the error of a net that counts as settled; a guess has error 1."""
STATEMENTS = tuple(Ahead(f"deep, {depth}", f"stack of {depth}") for depth in (2, 4))
"""What is judged for each teacher and number of sequences, on the trained length."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored nets say of each teacher and number of sequences.

    There is no control, and no regularisation was tried. All comparisons share a level.
    """
    pairs = [(name, size) for name, sizes in SIZES.items() for size in sizes]
    found: dict[str, Evidence] = {}
    for name, size in pairs:
        entries = [e for e in stored["points"] if (e["point"]["task"], e["point"]["size"]) == (name, size)]
        found[f"{name}, {size} sequences"] = Evidence(
            kinds={_label(e["point"]): kind_by_rate(e["result"], e["result"]["bands"]["1x"]) for e in entries},
            higher_is_better=False,
            control=None,
            baselines={"constant": 1.0},
            statements=STATEMENTS,
            shown=len(pairs) * len(STATEMENTS),
            gain=GAIN,
        )
    return found


def _label(point: Point) -> str:
    cell: str = point["cell"]
    depth: int = point["depth"]
    if depth == 1:
        return {"plain": "simple", "gated": "LSTM"}.get(cell, cell)
    return f"{'deep,' if cell == 'plain' else 'stack of'} {depth}"


EXPERIMENT = Experiment(
    name="stack_or_deep",
    question="Do a stack of simple layers and a deep cell of equal size differ?",
    settings={
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "rates": LEARNING_RATES,
        "batch_size": BATCH,
        "budgets": BUDGETS,
        "students": STUDENTS,
        "steps": STEPS,
        "bands": BANDS,
        "sizes": SIZES,
    },
    points=_points(),
    run=run,
    evidence=evidence,
)
