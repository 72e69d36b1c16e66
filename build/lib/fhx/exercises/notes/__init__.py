"""What a course needs to know about an exercise beyond its task: points, time, a hint, mistakes.

There is one TOML file per chapter, and ``schema.json`` says what it holds. The code of a mistake is a wrong answer that
:func:`fhx.exercises.check` detects.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

__all__ = ["Mistake", "Notes", "read_notes"]


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
    """What a course needs to know about an exercise.

    Attributes:
        points: for a right answer.
        difficulty: ``"one line"``, ``"a few lines"``, ``"a page"`` or ``"project"``.
        minutes: how long a student of the chapter needs.
        teaches: one sentence.
        hint: what to look at, for those whose answer failed; not the answer.
        mistakes: at least one.
        looks_for: of an open-ended exercise, what a marker looks for beside what :func:`fhx.exercises.check` sees.
    """

    points: int
    difficulty: str
    minutes: int
    teaches: str
    hint: str
    mistakes: tuple[Mistake, ...]
    looks_for: tuple[str, ...] = ()


def read_notes(chapter: int) -> dict[str, Notes]:
    """The notes of a chapter's exercises, by the ids of these."""
    text = (files(__name__) / f"{chapter:02}.toml").read_text("utf-8")
    return {entry.pop("id"): _notes(**entry) for entry in tomllib.loads(text)["exercises"]}


def _notes(mistakes: list[dict[str, str]], looks_for: list[str] | None = None, **entry: Any) -> Notes:
    return Notes(mistakes=tuple(Mistake(**one) for one in mistakes), looks_for=tuple(looks_for or ()), **entry)
