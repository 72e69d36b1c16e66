"""Checks of arguments that many modules share: the value, numbers as plain ones, or a ``ValueError`` that names it."""

import operator
from collections.abc import Collection
from math import isfinite, nan
from typing import SupportsIndex, TypeVar

__all__ = [
    "all_at_least_zero",
    "at_least",
    "at_least_zero",
    "check_kind",
    "non_negative",
    "one_of",
    "positive",
    "positive_number",
]

T = TypeVar("T")


def positive(name: str, value: SupportsIndex) -> int:
    """``value`` as an integer of at least 1."""
    return at_least(name, value, 1)


def at_least(name: str, value: SupportsIndex, least: int) -> int:
    """``value`` as an integer of at least ``least``; neither a float nor a truth value is an integer."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return number


def positive_number(name: str, value: float) -> float:
    """``value`` as a float that is positive and finite."""
    number = _finite(value)
    if not number > 0:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """``value`` as a float that is finite and at least 0."""
    number = _finite(value)
    if not number >= 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def at_least_zero(name: str, value: float) -> float:
    """``value``, which is a number of at least 0, and may be infinite."""
    try:
        right = bool(value >= 0)
    except (TypeError, ValueError, RuntimeError):  # arrays have no one truth value
        right = False
    if not right:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    return value


def all_at_least_zero(**values: float) -> None:
    """Each of these is a number of at least 0, and may be infinite."""
    for name, value in values.items():
        at_least_zero(name, value)


def one_of(name: str, value: T, known: Collection[T]) -> T:
    """``value``, which is among what is known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def _finite(value: float) -> float:
    """``value`` as a float; nan for anything that is not a finite number."""
    try:
        return float(value) if isfinite(value) else nan
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return nan


def check_kind(value: object, kind: type, function: str) -> None:
    """Raise a TypeError that says what a function needs, unless the value is of that kind."""
    if not isinstance(value, kind):
        shown = text if len(text := repr(value)) <= 80 else f"{text[:77]}..."
        raise TypeError(f"{function} needs a {kind.__name__}, not the {type(value).__name__} {shown}")
