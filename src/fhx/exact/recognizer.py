"""A simple RNN that accepts or rejects words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen

from fhx._extras import needs
from fhx.exact.matrix import Matrix
from fhx.exact.network import Network
from fhx.exact.word_reader import Word, WordReader, decision

if TYPE_CHECKING:
    import torch

    from fhx.exact.table import TableRecognizer
    from fhx.exact.torch_recognizer import TorchRecognizer

__all__ = ["Recognizer"]


@frozen(repr=False)
class Recognizer(WordReader):
    r"""A network :math:`\mathrm{out} \circ \mathrm{rec}` with :math:`\mathrm{out}(h) = w \cdot h + c` that reads words,
    each symbol as a one-hot vector, and accepts with output 1 and rejects with output 0.

    Args:
        rnn: rec.
        w: readout weights, :math:`d` numbers.
        c: readout bias.
        alphabet: the symbols, in the order of U's columns; a string is its characters.
        steps_per_symbol: k. Each symbol is followed by k - 1 zero vectors, and the output is read after the last.
        decoder: how the net's state holds that of the step it was compiled from, if it was.

    Raises:
        TypeError: a weight is not an exact number, or the alphabet is a set, which has no order.
        ValueError: sizes do not fit, or a symbol comes twice.

    Source: Definition 4.1 of the lecture notes, (4.4) and (4.5).
    """

    @property
    def column_labels(self) -> tuple[Hashable, ...]:
        """What the columns of U stand for: the symbols."""
        return self.alphabet

    def input_columns(self, word: Word) -> Iterator[int]:
        """The columns of U that the word shows to the net.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return self.columns(word)

    @cached_property
    def network(self) -> Network:
        """The same net with its output as a vector of one number."""
        w = Matrix((1, self.rnn.units), {(0, j): value for j, value in enumerate(self.w)})
        return Network(self.rnn, w, (self.c,), self.steps_per_symbol, self._decoder)

    def accepts(self, word: Word) -> bool:
        r"""Whether the output after the word is 1; the output after the empty word is :math:`\mathrm{out}(h_0)`.

        Raises:
            ValueError: a symbol is outside the alphabet, or the output is neither 1 (accept) nor 0 (reject).
        """
        word = word if isinstance(word, str) else tuple(word)
        for state in self.rnn.run_scaled(self._steps(word)):  # noqa: B007, the last one counts
            pass
        return decision(self._output(state), word)

    def to_torch(self, dtype: torch.dtype | None = None, exact: bool = True) -> TorchRecognizer:
        """The net as ``torch.nn.RNN``: one-hot inputs (batch, time, symbol) to outputs (batch, time), and batched
        ``accepts``. Move it to a device by ``.to(device)``.

        Args:
            dtype: a floating-point type; None: ``torch.float64``.
            exact: refuse what floats cannot hold, and raise where they would round; see ``TorchRecognizer``.

        Raises:
            TypeError: ``dtype`` is not a floating-point type.
            ValueError: ``exact``, and some weight is not an integer or too large: all reasons.
        """
        with needs("torch"):
            from fhx.exact.torch_recognizer import TorchRecognizer  # exact nets are there without torch
        return TorchRecognizer(self, dtype, exact)

    def to_table(self) -> TableRecognizer:
        """The net as a lookup in a table derived from its weights: symbol ids (batch, time) to decisions.

        Raises:
            ValueError: a step leaves the one-hot states; see ``TableRecognizer``.
        """
        with needs("torch"):
            from fhx.exact.table import TableRecognizer  # exact nets are there without torch
        return TableRecognizer(self)
