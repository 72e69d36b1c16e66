"""Charts of nets by kind and by task: scores with their intervals, and curves with their bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from fhx.figures.looks import Look, looks
from fhx.figures.paper import INCHES
from fhx.figures.style import band, label_lines
from fhx.training import band as intervals
from fhx.training import interval

__all__ = ["curve_panels", "interval_chart"]

_COLUMNS = 2


def interval_chart(
    results: Mapping[str, Mapping[str, Sequence[float]]], units: Mapping[str, str], level: float = 0.95
) -> Figure:
    """Scores of several kinds of net: one panel per task, one row per kind.

    A light dot is a seed; the dark dot and its line are the mean and its Student interval. Two panels stand beside each
    other, with a row for each kind that one of them has; of an odd number the first has the whole width.

    Args:
        results: ``results[task][kind]``: one number per seed, at least two; rows come in the order of first appearance.
        units: what the numbers of each task are.
        level: of the intervals.

    Raises:
        ValueError: nothing to draw, more kinds than colours, a task without units, or what ``interval`` raises.
    """
    kinds = _kinds(results)
    if missing := results.keys() - units.keys():
        raise ValueError(f"units[task] is missing for {sorted(missing)[0]!r}: it says what the numbers are")
    tasks = list(results)
    wide = len(tasks) % _COLUMNS
    lines = [tasks[:wide]] * bool(wide) + [tasks[k : k + _COLUMNS] for k in range(wide, len(tasks), _COLUMNS)]
    rows = [[kind for kind in kinds if any(kind in results[task] for task in line)] for line in lines]
    fig = plt.figure(figsize=(INCHES, sum(0.85 + 0.27 * len(shown) for shown in rows)))
    grid = fig.add_gridspec(len(lines), _COLUMNS, height_ratios=[len(shown) for shown in rows])
    for n, (line, shown) in enumerate(zip(lines, rows, strict=True)):
        for k, task in enumerate(line):
            ax = fig.add_subplot(grid[n, k] if len(line) == _COLUMNS else grid[n, :])
            for kind, scores in results[task].items():
                place, its, found = shown.index(kind), kinds[kind], interval(scores, level)
                ax.plot(list(scores), [place] * found.n, "o", color=its.color, ms=3.5, alpha=0.35, mew=0)
                ax.hlines(place, found.low, found.high, color=its.color, lw=1.8)
                ax.plot([found.mean], [place], **its.line, ms=5, zorder=3)
            ax.set_title(task, loc="left")
            ax.set_xlabel(units[task])
            ax.set_yticks(range(len(shown)), shown)
            ax.set_ylim(len(shown) - 0.4, -0.6)
            ax.locator_params(axis="x", nbins=4)
            ax.tick_params(axis="y", length=0, labelleft=k == 0)
            ax.grid(axis="y", visible=False)
    return fig


def curve_panels(
    curves: Mapping[str, Mapping[str, tuple[ArrayLike, ArrayLike]]],
    xlabel: str,
    ylabel: str,
    *,
    powers: bool = False,
    log_x: bool = False,
    height: float = 2.0,
    level: float = 0.95,
) -> Figure:
    r"""Curves of several kinds of net: one panel per task, with a band for the interval over the seeds.

    Args:
        curves: ``curves[task][kind] = (x, values)`` with values of shape (seeds, points); a kind has one colour in all
            panels.
        xlabel, ylabel: of all panels.
        powers: the values are natural logarithms, and are drawn as powers of ten.
        log_x: a logarithmic axis for x.
        height: of a panel, in inches.
        level: of the bands.

    Raises:
        ValueError: nothing to draw, more kinds than colours, values of another shape, or fewer than two seeds.
    """
    kinds = _kinds(curves)
    fig, axes = plt.subplots(len(curves), 1, figsize=(INCHES, 0.5 + height * len(curves)), squeeze=False)
    for ax, (task, lines) in zip(axes[:, 0], curves.items(), strict=True):
        for kind, (x, values) in lines.items():
            x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
            if values.ndim != 2 or values.shape[1:] != x.shape:
                raise ValueError(f"{kind} on {task} has values of shape {values.shape} at {x.shape} points")
            found = intervals(values / np.log(10) if powers else values, level)
            line = band(ax, x, found.mean, found.low, found.high, label=kind)
            line.set(**kinds[kind].line, markersize=4, markevery=max(1, len(x) // 8))
            ax.collections[-1].set_color(kinds[kind].color)
        if log_x:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
            ax.tick_params(axis="x", which="minor", length=0)
        ax.set_title(task, loc="left")
        ax.set_ylabel(ylabel)
    if powers:
        for ax in axes[:, 0]:
            ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            ax.yaxis.set_major_formatter(lambda value, _: f"$10^{{{value:g}}}$")
    axes[-1, 0].set_xlabel(xlabel)
    for ax in axes[:, 0]:
        label_lines(ax)
    return fig


def _kinds(results: Mapping[str, Mapping[str, object]]) -> dict[str, Look]:
    """The look of each kind, in the order of first appearance."""
    kinds = list(dict.fromkeys(kind for found in results.values() for kind in found))
    if not kinds or not all(results.values()):
        raise ValueError("there is nothing to draw: [task][kind] = values")
    return looks(kinds)
