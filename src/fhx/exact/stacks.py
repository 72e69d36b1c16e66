r"""A stack in one vector of numbers: the Cantor encoding, and its operations as affine and piecewise linear maps.

In base :math:`B \ge 3` a stack over the symbols :math:`a_1, \dots, a_k`, written top first, is a vector with one number
per symbol,

.. math:: \mathrm{stack}(\epsilon) = 0, \qquad
   \mathrm{stack}(a_j z) = \tfrac{B-1}{B} e_j + \tfrac{1}{B} \mathrm{stack}(z).

So component j has, in base B, the digit B - 1 in place t if the t-th symbol is :math:`a_j`, and else the digit 0: it is
a number of the Cantor set of base B, all of them for infinite stacks. **The margin.** Such a number is at most 1 / B
if its first digit is 0, for then it is 1 / B of a number of [0, 1], and at least (B - 1) / B if that digit is B - 1.
Between these lies a gap of width :math:`(B - 2) / B`, in which a continuous function can rise from 0 to 1, and that
function is the top of the stack. For B = 2 the gap is empty, 0.1000... = 0.0111... in binary, and no continuous
function tells the two apart.

With more digits one number will do for all symbols: :func:`pack` uses the even ones, 2 j for the j-th symbol.

Source: (4.22)-(4.26) of the lecture notes, with B = 3, where (4.26) subtracts the top once and not B - 1 times: of the
stack :math:`a_j` it makes 1 and not 0. Siegelmann and Sontag (1995) use B = 4 and the digits 1 and 3.
"""

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import SupportsIndex

from fhx._checks import at_least
from fhx.exact.expression import Expression, as_expression
from fhx.exact.formulas import slu
from fhx.exact.numbers import Exact, Number, common_denominator, number, vector

__all__ = ["check_base", "decode", "encode", "margin", "pack", "pop", "push", "sharpened", "top", "unpack"]


def encode(word: Iterable[Hashable], alphabet: Sequence[Hashable], base: int = 3) -> tuple[Fraction, ...]:
    r"""The stack of a word, top first, as one number per symbol of the alphabet.

    A symbol outside the alphabet is the zero digit in all components, if it is None: a blank.

    Raises:
        ValueError: a symbol is neither in the alphabet nor None, or the base is below 3.
    """
    base = check_base(base)
    places = {symbol: j for j, symbol in enumerate(alphabet)}
    numerators, denominator = [0] * len(places), 1
    for symbol in word:
        denominator *= base
        numerators = [n * base for n in numerators]
        if symbol is not None:
            if symbol not in places:
                raise ValueError(f"symbol {symbol!r} is outside the alphabet {tuple(alphabet)}")
            numerators[places[symbol]] += base - 1
    return tuple(Fraction(n, denominator) for n in numerators)


def decode(numbers: Sequence[Exact], alphabet: Sequence[Hashable], base: int = 3) -> tuple[Hashable, ...]:
    """The word of a stack, top first; None stands for a place in which all components have the digit 0.

    Raises:
        TypeError: a component is not an exact number.
        ValueError: there is not one number per symbol, the base is below 3, or the vector does not encode a finite
            stack.
    """
    base = check_base(base)
    z = vector(numbers, "the stack", len(alphabet))
    denominator, length = common_denominator(z), 0
    while base**length % denominator and length < denominator.bit_length():
        length += 1
    left: tuple[Number, ...] = tuple(value * base**length for value in z)
    word: list[Hashable] = []
    for _ in range(length):
        left, digits = zip(*(divmod(value, base) for value in left), strict=True)
        symbols = [symbol for symbol, digit in zip(alphabet, digits, strict=True) if digit == base - 1]
        if any(digit not in (0, base - 1) for digit in digits) or len(symbols) > 1:
            break
        word.append(symbols[0] if symbols else None)
    if len(word) < length or any(left):
        raise ValueError(f"({', '.join(map(str, z))}) does not encode a finite stack in base {base}")
    return tuple(reversed(word))


