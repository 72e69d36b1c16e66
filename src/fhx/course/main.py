"""The command ``fhx-course``.

A subcommand is a module with ``add_arguments(parser)``, which describes its arguments to argparse, and
``run(arguments)``, which does the work and raises a :class:`CourseError` where it cannot. The first line of its
docstring is its help.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from types import ModuleType

from fhx.course import CourseError
from fhx.course.grading.texts import on_screen

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
    """Run a subcommand; returns the exit status."""
    try:
        parsed = _parser().parse_args(arguments)
        parsed.run(parsed)
    except CourseError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("fhx-course", description="Assign chapters of the book as coursework.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, path in COMMANDS.items():
        module = _imported(path)
        text = (module.__doc__ or "").partition("\n")[0]
        command = commands.add_parser(name, help=text, description=text)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _imported(path: str) -> ModuleType:
    try:
        with chdir(Path(__file__).parent):  # the present one may be anybody's, and matplotlib reads its settings there
            return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "fhx":
            raise
        raise CourseError(
            f"the package {error.name!r} is missing. For coursework: pip install 'fhx[course]'"
        ) from error


def _fail(message: str) -> int:
    print(on_screen(f"fhx-course: error: {message}"), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
