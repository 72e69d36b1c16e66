"""What a compiler is given, checked before it starts."""

from collections.abc import Mapping
from typing import TypeVar

__all__ = ["check_choice", "check_kind"]

T = TypeVar("T")


def check_kind(value: object, kind: type, compiler: str) -> None:
    """Raises a TypeError that says what a compiler needs, unless the value is of that kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{compiler} needs a {kind.__name__}, not the {type(value).__name__} {value!r}")


def check_choice(value: str, known: Mapping[str, T], name: str) -> T:
    """What the value stands for; a ValueError if it is not among what is known."""
    if value not in known:
        raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, got {value!r}")
    return known[value]
