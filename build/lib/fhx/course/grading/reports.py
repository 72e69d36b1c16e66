"""What an instructor and a student get: a table, and for each student a record for Gradescope and a page."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fhx._files import write_atomically
from fhx.course.grading.marks import Mark
from fhx.course.grading.pages import number, page
from fhx.course.grading.records import Graded
from fhx.course.grading.texts import on_screen, table
from fhx.exercises import EXERCISES, Exercise

__all__ = ["grades_csv", "gradescope_results", "needs_person", "told", "write_student"]

DECIDED = "A person has decided on the points."


def grades_csv(batch: Sequence[Graded]) -> bytes:
    """One row per student: points and status of each exercise; an empty cell where a person has to decide."""
    names = [mark.exercise for mark in batch[0].marks]
    most = sum(mark.most for mark in batch[0].marks)
    columns = [column for name in names for column in (name, f"{name} status")]
    late = ["before late days", "days late"] if any(graded.days for graded in batch) else []
    decided = ["decided by a person"] if any(graded.decided for graded in batch) else []
    rows = [["student", "file", "total", f"of {most:g}", *columns, "look at", *decided, *late]]
    for graded in batch:
        cells = [cell for mark in graded.marks for cell in (number(mark.points), mark.status)]
        share = "" if graded.total is None else f"{graded.total / most:.1%}"
        persons = ["; ".join(_with_comments(graded))] if decided else []
        days = [number(graded.earned), number(graded.days)] if late else []
        row = [graded.student, graded.file, number(graded.total), share, *cells]
        rows.append([*row, "; ".join(_looks(graded)), *persons, *days])
    return table(rows)


def needs_person(graded: Graded) -> bool:
    """Whether something is to be looked at."""
    looks = ("look at this", "invalid file")
    return any(mark.status in looks and mark.exercise not in graded.decided for mark in graded.marks)


def _looks(graded: Graded) -> Iterator[str]:
    """What a person has to look at."""
    for mark in graded.marks:
        if mark.uses and mark.points and mark.exercise not in graded.decided:
            yield f"{mark.exercise}: {', '.join(mark.uses)}"
    yield from {mark.message: None for mark in graded.marks if mark.points is None}


def _with_comments(graded: Graded) -> Iterator[str]:
    for mark in graded.marks:
        if mark.exercise in graded.decided:
            comment = graded.decided[mark.exercise]
            yield f"{mark.exercise}: {comment}" if comment else mark.exercise


def write_student(graded: Graded, folder: Path, exercises: Mapping[str, Exercise] = EXERCISES) -> None:
    """``results.json``, as Gradescope reads it, and ``feedback.html``."""
    write_atomically(
        folder / "results.json", (json.dumps(gradescope_results(graded, exercises), indent=1) + "\n").encode()
    )
    most = sum(mark.most for mark in graded.marks)
    values = {"graded": graded, "told": told(graded, most), "exercises": exercises, "DECIDED": DECIDED}
    write_atomically(folder / "feedback.html", page("feedback", on_screen(graded.student), **values).encode())


def told(graded: Graded, most: float) -> str:
    """The points in a sentence."""
    if graded.total is None:
        late = f" {_days(graded)} will be taken into account." if graded.days else ""
        return f"not decided yet of {most:g} points.{late}"
    late = f" {_days(graded)}; before that it had {graded.earned:g}." if graded.days else ""
    return f"{graded.total:g} of {most:g} points.{late}"


def _days(graded: Graded) -> str:
    days = "1 day" if graded.days == 1 else f"{graded.days:g} days"
    return f"It is {days} late, at {graded.penalty:g} % a day"


def gradescope_results(graded: Graded, exercises: Mapping[str, Exercise]) -> dict[str, Any]:
    """What Gradescope reads as ``results.json``: what a person has to decide has no score, and is not in the total."""
    tests = []
    for place, mark in enumerate(graded.marks, 1):
        test = {
            "name": f"{mark.exercise}: {exercises[mark.exercise].title}",
            "number": str(place),
            "max_score": mark.most,
            "output": _output(mark, graded.decided.get(mark.exercise)),
            "output_format": "text",
            "visibility": "visible",
        }
        if mark.points is not None:
            test |= {"score": mark.points, "status": "passed" if mark.points == mark.most else "failed"}
        tests.append(test)
    points = sum(mark.points for mark in graded.marks if mark.points is not None)
    results = {
        "score": graded.after_late_days(points),
        "tests": tests,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": graded.seconds,
    }
    notes = ["Not all of it could be graded; a person will look at it."] if graded.total is None else []
    notes += [f"{_days(graded)}; before that it had {points:g}."] if graded.days else []
    return results | ({"output": " ".join(notes)} if notes else {})


def _output(mark: Mark, comment: str | None) -> str:
    lines = [f"{name}: {value}" for name, value in mark.lines]
    person = [] if comment is None else [f"{DECIDED} {comment}".strip()]
    return "\n".join([*person, f"{mark.status}. {mark.message}".strip(), *lines, *mark.remarks])
