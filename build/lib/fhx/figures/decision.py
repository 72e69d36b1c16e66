"""Which net for which task: questions from top to bottom, each with what to take."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from fhx.figures.paper import FILL, INK, LIT, SOFT, arrow, figure_of, sheet
from fhx.figures.words import text_width

__all__ = ["decision_chart"]

_WIDTH, _LEFT, _RIGHT, _TEXT, _LINE = 360.0, 176.0, 148.0, 12.0, 16.0  # in points
_PAD, _DROP = 9.0, 27.0


def decision_chart(questions: Sequence[tuple[str, str, str]], otherwise: tuple[str, str]) -> Figure:
    """Questions from top to bottom, each with what to take if the answer is yes; the last box is for no to all.

    Args:
        questions: (question, what to take, where to read about it), in the order in which they are asked.
        otherwise: (what to take, where to read about it).

    Raises:
        ValueError: no question, more than 8, which no page holds, or an empty text.
    """
    if not 1 <= len(questions) <= 8:
        raise ValueError(f"{len(questions)} questions: at least one is needed, and at most 8 fit on a page")
    for texts in (*questions, otherwise):
        if not all(text.strip() for text in texts):
            raise ValueError(f"a text is empty in {texts}")
    rows = [(_wrapped(asks, _LEFT), _outcome(take, where, _RIGHT)) for asks, take, where in questions]
    last = _outcome(*otherwise, _LEFT)
    heights = [max(len(asked), len(taken)) * _LINE + 2 * _PAD for asked, taken in rows]
    total = sum(heights) + len(rows) * _DROP + len(last) * _LINE + 2 * _PAD + 4
    ax = sheet(total, _WIDTH)
    top, across = 2.0, _WIDTH - 2 - _RIGHT
    for (asked, taken), height in zip(rows, heights, strict=True):
        _box(ax, 2.0, top, _LEFT, height, asked, FILL)
        _box(ax, across, top, _RIGHT, height, taken, LIT)
        middle, foot = top + height / 2, top + height
        _arrow(ax, (2 + _LEFT, middle), (across, middle), "yes", (2 + _LEFT + (across - 2 - _LEFT) / 2, middle - 9))
        _arrow(ax, (24.0, foot), (24.0, foot + _DROP), "no", (40.0, foot + _DROP / 2))
        top = foot + _DROP
    _box(ax, 2.0, top, _LEFT, len(last) * _LINE + 2 * _PAD, last, LIT)
    return figure_of(ax)


Lines = list[tuple[str, bool]]


def _wrapped(text: str, width: float, bold: bool = False) -> Lines:
    """Lines that fit into a box, with a mark for bold ones, whose letters are about a seventh wider."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, _TEXT) * (1.17 if bold else 1.02) <= width - 2 * _PAD:
            lines[-1] = longer
        else:
            lines.append(word)
    return [(line, bold) for line in lines]


def _outcome(take: str, where: str, width: float) -> Lines:
    return _wrapped(take, width, bold=True) + _wrapped(where, width)


def _box(ax: Axes, x: float, y: float, width: float, height: float, lines: Lines, fill: str) -> None:
    shape = "round,pad=0,rounding_size=7"
    ax.add_patch(FancyBboxPatch((x, y), width, height, shape, fc=fill, ec=INK, lw=1.1, zorder=2))
    first = y + height / 2 - (len(lines) - 1) * _LINE / 2
    for place, (line, bold) in enumerate(lines):
        at = (x + _PAD, first + place * _LINE)
        weight = "bold" if bold else "normal"
        ax.text(*at, line, fontsize=_TEXT, color=INK, weight=weight, va="center_baseline", zorder=3, gid="in a box")


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], word: str, at: tuple[float, float]) -> None:
    arrow(ax, start, end, head=(6, 3))
    ax.text(*at, word, fontsize=_TEXT, color=SOFT, ha="center", va="center")
