"""A table of results: shown as a table in a notebook and on a page, as aligned text elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attrs import frozen

from fhx.training import Interval

__all__ = ["Results", "results"]

NUMBER = re.compile(r"[-\u2212]?\d[\d,]*(?:\.\d+)?(?: ± \d+(?:\.\d+)?)?")
"""A number that is written out, perhaps with its half-width."""


@frozen(repr=False)
class Results:
    """A table of words, see :func:`results`: its columns' headings, its rows, and which columns stand to the right.

    Args:
        columns: the headings.
        rows: as many words each.
        right: for each column, whether it stands to the right.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[bool, ...]

    def _repr_markdown_(self) -> str:
        rule = ["---:" if right else "---" for right in self.right]
        escaped = [[word.replace("|", "\\|") for word in row] for row in (self.columns, *self.rows)]
        return "\n".join("| " + " | ".join(row) + " |" for row in (escaped[0], rule, *escaped[1:]))

    def __repr__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        sides = [str.rjust if right else str.ljust for right in self.right]
        return "\n".join(
            "  ".join(side(word, width) for side, word, width in zip(sides, row, widths, strict=True)).rstrip()
            for row in lines
        )


def results(columns: Sequence[str], rows: Iterable[Sequence[object]], digits: int | None = None) -> Results:
    """A table of results, the last line of a cell.

    An ``Interval`` is written as its mean and half-width, a ``Proportion`` as its count and interval, a whole number
    with commas, ``None`` as an empty cell, anything else as its words. A column stands to the right if all below its
    heading, empty cells apart, are numbers or intervals, also such that are written out as "8.29 ± 0.01".

    Args:
        columns: the headings.
        rows: as many values each; the first names the row.
        digits: decimals of intervals and of numbers that are not whole; unless given, two digits of the half-width and
            four significant ones.

    Raises:
        ValueError: no row, or a row with another number of values than there are columns.
    """
    found = [tuple(row) for row in rows]
    if not found:
        raise ValueError("a table of results needs a row")
    if odd := [row for row in found if len(row) != len(columns)]:
        raise ValueError(f"the row {odd[0]!r} has {len(odd[0])} values, and there are {len(columns)} columns")
    right = tuple(
        all(map(_is_number, (value for value in column if value not in (None, ""))))
        for column in zip(*found, strict=True)
    )
    return Results(tuple(columns), tuple(tuple(_words(value, digits) for value in row) for row in found), right)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Interval) or (isinstance(value, str) and bool(NUMBER.fullmatch(value)))


def _words(value: object, digits: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, Interval):
        return _number(format(value, "" if digits is None else f".{digits}f").partition(" (n")[0])
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(f"{value:,}")
    if isinstance(value, float):
        return _number(f"{value:.4g}" if digits is None else f"{value:.{digits}f}")
    return _number(value) if isinstance(value, str) and NUMBER.fullmatch(value) else str(value)


def _number(digits: str) -> str:
    """With a minus and not a hyphen, and none before zero."""
    return re.sub(r"^-(?=0(?:\.0*)?(?: |$))", "", digits).replace("-", "\u2212")
