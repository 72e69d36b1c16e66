"""What a batch is graded by, and what an answer gets."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fhx.course.grading.sandbox import Launcher, Limits
from fhx.exercises import EXERCISES, Exercise

__all__ = ["FAILED", "LONGEST", "STATUSES", "Mark", "Task", "marked", "writable"]

STATUSES = ("ok", "wrong", "not attempted", "timeout", "crashed", "invalid file", "look at this")
FAILED = "The grader failed here, and a person will look at it."
LONGEST = 4_000
"""Characters of a text of a mark."""


@dataclass(frozen=True)
class Task:
    """What all submissions of a batch are graded by.

    Attributes:
        chapter: its number.
        seed: a text from which the random cases are drawn.
        random_inputs: how many of them.
        private: further cases by exercise, in the form of the wire.
        only: ids of the exercises that are graded; all of the chapter if there are none.
        limits: of a submission.
        isolated: whether kernels run in namespaces.
        hidden: folders that no kernel may see.
    """

    chapter: int
    seed: str
    random_inputs: int = 20
    private: dict[str, list[list[Any]]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    isolated: bool = True
    hidden: tuple[str, ...] = ()

    def launcher(self, scratch: Path | None = None) -> Launcher:
        """What makes kernels for its answers."""
        return Launcher(self.limits, self.isolated, [Path(path) for path in self.hidden], scratch)

    @property
    def exercises(self) -> list[Exercise]:
        """Those of the chapter that are graded, in its order."""
        known = (name for name in EXERCISES if int(name[:2]) == self.chapter)
        return [EXERCISES[name] for name in known if not self.only or name in self.only]


@dataclass(frozen=True)
class Mark:
    """What an answer got.

    Attributes:
        exercise: its id.
        status: one of :data:`STATUSES`.
        points: None if a person has to decide.
        most: points of a right answer.
        message: for the student.
        lines: (name, text) pairs for the student, on a stated case.
        remarks: for the student too: names that are defined twice, cells that were left out.
        inside: for the instructor: what failed on a private case, or in the grader.
        uses: functions of the package in the answer that the book's own solution does without.
        is_hinted: whether a hint on the exercise may help: the answer ran, and gave something else.
    """

    exercise: str
    status: str
    points: float | None
    most: float
    message: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    inside: str = ""
    uses: tuple[str, ...] = ()
    is_hinted: bool = False

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Mark":
        """The mark that became a record of JSON."""
        lists = {"lines": tuple(map(tuple, record["lines"]))} | {k: tuple(record[k]) for k in ("remarks", "uses")}
        return cls(**record | lists)


def marked(exercise: Exercise, status: str, message: str = "", **more: Any) -> Mark:
    """A mark with its points: all for a right answer, 0 for a wrong one, None where a person has to decide."""
    most = exercise.notes.points if exercise.notes else 1
    points = {"ok": most, "invalid file": None, "look at this": None}.get(status, 0)
    return Mark(exercise.id, status, points, most, message, **more)


def writable(text: str) -> str:
    """A text without what no file can hold, such as half a character, and cut off where it is too long."""
    return text[:LONGEST].encode("utf-8", "backslashreplace").decode()
