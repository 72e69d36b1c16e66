"""Several language models of one kind as one: every weight has a first dimension for the nets."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state
from torch.nn import functional as F

from fhx.cells import LSTMCell
from fhx.experiments.causal.net import CausalNet, Dropout, dropped
from fhx.experiments.language_models.net import LanguageModel
from fhx.experiments.language_models.side_by_side.loops import lstm, simple
from fhx.experiments.language_models.side_by_side.windows import Windows

__all__ = ["Nets", "Weights"]

Weights = Mapping[str, Tensor]
"""Of all nets, by the names that one net has for them."""


class Nets:
    """What nets of one kind and size show and lose, from weights that are given.

    Args:
        made: the nets.
        device: where they run.
        seed: of the numbers that are dropped.
    """

    def __init__(self, made: Sequence[LanguageModel], device: torch.device, seed: int = 0) -> None:
        self.template, self.device = deepcopy(made[0]).to(device), device
        self.cutoffs = made[0].softmax.cutoffs[:-1]
        self.sizes = [len(vectors) for vectors in self.template.vectors()]
        self.dropouts = torch.tensor([net.dropout for net in made], device=device)
        self.dropping = torch.Generator(device).manual_seed(seed)
        stacked, _ = stack_module_state(list(made))
        self.start: Weights = {name: p.detach().to(device).clone() for name, p in stacked.items()}

    def read(
        self,
        weights: Weights,
        words: Tensor,
        carried: Sequence[Tensor] | None,
        trained: bool = False,
        k: int | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        """What is shown after each of the words, (nets, time, batch, width), and what the nets carry on.

        Args:
            weights: of all nets.
            words: (time, batch), the same for all.
            carried: from the words before; None at the start.
            trained: whether numbers are dropped.
            k: where given, each k words in a row are a sequence of their own, (nets, k, rows x batch, width).
        """
        shown = self._vectors(weights, words)
        if k is not None:
            shown = shown.unfold(1, k, 1).permute(0, 4, 1, 2, 3).flatten(2, 3)
        shown, last = self._dropped(shown, trained), []
        if self.template.form is None:
            return self._read_rival(weights, shown, carried, trained)
        for layer, cell in enumerate(self.template.layers):
            W, U, b = (weights[f"layers.{layer}.{name}"] for name in "WUb")
            drive = torch.baddbmm(b[:, None], shown.flatten(1, 2), U.mT).unflatten(1, shown.shape[1:3])
            state = carried[layer] if carried else drive.new_zeros(len(W), shown.shape[2], cell.state_width)
            shown, state = (lstm if isinstance(cell, LSTMCell) else simple)(drive, W, state)
            last.append(state.detach())
            shown = self._dropped(shown, trained)
        return shown, last

    def losses(self, weights: Weights, shown: Tensor, part: Windows, window: Tensor) -> Tensor:
        """Of each target of a window, (nets, time x batch), in nats; 0 for those that do not count.

        Args:
            weights: of all nets.
            shown: (nets, time x batch, width).
            part: the text.
            window: its number, a tensor of one.
        """
        heads, counts = (x.index_select(0, window)[0] for x in (part.heads, part.counts))
        logits = torch.baddbmm(weights["softmax.head.bias"][:, None], shown, weights["softmax.head.weight"].mT)
        found = _cross_entropy(logits, heads) * counts
        for k, group in enumerate(part.groups):
            places, words, there = (x.index_select(0, window)[0] for x in (group.places, group.words, group.counts))
            square, table = (weights[f"softmax.tail.{k}.{layer}.weight"] for layer in (0, 1))
            logits = torch.bmm(torch.bmm(shown.index_select(1, places), square.mT), table.mT)
            found = found.index_add(1, places, _cross_entropy(logits, words) * there)
        return found

    def _vectors(self, weights: Weights, words: Tensor) -> Tensor:
        """Those of words, (nets, *words, width)."""
        tails = (weights[f"softmax.tail.{k}.1.weight"] for k in range(len(self.sizes) - 1))
        found, low = torch.zeros((), device=self.device), 0
        for table, size in zip((weights["softmax.head.weight"], *tails), self.sizes, strict=True):
            local = words.flatten() - low
            inside = ((local >= 0) & (local < size))[:, None]
            rows = local % size + table.shape[1] * torch.arange(len(table), device=self.device)[:, None]
            found = found + table.flatten(0, 1).index_select(0, rows.flatten()).unflatten(0, rows.shape) * inside
            low += size
        return found.unflatten(1, words.shape)

    def _read_rival(
        self, weights: Weights, x: Tensor, carried: Sequence[Tensor] | None, trained: bool
    ) -> tuple[Tensor, list[Tensor]]:
        rival, prefix = self.template.rival.train(trained), "rival."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        for module in rival.modules():
            if isinstance(module, Dropout):
                module.generator = self.dropping
        batched = torch.vmap(partial(_resume, rival), (0, 0, 0, 0 if carried else None), randomness="different")
        shown, past = batched(own, self.dropouts, x, carried[0] if carried else None)
        if rival.longest is not None:
            past = past[:, -(rival.longest - x.shape[1]) :]  # the rest is never looked at
        return self._dropped(shown, trained), [past.detach()]

    def _dropped(self, x: Tensor, trained: bool) -> Tensor:
        if not (trained and self.template.dropout):
            return x
        kept = (1 - self.dropouts)[:, None, None, None]
        return dropped(x, kept, self.dropping)


class _Resuming(nn.Module):
    """``resume`` as a module's call, as ``functional_call`` wants it."""

    def __init__(self, rival: CausalNet) -> None:
        super().__init__()
        self.rival = rival

    def forward(self, x: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
        return self.rival.resume(x, past)


def _resume(
    rival: CausalNet, weights: Weights, dropout: Tensor, x: Tensor, past: Tensor | None
) -> tuple[Tensor, Tensor]:
    """One net of those that ``vmap`` runs."""
    for module in rival.modules():
        if isinstance(module, Dropout):
            module.p = dropout  # type: ignore[assignment]  # a float in nets by themselves
    named = {f"rival.{name}": w for name, w in weights.items()}
    return functional_call(_Resuming(rival), named, (x, past))


def _cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Of (nets, rows, classes) at the targets (rows), the same for all nets."""
    nets, rows, _ = logits.shape
    return F.cross_entropy(logits.flatten(0, 1), targets.repeat(nets), reduction="none").view(nets, rows)
