"""Make notebooks for instructors: with solutions, outputs, and notes for marking."""

import argparse

from fhx.course.version_command import add_version_arguments, make_versions
from fhx.course.versions import instructor_version

__all__ = ["add_arguments", "run"]

add_arguments = add_version_arguments


def run(arguments: argparse.Namespace) -> None:
    """Write ``NN-title-instructor.ipynb`` for each chapter.

    Raises:
        CourseError: a chapter is unknown, a folder is missing, or a file in the way.
    """
    make_versions(arguments, "instructor", instructor_version)
