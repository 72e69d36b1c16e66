"""All exercises of the book, of which a chapter is read when one of its own is asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module

from fhx.exercises.notes import read_notes
from fhx.exercises.record import Exercise

__all__ = ["CHAPTERS", "EXERCISES", "Exercises", "of_chapter"]

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
