"""A graded submission, and the file that it is recorded in."""

import hashlib
import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import fhx
from fhx._files import write_atomically
from fhx.course.grading.marks import FAILED, Mark, Task, writable
from fhx.course.grading.notebook import LARGEST
from fhx.course.grading.submissions import Submission, file_name

__all__ = ["Graded", "key_of", "read_record", "recorded", "recorded_chapter", "release", "write_record"]


@dataclass(frozen=True)
class Graded:
    """A submission with its marks, as it is recorded.

    Attributes:
        student: as in :class:`Submission`.
        file: its name.
        key: stands for all that the marks depend on.
        seconds: that it took.
        marks: in the order of the exercises.
        decided: the exercises whose points a person decided, each with a comment. None are on record.
        days: that it is late. They are not on record either.
        penalty: the percentage of its points that each of them costs.
    """

    student: str
    file: str
    key: str
    seconds: float
    marks: tuple[Mark, ...]
    decided: dict[str, str] = field(default_factory=dict)
    days: float = 0.0
    penalty: float = 0.0

    @property
    def folder(self) -> str:
        """A name for the student's files."""
        return file_name(self.student)

    @property
    def earned(self) -> float | None:
        """Points, None as long as a person has to decide on some."""
        points = [mark.points for mark in self.marks if mark.points is not None]
        return sum(points) if len(points) == len(self.marks) else None

    @property
    def total(self) -> float | None:
        """The same, less what late days cost."""
        return None if self.earned is None else self.after_late_days(self.earned)

    def after_late_days(self, points: float) -> float:
        """What is left of points; never less than 0."""
        return points if not self.days else round(max(0.0, points * (1 - self.days * self.penalty / 100)), 2)

    def missing(self, exercises: Sequence[str]) -> tuple[str, ...]:
        """Those of some exercises that have no mark."""
        names = {mark.exercise for mark in self.marks}
        return tuple(name for name in exercises if name not in names)

    def with_marks(self, marks: Sequence[Mark], exercises: Sequence[str], seconds: float) -> "Graded":
        """The same with new marks, which count where there is none; of the times the longest."""
        found = {mark.exercise: mark for mark in (*marks, *self.marks)}
        return replace(self, marks=tuple(found[name] for name in exercises), seconds=max(seconds, self.seconds))

    @property
    def has_failed(self) -> bool:
        """Whether the grader failed somewhere, so that it is worth another run."""
        return any(mark.message == FAILED for mark in self.marks)


def release() -> str:
    """A hash of the version of the package, and of the text of its exercises and of the grader."""
    digest = hashlib.sha256(fhx.__version__.encode())
    package = Path(fhx.__file__).parent
    for folder in (package / "exercises", package / "course" / "grading"):
        for path in sorted(path for kind in ("*.py", "*.toml", "*.json") for path in folder.rglob(kind)):
            digest.update(path.read_bytes())
    digest.update((package / "course" / "exercises.py").read_bytes())
    return digest.hexdigest()


def key_of(path: Path | None, task: Task, version: str) -> str:
    """The same for the same task and version of the package, and behind a hyphen for the same file."""
    told = asdict(task) | {"hidden": (), "release": version}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    if path is None or not path.is_file():
        return f"{digest}-"
    if (size := path.stat().st_size) > LARGEST:  # it is refused for that
        return f"{digest}-{size}"
    with path.open("rb") as file:
        return f"{digest}-{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _record(out: Path, folder: str) -> Path:
    return out / "records" / f"{folder}.json"


def write_record(out: Path, graded: Graded) -> None:
    """Record what the grader found, and nothing that a person decided."""
    found = {name: value for name, value in asdict(graded).items() if name not in ("decided", "days", "penalty")}
    write_atomically(_record(out, graded.folder), (json.dumps(found, indent=1) + "\n").encode())


def read_record(out: Path, folder: str) -> Graded | None:
    """What is on record under a name."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        data = json.loads(_record(out, folder).read_text("utf-8"))
        marks = tuple(map(Mark.of, data.pop("marks")))
        return Graded(**data, marks=marks)
    return None


def recorded_chapter(out: Path) -> int | None:
    """The chapter of the grades that a folder holds."""
    for path in sorted((out / "records").glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError, IndexError):
            return int(json.loads(path.read_text("utf-8"))["marks"][0]["exercise"][:2])
    return None


def recorded(out: Path, submission: Submission, key: str, again: Collection[str]) -> Graded:
    """What is on record and holds: without the marks of exercises that are graded again, which are forgotten there too.

    Nothing holds that is of another file or task, and nothing where the grader had failed.
    """
    file = writable(submission.path.name) if submission.path else ""
    new = Graded(submission.student, file, key, 0.0, ())
    known = read_record(out, submission.folder)
    if known is None or known.has_failed or known.student != submission.student:
        return new
    if not again:
        return known if known.key == key else new
    if known.key.rpartition("-")[2] != key.rpartition("-")[2]:
        return new
    kept = replace(known, key=key, marks=tuple(mark for mark in known.marks if mark.exercise not in again))
    write_record(out, kept)
    return kept
