"""A simple RNN that accepts or rejects words."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

from fhx.exact.matrix import Matrix
from fhx.exact.network import Code, Network, State, check_code, check_steps
from fhx.exact.numbers import Number, common_denominator, number, quotient, vector
from fhx.exact.simple_rnn import Scaled, SimpleRNN

if TYPE_CHECKING:
    from fhx.exact.gather import GatherRecognizer
    from fhx.exact.torch_recognizer import TorchRecognizer

Word = Iterable[Hashable]


@dataclass(frozen=True)
class Recognizer:
    r"""A network :math:`\mathrm{out} \circ \mathrm{rec}` with :math:`\mathrm{out}(h) = w \cdot h + c` that reads words,
    each symbol as a one-hot vector, and accepts with output 1 and rejects with output 0.

    Args:
        rnn: rec.
        w: readout weights, :math:`d` numbers.
        c: readout bias.
        alphabet: the symbols, in the order of U's columns; a string is its characters.
        steps_per_symbol: k. Each symbol is followed by k - 1 zero vectors, and the output is read after the last.
        code: how the net's state holds that of the step it was compiled from, if it was.

    Raises:
        TypeError: a weight is no exact number, or the alphabet is a set, which has no order.
        ValueError: sizes do not fit, or a symbol comes twice.

    Source: Definition 4.1 of the lecture notes, (4.4) and (4.5).
    """

    rnn: SimpleRNN
    w: tuple[Number, ...]
    c: Number
    alphabet: tuple[Hashable, ...]
    steps_per_symbol: int = 1
    code: Code | None = None

    def __post_init__(self) -> None:
        if isinstance(self.alphabet, set | frozenset):
            raise TypeError("the alphabet is a set, which has no order: give a tuple or a string")
        alphabet = tuple(self.alphabet)
        if len(set(alphabet)) != len(alphabet):
            twice = next(symbol for i, symbol in enumerate(alphabet) if symbol in alphabet[:i])
            raise ValueError(f"the symbol {twice!r} comes twice in the alphabet")
        if len(alphabet) != self.rnn.input_size:
            raise ValueError(f"the alphabet has {len(alphabet)} symbols, but U has {self.rnn.input_size} columns")
        object.__setattr__(self, "alphabet", alphabet)
        object.__setattr__(self, "w", vector(self.w, "w", self.rnn.size))
        object.__setattr__(self, "c", number(self.c, "c"))
        check_steps(self.steps_per_symbol, "steps_per_symbol")
        check_code(self.code, self.rnn)

    @cached_property
    def network(self) -> Network:
        """The same net with its output as a vector of one number."""
        w = Matrix((1, self.rnn.size), {(0, j): value for j, value in enumerate(self.w)})
        return Network(self.rnn, w, (self.c,), self.steps_per_symbol, self.code)

    @property
    def units(self) -> int:
        """How many units the net has."""
        return self.rnn.size

    def run(self, word: Word) -> Iterator[dict[int, Number]]:
        """The sparse state after each step of the net, ``{unit: nonzero number}``, :math:`h_0` first.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return self.rnn.run(self._columns(word))

    def outputs(self, word: Word) -> list[Number]:
        """The output after each symbol.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return list(self.readings(word))

    def readings(self, word: Word) -> Iterator[Number]:
        """``outputs``, one at a time: the word may go on for ever.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        k = self.steps_per_symbol
        for t, state in enumerate(self.rnn.run_scaled(self._columns(word))):
            if t and t % k == 0:
                yield self._output(state)

    def accepts(self, word: Word) -> bool:
        r"""Whether the output after the word is 1; the output after the empty word is :math:`\mathrm{out}(h_0)`.

        Raises:
            ValueError: a symbol is outside the alphabet, or the output is neither 1 (accept) nor 0 (reject).
        """
        word = word if isinstance(word, str) else tuple(word)
        for state in self.rnn.run_scaled(self._columns(word)):  # noqa: B007, the last one counts
            pass
        return decision(self._output(state), word)

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step that the net was compiled from, by name; ``state`` is sparse or dense.

        Raises:
            ValueError: the net was not compiled, or the state is none of its states.
        """
        return self.network.decode(state)

    def to_torch(self, dtype: torch.dtype = torch.float64, exact: bool = True) -> "TorchRecognizer":
        """The net as ``torch.nn.RNN``: one-hot inputs (batch, time, symbol) to outputs (batch, time), and batched
        ``accepts``. Move it to a device by ``.to(device)``.

        Args:
            dtype: a floating-point type.
            exact: refuse what floats cannot hold, and raise where they would round; see ``TorchRecognizer``.

        Raises:
            TypeError: ``dtype`` is no floating-point type.
            ValueError: ``exact``, and some weight is no integer or too large: all reasons.
        """
        from fhx.exact.torch_recognizer import TorchRecognizer

        return TorchRecognizer(self, dtype, exact)

    def to_gather(self) -> "GatherRecognizer":
        """The net as a lookup in a table derived from its weights: symbol ids (batch, time) to decisions.

        Raises:
            ValueError: a step leaves the one-hot states; see ``GatherRecognizer``.
        """
        from fhx.exact.gather import GatherRecognizer

        return GatherRecognizer(self)

    def columns(self, word: Word) -> Iterator[int]:
        """The column of U of each symbol.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        places = self._places
        for position, symbol in enumerate(word):
            try:
                yield places[symbol]
            except (KeyError, TypeError):
                raise ValueError(
                    f"the symbol {symbol!r} at position {position} is outside the alphabet {self.alphabet}"
                ) from None

    def _columns(self, word: Word) -> Iterator[int | None]:
        """``columns`` with the pauses: k - 1 zero vectors after each symbol."""
        if self.steps_per_symbol == 1:
            return self.columns(word)
        pause = (None,) * (self.steps_per_symbol - 1)
        return (column for symbol in self.columns(word) for column in (symbol, *pause))

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {symbol: place for place, symbol in enumerate(self.alphabet)}

    @cached_property
    def _readout(self) -> tuple[dict[int, int], int, int]:
        """w and c as integers over one denominator."""
        scale = common_denominator((*self.w, self.c))
        return {j: int(value * scale) for j, value in enumerate(self.w) if value}, int(self.c * scale), scale

    def _output(self, state: Scaled) -> Number:
        (w, c, scale), (numerators, denominator) = self._readout, state
        total = sum(w[j] * n for j, n in numerators.items() if j in w)
        return quotient(total + c * denominator, scale * denominator)


def decision(output: object, word: Word) -> bool:
    """Accept or reject.

    Raises:
        ValueError: the output is neither 1 nor 0.
    """
    if output == 1:
        return True
    if output == 0:
        return False
    raise ValueError(f"the output after {word!r} is {output}: neither 1 (accept) nor 0 (reject)")
