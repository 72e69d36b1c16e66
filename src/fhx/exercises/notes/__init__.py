"""What a course needs to know of an exercise beside the task: points, time, a hint, mistakes; a TOML file a chapter.

``schema.json`` says what such a file holds. The code of a mistake is a wrong answer that :func:`check` finds out.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Mistake", "Notes", "notes_of"]


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer.

    Attributes:
        says: one sentence that names what is wrong.
        code: the function, with the imports that it needs.
    """

    says: str
    code: str


@dataclass(frozen=True)
class Notes:
    """What a course needs to know of an exercise.

    Attributes:
        points: for a right answer.
        difficulty: ``"one line"``, ``"a few lines"``, ``"a page"`` or ``"project"``.
        minutes: that a student of the chapter needs.
        teaches: one sentence.
        hint: what to look at, for who has failed twice; not the answer.
        mistakes: at least one.
        looks_for: of an open-ended exercise, what a marker looks for beside what :func:`check` sees.
    """

    points: int
    difficulty: str
    minutes: int
    teaches: str
    hint: str
    mistakes: tuple[Mistake, ...]
    looks_for: tuple[str, ...] = ()


@cache
def _chapter(number: str) -> dict[str, Notes]:
    file = files(__name__) / f"{number}.toml"
    return {entry.pop("id"): _notes(**entry) for entry in tomllib.loads(file.read_text("utf-8"))["exercises"]}


def _notes(mistakes: list[dict[str, str]], looks_for: list[str] | None = None, **entry: Any) -> Notes:
    return Notes(mistakes=tuple(Mistake(**one) for one in mistakes), looks_for=tuple(looks_for or ()), **entry)


def notes_of(exercise: str) -> Notes:
    """The notes of an exercise of the book.

    Raises:
        KeyError: there are none.
    """
    return _chapter(exercise[:2])[exercise]
