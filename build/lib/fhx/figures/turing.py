"""A Turing machine's run in its net: the tape above, the units below, on one time axis."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fhx._checks import at_least
from fhx.figures.paper import EDGE, INK, SOFT, TEXT, WIDTH, figure_of, sheet, write
from fhx.figures.style import COLORS
from fhx.figures.turing_run import Run, unit_groups
from fhx.figures.words import state_name, text_width

if TYPE_CHECKING:
    from fhx.compile import Layout, TuringNet
    from fhx.machines import TuringMachine

__all__ = ["tape_and_units"]

_FAINT = "#e3e7ec"
_TINTS = ("#ffffff", "#9bb4ea", "#f8d9b4", "#6cb59c", "#ead9ec", "#b79a86", "#d5dae0")
_SHADES = LinearSegmentedColormap.from_list("units", ["#d9e2f5", "#8fa8e0", COLORS[0]]).with_extremes(bad="#ffffff00")
_TALLEST = 800.0
_LINE, _ROW, _LETTER, _PAD = 18.0, 12.5, 15.0, 6.0


def tape_and_units(
    net: TuringNet[Layout], word: Iterable[Hashable], steps: int = 150, folded: TuringMachine | None = None
) -> Figure:
    r"""A run of a machine's net: the tape that its state holds, its units and its output, one column per net step.

    Column t is :math:`h_t`, from :math:`h_0` to one step after the answer; the dashed line is where the word is over
    and the machine starts. Until then the tape is the part of the word that has been read. Cells are coloured by
    symbol, and the head's is marked; units are white at 0, pale above it and full at 1 or more. In a short run on a
    short tape symbols are written into the cells; in a small net every unit is named.

    Args:
        net: the net of a Turing machine.
        word: the word.
        steps: the most steps of the machine that are drawn.
        folded: if the net's machine is ``fold_tape(folded)``, the tape of ``folded``, infinite both ways, is drawn, and
            the word is one of its words.

    Raises:
        ValueError: ``steps`` is not an integer of at least 0, a symbol outside the alphabet, more columns than can be
            told apart, or more than seven symbols in cells too small for letters.
    """
    steps = at_least("steps", steps, 0)
    run = Run.of(net, tuple(word), steps, folded)
    groups = unit_groups(net)
    frame = _Frame.of(run, groups, net.rnn.unit_names)
    ax = sheet(frame.height)
    top, y = _draw_tape(ax, run, frame)
    for group, units in groups.items():
        y = _draw_group(ax, run, frame, y, group, {unit: net.rnn.unit_names[unit] for unit in units})
    y = _draw_output(ax, run, frame, y + _PAD)
    if run.begin < len(run.states):
        ax.plot([frame.x(run.begin)] * 2, [top, y], color=INK, lw=0.9, ls=(0, (3, 2)), gid="start")
    _draw_time(ax, run, frame, y)
    _draw_key(ax, run, frame, y + _LINE)
    return figure_of(ax)


@frozen
class _Frame:
    """Sizes in points: what stands left of the columns, a column, a cell's height, a unit's height, the whole."""

    left: float
    cell: float
    high: float
    row: float
    height: float
    named: bool
    lettered: bool

    @classmethod
    def of(cls, run: Run, groups: Mapping[str, list[int]], names: tuple[str, ...]) -> _Frame:
        units = sum(map(len, groups.values()))
        room = _TALLEST - 6 * _LINE - 2 * _PAD - min(run.cells * _LETTER, 150.0)
        named = _ROW * units + _LINE * len(groups) <= room
        row = _ROW if named else min(6.0, max(1.6, 400 / units))
        left = max(text_width(name, TEXT) for name in ("net step t", *(names if named else groups))) + _PAD + 2
        cell = min(24.0, (WIDTH - left - 2) / len(run.states))
        if cell < 1.2:
            raise ValueError(f"{len(run.states)} columns do not fit: at most {int((WIDTH - left - 2) / 1.2)} do")
        widest = max(text_width(state_name(symbol), TEXT) for symbol in run.symbols)
        lettered = cell >= widest + 4 and run.cells * _LETTER <= 240
        if not lettered and len(run.symbols) > len(_TINTS):
            raise ValueError(f"{len(run.symbols)} symbols are too many for colours alone: draw a shorter run")
        high = _LETTER if lettered else min(9.0, 150 / run.cells)
        gaps = (_LINE if named else _PAD) * len(groups) + _PAD
        height = _LINE * (2 if lettered else 1) + high * run.cells + gaps + row * units + _ROW
        height += _LINE * (2 if lettered else 3) + _PAD
        return cls(left, cell, high, row, height, named, lettered)

    def x(self, t: float) -> float:
        return self.left + t * self.cell


def _box(ax: Axes, corner: tuple[float, float], width: float, height: float, **kwargs: Any) -> None:
    ax.add_patch(Rectangle(corner, width, height, **{"fc": "none", "ec": EDGE, "lw": 0.8, "zorder": 2, **kwargs}))


def _image(ax: Axes, frame: _Frame, y: float, high: float, image: np.ndarray, gid: str) -> float:
    """Rows of the given height, and returns where they end."""
    rows, columns = image.shape[:2]
    low, width = y + rows * high, columns * frame.cell
    shades: dict[str, Any] = {"cmap": _SHADES, "vmin": 0, "vmax": 1, "gid": gid}
    extent = (frame.x(0), frame.x(columns), low, y)
    if image.ndim == 2:
        image = np.ma.masked_equal(image, 0)
    ax.imshow(image, extent=extent, aspect="auto", interpolation="none", **shades)
    _box(ax, (frame.x(0), y), width, low - y)
    return low


def _draw_tape(ax: Axes, run: Run, frame: _Frame) -> tuple[float, float]:
    """Returns where it begins and ends."""
    write(ax, 0, _LINE / 2 + 1, "tape", ha="left", weight="bold")
    y = top = _LINE
    if frame.lettered:
        write(ax, frame.left - _PAD, y + _LINE / 2, "reads", color=SOFT, ha="right")
        for t, symbol in enumerate(run.word, start=1):
            write(ax, frame.x(t + 0.5), y + _LINE / 2, state_name(symbol))
        ends = [words for words in ("EOS, EOS, …", "EOS") if _fits(frame.x(run.begin) + 2, words)]
        if ends:
            write(ax, frame.x(run.begin) + 4, y + _LINE / 2, ends[0], ha="left")
        y += _LINE
    place = {symbol: k for k, symbol in enumerate(run.symbols)}
    kinds = np.zeros((run.cells, len(run.tapes)), dtype=int)
    for t, tape in enumerate(run.tapes):
        for cell, symbol in tape.items():
            kinds[cell - run.first, t] = place[symbol]
    low = _image(ax, frame, y, frame.high, np.array([to_rgb(tint) for tint in _TINTS])[kinds % len(_TINTS)], "tape")
    for t, tape in enumerate(run.tapes if frame.lettered else ()):
        for cell, symbol in tape.items():
            at = frame.x(t + 0.5), y + (cell - run.first + 0.5) * frame.high
            write(ax, *at, state_name(symbol), gid="symbol")
    for t, head in run.heads.items():
        left, upper = frame.x(t), y + (head - run.first) * frame.high
        if frame.lettered:
            inner = (left + 1, upper + 1)
            _box(ax, inner, frame.cell - 2, frame.high - 2, ec=COLORS[1], lw=2, zorder=3, gid="head")
        else:
            _box(ax, (left, upper), frame.cell, frame.high, fc=COLORS[1], lw=0, zorder=3, gid="head")
    middle = y + (0.5 - run.first) * frame.high
    write(ax, frame.left - _PAD, max(middle, y + 5), "cell 0", color=SOFT, ha="right")
    return top, low


def _draw_group(ax: Axes, run: Run, frame: _Frame, y: float, group: str, units: Mapping[int, str]) -> float:
    """Returns where it ends."""
    if frame.named:
        write(ax, 0, y + _LINE / 2 + 2, group, ha="left", weight="bold")
        y += _LINE
        for i, name in enumerate(units.values()):
            write(ax, frame.left - _PAD, y + (i + 0.5) * frame.row, name, ha="right")
    else:
        y += _PAD
        write(ax, frame.left - _PAD, y + frame.row * len(units) / 2, group, ha="right")
    for i in range(1, len(units) if frame.named else 0):
        ax.plot([frame.x(0), frame.x(len(run.states))], [y + i * frame.row] * 2, color=_FAINT, lw=0.6, zorder=1)
    values = np.array([[float(state.get(unit, 0)) for state in run.states] for unit in units])
    return _image(ax, frame, y, frame.row, values, group)


def _draw_output(ax: Axes, run: Run, frame: _Frame, y: float) -> float:
    """Returns where it ends."""
    write(ax, frame.left - _PAD, y + _ROW / 2, "output", ha="right")
    for t, output in enumerate(run.outputs):
        if output:
            words = str(output).replace("-", "\u2212")
            write(ax, frame.x(t) - 3, y + _ROW / 2, words, ha="right", weight="bold", gid="answer")
    return _image(ax, frame, y, _ROW, np.abs(np.array([run.outputs], dtype=float)), "output")


def _draw_time(ax: Axes, run: Run, frame: _Frame, y: float) -> None:
    widest = text_width(str(len(run.states) - 1), TEXT)
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100) if n * frame.cell >= widest + 6 or n == 100)
    for t in range(0, len(run.states), every):
        if _fits(frame.x(t + 0.5) - text_width(str(t), TEXT) / 2, str(t)):
            write(ax, frame.x(t + 0.5), y + _LINE / 2 + 1, str(t))
    write(ax, frame.left - _PAD, y + _LINE / 2 + 1, "net step t", color=SOFT, ha="right")


def _draw_key(ax: Axes, run: Run, frame: _Frame, y: float) -> None:
    """What the colours mean."""
    y, side = y + _LINE / 2 + 3, 10.0

    def square(x: float, words: str, **kwargs: Any) -> float:
        _box(ax, (x + 1, y - side / 2), side, side, **kwargs)
        write(ax, x + side + 5, y, words, ha="left")
        return x + side + text_width(words, TEXT) + 16

    x = 0.0
    for k, symbol in enumerate(() if frame.lettered else run.symbols):
        x = square(x, state_name(symbol) + (" (blank)" if k == 0 else ""), fc=_TINTS[k], ec=SOFT)
    x = square(x, "head", fc="none" if frame.lettered else COLORS[1], ec=COLORS[1], lw=2)
    if not frame.lettered:
        x, y = 0.0, y + _LINE
    words = "units above 0"
    write(ax, x, y, words, ha="left")
    x += text_width(words, TEXT) + 6
    ax.imshow([np.linspace(0, 1, 64)], extent=(x, x + 48, y + side / 2, y - side / 2), aspect="auto", cmap=_SHADES)
    _box(ax, (x, y - side / 2), 48, side)
    write(ax, x + 53, y, "to 1 or more", ha="left")


def _fits(x: float, words: str) -> bool:
    return x + text_width(words, TEXT) <= WIDTH
