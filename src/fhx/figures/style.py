"""The look of the figures: one style file, direct labels instead of legends, bands for intervals."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import fontManager
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from fhx.figures.paper import figure_of

if TYPE_CHECKING:
    from matplotlib.text import Annotation

__all__ = ["COLORS", "band", "label_lines", "use_style"]

#: The cycle of the style file: dark enough to be read as text on white, told apart by readers with any colour vision.
COLORS = ("#082994", "#b65d00", "#017e58", "#a05c9e", "#572600", "#101820")


def use_style() -> None:
    """Make this book's style matplotlib's default; in a notebook, inline figures become SVG, the same at every run.

    SVG, since a page shrinks it to the width of a phone, and a printer enlarges it, without blur. The typefaces are
    those of the book's pages, IBM Plex Sans for words and KaTeX's for mathematics; they come with the package.
    """
    with as_file(files(__package__)) as here:
        for typeface in sorted((here / "fonts").glob("*.ttf")):
            fontManager.addfont(typeface)
        plt.style.use(here / "fhx.mplstyle")
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
        from matplotlib_inline.config import InlineBackend
    except ImportError:
        return
    if (shell := get_ipython()) is None:
        return
    undated: dict[str, Any] = {
        "bbox_inches": "tight",
        "metadata": {"Date": None},
        "backend": "module://fhx.figures.svg",
    }
    config = InlineBackend.instance(parent=shell)
    config.print_figure_kwargs, config.figure_formats = undated, {"svg"}  # lasts when the backend starts only later
    set_matplotlib_formats("svg", **undated)


def band(ax: Axes, x: ArrayLike, mean: ArrayLike, low: ArrayLike, high: ArrayLike, label: str | None = None) -> Line2D:
    """Draw a mean with its interval, as for a learning curve over several seeds.

    Args:
        ax: where to draw.
        x, mean, low, high: one dimension, all of one length.
        label: for :func:`label_lines` or a legend.

    Returns:
        the line of the mean; the band has its colour.

    Raises:
        ValueError: lengths differ, or somewhere not ``low <= mean <= high``.
    """
    x, mean, low, high = (np.asarray(values, dtype=float) for values in (x, mean, low, high))
    if not (x.ndim == 1 and x.shape == mean.shape == low.shape == high.shape):
        raise ValueError(f"x, mean, low and high need one length, got {x.shape, mean.shape, low.shape, high.shape}")
    wrong = np.flatnonzero((low > mean) | (mean > high))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"at x = {x[i]:g} the mean {mean[i]:g} is outside its interval [{low[i]:g}, {high[i]:g}]")
    (line,) = ax.plot(x, mean, label=label)
    ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def label_lines(ax: Axes, lines: Sequence[Line2D] | None = None, gap: float = 1.25) -> list[Annotation]:
    """Write each line's label at its right end, in its colour, instead of a legend. Call it when all is drawn.

    Labels that would touch are moved apart, with leaders to their lines, and stay level with the axes where they fit.
    Those that nearly touch have leaders all or none, so that they are aligned.

    Args:
        ax: the axes.
        lines: those to label; all with a label unless given.
        gap: the distance between neighbours in line heights.

    Raises:
        ValueError: there is no line with a label.
    """
    lines = [line for line in (ax.lines if lines is None else lines) if not str(line.get_label()).startswith("_")]
    if not lines:
        raise ValueError("there is no line with a label: pass label= to plot")
    from scipy.optimize import isotonic_regression  # slow to import, so only here

    figure_of(ax).draw_without_rendering()  # lays out the figure, so that the axes have their height
    step = gap * plt.rcParams["font.size"] / (ax.bbox.height * 72 / ax.figure.dpi)  # as a fraction of the axes
    ends = sorted(((_end(ax, line), line) for line in lines), key=lambda pair: pair[0])
    steps = step * np.arange(len(ends))  # least moves in all, subject to y[k + 1] - y[k] >= step
    room = max(1.0 - steps[-1], 0.0)
    levels = np.clip(isotonic_regression([y for y, _ in ends] - steps).x, 0.0, room) + steps
    moved = [abs(y - min(max(end, 0.0), 1.0)) > step / 3 for y, (end, _) in zip(levels, ends, strict=True)]
    stack = np.cumsum(np.diff(levels, prepend=levels[0]) > 1.01 * step)  # labels that nearly touch are aligned
    led = np.bincount(stack, moved).astype(bool)[stack]
    return [_label(ax, line, min(max(end, 0.0), 1.0), *at) for *at, (end, line) in zip(levels, led, ends, strict=True)]


def _label(ax: Axes, line: Line2D, end: float, y: float, led: bool) -> Annotation:
    """A label at height ``y``, with a leader from the height ``end`` where there is to be one."""
    leader = {"arrowstyle": "-", "color": line.get_color(), "lw": 0.8, "shrinkA": 1, "shrinkB": 2, "relpos": (0, 0.5)}
    points = ax.bbox.height * 72 / ax.figure.dpi
    return ax.annotate(
        str(line.get_label()), (1, end), (16 if led else 6, (y - end) * points), xycoords="axes fraction",
        textcoords="offset points", arrowprops=leader if led else None, color=line.get_color(), va="center",
        annotation_clip=False,
    )  # fmt: skip


def _end(ax: Axes, line: Line2D) -> float:
    """The height at which the line ends, as a fraction of the axes."""
    points = np.asarray(line.get_xydata(), dtype=float)
    points = points[np.isfinite(points).all(axis=1)]
    return float((ax.transData + ax.transAxes.inverted()).transform(points[-1])[1]) if len(points) else 0.0
