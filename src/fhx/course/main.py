"""The command ``fhx-course``.

A subcommand is a module with ``add_arguments(parser)``, which describes its arguments to argparse, and
``run(arguments)``, which does the work and raises a :class:`CourseError` where it cannot. The first line of its
docstring is its help. Only the module of the subcommand that is asked for is imported: its packages may be missing.
"""

import argparse
import ast
import importlib
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from types import ModuleType

from fhx.course import CourseError
from fhx.course.grading.texts import on_screen
from fhx.course.unseen import words_of_command

__all__ = ["main"]

COMMANDS = {
    "student": "fhx.course.student",
    "instructor": "fhx.course.instructor",
    "grade": "fhx.course.grading.command",
    "export": "fhx.course.grading.export",
    "gradescope": "fhx.course.gradescope.command",
}
"""The module of each subcommand."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns the exit status.

    Args:
        arguments: the words after the command's name; without them, this process is the command.
    """
    try:
        given = words_of_command() if arguments is None else arguments
        parsed = _parser(given[0] if given else "").parse_args(given)
        parsed.run(parsed)
    except CourseError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted")
    return 0


def _parser(asked: str) -> argparse.ArgumentParser:
    """All subcommands, with the arguments of the one that is asked for."""
    parser = argparse.ArgumentParser("fhx-course", description="Assign chapters of the book as coursework.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        text = _first_line(path)
        command = commands.add_parser(name, help=text, description=text)
        if name == asked:
            module = _imported(path)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _first_line(path: str) -> str:
    """What the docstring of a module says first."""
    file = Path(__file__).parent.joinpath(*path.split(".")[2:]).with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]


def _imported(path: str) -> ModuleType:
    try:
        with chdir(Path(__file__).parent):  # the present one may be anybody's, and matplotlib reads its settings there
            return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "fhx":
            raise
        missing = f"the package {error.name!r} is missing. For coursework: pip install 'fhx[course]'"
        raise CourseError(missing) from error


def _fail(message: str) -> int:
    print(on_screen(f"fhx-course: error: {message}"), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
