"""What runs in a container of Gradescope: one submission is graded, and its results are written for Gradescope."""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.batch import Job, grade_alone
from fhx.course.grading.launcher import NAMESPACES
from fhx.course.grading.marks import Mark, Task
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.records import Graded
from fhx.course.grading.reports import gradescope_results
from fhx.course.grading.submissions import find_submissions
from fhx.course.grading.texts import on_screen

__all__ = ["main", "results_in"]


def main() -> None:
    """Grade what lies in ``submission`` of the folder that is named, and write ``results/results.json``."""
    root = Path(sys.argv[1])
    results = results_in(root)
    write_atomically(root / "results" / "results.json", (json.dumps(results, indent=1) + "\n").encode())


def results_in(root: Path) -> dict[str, Any]:
    """The results of the submission in a folder laid out as Gradescope does.

    What the student can mend, such as a second notebook, is said there, with 0 points. What an instructor may want to
    know is printed, which Gradescope keeps from students.
    """
    try:
        task = Task.of(json.loads((root / "source" / "task.json").read_text("utf-8")))
        found = [one.path for one in find_submissions(root / "submission") if one.path]
        if len(found) != 1:
            names = ", ".join(path.name for path in found)
            raise CourseError(f"Hand in one notebook. There are {len(found)}: {names}")
        task = _of_student(task, root / "submission_metadata.json")
    except CourseError as error:
        return {"score": 0, "output": str(error), "stdout_visibility": "hidden"}
    if isolation_problem() is None:
        task = replace(task, isolation=NAMESPACES)
    records, seconds = grade_alone(Job(str(found[0]), asdict(task)))
    marks = tuple(map(Mark.of, records))
    for mark in marks:
        for told in filter(None, (mark.inside.strip(), ", ".join(mark.uses))):
            print(on_screen(f"{mark.exercise}: {mark.status}. {told}"))
    graded = Graded(task.student, found[0].name, "", seconds, marks)
    return gradescope_results(graded, {exercise.id: exercise for exercise in task.exercises})


def _of_student(task: Task, metadata: Path) -> Task:
    """The task with the variants of whoever handed it in, by address, what stands before its @, or name."""
    if not task.students:
        return task
    users = json.loads(metadata.read_text("utf-8"))["users"]
    for name in (name for user in users for name in _names(user)):
        with suppress(CourseError):
            return task.of_student(name)
    called = ", ".join(next(_names(user), "?") for user in users)
    raise CourseError(f"You are not in the list of those who have variants: {called}. Tell your instructor.")


def _names(user: dict[str, Any]) -> Iterator[str]:
    email = user.get("email") or ""
    yield from filter(None, (email, email.partition("@")[0], user.get("name") or ""))


if __name__ == "__main__":
    main()
