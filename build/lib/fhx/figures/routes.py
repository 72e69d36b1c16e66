"""How the edges of a state diagram bend and where their words stand, so that nothing lies on anything else.

Each edge has a few candidates for its curve, and then each word a few for its place. What a choice costs is a sum over
single candidates and pairs of them; coordinate descent lowers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray
from scipy.special import comb

__all__ = ["CLASH", "Curve", "Point", "Route", "points_on", "route"]

#: The cost of what must not be: a word on a circle or on another word, an edge through a circle.
CLASH = 1e5
_BENDS = np.array((0.0, 0.16, -0.16, 0.3, -0.3, 0.48, -0.48, 0.75, -0.75))
_TURNS = np.deg2rad((90, 270, 60, 120, 0, 180, 300, 240, 30, 150, 330, 210))
_STARTS = np.deg2rad((180, 150, 210, 120, 240, 90, 270))
_ALONG = np.array((0.5, 0.42, 0.58, 0.34, 0.66, 0.25, 0.75))
_GAPS = np.array((3.0, 8.0))
_SAMPLES, _APART = 24, 11.0
_QUARTER_TURN = np.array(((0.0, 1.0), (-1.0, 0.0)))

Point: TypeAlias = tuple[float, float]
Curve: TypeAlias = tuple[Point, Point, Point, Point]
_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int_]


@frozen
class Route:
    """A cubic curve from a circle's border to another's, its arrow at the end, and the middle of its word."""

    curve: Curve
    word: Point

    def moved(self, by: _Floats) -> Route:
        """The same route elsewhere."""
        return _route(np.array(self.curve) + by, np.array(self.word) + by)


@frozen(eq=False)
class _Candidates:
    """The ways to place each of some items: whose each is, its shape (a curve or a point), and what it costs."""

    owner: _Ints
    shape: _Floats
    cost: _Floats

    def plus(self, cost: _Floats) -> _Candidates:
        """The same at a higher cost."""
        return evolve(self, cost=self.cost + cost)

    def choose(self, together: _Floats) -> tuple[_Floats, float]:
        """One shape for each item, and their cost; the best of a few descents that change one item at a time."""
        groups = [np.flatnonzero(self.owner == item) for item in range(self.owner.max(initial=-1) + 1)]
        items = range(len(groups))
        best: tuple[float, list[int]] = (np.inf, [])
        for order in (items, items[::-1], sorted(items, key=lambda item: -len(groups[item]))):
            picked = [int(group[self.cost[group].argmin()]) for group in groups]
            field = self.cost + together[:, picked].sum(axis=1)
            for _ in range(12):
                before = list(picked)
                for item in order:
                    better = int(groups[item][field[groups[item]].argmin()])
                    field += together[:, better] - together[:, picked[item]]
                    picked[item] = better
                if picked == before:
                    break
            best = min(best, (float((self.cost[picked] + field[picked]).sum()) / 2, picked))
        return self.shape[best[1]], best[0]


def route(
    places: _Floats, radius: float, edges: Sequence[tuple[int, int]], words: Sequence[tuple[float, float]]
) -> tuple[list[Route], Route, float]:
    """Curves for all edges and places for all words.

    Args:
        places: centres of the circles, (n, 2); the first one is the start.
        radius: of the circles.
        edges: pairs of circles, equal for a loop.
        words: for each edge the width and height of its word.

    Returns:
        the routes of the edges, that of the start's arrow (which carries no word), and the cost; below :data:`CLASH`
        nothing overlaps.
    """
    pairs = np.array(edges, dtype=int).reshape(-1, 2)
    touching = np.zeros((len(pairs) + 1, len(places)), dtype=bool)
    touching[np.arange(len(pairs))[:, None], pairs] = True
    touching[-1, 0] = True
    lines = _curves(places, radius, pairs)
    samples = points_on(lines.shape, _SAMPLES)
    lines = lines.plus(_in_the_way(samples, places, radius, ~touching[lines.owner]))
    curves, cost = lines.choose(_meetings(samples, lines.owner, places, radius, touching))
    half = np.array(words, dtype=float).reshape(-1, 2) / 2
    spots = _spots(curves[:-1], half, pairs[:, 0] == pairs[:, 1])
    size = half[spots.owner]
    spots = spots.plus(_on_circles(spots.shape, size, places, radius))
    spots = spots.plus(_on_lines(spots.shape, size, points_on(curves, _SAMPLES)))
    middles, more = spots.choose(_overlaps(spots, size))
    routes = [_route(curve, middle) for curve, middle in zip(curves[:-1], middles, strict=True)]
    return routes, _route(curves[-1], curves[-1, 0]), cost + more


def points_on(curves: _Floats, count: int) -> _Floats:
    """``count`` points on each cubic curve, (..., 4, 2) -> (..., count, 2)."""
    return _at(np.linspace(0, 1, count), curves)


def _at(t: _Floats, curves: _Floats) -> _Floats:
    """Points on Bézier curves of any degree at the parameters ``t``, (..., degree + 1, 2) -> (..., len(t), 2)."""
    degree = curves.shape[-2] - 1
    k = np.arange(degree + 1)
    return (comb(degree, k) * t[:, None] ** k * (1 - t[:, None]) ** (degree - k)) @ curves


def _route(curve: _Floats, word: _Floats) -> Route:
    a, b, c, d = ((float(x), float(y)) for x, y in curve)
    return Route((a, b, c, d), (float(word[0]), float(word[1])))


def _curves(places: _Floats, radius: float, pairs: _Ints) -> _Candidates:
    """The ways of the edges and, as the last item, of the start's arrow. Two opposite edges are never straight."""
    loops = pairs[:, 0] == pairs[:, 1]
    bends = _BENDS[: 9 if len(pairs) <= 14 else 7 if len(pairs) <= 28 else 5]  # in a dense machine only slight ones
    opposite = (pairs[:, None] == pairs[None, :, ::-1]).all(axis=2).any(axis=1)
    start, end = places[pairs[~loops, 0]], places[pairs[~loops, 1]]
    bent = _bent(start, end, radius, bends)
    allowed = ~opposite[~loops, None] | (bends != 0)
    turned = places[pairs[loops, 0], None, None] + _loops(radius)
    rays = np.linspace(radius + 26, radius + 1, 4)[:, None] * _direction(_STARTS)[:, None]
    items = np.arange(len(pairs))
    owner = [
        np.repeat(items[~loops], allowed.sum(axis=1)),
        np.repeat(items[loops], len(_TURNS)),
        np.full(len(_STARTS), len(pairs)),
    ]
    cost = [
        np.broadcast_to(14 * abs(bends), allowed.shape)[allowed],
        np.tile(0.9 * np.arange(len(_TURNS)), loops.sum()),
        3.0 * np.arange(len(_STARTS)),
    ]
    shape = [bent[allowed], turned.reshape(-1, 4, 2), places[0] + rays]
    return _Candidates(np.concatenate(owner), np.concatenate(shape), np.concatenate(cost))


