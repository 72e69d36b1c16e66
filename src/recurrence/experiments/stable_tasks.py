"""What nets are kept stable on: chorales, folk tunes, digits and words, with the budget of each."""

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor

from recurrence.experiments.stable_nets import Player, Reader
from recurrence.tasks import Sequences, Task, chorales, digits, folk_tunes, wikitext2

TEXTS = {"words": 10_000, "all words": 33_278}
"""Texts by the size of their vocabulary."""
CUTOFFS = {"words": (1000, 4000), "all words": (1000, 4000, 12_000)}
"""Of the adaptive softmax."""
SMALL = ("chorales", "digits", "folk tunes")
UNITS = {**dict.fromkeys(SMALL, 32), **dict.fromkeys(TEXTS, 64)}
SEEDS = {**dict.fromkeys(SMALL, range(5)), **dict.fromkeys(TEXTS, range(3))}
OTHER_SEEDS = {**dict.fromkeys(SMALL, range(5, 7)), **dict.fromkeys(TEXTS, range(5, 6))}
RATES = {
    "Adam": {**dict.fromkeys(SMALL, (0.005, 0.015, 0.045, 0.135)), **dict.fromkeys(TEXTS, (0.002, 0.006, 0.018))},
    "SGD": dict.fromkeys((*SMALL, *TEXTS), (0.3, 1.0, 3.0, 10.0)),
}
BUDGETS = {
    "chorales": {"updates": 240, "batch_size": 16},
    "digits": {"updates": 300, "batch_size": 32},
    "folk tunes": {"updates": 100, "batch_size": 16},
    "words": {"updates": 2000, "streams": 10, "window": 70},
    "all words": {"updates": 1000, "streams": 10, "window": 70},
}
FRAMES = 128
"""Of a folk tune, from its start."""
SHOWN = 1000
"""Steps of each stream of a text that validation during training and the measures of a trained net read."""

TRUNCATED_UPDATES = {"chorales": 80, "words": 300}
TRAINED_K = {"chorales": (2, 5, 20), "words": (5, 20)}
KS = {**dict.fromkeys(SMALL, (1, 2, 5, 10, 20, 35, 50)), **dict.fromkeys(TEXTS, (1, 2, 5, 10, 20, 35, 70, 150))}
PIECES = {"chorales": (48, 24), "digits": (64, 64), "folk tunes": (100, 28), **dict.fromkeys(TEXTS, (150, 50))}
"""Length of the pieces for gradients, and steps between their starts."""
RUNS = {"chorales": (50, 50), "digits": (64, 50), "folk tunes": (100, 50), **dict.fromkeys(TEXTS, (1000, 4))}
"""Length and largest number of the runs for exponents."""
FINAL = ("simple", "simple, stable", "LSTM", "LSTM, four conditions")
"""The kinds that are trained on the whole vocabulary."""

Batch = tuple[Tensor, Tensor, Tensor | None, bool]
"""Inputs, targets, a mask or None, and whether the state starts anew."""


@cache
def task(name: str) -> Task:
    """One of the five problems."""
    if name in TEXTS:
        return wikitext2(TEXTS[name], BUDGETS[name]["streams"])
    if name == "digits":
        return digits("pixel")
    whole = {"chorales": chorales, "folk tunes": folk_tunes}[name]()
    parts = (cut(part, FRAMES) if name == "folk tunes" else part for part in (whole.train, whole.valid, whole.test))
    return Task(name, *parts, whole.input_size, whole.output_size, whole.kind)


def cut(part: Sequences, steps: int) -> Sequences:
    """The first steps of each sequence of a part with one target to a step."""
    lengths = None if part.lengths is None else part.lengths.clamp(max=steps)
    return Sequences(part.inputs[:steps].clone(), part.targets[:steps].clone(), lengths)


def batches(name: str) -> Iterator[Batch]:
    """Successive windows of a text, or whole pieces of music in an order that is the same for all nets; endless."""
    part, budget = task(name).train, BUDGETS[name]
    generator = torch.Generator().manual_seed(0)
    while True:
        if name in TEXTS:
            for i, window in enumerate(part.windows(budget["window"])):
                yield window.inputs, window.targets, None, i == 0
        else:
            for rows in torch.randperm(len(part), generator=generator).split(budget["batch_size"]):
                pieces = part.take(rows)
                yield pieces.inputs, pieces.targets, pieces.mask, True


def player(name: str, kind: str) -> Player:
    """A new net for music or digits."""
    problem = task(name)
    return Player(kind, problem.input_size, UNITS[name], problem.output_size, problem.kind)


def reader(name: str, kind: str) -> Reader:
    """A new net for words."""
    return Reader(kind, TEXTS[name], UNITS[name], CUTOFFS[name])
