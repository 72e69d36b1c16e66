"""The exercises that a course knows: the book's, an instructor's own from a file, and the variant of one student."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fhx.course import CourseError
from fhx.course.grading.csv_files import read_rows
from fhx.course.grading.texts import folded
from fhx.exercises import EXERCISES, Exercise, check
from fhx.exercises.collection import CHAPTERS, of_chapter

__all__ = [
    "Source",
    "check_seed",
    "exercises_of",
    "joined",
    "known",
    "own_exercises",
    "read_own",
    "read_students",
    "variant_of",
]

Source = tuple[str, str]
"""Name and text of a file with exercises."""
ID = re.compile(r"[0-9]{2}-[a-z0-9]+(-[a-z0-9]+)*")
SIGNATURE = re.compile(r"[^\W\d]\w*\([^\n]*\)")
DRAWS = 3
"""Random cases on which an oracle is tried, and students whose variant is."""
_JOINED: ContextVar[tuple[Source, ...]] = ContextVar("joined", default=())


def known() -> Mapping[str, Exercise]:
    """All exercises by id, in the order of the book; those that were joined come last."""
    own = own_exercises(_JOINED.get())
    return MappingProxyType({**EXERCISES, **own}) if own else EXERCISES


def exercises_of(number: int, own: tuple[Source, ...] = ()) -> Mapping[str, Exercise]:
    """Those of one chapter by id, an instructor's last; none if there is no such chapter. No other one is imported."""
    book = of_chapter(number) if number in CHAPTERS else {}
    return {**book, **{id_: one for id_, one in own_exercises(own).items() if int(id_[:2]) == number}}


@contextmanager
def joined(own: Sequence[Source]) -> Iterator[None]:
    """For as long as it is open, :func:`known` has these too."""
    before = _JOINED.set(tuple(own))
    try:
        yield
    finally:
        _JOINED.reset(before)


def read_own(path: Path | None) -> tuple[Source, ...]:
    """An instructor's own exercises: a ``.py`` file, or a folder of such files, each of which can stand alone.

    A file defines ``EXERCISES``, a list or tuple of :class:`fhx.exercises.Exercise`, made as the book's are. Of each is
    asked that

    - its id is like ``20-power``, and no other exercise has it: two digits, for which ``--chapter`` stands, and a name;
    - its function is no other exercise's of that number;
    - its notes are there, with points, minutes, difficulty and what it teaches. Hint and mistakes may be empty;
    - the oracle has a value for all stated cases, and for some that ``sample`` draws;
    - ``solution``, if there is one, is the code of a right answer;
    - ``variant``, if there is one, makes exercises of which the same is true, with the same id, title, function, inputs
      and notes. It gets a generator of a student's own; ``parameters`` of what it makes stand below the statement.

    The files are run with all rights of whoever calls this.

    Raises:
        CourseError: a file cannot be read or run, or an exercise is not as it must be.
    """
    if path is None:
        return ()
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    if not files:
        raise CourseError(f"there is no .py file in {path}")
    try:
        own = tuple((file.name, file.read_text("utf-8")) for file in files)
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found = dict[str, Exercise]()
    for source in own:
        for exercise in _defined(source):
            _try_own(source[0], exercise, found)
            found[exercise.id] = exercise
    return own


@cache
def own_exercises(own: tuple[Source, ...]) -> Mapping[str, Exercise]:
    """The exercises of files that :func:`read_own` has read, by their ids."""
    return MappingProxyType({exercise.id: exercise for source in own for exercise in _defined(source)})


def variant_of(exercise: Exercise, seed: str, student: str) -> Exercise:
    """The exercise of one student: itself if it has no variants."""
    if exercise.variant is None:
        return exercise
    digest = hashlib.sha256(json.dumps([seed, student, exercise.id]).encode()).digest()
    return exercise.variant(np.random.default_rng(int.from_bytes(digest, "big")))


SHORTEST_SEED = 12
"""Characters of a seed; a short one could be found by trying all."""


def check_seed(seed: str) -> None:
    """Raise a ``CourseError`` if a seed is short."""
    if len(seed) < SHORTEST_SEED:
        raise CourseError(f"the seed {seed!r} could be guessed: take a text of at least {SHORTEST_SEED} characters")


