"""Make an autograder for Gradescope: an archive with the grader, the task, and what installs them."""

import argparse
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

import fhx
from fhx._files import write_atomically
from fhx._version import shipped
from fhx.course import CourseError
from fhx.course.grading.launcher import USER
from fhx.course.grading.marks import Task
from fhx.course.grading.options import add_task_arguments, task_of
from fhx.course.grading.texts import on_screen

__all__ = ["add_arguments", "archive", "pins", "run"]

SCRIPTS = ("setup.sh", "run_autograder")
"""What Gradescope starts: once for a container, and for each submission."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of all files, so that the same task gives the same archive."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is graded, and where to."""
    add_task_arguments(parser, seconds=480)
    parser.add_argument(
        "--extra-index-url", metavar="URL", help="where pip looks too, such as PyTorch's for its small CPU build"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="ZIP", help="the file to write")


def run(arguments: argparse.Namespace) -> None:
    """Write the archive, and say what it grades.

    Raises:
        CourseError: something is missing or cannot be used; nothing was written.
    """
    task = task_of(arguments)
    content = archive(task, arguments.extra_index_url)
    try:
        write_atomically(arguments.out, content)
    except OSError as error:
        raise CourseError(f"{arguments.out} cannot be written: {error.strerror}") from error
    most = sum(exercise.notes.points if exercise.notes else 1 for exercise in task.exercises)
    print(on_screen(f"{arguments.out}: {len(task.exercises)} exercises of chapter {task.chapter}, {most:g} points"))
    print("It holds your seed and private inputs: keep it from students.")


def archive(task: Task, index: str | None = None) -> bytes:
    """The bytes of the archive.

    Args:
        task: what submissions are graded by.
        index: a further index of packages.
    """
    here, package = Path(__file__).parent, Path(fhx.__file__).parent
    files = {name: (here / name).read_bytes() for name in SCRIPTS}
    files["task.json"] = json.dumps(asdict(task) | {"isolation": USER, "hidden": ()}, indent=1).encode()
    files["python-version"] = f"{sys.version_info[0]}.{sys.version_info[1]}\n".encode()
    lines = [*([f"--extra-index-url {index}"] if index else []), *pins()]
    files["requirements.txt"] = "".join(f"{line}\n" for line in lines).encode()
    for path in sorted(path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        files[f"fhx/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for path in sorted(shipped().glob("*.json")):
        files[f"fhx/results/{path.name}"] = path.read_bytes()
    # Python tells the version of the package by this file.
    files[f"fhx-{fhx.__version__}.dist-info/METADATA"] = (distribution("fhx").read_text("METADATA") or "").encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # with permissions, as on Unix
            entry.external_attr = (0o100755 if name in SCRIPTS else 0o100644) << 16
            target.writestr(entry, content)
    return made.getvalue()


def pins() -> list[str]:
    """Requirements that the grader has here, each with its version.

    Raises:
        CourseError: one of them is not installed.
    """
    found: dict[str, str] = {}
    todo, seen = [("fhx", "course")], set[tuple[str, str]]()
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for needed in _needs(name, extra):
            try:
                version = Version(distribution(needed.name).version)
            except PackageNotFoundError:
                raise CourseError(f"{name} needs the package {needed.name}, which is not installed here") from None
            if needed.name != "fhx":
                found[needed.name.lower().replace("_", "-")] = version.public
            # What torch needs depends on its build, of which the index of the container's has another.
            todo += [(needed.name, part) for part in (*needed.extras, "") if needed.name != "torch"]
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def _needs(name: str, extra: str) -> Iterator[Requirement]:
    """What a distribution requires here, with one of its extras."""
    for text in distribution(name).requires or ():
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": extra}):
            yield needed
