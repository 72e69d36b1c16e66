"""What an instructor and a student get: a table, and for each student a record for Gradescope and a page."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fhx._files import write_atomically
from fhx.course.grading.batch import Graded
from fhx.course.grading.marks import Mark
from fhx.course.grading.pages import number, page
from fhx.exercises import EXERCISES

__all__ = ["grades_csv", "write_student"]


def grades_csv(batch: Sequence[Graded]) -> bytes:
    """One row per student: points and status of each exercise; an empty cell where a person has to decide."""
    names = [mark.exercise for mark in batch[0].marks]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    most = sum(mark.most for mark in batch[0].marks)
    columns = [column for name in names for column in (name, f"{name} status")]
    writer.writerow(["student", "file", "total", f"of {most:g}", *columns, "look at"])
    for graded in batch:
        cells = [cell for mark in graded.marks for cell in (number(mark.points), mark.status)]
        share = "" if graded.total is None else f"{graded.total / most:.1%}"
        looks = "; ".join(f"{m.exercise}: {', '.join(m.uses)}" for m in graded.marks if m.uses and m.points)
        undecided = {m.message: None for m in graded.marks if m.points is None}
        look = "; ".join(filter(None, (looks, *undecided)))
        row = [graded.student, graded.file, number(graded.total), share, *cells, look]
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue().encode()


def write_student(graded: Graded, folder: Path) -> None:
    """``results.json``, as Gradescope reads it, and ``feedback.html``."""
    write_atomically(folder / "results.json", (json.dumps(_results(graded), indent=1) + "\n").encode())
    most = sum(mark.most for mark in graded.marks)
    values = {"total": graded.total, "most": most, "file": graded.file, "marks": graded.marks, "exercises": EXERCISES}
    write_atomically(folder / "feedback.html", page("feedback", graded.student, **values).encode())


def _harmless(cell: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def _results(graded: Graded) -> dict[str, Any]:
    tests = []
    for place, mark in enumerate(graded.marks, 1):
        test = {
            "name": f"{mark.exercise}: {EXERCISES[mark.exercise].title}",
            "number": str(place),
            "max_score": mark.most,
            "output": _told(mark),
            "output_format": "text",
            "visibility": "visible",
        }
        if mark.points is not None:
            test |= {"score": mark.points, "status": "passed" if mark.points == mark.most else "failed"}
        tests.append(test)
    decided = sum(mark.points for mark in graded.marks if mark.points is not None)
    results = {
        "score": decided,
        "tests": tests,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": graded.seconds,
    }
    if graded.total is None:
        results["output"] = "Not all of it could be graded; a person will look at it."
    return results


def _told(mark: Mark) -> str:
    lines = [f"{name}: {value}" for name, value in mark.lines]
    return "\n".join([f"{mark.status}. {mark.message}".strip(), *lines, *mark.remarks])
