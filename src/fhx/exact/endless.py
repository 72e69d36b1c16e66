"""What a net that reads end marks for ever says: outputs without an end, and the one answer among them."""

from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from fhx.exact.numbers import Number

__all__ = ["Answer", "Endless", "check_max_steps", "first_answer"]

T = TypeVar("T")


class Endless(chain[T]):
    """An iterator without an end; ``list`` and ``tuple``, which would wait for it for ever, are refused at once.

    Raises:
        OverflowError: in ``list`` and the like.
    """

    def __length_hint__(self) -> int:
        raise OverflowError("this goes on for ever: take a part of it, for example by itertools.islice")


class Answer(NamedTuple):
    """What a net answered, 1 or -1, and how many end marks it had read by then: T of Theorem 4.6."""

    value: Number
    steps: int


def first_answer(outputs: Iterable[Number], length: int, max_steps: int) -> Answer | None:
    """The first output that is not 0 after those of a word of that length, if it comes within ``max_steps`` end marks.

    Raises:
        ValueError: ``max_steps`` is negative.
    """
    check_max_steps(max_steps)
    after = islice(outputs, length, length + max_steps)
    return next((Answer(value, T) for T, value in enumerate(after, start=1) if value), None)


def check_max_steps(max_steps: int) -> None:
    """Raises a ValueError if ``max_steps`` is negative."""
    if max_steps < 0:
        raise ValueError(f"a run has at least 0 steps, not {max_steps}")
