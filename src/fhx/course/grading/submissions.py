"""The notebooks in a folder, and whose they are."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fhx.course import CourseError
from fhx.course.grading.marks import writable
from fhx.course.grading.texts import folded

__all__ = ["Submission", "file_name", "find_submissions", "passed_over"]

ARCHIVED = "__MACOSX"
"""A folder of what is no file, which archives leave; Jupyter leaves one that is hidden."""
CHECKPOINTS = {".ipynb_checkpoints", ARCHIVED}
LONGEST = 120
"""Bytes of a name."""


@dataclass(frozen=True)
class Submission:
    """A file that a student handed in.

    Attributes:
        student: the name of the file, or of its folder if it is the only one there.
        path: where it is; None for a folder without a notebook.
        note: why it has another name than that.
    """

    student: str
    path: Path | None
    note: str = ""

    @property
    def folder(self) -> str:
        """A name for the student's files."""
        return file_name(self.student)


def find_submissions(folder: Path, seen: Callable[[], object] = lambda: None) -> list[Submission]:
    """The notebooks in a folder, or in folders in it, one folder per student.

    No two of them have names that some file system takes for one: those that would get other names, and a note.

    Args:
        folder: where they are.
        seen: called for each file.

    Raises:
        CourseError: there is no folder, or nothing in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is {'a file; name the folder it is in' if folder.exists() else 'not there'}")
    paths = []
    for path in _files(folder):
        seen()
        if _is_notebook(path):
            paths.append(path)
    inside = Counter(parent for path in paths for parent in path.parents)
    owners = ((path.parent if _is_alone(path, folder, inside) else path.with_suffix("")) for path in paths)
    found = [
        Submission(writable(str(owner.relative_to(folder))), path) for owner, path in zip(owners, paths, strict=True)
    ]
    empty = (part for part in folder.iterdir() if part.is_dir() and part.name[:1] != "." and part.name != ARCHIVED)
    found += [Submission(writable(part.name), None) for part in empty if part not in inside]
    if not found:
        raise CourseError(f"there is no notebook (.ipynb) in {folder}")
    return sorted(_distinct(found, folder), key=lambda one: one.student)


def _is_alone(path: Path, folder: Path, inside: Counter[Path]) -> bool:
    """Whether no other notebook is in its folder, or below."""
    return path.parent != folder and inside[path.parent] == 1


def _distinct(found: list[Submission], folder: Path) -> list[Submission]:
    """The same submissions under names of their own; a digest of where it is makes one out of a name."""
    places = [str(one.path.relative_to(folder)) if one.path else one.student for one in found]
    while True:
        names = [folded(one.folder) for one in found]
        count = Counter(names)
        if len(count) == len(found):
            return found
        for number, (one, name) in enumerate(zip(found, names, strict=True)):
            if count[name] > 1:
                digest = hashlib.sha256(os.fsencode(places[number])).hexdigest()[:8]
                student = f"{one.student}-{digest}"
                note = f"{writable(places[number])} is graded as {student}, since another one has the same name"
                found[number] = replace(one, student=student, note=note)


def passed_over(folder: Path) -> list[str]:
    """Files in a folder that are not graded: other than notebooks, such as archives, and notebooks that are hidden."""
    others = [path for path in _files(folder) if not _is_notebook(path)]
    seen = set(_files(folder))
    hidden = [path for path in _files(folder, is_hidden=True) if _is_notebook(path) and path not in seen]
    away = [path for path in hidden if not CHECKPOINTS & set(path.parts)]
    return sorted(writable(str(path.relative_to(folder))) for path in [*others, *away])


def _files(folder: Path, is_hidden: bool = False) -> Iterator[Path]:
    """Files and links in a folder and in those below, in order; what is hidden is left out unless it is asked for."""

    def is_wanted(name: str) -> bool:
        return name != ARCHIVED and (is_hidden or not name.startswith("."))

    for place, folders, files in os.walk(folder):
        folders[:] = sorted(filter(is_wanted, folders))
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        yield from (Path(place, name) for name in sorted([*files, *links]) if is_wanted(name))


def _is_notebook(path: Path) -> bool:
    return path.name.lower().endswith(".ipynb")


def file_name(student: str) -> str:
    """The name with its folders, cut off where file systems do not have such long ones."""
    name = student.replace("/", "__").encode()
    digest = hashlib.sha256(name).hexdigest()[:12]
    return name.decode() if len(name) <= LONGEST else f"{name[:LONGEST].decode(errors='ignore')}-{digest}"
