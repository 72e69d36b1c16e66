r"""A language model trained in four ways that truncate it, or do not: what it is worth, and where its weights go.

An LSTM of 128 units reads WikiText-2 with all its words, as in :mod:`fhx.experiments.language_models`, for five passes
and from one start in all ways: "full", "cut k", "reset k" and "truncated k", which
``fhx.experiments.language_models.reading`` explains. A net that is truncated to one word has no use for its state: it
is the control without recurrence.

With :math:`\theta` the weights at the end of a way, :math:`\theta^*` those of "full" with the same seed and
:math:`\theta_0` those at the start, what is stored of the weights is

.. math::

   \frac{\lVert \theta - \theta^* \rVert}{\lVert \theta^* - \theta_0 \rVert}, \qquad
   \cos(\theta - \theta_0, \theta^* - \theta_0),

for the recurrent matrix, which claims are about, and for all weights of the layer.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from fhx.experiments.experiment import Experiment, Point, Result
from fhx.experiments.language_models.net import LanguageModel
from fhx.experiments.language_models.reading import Reading
from fhx.experiments.language_models.training import SETTINGS, Setting, Trained, evaluate, new_net, text, train

__all__ = ["EXPERIMENT", "KS", "READINGS", "apart", "run"]

KS = (5, 10, 20, 35)
"""Words of a truncated model."""
READINGS = ("full", "truncated 1", *(f"{how} {k}" for how in ("truncated", "reset", "cut") for k in KS))
"""The ways to train."""
NET = {"model": "LSTM", "layers": 1, "units": 128}
"""What is trained."""
RATE, DROPOUT = 0.01, 0.1
"""The rate that ``language_models`` chose for it, and the better of the dropouts 0.1 and 0.3 after so few passes."""
PASSES, SEEDS = 5, range(3)
"""Over the text, and of the nets."""


def run(point: Point) -> Result:
    """Train the nets of one way.

    Returns:
        By seed ``test``, nats a word by the number of words that the trained net sees, "all" among them, and
        ``valid`` and ``train``, curves at the updates ``at``, validated with as many words as the way has; ``apart``
        and ``cosine``, lists of two, of the recurrent matrix and of all weights of the layer, and ``seconds``.
    """
    fits = [_trained(point["read"], seed) for seed in SEEDS]
    weights = [apart(*_weights(point["read"], seed)) for seed in SEEDS]
    sees = Reading.of(point["read"]).sees
    return {
        "test": [
            {
                name: evaluate(fit.net, text().test, k)[0]
                for name, k in (*((str(k), k) for k in (1, *KS)), ("all", None))
            }
            for fit in fits
        ],
        "item error": max(evaluate(fit.net, text().test, sees)[1] for fit in fits),
        "at": fits[0].at,
        "valid": [fit.valid for fit in fits],
        "train": [fit.train for fit in fits],
        "apart": [[one[0] for one in found] for found in weights],
        "cosine": [[one[1] for one in found] for found in weights],
        "seconds": sum(fit.seconds for fit in fits),
    }


@cache
def _trained(reading: str, seed: int) -> Trained:
    """The nets of all ways are kept in the cache of the package, so that none is trained twice."""
    point = NET if reading == "full" else {**NET, "read": reading}
    return train(point, Setting(RATE, DROPOUT, seed), PASSES)


def _weights(reading: str, seed: int) -> tuple[LanguageModel, LanguageModel, LanguageModel]:
    return _trained(reading, seed).net, _trained("full", seed).net, new_net(NET, DROPOUT, seed)


def apart(net: LanguageModel, full: LanguageModel, start: LanguageModel) -> list[tuple[float, float]]:
    """How far the weights of a net are from those of another, as a part of the way that this one went, and the cosine
    of their ways; of the recurrent matrix of the lowest layer, and of all its weights."""
    found = []
    for recurrent in (True, False):
        a, b, c = (_flat(each, recurrent) for each in (net, full, start))
        way, other = a - c, b - c
        found.append(((a - b).norm().item() / other.norm().item(), torch.cosine_similarity(way, other, dim=0).item()))
    return found


def _flat(net: LanguageModel, recurrent: bool) -> Tensor:
    parts: Mapping[str, Any] = dict(net.layers[0].named_parameters())
    return torch.cat([p.detach().double().flatten() for name, p in parts.items() if name == "W" or not recurrent])


EXPERIMENT = Experiment(
    name="truncated_training",
    question="Is a model that was trained to see the last k words as good as one that saw all, and the same one?",
    settings={"net": NET, "rate": RATE, "dropout": DROPOUT, "passes": PASSES, "seeds": [*SEEDS], **SETTINGS},
    points=[{"read": reading} for reading in READINGS],
    run=run,
)
