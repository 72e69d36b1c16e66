"""What is measured of a language model that has been trained: its certificate, and how it reacts to what it reads."""

from collections.abc import Mapping
from typing import Any

import torch

from fhx.experiments.language_models.net import LanguageModel
from fhx.experiments.language_models.training import text
from fhx.experiments.reactions import LONG, reactions
from fhx.stability import contraction_rate

__all__ = ["certificate", "reactions_of"]

RUNS = 50
"""Runs of words along which it is measured how a state reacts."""


def certificate(net: LanguageModel) -> list[float] | None:
    """The contraction rate of each layer for the inputs that it can get; None for a rival."""
    if net.form is None:
        return None
    bound = max(vectors.abs().max().item() for vectors in net.vectors())
    bounds = [bound, *[1.0] * (len(net.layers) - 1)]
    return [contraction_rate(cell, input_bound=b) for cell, b in zip(net.layers, bounds, strict=True)]


def reactions_of(net: LanguageModel) -> Mapping[str, Any]:
    """What :func:`fhx.experiments.reactions.reactions` finds on words of the test text, spread over all of it."""
    part, streams = text().test, text().test.inputs.shape[1]
    long = min(LONG, part.steps)
    rows = [slice(start, start + long) for start in (torch.arange(RUNS) * (part.steps - long) // RUNS).tolist()]
    words = torch.stack([part.inputs[row, k % streams] for k, row in enumerate(rows)], 1)
    targets = torch.stack([part.targets[row.stop - 1, k % streams] for k, row in enumerate(rows)])
    with torch.no_grad():
        vectors = net.embed(words)
    return reactions([*net.layers], vectors, lambda shown: net.loss(shown, targets))
