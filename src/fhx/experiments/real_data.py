"""What the experiments on real data share: the problems, their text in windows, and where the outputs of nets start.

The problems are chorales, folk tunes, digits by the pixel, and the 10,000 most frequent words of WikiText-2.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import torch
from torch import Tensor

from fhx.tasks import Sequences, Task, chorales, digits, folk_tunes, key_frequencies, wikitext2

__all__ = ["Batch", "by_groups", "cut", "head_prior", "prior", "prior_of", "task", "windows"]

TEXTS = {"words": 10_000}
"""Texts by the size of their vocabulary."""
CUTOFFS = {"words": (1000, 4000)}
"""Of the adaptive softmax."""
TEXT = {"streams": 10, "window": 70}
"""How many streams a text is read in, and how many steps of them at a time."""
FRAMES = 128
"""Of a folk tune, from its start."""
SHOWN = 1000
"""Steps of each stream of a text that validation during training and the measures of a trained net read."""
CLIP = 1.0
"""The bound on the 2-norm of the gradient of a net."""
EVALUATIONS = 10
"""How often a net is evaluated while it is trained."""

Batch = tuple[Tensor, Tensor, Tensor | None, bool]
"""Inputs, targets, a mask or None, and whether the state starts from zero."""


@cache
def task(name: str) -> Task:
    """One of the four problems."""
    if name in TEXTS:
        return wikitext2(TEXTS[name], TEXT["streams"])
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


def windows(name: str) -> Iterator[Batch]:
    """Successive windows of a text to train on, from its start again after its end; endless."""
    while True:
        for i, window in enumerate(task(name).train.windows(TEXT["window"])):
            yield window.inputs, window.targets, None, i == 0


def prior(name: str) -> Tensor:
    """The log-odds of each bit, or the log probability of each class or word, counted on the training split.

    Half an observation of each outcome is added. A net whose outputs start there need not learn them through its state.
    """
    return prior_of(task(name))


def prior_of(problem: Task) -> Tensor:
    """The :func:`prior` of any problem."""
    if problem.kind == "bits per step":
        return torch.logit(key_frequencies(problem)).float()
    seen = problem.train.targets
    seen = seen if seen.ndim == 1 else seen[problem.train.mask]
    counts = seen.bincount(minlength=problem.output_size).double() + 0.5
    return (counts / counts.sum()).log().float()


def head_prior(name: str) -> Tensor:
    """The :func:`prior` of the frequent words and of each group of rare ones, which an adaptive softmax starts with."""
    return by_groups(prior(name), CUTOFFS[name])


def by_groups(prior: Tensor, cutoffs: Sequence[int]) -> Tensor:
    """Log probabilities of the frequent words, and of each group of rare ones as a whole."""
    frequent, *rare = prior.tensor_split([*cutoffs])
    return torch.cat([frequent, torch.stack([group.logsumexp(0) for group in rare])])
