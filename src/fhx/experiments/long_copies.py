r"""A word held over a long delay by weights that stay orthogonal, beside weights that start so, gates, and frozen ones.

In :func:`fhx.tasks.copy_memory` a word of K symbols out of 8 is read, then T - 1 blanks and a signal, and then the word
is to be repeated: each symbol is asked for T + K steps after it was read. Without memory the best is to guess, at
:math:`K \ln 8 / (T + 2K)` nats per step. Nets of one layer and an affine readout are trained on it:

* "orthogonal", :math:`h_t = \mathrm{modReLU}(W h_{t-1} + U x_t + b)` with a W that is orthogonal after every update, by
  a Cayley transform, :math:`W = Q (I - A)^{-1} (I + A)` with Q the start and a skew A of trained numbers, 0 at first;
  and :math:`\mathrm{modReLU}(a) = \mathrm{sign}(a) \max(0, |a| + c)` with a trained c for each unit, 0 at first;
* "free", the same cell with the same start, all numbers of whose W are trained;
* "simple", a tanh cell with the same W at the start;
* "LSTM", with gates that start open for the whole run;
* "frozen", the orthogonal cell left as it starts, with a trained readout.

At K = 5 frozen cells repeat nearly all symbols, which was seen first: five symbols are 40 numbers, and fit into 64. At
K = 10 they are 80. So all kinds are compared there, and frozen cells are shown at K = 5 too.

Weight decay moves a trained A towards 0, and so W towards its start. An LSTM has half as many units, so that all but
the frozen have nearly as many numbers to train. A unitary matrix of n complex units acts as an orthogonal one on the
2n real and imaginary parts, so that it is no other case.

Sources: Arjovsky, Shah and Bengio (2016), "Unitary evolution recurrent neural networks", who propose modReLU for
complex numbers; Helfrich, Willmott and Ye (2018), "Orthogonal recurrent neural networks with scaled Cayley transform",
who have it with an orthogonal W; Henaff, Szlam and LeCun (2016), "Recurrent orthogonal networks and long-memory tasks".
"""

from collections.abc import Mapping
from functools import cache, partial
from math import log
from typing import Any

import torch
from attrs import evolve
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal

from fhx.cells import Cell, LSTMCell, SimpleCell
from fhx.cells.function import as_cell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import freeze
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.variants import initialize, open_gates
from fhx.stability.construction import CachedRealization
from fhx.tasks import Task, copy_memory
from fhx.training import OBJECTIVES

__all__ = [
    "BUDGET",
    "DELAY",
    "EXPERIMENT",
    "GAIN",
    "KINDS",
    "LENGTH",
    "RATES",
    "SHORT",
    "evidence",
    "guess",
    "make",
    "run",
    "task",
]

KINDS = ("frozen", "orthogonal", "free", "simple", "LSTM")
"""The kinds of net."""
DELAY, SYMBOLS = 50, 8
"""T, and how many symbols there are."""
LENGTH, SHORT = 10, 5
"""K, and that of the shorter words."""
MANY, UNITS = 64, {"LSTM": 32}
"""Units of a net, but for those that have another number."""
SIZES = (10000, 300, 1000)
"""Words to train on, to validate with and to test on."""
BUDGET = Budget(
    rates=(0.003, 0.01, 0.03, 0.1),
    decays=(0.0, 0.1),
    seeds=range(5),
    others=range(5, 7),
    updates=1000,
    batch_size=20,
    evaluations=20,
)
"""How all of them are trained, but for the rates of some."""
RATES = dict.fromkeys(("orthogonal", "free", "simple"), (0.001, 0.003, 0.01, 0.03))
"""Of other kinds: as many, one step lower, since the best of an orthogonal cell was the lowest of the others."""
GAIN = 0.005
"""Nats per step that the last tenth of the updates may add."""
NATS = OBJECTIVES["class per step"].by_loss("nats per step")
"""The objective: cross-entropy, which is reported too."""


