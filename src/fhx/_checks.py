"""Checks of arguments that many modules share: the value as a plain number, or a ``ValueError`` that names it."""

import operator
from math import inf
from typing import SupportsIndex

__all__ = ["at_least", "non_negative", "positive", "positive_number"]


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
    if not 0 < value < inf:
        raise ValueError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def non_negative(name: str, value: float) -> float:
    """``value`` as a float that is finite and at least 0."""
    if not 0 <= value < inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return float(value)
