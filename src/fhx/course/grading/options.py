"""What submissions are graded by, as the commands ask for it."""

import argparse
from dataclasses import replace
from pathlib import Path

from fhx.course import CourseError
from fhx.course.exercises import check_seed, exercises_of, read_own, read_students
from fhx.course.grading.batch import read_private
from fhx.course.grading.launcher import GIB, Limits
from fhx.course.grading.marks import Task

__all__ = ["add_task_arguments", "task_of"]


def add_task_arguments(parser: argparse.ArgumentParser, seconds: float) -> None:
    """Which exercises, on which inputs, and within which limits.

    Args:
        parser: of the command.
        seconds: that a submission has by default.
    """
    parser.add_argument("--chapter", required=True, type=int, metavar="N", help="whose exercises are graded")
    parser.add_argument(
        "--seed", required=True, metavar="TEXT", help="random inputs are drawn from it; long, and kept to yourself"
    )
    parser.add_argument("--only", nargs="+", metavar="ID", default=(), help="the exercises that were assigned")
    parser.add_argument("--private", type=Path, help="a folder with further inputs, such as 03-hat.json")
    parser.add_argument(
        "--exercises", type=Path, metavar="PY", help="a file, or a folder of files, with exercises of your own"
    )
    parser.add_argument(
        "--variants", type=Path, metavar="CSV", help="the students of 'student --variants', by the same --seed"
    )
    parser.add_argument("--random", default=20, type=int, metavar="N", help="random inputs per exercise (default: 20)")
    parser.add_argument("--partial", action="store_true", help="points for the inputs on which a wrong answer is right")
    parser.add_argument("--memory", default=4.0, type=float, metavar="GIB", help="of a submission (default: 4)")
    parser.add_argument(
        "--seconds", default=seconds, type=float, metavar="S", help=f"of a submission (default: {seconds:g})"
    )


def task_of(arguments: argparse.Namespace) -> Task:
    """The task that these arguments describe.

    Raises:
        CourseError: one of them cannot be meant, or a file cannot be used.
    """
    own = read_own(arguments.exercises)
    known = exercises_of(arguments.chapter, own)
    if not known:
        raise CourseError(f"there is no chapter {arguments.chapter} with exercises")
    if unknown := [name for name in arguments.only if not name.startswith(f"{arguments.chapter:02}-")]:
        raise CourseError(f"{unknown[0]} is not an exercise of chapter {arguments.chapter}")
    if unknown := [name for name in arguments.only if name not in known]:
        raise CourseError(f"there is no exercise {unknown[0]}; chapter {arguments.chapter} has {', '.join(known)}")
    check_seed(arguments.seed)
    if arguments.random < 0 or arguments.memory <= 0 or arguments.seconds <= 0:
        raise CourseError("--memory and --seconds must be positive, and --random must not be negative")
    task = Task(
        chapter=arguments.chapter,
        seed=arguments.seed,
        random_inputs=arguments.random,
        only=tuple(arguments.only),
        partial=arguments.partial,
        limits=Limits(memory=int(arguments.memory * GIB), total=arguments.seconds),
        own=own,
        students=read_students(arguments.variants) if arguments.variants else (),
    )
    if task.students and not any(exercise.variant for exercise in task.exercises):
        raise CourseError(f"{arguments.variants} is of no use: no exercise that is graded has variants")
    return replace(task, private=read_private(arguments.private, task)) if arguments.private else task
