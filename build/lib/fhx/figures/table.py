"""A table of exact numbers as cells: every entry can be read, and signs are told apart without colour."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from attrs import frozen
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from fhx.exact.numbers import Number
from fhx.figures.paper import EDGE, INK, SOFT, TEXT, write
from fhx.figures.style import COLORS
from fhx.figures.words import text_width

__all__ = ["Table"]

_ONE, _MORE, _LESS = COLORS[0], "#a9bfe8", "#ffffff"
_PAD, _LARGEST, _BREAK = 5.0, 23.0, 8.0
_TALLEST = 720.0


@frozen(eq=False)
class Table:
    """Cells in points, with names for rows and columns.

    Args:
        entries: rows of exact numbers; a zero is an empty cell, and where None stands there is no cell.
        rows, columns: their names.
        blocks: the first column of each group of columns, and the heading of the group.
        breaks: rows with a gap above them.
        width: how wide the table may be.
        gap: between blocks.
        notes: words in place of the cell at a row and column.
        heading: what the names of the columns are.
        spoken: cells, by row and column, that show a zero.
        tall: height of a row; unless given, cells are square where numbers stay readable.

    Raises:
        ValueError: more columns or rows than can be read.
    """

    entries: Sequence[Sequence[Number | None]]
    rows: Sequence[str]
    columns: Sequence[str]
    blocks: Sequence[tuple[int, str]]
    breaks: Sequence[int]
    width: float
    gap: float
    notes: Sequence[tuple[int, int, str]] = ()
    heading: str = ""
    spoken: AbstractSet[tuple[int, int]] = frozenset()
    tall: float | None = None

    def __attrs_post_init__(self) -> None:
        if self._room / len(self.columns) < self._narrowest:
            most = int(self._room / self._narrowest)
            raise ValueError(f"{len(self.columns)} columns do not fit: at most {most} can be read on a phone")
        if self.size[1] > _TALLEST:
            raise ValueError(f"{len(self.rows)} rows are too many for a page")

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points."""
        last = len(self.columns) - 1
        return self._x(last) + self._cell + 2, self._top + self._high * len(self.rows) + _BREAK * len(self.breaks) + 2

    def draw(self, ax: Axes) -> None:
        """Draw into axes whose unit is a point."""
        height = self.size[1]
        for i, row in enumerate(self.entries):
            y = height - self._y(i)
            write(ax, self._left - _PAD, y, self.rows[i], ha="right")
            for j, entry in enumerate(row):
                if entry is not None:
                    self._draw_cell(ax, self._x(j), y, entry, (i, j) in self.spoken)
        for i, j, words in self.notes:
            write(ax, self._x(j) + self._cell - 2, height - self._y(i), words, ha="right")
        for j, name in enumerate(self.columns):
            place = self._x(j) + self._cell / 2, height - self._top + 5
            if self._is_upright(name):
                write(ax, *place, name, rotation=90, va="bottom")
            else:
                write(ax, *place, name, va="baseline")
        if self.heading:
            write(ax, self._left - _PAD, height - self._top + 5, self.heading, ha="right", va="baseline", color=SOFT)
        for k, (j, name) in enumerate(self.blocks):
            end = self.blocks[k + 1][0] if k + 1 < len(self.blocks) else len(self.columns)
            x = (self._x(j) + self._x(end - 1) + self._cell) / 2
            write(ax, x, height - 12, name, fontsize=13)

    def _draw_cell(self, ax: Axes, x: float, y: float, entry: Number, spoken: bool) -> None:
        fill, ink, edge, width = ("white", INK, EDGE, 0.6)
        if entry == 1:
            fill, ink, edge = _ONE, "white", _ONE
        elif entry > 0:
            fill = _MORE
        elif entry < 0:
            fill, edge, width = _LESS, COLORS[1], 1.6
        inset = 1.2 if width > 1 else 0.5
        corner = (x + inset, y - self._high / 2 + inset)
        size = (self._cell - 2 * inset, self._high - 2 * inset)
        ax.add_patch(Rectangle(corner, *size, fc=fill, ec=edge, lw=width, gid="cell"))
        if entry or spoken:
            write(ax, x + self._cell / 2, y, _written(entry), color=ink, gid="in a cell")

    def _x(self, j: int) -> float:
        return self._left + j * self._cell + self.gap * sum(1 for start, _ in self.blocks[1:] if start <= j)

    def _y(self, i: int) -> float:
        return self._top + (i + 0.5) * self._high + _BREAK * sum(1 for row in self.breaks if row <= i)

    @cached_property
    def _left(self) -> float:
        return max(text_width(name, TEXT) for name in (*self.rows, self.heading)) + _PAD + 3

    @cached_property
    def _narrowest(self) -> float:
        written = [_written(entry) for row in self.entries for entry in row if entry]
        return max([text_width("0", TEXT), *(text_width(words, TEXT) for words in written)]) + 4.0

    @cached_property
    def _room(self) -> float:
        """The width of all cells together."""
        return self.width - self._left - self.gap * max(len(self.blocks) - 1, 0) - 2

    @cached_property
    def _cell(self) -> float:
        return min(_LARGEST, self._room / len(self.columns))

    @cached_property
    def _high(self) -> float:
        return self.tall or max(self._cell, 16.0)

    @cached_property
    def _top(self) -> float:
        upright = [text_width(name, TEXT) + 8 for name in self.columns if self._is_upright(name)]
        return max([18.0, *upright]) + (24.0 if self.blocks else 0.0)

    def _is_upright(self, name: str) -> bool:
        """Names of several letters stand upright as soon as one of them is too wide for a cell."""
        widest = max(text_width(other, TEXT) for other in self.columns)
        return len(name) > 1 and widest > self._cell - 3


def _written(entry: Number) -> str:
    return str(entry).replace("-", "\u2212")
