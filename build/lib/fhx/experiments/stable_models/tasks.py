"""The nets for each problem of :mod:`fhx.experiments.real_data`, their batches, and the budget of each."""

from collections.abc import Iterator

import torch

from fhx.experiments import real_data as data
from fhx.experiments.stable_models.nets import LanguageModel, SequenceModel

SMALL = ("chorales", "digits", "folk tunes")
"""The problems that are not texts."""
UNITS = {**dict.fromkeys(SMALL, 32), **dict.fromkeys(data.TEXTS, 64)}
"""Of the cells."""
SEEDS = {**dict.fromkeys(SMALL, range(5)), **dict.fromkeys(data.TEXTS, range(3))}
"""Of the nets that are reported."""
OTHER_SEEDS = {**dict.fromkeys(SMALL, range(5, 7)), **dict.fromkeys(data.TEXTS, range(5, 6))}
"""Of the nets that the learning rate is chosen by."""
LEARNING_RATES: dict[str, dict[str, tuple[float, ...]]] = {
    "Adam": {
        **dict.fromkeys(SMALL, (0.005, 0.015, 0.045, 0.135)),
        "digits": (0.001, 0.003, 0.009, 0.027, 0.081),
        **dict.fromkeys(data.TEXTS, (0.006, 0.018, 0.054)),
    },
    "SGD": dict.fromkeys((*SMALL, *data.TEXTS), (1.0, 3.0, 10.0, 30.0)),
}
"""Learning rates that are tried, by optimiser and problem."""
BUDGETS: dict[str, dict[str, int]] = {
    "chorales": {"updates": 480, "batch_size": 16},
    "digits": {"updates": 1200, "batch_size": 32},
    "folk tunes": {"updates": 400, "batch_size": 16},
    "words": {"updates": 2000, **data.TEXT},
    "all words": {"updates": 1000, **data.TEXT},
}
"""How long and on what batches the nets of a problem are trained."""
TRUNCATED_UPDATES = {"chorales": 160, "words": 500}
"""Of the nets that are trained with a cut."""
TRAINED_K = {"chorales": (2, 5, 20), "words": (5, 20)}
"""Steps after which they are cut."""
KS = {**dict.fromkeys(SMALL, (1, 2, 5, 10, 20, 35, 50)), **dict.fromkeys(data.TEXTS, (1, 2, 5, 10, 20, 35, 70, 150))}
"""Steps after which the nets that were trained in full are cut when they are tested."""
PIECES = {"chorales": (48, 24), "digits": (64, 64), "folk tunes": (100, 28), **dict.fromkeys(data.TEXTS, (150, 50))}
"""Length of the pieces for gradients, and steps between their starts."""
RUNS = {"chorales": (50, 50), "digits": (64, 50), "folk tunes": (100, 50), **dict.fromkeys(data.TEXTS, (1000, 4))}
"""Length and largest number of the runs for exponents."""
FINAL = ("simple", "simple, stable", "LSTM", "LSTM, four conditions")
"""The kinds that are trained on the whole vocabulary."""


def batches(name: str) -> Iterator[data.Batch]:
    """Successive windows of a text, or whole pieces of music in an order that is the same for all nets; endless."""
    if name in data.TEXTS:
        yield from data.windows(name)
        return
    part, generator = data.task(name).train, torch.Generator().manual_seed(0)
    while True:
        for rows in torch.randperm(len(part), generator=generator).split(BUDGETS[name]["batch_size"]):
            pieces = part.take(rows)
            yield pieces.inputs, pieces.targets, pieces.mask, True


@torch.no_grad()
def sequence_model(name: str, kind: str) -> SequenceModel:
    """A new net for music or digits; the biases of its readout are the task's ``prior``."""
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
