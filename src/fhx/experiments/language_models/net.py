r"""Language models with recurrent layers, words that are read and predicted with the same vectors, and an adaptive
softmax.

A word :math:`w` has a vector :math:`v_w` and a bias :math:`b_w`. With :math:`y_t` what the highest layer shows,
frequent words and groups of rare ones are told apart by one softmax, and the words of a group by another:

.. math::

   P(w) = \operatorname{softmax}(v_{w'} \cdot y_t + b_{w'},\; a_g \cdot y_t + e_g)_w
       \quad\text{for a frequent } w, \qquad
   P(w) = P(g)\, \operatorname{softmax}_{w' \in g}(v_{w'} \cdot y_t + b_{w'})_w \quad\text{for } w \in g.

Sources: Press and Wolf (2017) and Inan, Khosravi and Socher (2017) for the shared vectors, Grave et al. (2017) for the
groups.
"""

from collections.abc import Sequence
from typing import Any

import torch
from attrs import frozen
from jaxtyping import Float, Integer
from torch import Tensor, nn
from torch.nn import functional as F

from fhx.cells import Cell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.experiments.variants import initialize, open_gates
from fhx.stability import project

__all__ = ["EVERY", "KINDS", "RATE", "Form", "LanguageModel", "TiedWords"]

RATE = 0.99
"""What a certified layer contracts by, at least."""
HORIZON = 35
"""Words that gates start open for."""


@frozen(kw_only=True)
class Form:
    """A kind of net.

    Attributes:
        cell: of every layer.
        certified: the options of :func:`fhx.stability.project` that keep every layer stable; None where nothing does.
        clipped: whether no entry of a vector is larger than 1, as certificates of LSTMs ask.
    """

    cell: type[Cell]
    certified: dict[str, Any] | None = None
    clipped: bool = False


KINDS = {
    "simple": Form(cell=SimpleCell),
    "simple, stable": Form(cell=SimpleCell, certified={}),
    "LSTM": Form(cell=LSTMCell),
    "LSTM, clipped": Form(cell=LSTMCell, clipped=True),
    "LSTM, four conditions": Form(
        cell=LSTMCell, certified={"condition": "four conditions", "forget": 0.64}, clipped=True
    ),
    "LSTM, stable": Form(cell=LSTMCell, certified={"condition": "weighted"}, clipped=True),
    **{
        f"LSTM, F = {forget}": Form(cell=LSTMCell, certified={"condition": "weighted", "forget": forget}, clipped=True)
        for forget in (0.64, 0.9)
    },
}
"""Free nets, the same with clipped vectors, the four conditions of Miller and Hardt, and the sharpest certificate, with
forget gates that open as far as it lets them or to at most F."""
EVERY = 25
"""Updates between two projections; one takes as long as five updates."""


class TiedWords(nn.Module):
    """The vectors of words, by which they are read and predicted.

    Args:
        words: size of the vocabulary; frequent words have small ids.
        width: of the vectors.
        cutoffs: the ids at which groups of rare words begin.

    Raises:
        ValueError: the cutoffs do not rise from above 0 to below the size of the vocabulary.
    """

    def __init__(self, words: int, width: int, cutoffs: Sequence[int]) -> None:
        super().__init__()
        self.edges = [0, *cutoffs, words]
        if self.edges != sorted(set(self.edges)):
            raise ValueError(f"cutoffs must rise between 0 and {words}, got {list(cutoffs)}")
        sizes = [b - a for a, b in zip(self.edges, self.edges[1:], strict=False)]
        self.vectors = nn.ParameterList([torch.empty(n, width).uniform_(-0.1, 0.1) for n in sizes])
        self.biases = nn.ParameterList([torch.zeros(n) for n in sizes])
        self.groups = nn.Linear(width, len(cutoffs))
        nn.init.zeros_(self.groups.weight)

    @torch.no_grad()
    def start_at(self, log_probabilities: Float[Tensor, " words"]) -> None:
        """Let the biases say how frequent the words are, so that no state has to learn it."""
        frequent, *rare = log_probabilities.tensor_split(self.edges[1:-1])
        self.biases[0].copy_(frequent)
        for k, group in enumerate(rare):
            self.groups.bias[k] = group.logsumexp(0)
            self.biases[k + 1].copy_(group - group.logsumexp(0))

    def forward(self, ids: Integer[Tensor, "*batch"]) -> Float[Tensor, "*batch width"]:
        """The vectors of some words."""
        flat = ids.flatten()
        group, found = self._group(flat), self.vectors[0].new_empty(len(flat), self.vectors[0].shape[1])
        for k, vectors in enumerate(self.vectors):
            if len(rows := torch.nonzero(group == k)[:, 0]):
                found = found.index_copy(0, rows, F.embedding(flat[rows] - self.edges[k], vectors))
        return found.view(*ids.shape, -1)

    def _group(self, ids: Integer[Tensor, " n"]) -> Integer[Tensor, " n"]:
        """0 for frequent words, and the number of the group of rare ones."""
        return torch.bucketize(ids, torch.tensor(self.edges[1:-1], device=ids.device), right=True)

    def head(self, shown: Float[Tensor, "n width"]) -> Float[Tensor, "n frequent"]:
        """The log probabilities of the frequent words, and of the groups after them."""
        return torch.cat([F.linear(shown, self.vectors[0], self.biases[0]), self.groups(shown)], -1).log_softmax(-1)

    def loss(self, shown: Float[Tensor, "n width"], targets: Integer[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Minus the log probability of each target, in nats."""
        starts, group = self.edges[1:-1], self._group(targets)
        place = torch.where(group == 0, targets, self.edges[1] + group - 1)
        loss = -self.head(shown).gather(1, place[:, None])[:, 0]
        for k, start in enumerate(starts, 1):
            if len(rows := torch.nonzero(group == k)[:, 0]):
                logits = F.linear(shown[rows], self.vectors[k], self.biases[k])
                within = F.cross_entropy(logits, targets[rows] - start, reduction="none")
                loss = loss.index_add(0, rows, within)
        return loss

    def log_probabilities(self, shown: Float[Tensor, "n width"]) -> Float[Tensor, "n words"]:
        """Those of all words, in nats."""
        head = self.head(shown)
        frequent, groups = head[:, : self.edges[1]], head[:, self.edges[1] :]
        rare = [
            F.linear(shown, self.vectors[k], self.biases[k]).log_softmax(-1) + groups[:, k - 1, None]
            for k in range(1, len(self.vectors))
        ]
        return torch.cat([frequent, *rare], -1)


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
        self.words = TiedWords(words, units, cutoffs)
        made = nn.ModuleList([self._layer(units) for _ in range(layers)])
        self.layers: Sequence[Cell] = made  # type: ignore[assignment]  # torch's is not generic
        self.constrain()

    @torch.no_grad()
    def _layer(self, units: int) -> Cell:
        cell = self.form.cell(units, units)
        initialize(cell)
        open_gates(cell, HORIZON)
        return cell

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
        shown, last = self._dropped(self.words(ids), dropping), []
        for k, cell in enumerate(self.layers):
            state = states[k] if states else None
            run = unroll(cell, shown, state)
            last.append(run[-1])
            shown = self._dropped(cell.hidden(run), dropping)
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
            for vectors in self.words.vectors:
                vectors.clamp_(-1, 1)
        if self.form.certified is not None and all(
            p.isfinite().all() for cell in self.layers for p in cell.parameters()
        ):
            for cell in self.layers:
                project(cell, RATE, **self.form.certified)
