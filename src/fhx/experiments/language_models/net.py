r"""Language models whose words are read and predicted by the same vectors, with recurrent layers or a rival of them.

The softmax is torch's adaptive one (Grave et al. 2017): frequent words, and groups of rare ones, are told apart by one
softmax, and the words of a group by another, after a square matrix of the group. The vectors of a word in it are also
what the lowest layer reads (Press and Wolf 2017; Inan, Khosravi and Socher 2017).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells import Cell, LSTMCell
from fhx.experiments.causal.net import CausalNet, Dropout
from fhx.experiments.causal.rivals import LINEAR, Shape, largest_widths, rival
from fhx.experiments.forms import FORMS, Form
from fhx.experiments.frozen import freeze
from fhx.experiments.loops import TorchLoop
from fhx.experiments.variants import initialize, open_gates

__all__ = ["EVERY", "KINDS", "RIVALS", "WINDOW", "LanguageModel"]

KINDS = {name: form for name, form in FORMS.items() if name != "LSTM, F = 0.95"} | {"frozen": FORMS["LSTM"]}
"""The layers of the nets that are trained; those of "frozen" stay as they started, and only words' vectors learn."""
RIVALS = ("TCN", "attention", *LINEAR, "window 5", "window 20")
"""Nets that have as many numbers, words aside, as the layers of an LSTM."""
SHAPE = Shape(levels=4, positions=140)
"""Of rivals: convolutions reach 61 words back, and attention at least 70 where a text is read by windows."""
WINDOW = 70
"""Words of each stream that are read at a time, and for which gates start open."""
EVERY = 25
"""Updates between two projections; one takes as long as five updates."""


class LanguageModel(nn.Module):
    """Words as vectors, layers of cells with dropout before, between and after them, and the softmax.

    A rival stands in the place of the layers; it has dropout within it too, where it has it elsewhere.

    Args:
        kind: one of ``KINDS`` or ``RIVALS``.
        words: size of the vocabulary.
        units: of each layer, and width of the vectors.
        layers: how many, or how many a rival is as large as.
        cutoffs: of the softmax.
        dropout: what part of the numbers is dropped in training.
    """

    def __init__(
        self, kind: str, words: int, units: int, layers: int, cutoffs: Sequence[int], dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.form, self.dropout = KINDS.get(kind), dropout  # a rival has no form
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(units, words, list(cutoffs), div_value=1.0, head_bias=True)
        made = nn.ModuleList([_layer(self.form, units) for _ in range(layers)] if self.form else [])
        self.layers: Sequence[Cell] = made  # type: ignore[assignment]  # torch's is not generic
        if self.form:
            self.loop = TorchLoop(self.layers[0])
        else:
            self.rival = _rival(kind, units, layers, dropout)
        self.constrain()
        if kind == "frozen":
            freeze(self, "layers")

    def vectors(self) -> list[Tensor]:
        """Those of the frequent words, and of each group of rare ones; views of parameters."""
        rare = [group.get_parameter("1.weight") for group in self.softmax.tail]
        return [self.softmax.head.weight[: self.softmax.shortlist_size], *rare]

    def embed(self, ids: Integer[Tensor, "*batch"]) -> Float[Tensor, "*batch width"]:
        """The vectors of words."""
        return F.embedding(ids, torch.cat(self.vectors()))

    def loss(self, shown: Float[Tensor, "*batch width"], targets: Integer[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        """Minus the log probability of each target, in nats."""
        return -self.softmax(shown.flatten(0, -2), targets.flatten()).output.view_as(targets)

    def forward(
        self,
        ids: Integer[Tensor, "time batch"],
        states: Sequence[Tensor] | None = None,
        dropping: torch.Generator | None = None,
    ) -> tuple[Float[Tensor, "time batch width"], list[Tensor]]:
        """What the highest layer shows, and the last state of every layer, from the states before or from zero.

        Args:
            ids: of words.
            states: the last ones of a run before; of a rival one, what it carries.
            dropping: what chooses the numbers to drop; None where none are dropped, as in a test.
        """
        shown, last = self._dropped(self.embed(ids), dropping), []
        if self.form is None:
            for module in self.rival.modules():
                if isinstance(module, Dropout):
                    module.generator = dropping
            shown, carried = self.rival.train(dropping is not None).resume(shown, states[0] if states else None)
            return self._dropped(shown, dropping), [carried]
        for k, cell in enumerate(self.layers):
            state = states[k] if states else None
            shown, state = self.loop(cell, shown, state)
            last.append(state)
            shown = self._dropped(shown, dropping)
        return shown, last

    def _dropped(self, x: Tensor, dropping: torch.Generator | None) -> Tensor:
        """Some numbers set to zero, and the others scaled, so that their mean stays."""
        if dropping is None or not self.dropout:
            return x
        kept = 1 - self.dropout
        return x * (torch.empty_like(x).bernoulli_(kept, generator=dropping) / kept)

    @torch.no_grad()
    def constrain(self) -> None:
        """Clip the vectors and project the layers, where the kind says so and all weights are finite."""
        if self.form is None:
            return
        if self.form.clipped:
            for vectors in self.vectors():
                vectors.clamp_(-1, 1)
        for cell in self.layers:
            self.form.keep(cell)


@torch.no_grad()
def _layer(form: Form, units: int) -> Cell:
    cell = form.cell(units, units)
    initialize(cell)
    open_gates(cell, WINDOW)
    return cell


def _rival(kind: str, units: int, layers: int, dropout: float) -> CausalNet:
    """A net between vectors that has as many numbers as layers of LSTMs, or hardly fewer."""
    each = sum(p.numel() for p in LSTMCell(units, units).parameters())

    def made(width: int, inner: int, dropout: float | None = None) -> CausalNet:
        return rival(kind, units, width, inner, units, SHAPE, dropout)

    def size(width: int, inner: int) -> int:
        with torch.random.fork_rng([]):
            return sum(p.numel() for p in made(width, inner).parameters())

    return made(*largest_widths(kind, size, layers * each), dropout or None)