def read_students(path: Path) -> tuple[str, ...]:
    """The column ``student`` of a table: names as those of the files, or folders, that are handed in.

    Raises:
        CourseError: there is no such column, or nobody in it, or a name is there twice or is none of a file.
    """
    seen = dict[str, str]()
    for row in read_rows(path, ["student"]):
        name = row["student"]
        if not name or name.startswith(".") or any(sign in name for sign in "/\\\0"):
            raise CourseError(f"{row.place}: {name!r} cannot be the name of a file")
        if folded(name) in seen:
            raise CourseError(f"{row.place}: {seen[folded(name)]} is there before, and {name} is the same name")
        seen[folded(name)] = name
    if not seen:
        raise CourseError(f"{path} names no student")
    return tuple(seen.values())


@cache
def _defined(source: Source) -> tuple[Exercise, ...]:
    """What a file calls ``EXERCISES``."""
    name, text = source
    space: dict[str, Any] = {"__name__": Path(name).stem}
    try:
        exec(compile(text, name, "exec"), space)
    except Exception as error:
        raise CourseError(f"{name} cannot be run: {type(error).__name__}: {error}") from error
    exercises = space.get("EXERCISES")
    if not isinstance(exercises, list | tuple) or not exercises:
        raise CourseError(f"{name}: it must define EXERCISES, a list of exercises")
    if other := [one for one in exercises if not isinstance(one, Exercise)]:
        raise CourseError(f"{name}: {other[0]!r} in EXERCISES is not an Exercise of fhx.exercises")
    return tuple(exercises)


def _try_own(file: str, exercise: Exercise, before: Mapping[str, Exercise]) -> None:
    """Refuse an exercise that is not as :func:`read_own` says."""
    if not isinstance(exercise.id, str) or not ID.fullmatch(exercise.id):
        raise CourseError(f"{file}: the id {exercise.id!r} is not two digits and a name, as 20-power")
    if exercise.id in EXERCISES or exercise.id in before:
        raise CourseError(f"{file}: {exercise.id} is {'the book’s' if exercise.id in EXERCISES else 'there twice'}")
    for other in (*EXERCISES.values(), *before.values()):
        if (other.id[:2], other.function) == (exercise.id[:2], exercise.function):
            raise CourseError(f"{file}: {exercise.id} asks for {exercise.function}, as {other.id} does")
    if problem := _problem(exercise):
        raise CourseError(f"{file}: {exercise.id}: {problem}")
    for number in range(DRAWS if exercise.variant else 0):
        if problem := _variant_problem(exercise, f"student {number}"):
            raise CourseError(f"{file}: {exercise.id}: a variant: {problem}")


def _problem(exercise: Exercise) -> str:
    """What is wrong with an exercise; empty if nothing is."""
    if not SIGNATURE.fullmatch(exercise.signature):
        return f"the signature {exercise.signature!r} names no function; it is like power(x)"
    if exercise.notes is None:
        return "it has no notes"
    if not exercise.cases:
        return "it states no case"
    cases = list(exercise.cases)
    try:
        cases += [exercise.sample(np.random.default_rng(seed)) for seed in range(DRAWS) if exercise.inputs]
    except Exception as error:
        return f"sample draws no case: {type(error).__name__}: {error}"
    for number, case in enumerate(cases, 1):
        which = f"case {number}" if number <= len(exercise.cases) else "a case that sample draws"
        if not isinstance(case, tuple) or len(case) != len(exercise.inputs):
            return f"{which}, {case!r}, is not a tuple with a value for each of its {len(exercise.inputs)} inputs"
        try:
            exercise.oracle(*case)
        except Exception as error:
            return f"the oracle has no value for {which}, {case!r}: {type(error).__name__}: {error}"
    return _solution_problem(exercise) if exercise.solution else ""


def _solution_problem(exercise: Exercise) -> str:
    space: dict[str, Any] = {}
    try:
        exec(compile(exercise.solution or "", f"<solution of {exercise.id}>", "exec"), space)
    except Exception as error:
        return f"its solution cannot be run: {type(error).__name__}: {error}"
    if not callable(answer := space.get(exercise.function)):
        return f"its solution does not define {exercise.function}"
    result = check(replace(exercise, notes=None), answer)
    return "" if result else f"its solution is not right: {result.message}"


def _variant_problem(exercise: Exercise, student: str) -> str:
    try:
        made = variant_of(exercise, "a seed to try", student)
    except Exception as error:
        return f"it cannot be made: {type(error).__name__}: {error}"
    if not isinstance(made, Exercise):
        return f"{made!r} is not an Exercise"
    for name in ("id", "title", "function", "inputs", "notes"):
        if getattr(made, name) != getattr(exercise, name):
            return f"its {name} is not that of the exercise"
    return _problem(made) or ("" if made.parameters else "it has no parameters, so a student would not know of it")
