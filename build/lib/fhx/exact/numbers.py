"""Exact numbers: integers and fractions. What was rounded once is refused, since no proof survives it."""

import operator
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Literal, SupportsIndex

import numpy as np

Activation = Literal["relu", "slu"]
"""The rectified linear unit, or the saturated one."""

Number = int | Fraction
Exact = SupportsIndex | Fraction
"""What becomes a ``Number``: the integers of numpy and torch too."""


def number(value: object, name: str) -> Number:
    """The exact number, as an ``int`` where it is a whole one; numpy's integers are fine.

    Args:
        value: what should be a number.
        name: what the number is, for the error.

    Raises:
        TypeError: it is a float, a bool or anything else that is neither an integer nor a ``Fraction``.
    """
    if type(value) is int:
        return value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, SupportsIndex) and not isinstance(value, bool | np.bool_):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} is the {type(value).__name__} {value}: exact numbers are integers and Fractions")


def vector(values: Iterable[object], name: str, length: int | None = None) -> tuple[Number, ...]:
    """A tuple of exact numbers.

    Raises:
        TypeError: an entry is not an exact number.
        ValueError: there are not ``length`` entries.
    """
    numbers = tuple(number(value, f"{name}[{i}]") for i, value in enumerate(values))
    if length is not None and len(numbers) != length:
        raise ValueError(f"{name} has {len(numbers)} entries, but {length} are needed")
    return numbers


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """The sum of products of two vectors of one length."""
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)


def size(value: Number) -> Number:
    """Its absolute value, as a number still."""
    return -value if value < 0 else value


def common_denominator(numbers: Iterable[Number]) -> int:
    """The least positive integer that makes all of them whole."""
    return lcm(*{number.denominator for number in numbers})


def quotient(numerator: int, denominator: int) -> Number:
    """``numerator / denominator``, as an ``int`` where it is one."""
    if denominator == 1:
        return numerator
    value = Fraction(numerator, denominator)
    return value.numerator if value.denominator == 1 else value
