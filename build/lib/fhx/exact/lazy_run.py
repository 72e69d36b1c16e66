"""Exact runs of a simple RNN from a start with real entries, which count the digits that they look at."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import gcd
from operator import length_hint

from fhx.exact.lazy import MAX_DIGITS, DigitStream, LazyReal, SeenDigits, UndecidedError
from fhx.exact.numbers import Exact, Number, common_denominator, number, quotient
from fhx.exact.simple_rnn import SimpleRNN

__all__ = ["LazyRun"]

Value = Number | LazyReal


class LazyRun(Iterator[dict[int, Value]]):
    r"""The states :math:`h_0, h_1, \dots` of an exact run in which some entries of :math:`h_0` are real numbers.

    Sparse, ``{unit: value}``; a value is an exact number, not 0, or a ``LazyReal``. At each step every ReLU is settled:
    by the range of its argument, if that does not hold 0 inside, or by looking at digits until it does not. What it
    gives is what arithmetic with ``LazyReal`` gives; inside there are integers over one denominator, and the digits
    looked at are known to all units at once.

    Args:
        rnn: the net, with other entries of :math:`h_0` where ``reals`` has some.
        reals: the real entries of :math:`h_0`, ``{unit: digits}``. A unit may depend on one real at a time.
        symbols: for each step the place of the input's one, or None for the zero vector; may go on for ever.
        max_digits: how many digits one ReLU may ask for.

    Raises:
        ValueError: a key of ``reals`` is not a unit; in the run, a symbol is not a column of U, or a unit depends on
            two reals.
        UndecidedError: in the run, a ReLU asks for more.
    """

    def __init__(
        self,
        rnn: SimpleRNN,
        reals: Mapping[int, DigitStream],
        symbols: Iterable[int | None],
        max_digits: int = MAX_DIGITS,
    ) -> None:
        for unit in reals:
            if unit not in range(rnn.units):
                raise ValueError(f"h0 has a real for the unit {unit!r}, but the net has {rnn.units} units")
        self.rnn, self.max_digits = rnn, max_digits
        self._started, self._symbols = False, iter(symbols)
        self._seen = {unit: SeenDigits(stream) for unit, stream in reals.items()}
        self._denominator = common_denominator(rnn.h0)
        self._numerators = {j: int(h * self._denominator) for j, h in enumerate(rnn.h0) if h and j not in reals}
        self._slopes = {unit: (unit, self._denominator) for unit in reals}
        self._sums = False

    def __length_hint__(self) -> int:
        return length_hint(self._symbols) + (not self._started)

    def __next__(self) -> dict[int, Value]:
        self._advance()
        self._settle_all()
        return {unit: self._value(unit) for unit in sorted({*self._numerators, *self._slopes})}

    def read_out(self, w: Sequence[Exact]) -> Iterator[Value]:
        r"""The sums :math:`w \cdot h_t` in place of the states that are still to come.

        The other units are settled only when the next sum is asked for, so that no digit is looked at for them.
        """
        return _Sums(self, {j: number(value, f"w[{j}]") for j, value in enumerate(w) if value})

    @property
    def digits_read(self) -> dict[int, int]:
        """How many digits of each real were looked at so far, by the unit that it started in."""
        return {unit: len(reader.digits) for unit, reader in self._seen.items()}

    @property
    def digits(self) -> int:
        """How many digits were looked at so far, of the real of which most were."""
        return max(self.digits_read.values(), default=0)

    def _value(self, unit: int) -> Value:
        """What the unit holds, (numerator + slope · tail) / denominator."""
        value = quotient(self._numerators.get(unit, 0), self._denominator)
        if unit not in self._slopes:
            return value
        real, slope = self._slopes[unit]
        reader = self._seen[real]
        return LazyReal(reader, len(reader.digits), quotient(slope, self._denominator), value)

    def _advance(self) -> None:
        """The next state, its units not settled; the first is the start as it is."""
        self._settle_all()
        if self._started:
            self._sum_up(next(self._symbols))
            self._sums = True
        self._started = True

    def _settle_all(self) -> None:
        """The state in lowest terms from the sums, if that is what there is."""
        if not self._sums:
            return
        for unit in list(self._numerators):
            self._settle(unit)
        self._sums = False
        common = gcd(self._denominator, *self._numerators.values(), *(slope for _, slope in self._slopes.values()))
        if common > 1:
            self._scale(lambda n: n // common)

    def _sum_up(self, symbol: int | None) -> None:
        """W h + U x + b, with weights w / M and units n / D, over M D."""
        columns, drives, scale = self._integers
        try:
            drive, positive = drives[symbol]
        except (KeyError, TypeError):
            raise ValueError(
                f"input {symbol!r} is neither a column of U, which has {self.rnn.input_size}, nor None"
            ) from None
        D = self._denominator
        sums = {i: drive[i] * D for i in positive}
        for j, n in self._numerators.items():
            for i, w in columns[j]:
                sums[i] = (sums[i] if i in sums else drive[i] * D) + w * n
        slopes: dict[int, tuple[int, int]] = {}
        for j, (real, slope) in self._slopes.items():
            for i, w in columns[j]:
                other, before = slopes.get(i, (real, 0))
                if other != real and before:
                    raise ValueError(f"the unit {self.rnn.unit_names[i]!r} depends on two reals, whose sum has no tail")
                slopes[i] = real, before + w * slope
                sums.setdefault(i, drive[i] * D)
        self._numerators, self._slopes = sums, {i: pair for i, pair in slopes.items() if pair[1]}
        self._denominator = D * scale

    def _settle(self, unit: int) -> None:
        """The activation of a unit; that of what is settled already is itself."""
        if unit in self._slopes:
            if not self._reaches(unit, 0):
                self._fix(unit, 0)
            elif self.rnn.activation == "slu" and self._reaches(unit, 1):
                self._fix(unit, self._denominator)
        elif (n := self._numerators.get(unit, 0)) <= 0:
            self._numerators.pop(unit, None)
        elif self.rnn.activation == "slu":
            self._numerators[unit] = min(n, self._denominator)

    def _fix(self, unit: int, numerator: int) -> None:
        del self._slopes[unit]
        self._numerators[unit] = numerator
        if not numerator:
            del self._numerators[unit]

    def _reaches(self, unit: int, bound: int) -> bool:
        """Whether it is at least ``bound`` for every tail, or else at most that, after looking as often as needed."""
        for spare in range(self.max_digits, -1, -1):
            above = self._numerators[unit] - bound * self._denominator
            real, slope = self._slopes[unit]
            if min(above, above + slope) >= 0:
                return True
            if max(above, above + slope) <= 0:
                return False
            if spare:
                self._look(real)
        raise UndecidedError(
            f"{self.max_digits} more digits do not tell on which side of {bound} "
            f"the unit {self.rnn.unit_names[unit]!r} is"
        )

    def _look(self, real: int) -> None:
        """One digit more: tail = (digit + new tail) / B in all that depends on it."""
        reader = self._seen[real]
        digit, base = reader.look(), reader.stream.base
        if any(slope % base for other, slope in self._slopes.values() if other == real):
            self._scale(lambda n: n * base)
        for unit, (other, slope) in self._slopes.items():
            if other == real:
                self._slopes[unit] = real, slope // base
                self._numerators[unit] += digit * (slope // base)

    def _scale(self, scaled: Callable[[int], int]) -> None:
        self._denominator = scaled(self._denominator)
        self._numerators = {unit: scaled(n) for unit, n in self._numerators.items()}
        self._slopes = {unit: (real, scaled(slope)) for unit, (real, slope) in self._slopes.items()}

    @cached_property
    def _integers(self) -> tuple[list[list[tuple[int, int]]], dict[int | None, tuple[list[int], list[int]]], int]:
        """Over the common denominator M of W, U and b: W by columns; for each input its drives U x + b, and which of
        them are positive; M.
        """
        W, U, b = self.rnn.W, self.rnn.U, self.rnn.b
        scale = common_denominator(chain(W.entries.values(), U.entries.values(), b))
        columns = [[(i, int(w * scale)) for i, w in W.column(j).items()] for j in range(self.rnn.units)]
        drives: dict[int | None, tuple[list[int], list[int]]] = {}
        for symbol in (None, *range(self.rnn.input_size)):
            column: Mapping[int, Number] = {} if symbol is None else U.column(symbol)
            drive = [int((value + column.get(i, 0)) * scale) for i, value in enumerate(b)]
            drives[symbol] = drive, [i for i, value in enumerate(drive) if value > 0]
        return columns, drives, scale


class _Sums(Iterator[Value]):
    """What a readout makes of the states of a run; as long as the run is."""

    def __init__(self, run: LazyRun, weights: Mapping[int, Number]) -> None:
        self._run, self._weights = run, weights

    def __length_hint__(self) -> int:
        return length_hint(self._run)

    def __next__(self) -> Value:
        run = self._run
        run._advance()
        if run._sums:
            for unit in self._weights:
                run._settle(unit)
        return sum((run._value(j) * value for j, value in self._weights.items()), start=0)
