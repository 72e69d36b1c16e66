"""How each kind of net looks: one colour and one marker for it in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from fhx.figures.style import COLORS

__all__ = ["Look", "look", "looks"]


class Look(NamedTuple):
    """A colour, a marker, and whether lines are dashed and markers hollow, as those of a constrained net are."""

    color: str
    marker: str
    constrained: bool = False

    @property
    def line(self) -> dict[str, Any]:
        """Arguments of ``Axes.plot`` for a line with markers."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": "--" if self.constrained else "-",
            "markerfacecolor": "white" if self.constrained else self.color,
        }


BLUE, ORANGE, GREEN, PURPLE, BROWN, BLACK = COLORS
KINDS = {
    "simple": Look(BLUE, "o"),
    "tanh": Look(BLUE, "o"),
    "LSTM": Look(ORANGE, "s"),
    "GRU": Look(GREEN, "D"),
    "relu": Look(PURPLE, "X"),
    "linear": Look(PURPLE, "v"),
    "diagonal": Look(BROWN, "v"),
    "plain": Look(PURPLE, "P"),
    "gated": Look(BLACK, "X"),
    "stacked": Look(BROWN, "^"),
    "residual": Look(GREEN, "o"),
    "highway": Look(ORANGE, "D"),
    "normalised": Look(BLUE, "s"),
    "orthogonal": Look(PURPLE, "P", constrained=True),
    "attention": Look(PURPLE, "P"),
    "TCN": Look(BROWN, "^"),
    "minGRU": Look(GREEN, "D"),
    "LRU": Look(GREEN, "v"),
    "RG-LRU": Look(GREEN, "X"),
    "window": Look(BLACK, "v"),
    "logistic": Look(BLACK, "x"),
    "affine": Look(BLACK, "x"),
}
"""The kinds of net of the book. The deep cells are plain, gated, residual, highway, normalised and orthogonal."""


def look(kind: str) -> Look:
    """The look of a kind of net, as ``"LSTM"``, ``"simple, stable"`` or ``"window 16"``.

    What follows a comma constrains the kind, which is then dashed and hollow; a number at the end is a size.

    Args:
        kind: its name.

    Raises:
        LookupError: no kind of this name.
    """
    name, _, constraint = kind.partition(", ")
    name = name.rstrip("0123456789 ")
    if name not in KINDS:
        raise LookupError(f"there is no kind of net called {kind!r}; there are {', '.join(KINDS)}")
    return KINDS[name]._replace(constrained=KINDS[name].constrained or bool(constraint))


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each of several lines: those of the kinds of net if all are kinds, else the colours in their order.

    Args:
        names: what is drawn.

    Raises:
        ValueError: there are lines that are not kinds, and more of them than colours.
    """
    wanted = list(dict.fromkeys(names))
    try:
        return {name: look(name) for name in wanted}
    except LookupError:
        if len(wanted) > len(COLORS):
            raise ValueError(f"{len(wanted)} kinds of net are too many: there are {len(COLORS)} colours") from None
        return {name: Look(color, "o") for name, color in zip(wanted, COLORS, strict=False)}
