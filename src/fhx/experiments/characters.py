r"""The next character of a text, by cells whose step has one layer or more: does depth pay at equal size?

Pieces of 50 characters are taken from WikiText-2, evenly spread over each of its splits; letters are made small, and
characters beyond the 40 commonest of the training text are one. Nets have at most 10,000 parameters, are trained by
:mod:`fhx.experiments.comparison` and judged by their nats per character on pieces of the test text. Their state is zero
before the first character of a piece, for which a net can do no better than the frequencies.

Highways are the cells of the published measurement of depth (Zilly et al. 2017), and plain cells those of the first
(Pascanu et al. 2014). All matrices start orthogonal. The carry of a highway starts with the bias
:math:`\ln(L T - 1)`, by which its direct path keeps about :math:`1 / e` of a number over the :math:`T = 50` steps of a
piece. In the control the recurrent cell, a highway of four layers, stays as it started, and a readout is trained.

Beside them stand three counted models, which read the last 0, 1 and 2 characters: with :math:`n` occurrences of a
context :math:`c`, of which :math:`k` are different characters,

.. math:: p(a \mid c) = \frac{n(c a) + k\, p(a \mid c')}{n + k},

:math:`c'` the context without its first character (Witten and Bell 1991).
"""

from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from math import log
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from fhx.cells import Cell, HighwayCell
from fhx.dynamics import Realization
from fhx.experiments.comparison import Budget, compare, kind
from fhx.experiments.equal_size import CELLS, units_for
from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.frozen import frozen
from fhx.experiments.protocol import Ahead, Evidence
from fhx.experiments.variants import initialize
from fhx.tasks import Sequences, Task
from fhx.tasks.files import locate
from fhx.training import OBJECTIVES

__all__ = ["BUDGET", "EXPERIMENT", "GAIN", "KINDS", "STATEMENTS", "counted", "evidence", "make", "run", "task"]

KINDS = {
    "simple": ("plain", 1),
    "deep, 2": ("plain", 2),
    "highway, 1": ("highway", 1),
    "highway, 4": ("highway", 4),
    "frozen": ("highway", 4),
}
"""The nets by their cell and its layers."""
STEPS = 50
"""Characters of a piece."""
SIZES = (8000, 400, 1000)
"""Pieces to train on, to validate with and to test on."""
LONGEST = 2
"""Characters that counted models read, at most."""
COMMON = 40
"""Characters that are told apart."""
PARAMETERS = 10_000
"""Of a net, at most, those of its readout among them."""
BUDGET = Budget(
    rates=(0.001, 0.003, 0.01, 0.03),
    decays=(0.0, 0.1),
    seeds=range(5),
    others=range(5, 7),
    updates=3000,
    batch_size=32,
    evaluations=40,
)
"""How all of them are trained."""
GAIN = 0.01
"""What the last tenth of the updates may take from a validation value, in nats a character."""
STATEMENTS = (
    Ahead("highway, 4", "highway, 1"),
    Ahead("deep, 2", "simple"),
)
"""What is judged."""
NATS = OBJECTIVES["class per step"].by_loss("nats per character")
"""What is minimised and reported."""


@cache
def texts() -> tuple[np.ndarray, ...]:
    """The three splits as numbers of characters, the commonest 0, and all rare ones 40."""
    paths = [locate(f"wikitext-2/{split}.txt") for split in ("train", "valid", "test")]
    read = [path.read_text(encoding="utf-8").lower() for path in paths]
    number = {c: i for i, (c, _) in enumerate(Counter(read[0]).most_common(COMMON))}
    return tuple(np.fromiter((number.get(c, COMMON) for c in text), np.int64, len(text)) for text in read)


def _pieces(text: np.ndarray, count: int) -> Sequences:
    """Pieces at equal distances, and the character after each of theirs."""
    starts = np.linspace(0, len(text) - STEPS - 1, count).astype(np.int64)
    read = torch.from_numpy(text[starts[None] + np.arange(STEPS + 1)[:, None]])
    return Sequences(F.one_hot(read[:-1], COMMON + 1).float(), read[1:])


