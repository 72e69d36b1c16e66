r"""How a net reads a text while it is trained, and what it sees when it is tested.

Four ways to read a window of words, of which only the last is a truncated model:

* *full*: the state goes on from word to word and from window to window, the gradient within a window;
* *cut k*: truncated back-propagation; the state goes on, the gradient is cut after every k words (in the book
  "carried"; a cut there is the last of these ways, without training);
* *reset k*: the state is zero at every k-th word, so that a word is predicted from 1 to k words, on average from half
  as many as are allowed;
* *truncated k*: every word is predicted from :math:`h_t^k`, the state that the last k words make from zero.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from attrs import frozen
from torch import Tensor

from fhx._checks import one_of, positive
from fhx.experiments.language_models.net import WINDOW, LanguageModel
from fhx.tasks import Sequences

__all__ = ["Reading", "losses"]

How = Literal["full", "cut", "reset", "truncated"]
NUMBERS = 2**25
"""Numbers of one layer that are run side by side in a test."""


@frozen
class Reading:
    """One of the four ways.

    Attributes:
        how: its name.
        k: its number of words; ``WINDOW`` for "full".
    """

    how: How = "full"
    k: int = WINDOW

    @classmethod
    def of(cls, name: str) -> "Reading":
        """From its name and number, such as "cut 5".

        Raises:
            ValueError: there is no such way, or the number is not a positive integer.
        """
        how, _, k = name.partition(" ")
        one_of("the way to read", how, ("full", "cut", "reset", "truncated"))
        return cls() if how == "full" else cls(how, positive("k", int(k)))  # type: ignore[arg-type]  # it is one of them

    @property
    def sees(self) -> int | None:
        """Words that the trained net is used with, None for all; one that was reset is used as a truncated one."""
        return self.k if self.how in ("reset", "truncated") else None

    def loss(
        self,
        net: LanguageModel,
        part: Sequences,
        start: int,
        states: Sequence[Tensor] | None,
        dropping: torch.Generator | None,
        window: int = WINDOW,
    ) -> tuple[Tensor, Sequence[Tensor] | None]:
        """The mean loss of the words of a window, and the states after it, without their gradient.

        Args:
            net: what reads.
            part: the text.
            start: step of the first word of the window.
            states: those before it; None for zero.
            dropping: what chooses the numbers to drop.
            window: words of each stream.
        """
        stop = min(start + window, part.steps)
        targets = part.targets[start:stop]
        if self.how == "truncated":
            shown = windows(net, part.inputs, start, stop, self.k, dropping)
            return net.loss(shown, targets[-len(shown) :]).mean(), None
        pieces = []
        for words in part.inputs[start:stop].split(self.k if self.how != "full" else window):
            shown, last = net(words, None if self.how == "reset" else states, dropping)
            pieces.append(shown)
            states = [state.detach() for state in last]
        return net.loss(torch.cat(pieces), targets).mean(), states


def windows(
    net: LanguageModel, ids: Tensor, start: int, stop: int, k: int, dropping: torch.Generator | None = None
) -> Tensor:
    """What the net shows after each of the words from ``start`` to before ``stop``, when it has read the last k only.

    Words with fewer than k behind them, themselves among these, are left out.
    """
    rows = ids[max(0, start - k + 1) : stop].unfold(0, k, 1)  # (words, streams, k)
    shown, _ = net(rows.permute(2, 0, 1).flatten(1), None, dropping)
    return shown[-1].unflatten(0, rows.shape[:2])


@torch.no_grad()
def losses(net: LanguageModel, part: Sequences, k: int | None = None, window: int = WINDOW) -> Tensor:
    """The loss of every word, (steps, streams), from state zero and without dropout.

    Args:
        net: what reads.
        part: the text.
        k: words that the net sees; None for all that came before.
        window: steps of each stream that are read at a time.
    """
    if k is None:
        found, states = [], None
        for x, y in zip(part.inputs.split(window), part.targets.split(window), strict=True):
            shown, states = net(x, states)
            found.append(net.loss(shown, y))
        return torch.cat(found)
    first, _ = net(part.inputs[: k - 1]) if k > 1 else (net(part.inputs[:1])[0][:0], None)  # fewer words than k
    found = [net.loss(first, part.targets[: k - 1])]
    some = max(1, NUMBERS // (k * part.inputs.shape[1] * 8 * first.shape[-1]))
    for start in range(k - 1, part.steps, some):
        stop = min(start + some, part.steps)
        found.append(net.loss(windows(net, part.inputs, start, stop, k), part.targets[start:stop]))
    return torch.cat(found)
