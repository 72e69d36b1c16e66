"""The nets for chorales and for words, their batches, and how long they are trained."""

from collections.abc import Iterator

import torch

from fhx.experiments import real_data as data
from fhx.experiments.cut_training.nets import LanguageModel, SequenceModel

UNITS = {"chorales": 32, "words": 64}
"""Of the cells."""
SEEDS = {"chorales": range(5), "words": range(5)}
"""Of the nets that are reported."""
OTHER_SEEDS = {"chorales": range(5, 7), "words": range(5, 7)}
"""Of the nets that the learning rate is chosen by."""
LEARNING_RATES: dict[str, dict[str, tuple[float, ...]]] = {
    "Adam": {"chorales": (0.005, 0.015, 0.045, 0.135, 0.405), "words": (0.006, 0.018, 0.054)},
    "SGD": dict.fromkeys(UNITS, (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),
}
"""Learning rates that are tried, by optimiser and problem."""
UPDATES = {"chorales": 160, "words": 500}
"""Of the nets of a problem."""
BATCH_SIZE = 16
"""Chorales of an update."""
KS = (5, 10, 20, 35)
"""Steps after which they are cut."""


def batches(name: str) -> Iterator[data.Batch]:
    """Successive windows of a text, or whole pieces of music in an order that is the same for all nets; endless."""
    if name in data.TEXTS:
        yield from data.windows(name)
        return
    part, generator = data.task(name).train, torch.Generator().manual_seed(0)
    while True:
        for rows in torch.randperm(len(part), generator=generator).split(BATCH_SIZE):
            pieces = part.take(rows)
            yield pieces.inputs, pieces.targets, pieces.mask, True


@torch.no_grad()
def sequence_model(name: str, kind: str) -> SequenceModel:
    """A new net for music; the biases of its readout are the task's ``prior``."""
    problem = data.task(name)
    net = SequenceModel(kind, problem.input_size, UNITS[name], problem.output_size, problem.kind)
    net.readout.bias.copy_(data.prior(name))
    return net


@torch.no_grad()
def language_model(name: str, kind: str) -> LanguageModel:
    """A new net for words; the biases of its frequent words and of its groups of rare ones are the ``prior``."""
    net = LanguageModel(kind, data.TEXTS[name], UNITS[name], data.CUTOFFS[name])
    net.softmax.head.bias.copy_(data.head_prior(name))
    return net