class ModReLU(nn.Module):
    r""":math:`\mathrm{sign}(a) \max(0, |a| + c)` with a trained c for each unit, 0 at first.

    Args:
        size: units.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.c = nn.Parameter(torch.zeros(size))

    def forward(self, a: Tensor) -> Tensor:
        """Of shape ``(..., size)`` like ``a``."""
        return a.sign() * (a.abs() + self.c).relu()


@cache
def task(length: int) -> Task:
    """Words of this length."""
    return copy_memory(DELAY, SYMBOLS, length, SIZES)


def guess(length: int) -> float:
    """Nats per step of who answers blank until the signal and guesses after it."""
    return length * log(SYMBOLS) / (DELAY + 2 * length)


@torch.no_grad()
def make(name: str, length: int) -> Realization:
    """A new net of a kind for words of this length."""
    problem, units = task(length), UNITS.get(name, MANY)
    cell: Cell
    if name == "LSTM":
        cell = LSTMCell(problem.input_size, units)
    else:
        cell = SimpleCell(problem.input_size, units, "tanh" if name == "simple" else ModReLU(units))
    initialize(cell)
    open_gates(cell, problem.test.steps)
    if name in ("orthogonal", "frozen"):
        orthogonal(cell, "W", "cayley")
    net = CachedRealization(cell, nn.Linear(units, problem.output_size))
    return freeze(net) if name == "frozen" else net


@torch.no_grad()
def stretch(net: Realization) -> list[float]:
    """The smallest and the largest singular value of W, in float64."""
    values = torch.linalg.svdvals(as_cell(net.cell).W.double())
    return [values.min().item(), values.max().item()]


@torch.no_grad()
def share_right(net: nn.Module, length: int) -> float:
    """The share of the test words' symbols that are repeated right."""
    part = task(length).test
    named = net(part.inputs).argmax(-1)
    return (named == part.targets)[-length:].float().mean().item()


def run(point: Point) -> Result:
    """Choose the setting of a kind and train its nets.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`, whose scores are nats per step; ``right``, of each seed the
        share of symbols that it repeats right; and ``stretch``, the smallest and the largest singular value of its W,
        of kinds that have one matrix.
    """
    name, length = point["kind"], point["length"]
    budget = evolve(BUDGET, rates=RATES.get(name, BUDGET.rates))
    fitted, result = compare(partial(make, name, length), task(length), budget, NATS)
    result["right"] = [share_right(net, length) for net in fitted.models]
    if name not in UNITS:
        result["stretch"] = [stretch(net) for net in fitted.models]
    return result


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """The orthogonal kind against each of the others, on the longer words; frozen cells are the control."""
    kinds = {e["point"]["kind"]: kind(e["result"]) for e in stored["points"] if e["point"]["length"] == LENGTH}
    return {
        f"orthogonal and {name}": Evidence(
            kinds={each: kinds[each] for each in dict.fromkeys(("orthogonal", name, "frozen"))},
            higher_is_better=False,
            control="frozen",
            baselines={"guess": guess(LENGTH)},
            statements=(Ahead("orthogonal", name),),
            shown=len(KINDS) - 1,
            gain=GAIN,
        )
        for name in KINDS
        if name != "orthogonal"
    }


EXPERIMENT = Experiment(
    name="long_copies",
    question="Does a matrix that stays orthogonal learn to hold a word for longer than one that only starts so?",
    settings={
        "delay": DELAY,
        "symbols": SYMBOLS,
        "units": {name: UNITS.get(name, MANY) for name in KINDS},
        "sizes": SIZES,
        "gain of a settled net": GAIN,
        **BUDGET.as_json,
        "rates": {name: RATES.get(name, BUDGET.rates) for name in KINDS},
    },
    points=[{"kind": "frozen", "length": SHORT}, *({"kind": name, "length": LENGTH} for name in KINDS)],
    run=run,
    evidence=evidence,
)
"""The control on shorter words, then all kinds."""
