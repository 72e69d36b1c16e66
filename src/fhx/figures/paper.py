"""What drawings by code share: ink and fills, the width of the page, and figures that are measured in points."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.patches import FancyArrowPatch

__all__ = [
    "EDGE",
    "FILL",
    "INCHES",
    "INK",
    "LIT",
    "SOFT",
    "TEXT",
    "WIDTH",
    "arrow",
    "blank",
    "figure_of",
    "sheet",
    "write",
]

INK, SOFT, EDGE = "#1d2530", "#4d5866", "#c9d0d8"
FILL, LIT = "#d5e5f8", "#fbdcc6"
INCHES = 5.8
WIDTH, TEXT = 72 * INCHES, 12.0
"""Of the page, and of letters beside a drawing, in points."""


def blank(height: float, width: float = WIDTH) -> Figure:
    """A figure that nothing lays out, however often it is saved and whatever the style says."""
    return plt.figure(figsize=(width / 72, height / 72), layout=PlaceHolderLayoutEngine(True, True))


def sheet(height: float, width: float = WIDTH) -> Axes:
    """Axes that fill such a figure, in points from the upper left corner."""
    ax = blank(height, width).add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(height, 0), autoscale_on=False)
    ax.axis("off")
    return ax


def write(ax: Axes, x: float, y: float, words: str, **kwargs: Any) -> None:
    """Words whose middle is at a point, unless ``kwargs`` say otherwise."""
    ax.text(x, y, words, **{"ha": "center", "va": "center_baseline", "color": INK, "fontsize": TEXT, **kwargs})


def arrow(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], head: tuple[float, float], **kwargs: Any
) -> None:
    """An arrow between two points, with a head of this length and half width in points."""
    style = f"-|>,head_length={head[0]},head_width={head[1]}"
    ends: dict[str, Any] = {"mutation_scale": 1, "shrinkA": 0, "shrinkB": 1, "color": INK, "lw": 1.3, "zorder": 1}
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle=style, **ends, **kwargs))


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes belong to, those of a part of it too."""
    return ax.figure.figure if isinstance(ax.figure, SubFigure) else ax.figure
