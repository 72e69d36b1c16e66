r"""Real numbers digit by digit, and what a computation knows of them.

A real number of [0, 1] is a function from places to digits, :math:`x = \sum_{t \ge 1} d_t / B^t`. Of its first n digits
known, the rest is a **tail** in [0, 1] of which nothing else is known,

.. math:: x = \sum_{t=1}^{n} \frac{d_t}{B^t} + \frac{1}{B^n} \sum_{t \ge 1} \frac{d_{n + t}}{B^t}.

A computation that starts from x and goes on in exact numbers holds values :math:`\alpha\, \mathrm{tail} + \beta` only,
as long as each ReLU is either open or closed on all of the range that this leaves. Where it is not, one digit more is
looked at, and the range becomes B times as short. So finitely many steps look at finitely many digits, and they can be
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import SupportsIndex

from attrs import Factory, define, field, frozen

from fhx._checks import at_least
from fhx.exact.numbers import Exact, Number, number

__all__ = ["DigitStream", "LazyReal", "UndecidedError"]

MAX_DIGITS = 64
"""How many digits one ReLU may ask for, unless told otherwise."""


class UndecidedError(ArithmeticError):
    """A ReLU's argument is so close to 0 that no digit looked at tells its sign; if it is 0, none ever does."""


def _base(base: SupportsIndex) -> int:
    return at_least("the base", base, 2)


@frozen
class DigitStream:
    r"""The real number :math:`x = \sum_{t \ge 1} d_t / B^t` of [0, 1].

    Args:
        digit_at: t to :math:`d_t`, an integer from 0 to B - 1, for :math:`t = 1, 2, \dots`
        base: B, at least 2.

    Raises:
        ValueError: the base is not an integer of at least 2.
    """

    digit_at: Callable[[int], int]
    base: int = field(converter=_base)

    def digit(self, t: int) -> int:
        """The digit in place t.

        Raises:
            ValueError: there is no such place, or what is there is not a digit.
        """
        if t < 1:
            raise ValueError(f"digits have the places 1, 2, ..., and not {t}")
        digit = self.digit_at(t)
        if type(digit) is not int or not 0 <= digit < self.base:
            raise ValueError(f"digit {t} must be an integer from 0 to {self.base - 1}, got {digit!r}")
        return digit

    def truncated(self, digits: int) -> Fraction:
        """The rational number with the first ``digits`` digits, and zeros behind them."""
        numerator = 0
        for t in range(1, digits + 1):
            numerator = numerator * self.base + self.digit(t)
        return Fraction(numerator, self.base**digits)

    def lazy(self) -> LazyReal:
        """The number with none of its digits looked at yet, for one computation."""
        return LazyReal(SeenDigits(self), 0, 1, 0)


@define(eq=False)
class SeenDigits:
    """The digits of a number that a computation has looked at so far."""

    stream: DigitStream
    digits: list[int] = Factory(list)

    def look(self) -> int:
        """The next digit."""
        self.digits.append(self.stream.digit(len(self.digits) + 1))
        return self.digits[-1]


@frozen(eq=False)
class LazyReal:
    r"""The number :math:`\alpha\, \mathrm{tail} + \beta`, where the tail lies behind the first digits of a stream.

    It can be added to an exact number or to one of the same stream, and multiplied by an exact number; what no longer
    depends on the tail is an exact number again. ``stream.lazy()`` makes the first; all that comes from it shares the
    digits looked at.

    Attributes:
        seen: the digits of the stream that were looked at.
        place: how many digits lie before the tail.
        slope: :math:`\alpha`, not 0.
        offset: :math:`\beta`.
    """

    seen: SeenDigits = field(repr=False)
    place: int
    slope: Number
    offset: Number

    @property
    def digits_read(self) -> int:
        """How many digits of the stream were looked at so far, here or in what shares them."""
        return len(self.seen.digits)

    def bounds(self) -> tuple[Number, Number]:
        """The smallest and the largest number that it can be, by the digits looked at."""
        ends = self.offset, self.offset + self.slope
        if self.place < self.digits_read:
            now = self._now()
            ends = now.offset, now.offset + now.slope
        return min(ends), max(ends)

    def at(self, tail: Number) -> Number:
        """The exact number that it is if the tail is that number."""
        return _plain(self.slope * tail + self.offset)

    def relu(self, max_digits: int = MAX_DIGITS) -> LazyReal | Number:
        """Itself if it is at least 0 for every tail, 0 if it is at most 0 for every tail, else the same after
        one more look.

        Raises:
            UndecidedError: ``max_digits`` more digits did not tell. Whether a real number is positive cannot be
                decided in general: if all its digits are 0, looking has no end.
        """
        value = self._now()
        for spare in range(max_digits, -1, -1):
            if value.offset >= 0 and value.offset + value.slope >= 0:
                return value
            if value.offset <= 0 and value.offset + value.slope <= 0:
                return 0
            if spare:
                value.seen.look()
                value = value._now()
        raise UndecidedError(f"{max_digits} more digits do not tell whether {value!r} is positive")

    def _now(self) -> LazyReal:
        """The same number, its tail behind the last digit looked at."""
        if self.place == self.digits_read:
            return self
        slope, offset, base = self.slope, self.offset, self.seen.stream.base
        for digit in self.seen.digits[self.place :]:
            slope = slope // base if type(slope) is int and slope % base == 0 else Fraction(slope) / base
            offset += digit * slope
        return LazyReal(self.seen, self.digits_read, slope, _plain(offset))

    def _affine(self, slope: Number, offset: Number) -> LazyReal | Number:
        return LazyReal(self.seen, self.place, _plain(slope), _plain(offset)) if slope else _plain(offset)

    def __add__(self, other: LazyReal | Exact) -> LazyReal | Number:
        if not isinstance(other, LazyReal):
            return LazyReal(self.seen, self.place, self.slope, _plain(self.offset + number(other, "a summand")))
        if self.seen is not other.seen:
            raise ValueError("the sum of two reals has no tail of its own: a unit may depend on one real only")
        if self.place == other.place:
            return self._affine(self.slope + other.slope, self.offset + other.offset)
        return self._now() + other._now()

    __radd__ = __add__

    def __mul__(self, factor: Exact) -> LazyReal | Number:
        k = number(factor, "a factor")
        return self._affine(self.slope * k, self.offset * k)

    __rmul__ = __mul__

    def __neg__(self) -> LazyReal | Number:
        return self * -1

    def __sub__(self, other: LazyReal | Exact) -> LazyReal | Number:
        return self + (-other if isinstance(other, LazyReal) else -number(other, "a summand"))

    def __rsub__(self, other: Exact) -> LazyReal | Number:
        return -self + number(other, "a summand")


def _plain(value: Number) -> Number:
    """The same number, as an ``int`` where it is one."""
    return value.numerator if type(value) is Fraction and value.denominator == 1 else value
