"""Grade a folder of notebooks that students handed in: their functions are run in a sandbox, and compared outside."""

import argparse
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.batch import Graded, grade_all, read_private, recorded_chapter
from fhx.course.grading.marks import Task
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.reports import grades_csv, write_student
from fhx.course.grading.sandbox import GIB, Limits
from fhx.course.grading.submissions import find_submissions, passed_over
from fhx.course.grading.summary import summary_page
from fhx.exercises import EXERCISES
from fhx.jobs import ClusterError, JobFailedError

__all__ = ["add_arguments", "grade_folder", "run"]


SHORTEST_SEED = 12
"""Characters of a seed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to grade, by what, and where to."""
    parser.add_argument("submissions", type=Path, help="a folder of notebooks, or of folders with one notebook each")
    parser.add_argument("--chapter", required=True, type=int, metavar="N", help="whose exercises are graded")
    parser.add_argument(
        "--seed", required=True, metavar="TEXT", help="random inputs are drawn from it; long, and kept to yourself"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to; what is done there is kept")
    parser.add_argument("--only", nargs="+", metavar="ID", default=(), help="the exercises that were assigned")
    parser.add_argument("--private", type=Path, help="a folder with further inputs, such as 03-hat.json")
    parser.add_argument("--random", default=20, type=int, metavar="N", help="random inputs per exercise (default: 20)")
    parser.add_argument(
        "--workers", default=2, type=int, metavar="N", help="submissions at a time (default: 2, at most the cores)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask cluster that does it, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument("--memory", default=4.0, type=float, metavar="GIB", help="of a submission (default: 4)")
    parser.add_argument("--seconds", default=600.0, type=float, metavar="S", help="of a submission (default: 600)")
    parser.add_argument(
        "--without-isolation",
        action="store_true",
        help="run the students' code as you, with your files and network in its reach",
    )


def run(arguments: argparse.Namespace) -> None:
    """Grade, and write ``grades.csv``, ``summary.html``, and ``students/NAME/`` for each.

    Raises:
        CourseError: something is missing or cannot be used; nothing was graded, or what was is recorded.
    """
    task = _task(arguments)
    workers = max(1, min(arguments.workers, os.cpu_count() or 1))
    batch = grade_folder(arguments.submissions, task, arguments.out, workers, arguments.scheduler)
    looks = sum(any(mark.status in ("look at this", "invalid file") for mark in graded.marks) for graded in batch)
    if others := passed_over(arguments.submissions):
        print(f"passed over, since they are not notebooks: {', '.join(others)}")
    print(f"{len(batch)} submissions graded, {looks} of them to be looked at: {arguments.out / 'summary.html'}")


def grade_folder(folder: Path, task: Task, out: Path, workers: int = 1, scheduler: str | None = None) -> list[Graded]:
    """Grade all submissions in a folder, showing progress, and write what :func:`run` says.

    Raises:
        CourseError: as :func:`run`.
    """
    submissions, batch = find_submissions(folder), list[Graded]()
    if out.exists() and not out.is_dir():
        raise CourseError(f"{out} is not a folder")
    if (other := recorded_chapter(out)) not in (None, task.chapter):
        raise CourseError(f"{out} holds the grades of chapter {other}; use a separate folder for each chapter")
    try:
        with closing(grade_all(submissions, task, out, min(workers, len(submissions)), scheduler)) as graded:
            for one in tqdm(graded, total=len(submissions), unit="submission", desc=f"chapter {task.chapter}"):
                batch.append(one)
                write_student(one, out / "students" / one.folder)
    except (JobFailedError, ClusterError, KeyboardInterrupt) as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else error
        raise CourseError(f"{why}. {len(batch)} submissions are done; the same command goes on from there") from error
    except OSError as error:
        raise CourseError(f"{error.filename or out} cannot be read or written: {error.strerror or error}") from error
    batch.sort(key=lambda one: one.student)
    write_atomically(out / "grades.csv", grades_csv(batch))
    write_atomically(out / "summary.html", summary_page(batch, f"Chapter {task.chapter}").encode())
    return batch


def _task(arguments: argparse.Namespace) -> Task:
    if not any(int(name[:2]) == arguments.chapter for name in EXERCISES):
        raise CourseError(f"there is no chapter {arguments.chapter} with exercises")
    if unknown := [name for name in arguments.only if not name.startswith(f"{arguments.chapter:02}-")]:
        raise CourseError(f"{unknown[0]} is not an exercise of chapter {arguments.chapter}")
    if unknown := [name for name in arguments.only if name not in EXERCISES]:
        known = ", ".join(name for name in EXERCISES if int(name[:2]) == arguments.chapter)
        raise CourseError(f"there is no exercise {unknown[0]}; chapter {arguments.chapter} has {known}")
    if len(arguments.seed) < SHORTEST_SEED:
        few = f"the seed {arguments.seed!r} could be guessed from the inputs"
        raise CourseError(f"{few}: take a text of at least {SHORTEST_SEED} characters")
    if arguments.random < 0 or arguments.memory <= 0 or arguments.seconds <= 0:
        raise CourseError("--memory and --seconds must be positive, and --random must not be negative")
    isolated = not arguments.without_isolation
    if isolated and not arguments.scheduler and (problem := isolation_problem()):
        raise CourseError(
            f"students' code cannot be isolated here: {problem}. To run it with all your rights: --without-isolation"
        )
    hidden = [arguments.submissions, arguments.out, *([arguments.private] if arguments.private else [])]
    task = Task(
        chapter=arguments.chapter,
        seed=arguments.seed,
        random_inputs=arguments.random,
        only=tuple(arguments.only),
        limits=Limits(memory=int(arguments.memory * GIB), total=arguments.seconds),
        isolated=isolated,
        hidden=tuple(str(path.resolve()) for path in hidden),
    )
    return replace(task, private=read_private(arguments.private, task)) if arguments.private else task
