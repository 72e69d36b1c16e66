"""What the subcommands that make versions share."""

import argparse
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from fhx.course import CourseError
from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.version_files import write

__all__ = ["add_version_arguments", "make_versions"]


def add_version_arguments(parser: argparse.ArgumentParser) -> None:
    """Which chapters, from where, to where."""
    parser.add_argument("chapters", nargs="+", metavar="CHAPTER", help="numbers, as 3 or 03")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to; made if it does not exist")
    parser.add_argument(
        "--notebooks", type=Path, default=Path("notebooks"), help="the folder notebooks/ of a clone of the book"
    )
    parser.add_argument("--force", action="store_true", help="write over files that are not as this command made them")


def make_versions(arguments: argparse.Namespace, kind: str, version: Callable[[Chapter], NotebookNode]) -> None:
    """Make all that is asked for, then write it, and print the names of the files.

    Raises:
        CourseError: a chapter is unknown, a folder is missing, or a file in the way.
    """
    book = Book(arguments.notebooks)
    if arguments.out.exists() and not arguments.out.is_dir():
        raise CourseError(f"{arguments.out} is not a folder")
    chapters = [Chapter(book, number) for number in dict.fromkeys(map(_number, arguments.chapters))]
    files = {arguments.out / f"{chapter.path.stem}-{kind}.ipynb": version(chapter) for chapter in chapters}
    write(files, arguments.force)
    for path in files:
        print(path)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise CourseError(f"{text!r} is not a chapter; give numbers, as 3 or 03")
    return int(text)
