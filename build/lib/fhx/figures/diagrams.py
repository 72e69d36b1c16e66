"""Drawings of nets by code: boxes are functions, letters the values that arrows carry between them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from fhx.figures.paper import FILL, INCHES, INK, LIT, SOFT, TEXT, WIDTH, arrow, blank

__all__ = ["depth_places", "two_layers", "unrolled"]

_HALF, _LETTER = 0.4, 0.3
_Point = tuple[float, float]


def _axes(ax: Axes, width: float, height: float) -> Axes:
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    ax.axis("off")
    return ax


def _box(ax: Axes, at: _Point, text: str, fill: str = FILL, half: float = _HALF) -> _Point:
    x, y = at
    shape = "round,pad=0,rounding_size=0.14"
    ax.add_patch(FancyBboxPatch((x - half, y - half), 2 * half, 2 * half, shape, fc=fill, ec=INK, lw=1.1, zorder=2))
    if text:
        ax.text(x, y, text, ha="center", va="center", color=INK, zorder=3, gid="in a box")
    return at


def _arrow(ax: Axes, start: _Point, end: _Point, bend: float = 0.0) -> None:
    arrow(ax, start, end, head=(5, 2.6), connectionstyle=f"arc3,rad={bend}")


def _note(ax: Axes, at: _Point, text: str, **kwargs: Any) -> None:
    ax.text(*at, text, **{"ha": "center", "va": "center", "color": INK, **kwargs})


def _right(ax: Axes, left: float, right: float, y: float, label: str = "") -> None:
    """An arrow to the right with what it carries above it."""
    _arrow(ax, (left, y), (right, y))
    if label:
        _note(ax, ((left + right) / 2 - 0.05, y + 0.4), label)


def _column(ax: Axes, x: float, t: str, functions: list[tuple[float, str, str]], top: float) -> None:
    """From the input at the bottom through boxes (height, name, fill) to the output at ``top``."""
    _note(ax, (x, _LETTER), f"$x_{{{t}}}$")
    _note(ax, (x, top), f"$y_{{{t}}}$")
    for y, name, fill in functions:
        _box(ax, (x, y), name, fill)
    heights = [y for y, _, _ in functions]
    starts = [_LETTER + _LETTER, *(y + _HALF for y in heights)]
    ends = [*(y - _HALF for y in heights), top - _LETTER]
    for start, end in zip(starts, ends, strict=True):
        _arrow(ax, (x, start), (x, end))


def unrolled(steps: int = 3) -> Figure:
    """A cell as a loop, and the same cell unrolled: one copy of f and g for every step, all with the same weights.

    Args:
        steps: number of copies of the cell drawn on the right, 2 to 4.

    Raises:
        ValueError: ``steps`` outside 2..4, where the labels would not be readable on a phone.
    """
    if not 2 <= steps <= 4:
        raise ValueError(f"steps must be between 2 and 4 for labels readable on a phone, got {steps}")
    pitch, first, f, g, top = 1.8, 5.1, 1.6, 3.0, 4.3
    width = first + pitch * (steps - 1) + 1.5
    fig = blank(WIDTH * 4.6 / width)
    ax = _axes(fig.add_axes((0, 0, 1, 1)), width, 4.6)
    column = [(f, "$f$", FILL), (g, "$g$", FILL)]
    _column(ax, 0.8, "t", column, top)
    _arrow(ax, (1.2, f + 0.2), (1.2, f - 0.2), bend=-2.6)
    _note(ax, (1.85, f), "$h_t$", ha="left")
    _note(ax, (2.85, f), "=", fontsize=18)
    _note(ax, (first - pitch + 0.4, f), "$h_0$")
    _right(ax, first - pitch + 0.75, first - _HALF, f)
    for k in range(steps):
        x = first + pitch * k
        _column(ax, x, str(k + 1), column, top)
        _right(ax, x + _HALF, x + pitch - _HALF, f, f"$h_{k + 1}$")
    return fig


def depth_places() -> Figure:
    """The four places where a recurrent net can be deep; in each panel the functions that make it so are orange."""
    fig = blank(72 * 6.6)
    panels: tuple[tuple[str, str, Callable[[Axes], None]], ...] = (
        ("In time", "the same step again and again", _in_time),
        ("In the cell", "several layers in a step", _in_the_cell),
        ("In a stack", "each layer has its state", _in_a_stack),
        ("In the readout", "layers outside the loop", _in_the_readout),
    )
    for i, (name, words, draw) in enumerate(panels):
        ax = _axes(fig.add_axes((0.5 * (i % 2), 0.47 - 0.47 * (i // 2) + 0.06, 0.5, 0.47)), 6.0, 6.4)
        _note(ax, (0.3, 6.05), name, ha="left", weight="bold")
        _note(ax, (0.3, 5.5), words, ha="left", fontsize=TEXT, color=SOFT)
        draw(ax)
    _key(_axes(fig.add_axes((0, 0, 1, 0.055)), 12.0, 0.75))
    return fig


def _key(ax: Axes) -> None:
    for x, fill, words in ((0.5, LIT, "deep here"), (3.4, FILL, "other functions")):
        _box(ax, (x, 0.4), "", fill, half=0.2)
        _note(ax, (x + 0.4, 0.4), words, ha="left", fontsize=TEXT)
    _note(ax, (7.7, 0.4), "$x, h, y$: values", ha="left", fontsize=TEXT)


_TIMES = ("t-1", "t", "t+1")
_XS = (1.1, 3.0, 4.9)
_ROWS, _TOP = (1.45, 2.6, 3.75), 4.85


def _run(ax: Axes, functions: list[tuple[float, str, str]], states: dict[float, str]) -> None:
    """Three steps side by side; the state leaves the box at each height in ``states`` for the one to its right."""
    for x, t in zip(_XS, _TIMES, strict=True):
        _column(ax, x, t, functions, _TOP)
    for y, name in states.items():
        for (a, b), t in zip(pairwise(_XS), _TIMES, strict=False):
            _right(ax, a + _HALF, b - _HALF, y, f"${name}_{{{t}}}$")
        _right(ax, 0.2, _XS[0] - _HALF, y)
        _right(ax, _XS[-1] + _HALF, 5.8, y)


def _in_time(ax: Axes) -> None:
    _run(ax, [(_ROWS[0], "$f$", LIT), (_ROWS[2], "$g$", FILL)], {_ROWS[0]: "h"})


def _in_the_cell(ax: Axes) -> None:
    y, inner, outer = _ROWS[0], 2.35, 3.85
    _note(ax, (0.7, y), "$h_{t-1}$")
    _right(ax, 1.2, inner - _HALF, y)
    _note(ax, (inner, _LETTER), "$x_t$")
    _arrow(ax, (inner, 2 * _LETTER), (inner, y - _HALF))
    _box(ax, (inner, y), "$f_1$", LIT)
    _right(ax, inner + _HALF, outer - _HALF, y)
    _box(ax, (outer, y), "$f_2$", LIT)
    _right(ax, outer + _HALF, 5.1, y)
    _note(ax, (5.4, y), "$h_t$")
    _arrow(ax, (outer, y + _HALF), (outer, _ROWS[2] - _HALF))
    _box(ax, (outer, _ROWS[2]), "$g$")
    _arrow(ax, (outer, _ROWS[2] + _HALF), (outer, _TOP - _LETTER))
    _note(ax, (outer, _TOP), "$y_t$")


def _in_a_stack(ax: Axes) -> None:
    low, high, top = _ROWS
    _run(ax, [(low, "$f^1$", LIT), (high, "$f^2$", LIT), (top, "$g$", FILL)], {low: "h^1", high: "h^2"})


def _in_the_readout(ax: Axes) -> None:
    low, high, top = _ROWS
    _run(ax, [(low, "$f$", FILL), (high, "$g_1$", LIT), (top, "$g_2$", LIT)], {low: "h"})


def two_layers() -> Figure:
    """A step of two layers, and the same net cut elsewhere, so that each step has one: affine maps merge.

    Three steps of a simulated automaton, twice: the units ``g`` say which pair of state and symbol is read, and their
    sums ``h`` which state comes next. Above, a step ends after the sums; below, it ends before them.
    """
    fig = blank(72 * 4.25)
    height = 12 * 4.25 / INCHES
    ax = _axes(fig.add_axes((0, 0, 1, 1)), 12.0, height)
    pairs = ((0, 1, "step 1"), (2, 3, "step 2"), (4, 5, "step 3"))
    _chain(ax, height - 0.4, "Two layers in a step", pairs)
    moved = ((0, 0, "step 1"), (1, 2, "step 2"), (3, 4, "step 3"), (5, 5, "readout"))
    _chain(ax, height - 4.35, "The same net, cut before the sums: one layer", moved)
    for x, fill, words in ((0.35, LIT, "affine map, then ReLU"), (6.05, FILL, "affine map, merges with the next")):
        _box(ax, (x, 0.4), "", fill, half=0.2)
        _note(ax, (x + 0.35, 0.4), words, ha="left", fontsize=TEXT)
    return fig


def _chain(ax: Axes, top: float, title: str, frames: tuple[tuple[int, int, str], ...]) -> None:
    """AND, sum, AND, sum, AND, sum from left to right; each frame goes from one of these boxes to another."""
    xs, y, half = [1.55 + 1.78 * k for k in range(6)], top - 1.85, 0.48
    _note(ax, (0.2, top), title, ha="left", weight="bold")
    for first, last, name in frames:
        left, right = xs[first] - half - 0.09, xs[last] + half + 0.09
        shape = "round,pad=0,rounding_size=0.2"
        size = (right - left, 1.5)
        ax.add_patch(
            FancyBboxPatch((left, y - 0.68), *size, shape, fc="none", ec=SOFT, lw=1.1, ls=(0, (4, 3)), gid="step")
        )
        _note(ax, ((left + right) / 2, y + 1.14), name, fontsize=TEXT, color=SOFT)
    _note(ax, (0.3, y), "$h_0$")
    _arrow(ax, (0.6, y), (xs[0] - half, y))
    for k, x in enumerate(xs):
        t, is_sum = k // 2 + 1, k % 2
        _box(ax, (x, y), "sum" if is_sum else "AND", FILL if is_sum else LIT, half)
        if not is_sum:
            _note(ax, (x, y - 1.5), f"$x_{t}$")
            _arrow(ax, (x, y - 1.2), (x, y - half))
        letter = f"${'h' if is_sum else 'g'}_{t}$"
        if k < 5:
            _right(ax, x + half, xs[k + 1] - half, y)
            _note(ax, ((x + xs[k + 1]) / 2, y + 0.4), letter)
    _arrow(ax, (xs[5] + half, y), (11.35, y))
    _note(ax, (11.65, y), "$h_3$")
