r"""How far a net counts, by the longest word that it was shown: next symbols of :math:`a^n b^n` for :math:`n \le N`.

The task is that of :mod:`fhx.experiments.counting`, with N = 10, 20, 50 and 100, and all nets are trained by
:func:`fhx.experiments.comparison.compare`. The reach of a net is the largest M such that it makes no mistake for any
:math:`n \le M`. A list of the words shown reaches N, so a net counts beyond its examples where its reach is larger.

All weights start uniform, as those of torch do, and gates open for the longest word, of T = 2 N + 1 steps (Tallec and
Ollivier 2018): with u drawn uniformly from 1 to T - 1 for each unit, the bias of what is kept is :math:`\ln u`, and
that of an LSTM's input gate :math:`-\ln u`. Beside them stand cells that
stay as they started, with a trained readout, and at one N cells of other widths, with about as many parameters as the
LSTM of 16 units.

Scores are how often 1 + M would have to double to get to its limit, :math:`\log_2 \frac{1001}{1 + M}`: the lower the
better, as with the validation values, nats a step on the words shown. Nothing is drawn for a test, so that the
choice of test items adds no error.
"""

from collections.abc import Mapping
from functools import partial
from math import log2
from typing import Any

from attrs import evolve
from torch import nn

from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.counting import members
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import freeze
from fhx.experiments.protocol import Ahead, Evidence, Kind
from fhx.experiments.recognition import CELLS, UNITS, reach
from fhx.experiments.variants import open_gates
from fhx.tasks import next_symbols

__all__ = [
    "BUDGETS",
    "CELL_STATEMENTS",
    "EQUAL",
    "EQUAL_AT",
    "EXPERIMENT",
    "LIMIT",
    "SHOWN",
    "UNITS",
    "evidence",
    "make",
    "run",
    "score",
]

LANGUAGE = "a^n b^n"
SHOWN = (10, 20, 50, 100)
"""The longest n of the words to train on."""
LIMIT = 1000
"""The largest reach that is looked for."""
EQUAL = {"tanh": 33, "relu": 33, "GRU": 18}
"""Units with which a cell has about as many parameters as an LSTM of 16."""
EQUAL_AT = 20
"""The longest n that cells of these widths are shown."""
RATES = {
    "tanh": (0.001, 0.003, 0.01, 0.03, 0.1),
    "relu": (0.001, 0.003, 0.01, 0.03, 0.1),
    "GRU": (0.003, 0.01, 0.03, 0.1, 0.3),
    "LSTM": (0.003, 0.01, 0.03, 0.1, 0.3),
    "frozen": (0.1, 0.3, 1.0, 3.0, 10.0),
}
"""Learning rates that are tried, by cell; of a frozen one only the readout learns, which bears higher ones."""
BUDGETS = {
    cell: Budget(
        rates=rates,
        decays=(0.0, 0.01),
        seeds=range(8),
        others=(8, 9, 10),
        updates=4000,
        batch_size=10,
        evaluations=40,
    )
    for cell, rates in RATES.items()
}
"""How the nets are trained."""
GAIN = 0.005
"""What the last tenth of the updates may add to a validation value, in nats a step."""


def make(cell: str, start: str, longest: int, units: int = UNITS, outputs: int = 3) -> Realization:
    """A new net, with gates open for the longest word; where the start is "frozen", the cell stays as it is."""
    made = CELLS[cell](2, units)
    open_gates(made, 2 * longest + 1)
    net = Realization(made, nn.Linear(units, outputs))
    return freeze(net) if start == "frozen" else net


def run(point: Point) -> Result:
    """Choose the setting, train the seeds, and see how far each counts.

    Returns:
        What :func:`~fhx.experiments.comparison.compare` says, and ``reach``, by seed; 0 for one that diverged. Its
        ``test`` is of as many longer words as were shown.
    """
    longest = point["shown"]
    task = next_symbols(LANGUAGE, range(1, longest + 1), range(longest + 1, 2 * longest + 1))
    budget = BUDGETS["frozen" if point["start"] == "frozen" else point["cell"]]
    fit, result = compare(partial(make, point["cell"], point["start"], longest, point["units"]), task, budget)
    part = partial(members, LANGUAGE)
    return {
        **result,
        "reach": [
            0 if diverged is not None else reach(net, part, LIMIT)
            for net, diverged in zip(fit.models, result["diverged"], strict=True)
        ],
    }


def score(reached: int) -> float:
    r""":math:`\log_2 \frac{1001}{1 + M}` of a reach M."""
    return log2((LIMIT + 1) / (reached + 1))


CELL_STATEMENTS = (Ahead("LSTM", "GRU"), Ahead("LSTM", "tanh"), Ahead("LSTM", "relu"))
"""What is judged for each longest n."""


def _label(point: Point) -> str:
    cell, start = point["cell"], point["start"]
    if point["units"] != UNITS:
        return f"{cell}, {point['units']} units"
    return cell if start == "open" else f"{cell}, {start}"


def _kind(result: Result) -> Kind:
    return evolve(kind(result), scores=[score(n) for n in result["reach"]], item_error=0.0)


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored runs say: for each longest n of the cells, and for each cell of the longest n.

    The second says that from N = 10 to 100 the reach grows more than that of a list of the words shown.
    """
    kinds: dict[tuple[str, int], Kind] = {}
    for entry in stored["points"]:
        point = entry["point"]
        kinds[_label(point), point["shown"]] = _kind(entry["result"])
    few, many = SHOWN[0], SHOWN[-1]
    grows = Ahead(f"n to {many}", f"n to {few}", score(few) - score(many))
    shown = len(SHOWN) * len(CELL_STATEMENTS) + len(CELLS)
    shared: dict[str, Any] = {"higher_is_better": False, "shown": shown, "gain": GAIN}
    found = {}
    for longest in SHOWN:
        found[f"n to {longest}"] = Evidence(
            kinds={name: one for (name, n), one in kinds.items() if n == longest},
            control="LSTM, frozen",
            baselines={"the words shown": score(longest), "the last symbol": score(1)},
            statements=CELL_STATEMENTS,
            **shared,
        )
    for cell in CELLS:
        each = {f"n to {n}": one for (name, n), one in kinds.items() if name == cell}
        found[cell] = Evidence(
            kinds={**each, "frozen": kinds[f"{cell}, frozen", many if cell == "LSTM" else EQUAL_AT]},
            control="frozen",
            baselines={"the words shown": score(many), "the last symbol": score(1)},
            statements=(grows,),
            **shared,
        )
    return found


def _points() -> list[Point]:
    """Open and frozen cells, and those of other widths."""

    def point(cell: str, start: str, shown: int, units: int = UNITS) -> Point:
        return {"cell": cell, "start": start, "shown": shown, "units": units}

    return [
        *[p for n in SHOWN for p in (*[point(cell, "open", n) for cell in CELLS], point("LSTM", "frozen", n))],
        *[point(cell, "frozen", EQUAL_AT) for cell in CELLS if cell != "LSTM"],
        *[point(cell, "open", EQUAL_AT, units) for cell, units in EQUAL.items()],
    ]


EXPERIMENT = Experiment(
    name="shown",
    question="How does the reach of a net that counts depend on the longest word that it was shown?",
    settings={
        "budgets": {name: budget.as_json for name, budget in BUDGETS.items()},
        "units": UNITS,
        "gain": GAIN,
        "limit": LIMIT,
        "shown": SHOWN,
    },
    points=_points(),
    run=run,
    evidence=evidence,
)
