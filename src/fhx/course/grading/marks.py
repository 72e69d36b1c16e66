"""What a batch is graded by, and what an answer gets."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fhx.course import CourseError
from fhx.course.exercises import Source, exercises_of, variant_of
from fhx.course.grading.launcher import NAMESPACES, Launcher, Limits
from fhx.course.grading.texts import folded, spelt_out
from fhx.exercises import Exercise

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
        partial: whether a wrong answer gets points for the cases on which it is right.
        limits: of a submission.
        isolation: what keeps students' code apart, as a :class:`fhx.course.grading.launcher.Launcher` has it.
        hidden: folders that no kernel may see.
        own: an instructor's files with further exercises, as :func:`fhx.course.exercises.read_own` gives them.
        students: those who have variants of the exercises, which depend on the seed; none if all have the same.
        student: whose variants count; empty for the exercises themselves.
    """

    chapter: int
    seed: str
    random_inputs: int = 20
    private: dict[str, list[list[Any]]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    partial: bool = False
    limits: Limits = field(default_factory=Limits)
    isolation: str = NAMESPACES
    hidden: tuple[str, ...] = ()
    own: tuple[Source, ...] = ()
    students: tuple[str, ...] = ()
    student: str = ""

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Task":
        """The task that became a record of JSON."""
        lists = {name: tuple(record[name]) for name in ("only", "hidden", "students")}
        own = tuple((name, text) for name, text in record["own"])
        return cls(**record | lists | {"own": own, "limits": Limits(**record["limits"])})

    def of_student(self, name: str) -> "Task":
        """What the submission of one student is graded by.

        Raises:
            CourseError: students have variants, and there is none of that name.
        """
        if not self.students:
            return self
        listed = [student for student in self.students if folded(writable(student)) == folded(name)]
        if not listed:
            raise CourseError(f"the submission {name} is nobody's in the list of students, so it has no variant")
        return replace(self, students=(), student=listed[0])

    def launcher(self, scratch: Path | None = None) -> Launcher:
        """What makes kernels for its answers."""
        return Launcher(self.limits, self.isolation, [Path(path) for path in self.hidden], scratch)

    @property
    def exercises(self) -> list[Exercise]:
        """Those of the chapter that are graded, in its order, and of them the student's variants."""
        known = exercises_of(self.chapter, self.own)
        names = [name for name in known if not self.only or name in self.only]
        if not self.student:
            return [known[name] for name in names]
        return [variant_of(known[name], self.seed, self.student) for name in names]


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
    """A text without what no file can hold, such as half a character, or no terminal should obey, or nobody sees, and
    cut off where it is too long."""
    return spelt_out(text[:LONGEST].encode("utf-8", "backslashreplace").decode())
