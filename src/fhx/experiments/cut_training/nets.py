r"""Nets that are kept stable, or not, while they are trained.

A stable net is projected after every update, so that a certificate of contraction with rate ``RATE`` holds for it at
any time: see :func:`fhx.stability.project`. All cells start from orthogonal matrices, biases 0 and forget gates
of bias 1, and a stable one from the projection of that.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from fhx.cells import Cell, LSTMCell, SimpleCell
from fhx.dynamics import Realization
from fhx.experiments.variants import initialize
from fhx.stability import project
from fhx.training import OBJECTIVES

RATE = 0.99
"""What the stable nets are certified to contract by."""
FORGET = 0.64
"""The most that a forget gate of the stable LSTMs may open."""
KINDS: dict[str, tuple[type[Cell], dict[str, Any] | None]] = {
    "simple": (SimpleCell, None),
    "simple, stable": (SimpleCell, {}),
    "LSTM": (LSTMCell, None),
    "LSTM, sum": (LSTMCell, {"condition": "sum", "forget": FORGET}),
}
"""The cell of each kind, and the options of the projection that keeps it stable; None where nothing does."""


@torch.no_grad()
def new_cell(kind: str, inputs: int, units: int) -> Cell:
    """A new cell; a stable one is stable for inputs of at most 1."""
    make, condition = KINDS[kind]
    cell = make(inputs, units)
    initialize(cell)
    if condition is not None:
        project(cell, RATE, **condition)
    return cell


class SequenceModel(Realization):
    """A cell and an affine readout, for sequences of numbers.

    Args:
        kind: one of ``KINDS``.
        inputs, units, outputs: widths.
        task_kind: the task's; it says how outputs are scored.
    """

    cell: Cell
    readout: nn.Linear

    def __init__(self, kind: str, inputs: int, units: int, outputs: int, task_kind: str) -> None:
        super().__init__(new_cell(kind, inputs, units), nn.Linear(units, outputs))
        self.kind, self.objective = kind, OBJECTIVES[task_kind]

    def embed(self, inputs: Tensor) -> Tensor:
        """What the cell reads: the inputs themselves."""
        return inputs

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """The loss in nats, position by position."""
        return self.objective.loss(self.readout(hidden), targets)

    def metric(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """What is reported, position by position."""
        return self.objective.metric(self.readout(hidden), targets)

    def constrain(self) -> None:
        """Project the cell, if it is to be stable and its weights are still finite."""
        _constrain(self.kind, self.cell)


class LanguageModel(nn.Module):
    """A language model: words as vectors, a cell, and an adaptive softmax, which is a normalised likelihood.

    The vectors that a stable LSTM reads are clipped to [-1, 1] after every update, since its certificate needs a bound.

    Args:
        kind: one of ``KINDS``.
        words: size of the vocabulary.
        units: of the cell and of the vectors.
        cutoffs: of the adaptive softmax.
    """

    def __init__(self, kind: str, words: int, units: int, cutoffs: Sequence[int]) -> None:
        super().__init__()
        self.kind, self.cell = kind, new_cell(kind, units, units)
        self.embed = nn.Embedding(words, units)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(units, words, list(cutoffs), div_value=2.0, head_bias=True)

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Minus the log probability of each target, in nats."""
        return -self.softmax(hidden.flatten(0, -2), targets.flatten()).output.view_as(targets)

    metric = loss
    """Words are scored as they are learned."""

    @torch.no_grad()
    def constrain(self) -> None:
        """Project the cell and clip the vectors, if it is to be stable and its weights are still finite."""
        make, condition = KINDS[self.kind]
        if make is LSTMCell and condition is not None:
            self.embed.weight.clamp_(-1, 1)
        _constrain(self.kind, self.cell)


Net = SequenceModel | LanguageModel
"""A net for music, or one for words."""


def _constrain(kind: str, cell: Cell) -> None:
    condition = KINDS[kind][1]
    if condition is not None and all(p.isfinite().all() for p in cell.parameters()):
        project(cell, RATE, **condition)