def _bent(start: _Floats, end: _Floats, radius: float, bends: _Floats) -> _Floats:
    """Curves between circles, (edges, bends, 4, 2); a bend is the height of its middle over the distance."""
    across = (end - start) @ _QUARTER_TURN
    middle = ((start + end) / 2)[:, None] + bends[:, None] * across[:, None]
    a = start[:, None] + radius * _unit(middle - start[:, None])
    b = end[:, None] + (radius + 1) * _unit(middle - end[:, None])
    return np.stack([a, a + (middle - a) * 2 / 3, b + (middle - b) * 2 / 3, b], axis=2)


def _loops(radius: float) -> _Floats:
    """Loops around a circle at the origin, (turns, 4, 2)."""
    far = radius + 32
    corners = ((radius, 0.42), (far, 0.4), (far, -0.4), (radius + 1, -0.42))
    return np.stack([distance * _direction(_TURNS + side) for distance, side in corners], axis=1)


def _spots(curves: _Floats, half: _Floats, loops: NDArray[np.bool_]) -> _Candidates:
    """Places beside the curves; a loop's word stands outside its middle."""
    points, slopes = _at(_ALONG, curves), _at(_ALONG, np.diff(curves, axis=1))
    normal = _unit(slopes) @ _QUARTER_TURN
    bulge = curves[:, 1] + curves[:, 2] - curves[:, 0] - curves[:, 3]
    outside = np.sign((normal @ bulge[:, :, None]).round(6))
    normal = normal * np.where(outside == 0, 1.0, outside)
    near = np.einsum("ekc,ec->ek", abs(normal), half)  # as near as the box allows: half its extent along the normal
    away = (near[:, :, None] + _GAPS)[:, :, None] * np.array((1.0, -1.0))[:, None]
    shape = points[:, :, None, None] + away[..., None] * normal[:, :, None, None]
    rank = 1.2 * np.arange(len(_ALONG))[:, None, None] + np.array((0.0, 2.0))[:, None] + 0.8 * (_GAPS - 3)
    allowed = np.ones(shape.shape[:4], dtype=bool)
    allowed[loops, 1:] = allowed[loops, :, 1:] = False
    owner = np.repeat(np.arange(len(curves)), allowed.sum(axis=(1, 2, 3)))
    return _Candidates(owner, shape[allowed], np.broadcast_to(rank, allowed.shape)[allowed])


