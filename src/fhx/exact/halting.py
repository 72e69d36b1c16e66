"""A simple RNN that reads a word, goes on after its end, and answers once, if ever."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from itertools import repeat
from typing import TYPE_CHECKING

from attrs import frozen

from fhx._extras import needs
from fhx.exact.endless import Answer, Endless, first_answer
from fhx.exact.numbers import Number
from fhx.exact.word_reader import Word, WordReader

if TYPE_CHECKING:
    import torch

    from fhx.exact.torch_halting import TorchHaltingNet

__all__ = ["EOS", "HaltingNet"]


class _EndMark(Enum):
    """The symbol behind the end of a word."""

    EOS = "EOS"

    def __repr__(self) -> str:
        return "EOS"


EOS = _EndMark.EOS
"""The end mark, which stands behind a word for ever and is not a symbol of it."""


@frozen(repr=False)
class HaltingNet(WordReader):
    r"""A net :math:`\mathrm{out} \circ \mathrm{rec}`, :math:`\mathrm{out}(h) = w \cdot h + c`, and its one answer.

    It reads a word, one symbol at a time, and from then on the end mark EOS for ever. Its outputs are 0 but for one,
    its answer: 1 or -1.

    Args:
        rnn: rec. The columns of U are the symbols in their order, and EOS last.
        w: readout weights, :math:`d` numbers.
        c: readout bias.
        alphabet: the symbols without EOS; a string is its characters.
        steps_per_symbol: k. Each symbol and each EOS is followed by k - 1 zero vectors.
        decoder: how the net's state holds that of the step it was compiled from, if it was.

    Raises:
        TypeError: a weight is not an exact number, or the alphabet is a set.
        ValueError: sizes do not fit, or a symbol comes twice.

    Source: Theorem 4.6 of the lecture notes; Siegelmann and Sontag (1995), On the computational power of neural nets.
    """

    @property
    def column_labels(self) -> tuple[Hashable, ...]:
        """What the columns of U stand for: the symbols, then EOS."""
        return (*self.alphabet, EOS)

    def input_columns(self, word: Word) -> Endless[int]:
        """The columns of U that the word shows to the net, then that of EOS for ever.

        Raises:
            ValueError: a symbol is outside the alphabet, as EOS is too.
        """
        return Endless(self.columns(word), repeat(len(self.alphabet)))

    def run(self, word: Word) -> Endless[dict[int, Number]]:
        """The sparse state after each step of the net, ``{unit: nonzero number}``, :math:`h_0` first, for ever.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return Endless(super().run(word))

    def outputs(self, word: Word) -> Endless[Number]:
        """The output after each symbol and then after each EOS, for ever.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return Endless(super().outputs(word))

    def answer(self, word: Word, max_steps: int) -> Answer | None:
        """The first output that is not 0 after the word, if it comes within ``max_steps`` end marks.

        Raises:
            ValueError: a symbol is outside the alphabet, or ``max_steps`` is not an integer of at least 0.
        """
        word = tuple(word)
        return first_answer(self.outputs(word), len(word), max_steps)

    def to_torch(self, dtype: torch.dtype | None = None) -> TorchHaltingNet:
        """The net as ``torch.nn.RNN`` with weights and states rounded to a type: see :class:`TorchHaltingNet`.

        Args:
            dtype: a floating-point type; None: ``torch.float64``.

        Raises:
            TypeError: ``dtype`` is not a floating-point type.
        """
        with needs("torch"):
            from fhx.exact.torch_halting import TorchHaltingNet  # exact nets are there without torch
        return TorchHaltingNet(self, dtype)
