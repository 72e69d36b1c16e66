r"""Words over five groups, trained until the curves are flat: does a deeper step help, a higher stack, do gates?

After each letter a net is to name the product of the word so far. The groups are cyclic (Z2, Z3), solvable (S3) or
neither (A5 and S5, whose words are made of two letters that generate the group; those of the others of all elements).
Nets of one size are trained on 20,000 words of 16 letters by :func:`fhx.experiments.comparison.compare` and judged on
letters 1 to 16, 17 to 32 and 33 to 64 of 500 new words:

* "simple", one tanh layer; "deep", a step of two; "stack", two simple layers, both of which read the letter and are
  read out; "gated", an LSTM; "gated stack", two of them in the same way;
* "frozen", the deep cell as it starts, with a trained readout, and "frozen gated", the LSTM: the controls;
* "window", an affine readout of the last eight letters. A guess is right :math:`1 / |G|` of the time.

State-side matrices start orthogonal, biases at 0. An LSTM's gates start open for the horizon :math:`T` of 64 letters
(Tallec and Ollivier 2018): :math:`b_f = \ln u` with :math:`u` uniform between 1 and :math:`T - 1`, and
:math:`b_i = -b_f`.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, final

import torch
from attrs import evolve
from jaxtyping import Float
from torch import Tensor, nn

from fhx.cells import Cell, DeepCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.delay_line import Window
from fhx.experiments.equal_size import most_units
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import freeze
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.variants import initialize, open_gates
from fhx.tasks import Task, word_problem
from fhx.training import OBJECTIVES

__all__ = [
    "BANDS",
    "BUDGETS",
    "EXPERIMENT",
    "GROUPS",
    "KINDS",
    "MARGIN",
    "STATEMENTS",
    "SkipStack",
    "evidence",
    "make",
    "run",
    "task",
    "units_for",
]

GROUPS: dict[str, Sequence[str] | None] = {
    "Z2": None,
    "Z3": None,
    "S3": None,
    "A5": ("23145", "23451"),
    "S5": ("21345", "23451"),
}
"""The groups whose words are to be multiplied, and the letters; None for all elements."""
KINDS = ("simple", "deep", "stack", "gated", "gated stack", "frozen", "frozen gated", "window")
"""The nets that are trained."""
FROZEN = {"frozen": "deep", "frozen gated": "gated"}
"""The controls, and what they are before they are frozen."""
STEPS, TEST_STEPS = 16, 64
"""Letters of the words to train on, and of those to test on."""
BANDS = {"1x": (0, 16), "2x": (16, 32), "4x": (32, 64)}
"""Letters of the test words, from the first to before the last."""
SIZES = (20_000, 500, 500)
"""Words to train on, to validate with and to test on."""
PARAMETERS = {"Z2": 1000, "Z3": 1000, "S3": 1000, "A5": 6000, "S5": 6000}
"""Of a net, at most."""
UPDATES = {"Z2": 4000, "Z3": 4000, "S3": 4000, "A5": 6000, "S5": 6000}
"""Of every net."""
WINDOW = 8
"""Letters that the affine readout sees."""
GAIN = 0.01
"""What the last tenth of the updates may add to an accuracy of validation."""
MARGIN = 0.05
"""By how much accuracy one kind is to be ahead."""
BUDGETS = {
    name: Budget(
        rates=(0.002, 0.006, 0.02, 0.06, 0.0006, 0.2),
        decays=(0.0, 0.03),
        seeds=range(8),
        others=range(20, 22),
        updates=UPDATES[name],
        batch_size=32,
        evaluations=40,
    )
    for name in GROUPS
}
"""How all kinds are trained on the words of a group. The last two rates were added for all kinds, since on S3 some had
their best at an end of the first four."""
STATEMENTS = (
    *(Ahead(name, "frozen", MARGIN) for name in ("simple", "deep", "stack")),
    *(Ahead(name, "frozen gated", MARGIN) for name in ("gated", "gated stack")),
    Ahead("deep", "simple", MARGIN),
    Ahead("stack", "simple", MARGIN),
    Ahead("deep", "stack", MARGIN),
    Ahead("gated", "deep", MARGIN),
    Ahead("gated stack", "gated", MARGIN),
)
"""What is judged for each group, on the trained length and far beyond it: what is learned at all, and what helps."""
JUDGED = ("1x", "4x")


@final
class SkipStack(Cell):
    r"""Cells on top of one another, each of which also reads the input, and all of which are shown to the readout.

    With :math:`y^0_t` empty and layers :math:`f^1, \dots, f^L`,

    .. math:: s^l_t = f^l(s^l_{t-1}, (y^{l-1}_t, x_t)), \qquad y^l_t = \mathrm{hidden}(s^l_t).

    Args:
        cells: the layers, bottom first.
        input_size: width of the input.

    Raises:
        ValueError: there are none, or one does not read the layer below it and the input.

    Source: Graves (2013), "Generating sequences with recurrent neural networks".
    """

    def __init__(self, cells: Sequence[Cell], input_size: int) -> None:
        if not cells:
            raise ValueError("a stack needs at least one cell")
        for k, cell in enumerate(cells):
            wanted = input_size + (cells[k - 1].state_size if k else 0)
            if cell.input_size != wanted:
                raise ValueError(f"layer {k} reads {cell.input_size} numbers, not {wanted}")
        super().__init__(input_size, sum(cell.state_size for cell in cells))
        self.layers: Sequence[Cell] = nn.ModuleList(cells)  # type: ignore[assignment]  # torch's is not generic
        self._widths = [cell.state_width for cell in cells]
        self.state_width = sum(self._widths)

    def drive(self, x: Float[Tensor, "*batch input"]) -> Float[Tensor, "*batch input"]:
        """The input, which every layer reads together with the layer below it."""
        return x

    def step(
        self, h: Float[Tensor, "*batch width"], drive: Float[Tensor, "*batch input"]
    ) -> Float[Tensor, "*batch width"]:
        """The next states of all layers, from the bottom up."""
        states, read = [], drive
        for layer, state in zip(self.layers, h.split(self._widths, -1), strict=True):
            states.append(layer.step(state, layer.drive(read)))
            read = torch.cat((layer.hidden(states[-1]), drive), -1)
        return torch.cat(states, -1)

    def hidden(self, state: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch d"]:
        """What all layers show, bottom first."""
        shown = zip(self.layers, state.split(self._widths, -1), strict=True)
        return torch.cat([layer.hidden(part) for layer, part in shown], -1)


@cache
def task(group: str) -> Task:
    """The words over a group; those of the test are four times as long."""
    return word_problem(group, STEPS, SIZES, letters=GROUPS[group], test_steps=TEST_STEPS)


@torch.no_grad()
def _started(cell: Cell) -> Cell:
    """The cell with orthogonal matrices, biases 0 and gates open for the horizon."""
    initialize(cell)
    open_gates(cell, TEST_STEPS)
    return cell


def make(name: str, problem: Task, units: int) -> nn.Module:
    """A new net of a kind with so many units in every layer.

    Raises:
        ValueError: there is no such kind.
    """
    inputs, outputs = problem.input_size, problem.output_size
    if name == "window":
        return Window(inputs, outputs, WINDOW)
    if name in FROZEN:
        return freeze(make(FROZEN[name], problem, units))
    layer = LSTMCell if name.startswith("gated") else SimpleCell
    if name in ("stack", "gated stack"):
        cell: Cell = SkipStack([_started(layer(n, units)) for n in (inputs, units + inputs)], inputs)
    elif name in ("simple", "gated"):
        cell = _started(layer(inputs, units))
    elif name == "deep":
        cell = _started(DeepCell(inputs, units, depth=2))
    else:
        raise ValueError(f"there is no kind {name!r}; there are {', '.join(KINDS)}")
    return Realization(cell, nn.Linear(cell.state_size, outputs))


def units_for(name: str, group: str) -> int:
    """The most units of every layer with at most as many parameters as the group's nets may have."""
    problem = task(group)

    def size(units: int) -> int:
        return sum(p.numel() for p in make(name, problem, units).parameters())

    return 0 if name == "window" else most_units(size, PARAMETERS[group])


