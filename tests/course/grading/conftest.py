"""One batch of submissions, good and hostile, graded once for all tests."""

import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile import LIMITS, MARKER, SECRET, TRIED, submissions

from fhx.course.grading.batch import Graded, grade_all
from fhx.course.grading.command import grade_folder
from fhx.course.grading.marks import Task
from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.submissions import find_submissions


@dataclass(frozen=True)
class Batch:
    """What the tests look at.

    Attributes:
        folder: holds ``submissions``, ``private`` and ``out``.
        task: what was graded by.
        graded: by name.
        first: those that were done when the batch was interrupted, with the times of their records.
        calls: how often a submission reached the test's own server.
        folders: temporary ones that were there before.
    """

    folder: Path
    task: Task
    graded: dict[str, Graded]
    first: dict[str, float]
    calls: int
    folders: set[Path]


@pytest.fixture(scope="session")
def isolated() -> None:
    """Skips where no namespaces can be made."""
    if problem := isolation_problem():
        pytest.skip(problem)


@pytest.fixture(scope="session")
def batch(isolated: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    """All submissions, graded by two workers and interrupted once."""
    folder, folders = tmp_path_factory.mktemp("batch"), set(Path(tempfile.gettempdir()).glob("rc-*"))
    for name in ("submissions", "private"):
        (folder / name).mkdir()
    (folder / "private" / "03-hat.json").write_text("[[7]]")
    (folder / "private" / "note.txt").write_text(SECRET)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.setblocking(False)
        for name, content in submissions(folder, server.getsockname()[1]).items():
            path = folder / "submissions" / f"{name}.ipynb"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        with (folder / "submissions" / "huge.ipynb").open("wb") as file:
            file.truncate(2**30)  # a hole, and no disk is used
        hidden = tuple(str(folder / name) for name in ("submissions", "private", "out"))
        task = Task(
            3,
            seed="a seed of a test",
            only=TRIED,
            random_inputs=8,
            private={"03-hat": [[7]]},
            limits=LIMITS,
            hidden=hidden,
        )
        out, found = folder / "out", find_submissions(folder / "submissions")
        beginning = grade_all(found, task, out, workers=2)
        done = [next(beginning) for _ in range(4)]
        beginning.close()
        first = {one.student: (out / "records" / f"{one.folder}.json").stat().st_mtime_ns for one in done}
        graded = grade_folder(folder / "submissions", task, out, workers=2)
        calls = 0
        try:
            while True:
                server.accept()[0].close()
                calls += 1
        except BlockingIOError:
            pass
    yield Batch(folder, task, {one.student: one for one in graded}, first, calls, folders)
    for path in Path("/tmp").glob(f"{MARKER}*"):
        path.unlink()
