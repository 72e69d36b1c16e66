"""Make notebooks to hand out: without solutions, answers and outputs, for Jupyter and Colab."""

import argparse
from pathlib import Path

from fhx.course import CourseError
from fhx.course.exercises import read_students
from fhx.course.version_command import add_version_arguments, make_versions
from fhx.course.versions import student_version

__all__ = ["add_arguments", "run"]

SHORTEST_SEED = 12
"""Characters of a seed, as the grader asks for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which chapters, from where, to where, and for whom."""
    add_version_arguments(parser)
    parser.add_argument(
        "--variants",
        type=Path,
        metavar="CSV",
        help="a table of students: each gets a notebook with values of their own",
    )
    parser.add_argument("--seed", metavar="TEXT", help="from which these are drawn, as for grade; kept to yourself")


def run(arguments: argparse.Namespace) -> None:
    """Write ``NN-title-student.ipynb`` for each chapter, or ``NAME/NN-title-student.ipynb`` for each student.

    Raises:
        CourseError: a chapter is unknown, a folder is missing, or a file in the way.
    """
    if (arguments.variants is None) != (arguments.seed is None):
        raise CourseError("--variants and --seed go together")
    if arguments.seed is not None and len(arguments.seed) < SHORTEST_SEED:
        raise CourseError(
            f"the seed {arguments.seed!r} could be guessed: take a text of at least {SHORTEST_SEED} characters"
        )
    students = read_students(arguments.variants) if arguments.variants else ()
    make_versions(arguments, "student", student_version, students, arguments.seed or "")
