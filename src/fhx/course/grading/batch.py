"""A folder of submissions: found, each graded by itself, and recorded as soon as it is done."""

import json
import tempfile
import time
from collections.abc import Collection, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from fhx.course import CourseError
from fhx.course.grading.launcher import NAMESPACES
from fhx.course.grading.marks import FAILED, Mark, Task, marked
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.notebook import LARGEST
from fhx.course.grading.records import Graded, key_of, recorded, recorded_chapter, release, write_record
from fhx.course.grading.solved import failure_of_solution
from fhx.course.grading.submissions import Submission
from fhx.course.grading.wire import decode
from fhx.course.grading.worker import Worker
from fhx.exercises import EXERCISES
from fhx.exercises.show import show
from fhx.jobs import map_unordered

__all__ = [
    "Graded",
    "Job",
    "grade_all",
    "read_private",
    "recorded_chapter",
]


def read_private(folder: Path, task: Task) -> dict[str, list[list[Any]]]:
    """Further cases, from files such as ``03-hat.json``: a list of cases, each a list with a value for each input.

    Raises:
        CourseError: a file is not one of these, or a case has no right value, or the solution is wrong on it.
    """
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder}")
    exercises, found = {exercise.id: exercise for exercise in task.exercises}, {}
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        if path.suffix != ".json":
            raise CourseError(f"{path} is not a .json file")
        if not (exercise := exercises.get(path.stem)):
            known = ", ".join(exercises)
            if path.stem in EXERCISES and path.stem.startswith(f"{task.chapter:02}-"):
                continue  # it is not assigned this time
            raise CourseError(f"{path} belongs to no exercise of chapter {task.chapter}; there are {known}")
        try:
            cases = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise CourseError(f"{path} is not JSON: {error}") from error
        names = f"a list of {len(exercise.inputs)} values: {', '.join(exercise.inputs)}"
        if not exercise.inputs:
            raise CourseError(f"{path} belongs to an exercise without inputs")
        if not isinstance(cases, list):
            raise CourseError(f"{path} is not a list of cases, each {names}")
        for number, case in enumerate(cases, 1):
            if not isinstance(case, list) or len(case) != len(exercise.inputs):
                raise CourseError(f"{path}: case {number} is not {names}")
            try:
                exercise.oracle(*map(decode, case))
            except Exception as error:
                given = ", ".join(f"{name} = {show(value)}" for name, value in zip(exercise.inputs, case, strict=True))
                why = f"{type(error).__name__}: {error}"
                raise CourseError(f"{path}: case {number}: there is no right value for {given} ({why})") from error
            if told := failure_of_solution(exercise, tuple(map(decode, case)), exercise.solution):
                raise CourseError(f"{path}: case {number}: the solution itself fails: {told}")
        found[exercise.id] = cases
    return found


def grade_all(
    submissions: Sequence[Submission],
    task: Task,
    out: Path,
    workers: int = 1,
    scheduler: str | None = None,
    again: Collection[str] = (),
) -> Generator[Graded]:
    """The marks of all, those that are recorded already first, the others as they come; each is recorded at once.

    Args:
        submissions: from :func:`find_submissions`.
        task: what to grade by.
        out: the folder ``records`` in it holds a file for each submission.
        workers: processes of this machine.
        scheduler: the address of a Dask cluster that does it instead.
        again: exercises that are graded anew, while the marks of the others are kept where the file is the same.

    Raises:
        CourseError: a submission is of nobody who has a variant; then nothing is graded.
    """
    version, tasks = release(), {submission: task.of_student(submission.student) for submission in submissions}
    whole = tuple(exercise.id for exercise in task.exercises)
    groups: dict[tuple[str, ...], list[_Todo]] = {}
    for submission in submissions:
        known = recorded(out, submission, key_of(submission.path, tasks[submission], version), again)
        missing = known.missing(whole)
        if missing:
            groups.setdefault(missing, []).append(_Todo(submission, known))
        else:
            yield known
    groups[whole] = groups.pop(whole, [])  # last: what could not be judged by some exercises alone is added there
    for names, todo in groups.items():
        parts = [
            tasks[one.submission] if names == whole else replace(tasks[one.submission], only=names) for one in todo
        ]
        jobs = [_job(one.submission, part, scheduler is not None) for one, part in zip(todo, parts, strict=True)]
        found = _here(jobs, workers) if scheduler is None else map_unordered(grade_alone, jobs, scheduler=scheduler)
        with closing(found):
            for index, (records, seconds) in found:
                marks = tuple(map(Mark.of, records))
                if names != whole and all(mark.status == "look at this" and mark.points is None for mark in marks):
                    groups[whole].append(todo[index])  # it takes all exercises to see that it is of another chapter
                    continue
                graded = todo[index].known.with_marks(marks, whole, seconds)
                write_record(out, graded)
                yield graded


@dataclass(frozen=True)
class _Todo:
    """A submission, with what is known of it."""

    submission: Submission
    known: Graded


def _job(submission: Submission, task: Task, is_sent: bool) -> "Job":
    path = str(submission.path) if submission.path else None
    return Job(path, asdict(task), _content(submission.path) if is_sent else None)


@dataclass(frozen=True)
class Job:
    """A submission as it is sent to a process or a cluster.

    Attributes:
        path: of the file; None if there is none.
        task: a :class:`fhx.course.grading.marks.Task` as a record.
        content: of the file, where it cannot be read from its path.
    """

    path: str | None
    task: dict[str, Any] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)


Records = list[dict[str, Any]]
"""Marks, each as a record."""


def grade_one(job: Job, worker: Worker) -> tuple[Records, float]:
    """The marks of one submission, and the seconds that it took; whatever happens, there are some."""
    began = time.monotonic()
    if job.content is None:
        marks = worker.grade(Path(job.path or "/nowhere"), job.task["student"])
    else:
        with tempfile.TemporaryDirectory(prefix="rc-") as folder:
            path = Path(folder) / "submission.ipynb"
            path.write_bytes(job.content)
            marks = worker.grade(path, job.task["student"])
    marks = _failed(job.task, marks) if isinstance(marks, str) else marks
    return marks, round(time.monotonic() - began, 1)


def grade_alone(job: Job) -> tuple[Records, float]:
    """As :func:`grade_one`, on a machine of a cluster, by a process for this submission alone."""
    if job.task["isolation"] == NAMESPACES and (problem := isolation_problem()):
        return _failed(job.task, problem), 0.0
    with closing(_worker(job.task)) as worker:
        return grade_one(job, worker)


def _here(batch: Sequence[Job], count: int) -> Generator[tuple[int, tuple[Records, float]]]:
    """The marks of the jobs as they come, each by one of ``count`` processes of this machine."""
    if not batch:
        return
    workers = [_worker(batch[0].task) for _ in range(count)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def grade(job: Job) -> tuple[Records, float]:
        worker = idle.get()
        try:
            return grade_one(job, worker)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(count)
    try:
        places = {threads.submit(grade, job): place for place, job in enumerate(batch)}
        for future in as_completed(places):
            yield places[future], future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        threads.shutdown()
        for worker in workers:
            worker.close()


def _worker(task: dict[str, Any]) -> Worker:
    return Worker(task, 120 + 3 * task["limits"]["total"])


def _failed(task: dict[str, Any], words: str) -> list[dict[str, Any]]:
    return [asdict(marked(exercise, "look at this", FAILED, inside=words)) for exercise in Task.of(task).exercises]


def _content(path: Path | None) -> bytes | None:
    """What is sent to another machine; a file that is refused anyway is not read."""
    if path is None or not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
        return None
    return path.read_bytes()
