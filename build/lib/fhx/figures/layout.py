"""The geometry of a state diagram, drawn by matplotlib on paper and by a script in the page.

Libraries place the circles, but not the words on the edges, the symbols of the transitions, which are what a diagram
is read for.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from fhx.figures.places import placements
from fhx.figures.routes import CLASH, Point, Route, points_on, route
from fhx.figures.words import state_name, text_width

if TYPE_CHECKING:
    from fhx.machines import DFA

__all__ = ["Diagram", "Edge", "lay_out"]

_MOST_STATES, _WIDEST_NAME = 15, 44.0


@frozen
class Edge:
    """All transitions from one state to another, as one arrow with one word."""

    source: Hashable
    target: Hashable
    symbols: tuple[Hashable, ...]
    word: str
    route: Route


@frozen
class Diagram:
    """A drawn machine in points, y upwards, its lower left corner at the origin."""

    size: Point
    radius: float
    text: float
    circles: Mapping[Hashable, Point]
    names: Mapping[Hashable, str]
    edges: tuple[Edge, ...]
    start: Route
    hidden: frozenset[Hashable] = frozenset()


def lay_out(
    dfa: DFA,
    width: float,
    text: float = 12.0,
    *,
    positions: Mapping[Hashable, tuple[float, float]] | None = None,
    names: Mapping[Hashable, str] | None = None,
    hide: frozenset[Hashable] = frozenset(),
) -> Diagram:
    """Lay a machine out so that no circle, word or edge lies on another.

    Args:
        dfa: the machine; states that no word leads to are left out.
        width: the most that the drawing may take, in points.
        text: size of the text in points.
        positions: places of all states that are shown, in any unit, y upwards; found unless given.
        names: what to write for each state; its :func:`state_name` unless given.
        hide: states that are not drawn, nor the edges to them.

    Raises:
        ValueError: more than 15 states, a name too long for a circle, a missing position, two states in one place, or
            more edges than fit.
    """
    order = dfa.reachable()
    shown = [state for state in order if state not in hide]
    if len(shown) > _MOST_STATES:
        raise ValueError(f"a machine with {len(shown)} states is not drawn: at most {_MOST_STATES} can be read")
    named = {state: str((names or {}).get(state, state_name(state))) for state in shown}
    widest = max(shown, key=lambda state: text_width(named[state], text))
    if text_width(named[widest], text) > _WIDEST_NAME:
        raise ValueError(f"the name {named[widest]!r} does not fit into a circle: give a shorter one in names")
    radius = max(1.35 * text, text_width(named[widest], text) / 2 + 0.55 * text)
    symbols = _symbols(dfa, shown)
    words = [_word(found, dfa.alphabet) for found in symbols.values()]
    boxes = [(max(text_width(word, text), 0.5 * text), 0.95 * text) for word in words]
    page = _Page(width, radius, list(symbols), boxes)
    distance = _distances(dfa, order)
    layers = [distance[state] for state in shown]
    best: _Drawing | None = None
    for stretch in (1.0, 1.25, 1.6, 2.1):
        for places in _candidates(shown, layers, list(symbols), positions, width, radius):
            found = page.fit(places, stretch)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
        if best is not None and best.cost < CLASH:
            break
    if best is None or best.cost >= CLASH:
        raise ValueError(f"{len(symbols)} edges between {len(shown)} states leave no room for their words: hide a trap")
    circles = {state: (float(x), float(y)) for state, (x, y) in zip(shown, best.places, strict=True)}
    edges = tuple(
        Edge(shown[p], shown[q], tuple(found), word, way)
        for ((p, q), found), word, way in zip(symbols.items(), words, best.routes, strict=True)
    )
    return Diagram(best.size, radius, text, circles, named, edges, best.start, hide & set(order))


@frozen(eq=False)
class _Drawing:
    """Circles and routes on a page with its lower left corner at the origin, and how bad they are."""

    places: NDArray[np.float64]
    routes: list[Route]
    start: Route
    size: Point
    cost: float


@frozen
class _Page:
    """What is drawn, and where: edges as pairs of circles, each with the width and height of its word."""

    width: float
    radius: float
    edges: list[tuple[int, int]]
    boxes: list[tuple[float, float]]

    def fit(self, places: NDArray[np.float64], stretch: float) -> _Drawing | None:
        """The drawing at the widest pitch at which all fits into the width; None if the circles would touch."""
        span = max(float(np.ptp(places[:, 0])), 1e-9)
        pitch = min(6.2 * self.radius, (self.width - 2 * self.radius - 32) / span)  # the start's arrow takes 26
        for _ in range(4):
            if pitch < 3.2 * self.radius:
                return None
            drawing = self._draw(places * (pitch, 4.5 * self.radius * stretch))
            if (excess := drawing.size[0] - self.width) <= 0:
                return drawing
            pitch -= excess / span + 0.5
        return None

    def _draw(self, places: NDArray[np.float64]) -> _Drawing:
        routes, start, cost = route(places, self.radius, self.edges, self.boxes)
        words = np.array([way.word for way in routes]).reshape(-1, 2)
        half = np.array(self.boxes).reshape(-1, 2) / 2
        lines = points_on(np.array([way.curve for way in (*routes, start)]), 33).reshape(-1, 2)
        drawn = np.concatenate([places - self.radius, places + self.radius, words - half, words + half, lines])
        low, high = drawn.min(axis=0) - 3, drawn.max(axis=0) + 3
        width, height = (high - low).tolist()
        moved = [way.moved(-low) for way in routes]
        return _Drawing(places - low, moved, start.moved(-low), (width, height), cost + 0.25 * height)


def _distances(dfa: DFA, order: Sequence[Hashable]) -> dict[Hashable, int]:
    """How far each state is from the start, for states in breadth-first order."""
    found: dict[Hashable, int] = {dfa.start: 0}
    for state in order:
        for symbol in dfa.alphabet:
            found.setdefault(dfa.transitions[state, symbol], found[state] + 1)
    return found


def _symbols(dfa: DFA, shown: Sequence[Hashable]) -> dict[tuple[int, int], list[Hashable]]:
    """For each pair of states with an edge the symbols on it, in the order of the alphabet."""
    at = {state: k for k, state in enumerate(shown)}
    found: dict[tuple[int, int], list[Hashable]] = {}
    for state in shown:
        for symbol in dfa.alphabet:
            target = dfa.transitions[state, symbol]
            if target in at:
                found.setdefault((at[state], at[target]), []).append(symbol)
    return found


def _word(symbols: Sequence[Hashable], alphabet: Sequence[Hashable]) -> str:
    if len(symbols) == len(alphabet) > 4:
        return "all"
    return ", ".join(map(state_name, symbols))


def _candidates(
    shown: Sequence[Hashable],
    layers: Sequence[int],
    edges: Sequence[tuple[int, int]],
    positions: Mapping[Hashable, tuple[float, float]] | None,
    width: float,
    radius: float,
) -> list[NDArray[np.float64]]:
    """Places whose neighbours are about one apart."""
    if positions is None:
        pairs = [(p, q) for p, q in edges if p != q]
        if len(pairs) > 3 * len(shown):
            return [_ring(len(shown))]
        columns = int(np.clip((width - 2 * radius) / (4.4 * radius), 3, 5))
        found = placements(len(shown), pairs, layers, columns)
        return found[: 4 if len(shown) <= 8 else 2]
    if missing := [state for state in shown if state not in positions]:
        raise ValueError(f"positions lack the state {missing[0]!r}")
    places = np.array([positions[state] for state in shown], dtype=float)
    gaps = np.linalg.norm(places[:, None] - places, axis=-1)[~np.eye(len(shown), dtype=bool)]
    if gaps.size and gaps.min() == 0:
        raise ValueError("two states have one position")
    return [places / (gaps.min() if gaps.size else 1.0)]


def _ring(n: int) -> NDArray[np.float64]:
    """Around a circle clockwise from the left, neighbours 1.5 apart."""
    turn = np.pi - 2 * np.pi * np.arange(n) / n
    return 0.75 / np.sin(np.pi / n) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
