"""Several measures of one family of nets, in panels over the same axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from attrs import field, frozen
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fhx.figures.paper import INCHES, SOFT
from fhx.figures.style import COLORS, label_lines
from fhx.training import band as intervals

__all__ = ["Panel", "aligned_panels"]

_RULE = "#8a94a0"


@frozen(eq=False)
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
    lines: Mapping[str, ArrayLike] = field(factory=dict)
    log: bool = False


def aligned_panels(
    x: ArrayLike, panels: Sequence[Panel], xlabel: str, regions: Mapping[str, float] | None = None
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
    points = np.asarray(x, dtype=float)
    if not panels or points.ndim != 1 or len(points) < 2 or not (np.diff(points) > 0).all():
        raise ValueError(f"panels over ascending points are needed, got {len(panels)} panels over {points.tolist()}")
    fig, axes = plt.subplots(len(panels), 1, figsize=(INCHES, 0.75 + 1.55 * len(panels)), sharex=True, squeeze=False)
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        _draw(ax, points, panel)
    axes[-1, 0].set_xlabel(xlabel)
    pad = 0.02 * np.ptp(points)
    axes[0, 0].set_xlim(points[0] - pad, points[-1] + pad)
    left = points[0]
    for place, (words, right) in enumerate((regions or {}).items()):
        if place + 1 < len(regions or {}):
            for ax in axes[:, 0]:
                ax.axvline(right, color=_RULE, lw=1.1, ls=":")
        axes[0, 0].annotate(
            words, ((left + right) / 2, 1), (0, 24), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", fontsize=12, color=SOFT,
        )  # fmt: skip
        left = right
    return fig


def _draw(ax: Axes, x: NDArray[np.float64], panel: Panel) -> None:
    if panel.log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.tick_params(axis="y", which="minor", length=0, labelleft=False)
    for color, (name, values) in zip(COLORS, panel.measured.items(), strict=False):
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or values.shape[1:] != x.shape:
            raise ValueError(f"{name} has values of shape {values.shape} at {len(x)} points")
        known = np.isfinite(values).all(0)
        found = intervals(np.log(values[:, known]) if panel.log else values[:, known])
        mean, low, high = (np.exp(v) if panel.log else v for v in (found.mean, found.low, found.high))
        ax.plot(x[known], mean, "o-", ms=4, lw=1.2, color=color, label=name)
        ax.vlines(x[known], low, high, color=color, lw=1.8)
        ax.plot(x[~known], np.full((~known).sum(), 0.96), "^", ms=5, color=color, transform=ax.get_xaxis_transform())
    for name, line in panel.lines.items():
        known = np.flatnonzero(np.isfinite(np.asarray(line, dtype=float)))
        short = len(known) > 0 and known[-1] < len(x) - 1  # its name stands at its own end, not at the right edge
        (drawn,) = ax.plot(x, line, "--", lw=1.2, color=SOFT, label=f"_{name}" if short else name)
        if short:
            x_end, y_end = np.asarray(drawn.get_xydata())[known[-1]]
            ax.annotate(name, (x_end, y_end), (-6, 4), textcoords="offset points", ha="right", va="bottom", color=SOFT)
    ax.set_title(panel.title, loc="left", fontsize=12)
    if not panel.log:
        ax.locator_params(axis="y", nbins=4)
    label_lines(ax)