@cache
def task() -> Task:
    """The next character of pieces of the text."""
    train, valid, test = (_pieces(text, size) for text, size in zip(texts(), SIZES, strict=True))
    return Task("characters", train, valid, test, COMMON + 1, COMMON + 1, kind="class per step")


@torch.no_grad()
def make(name: str) -> Realization:
    """A new net of a kind that starts for the horizon of a piece, with an affine readout.

    Raises:
        ValueError: there is no such kind.
    """
    if name not in KINDS:
        raise ValueError(f"there is no kind {name!r}; there are {', '.join(KINDS)}")
    variant, depth = KINDS[name]
    problem = task()
    units = units_for(PARAMETERS, variant, depth, problem)
    cell: Cell
    if variant == "highway":
        cell = HighwayCell(problem.input_size, units, depth, carry_bias=log(depth * STEPS - 1))
    else:
        cell = CELLS[variant](problem.input_size, units, depth)
    initialize(cell)
    return Realization(cell, nn.Linear(units, problem.output_size))


def run(point: Point) -> Result:
    """Train the nets of one kind, or count.

    Returns:
        That of :func:`~fhx.experiments.comparison.compare`, scores in nats per character, and ``units``; of what is
        counted ``nats``, by the number of characters read.
    """
    if point["kind"] == "counted":
        return {"nats": [counted(context) for context in range(LONGEST + 1)]}
    name, problem = point["kind"], task()
    new, units = partial(make, name), units_for(PARAMETERS, *KINDS[name], problem)
    if name == "frozen":
        return {**compare(*frozen(new, problem), BUDGET, NATS)[1], "units": units}
    return {**compare(new, problem, BUDGET, NATS)[1], "units": units}


@cache
def counted(context: int) -> float:
    """The nats per character on the test pieces of a model that is counted on the whole training text.

    It reads the last ``context`` characters, or as many as stand before one in its piece.
    """
    train, size = texts()[0], COMMON + 1
    probabilities = np.bincount(train, minlength=size) / len(train)
    read = np.concatenate([task().test.inputs.argmax(-1)[:1].numpy(), task().test.targets.numpy()])
    losses = -np.log(probabilities[read[1:]])
    for length in range(1, context + 1):
        keys = sum(train[i : len(train) - length + i] * size ** (length - 1 - i) for i in range(length))
        pairs = np.bincount(keys * size + train[length:], minlength=size ** (length + 1)).reshape(-1, size)
        n, different = pairs.sum(1, keepdims=True), (pairs > 0).sum(1, keepdims=True)
        shorter = np.tile(probabilities.reshape(-1, size), (size, 1)) if length > 1 else probabilities[None]
        probabilities = (pairs + different * shorter) / np.maximum(n + different, 1)
        probabilities = np.where(n > 0, probabilities, shorter)
        before = sum(read[i : len(read) - length + i] * size ** (length - 1 - i) for i in range(length))
        losses[length - 1 :] = -np.log(probabilities[before, read[length:]])
    return float(losses.mean())


def evidence(stored: Mapping[str, Any]) -> dict[str, Evidence]:
    """What the stored nets say of depth."""
    results = {entry["point"]["kind"]: entry["result"] for entry in stored["points"]}
    by_counting = results.pop("counted")["nats"]
    return {
        "depth": Evidence(
            kinds={name: kind(result) for name, result in results.items()},
            higher_is_better=False,
            control="frozen",
            baselines={f"counted, {context} before": nats for context, nats in enumerate(by_counting)},
            statements=STATEMENTS,
            shown=len(STATEMENTS),
            gain=GAIN,
        )
    }


EXPERIMENT = Experiment(
    name="characters",
    question="Does a deeper step predict the next character of a text better at equal size?",
    settings={
        "steps": STEPS,
        "sizes": SIZES,
        "characters": COMMON + 1,
        "parameters": PARAMETERS,
        "gain": GAIN,
        **BUDGET.as_json,
    },
    points=[{"kind": name} for name in ("counted", *KINDS)],
    run=run,
    evidence=evidence,
)
