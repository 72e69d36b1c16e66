"""Drawings of nets by code: boxes, arrows, and a label that fits inside every box."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

__all__ = ["depth_places", "unrolled"]

_INK, _SOFT = "#1d2530", "#4d5866"
_FILLS = {"input": "#eceff3", "state": "#d5e5f8", "new": "#fbdcc6", "output": "#d3efe6"}
_Point = tuple[float, float]


def _axes(ax: Axes, width: float, height: float) -> Axes:
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    ax.axis("off")
    return ax


def _box(ax: Axes, at: _Point, text: str, kind: str, size: tuple[float, float] = (1.0, 0.8)) -> _Point:
    (x, y), (w, h) = at, size
    shape = "round,pad=0,rounding_size=0.14"
    ax.add_patch(FancyBboxPatch((x - w / 2, y - h / 2), w, h, shape, fc=_FILLS[kind], ec=_INK, lw=1.1, zorder=2))
    ax.text(x, y, text, ha="center", va="center", color=_INK, zorder=3, gid="in a box")
    return at


def _arrow(ax: Axes, start: _Point, end: _Point, bend: float = 0.0, colour: str = _INK) -> None:
    style = {"arrowstyle": "-|>,head_length=5,head_width=2.6", "mutation_scale": 1, "shrinkA": 0, "shrinkB": 1}
    curve = f"arc3,rad={bend}"
    ax.add_patch(FancyArrowPatch(start, end, connectionstyle=curve, color=colour, lw=1.3, zorder=1, **style))


def _note(ax: Axes, at: _Point, text: str, **kwargs: object) -> None:
    ax.text(*at, text, **{"ha": "center", "va": "center", "color": _SOFT, **kwargs})


def _up(ax: Axes, low: _Point, high: _Point, half: float = 0.4, colour: str = _INK) -> None:
    _arrow(ax, (low[0], low[1] + half), (high[0], high[1] - half), colour=colour)


def _right(ax: Axes, left: _Point, right: _Point, half: float = 0.5, colour: str = _INK) -> None:
    _arrow(ax, (left[0] + half, left[1]), (right[0] - half, right[1]), colour=colour)


def unrolled(steps: int = 3) -> Figure:
    """A cell as a loop, and the same cell unrolled: one copy of f for every step, all with the same weights.

    Args:
        steps: number of copies of the cell drawn on the right, 2 to 4.

    Raises:
        ValueError: ``steps`` outside 2..4, where the labels would not be readable on a phone.
    """
    if not 2 <= steps <= 4:
        raise ValueError(f"steps must be between 2 and 4 for labels readable on a phone, got {steps}")
    pitch, first = 1.75, 5.6
    width = first + pitch * (steps - 1) + 1.3
    fig = plt.figure(figsize=(5.8, 5.8 * 3.7 / width), layout="none")
    ax = _axes(fig.add_axes((0, 0, 1, 1)), width, 3.7)

    def column(x: float, index: str) -> _Point:
        low, cell, high = (
            _box(ax, (x, 0.55), f"$x_{{{index}}}$", "input"),
            _box(ax, (x, 1.85), "$f$", "state"),
            _box(ax, (x, 3.15), f"$y_{{{index}}}$", "output"),
        )
        _up(ax, low, cell)
        _up(ax, cell, high)
        return cell

    column(1.0, "t")
    _arrow(ax, (1.5, 2.08), (1.5, 1.62), bend=-2.6)
    _note(ax, (2.25, 1.85), "$h_t$", ha="left", color=_INK)
    _note(ax, (3.3, 1.85), "=", fontsize=18, color=_INK)
    before = (first - pitch, 1.85)
    _note(ax, (before[0] + 0.28, 1.85), "$h_0$", color=_INK)
    _arrow(ax, (before[0] + 0.6, 1.85), (first - 0.5, 1.85))
    for k in range(steps):
        cell = column(first + pitch * k, str(k + 1))
        if k:
            _right(ax, (cell[0] - pitch, 1.85), cell)
        _note(ax, (cell[0] + pitch / 2, 2.16), f"$h_{k + 1}$", color=_INK)
    _arrow(ax, (cell[0] + 0.5, 1.85), (cell[0] + 1.25, 1.85))
    return fig


def depth_places() -> Figure:
    """The four places where a recurrent net can be deep; in each panel the repeated part is drawn in orange."""
    fig, grid = plt.subplots(2, 2, figsize=(5.8, 6.4), layout="none")
    fig.subplots_adjust(0, 0, 1, 1, 0.0, 0.0)
    panels = [_axes(ax, 6.0, 6.6) for ax in grid.flat]
    draw = (_in_time, _in_the_cell, _in_a_stack, _in_the_readout)
    names = ("In time", "In the cell", "In a stack", "In the readout")
    said = (
        "the same layer every step",
        "several layers in a step",
        "each layer has its state",
        "layers outside the loop",
    )
    for ax, name, words, function in zip(panels, names, said, draw, strict=True):
        _note(ax, (0.35, 6.2), name, ha="left", color=_INK, weight="bold")
        _note(ax, (0.35, 5.65), words, ha="left", fontsize=11)
        function(ax)
    return fig


_TIMES = ("t-1", "t", "t+1")
_XS = (1.0, 3.0, 5.0)


def _in_time(ax: Axes) -> None:
    rows = []
    for x, t in zip(_XS, _TIMES, strict=True):
        low, state, high = (
            _box(ax, (x, 0.6), f"$x_{{{t}}}$", "input", (1.25, 0.8)),
            _box(ax, (x, 2.7), f"$h_{{{t}}}$", "new", (1.25, 0.8)),
            _box(ax, (x, 4.7), f"$y_{{{t}}}$", "output", (1.25, 0.8)),
        )
        _up(ax, low, state)
        _up(ax, state, high)
        rows.append(state)
    for a, b in pairwise(rows):
        _right(ax, a, b, 0.625)


def _in_the_cell(ax: Axes) -> None:
    old = _box(ax, (0.95, 2.7), "$h_{t-1}$", "state", (1.25, 0.8))
    inner = [_box(ax, (x, 2.7), text, "new", (0.8, 0.8)) for x, text in ((2.4, "$f_1$"), (3.6, "$f_2$"))]
    new = _box(ax, (5.05, 2.7), "$h_t$", "state", (1.25, 0.8))
    low = _box(ax, (2.4, 0.6), "$x_t$", "input", (1.25, 0.8))
    high = _box(ax, (5.05, 4.7), "$y_t$", "output", (1.25, 0.8))
    _arrow(ax, (old[0] + 0.625, 2.7), (inner[0][0] - 0.4, 2.7))
    _right(ax, *inner, 0.4)
    _arrow(ax, (inner[1][0] + 0.4, 2.7), (new[0] - 0.625, 2.7))
    _up(ax, low, inner[0])
    _up(ax, new, high)


def _in_a_stack(ax: Axes) -> None:
    layers: list[list[_Point]] = []
    for x, t in zip(_XS, _TIMES, strict=True):
        low = _box(ax, (x, 0.6), f"$x_{{{t}}}$", "input", (1.25, 0.8))
        states = [
            _box(ax, (x, y), f"$h^{i}_{{{t}}}$", kind, (1.25, 0.8))
            for i, y, kind in ((1, 1.97, "state"), (2, 3.34, "new"))
        ]
        high = _box(ax, (x, 4.7), f"$y_{{{t}}}$", "output", (1.25, 0.8))
        column = [low, *states, high]
        for a, b in pairwise(column):
            _up(ax, a, b)
        layers.append(states)
    for a, b in pairwise(layers):
        for left, right in zip(a, b, strict=True):
            _right(ax, left, right, 0.625)


def _in_the_readout(ax: Axes) -> None:
    states = []
    for x, t in zip(_XS, _TIMES, strict=True):
        column = [
            _box(ax, (x, 0.6), f"$x_{{{t}}}$", "input", (1.25, 0.8)),
            _box(ax, (x, 1.97), f"$h_{{{t}}}$", "state", (1.25, 0.8)),
            _box(ax, (x, 3.34), "$g_1$", "new", (1.25, 0.8)),
            _box(ax, (x, 4.7), f"$y_{{{t}}}$", "output", (1.25, 0.8)),
        ]
        for a, b in pairwise(column):
            _up(ax, a, b)
        states.append(column[1])
    for a, b in pairwise(states):
        _right(ax, a, b, 0.625)
