"""Grade a folder of notebooks that students handed in: their functions are run in a sandbox, and compared outside."""

import argparse
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.batch import Graded, grade_all, recorded_chapter
from fhx.course.grading.decisions import Decisions, read_decisions, write_batch
from fhx.course.grading.form_reader import read_forms
from fhx.course.grading.launcher import NAMESPACES, NOTHING, USER
from fhx.course.grading.marks import Task
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.options import add_task_arguments, task_of
from fhx.course.grading.reports import grades_csv, needs_person, write_student
from fhx.course.grading.similar import similar_answers, similar_csv, similar_page
from fhx.course.grading.submissions import Submission, find_submissions, passed_over
from fhx.course.grading.summary import summary_page, warnings
from fhx.course.grading.texts import on_screen
from fhx.course.grading.users import guard_problem
from fhx.jobs import ClusterError, JobFailedError

__all__ = ["Persons", "add_arguments", "grade_folder", "run"]


@dataclass(frozen=True)
class Persons:
    """What persons say of a batch.

    Attributes:
        overrides: a table of points that they decided.
        late: a table of late days.
        penalty: the percentage of the points that a day costs.
        regrade: exercises that are graded again.
    """

    overrides: Path | None = None
    late: Path | None = None
    penalty: float = 10.0
    regrade: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to grade, by what, and where to."""
    parser.add_argument("submissions", type=Path, help="a folder of notebooks, or of folders with one notebook each")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to; what is done there is kept")
    add_task_arguments(parser, seconds=600)
    parser.add_argument(
        "--regrade", nargs="+", metavar="ID", default=(), help="exercises to grade again; the other marks are kept"
    )
    parser.add_argument(
        "--overrides", type=Path, metavar="CSV", help="points that you decided: student, exercise, points, comment"
    )
    parser.add_argument("--late", type=Path, metavar="CSV", help="late days: student, days")
    parser.add_argument(
        "--late-penalty", default=10.0, type=float, metavar="PERCENT", help="of the points, for a day (default: 10)"
    )
    parser.add_argument(
        "--workers", default=2, type=int, metavar="N", help="submissions at a time (default: 2, at most the cores)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster that does it, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument(
        "--without-isolation",
        action="store_true",
        help="run the students' code without namespaces: as another user if you are root, else as you",
    )


def run(arguments: argparse.Namespace) -> None:
    """Grade, and write ``grades.csv``, ``summary.html``, ``similar.html``, and ``students/NAME/`` for each.

    Raises:
        CourseError: something is missing or cannot be used; nothing was graded, or what was is recorded.
    """
    task = _task(arguments)
    workers = max(1, min(arguments.workers, os.cpu_count() or 1))
    persons = Persons(arguments.overrides, arguments.late, arguments.late_penalty, tuple(arguments.regrade))
    batch = grade_folder(arguments.submissions, task, arguments.out, workers, arguments.scheduler, persons)
    if others := passed_over(arguments.submissions):
        print(on_screen(f"passed over, since they are not notebooks: {', '.join(others)}"))
    looks = sum(map(needs_person, batch))
    print(
        on_screen(f"{len(batch)} submissions graded, {looks} of them to be looked at: {arguments.out / 'summary.html'}")
    )


def grade_folder(
    folder: Path,
    task: Task,
    out: Path,
    workers: int = 1,
    scheduler: str | None = None,
    persons: Persons | None = None,
) -> list[Graded]:
    """Grade all submissions in a folder, showing progress, and write what :func:`run` says.

    Raises:
        CourseError: as :func:`run`.
    """
    persons = persons or Persons()
    with tqdm(unit="file", desc="looking for notebooks", leave=False, delay=1) as bar:
        submissions = find_submissions(folder, bar.update)
    for submission in submissions:
        task.of_student(submission.student)  # who is not in the list of variants is named before anything is graded
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is not a folder")
    if (other := recorded_chapter(out)) not in (None, task.chapter):
        raise CourseError(f"{out} holds the grades of chapter {other}; use a separate folder for each chapter")
    decisions = read_decisions(persons.overrides, persons.late, persons.penalty, submissions, task.exercises)
    exercises = {exercise.id: exercise for exercise in task.exercises}
    batch = list[Graded]()
    try:
        (out / "batch.json").unlink(missing_ok=True)  # until all are graded there is nothing to export
        count = min(workers, len(submissions))
        with closing(grade_all(submissions, task, out, count, scheduler, persons.regrade)) as graded:
            for one in tqdm(graded, total=len(submissions), unit="submission", desc=f"chapter {task.chapter}"):
                batch.append(decisions.on(one))
                write_student(batch[-1], out / "students" / one.folder, exercises)
        batch.sort(key=lambda one: one.student)
        _write_all(batch, submissions, decisions, out, task)
    except (JobFailedError, ClusterError, KeyboardInterrupt) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else error
        same = "the same command without --regrade" if persons.regrade else "the same command"
        raise CourseError(f"{why}. {len(batch)} submissions are done; {same} goes on from there") from error
    except OSError as error:
        raise CourseError(f"{error.filename or out} cannot be read or written: {error.strerror or error}") from error
    return batch


def _write_all(
    batch: Sequence[Graded], submissions: Sequence[Submission], decisions: Decisions, out: Path, task: Task
) -> None:
    """Write what is about the whole batch, and say what a person should know at once."""
    exercises, heading = {exercise.id: exercise for exercise in task.exercises}, f"Chapter {task.chapter}"
    paths = {one.student: one.path for one in submissions if one.path is not None}
    with tqdm(total=len(batch), unit="submission", desc="comparing answers", leave=False, delay=1) as bar:
        functions = {name: exercise.function for name, exercise in exercises.items()}
        forms = read_forms(batch, paths, functions, out, bar.update)
    groups = similar_answers(forms, list(exercises))
    notes = [one.note for one in submissions if one.note]
    similar = f"{len(groups)} times answers are alike, for you to judge." if groups else ""
    write_atomically(out / "similar.csv", similar_csv(groups))
    alike = similar_page(groups, batch, f"{heading}: answers that are alike", exercises)
    write_atomically(out / "similar.html", alike.encode())
    write_atomically(out / "grades.csv", grades_csv(batch))
    write_atomically(out / "summary.html", summary_page(batch, heading, notes, similar, exercises).encode())
    write_batch(out, batch, decisions, {name: exercise.title for name, exercise in exercises.items()})
    doubts = [f"warning: {text}" for text in warnings(batch, exercises)]
    seen = [f"{similar} See {out / 'similar.html'}"] if similar else []
    for line in (*notes, *doubts, *seen):
        print(on_screen(line))


def _task(arguments: argparse.Namespace) -> Task:
    task = task_of(arguments)
    names = [exercise.id for exercise in task.exercises]
    if unknown := [name for name in arguments.regrade if name not in names]:
        is_other = not unknown[0].startswith(f"{task.chapter:02}-")
        why = f"it is not an exercise of chapter {task.chapter}" if is_other else "no such exercise is assigned"
        raise CourseError(f"{unknown[0]} cannot be graded again: {why}")
    hidden = [arguments.submissions, arguments.out, *([arguments.private] if arguments.private else [])]
    if arguments.exercises:
        hidden.append(arguments.exercises if arguments.exercises.is_dir() else arguments.exercises.parent)
    isolation = _isolation(arguments.without_isolation, is_here=not arguments.scheduler)
    return replace(task, isolation=isolation, hidden=tuple(str(path.resolve()) for path in hidden))


def _isolation(is_given_up: bool, is_here: bool) -> str:
    """What keeps students' code apart; it is said if it is little."""
    if is_given_up:
        problem = guard_problem()
        who = f"as you, with your files and network in its reach ({problem})" if problem else "as a user of its own"
        print(f"students' code is not isolated: it runs {who}")
        return NOTHING if problem else USER
    if is_here and (problem := isolation_problem()):
        raise CourseError(
            f"students' code cannot be isolated here: {problem}. To run it without that: --without-isolation"
        )
    return NAMESPACES
