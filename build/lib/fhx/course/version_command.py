"""What the subcommands that make versions share."""

import argparse
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from fhx.course import CourseError
from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.exercises import joined, read_own, variant_of
from fhx.course.version_files import write

__all__ = ["add_version_arguments", "make_versions"]


def add_version_arguments(parser: argparse.ArgumentParser) -> None:
    """Which chapters, from where, to where."""
    parser.add_argument(
        "chapters",
        nargs="+",
        metavar="CHAPTER",
        help="numbers, as 3 or 03, or notebooks of your own, as my/20-powers.ipynb",
    )
    parser.add_argument("--only", nargs="+", metavar="ID", default=(), help="the exercises that are assigned")
    parser.add_argument(
        "--exercises", type=Path, metavar="PY", help="a file, or a folder of files, with exercises of your own"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to; made if it does not exist")
    parser.add_argument(
        "--notebooks", type=Path, default=Path("notebooks"), help="the folder notebooks/ of a clone of the book"
    )
    parser.add_argument("--force", action="store_true", help="write over files that are not as this command made them")


def make_versions(
    arguments: argparse.Namespace,
    kind: str,
    version: Callable[[Chapter], NotebookNode],
    students: Sequence[str] = (),
    seed: str = "",
) -> None:
    """Make all that is asked for, then write it, and print the names of the files.

    Args:
        arguments: as :func:`add_version_arguments` describes them.
        kind: the last word of the files' names.
        version: makes a version of a chapter.
        students: each of whom gets a version with variants, in a folder of that name; none for one version for all.
        seed: of the variants.

    Raises:
        CourseError: a chapter or exercise is unknown, a folder is missing, or a file in the way.
    """
    asked = _asked(arguments.chapters)
    book = Book(arguments.notebooks, tuple(path for path in asked.values() if path))
    if arguments.out.exists() and not arguments.out.is_dir():
        raise CourseError(f"{arguments.out} is not a folder")
    files = dict[Path, NotebookNode]()
    with joined(read_own(arguments.exercises)):
        only = _split(arguments.only, [Chapter(book, number) for number in asked])
        for number in asked:
            whole = Chapter(book, number, only[number])
            if students and not any(one.exercise.variant for one in whole.assigned):
                raise CourseError(f"no exercise that is assigned in {whole.path.name} has variants")
            name = f"{whole.path.stem}-{kind}.ipynb"
            for student in students:
                own = Chapter(book, number, only[number], partial(variant_of, seed=seed, student=student))
                files[arguments.out / student / name] = version(own)
            if not students:
                files[arguments.out / name] = version(whole)
    write(files, arguments.force)
    for path in files:
        print(path)


def _asked(chapters: Sequence[str]) -> dict[int, Path | None]:
    """The numbers of what is asked for, each with the notebook if it is not the book's."""
    asked = dict[int, Path | None]()
    for text in chapters:
        path = _own(Path(text)) if text.endswith(".ipynb") else None
        number = int(path.name[:2]) if path else _number(text)
        if asked.setdefault(number, path) != path:
            raise CourseError(f"two of the notebooks have the number {number}")
    return asked


def _own(path: Path) -> Path:
    if not re.match(r"[0-9]{2}-", path.name):
        raise CourseError(f"{path} is not named like a chapter, 20-title.ipynb")
    if not path.is_file():
        raise CourseError(f"there is no file {path}")
    return path


def _split(only: Sequence[str], chapters: Sequence[Chapter]) -> dict[int, list[str]]:
    """The exercises that are assigned, by chapter; none stand for all."""
    ids = {chapter.number: [one.exercise.id for one in chapter.assigned] for chapter in chapters}
    every = [id for names in ids.values() for id in names]
    if unknown := [id for id in only if id not in every]:
        names = " and ".join(chapter.path.name for chapter in chapters)
        raise CourseError(f"there is no exercise {unknown[0]} in {names}; there are {', '.join(every) or 'none'}")
    found = {number: [id for id in names if id in only] for number, names in ids.items()}
    if only and (without := [chapter.path.name for chapter in chapters if not found[chapter.number]]):
        raise CourseError(f"--only names no exercise of {without[0]}")
    return found


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CourseError(f"{text!r} is not a chapter; give numbers, as 3 or 03")
    return int(text)
