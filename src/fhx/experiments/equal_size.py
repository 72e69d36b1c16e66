r"""What comparisons of cells share: nets of equal size, and all learning rates and seeds trained as one batch.

A net is a cell and an affine readout, as wide as a budget of parameters allows, the readout's among them. Every matrix
that acts on a state starts with gain 1: independent normal entries of variance :math:`1 / d`, or a uniformly drawn
orthogonal matrix. In a stack the matrices between layers start so too. Biases start at 0, those of an LSTM's forget
gates at 1.

Every rate of a grid is tried with the reported seeds and with others, all of them at once and with the same number of
updates. The others alone choose the rate.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from time import process_time
from typing import Any, Generic, TypeVar

from attrs import frozen
from torch import nn

from fhx.cells import Cell, GRUCell, SimpleCell, Stack, parameter_count
from fhx.dynamics import Realization
from fhx.experiments.learning_rates import RowAdam, best_learning_rate
from fhx.experiments.variants import CELLS as DEEP
from fhx.experiments.variants import initialize
from fhx.tasks import Task
from fhx.training import OBJECTIVES, Fit, fit

__all__ = ["CELLS", "Sweep", "make", "most_units", "multiply_adds", "parameters", "sweep", "units_for"]

M = TypeVar("M", bound=nn.Module)


def _gru(input_size: int, state_size: int, depth: int, **options: Any) -> GRUCell:
    return GRUCell(input_size, state_size, **options)


CELLS: dict[str, Callable[..., Cell]] = {**DEEP, "GRU": _gru}
"""Those of ``fhx.experiments.variants.CELLS``, and a GRU, which has no depth."""


def parameters(cell: str, depth: int, task: Task, units: int) -> int:
    """The parameters of cell and readout."""
    return parameter_count(CELLS[cell], task.input_size, units, depth=depth) + task.output_size * (units + 1)


def most_units(size: Callable[[int], int], budget: int, least: int = 1) -> int:
    """The most units, at least ``least``, with which a net has at most ``budget`` parameters, which ``size`` counts.

    Raises:
        ValueError: even the least have more.
    """
    units = next(units for units in count(least) if size(units + 1) > budget)
    if size(units) > budget:
        raise ValueError(f"a net of {units} units has {size(units)} parameters, more than {budget}")
    return units


def units_for(budget: int, cell: str, depth: int, task: Task) -> int:
    """The most units with at most ``budget`` parameters, those of the readout among them.

    Raises:
        ValueError: even 2 units have more.
    """
    if parameters(cell, depth, task, 2) > budget:
        raise ValueError(f"a net {cell!r} of depth {depth} for {task.name} has more than {budget} parameters")
    return most_units(partial(parameters, cell, depth, task), budget, least=2)


def make(cell: str, depth: int, task: Task, units: int, orthogonal: bool = False) -> Realization:
    """A new net, initialized with gain 1.

    Args:
        cell: one of ``CELLS``.
        depth: layers of the cell; for "stacked" simple cells on top of one another. A GRU has none.
        task: what it is for.
        units: of every layer.
        orthogonal: whether the matrices start orthogonal, as those of the cell "orthogonal" do in any case.
    """
    net = CELLS[cell](task.input_size, units, depth)
    orthogonal = orthogonal or cell == "orthogonal"
    initialize(net, 1.0, orthogonal)
    if isinstance(net, Stack):
        for layer in net.layers[1:]:
            between = SimpleCell(1, units)
            initialize(between, 1.0, orthogonal)
            layer.U = between.W
    return Realization(net, nn.Linear(units, task.output_size))


def multiply_adds(net: Realization, steps: int, read: int) -> int:
    """Multiplications in a run over ``steps`` steps of which ``read`` are read out: a matrix is used once per step."""
    return steps * _entries_of_matrices(net.cell) + read * _entries_of_matrices(net.readout)


def _entries_of_matrices(part: object) -> int:
    return sum(W.numel() for W in part.parameters() if W.ndim == 2) if isinstance(part, nn.Module) else 0


@frozen
class Sweep(Generic[M]):
    """What came of training all rates with all seeds.

    Attributes:
        fit: rows rate by rate, for each first the other seeds, then the reported ones.
        rate: the chosen one.
        rows: of the reported seeds at this rate.
        result: of them, as JSON can hold it, a number per seed: ``test``, ``valid``, the curve, evaluated ``at`` these
            updates, ``best update`` and ``diverged``, an update or None; ``rate`` and ``rates``, the validation metric
            of the other seeds by rate; ``test by rate``, of the reported seeds; ``seconds``, process time of all.
    """

    fit: Fit[M]
    rate: float
    rows: range
    result: dict[str, Any]


def sweep(
    make_model: Callable[[], M],
    task: Task,
    *,
    rates: Sequence[float],
    seeds: Sequence[int],
    others: Sequence[int],
    updates: int,
    batch_size: int,
    evaluate_every: int,
) -> Sweep[M]:
    """Train every rate with every seed as one batch, by Adam at a constant rate, and choose the rate by the others.

    The chosen rate has the best mean over the other seeds of their best validation metric; of two the smaller one.
    """
    together = [(i, seed) for i in range(len(rates)) for seed in (*others, *seeds)]
    began = process_time()
    trained = fit(
        make_model,
        task,
        seeds=[1000 * i + seed for i, seed in together],
        updates=updates,
        batch_size=batch_size,
        learning_rate=1.0,
        evaluate_every=evaluate_every,
        optimizer=lambda parameters, lr: RowAdam(parameters, lr, [rates[i] for i, _ in together]),
        progress=False,
    )
    seconds = process_time() - began
    many = len(others) + len(seeds)
    tried = trained.best_valid.reshape(len(rates), many)[:, : len(others)].flatten().tolist()
    rate, means = best_learning_rate(rates, tried, OBJECTIVES[task.kind].higher_is_better)
    reported = [range(many * i + len(others), many * (i + 1)) for i in range(len(rates))]
    rows = reported[list(rates).index(rate)]
    result = {
        "rates": means,
        "rate": rate,
        "test": [trained.test[row].item() for row in rows],
        "test by rate": {
            str(rate): trained.test[list(part)].tolist() for rate, part in zip(rates, reported, strict=True)
        },
        "at": trained.updates.tolist(),
        "valid": [trained.valid[row].tolist() for row in rows],
        "best update": [int(trained.best_update[row]) for row in rows],
        "diverged": [trained.diverged.get(trained.seeds[row]) for row in rows],
        "seconds": seconds,
    }
    return Sweep(trained, rate, rows, result)
