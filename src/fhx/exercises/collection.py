"""All exercises of the book, of which a chapter is read when one of its own is asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from fhx.exercises.notes import read_notes
from fhx.exercises.record import Exercise

__all__ = ["CHAPTERS", "EXERCISES", "Exercises", "of_chapter", "unknown"]

CHAPTERS = range(1, 14)
"""The numbers of the chapters."""


@cache
def of_chapter(number: int) -> Mapping[str, Exercise]:
    """The exercises of a chapter by id, in the order of the book."""
    notes = read_notes(number)
    exercises: tuple[Exercise, ...] = import_module(f"fhx.exercises.chapter_{number:02}").EXERCISES
    return {exercise.id: replace(exercise, notes=notes[exercise.id]) for exercise in exercises}


class Exercises(Mapping[str, Exercise]):
    """A mapping from ids, which begin with the number of a chapter as ``"03-hat"`` does, to exercises.

    What an exercise is checked with may take a second to import: only the chapter of an id is.
    """

    def __getitem__(self, id_: str) -> Exercise:
        number, _, _ = str(id_).partition("-")
        known = of_chapter(int(number)) if number.isdecimal() and int(number) in CHAPTERS else {}
        return known[id_]

    def __iter__(self) -> Iterator[str]:
        return (id_ for number in CHAPTERS for id_ in of_chapter(number))

    def __len__(self) -> int:
        return sum(len(of_chapter(number)) for number in CHAPTERS)


EXERCISES = Exercises()
"""All exercises by id, in the order of the book."""


def unknown(id_: str) -> str:
    """What to say of an id that is none: the three known ones that are nearest, and how to list those of a chapter."""
    nearest = get_close_matches(id_, EXERCISES, n=3, cutoff=0)
    given = (int(part) for part in id_.split("-") if part.isdecimal() and int(part) in CHAPTERS)
    number, (first, second, third) = next(given, int(nearest[0][:2])), map(repr, nearest)
    those = f'[id for id in EXERCISES if id.startswith("{number:02}-")]'
    near = f"there is no exercise {id_[:40]!r}; the nearest are {first}, {second} and {third}"
    return f"{near}. To list chapter {number}: {those}, with EXERCISES from fhx.exercises"