def _in_the_way(samples: _Floats, places: _Floats, radius: float, others: NDArray[np.bool_]) -> _Floats:
    """The cost of the circles other than its own that each line touches."""
    gaps = np.linalg.norm(samples[:, :, None] - places, axis=-1).min(axis=1)
    return CLASH * ((gaps < radius + 2) & others).sum(axis=1) + 20 * ((gaps < radius + 9) & others).sum(axis=1)


def _meetings(samples: _Floats, owner: _Ints, places: _Floats, radius: float, touching: NDArray[np.bool_]) -> _Floats:
    """The cost of two lines that cross or run close, for all pairs of candidates, but for near a circle of both."""
    from scipy.spatial import KDTree  # a third of a second of imports, for crowded pictures only

    points, line = samples.reshape(-1, 2), np.repeat(np.arange(len(samples)), samples.shape[1])
    i, j = KDTree(points).query_pairs(_APART, output_type="ndarray").T
    strange = owner[line[i]] != owner[line[j]]
    i, j = i[strange], j[strange]
    leaving = np.linalg.norm(points[:, None] - places, axis=-1) < radius + 9
    common = (leaving[i] & touching[owner[line[i]]] & touching[owner[line[j]]]).any(axis=1)
    i, j = i[~common], j[~common]
    cost = np.zeros((len(samples), len(samples)))
    np.add.at(cost, (line[i], line[j]), 4.0 * (1 - np.linalg.norm(points[i] - points[j], axis=1) / _APART))
    return cost + cost.T


def _on_circles(spots: _Floats, half: _Floats, places: _Floats, radius: float) -> _Floats:
    x, y = _gaps(spots, places, half, np.zeros(2))
    return CLASH * (np.hypot(x.clip(min=0), y.clip(min=0)) < radius + 2.5).sum(axis=1)


def _on_lines(spots: _Floats, half: _Floats, lines: _Floats) -> _Floats:
    x, y = _gaps(spots, lines.reshape(-1, 2), half, np.zeros(2))
    inside = (np.maximum(x, y) < 2).reshape(len(spots), *lines.shape[:2])
    return 30.0 * inside.sum(axis=2).clip(max=2).sum(axis=1)


def _overlaps(spots: _Candidates, half: _Floats) -> _Floats:
    """The cost of two words that overlap or are close, for all pairs of candidates."""
    gap = np.maximum(*_gaps(spots.shape, spots.shape, half, half))
    return np.where(spots.owner[:, None] == spots.owner, 0.0, CLASH * (gap < 2) + 5.0 * (gap < 9))


def _gaps(a: _Floats, b: _Floats, half_a: _Floats, half_b: _Floats) -> tuple[_Floats, _Floats]:
    """Horizontal and vertical gaps between all boxes around ``a`` and ``b``, negative where they overlap."""
    half_a, half_b = np.broadcast_to(half_a, a.shape), np.broadcast_to(half_b, b.shape)
    x, y = (abs(a[:, None, k] - b[:, k]) - (half_a[:, None, k] + half_b[:, k]) for k in (0, 1))
    return x, y


def _unit(vectors: _Floats) -> _Floats:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def _direction(turn: _Floats) -> _Floats:
    return np.stack([np.cos(turn), np.sin(turn)], axis=-1)
