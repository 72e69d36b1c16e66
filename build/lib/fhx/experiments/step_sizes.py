r"""Which learning rate suits which net: a grid of rates for each task and each cell, judged on the validation set.

A comparison of cells at one common rate compares how well that rate suits each of them. So the rate of each is chosen
first, as the best of :math:`0.0025 \cdot 2^k` by the mean validation metric over seeds that no comparison uses, and
with the same budget of updates. Beside the cells stands ``affine``, an affine readout of a delay line, which has no
recurrent weights: it sees the whole image of a digit, and the last frame of a chorale.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from torch import nn

from fhx.cells import Cell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.delay_line import delay_line
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.learning_rates import best_learning_rate
from fhx.tasks import Task, chorales, digits
from fhx.training import fit

__all__ = [
    "BUDGETS",
    "CELLS",
    "EXPERIMENT",
    "LEARNING_RATES",
    "MODELS",
    "at_edge",
    "best_learning_rates",
    "make",
    "run",
    "tasks",
]

BUDGETS: dict[str, dict[str, int]] = {
    "digits": {"updates": 150, "batch_size": 64},
    "chorales": {"updates": 50, "batch_size": 16},
}
"""How long the nets of each task are trained."""
CELLS: dict[str, Callable[[int, int], Cell]] = {
    "simple": SimpleCell,
    "linear": LinearCell,
    "LSTM": LSTMCell,
    "GRU": GRUCell,
}
"""What makes a cell of ``(input_size, state_size)``."""
HIGHER_IS_BETTER = {"digits"}
"""Digits are scored by accuracy, chorales in nats per frame."""
MODELS = (*CELLS, "affine")
"""The cells, and the affine readout beside them."""
UNITS = 32
"""Of every cell."""
LEARNING_RATES = tuple(0.0025 * 2**k for k in range(9))
"""From 0.0025 to 0.64, each twice the one before."""
SEEDS = range(5, 10)
"""None of them is used in a comparison."""
DIGITS_BY: Literal["row"] = "row"
"""How an image is read."""


def tasks() -> dict[str, Task]:
    """The tasks by name: digits read row by row, and chorales."""
    return {"digits": digits(DIGITS_BY), "chorales": chorales()}


_tasks = cache(tasks)


def make(cell: str, task: Task) -> Realization:
    """A new net for a task: a cell of 32 units, or a delay line, with an affine readout.

    Args:
        cell: one of ``MODELS``.
        task: what the net is for; with ``affine``, all steps of a sequence are read where a task asks for its class at
            the end, one step otherwise.

    Raises:
        ValueError: there is no such cell.
    """
    if cell in CELLS:
        return Realization(CELLS[cell](task.input_size, UNITS), nn.Linear(UNITS, task.output_size))
    if cell != "affine":
        raise ValueError(f"there is no cell {cell!r}; there are {', '.join(MODELS)}")
    return delay_line(task)


def run(point: Point) -> Result:
    """Train the seeds at one rate: the best validation metric of each, their mean, and how many seeds diverged."""
    task, budget = _tasks()[point["task"]], BUDGETS[point["task"]]
    result = fit(
        lambda: make(point["cell"], task),
        task,
        seeds=SEEDS,
        learning_rate=point["rate"],
        updates=budget["updates"],
        batch_size=budget["batch_size"],
        evaluate_every=budget["updates"] // 5,
        progress=False,
    )
    best = result.best_valid.tolist()
    return {"valid": sum(best) / len(best), "seeds": best, "diverged": len(result.diverged)}


def best_learning_rates(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The rate with the best validation metric, by task and cell, from the result of this experiment.

    Accuracy is better when higher, nats per frame when lower; of two equally good rates the lower one is taken.
    """
    return {task: {cell: _best(task, scores) for cell, scores in nets.items()} for task, nets in _grid(result).items()}


def at_edge(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The (task, cell) whose best rate is an end of its grid, so that a better one may lie outside."""
    picks, grid = best_learning_rates(result), _grid(result)
    edges = [(task, cell, {min(scores), max(scores)}) for task, nets in grid.items() for cell, scores in nets.items()]
    return [(task, cell) for task, cell, ends in edges if picks[task][cell] in ends]


def _grid(result: Mapping[str, Any]) -> dict[str, dict[str, dict[float, float]]]:
    """task -> cell -> rate -> validation metric."""
    grid: dict[str, dict[str, dict[float, float]]] = {}
    for entry in result["points"]:
        point = entry["point"]
        grid.setdefault(point["task"], {}).setdefault(point["cell"], {})[point["rate"]] = entry["result"]["valid"]
    return grid


def _best(task: str, scores: Mapping[float, float]) -> float:
    return best_learning_rate([*scores], [*scores.values()], task in HIGHER_IS_BETTER)[0]


EXPERIMENT = Experiment(
    name="step_sizes",
    question="Which learning rate suits which net?",
    settings={"seeds": list(SEEDS), "units": UNITS, "digits by": DIGITS_BY, "budgets": BUDGETS},
    points=[
        {"task": task, "cell": cell, "rate": rate} for task in BUDGETS for cell in MODELS for rate in LEARNING_RATES
    ],
    run=run,
)
