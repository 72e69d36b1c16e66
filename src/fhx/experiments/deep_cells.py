r"""Whether deep cells can be trained on problems that are not trivial: eight kinds of cell at equal size.

The source invites its readers to try a deep net as the step of a recurrence, and calls it untrainable. Here it is tried
on three problems: a recurrence whose step is itself a net of four layers, from its inputs and outputs alone (50 steps);
digits read pixel by pixel (64 steps); and chorales, trained on pieces of at most 50 frames and judged on whole ones.
The cells have 1, 2, 4 or 8 layers and equally many parameters; depth 1 of "plain" is the vanilla cell, of "gated" the
LSTM. Plain and orthogonal differ only in their initial weights: see :mod:`fhx.experiments.equal_size`.

Beside them stands an affine readout of a delay line, which has no recurrent weights and as many parameters as it has:
it sees the whole image of a digit, the last frame of a chorale, and the last 20 inputs of the teacher.

Apart from the readout, equally many parameters mean equally many multiplications per step, since each matrix is used
once in a step. Units are whole numbers, so both are equal to within a fifth.

On digits normalised nets of two layers or more diverge with most or all seeds in the first update: the first pixel of
all images is 0, and so are the biases, and where all pre-activations are 0 a layer norm multiplies a gradient by
:math:`1 / \sqrt{10^{-5}}` in each layer. ``diverged`` says which, and their scores are those of nets at their start.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from attrs import evolve
from torch import nn

from fhx.dynamics import Realization
from fhx.experiments.comparison import kind_by_rate
from fhx.experiments.delay_line import delay_line
from fhx.experiments.equal_size import make, multiply_adds, sweep, units_for
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.tasks import Sequences, Task, chorales, digits, teacher_recurrence

__all__ = ["BUDGETS", "DEPTHS", "EXPERIMENT", "GAINS", "affine", "evidence", "pieces", "run", "task"]

DEPTHS = (1, 2, 4, 8)
"""Layers of the deep cells."""
DEEP = ("plain", "orthogonal", "normalised", "residual", "highway", "gated", "stacked")
"""The kinds of cell that have a depth."""
BUDGETS = {
    "teacher": {"parameters": 2000, "updates": 240, "batch_size": 16, "evaluate_every": 24},
    "digits": {"parameters": 4000, "updates": 180, "batch_size": 16, "evaluate_every": 30},
    "chorales": {"parameters": 8000, "updates": 120, "batch_size": 16, "evaluate_every": 24},
}
"""For each task the parameters of a net, and how it is trained."""
SEEDS = range(5)
"""Of the nets that are reported."""
OTHER_SEEDS = range(5, 7)
"""Of the nets that the learning rate is chosen by."""
LEARNING_RATES = (0.0005, 0.002, 0.008, 0.032)
"""Learning rates of the cells that are tried."""
AFFINE_LEARNING_RATES = (0.008, 0.032, 0.128, 0.512)
"""Learning rates of the affine readout that are tried."""
GAINS = {"teacher": 0.01, "digits": 0.01, "chorales": 0.05}
"""What the last tenth of the updates may add to the best validation metric of a net that counts as settled."""
CLOSED = ("highway", "gated", "GRU")
"""Kinds whose gates start at one bias for all horizons, and not open for the task's."""
TEACHER_DEPTH = 4
"""Layers of the teacher's step."""
TEACHER_STEPS = 50
"""Of each of its sequences."""
TEACHER_GAIN = 2.0
"""Of its matrices."""
TEACHER_SEED = 1
"""Of its weights and its sequences."""
TEACHER_SIZES = (1024, 128, 256)
"""Its sequences to train on, to validate with and to test on."""
PIECE = 50
"""The most frames of a chorale that a net is trained on at once."""
TAPS = 20
"""Inputs of the teacher that the affine readout sees."""


@cache
def task(name: str) -> Task:
    """One of the three problems, the same for all cells and seeds."""
    if name == "teacher":
        return teacher_recurrence(
            TEACHER_DEPTH, TEACHER_STEPS, gain=TEACHER_GAIN, seed=TEACHER_SEED, sizes=TEACHER_SIZES
        )
    if name == "digits":
        return digits("pixel")
    whole = chorales()
    return evolve(whole, train=pieces(whole.train, PIECE))


