"""What the experiments on formal languages share: nets, how they are trained, and when a net counts as right."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from fhx.cells import Cell, GRUCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.learning_rates import best_learning_rate
from fhx.tasks import Sequences, Task
from fhx.training import Fit, fit

__all__ = ["CELLS", "UNITS", "chosen_learning_rate", "load", "make", "reach", "right", "train", "weights"]

CELLS: dict[str, Callable[[int, int], Cell]] = {
    "tanh": SimpleCell,
    "relu": lambda inputs, units: SimpleCell(inputs, units, "relu"),
    "GRU": GRUCell,
    "LSTM": LSTMCell,
}
"""What makes a cell of ``(input_size, state_size)``."""
UNITS = 16
"""Of every net."""
CHUNK = 10
"""Numbers that a probe tries at a time."""


def make(cell: str, task: Task) -> Realization:
    """A new net: a cell of 16 units and an affine readout."""
    return Realization(CELLS[cell](task.input_size, UNITS), nn.Linear(UNITS, task.output_size))


def load(cell: str, task: Task, weights: Mapping[str, Sequence[Any]]) -> Realization:
    """The net with stored weights, in evaluation mode."""
    net = make(cell, task)
    net.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    return net.eval()


def weights(net: nn.Module) -> dict[str, list[Any]]:
    """All numbers of a net by name, as JSON can hold them."""
    return {name: value.tolist() for name, value in net.state_dict().items()}


def train(
    cell: str,
    task: Task,
    rate: float,
    seeds: Iterable[int],
    updates: int,
    batch_size: int = 32,
    make_model: Callable[[], Realization] | None = None,
) -> Fit[Realization]:
    """Train with Adam, the learning rate falling linearly from ``rate`` to zero."""
    return fit(
        make_model or (lambda: make(cell, task)),
        task,
        seeds=seeds,
        updates=updates,
        batch_size=batch_size,
        learning_rate=lambda update: rate * (1 - (update - 1) / updates),
        progress=False,
    )


def chosen_learning_rate(
    cell: str, task: Task, rates: Sequence[float], seeds: Iterable[int], updates: int, batch_size: int
) -> tuple[float, dict[str, float]]:
    """The rate with the lowest mean, over seeds that are not reported, of the best loss in nats; that mean by rate."""
    seeds = list(seeds)
    fits = [train(cell, task, rate, seeds, updates, batch_size) for rate in rates]
    return best_learning_rate(rates, [loss for result in fits for loss in result.best_valid.tolist()])


@torch.no_grad()
def right(net: Callable[[Tensor, Tensor | None], Tensor], part: Sequences) -> Bool[Tensor, " N"]:
    """For each sequence, whether the sign of every output at every step is that of its target."""
    agree = ((net(part.inputs, part.lengths) > 0) == (part.targets > 0.5)).all(-1)
    return (agree | ~part.mask).all(0)


def reach(
    net: Callable[[Tensor, Tensor | None], Tensor],
    part: Callable[[tuple[int, ...]], Sequences],
    max_count: int,
) -> int:
    """The largest N up to ``max_count`` such that all sequences of ``part`` for the numbers 1, ..., N are right.

    Args:
        net: the net.
        part: from some numbers to sequences in their order, equally many for each number.
        max_count: where to stop.
    """
    for first in range(1, max_count + 1, CHUNK):
        numbers = tuple(range(first, min(first + CHUNK, max_count + 1)))
        wrong = ~right(net, part(numbers)).reshape(len(numbers), -1).all(1)
        if wrong.any():
            return first - 1 + int(wrong.int().argmax())
    return max_count
