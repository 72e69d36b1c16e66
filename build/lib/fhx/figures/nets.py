"""Nets in numbers: weights as a table with named rows and columns, and the units of a run over time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fhx.exact import Recognizer
from fhx.exact.numbers import Number, dot
from fhx.figures.layout import lay_out
from fhx.figures.machines import draw_diagram
from fhx.figures.paper import INCHES, WIDTH, blank
from fhx.figures.table import Table
from fhx.figures.words import state_name, unit_name

if TYPE_CHECKING:
    from fhx.machines import DFA

__all__ = ["machine_and_net", "space_time", "weight_matrix"]

_GAP, _BETWEEN = 9.0, 18.0


def weight_matrix(recognizer: Recognizer) -> Figure:
    r"""All numbers of a recogniser as one table, one row per unit,

    .. math:: h_t = \sigma(W h_{t-1} + U x_t + b), \qquad y_t = w \cdot h_t + c.

    Beside W, whose columns are the units too, stand U with one column per symbol, b and :math:`h_0`; below W stands
    w, and below b stands c. Zeros are left blank; 1 is dark, other positive numbers are lighter, and negative ones have
    a border.

    Args:
        recognizer: the net.

    Raises:
        ValueError: too many units, or numbers too long, to be read on a phone.
    """
    table = _weights(recognizer, WIDTH)
    fig, ax = _figure(*table.size)
    table.draw(ax)
    return fig


def machine_and_net(dfa: DFA, recognizer: Recognizer, names: dict[Hashable, str] | None = None) -> Figure:
    """A machine's diagram and the weights of a net compiled from it, side by side where there is room for that.

    Args:
        dfa: the machine.
        recognizer: the net.
        names: of the machine's states in the diagram, as for :func:`state_diagram`.

    Raises:
        ValueError: as for :func:`state_diagram` and :func:`weight_matrix`.
    """
    table = _weights(recognizer, WIDTH)
    rest = WIDTH - table.size[0] - _BETWEEN
    beside = None
    if rest > WIDTH / 4:
        try:
            beside = lay_out(dfa, rest, names=names)
        except ValueError:  # too narrow for this machine, which may still fit above
            beside = None
    if beside is not None:
        diagram, height = beside, max(beside.size[1], table.size[1])
        fig, whole = _figure(WIDTH, height)
        low = (height - diagram.size[1]) / 2
        upper = fig.add_axes((0, low / height, rest / WIDTH, diagram.size[1] / height))
        left, bottom = rest + _BETWEEN, (height - table.size[1]) / 2
    else:
        diagram = lay_out(dfa, WIDTH, names=names)
        height = diagram.size[1] + _BETWEEN + table.size[1]
        fig, whole = _figure(WIDTH, height)
        upper = fig.add_axes((0, 1 - diagram.size[1] / height, 1, diagram.size[1] / height))
        left, bottom = (WIDTH - table.size[0]) / 2, 0.0
    whole.remove()
    draw_diagram(upper, diagram, dfa.accept, frozenset())
    lower = (left / WIDTH, bottom / height, table.size[0] / WIDTH, table.size[1] / height)
    table.draw(_bare(fig.add_axes(lower), *table.size))
    return fig


def _weights(recognizer: Recognizer, width: float) -> Table:
    rnn, d = recognizer.rnn, recognizer.units
    W, U = rnn.W.dense(), rnn.U.dense()
    names = [unit_name(name) for name in rnn.unit_names]
    symbols = [state_name(symbol) for symbol in recognizer.alphabet]
    rows: list[list[Number | None]] = [[*W[i], *U[i], rnn.b[i], rnn.h0[i]] for i in range(d)]
    rows.append([*recognizer.w, *[None] * len(symbols), recognizer.c, None])
    return Table(
        entries=rows,
        rows=[*names, "$w$"],
        columns=[*names, *symbols, "", ""],
        blocks=[(0, "$W$"), (d, "$U$"), (d + len(symbols), "$b$"), (d + len(symbols) + 1, "$h_0$")],
        breaks=[d],
        width=width,
        gap=_GAP,
        notes=[(d, d + len(symbols) - 1, "$c$")],
        spoken={(d, d + len(symbols))},
    )


def space_time(
    net: Recognizer | ArrayLike,
    word: Sequence[Hashable] | None = None,
    names: Sequence[str] | None = None,
    name: str = "state",
) -> Figure:
    r"""The units of a run: one row per unit, one column per step.

    Args:
        net: an exact recogniser, which is then run over ``word``; or the states of any run, (units, time) floats.
        word: the symbols read. For a recogniser, column t holds :math:`h_t` and is headed by :math:`x_t`, and the first
            column is :math:`h_0`; active units are filled and carry their value, and the output is below them. Beside
            an array it heads the columns, if given: one symbol per column.
        names: of the units; those of the recogniser unless given.
        name: for an array, what its numbers are.

    Raises:
        ValueError: a word too long or too many units to be read on a phone, a symbol outside the alphabet, an array
            that is not (units, time) or not finite, or lengths that differ.
    """
    if isinstance(net, Recognizer):
        if word is None:
            raise ValueError("a recogniser needs a word to run over")
        table = _run(net, word, names)
        fig, ax = _figure(*table.size)
        table.draw(ax)
        return fig
    return _heat(np.asarray(net, dtype=float), word, names, name)


def _run(net: Recognizer, word: Sequence[Hashable], names: Sequence[str] | None) -> Table:
    k, word = net.steps_per_symbol, list(word)
    states = list(net.run(word))
    shown = [unit_name(unit) for unit in net.rnn.unit_names] if names is None else [str(unit) for unit in names]
    _same_length(shown, net.units, "names", "units")
    entries: list[list[Number | None]] = [[state.get(i, 0) for state in states] for i in range(net.units)]
    outputs: list[Number | None] = [None] * len(states)
    outputs[0] = dot(net.w, net.rnn.h0) + net.c
    outputs[k::k] = list(net.outputs(word))
    symbols = [""] * len(states)
    symbols[1::k] = [state_name(symbol) for symbol in word]
    return Table(
        entries=[*entries, outputs],
        rows=[*shown, "output"],
        columns=symbols,
        blocks=[],
        breaks=[net.units],
        width=WIDTH,
        gap=0.0,
        heading="reads",
        spoken={(net.units, t) for t in range(len(states))},
        tall=20.0,
    )


def _heat(states: np.ndarray, word: Sequence[Hashable] | None, names: Sequence[str] | None, name: str) -> Figure:
    if states.ndim != 2 or not states.size or not np.isfinite(states).all():
        raise ValueError(f"states must be finite numbers of shape (units, time), got shape {states.shape}")
    d, T = states.shape
    shown = [str(unit) for unit in names] if names is not None else [f"{i + 1}" for i in range(d)]
    _same_length(shown, d, "names", "units")
    if word is not None:
        _same_length(word, T, "symbols", "steps")
    fig, ax = plt.subplots(figsize=(INCHES, min(0.9 + 0.25 * d, 6.5)))
    top = float(np.abs(states).max()) or 1.0
    image = ax.imshow(states, cmap="PuOr", vmin=-top, vmax=top, aspect="auto", extent=(0.5, T + 0.5, d + 0.5, 0.5))
    ax.grid(False)
    every = -(-d // 20)
    ax.set_yticks(range(1, d + 1, every), shown[::every])
    if word is None or T > 30:
        ax.set_xlabel("step t")
    else:
        ax.set_xticks(range(1, T + 1), [state_name(symbol) for symbol in word])
        ax.set_xlabel("symbol read")
    if names is None:
        ax.set_ylabel("unit")
    bar = fig.colorbar(image, ax=ax, pad=0.02, label=name)
    bar.outline.set_visible(False)
    return fig


def _same_length(found: Sequence[object], wanted: int, what: str, of: str) -> None:
    if len(found) != wanted:
        raise ValueError(f"there are {len(found)} {what} for {wanted} {of}")


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of the page's width, and axes in points whose middle is that of the figure."""
    fig = blank(height)
    return fig, _bare(fig.add_axes(((WIDTH - width) / 2 / WIDTH, 0, width / WIDTH, 1)), width, height)


def _bare(ax: Axes, width: float, height: float) -> Axes:
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return ax
