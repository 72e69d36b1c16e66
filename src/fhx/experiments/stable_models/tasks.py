"""What the nets are trained on: chorales, folk tunes, digits and words, with the budget of each."""

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor

from fhx.experiments.stable_models.nets import LanguageModel, SequenceModel
from fhx.tasks import Sequences, Task, chorales, digits, folk_tunes, key_frequencies, wikitext2

TEXTS = {"words": 10_000, "all words": 33_278}
"""Texts by the size of their vocabulary."""
CUTOFFS = {"words": (1000, 4000), "all words": (1000, 4000, 12_000)}
"""Of the adaptive softmax."""
SMALL = ("chorales", "digits", "folk tunes")
UNITS = {**dict.fromkeys(SMALL, 32), **dict.fromkeys(TEXTS, 64)}
SEEDS = {**dict.fromkeys(SMALL, range(5)), **dict.fromkeys(TEXTS, range(3))}
OTHER_SEEDS = {**dict.fromkeys(SMALL, range(5, 7)), **dict.fromkeys(TEXTS, range(5, 6))}
RATES: dict[str, dict[str, tuple[float, ...]]] = {
    "Adam": {
        **dict.fromkeys(SMALL, (0.005, 0.015, 0.045, 0.135)),
        "digits": (0.001, 0.003, 0.009, 0.027, 0.081),
        **dict.fromkeys(TEXTS, (0.006, 0.018, 0.054)),
    },
    "SGD": dict.fromkeys((*SMALL, *TEXTS), (1.0, 3.0, 10.0, 30.0)),
}
BUDGETS: dict[str, dict[str, int]] = {
    "chorales": {"updates": 480, "batch_size": 16},
    "digits": {"updates": 1200, "batch_size": 32},
    "folk tunes": {"updates": 400, "batch_size": 16},
    "words": {"updates": 2000, "streams": 10, "window": 70},
    "all words": {"updates": 1000, "streams": 10, "window": 70},
}
FRAMES = 128
"""Of a folk tune, from its start."""
SHOWN = 1000
"""Steps of each stream of a text that validation during training and the measures of a trained net read."""

TRUNCATED_UPDATES = {"chorales": 160, "words": 500}
TRAINED_K = {"chorales": (2, 5, 20), "words": (5, 20)}
KS = {**dict.fromkeys(SMALL, (1, 2, 5, 10, 20, 35, 50)), **dict.fromkeys(TEXTS, (1, 2, 5, 10, 20, 35, 70, 150))}
PIECES = {"chorales": (48, 24), "digits": (64, 64), "folk tunes": (100, 28), **dict.fromkeys(TEXTS, (150, 50))}
"""Length of the pieces for gradients, and steps between their starts."""
RUNS = {"chorales": (50, 50), "digits": (64, 50), "folk tunes": (100, 50), **dict.fromkeys(TEXTS, (1000, 4))}
"""Length and largest number of the runs for exponents."""
FINAL = ("simple", "simple, stable", "LSTM", "LSTM, four conditions")
"""The kinds that are trained on the whole vocabulary."""

Batch = tuple[Tensor, Tensor, Tensor | None, bool]
"""Inputs, targets, a mask or None, and whether the state starts from zero."""


@cache
def task(name: str) -> Task:
    """One of the five problems."""
    if name in TEXTS:
        return wikitext2(TEXTS[name], BUDGETS[name]["streams"])
    if name == "digits":
        return digits("pixel")
    whole = {"chorales": chorales, "folk tunes": folk_tunes}[name]()
    if name == "folk tunes":
        train, valid, test = (cut(part, FRAMES) for part in (whole.train, whole.valid, whole.test))
    else:
        train, valid, test = whole.train, whole.valid, whole.test
    return Task(name, train, valid, test, whole.input_size, whole.output_size, whole.kind)


def cut(part: Sequences, steps: int) -> Sequences:
    """The first steps of each sequence of a part with one target per step."""
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


def prior(name: str) -> Tensor:
    """The log-odds of each bit, or the log probability of each class or word, counted on the training split.

    Half an observation of each outcome is added. A net whose outputs start there need not learn them through its state.
    """
    problem = task(name)
    if problem.kind == "bits per step":
        return torch.logit(key_frequencies(problem)).float()
    seen = problem.train.targets
    seen = seen if seen.ndim == 1 else seen[problem.train.mask]
    counts = seen.bincount(minlength=problem.output_size).double() + 0.5
    return (counts / counts.sum()).log().float()


@torch.no_grad()
def sequence_model(name: str, kind: str) -> SequenceModel:
    """A new net for music or digits; the biases of its readout are the task's :func:`prior`."""
    problem = task(name)
    net = SequenceModel(kind, problem.input_size, UNITS[name], problem.output_size, problem.kind)
    net.readout.bias.copy_(prior(name))
    return net


def head_prior(name: str) -> Tensor:
    """The :func:`prior` of the frequent words and of each group of rare ones, which an adaptive softmax starts with."""
    frequent, *rare = prior(name).tensor_split(CUTOFFS[name])
    return torch.cat([frequent, torch.stack([group.logsumexp(0) for group in rare])])


@torch.no_grad()
def language_model(name: str, kind: str) -> LanguageModel:
    """A new net for words; the biases of its frequent words and of its groups of rare ones are the :func:`prior`."""
    net = LanguageModel(kind, TEXTS[name], UNITS[name], CUTOFFS[name])
    net.softmax.head.bias.copy_(head_prior(name))
    return net