def pack(word: Iterable[Hashable], alphabet: Sequence[Hashable], base: int) -> Fraction:
    r"""The stack of a word, top first, in one number: the digit 2 j in place t if the t-th symbol is the j-th.

    :math:`\sum_t 2 j_t B^{-t}` with :math:`B \ge 2 k + 1` for k symbols. Numbers whose first digit is at most
    2 (j - 1) are at most (2 j - 1) / B, and those where it is at least 2 j are at least 2 j / B.

    A symbol that is None is the digit 0: a blank.

    Raises:
        ValueError: a symbol is neither in the alphabet nor None, or the base is below 3 or 2 k + 1.
    """
    base = at_least("the base", base, max(3, 2 * len(alphabet) + 1))
    digits = {None: 0} | {symbol: 2 * j for j, symbol in enumerate(alphabet, 1)}
    numerator, denominator = 0, 1
    for symbol in word:
        if symbol not in digits:
            raise ValueError(f"symbol {symbol!r} is outside the alphabet {tuple(alphabet)}")
        numerator, denominator = numerator * base + digits[symbol], denominator * base
    return Fraction(numerator, denominator)


def unpack(value: Exact, alphabet: Sequence[Hashable], base: int) -> tuple[Hashable, ...]:
    """The word of a stack in one number, top first; None stands for the digit 0.

    Raises:
        TypeError: the number is not exact.
        ValueError: the base is below 3 or 2 k + 1, or the number does not encode a finite stack.
    """
    base = at_least("the base", base, max(3, 2 * len(alphabet) + 1))
    symbols: dict[int, Hashable] = {0: None} | {2 * j: symbol for j, symbol in enumerate(alphabet, 1)}
    rest, digits = Fraction(number(value, "the stack")), list[int]()
    places = rest.denominator.bit_length()  # a finite stack has fewer
    while rest and len(digits) < places:
        digit, rest = divmod(base * rest, 1)
        digits.append(digit)
    if rest or not symbols.keys() >= set(digits):
        raise ValueError(f"{value} does not encode a finite stack of {len(alphabet)} symbols in base {base}")
    return tuple(symbols[digit] for digit in digits)


def push(z: Expression, bit: Expression | Exact, base: int = 3) -> Expression:
    r"""A component after a push, :math:`\frac{1}{B} z + \frac{B-1}{B} \mathrm{bit}`; the bit says whether its symbol is
    the one pushed.
    """
    base = check_base(base)
    return Fraction(1, base) * z + Fraction(base - 1, base) * as_expression(bit)


def pop(z: Expression, bit: Expression, base: int = 3) -> Expression:
    r"""A component after a pop, :math:`B z - (B - 1)\, \mathrm{bit}`; the bit says whether its symbol is on top.

    It is affine where the top is known, and in [0, 1]. The empty stack stays as it is.
    """
    base = check_base(base)
    return base * z - (base - 1) * bit


def top(z: Expression, base: int = 3) -> Expression:
    r"""Whether its symbol is on top, :math:`\mathrm{slu}\big(\frac{B z - 1}{B - 2}\big)`, 0 or 1 on stacks."""
    return slu(sharpened(z, base))


def sharpened(z: Expression, base: int = 3) -> Expression:
    r""":math:`\frac{B z - 1}{B - 2}`, which is in :math:`[-\frac{1}{B-2}, 0]` where the symbol is not on top and in
    :math:`[1, \frac{B-1}{B-2}]` where it is.
    """
    base = check_base(base)
    return Fraction(base, base - 2) * z - Fraction(1, base - 2)


def margin(base: int = 3) -> Fraction:
    """The width :math:`(B - 2) / B` of the gap between stacks with a symbol on top and without."""
    base = check_base(base)
    return Fraction(base - 2, base)


def check_base(base: SupportsIndex) -> int:
    """The base as an integer; a ValueError unless it is at least 3, since below that stacks have no margin."""
    return at_least("the base", base, 3)
