r"""Language models with recurrent layers, whose words are read and predicted by the same vectors.

The softmax is torch's adaptive one (Grave et al. 2017): frequent words, and groups of rare ones, are told apart by one
softmax, and the words of a group by another, after a square matrix of the group. The vectors of a word in it are also
what the lowest layer reads (Press and Wolf 2017; Inan, Khosravi and Socher 2017).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells import Cell
from fhx.experiments.forms import FORMS
from fhx.experiments.frozen import freeze
from fhx.experiments.loops import TorchLoop
from fhx.experiments.variants import initialize, open_gates

__all__ = ["EVERY", "KINDS", "WINDOW", "LanguageModel"]

KINDS = {name: form for name, form in FORMS.items() if name != "LSTM, F = 0.95"} | {"frozen": FORMS["LSTM"]}
"""The layers of the nets that are trained; those of "frozen" stay as they started, and only words' vectors learn."""
WINDOW = 70
"""Words of each stream that are read at a time, and for which gates start open."""
EVERY = 25
"""Updates between two projections; one takes as long as five updates."""


class LanguageModel(nn.Module):
    """Words as vectors, layers of cells with dropout before, between and after them, and the softmax.

    Args:
        kind: one of ``KINDS``.
        words: size of the vocabulary.
        units: of each layer, and width of the vectors.
        layers: how many.
        cutoffs: of the softmax.
        dropout: what part of the numbers is dropped in training.
    """

    def __init__(
        self, kind: str, words: int, units: int, layers: int, cutoffs: Sequence[int], dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.form, self.dropout = KINDS[kind], dropout
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(units, words, list(cutoffs), div_value=1.0, head_bias=True)
        made = nn.ModuleList([self._layer(units) for _ in range(layers)])
        self.layers: Sequence[Cell] = made  # type: ignore[assignment]  # torch's is not generic
        self.loop = TorchLoop(self.layers[0])
        self.constrain()
        if kind == "frozen":
            freeze(self, "layers")

    @torch.no_grad()
    def _layer(self, units: int) -> Cell:
        cell = self.form.cell(units, units)
        initialize(cell)
        open_gates(cell, WINDOW)
        return cell

    def vectors(self) -> list[Tensor]:
        """Those of the frequent words, and of each group of rare ones; views of parameters."""
        rare = [group.get_parameter("1.weight") for group in self.softmax.tail]
        return [self.softmax.head.weight[: self.softmax.shortlist_size], *rare]

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
            states: the last ones of a run before.
            dropping: what chooses the numbers to drop; None where none are dropped, as in a test.
        """
        shown, last = self._dropped(F.embedding(ids, torch.cat(self.vectors())), dropping), []
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
        if self.form.clipped:
            for vectors in self.vectors():
                vectors.clamp_(-1, 1)
        for cell in self.layers:
            self.form.keep(cell)
