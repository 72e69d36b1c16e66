"""A simple RNN that reads a word, goes on after its end, and answers once, if ever."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import torch

from fhx.exact.network import Code, State
from fhx.exact.numbers import Number
from fhx.exact.recognizer import Recognizer
from fhx.exact.simple_rnn import SimpleRNN

if TYPE_CHECKING:
    from fhx.exact.torch_halting import TorchHaltingNet

__all__ = ["EOS", "Answer", "HaltingNet"]

Word = Iterable[Hashable]


class _EndMark:
    """The symbol behind the end of a word."""

    def __repr__(self) -> str:
        return "EOS"

    def __reduce__(self) -> str:
        return "EOS"


EOS = _EndMark()
"""The end mark, which stands behind a word for ever and is no symbol of it."""


class Answer(NamedTuple):
    """What a net answered, 1 or -1, and how many end marks it had read by then: T of Theorem 4.6."""

    value: Number
    steps: int


@dataclass(frozen=True)
class HaltingNet:
    r"""A net :math:`\mathrm{out} \circ \mathrm{rec}`, :math:`\mathrm{out}(h) = w \cdot h + c`, and its one answer.

    It reads a word, one symbol a step, and from then on the end mark EOS for ever. Its outputs are 0 but for one, its
    answer: 1 or -1.

    Args:
        rnn: rec. The columns of U are the symbols in their order, and EOS last.
        w: readout weights, :math:`d` numbers.
        c: readout bias.
        alphabet: the symbols without EOS; a string is its characters.
        steps_per_symbol: k. Each symbol and each EOS is followed by k - 1 zero vectors.
        code: how the net's state holds that of the step it was compiled from, if it was.

    Attributes:
        recognizer: the same net, with EOS as one symbol more.

    Raises:
        TypeError: a weight is no exact number, or the alphabet is a set.
        ValueError: sizes do not fit, or a symbol comes twice.

    Source: Theorem 4.6 of the lecture notes; Siegelmann and Sontag (1995), On the computational power of neural nets.
    """

    rnn: SimpleRNN
    w: tuple[Number, ...]
    c: Number
    alphabet: tuple[Hashable, ...]
    steps_per_symbol: int = 1
    code: Code | None = None
    recognizer: Recognizer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.alphabet, set | frozenset):
            raise TypeError("the alphabet is a set, which has no order: give a tuple or a string")
        inner = Recognizer(self.rnn, self.w, self.c, (*self.alphabet, EOS), self.steps_per_symbol, self.code)
        fields = {"w": inner.w, "c": inner.c, "alphabet": inner.alphabet[:-1], "recognizer": inner}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def units(self) -> int:
        """How many units the net has."""
        return self.rnn.size

    def run(self, word: Word) -> Iterator[dict[int, Number]]:
        """The sparse state after each step of the net, ``{unit: nonzero number}``, :math:`h_0` first, for ever.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return self.recognizer.run(self.fed(word))

    def outputs(self, word: Word) -> Iterator[Number]:
        """The output after each symbol and then after each EOS, for ever.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return self.recognizer.readings(self.fed(word))

    def answer(self, word: Word, limit: int) -> Answer | None:
        """The first output that is not 0 after the word, if it comes within ``limit`` end marks.

        Raises:
            ValueError: a symbol is outside the alphabet, or ``limit`` is negative.
        """
        if limit < 0:
            raise ValueError(f"the limit is a number of end marks, not {limit}")
        word = tuple(word)
        after = islice(self.outputs(word), len(word), len(word) + limit)
        return next((Answer(value, T) for T, value in enumerate(after, start=1) if value), None)

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step that the net was compiled from, by name.

        Raises:
            ValueError: the net was not compiled, or the state is none of its states.
        """
        return self.recognizer.decode(state)

    def to_torch(self, dtype: torch.dtype = torch.float64) -> "TorchHaltingNet":
        """The net as ``torch.nn.RNN`` with weights and states rounded to a type: see :class:`TorchHaltingNet`.

        Raises:
            TypeError: ``dtype`` is no floating-point type.
        """
        from fhx.exact.torch_halting import TorchHaltingNet

        return TorchHaltingNet(self, dtype)

    def fed(self, word: Word) -> Iterator[Hashable]:
        """What the net reads: the word, then EOS for ever.

        Raises:
            ValueError: EOS stands in the word.
        """
        for position, symbol in enumerate(word):
            if symbol is EOS:
                raise ValueError(f"EOS at position {position} is no symbol of a word")
            yield symbol
        yield from repeat(EOS)