def pieces(part: Sequences, steps: int) -> Sequences:
    """Sequences with one target per step, cut from their starts on into pieces of ``steps`` steps or what is left."""
    lengths = part.mask.sum(0)
    starts = range(0, part.steps, steps)
    long = [torch.nonzero(lengths > start).flatten() for start in starts]

    def cut(values: torch.Tensor) -> torch.Tensor:
        padded = nn.functional.pad(values, (0, 0, 0, 0, 0, -len(values) % steps))
        return torch.cat([padded[start : start + steps, rows] for start, rows in zip(starts, long, strict=True)], 1)

    left = [(lengths[rows] - start).clamp(max=steps) for start, rows in zip(starts, long, strict=True)]
    return Sequences(cut(part.inputs), cut(part.targets), torch.cat(left))


def affine(problem: Task) -> Realization:
    """An affine readout of a delay line: of the last 20 inputs where every step has a value, else that of chapter 1."""
    if problem.kind != "value per step":
        return delay_line(problem)
    width = TAPS * problem.input_size
    return Realization(delay_line(problem).cell, nn.Linear(width, problem.output_size), h0=torch.zeros(width))


def _points() -> list[Point]:
    """Every cell at every depth on every problem."""
    nets = [(cell, depth) for depth in DEPTHS for cell in DEEP if (cell, depth) != ("stacked", 1)]
    nets = [("affine", 1), ("GRU", 1), *nets]
    return [{"task": name, "cell": cell, "depth": depth} for name in BUDGETS for cell, depth in nets]


def run(point: Point) -> Result:
    """Train a net of this kind.

    Returns:
        That of :func:`~fhx.experiments.equal_size.sweep`, and ``units`` (None for the affine net),
        ``parameters``, and ``multiply-adds`` of a sequence of the mean length of those trained on.
    """
    problem, budget = task(point["task"]), dict(BUDGETS[point["task"]])
    cell, depth, size, units = point["cell"], point["depth"], budget.pop("parameters"), None
    if cell != "affine":
        units = units_for(size, cell, depth, problem)

    def build() -> Realization:
        return affine(problem) if units is None else make(cell, depth, problem, units)

    rates = AFFINE_LEARNING_RATES if units is None else LEARNING_RATES
    result = sweep(build, problem, rates=rates, seeds=SEEDS, others=OTHER_SEEDS, **budget).result
    net, steps = build(), round(problem.train.mask.sum().item() / len(problem.train))
    return {
        **result,
        "units": units,
        "parameters": sum(p.numel() for p in net.parameters()),
        "multiply-adds": multiply_adds(net, steps, 1 if problem.kind == "class at end" else steps),
    }


STATEMENTS = (
    *(Ahead(f"{cell}, L = {depth}", f"{cell}, L = 1") for cell in ("plain", "gated") for depth in (2, 8)),
    *(Ahead(f"{cell}, L = 1", f"{cell}, L = 8") for cell in ("plain", "gated")),
)
"""What is judged on each task."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored runs say of each task; the control is the affine net, which has no recurrence."""
    found: dict[str, Evidence] = {}
    for name in BUDGETS:
        entries = [e for e in stored["points"] if e["point"]["task"] == name]
        kinds = {
            _label(e["point"]): kind_by_rate(e["result"], recommended_start=e["point"]["cell"] not in CLOSED)
            for e in entries
        }
        found[name] = Evidence(
            kinds=kinds,
            higher_is_better=name == "digits",
            control="affine",
            baselines={"affine": sum(kinds["affine"].scores) / len(SEEDS)},
            statements=STATEMENTS,
            shown=len(STATEMENTS),
            gain=GAINS[name],
        )
    return found


def _label(point: Point) -> str:
    return point["cell"] if point["cell"] in ("affine", "GRU") else f"{point['cell']}, L = {point['depth']}"


EXPERIMENT = Experiment(
    name="deep_cells",
    question="Can deep cells be trained on problems that are not trivial?",
    settings={
        "seeds": list(SEEDS),
        "seeds of the rates": list(OTHER_SEEDS),
        "rates": LEARNING_RATES,
        "rates of the affine net": AFFINE_LEARNING_RATES,
        "budgets": BUDGETS,
        "depths": DEPTHS,
        "teacher": {
            "depth": TEACHER_DEPTH,
            "steps": TEACHER_STEPS,
            "gain": TEACHER_GAIN,
            "seed": TEACHER_SEED,
            "sizes": TEACHER_SIZES,
        },
        "frames of a piece": PIECE,
        "taps": TAPS,
    },
    points=_points(),
    run=run,
    evidence=evidence,
)
