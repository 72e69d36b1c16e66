"""What a net that reads end marks for ever says: outputs without an end, and the one answer among them."""

from collections.abc import Iterable
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from fhx._checks import at_least
from fhx.exact.numbers import Number

__all__ = ["Answer", "Endless", "first_answer"]

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
        ValueError: ``max_steps`` is not an integer of at least 0.
    """
    after = islice(outputs, length, length + at_least("max_steps", max_steps, 0))
    return next((Answer(value, T) for T, value in enumerate(after, start=1) if value), None)
