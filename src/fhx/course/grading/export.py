"""Export the grades of a class for the gradebook of Canvas or Moodle, by the list of students that it exports."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from fhx._files import write_atomically
from fhx.course import CourseError
from fhx.course.grading.csv_files import Row
from fhx.course.grading.decisions import read_batch
from fhx.course.grading.pages import number
from fhx.course.grading.records import Graded
from fhx.course.grading.reports import told
from fhx.course.grading.rosters import CANVAS, MOODLE, Matches, System, matched, named, read_roster
from fhx.course.grading.texts import on_screen, table

__all__ = ["add_arguments", "run"]

POSSIBLE = "Points Possible"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which grades, for which students, and where to."""
    parser.add_argument("grades", type=Path, help="the folder that grade wrote to")
    roster = parser.add_mutually_exclusive_group(required=True)
    roster.add_argument("--canvas", type=Path, metavar="CSV", help="the gradebook as Canvas exports it")
    roster.add_argument("--moodle", type=Path, metavar="CSV", help="the grader report as Moodle exports it")
    parser.add_argument("--assignment", metavar="NAME", help="the column of the grades (default: Chapter N)")
    parser.add_argument("--out", type=Path, required=True, metavar="CSV", help="the file to write")


def run(arguments: argparse.Namespace) -> None:
    """Write the table, and say who is not in it.

    Raises:
        CourseError: something is missing or cannot be used; nothing was written.
    """
    batch, titles = read_batch(arguments.grades)
    system, path = (CANVAS, arguments.canvas) if arguments.canvas else (MOODLE, arguments.moodle)
    rows, columns = read_roster(path, system)
    persons = [row for row in rows if system.is_person(row)]
    matches = matched(persons, [graded.student for graded in batch], system)
    if not matches.found:
        first = matches.without_row[0]
        raise CourseError(f"no submission is of anybody in {path}: nobody there is called {first!r}, for one")
    by_name = {graded.student: graded for graded in batch}
    pairs = [(persons[place], by_name[student]) for place, student in sorted(matches.found.items())]
    kept = [name for name in system.kept if name in columns]
    assignment = arguments.assignment or f"Chapter {int(batch[0].marks[0].exercise[:2])}"
    most = sum(mark.most for mark in batch[0].marks)
    if system is CANVAS:
        written = table(_canvas(assignment, most, rows, kept, pairs))
    else:
        written = table(_moodle(assignment, most, kept, pairs, titles))
    try:
        write_atomically(arguments.out, written)
    except OSError as error:
        raise CourseError(f"{arguments.out} cannot be written: {error.strerror}") from error
    for line in _report(matches, pairs, system):
        print(on_screen(line))
    print(on_screen(f"{len(pairs)} of {len(batch)} submissions are in {arguments.out}"))


def _report(matches: Matches, pairs: Sequence[tuple[Row, Graded]], system: System) -> Iterator[str]:
    """Who is left out, or left empty."""
    for student in matches.without_row:
        yield f"nobody in the list fits the submission {student}"
    for row in matches.without_submission:
        yield f"no submission fits {named(row, system)} (line {row.line})"
    for _, graded in pairs:
        if graded.total is None:
            yield f"left empty, since a person has to decide: {graded.student}"


def _canvas(
    assignment: str, most: float, rows: Sequence[Row], kept: Sequence[str], pairs: Sequence[tuple[Row, Graded]]
) -> Iterator[list[str]]:
    """The columns of Canvas's import; a column that the gradebook has already keeps its name, with the number in it."""
    same = re.compile(rf"{re.escape(assignment)}( \(\d+\))?")
    columns = [name for name in rows[0].cells if same.fullmatch(name)]
    if len(columns) > 1:
        raise CourseError(f"{rows[0].path}: two columns are called {assignment}: {columns[0]} and {columns[1]}")
    column = columns[0] if columns else assignment
    possible = next((row for row in rows if row.cells.get("Student") == POSSIBLE), None)
    known = possible[column] if possible and columns else ""
    if known and _value(known) != most:
        raise CourseError(
            f"{rows[0].path}: {column} has {known} points in the gradebook, and {most:g} here; change it there first"
        )
    yield [*kept, column]
    yield [*(f"    {POSSIBLE}" if name == "Student" else "" for name in kept), f"{most:g}"]
    for row, graded in pairs:
        yield [*(row[name] for name in kept), number(graded.total)]


def _value(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _moodle(
    assignment: str,
    most: float,
    kept: Sequence[str],
    pairs: Sequence[tuple[Row, Graded]],
    titles: Mapping[str, str],
) -> Iterator[list[str]]:
    """Who it is, the points and a feedback, for Moodle's import of grades."""
    yield [*kept, assignment, f"{assignment} (feedback)"]
    for row, graded in pairs:
        yield [*(row[name] for name in kept), number(graded.total), _feedback(graded, most, titles)]


def _feedback(graded: Graded, most: float, titles: Mapping[str, str]) -> str:
    """In a line for each exercise without all its points, what the student's page says on it."""
    lines = [told(graded, most)]
    if len({(mark.message, mark.points) for mark in graded.marks}) == 1 and graded.total is None:
        return f"{lines[0]} {graded.marks[0].message}"  # the file, and no exercise, is the matter
    for mark in graded.marks:
        if mark.points != mark.most or graded.decided.get(mark.exercise):
            points = "to be decided" if mark.points is None else f"{mark.points:g} of {mark.most:g}"
            said = graded.decided.get(mark.exercise) or f"{mark.status}. {mark.message}"
            lines.append(f"{titles[mark.exercise]}: {points}. {said}".strip())
    return "\n".join(lines)
