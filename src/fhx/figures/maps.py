"""Where training succeeds: maps over the depth of a cell and the length of a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fhx.figures.paper import INCHES, INK, SOFT
from fhx.figures.style import COLORS
from fhx.training import proportion

__all__ = ["success_map"]

Counts = Mapping[tuple[int, int], tuple[int, int] | None]

_BORDER, _FRAME = COLORS[1], "#a8b0ba"
_COLUMNS, _TEXT = 2, 13.0


def success_map(
    results: Mapping[str, Counts],
    borders: Mapping[str, float] | None = None,
    level: float = 0.95,
    key: bool = True,
) -> Figure:
    r"""How often training succeeded, by the depth L of the cell and the number T of steps: one panel per kind of net.

    Panels stand two wide. A square holds the number of successes and is the darker, the more there are. After the last
    panel stands a key with the Clopper-Pearson interval of a count. A dash is a point without a result. A border parts
    the squares with :math:`L T \le c` from the others; a head says so where all squares lie on one side.

    Args:
        results: ``results[name][L, T] = (k, n)``, k of n trained nets succeeded, or None where there is no result; n is
            the same everywhere.
        borders: c for a panel, infinite where there is no border; none are drawn in panels without one.
        level: of the intervals.
        key: whether to draw the key.

    Raises:
        ValueError: nothing to draw, not :math:`0 \le k \le n \ge 1`, different n, more than 8 panels, or a border of
            a panel that is not there.

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial
    (1934).
    """
    trials, borders = _trials(results), borders or {}
    if unknown := borders.keys() - results.keys():
        raise ValueError(f"there is a border for {sorted(unknown)[0]!r}, but no such panel")
    depths, steps = (sorted({at[i] for counts in results.values() for at in counts}) for i in (0, 1))
    rows = -(-(len(results) + key) // _COLUMNS)
    height = 0.6 + rows * (0.4 + 0.27 * max(len(depths), 5))
    fig, axes = plt.subplots(rows, _COLUMNS, figsize=(INCHES, height), sharex=True, sharey=True, squeeze=False)
    places = list(axes.flat)
    for ax, (name, counts) in zip(places, results.items(), strict=False):
        _squares(ax, counts, depths, steps)
        title = name
        if name in borders:
            title += _border(ax, borders[name], depths, steps)
        ax.set_title(title, fontsize=_TEXT)
        ax.set_xticks(range(len(steps)), [str(T) for T in steps])
        ax.set_yticks(range(len(depths)), [str(L) for L in depths])
        ax.tick_params(length=0, labelsize=_TEXT, labelbottom=places.index(ax) + _COLUMNS > len(results) - 1)
        ax.set(xlim=(-0.55, len(steps) - 0.45), ylim=(-0.55, len(depths) - 0.45))
    for ax in places[len(results) :]:
        ax.axis("off")
    if key:
        _key(places[len(results)], trials, level)
    fig.supxlabel("steps of a run, $T$", fontsize=_TEXT)
    fig.supylabel("layers of the cell, $L$", fontsize=_TEXT)
    return fig


def _trials(results: Mapping[str, Counts]) -> int:
    found = [(name, at, count) for name, counts in results.items() for at, count in counts.items() if count is not None]
    if not found:
        raise ValueError("there is nothing to draw: results[name][depth, steps] = (successes, trials)")
    if len(results) > 8:
        raise ValueError(f"{len(results)} panels cannot be read on a phone: at most 8 can")
    trials = found[0][2][1]
    for name, (depth, steps), (k, n) in found:
        if not (n >= 1 and 0 <= k <= n):
            raise ValueError(f"{name} at depth {depth} and {steps} steps: {k} of {n} is not a rate of success")
        if n != trials:
            raise ValueError(f"{name} at depth {depth} and {steps} steps has {n} trials, and others have {trials}")
    return trials


def _shade(rate: float) -> tuple[float, float, float]:
    """From white to dark blue."""
    red, green, blue = (1 - rate * (1 - channel) for channel in to_rgb(COLORS[0]))
    return red, green, blue


def _squares(ax: Axes, counts: Counts, depths: list[int], steps: list[int]) -> None:
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    for j, depth in enumerate(depths):
        for i, time in enumerate(steps):
            count = counts.get((depth, time))
            rate = 0.0 if count is None else count[0] / count[1]
            edge = "#e3e7ec" if count is None else _FRAME
            ax.add_patch(Rectangle((i - 0.46, j - 0.46), 0.92, 0.92, facecolor=_shade(rate), edgecolor=edge, lw=0.7))
            text, color = ("–", SOFT) if count is None else (str(count[0]), "white" if rate > 0.45 else INK)
            ax.text(i, j, text, ha="center", va="center", color=color, fontsize=_TEXT)


def _border(ax: Axes, border: float, depths: list[int], steps: list[int]) -> str:
    """A line between every two neighbours on different sides, and what a head adds where there are none."""
    inside = np.array([[depth * time <= border for time in steps] for depth in depths])
    for j, i in np.argwhere(inside[:, :-1] != inside[:, 1:]):
        ax.plot([i + 0.5, i + 0.5], [j - 0.5, j + 0.5], color=_BORDER, lw=2.6, solid_capstyle="round", zorder=3)
    for j, i in np.argwhere(inside[:-1] != inside[1:]):
        ax.plot([i - 0.5, i + 0.5], [j + 0.5, j + 0.5], color=_BORDER, lw=2.6, solid_capstyle="round", zorder=3)
    if border == inf:
        return ", no border"
    return ", all within" if inside.all() else "" if inside.any() else ", all beyond"


def _key(ax: Axes, trials: int, level: float) -> None:
    """Counts with their intervals, six at most, in axes without ticks."""
    counts = sorted({round(trials * share / 5) for share in range(6)}, reverse=True)
    box = ax.inset_axes((0, 0, 1, 1.15))
    box.axis("off")
    box.set(xlim=(0, 4.3), ylim=(-len(counts) - 0.1, 1.4))
    box.text(0, 0.75, f"of {trials}, {level:.0%}".replace("%", " %"), va="center", color=SOFT, fontsize=_TEXT)
    for row, k in enumerate(counts, start=1):
        rate, found = k / trials, proportion(k, trials, level)
        box.add_patch(Rectangle((0, 0.55 - row - 0.45), 0.8, 0.85, facecolor=_shade(rate), edgecolor=_FRAME, lw=0.7))
        color = "white" if rate > 0.45 else INK
        box.text(0.4, 0.52 - row, str(k), ha="center", va="center", color=color, fontsize=_TEXT)
        box.text(1.0, 0.52 - row, f"{found.low:.2f} – {found.high:.2f}", va="center", color=INK, fontsize=_TEXT)
