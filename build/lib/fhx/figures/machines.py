"""State diagrams."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from fhx.figures.layout import Diagram, lay_out
from fhx.figures.paper import FILL, INK, LIT, SOFT, TEXT, WIDTH, blank, figure_of, write
from fhx.figures.routes import Route

if TYPE_CHECKING:
    from fhx.machines import DFA

__all__ = ["draw_diagram", "state_diagram"]

_NOTE = 22.0


def state_diagram(
    dfa: DFA,
    positions: Mapping[Hashable, tuple[float, float]] | None = None,
    ax: Axes | None = None,
    names: Mapping[Hashable, str] | None = None,
    highlight: Hashable | list[Hashable] | set[Hashable] | None = None,
    hide_trap: bool = False,
) -> Figure:
    r"""A machine as a graph: circles are states, doubled where they accept, and arrows are transitions.

    Parallel transitions share an arrow, and states that no word leads to are left out.

    Args:
        dfa: the machine, with at most 15 states to draw.
        positions: places of the states, ``{state: (x, y)}`` in any unit, y upwards; found unless given.
        ax: where to draw; a figure 5.8 in wide, and as high as needed, unless given.
        names: what to write into a circle; the state itself unless given.
        highlight: a state, or a list or set of states, to fill with the second colour.
        hide_trap: leave out a state that rejects and is never left; a note then says so.

    Returns:
        the figure.

    Raises:
        ValueError: more than 15 states, a name too long for a circle, a state in ``positions`` or ``highlight`` that is
            missing, or too many edges for their words.
    """
    traps = _traps(dfa) if hide_trap else frozenset()
    lit = _states(dfa, highlight)
    if ax is None:
        diagram = lay_out(dfa, WIDTH, positions=positions, names=names, hide=traps)
        fig = blank(diagram.size[1] + (_NOTE if diagram.hidden else 0))
        ax = fig.add_axes((0, 0, 1, 1))
    else:
        fig = figure_of(ax)
        width = ax.get_position().width * fig.get_figwidth() * 72
        diagram = lay_out(dfa, max(width, WIDTH / 2), positions=positions, names=names, hide=traps)
    draw_diagram(ax, diagram, dfa.accept, lit)
    return fig


def draw_diagram(ax: Axes, diagram: Diagram, accept: frozenset[Hashable], lit: frozenset[Hashable]) -> None:
    """Draw a laid out machine into axes, in the middle, and a note below where a state is hidden."""
    note = _NOTE if diagram.hidden else 0.0
    figure, room = figure_of(ax), ax.get_position()
    wide, high = room.width * figure.get_figwidth() * 72, room.height * figure.get_figheight() * 72
    scale = min(1.0, wide / diagram.size[0], high / (diagram.size[1] + note))
    middle = diagram.size[0] / 2, (diagram.size[1] - note) / 2
    ax.set(
        xlim=(middle[0] - wide / scale / 2, middle[0] + wide / scale / 2),
        ylim=(middle[1] - high / scale / 2, middle[1] + high / scale / 2),
        aspect="equal",
    )
    ax.axis("off")
    halo = [withStroke(linewidth=3.5, foreground="white")]
    for edge in diagram.edges:
        _arrow(ax, edge.route, scale)
        x, y = edge.route.word
        write(ax, x, y, edge.word, fontsize=diagram.text * scale, zorder=4, gid="on an edge", path_effects=halo)
    _arrow(ax, diagram.start, scale)
    for state, center in diagram.circles.items():
        fill = LIT if state in lit else FILL
        ax.add_patch(Circle(center, diagram.radius, fc=fill, ec=INK, lw=1.2 * scale, zorder=2, gid="state"))
        if state in accept:
            ax.add_patch(Circle(center, diagram.radius - 3.2, fc="none", ec=INK, lw=1.1 * scale, zorder=3))
        write(ax, *center, diagram.names[state], fontsize=diagram.text * scale, zorder=4, gid="in a circle")
    if note:
        words = "an edge that is missing leads to a state that rejects for ever"
        write(ax, middle[0], -note / 2, words, fontsize=TEXT * scale, color=SOFT, gid="note")


def _arrow(ax: Axes, way: Route, scale: float) -> None:
    path = Path(way.curve, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    head = f"-|>,head_length={5.5 * scale},head_width={2.6 * scale}"
    ax.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle=head, mutation_scale=1, color=INK, lw=1.2 * scale, zorder=1, capstyle="butt"
        )
    )


def _traps(dfa: DFA) -> frozenset[Hashable]:
    return frozenset(
        state
        for state in dfa.states
        if state not in dfa.accept | {dfa.start} and all(dfa.transitions[state, a] == state for a in dfa.alphabet)
    )


def _states(dfa: DFA, chosen: Hashable | list[Hashable] | set[Hashable] | None) -> frozenset[Hashable]:
    """The states in ``chosen``, which is one state unless it is a list or a set."""
    if chosen is None:
        return frozenset()
    many = list(chosen) if isinstance(chosen, list | set | frozenset) else [chosen]
    if unknown := [state for state in many if state not in dfa.states]:
        raise ValueError(f"{unknown[0]!r} is not a state of this machine, so it cannot be highlighted")
    return frozenset(many)
