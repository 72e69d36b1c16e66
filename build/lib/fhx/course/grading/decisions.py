"""What persons decide after the grader: points of an exercise, and days that a submission is late.

The records keep what the grader found. What is decided here is put on top of it each time that outputs are written, and
stands in ``batch.json`` for those that are written later.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.csv_files import Row, read_rows
from fhx.course.grading.records import Graded, read_record
from fhx.course.grading.submissions import Submission, file_name
from fhx.course.grading.texts import in_cell
from fhx.exercises import Exercise

__all__ = ["Decisions", "read_batch", "read_decisions", "write_batch"]


@dataclass(frozen=True)
class Decisions:
    """What was decided.

    Attributes:
        points: by student and exercise, the points and a comment.
        days: by student, how many days a submission is late.
        penalty: the percentage of the points that a day costs.
    """

    points: dict[str, dict[str, tuple[float, str]]] = field(default_factory=dict)
    days: dict[str, float] = field(default_factory=dict)
    penalty: float = 10.0

    def on(self, graded: Graded) -> Graded:
        """A submission with what was decided on it."""
        own = self.points.get(graded.student, {})
        marks = tuple(replace(m, points=own[m.exercise][0]) if m.exercise in own else m for m in graded.marks)
        comments = {name: comment for name, (_, comment) in own.items()}
        days = self.days.get(graded.student, 0.0)
        return replace(graded, marks=marks, decided=comments, days=days, penalty=self.penalty)


def read_decisions(
    overrides: Path | None,
    late: Path | None,
    penalty: float,
    submissions: Sequence[Submission],
    exercises: Sequence[Exercise],
) -> Decisions:
    """What two tables say: (student, exercise, points, comment), and (student, days).

    Raises:
        CourseError: a row of them cannot be meant.
    """
    if not 0 <= penalty <= 100:
        raise CourseError(f"--late-penalty is a percentage from 0 to 100, and not {penalty:g}")
    students = {shown(one.student).strip(): one.student for shown in (in_cell, str) for one in submissions}
    most = {exercise.id: float(exercise.notes.points if exercise.notes else 1) for exercise in exercises}
    points: dict[str, dict[str, tuple[float, str]]] = {}
    first: dict[tuple[str, ...], int] = {}
    for row in read_rows(overrides, ("student", "exercise", "points"), ("comment",)) if overrides else ():
        student, name = _student(row, students), row["exercise"]
        if name not in most:
            raise CourseError(f"{row.place}: {name!r} is not an exercise that is graded; there are {', '.join(most)}")
        if not 0 <= (given := row.number("points")) <= most[name]:
            raise CourseError(f"{row.place}: {name} has 0 to {most[name]:g} points, and not {given:g}")
        _once(row, first, student, name)
        points.setdefault(student, {})[name] = (given, row.cells.get("comment", ""))
    days: dict[str, float] = {}
    first.clear()
    for row in read_rows(late, ("student", "days"), ()) if late else ():
        student = _student(row, students)
        if (number := row.number("days")) < 0:
            raise CourseError(f"{row.place}: {number:g} days cannot be late")
        _once(row, first, student)
        days[student] = number
    return Decisions(points, days, penalty)


def _student(row: Row, students: dict[str, str]) -> str:
    """The student of a row, whose name may be spelt as in ``grades.csv``."""
    if row["student"] not in students:
        raise CourseError(f"{row.place}: there is no submission {row['student']!r}")
    return students[row["student"]]


def _once(row: Row, first: dict[tuple[str, ...], int], *key: str) -> None:
    if (line := first.setdefault(key, row.line)) != row.line:
        raise CourseError(f"{row.place}: {', '.join(key)} stands already in line {line}")


def write_batch(out: Path, batch: Sequence[Graded], decisions: Decisions, titles: Mapping[str, str]) -> None:
    """Write ``batch.json``: who is in a batch, what was decided, and the titles of the exercises by their ids."""
    record: dict[str, Any] = {"students": [graded.student for graded in batch], "exercises": dict(titles)}
    record |= {"points": decisions.points, "days": decisions.days, "penalty": decisions.penalty}
    write_atomically(out / "batch.json", (json.dumps(record, indent=1) + "\n").encode())


def read_batch(out: Path) -> tuple[list[Graded], dict[str, str]]:
    """The submissions that were graded last, from their records, with what was decided; and the titles of exercises.

    Raises:
        CourseError: grading is not finished.
    """
    try:
        record = json.loads((out / "batch.json").read_text("utf-8"))
        students = list(map(str, record.pop("students")))
        titles = {str(name): str(title) for name, title in record.pop("exercises").items()}
        points = {
            student: {name: (float(value), str(comment)) for name, (value, comment) in own.items()}
            for student, own in record.pop("points").items()
        }
        decisions = Decisions(points, **record)
    except OSError as error:
        raise CourseError(f"{out} holds no finished grades: run fhx-course grade first") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CourseError(f"{out / 'batch.json'} is damaged: run fhx-course grade again") from error
    found = [(student, read_record(out, file_name(student))) for student in students]
    if bad := [name for name, graded in found if graded is None or graded.missing(list(titles))]:
        raise CourseError(f"the record of {bad[0]} is not complete: run fhx-course grade again")
    return [decisions.on(graded) for _, graded in found if graded is not None], titles
