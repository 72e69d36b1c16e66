r"""PARITY with one verdict a word or one a symbol, learned from words of one length or of all lengths up to it.

A net reads a zero vector and then the bits of a word, and its output is positive where it says that the number of ones
is odd. It is shown the right verdict after every symbol, or only at the end of the word; and its words have 20 bits,
or 1 to 20. Whatever it was shown, it is judged by its verdict at the end of words of 1 to 100 bits, uniformly drawn:
the score is the share of wrong ones, which for a guess is a half.

All nets are trained by :func:`fhx.experiments.comparison.compare`, on 4,000 words, and chosen by the loss on 500 other
words like those. The start of a gated cell is open for 20 steps, as in :mod:`fhx.experiments.shown`. A net with a cell
that stays as it started is the control.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import torch
from attrs import evolve
from torch import Tensor
from torch.nn import functional as F

from fhx.experiments.comparison import Budget, compare, item_error, kind
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.shown import make
from fhx.tasks import Sequences, Task, formal_language
from fhx.training import Objective
from fhx.training.losses import at_end

__all__ = ["BUDGETS", "CELLS", "EXPERIMENT", "LENGTHS", "TEST_LENGTHS", "VERDICTS", "evidence", "run", "task"]

CELLS = ("LSTM", "tanh")
"""Of the nets: one with gates and one without."""
VERDICTS = ("word", "symbol")
"""What a right answer is shown for."""
LENGTHS = ((20, 20), (1, 20))
"""Shortest and longest words to train on."""
TEST_LENGTHS = (1, 100)
SIZES = (4000, 500, 500)
RATES = {
    "LSTM": (0.003, 0.01, 0.03, 0.1, 0.3),
    "tanh": (0.003, 0.01, 0.03, 0.1, 0.3),
    "frozen": (0.03, 0.1, 0.3, 1.0, 3.0),
}
"""Learning rates that are tried, by cell; of a frozen one only the readout learns, which bears higher ones."""
BUDGETS = {
    cell: Budget(rates=rates, decays=(0.0, 0.01), seeds=range(8), others=(8, 9, 10), updates=4000, batch_size=32)
    for cell, rates in RATES.items()
}
"""How the nets are trained."""
GAIN = 0.02
"""What the last tenth of the updates may add to a validation value, in nats a verdict."""


def _loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(
        outputs.squeeze(-1), targets.reshape(outputs.shape[:-1]), reduction="none"
    )


def _wrong(outputs: Tensor, targets: Tensor) -> Tensor:
    return ((outputs.squeeze(-1) > 0) != (targets > 0.5)).to(outputs.dtype)


OBJECTIVES = {
    "word": Objective("value at end", "end", _loss, _loss, "nats", higher_is_better=False),
    "symbol": Objective("bits per step", "step", _loss, _loss, "nats", higher_is_better=False),
}
WRONG = Objective("value at end", "end", _wrong, _wrong, "share of wrong verdicts", higher_is_better=False)
"""The score."""


def _ends(part: Sequences) -> Sequences:
    """The same words, with the last verdict only."""
    return evolve(part, targets=at_end(part.targets, part.lengths).squeeze(-1))


@cache
def task(verdict: str, lengths: tuple[int, int]) -> Task:
    """What to learn; its test words, of other lengths, have one verdict a word in any case."""
    words = formal_language("parity", lengths, SIZES, test_lengths=TEST_LENGTHS)
    if verdict == "symbol":
        return words
    train, valid, test = map(_ends, (words.train, words.valid, words.test))
    return Task(f"{words.name}, a verdict a word", train, valid, test, 2, 1, "value at end")


def run(point: Point) -> Result:
    """Choose the setting, train the seeds, and see what they say at the end of the test words.

    Returns:
        What :func:`~fhx.experiments.comparison.compare` says, with ``wrong``, the share of wrong verdicts at the end of
        the test words, by seed, and the ``item error`` of its mean.
    """
    lengths, verdict = tuple(point["lengths"]), point["verdict"]
    budget = BUDGETS["frozen" if point["start"] == "frozen" else point["cell"]]
    new = partial(make, point["cell"], point["start"], lengths[1] // 2, outputs=1)
    fit, result = compare(new, task(verdict, lengths), budget, OBJECTIVES[verdict])
    words = task("word", lengths).test
    with torch.no_grad():
        ends = [at_end(net(words.inputs, words.lengths), words.lengths) for net in fit.models]
    return {
        **result,
        "wrong": [_wrong(end, words.targets).mean().item() for end in ends],
        "item error": item_error(fit.models, words, WRONG),
    }


def label(point: Point) -> str:
    """The name of a kind: what it was shown, and how long the words were."""
    low, high = point["lengths"]
    shown = f"one a {point['verdict']}, {f'{low} to {high}' if low < high else high} bits"
    return shown if point["start"] == "open" else f"frozen, {shown}"


WORD, SYMBOL = "one a word", "one a symbol"
STATEMENTS = (
    Ahead(f"{SYMBOL}, 20 bits", f"{WORD}, 20 bits"),
    Ahead(f"{WORD}, 1 to 20 bits", f"{WORD}, 20 bits"),
)
"""What is judged for each cell."""


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored runs say of each cell; the control is the frozen cell that is shown most."""
    return {
        cell: Evidence(
            kinds={
                label(entry["point"]): evolve(kind(entry["result"]), scores=entry["result"]["wrong"])
                for entry in stored["points"]
                if entry["point"]["cell"] == cell
            },
            higher_is_better=False,
            control=f"frozen, {SYMBOL}, 1 to 20 bits",
            baselines={"a guess": 0.5},
            statements=STATEMENTS,
            shown=len(CELLS) * len(STATEMENTS),
            gain=GAIN,
        )
        for cell in CELLS
    }


EXPERIMENT = Experiment(
    name="word_or_symbol",
    question="Does a net learn PARITY from one verdict a word, or does it need one after every symbol?",
    settings={
        "budgets": {name: budget.as_json for name, budget in BUDGETS.items()},
        "gain": GAIN,
        "test lengths": TEST_LENGTHS,
        "sizes": SIZES,
    },
    points=[
        *[
            {"cell": cell, "start": "open", "verdict": verdict, "lengths": lengths}
            for cell in CELLS
            for lengths in LENGTHS
            for verdict in VERDICTS
        ],
        *[{"cell": cell, "start": "frozen", "verdict": "symbol", "lengths": LENGTHS[1]} for cell in CELLS],
    ],
    run=run,
    evidence=evidence,
)
