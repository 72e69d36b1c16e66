"""Tables that a person wrote, or another system: read whole, or refused with the line that is at fault."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fhx.course import CourseError

__all__ = ["Row", "read_rows"]

DELIMITERS = ",;\t"


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        path: of the file.
        line: its number there.
        cells: by the names of their columns.
    """

    path: Path
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.path}, line {self.line}"

    def number(self, column: str) -> float:
        """The number in a column.

        Raises:
            CourseError: there is none.
        """
        try:
            value = float(self[column])
        except ValueError:
            value = float("nan")
        if not abs(value) < float("inf"):
            raise CourseError(f"{self.place}: {self[column]!r} is not a number ({column})")
        return value


def read_rows(path: Path, columns: Sequence[str], optional: Sequence[str] | None = None) -> list[Row]:
    """The rows of a CSV file with a line of names at its top; commas, semicolons or tabs end a cell.

    Args:
        path: of the file.
        columns: those that must be there.
        optional: further ones that may be there; None: any.

    Raises:
        CourseError: it cannot be read, or lacks a column, or has a row with another number of cells.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CourseError(f"{path}, line {line} is not in UTF-8; save the file in that encoding") from error
    first = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    try:
        return _rows(
            path, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), columns, optional
        )
    except csv.Error as error:
        raise CourseError(f"{path} is not a table: {error}") from error


def _rows(path: Path, reader: Any, columns: Sequence[str], optional: Sequence[str] | None) -> list[Row]:
    names = [name.strip() for name in next(reader, [])]
    if missing := [name for name in columns if name not in names]:
        raise CourseError(f"{path}, line 1: there is no column {missing[0]!r}")
    if optional is not None and (unknown := [name for name in names if name not in (*columns, *optional)]):
        known = ", ".join((*columns, *optional))
        raise CourseError(f"{path}, line 1: {unknown[0]!r} is not one of the columns {known}")
    if twice := [name for name in (*columns, *(optional or ())) if names.count(name) > 1]:
        raise CourseError(f"{path}, line 1: there are two columns {twice[0]!r}")
    rows, line = [], reader.line_num + 1
    for cells in reader:
        if len(cells) > len(names) and any(cells[len(names) :]):
            raise CourseError(f"{path}, line {line}: it has {len(cells)} cells, and line 1 has {len(names)}")
        filled = [cell.strip() for cell in cells] + [""] * (len(names) - len(cells))
        if any(filled):
            rows.append(Row(path, line, dict(zip(names, filled, strict=False))))
        line = reader.line_num + 1
    return rows
