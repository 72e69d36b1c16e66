"""The Cantor set of a base, in which a stack is a point, and the margin that tells its top."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fhx.figures.paper import INK, SOFT, TEXT, WIDTH, figure_of, sheet, write
from fhx.figures.style import COLORS
from fhx.figures.words import text_width

__all__ = ["cantor_set"]

_MARGIN = "#fbe3cd"
_LEFT, _RIGHT = 62.0, 12.0
_LINE, _STEP, _BAR = 17.0, 22.0, 11.0


def cantor_set(base: int = 3, depth: int = 4, stacks: Mapping[str, Fraction | int] | None = None) -> Figure:
    r"""The numbers whose digits in base B are 0 and B - 1, level by level, and the margin around the top digit.

    Level k shows where a number lies whose first k digits are known: :math:`2^k` intervals of length :math:`B^{-k}`.
    Between the two of level 1, from :math:`1/B` to :math:`(B-1)/B`, is the margin, of width :math:`(B-2)/B`, in
    which the top of a stack is told; for B = 2 the intervals touch, and there is none.

    Args:
        base: B, 2 to 10.
        depth: the last level, 1 to 6.
        stacks: points by their names: for a stack the component of one symbol, an exact number in [0, 1].

    Raises:
        ValueError: a base or a depth outside these, or a point outside [0, 1].
        TypeError: a point is not an exact number.
    """
    if not 2 <= base <= 10:
        raise ValueError(f"the base must be between 2 and 10, got {base}")
    if not 1 <= depth <= 6:
        raise ValueError(f"the depth must be between 1 and 6, got {depth}")
    for name, point in (stacks or {}).items():
        if not isinstance(point, int | Fraction):
            raise TypeError(f"the point {name!r} must be an integer or a Fraction, got {type(point).__name__}")
        if not 0 <= point <= 1:
            raise ValueError(f"the point {name!r} must be in [0, 1], got {point}")
    axis = _LINE + 8 + _STEP * (depth + 1)
    height = axis + 28 + (2.2 * _LINE if stacks else 0)
    ax = sheet(height)
    _draw_margin(ax, base, axis)
    for k in range(depth + 1):
        y = _LINE + 8 + k * _STEP
        write(ax, _LEFT - 12, y + _BAR / 2, f"{k} digit{'s' if k != 1 else ''}", ha="right", color=SOFT)
        for low in _lows(base, k):
            corner, width = (_x(low), y), _x(low + Fraction(1, base**k)) - _x(low)
            edge = {"ec": "white", "lw": 0.8} if width > 4 else {"lw": 0}
            ax.add_patch(Rectangle(corner, width, _BAR, fc=COLORS[0], gid=f"level {k}", zorder=2, **edge))
    _draw_axis(ax, base, axis)
    _draw_points(ax, stacks or {}, axis)
    return figure_of(ax)


def _lows(base: int, k: int) -> list[Fraction]:
    """Where the intervals of level k begin."""
    lows = [Fraction(0)]
    for i in range(1, k + 1):
        lows = [low + Fraction(digit, base**i) for low in lows for digit in (0, base - 1)]
    return lows


def _x(value: Fraction | int) -> float:
    return _LEFT + float(value) * (WIDTH - _LEFT - _RIGHT)


def _draw_margin(ax: Axes, base: int, axis: float) -> None:
    low, high = Fraction(1, base), Fraction(base - 1, base)
    top = _LINE + 8 + _STEP - 6
    if base == 2:
        ax.plot([_x(low)] * 2, [_LINE, axis], color=COLORS[1], lw=1.6, zorder=3, gid="no margin")
        write(ax, _x(low), _LINE / 2, "no margin: 0.1000… = 0.0111…", color=COLORS[1])
        return
    ax.add_patch(Rectangle((_x(low), top), _x(high) - _x(low), axis - top, fc=_MARGIN, lw=0, zorder=0, gid="margin"))
    words = f"margin of width {Fraction(base - 2, base)}"
    write(ax, (_x(low) + _x(high)) / 2, _LINE / 2, words, color=COLORS[1])
    y = _LINE + 2
    arrow = {"arrowstyle": "<|-|>", "color": COLORS[1], "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (_x(low), y), (_x(high), y), arrowprops=arrow)


def _draw_axis(ax: Axes, base: int, y: float) -> None:
    ax.plot([_x(0), _x(1)], [y, y], color=INK, lw=0.9)
    marks = sorted({Fraction(0), Fraction(1, base), Fraction(base - 1, base), Fraction(1)})
    for mark in marks:
        ax.plot([_x(mark)] * 2, [y, y + 4], color=INK, lw=0.9)
        over = {"fc": "white", "ec": "none", "pad": 1}  # the line from a point to its name passes behind
        write(ax, _x(mark), y + 14, str(mark), color=SOFT, gid="tick", bbox=over, zorder=3)


def _draw_points(ax: Axes, stacks: Mapping[str, Fraction | int], axis: float) -> None:
    """Names in one line below the axis, moved apart where they would touch."""
    if not stacks:
        return
    from scipy.optimize import isotonic_regression  # slow to import, so only here

    items = sorted(stacks.items(), key=lambda item: item[1])
    widths = np.array([text_width(name, TEXT) + 8 for name, _ in items])
    if widths.sum() > WIDTH:
        raise ValueError(f"the names of {len(items)} points are too long for one line: {', '.join(map(repr, stacks))}")
    steps = np.concatenate([[0], np.cumsum((widths[:-1] + widths[1:]) / 2)])
    wanted = np.array([_x(point) for _, point in items])
    low, high = widths[0] / 2, WIDTH - widths[-1] / 2 - steps[-1]
    places = np.clip(isotonic_regression(wanted - steps).x, low, high) + steps
    for (name, point), x in zip(items, places, strict=True):
        y = axis + 28 + _LINE
        ax.plot([_x(point), _x(point), x], [axis, axis + 24, y - 4], color=COLORS[2], lw=0.9, zorder=1)
        ax.plot([_x(point)], [axis], "o", color=COLORS[2], ms=6, zorder=4, gid="point")
        write(ax, x, y + _LINE / 2 - 2, name, color=COLORS[2], gid="name")
