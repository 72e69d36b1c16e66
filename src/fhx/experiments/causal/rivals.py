"""Nets without a state, and linear recurrences in blocks, by name: the rivals of simple nets and LSTMs."""

from bisect import bisect_left
from collections.abc import Callable

from attrs import frozen

from fhx.cells import DiagonalCell, LRUCell, MinGRUCell, RGLRUCell
from fhx.experiments.causal.attention import CausalAttention
from fhx.experiments.causal.blocks import LinearRecurrentNet
from fhx.experiments.causal.convolution import TemporalConvolution
from fhx.experiments.causal.net import CausalNet, WindowNet

__all__ = ["LINEAR", "Shape", "largest_widths", "rival"]

LINEAR: dict[str, type[DiagonalCell]] = {"LRU": LRUCell, "minGRU": MinGRUCell, "RG-LRU": RGLRUCell}
"""Recurrences that are linear in their state."""
WIDEST = 600
"""More units than any net has."""


@frozen(kw_only=True)
class Shape:
    """What a net has besides its widths.

    Attributes:
        levels: blocks of a convolutional net, each of which doubles the distance of its taps.
        positions: the most inputs that attention sees.
        taps: inputs of each convolution.
        layers: of attention and of linear recurrences.
        heads: of each layer of attention.
    """

    levels: int
    positions: int
    taps: int = 3
    layers: int = 2
    heads: int = 2


def rival(
    kind: str, inputs: int, units: int, inner: int, outputs: int, shape: Shape, dropout: float | None = None
) -> CausalNet:
    """A new net.

    Args:
        kind: "TCN", "attention", one of ``LINEAR``, or "window k" of the last k inputs.
        inputs, units, inner, outputs: widths; ``inner`` within blocks, or of a second hidden layer.
        shape: of the net.
        dropout: within it; None for none.

    Raises:
        ValueError: there is no such kind.
    """
    widths = (inputs, units, inner, outputs)
    if kind == "TCN":
        return TemporalConvolution(*widths, shape.taps, shape.levels, dropout)
    if kind == "attention":
        return CausalAttention(*widths, shape.positions, shape.layers, shape.heads, dropout)
    if kind in LINEAR:
        return LinearRecurrentNet(LINEAR[kind], *widths, shape.layers, dropout)
    if kind.startswith("window "):
        return WindowNet(*widths, int(kind.removeprefix("window ")), dropout)
    raise ValueError(f"there is no kind {kind!r}; there are TCN, attention, {', '.join(LINEAR)} and window k")


def largest_widths(kind: str, size: Callable[[int, int], int], goal: float) -> tuple[int, int]:
    """``units`` and ``inner`` of the largest net that has no more numbers than the goal.

    ``inner`` is as large as ``units``, in attention and linear recurrences twice as large; their units are even.

    Args:
        kind: of the net.
        size: its numbers, by ``units`` and ``inner``.
        goal: the most numbers.
    """
    step, ratio = (2, 2) if kind == "attention" or kind in LINEAR else (1, 1)
    units = step * bisect_left(range(1, WIDEST // step), True, key=lambda n: size(step * n, ratio * step * n) > goal)
    return units, ratio * units
