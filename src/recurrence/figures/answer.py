"""The book's last two figures: which net for which task, and several measures of one family of nets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from numpy.typing import ArrayLike, NDArray

from recurrence.training import band as intervals

from .layout import text_width
from .style import COLOURS, label_lines

__all__ = ["Panel", "aligned_panels", "decision_chart"]

_INK, _SOFT, _RULE = "#1d2530", "#4d5866", "#8a94a0"
_ASKS, _ENDS = "#d5e5f8", "#fbdcc6"
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
    fig = plt.figure(figsize=(_WIDTH / 72, total / 72), layout=PlaceHolderLayoutEngine(True, True))
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, _WIDTH), ylim=(total, 0))
    ax.axis("off")
    top, across = 2.0, _WIDTH - 2 - _RIGHT
    for (asked, taken), height in zip(rows, heights, strict=True):
        _box(ax, 2.0, top, _LEFT, height, asked, _ASKS)
        _box(ax, across, top, _RIGHT, height, taken, _ENDS)
        middle, foot = top + height / 2, top + height
        _arrow(ax, (2 + _LEFT, middle), (across, middle), "yes", (2 + _LEFT + (across - 2 - _LEFT) / 2, middle - 9))
        _arrow(ax, (24.0, foot), (24.0, foot + _DROP), "no", (40.0, foot + _DROP / 2))
        top = foot + _DROP
    _box(ax, 2.0, top, _LEFT, len(last) * _LINE + 2 * _PAD, last, _ENDS)
    return fig


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
    ax.add_patch(FancyBboxPatch((x, y), width, height, shape, fc=fill, ec=_INK, lw=1.1, zorder=2))
    first = y + height / 2 - (len(lines) - 1) * _LINE / 2
    for place, (line, bold) in enumerate(lines):
        at = (x + _PAD, first + place * _LINE)
        weight = "bold" if bold else "normal"
        ax.text(*at, line, fontsize=_TEXT, color=_INK, weight=weight, va="center_baseline", zorder=3, gid="in a box")


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], word: str, at: tuple[float, float]) -> None:
    style = {"arrowstyle": "-|>,head_length=6,head_width=3", "mutation_scale": 1, "shrinkA": 0, "shrinkB": 1}
    ax.add_patch(FancyArrowPatch(start, end, color=_INK, lw=1.3, zorder=1, **style))
    ax.text(*at, word, fontsize=_TEXT, color=_SOFT, ha="center", va="center")


@dataclass(frozen=True)
class Panel:
    """One measure of a family of nets: values of shape (seeds, points) by name, and lines to compare them with.

    Args:
        title: what is measured, with its unit.
        measured: an infinite value says that the measure has no value for this net.
        lines: (points,) by name, drawn dashed; NaN where there is none. One that ends early has its name at its end.
        log: a logarithmic axis; the mean and its interval are those of the logarithms.
    """

    title: str
    measured: Mapping[str, ArrayLike]
    lines: Mapping[str, ArrayLike] = field(default_factory=dict)
    log: bool = False


def aligned_panels(
    x: Sequence[float], panels: Sequence[Panel], xlabel: str, regions: Mapping[str, float] | None = None
) -> Figure:
    r"""Several measures of one family of nets, one above the other over the same axis.

    A dot is a mean over the seeds, its line the 95 % Student interval. A triangle on the upper edge stands where at
    least one net has no value.

    Args:
        x: the points, in ascending order.
        panels: from top to bottom.
        xlabel: of the axis that they share.
        regions: right ends of stretches of the axis, in ascending order, by the words that stand above them; dotted
            lines through all panels part them.

    Raises:
        ValueError: no panels, points out of order, values of another shape, or fewer than two seeds.
    """
    x = np.asarray(x, dtype=float)
    if not panels or x.ndim != 1 or len(x) < 2 or not (np.diff(x) > 0).all():
        raise ValueError(f"panels over ascending points are needed, got {len(panels)} panels over {x.tolist()}")
    fig, axes = plt.subplots(len(panels), 1, figsize=(5.8, 0.75 + 1.55 * len(panels)), sharex=True, squeeze=False)
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        _draw(ax, x, panel)
    axes[-1, 0].set_xlabel(xlabel)
    pad = 0.02 * (x[-1] - x[0])
    axes[0, 0].set_xlim(x[0] - pad, x[-1] + pad)
    left = x[0]
    for place, (words, right) in enumerate((regions or {}).items()):
        if place + 1 < len(regions or {}):
            for ax in axes[:, 0]:
                ax.axvline(right, color=_RULE, lw=1.1, ls=":")
        axes[0, 0].annotate(
            words, ((left + right) / 2, 1), (0, 24), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", fontsize=11, color=_SOFT,
        )  # fmt: skip
        left = right
    return fig


def _draw(ax: Axes, x: NDArray[np.float64], panel: Panel) -> None:
    if panel.log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.tick_params(axis="y", which="minor", length=0, labelleft=False)
    for colour, (name, values) in zip(COLOURS, panel.measured.items(), strict=False):
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or values.shape[1:] != x.shape:
            raise ValueError(f"{name} has values of shape {values.shape} at {len(x)} points")
        known = np.isfinite(values).all(0)
        found = intervals(np.log(values[:, known]) if panel.log else values[:, known])
        mean, low, high = (np.exp(v) if panel.log else v for v in (found.mean, found.low, found.high))
        ax.plot(x[known], mean, "o-", ms=4, lw=1.2, color=colour, label=name)
        ax.vlines(x[known], low, high, color=colour, lw=1.8)
        ax.plot(x[~known], np.full((~known).sum(), 0.96), "^", ms=5, color=colour, transform=ax.get_xaxis_transform())
    for name, line in panel.lines.items():
        known = np.flatnonzero(np.isfinite(np.asarray(line, dtype=float)))
        short = len(known) > 0 and known[-1] < len(x) - 1  # its name stands at its own end, not at the right edge
        (drawn,) = ax.plot(x, line, "--", lw=1.2, color=_SOFT, label=f"_{name}" if short else name)
        if short:
            end = drawn.get_xydata()[known[-1]]
            ax.annotate(name, end, (-6, 4), textcoords="offset points", ha="right", va="bottom", color=_SOFT)
    ax.set_title(panel.title, loc="left", fontsize=12)
    if not panel.log:
        ax.locator_params(axis="y", nbins=4)
    label_lines(ax)
