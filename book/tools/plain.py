"""Write the chapters as plain notebooks, with all that Binder needs: what the launch links lead to.

``python book/tools/plain.py FOLDER`` makes the content of the branch ``plain``. There a theorem is a quote with its
number, a citation is a link, and the first cell installs the package at the commit that the notebooks are of.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.book import Book
from fhx.course.chapters import Chapter
from fhx.course.versions import reader_version
from notebook_cells import ROOT, config

README = """\
# {title}, as plain notebooks

These files are made from the [book's repository]({url}) at `{revision}`, and every notebook program shows them. To
read, take the [rendered book]({home}); to change something, the notebooks of the repository.
"""
EDITABLE = re.compile(r"^(\s*)- -e \.$", re.M)


def plain_files(root: Path = ROOT) -> dict[str, str]:
    """What the branch holds: the text of each file by its path.

    Raises:
        CourseError: something in a chapter has no plain form.
    """
    book, settings = Book(root / "notebooks"), config(root)
    url = settings["repository"]["url"]
    conda = (root / "environment.yml").read_text("utf-8")
    line = rf"\1- fhx @ git+{url}@{book.revision}"
    files = {
        "README.md": README.format(title=settings["title"], url=url, revision=book.revision, home=book.home),
        "environment.yml": EDITABLE.sub(line, conda),
    }
    for number, path in book.paths.items():
        files[f"notebooks/{path.name}"] = nbformat.writes(reader_version(Chapter(book, number))) + "\n"
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="where to write them")
    folder = parser.parse_args(arguments).folder
    try:
        files = plain_files()
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    for name, text in files.items():
        write_atomically(folder / name, text.encode())
    print(f"{len(files)} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
