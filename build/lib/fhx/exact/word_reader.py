"""A simple RNN that reads words: what recognizers have in common with nets that answer after an end mark."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Reversible
from functools import cached_property
from reprlib import repr as shortened

from attrs import field, frozen
from attrs.validators import instance_of, optional

from fhx.exact.network import State, StateDecoder, check_decoder, found_decoder, whole_steps
from fhx.exact.numbers import Exact, Number, common_denominator, number, quotient, vector
from fhx.exact.simple_rnn import Scaled, SimpleRNN

__all__ = ["Word", "WordReader", "decision"]

Word = Iterable[Hashable]


def _w(values: Iterable[Exact]) -> tuple[Number, ...]:
    return vector(values, "w")


def _c(value: Exact) -> Number:
    return number(value, "c")


def _alphabet(symbols: Reversible[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(symbols, set | frozenset):
        raise TypeError("the alphabet is a set, which has no order: give a tuple or a string")
    return tuple(symbols)


@frozen(repr=False)
class WordReader(ABC):
    r"""A network :math:`\mathrm{out} \circ \mathrm{rec}` with :math:`\mathrm{out}(h) = w \cdot h + c`, a number, that
    reads words, each symbol as a one-hot vector.

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
    """

    rnn: SimpleRNN = field(validator=instance_of(SimpleRNN))
    w: tuple[Number, ...] = field(converter=_w)
    c: Number = field(converter=_c)
    alphabet: tuple[Hashable, ...] = field(converter=_alphabet)
    steps_per_symbol: int = field(default=1, converter=whole_steps)
    _decoder: StateDecoder | None = field(default=None, validator=optional(instance_of(StateDecoder)))

    def __attrs_post_init__(self) -> None:
        symbols, width = self.column_labels, self.rnn.input_size
        if len(set(symbols)) != len(symbols):
            twice = next(symbol for i, symbol in enumerate(symbols) if symbol in symbols[:i])
            raise ValueError(f"the symbol {twice!r} comes twice in the alphabet")
        if len(symbols) != width:
            raise ValueError(f"the alphabet has {len(symbols)} symbols, but U has {width} columns")
        vector(self.w, "w", self.rnn.units)
        check_decoder(self._decoder, self.rnn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rnn!r}, alphabet={shortened(self.alphabet)})"

    @property
    @abstractmethod
    def column_labels(self) -> tuple[Hashable, ...]:
        """What the columns of U stand for."""

    @abstractmethod
    def input_columns(self, word: Word) -> Iterator[int]:
        """The columns of U that a word shows to the net, and whatever comes after it."""

    @property
    def units(self) -> int:
        """How many units the net has."""
        return self.rnn.units

    @property
    def decoder(self) -> StateDecoder:
        """How the net's state holds that of the step it was compiled from; a ValueError if it was not compiled."""
        return found_decoder(self._decoder)

    def run(self, word: Word) -> Iterator[dict[int, Number]]:
        """The sparse state after each step of the net, ``{unit: nonzero number}``, :math:`h_0` first.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        return self.rnn.run(self._steps(word))

    def outputs(self, word: Word) -> Iterator[Number]:
        """The output after each symbol, made as it is asked for: the word may go on for ever.

        Each is an ``int`` where it is whole, so all those of a net with integer weights are, and else a ``Fraction``.

        Raises:
            ValueError: a symbol is outside the alphabet.
        """
        k = self.steps_per_symbol
        for t, state in enumerate(self.rnn.run_scaled(self._steps(word))):
            if t and t % k == 0:
                yield self._output(state)

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

    def decode(self, state: State) -> dict[str, Number]:
        """The state of the step that the net was compiled from, by name; ``state`` is sparse or dense.

        Raises:
            ValueError: the net was not compiled, or the state is not one of its states.
        """
        return self.decoder.decode(state)

    def _steps(self, word: Word) -> Iterator[int | None]:
        """``input_columns`` with the pauses: k - 1 zero vectors after each symbol."""
        if self.steps_per_symbol == 1:
            return self.input_columns(word)
        pause = (None,) * (self.steps_per_symbol - 1)
        return (column for symbol in self.input_columns(word) for column in (symbol, *pause))

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
        products = sum(w[j] * n for j, n in numerators.items() if j in w)
        return quotient(products + c * denominator, scale * denominator)


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
