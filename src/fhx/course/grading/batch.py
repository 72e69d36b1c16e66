"""A folder of submissions: found, each graded by itself, and recorded as soon as it is done."""

import hashlib
import json
import tempfile
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import fhx
from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.marks import FAILED, Mark, Task, marked, writable
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.notebook import LARGEST
from fhx.course.grading.submissions import Submission, file_name
from fhx.course.grading.wire import decode
from fhx.course.grading.worker import Worker
from fhx.exercises.show import show
from fhx.jobs import map_unordered

__all__ = [
    "Graded",
    "Job",
    "grade_all",
    "read_private",
    "recorded_chapter",
]


@dataclass(frozen=True)
class Graded:
    """A submission with its marks, as it is recorded.

    Attributes:
        student: as in :class:`Submission`.
        file: its name.
        key: stands for all that the marks depend on.
        seconds: that it took.
        marks: in the order of the exercises.
    """

    student: str
    file: str
    key: str
    seconds: float
    marks: tuple[Mark, ...]

    @property
    def folder(self) -> str:
        """A name for the student's files."""
        return file_name(self.student)

    @property
    def total(self) -> float | None:
        """Points, None as long as a person has to decide on some."""
        points = [mark.points for mark in self.marks if mark.points is not None]
        return sum(points) if len(points) == len(self.marks) else None

    @property
    def has_failed(self) -> bool:
        """Whether the grader failed somewhere, so that it is worth another run."""
        return any(mark.message == FAILED for mark in self.marks)


def read_private(folder: Path, task: Task) -> dict[str, list[list[Any]]]:
    """Further cases, from files such as ``03-hat.json``: a list of cases, each a list with a value for each input.

    Raises:
        CourseError: a file is not one of these, or the oracle has no right value for a case.
    """
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder}")
    exercises, found = {exercise.id: exercise for exercise in task.exercises}, {}
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        if path.suffix != ".json":
            raise CourseError(f"{path} is not a .json file")
        if not (exercise := exercises.get(path.stem)):
            known = ", ".join(exercises)
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
        found[exercise.id] = cases
    return found


def grade_all(
    submissions: Sequence[Submission], task: Task, out: Path, workers: int = 1, scheduler: str | None = None
) -> Generator[Graded]:
    """The marks of all, those that are recorded already first, the others as they come; each is recorded at once.

    Args:
        submissions: from :func:`find_submissions`.
        task: what to grade by.
        out: the folder ``records`` in it holds a file for each submission.
        workers: processes of this machine.
        scheduler: the address of a Dask cluster that does it instead.
    """
    release = _release()
    todo: list[tuple[Submission, str, Job]] = []
    for submission in submissions:
        key = _key(submission.path, task, release)
        if (known := _recorded(out, submission, key)) is not None:
            yield known
            continue
        path = str(submission.path) if submission.path else None
        todo.append((submission, key, Job(path, asdict(task), _content(submission.path) if scheduler else None)))
    batch = [job for *_, job in todo]
    found = _here(batch, workers) if scheduler is None else map_unordered(grade_alone, batch, scheduler=scheduler)
    with closing(found):
        for index, (marks, seconds) in found:
            submission, key, _ = todo[index]
            file = writable(submission.path.name) if submission.path else ""
            graded = Graded(submission.student, file, key, seconds, tuple(map(Mark.of, marks)))
            write_atomically(_record(out, submission), (json.dumps(asdict(graded), indent=1) + "\n").encode())
            yield graded


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
        marks = worker.grade(Path(job.path or "/nowhere"))
    else:
        with tempfile.TemporaryDirectory(prefix="rc-") as folder:
            path = Path(folder) / "submission.ipynb"
            path.write_bytes(job.content)
            marks = worker.grade(path)
    marks = _failed(job.task, marks) if isinstance(marks, str) else marks
    return marks, round(time.monotonic() - began, 1)


def grade_alone(job: Job) -> tuple[Records, float]:
    """As :func:`grade_one`, on a machine of a cluster, by a process for this submission alone."""
    if job.task["isolated"] and (problem := isolation_problem()):
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
    exercises = Task(task["chapter"], task["seed"], only=tuple(task["only"])).exercises
    return [asdict(marked(exercise, "look at this", FAILED, inside=words)) for exercise in exercises]


def _release() -> str:
    """A hash of the version of the package, and of the text of its exercises and of the grader."""
    digest = hashlib.sha256(fhx.__version__.encode())
    package = Path(fhx.__file__).parent
    for folder in (package / "exercises", package / "course" / "grading"):
        for path in sorted(path for kind in ("*.py", "*.toml", "*.json") for path in folder.rglob(kind)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(path: Path | None, task: Task, release: str) -> str:
    """The same for the same file, task and release."""
    told = asdict(task) | {"hidden": (), "release": release}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    if path is not None and path.is_file():
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _content(path: Path | None) -> bytes | None:
    """What is sent to another machine; a file that is refused anyway is not read."""
    if path is None or not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
        return None
    return path.read_bytes()


def _record(out: Path, submission: Submission) -> Path:
    return out / "records" / f"{submission.folder}.json"


def recorded_chapter(out: Path) -> int | None:
    """The chapter of the grades that a folder holds."""
    for path in sorted((out / "records").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, IndexError):
            return int(json.loads(path.read_text("utf-8"))["marks"][0]["exercise"][:2])
    return None


def _recorded(out: Path, submission: Submission, key: str) -> Graded | None:
    """What is on record, unless it is of another file or task, or the grader had failed."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        data = json.loads(_record(out, submission).read_text("utf-8"))
        marks = tuple(map(Mark.of, data.pop("marks")))
        graded = Graded(**data, marks=marks)
        return graded if graded.key == key and not graded.has_failed else None
    return None