@torch.no_grad()
def banded(nets: Sequence[nn.Module], problem: Task) -> tuple[dict[str, list[float]], dict[str, float]]:
    """For each band of letters the accuracy of every net, and the error that the choice of words gives their mean."""
    part, correct = problem.test, OBJECTIVES[problem.kind].metric
    values = torch.stack([correct(net(part.inputs), part.targets) for net in nets]).double()
    bands = {name: values[:, start:end].mean(1) for name, (start, end) in BANDS.items()}
    errors = {name: by_word.mean(0).std().item() / len(part) ** 0.5 for name, by_word in bands.items()}
    return {name: by_word.mean(1).tolist() for name, by_word in bands.items()}, errors


def run(point: Point) -> Result:
    """Train the nets of one kind on the words of a group.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`, whose ``test`` is over all 64 letters; ``bands``, by band
        the accuracy of each seed; ``band errors``, those that the choice of the words adds to their means; ``units``.
    """
    name, group = point["kind"], point["group"]
    problem, units = task(group), units_for(name, group)
    trained, result = compare(partial(make, name, problem, units), problem, BUDGETS[group])
    bands, errors = banded(trained.models, problem)
    return {**result, "bands": bands, "band errors": errors, "units": units}


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored nets say of each statement, by group and band; a statement whose kinds were not run is left out.

    All statements share a level. The control of gated nets is a gated one.
    """
    found: dict[str, Evidence] = {}
    results = {(e["point"]["group"], e["point"]["kind"]): e["result"] for e in stored["points"]}
    for group in GROUPS:
        there = {name: results[group, name] for name in KINDS if (group, name) in results}
        control = {s: "frozen gated" if s.one.startswith("gated") else "frozen" for s in STATEMENTS}
        stated = [s for s in STATEMENTS if {s.one, s.other, control[s]} <= there.keys()]
        for band in JUDGED:
            kinds = {
                name: evolve(kind(r), scores=r["bands"][band], item_error=r["band errors"][band])
                for name, r in there.items()
            }
            baselines = {"guess": 1 / task(group).output_size}
            if "window" in kinds:
                baselines["window"] = sum(kinds["window"].scores) / len(kinds["window"].scores)
            for statement in stated:
                found[f"{group}, {band}: {statement.one} or {statement.other}"] = Evidence(
                    kinds=kinds,
                    higher_is_better=True,
                    control=control[statement],
                    baselines=baselines,
                    statements=[statement],
                    shown=len(GROUPS) * len(STATEMENTS) * len(JUDGED),
                    gain=GAIN,
                )
    return found


EXPERIMENT = Experiment(
    name="words",
    question="On words over groups, does a deeper step help, does a higher stack, do gates?",
    settings={
        "letters": GROUPS,
        "kinds": KINDS,
        "steps": STEPS,
        "bands": BANDS,
        "sizes": SIZES,
        "parameters": PARAMETERS,
        "window": WINDOW,
        "gain": GAIN,
        "margin": MARGIN,
        "budgets": {name: budget.as_json for name, budget in BUDGETS.items()},
    },
    points=[{"group": group, "kind": name} for group in GROUPS for name in KINDS],
    run=run,
    evidence=evidence,
)
