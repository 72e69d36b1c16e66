"""The notebooks in a folder, and whose they are."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fhx.course import CourseError
from fhx.course.grading.marks import writable

__all__ = ["Submission", "file_name", "find_submissions", "passed_over"]

LONGEST = 120
"""Bytes of a name."""


@dataclass(frozen=True)
class Submission:
    """A file that a student handed in.

    Attributes:
        student: the name of the file, or of its folder if it is the only one there.
        path: where it is; None for a folder without a notebook.
    """

    student: str
    path: Path | None

    @property
    def folder(self) -> str:
        """A name for the student's files."""
        return file_name(self.student)


def find_submissions(folder: Path) -> list[Submission]:
    """The notebooks in a folder, or in folders in it, one folder per student.

    Raises:
        CourseError: there is no folder, or nothing in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is {'a file; name the folder it is in' if folder.exists() else 'not there'}")
    paths = [path for path in _files(folder) if _is_notebook(path)]
    alone = {path.parent for path in paths if sum(path.parent in other.parents for other in paths) == 1} - {folder}
    owners = ((path.parent if path.parent in alone else path.with_suffix("")).relative_to(folder) for path in paths)
    found = [Submission(writable(str(owner)), path) for owner, path in zip(owners, paths, strict=True)]
    empty = [part for part in sorted(folder.iterdir()) if part.is_dir() and not _is_hidden(Path(part.name))]
    found += [Submission(part.name, None) for part in empty if not any(part in path.parents for path in paths)]
    if not found:
        raise CourseError(f"there is no notebook (.ipynb) in {folder}")
    names = [one.folder for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CourseError(f"two submissions would both be called {twice[0]}; rename one of them")
    return sorted(found, key=lambda one: one.student)


def passed_over(folder: Path) -> list[str]:
    """Files in a folder that are not notebooks, such as archives."""
    return [writable(str(path.relative_to(folder))) for path in _files(folder) if not _is_notebook(path)]


def _files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    return [path for path in found if not _is_hidden(path.relative_to(folder))]


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb"


def file_name(student: str) -> str:
    """The name with its folders, cut off where file systems do not have such long ones."""
    name = student.replace("/", "__").encode()
    digest = hashlib.sha256(name).hexdigest()[:12]
    return name.decode() if len(name) <= LONGEST else f"{name[:LONGEST].decode(errors='ignore')}-{digest}"


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
