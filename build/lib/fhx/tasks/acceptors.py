r"""A trained net as the decision about words that it was trained to make."""

from collections.abc import Callable, Iterable, Sequence

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from fhx.tasks.languages import encode

__all__ = ["Acceptor"]


class Acceptor:
    r"""The language of a net: a word belongs to it where the net's logit after the word is positive.

    Each run answers for all prefixes of its word, and no answer is computed twice.

    Args:
        net: from one-hot inputs ``(time, N, symbols)`` and lengths to logits ``(time, N, d_out)``; the last of them
            decides. It was trained with a zero vector before every word, after which it decides the empty word.
        alphabet: the symbols in the order of the inputs.
    """

    def __init__(self, net: Callable[[Tensor, Tensor], Tensor], alphabet: str) -> None:
        self.net, self.alphabet = net, alphabet
        self._known: dict[str, bool] = {}

    def __call__(self, word: Sequence[str]) -> bool:
        """Whether the net accepts the word.

        Raises:
            ValueError: the word has a symbol outside the alphabet.
        """
        text = "".join(word)
        if text not in self._known:
            self.read([text])
        return self._known[text]

    def read(self, words: Iterable[str]) -> None:
        """Run all these words as one batch, so that they and their prefixes are known."""
        batch = list(words)
        answers = self.prefixes(batch).T.tolist()
        for word, row in zip(batch, answers, strict=True):
            self._known.update((word[:t], row[t]) for t in range(len(word) + 1))

    @torch.no_grad()
    def prefixes(self, words: Sequence[str]) -> Bool[Tensor, "time N"]:
        """The decision after every prefix of every word, the empty one first; beyond a word's end, anything."""
        inputs, lengths = encode(words, self.alphabet)
        if isinstance(self.net, nn.Module) and (like := next(self.net.parameters(), None)) is not None:
            inputs, lengths = inputs.to(like), lengths.to(like.device)
        return (self.net(inputs, lengths)[..., -1] > 0).cpu()
