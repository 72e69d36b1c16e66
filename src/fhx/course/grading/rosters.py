"""Lists of a class, as Canvas and Moodle write them, and whose submission is whose."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fhx.course import CourseError
from fhx.course.grading.csv_files import Row, read_rows
from fhx.course.grading.texts import folded

__all__ = ["CANVAS", "MOODLE", "Matches", "System", "matched", "read_roster"]


@dataclass(frozen=True)
class System:
    """What the table of a learning platform looks like.

    Attributes:
        name: of the platform.
        needed: columns of which one must be there.
        kept: columns that are handed back, as far as they are there.
        names: the columns, and pairs of columns, that a submission may be named after.
        is_person: whether a row is about somebody.
        download: the name of a file, or of its folder, as it is downloaded with those of others; ``who`` of it is one
            of the names.
    """

    name: str
    needed: tuple[str, ...]
    kept: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    is_person: Callable[[Row], bool]
    download: re.Pattern[str]


CANVAS = System(
    "Canvas",
    needed=("ID",),
    kept=("Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Root Account", "Section"),
    names=(("SIS Login ID",), ("ID",), ("SIS User ID",), ("Student",)),
    is_person=lambda row: bool(row["ID"]),  # two rows above the first student have none
    download=re.compile(r"[^\W_]+(_LATE)?_(?P<who>\d+)_\d+_.+"),  # lovelaceada_LATE_98765_4321001_homework
)
MOODLE = System(
    "Moodle",
    needed=("Email address", "ID number", "Username"),
    kept=("Username", "ID number", "Email address"),
    names=(("Username",), ("Email address",), ("ID number",), ("First name", "Last name"), ("First name", "Surname")),
    is_person=lambda row: any(row.cells.get(name) for name in ("Email address", "ID number", "Username")),
    download=re.compile(r"(?P<who>[^/]+)_\d+_assignsubmission_file.*", re.S),  # Ada Lovelace_4711_assignsubmission_file
)


@dataclass(frozen=True)
class Matches:
    """Whose submission is whose.

    Attributes:
        found: the submission's name, by the place of a row.
        without_row: submissions of nobody in the list.
        without_submission: rows of those who handed nothing in.
    """

    found: dict[int, str]
    without_row: list[str]
    without_submission: list[Row]


def read_roster(path: Path, system: System) -> tuple[list[Row], list[str]]:
    """The rows about persons, and all names of columns.

    Raises:
        CourseError: it is not such a table.
    """
    rows = read_rows(path, ())
    columns = list(rows[0].cells) if rows else []
    if not any(name in columns for name in system.needed):
        raise CourseError(f"{path} is not a table of {system.name}: it has no column {' or '.join(system.needed)}")
    if not any(map(system.is_person, rows)):
        raise CourseError(f"{path} lists nobody")
    return rows, columns


def matched(rows: Sequence[Row], students: Sequence[str], system: System) -> Matches:
    """Match names to rows: whole names first, and then what stands before the @ of an address.

    A name may also be that under which the platform hands out files. Upper and lower case are the same, and nothing
    else is guessed.

    Raises:
        CourseError: two rows fit one submission, or two submissions one row.
    """
    whole: dict[str, set[int]] = {}
    local: dict[str, set[int]] = {}
    for place, row in enumerate(rows):
        for name in filter(None, _names(row, system)):
            whole.setdefault(folded(name), set()).add(place)
            if "@" in name:
                local.setdefault(folded(name.rpartition("@")[0]), set()).add(place)
    found: dict[int, str] = {}
    nobodys = []
    for student in students:
        given = system.download.fullmatch(student)
        keys = [folded(student), *([folded(given["who"])] if given else [])]
        places = sorted(next(filter(None, (which.get(key) for key in keys for which in (whole, local))), ()))
        if len(places) > 1:
            both = " and ".join(f"line {rows[place].line} ({named(rows[place], system)})" for place in places[:2])
            raise CourseError(f"{rows[0].path}: the submission {student!r} fits two rows, {both}")
        if not places:
            nobodys.append(student)
        elif (other := found.setdefault(places[0], student)) != student:
            row = rows[places[0]]
            raise CourseError(f"{row.place} ({named(row, system)}): two submissions fit, {other!r} and {student!r}")
    return Matches(found, nobodys, [row for place, row in enumerate(rows) if place not in found])


def _names(row: Row, system: System) -> Iterator[str]:
    """What a submission of somebody may be called."""
    for columns in system.names:
        parts = [row.cells.get(column, "") for column in columns]
        if all(parts):
            yield " ".join(parts)
    if re.fullmatch(r"[^,]+,[^,]+", name := row.cells.get("Student", "")):  # Lovelace, Ada
        last, _, first = name.partition(",")
        yield f"{first.strip()} {last.strip()}"


def named(row: Row, system: System) -> str:
    """A name for a person."""
    return next(filter(None, reversed(list(_names(row, system)))), "")
