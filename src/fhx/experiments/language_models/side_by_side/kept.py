"""Keeping nets side by side to what their kind asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from fhx.experiments.forms import Form
from fhx.experiments.language_models.net import LanguageModel

__all__ = ["Keeper"]

Map = Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]]
"""``map``, or one that works in several processes."""


class Keeper:
    """Clips vectors and projects layers, in place; cells are projected on the CPU.

    Args:
        net: one of the nets.
        weights: of all nets.
        mapped: what projects cells, as ``map`` does.
    """

    def __init__(self, net: LanguageModel, weights: Mapping[str, Tensor], mapped: Map = map) -> None:
        self.form, self.mapped, self.frequent = net.form, mapped, net.softmax.shortlist_size
        weights = {name: w.detach() for name, w in weights.items()}  # a view would keep a graph of its own alive
        self.cells = [[weights[f"layers.{k}.{name}"] for name in "WUb"] for k in range(len(net.layers))]
        tails = [weights[f"softmax.tail.{k}.1.weight"] for k in range(len(net.softmax.tail))]
        self.vectors = [weights["softmax.head.weight"][:, : self.frequent], *tails]

    @torch.no_grad()
    def keep(self) -> None:
        """Do it."""
        if self.form is None:
            return
        if self.form.clipped:
            for table in self.vectors:
                table.clamp_(-1, 1)
        if self.form.certified is None:
            return
        for cell in self.cells:
            here = [w.detach().cpu().numpy() for w in cell]
            kept = list(self.mapped(_kept, [(self.form, each) for each in zip(*here, strict=True)]))
            for w, new in zip(cell, zip(*kept, strict=True), strict=True):
                w.copy_(torch.stack([torch.from_numpy(each) for each in new]))


def _kept(task: tuple[Form, Sequence[Any]]) -> list[Any]:
    """The weights W, U and b of one cell as its form keeps them."""
    form, weights = task
    with torch.random.fork_rng([]):
        cell = form.cell(weights[1].shape[1], weights[0].shape[1])
    parameters = [cell.get_parameter(name) for name in "WUb"]
    with torch.no_grad():
        for own, given in zip(parameters, weights, strict=True):
            own.copy_(torch.from_numpy(given))
        form.keep(cell)
    return [own.detach().numpy() for own in parameters]
