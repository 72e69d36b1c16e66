"""Make notebooks to hand out: without solutions, answers and outputs, for Jupyter and Colab."""

import argparse
from pathlib import Path

from fhx.course import CourseError
from fhx.course.exercises import check_seed, read_students
from fhx.course.version_command import add_version_arguments, make_versions
from fhx.course.versions import student_version

__all__ = ["add_arguments", "run"]


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
    if arguments.seed is not None:
        check_seed(arguments.seed)
    students = read_students(arguments.variants) if arguments.variants else ()
    make_versions(arguments, "student", student_version, students, arguments.seed or "")
