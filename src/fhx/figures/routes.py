"""How the edges of a state diagram bend and where their words stand, so that nothing lies on anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLASH", "Route", "route"]

#: The cost of what must not be: a word on a circle or on another word, an edge through a circle.
CLASH = 1e5
_BENDS = (0.0, 0.16, -0.16, 0.3, -0.3, 0.48, -0.48, 0.75, -0.75)
_TURNS = np.deg2rad((90, 270, 60, 120, 0, 180, 300, 240, 30, 150, 330, 210))
_ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.2, 0.8)
_STARTS = np.deg2rad((180, 150, 210, 120, 240, 90, 270))
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Route:
    """A cubic curve from a circle's border to another's, its arrow at the end, and the middle of its word."""

    curve: tuple[tuple[float, float], ...]
    word: tuple[float, float]


def route(
    places: _Floats, radius: float, edges: Sequence[tuple[int, int]], words: Sequence[tuple[float, float]]
) -> tuple[list[Route], Route, float]:
    """Bends for all edges and places for all words, by coordinate descent over a few candidates for each.

    Args:
        places: centres of the circles, (n, 2); the first one is the start.
        radius: of the circles.
        edges: pairs of circles, equal for a loop.
        words: for each edge the width and height of its word.

    Returns:
        the routes of the edges, that of the start's arrow (which carries no word), and the cost; below :data:`CLASH`
        nothing overlaps.
    """
    bends = _BENDS[: 9 if len(edges) <= 14 else 7 if len(edges) <= 28 else 5]  # in a dense machine only slight ones
    options = [_curves(places, radius, p, q, bends[(q, p) in edges :]) for p, q in edges]
    options.append(_arrows(places[0], radius))
    touching = [{p, q} for p, q in edges] + [{0}]
    lines = [np.stack([_sample(curve, 15 if len(edges) <= 28 else 11) for curve, _ in found]) for found in options]
    alone = [
        np.array([cost for _, cost in found]) + _in_the_way(line, places, radius, own)
        for found, line, own in zip(options, lines, touching, strict=True)
    ]
    common = [[places[k] for k in sorted(a & b)] for a in touching for b in touching]
    together = {
        (i, j): _meeting(lines[i], lines[j], common[i * len(lines) + j], radius)
        for i in range(len(lines))
        for j in range(i)
    }
    picked = _choose(alone, together)
    cost = _total(alone, together, picked)
    curves = [found[k][0] for found, k in zip(options, picked, strict=True)]
    chosen = np.stack([line[k] for line, k in zip(lines, picked, strict=True)])
    spots = [_spots(curve, size, p == q) for curve, size, (p, q) in zip(curves[:-1], words, edges, strict=True)]
    sizes = [np.array(size) / 2 for size in words]
    alone = [
        preference + _on_circles(spot, half, places, radius) + _on_lines(spot, half, chosen)
        for (spot, preference), half in zip(spots, sizes, strict=True)
    ]
    together = {
        (i, j): CLASH * _boxes_meet(spots[i][0], sizes[i], spots[j][0], sizes[j], 2)
        + 5 * _boxes_meet(spots[i][0], sizes[i], spots[j][0], sizes[j], 9)
        for i in range(len(spots))
        for j in range(i)
    }
    at = _choose(alone, together)
    cost += _total(alone, together, at)
    routes = [
        Route(tuple(map(tuple, curve.tolist())), tuple(spot[k].tolist()))
        for curve, (spot, _), k in zip(curves, spots, at, strict=False)
    ]
    arrow = curves[-1]
    return routes, Route(tuple(map(tuple, arrow.tolist())), tuple(arrow[0].tolist())), cost


def _choose(alone: Sequence[_Floats], together: dict[tuple[int, int], _Floats]) -> list[int]:
    """One candidate for each item; the best of a few descents, each changes one item as long as that helps."""
    items = range(len(alone))
    table = {(i, j): cost for (i, j), cost in together.items()} | {(j, i): c.T for (i, j), c in together.items()}
    orders = [list(items), list(reversed(items)), sorted(items, key=lambda i: -len(alone[i]))]
    best: tuple[float, list[int]] = (np.inf, [])
    for order in orders:
        pick = [int(cost.argmin()) for cost in alone]
        for _ in range(12):
            before = list(pick)
            for i in order:
                pick[i] = int((alone[i] + sum(table[i, j][:, pick[j]] for j in items if j != i)).argmin())
            if pick == before:
                break
        best = min(best, (_total(alone, together, pick), pick))
    return best[1]


def _total(alone: Sequence[_Floats], together: dict[tuple[int, int], _Floats], pick: Sequence[int]) -> float:
    pairs = sum(float(cost[pick[i], pick[j]]) for (i, j), cost in together.items())
    return pairs + sum(float(cost[k]) for cost, k in zip(alone, pick, strict=True))


def _curves(places: _Floats, radius: float, p: int, q: int, bends: Sequence[float]) -> list[tuple[_Floats, float]]:
    """Candidates for the edge from p to q; no straight one among ``bends`` where there is an opposite edge."""
    if p == q:
        return [_loop(places[p], radius, turn, k) for k, turn in enumerate(_TURNS)]
    start, end = places[p], places[q]
    length = float(np.linalg.norm(end - start))
    normal = np.array([start[1] - end[1], end[0] - start[0]]) / length
    found = []
    for bend in bends:
        middle = (start + end) / 2 + bend * length * normal
        a = start + radius * _unit(middle - start)
        b = end + (radius + 1) * _unit(middle - end)
        found.append((np.array([a, a + (middle - a) * 2 / 3, b + (middle - b) * 2 / 3, b]), 14 * abs(bend)))
    return found


def _loop(centre: _Floats, radius: float, turn: float, rank: int) -> tuple[_Floats, float]:
    a, b = (centre + r * _direction(turn + side) for r, side in ((radius, 0.42), (radius + 1, -0.42)))
    far = radius + 32
    return np.array([a, centre + far * _direction(turn + 0.4), centre + far * _direction(turn - 0.4), b]), 0.9 * rank


def _arrows(centre: _Floats, radius: float) -> list[tuple[_Floats, float]]:
    found = []
    for rank, turn in enumerate(_STARTS):
        ray = _direction(turn)
        found.append((centre + np.outer(np.linspace(radius + 26, radius + 1, 4), ray), 3.0 * rank))
    return found


def _spots(curve: _Floats, size: tuple[float, float], loop: bool) -> tuple[_Floats, _Floats]:
    """Places for a word beside its curve, and how much each is disliked."""
    half = np.array(size) / 2
    found, costs = [], []
    for rank, t in enumerate((0.5,) if loop else _ALONG):
        u = 1 - t
        point = u**3 * curve[0] + 3 * u * u * t * curve[1] + 3 * u * t * t * curve[2] + t**3 * curve[3]
        slope = _unit(u * u * (curve[1] - curve[0]) + 2 * u * t * (curve[2] - curve[1]) + t * t * (curve[3] - curve[2]))
        normal = np.array([-slope[1], slope[0]])
        outside = np.sign(((curve[1] + curve[2] - curve[0] - curve[3]) * normal).sum().round(6)) or 1.0
        for side in (outside,) if loop else (outside, -outside):
            # as near as the box allows: half its extent along the normal
            for gap in (3.0, 6.0, 10.0):
                found.append(point + side * normal * (np.abs(normal) @ half + gap))
                costs.append(1.2 * rank + 2 * (side != outside) + 0.8 * (gap - 3))
    return np.array(found), np.array(costs)


def _sample(curve: _Floats, count: int) -> _Floats:
    t = np.linspace(0, 1, count)[:, None]
    u = 1 - t
    return u**3 * curve[0] + 3 * u * u * t * curve[1] + 3 * u * t * t * curve[2] + t**3 * curve[3]


def _in_the_way(lines: _Floats, places: _Floats, radius: float, own: set[int]) -> _Floats:
    """The cost of circles other than its own that each line (candidates, points, 2) touches."""
    others = np.array([place for k, place in enumerate(places) if k not in own]).reshape(-1, 2)
    near = np.linalg.norm(lines[:, :, None] - others, axis=-1)
    touched = (near < radius + 2).any(axis=1).sum(axis=1)
    return CLASH * touched + 20 * (near < radius + 9).any(axis=1).sum(axis=1)


def _meeting(a: _Floats, b: _Floats, common: Sequence[_Floats], radius: float) -> _Floats:
    """The cost of two lines that cross or run close, for all pairs of candidates, but for near a circle of both."""
    if (a.max(axis=(0, 1)) + 11 < b.min(axis=(0, 1))).any() or (b.max(axis=(0, 1)) + 11 < a.min(axis=(0, 1))).any():
        return np.zeros((len(a), len(b)))
    gap = np.linalg.norm(a[:, None, :, None] - b[None, :, None, :], axis=-1)
    close = np.clip(1 - gap / 11, 0, 1)
    for centre in common:
        close *= (np.linalg.norm(a - centre, axis=-1) > radius + 9)[:, None, :, None]
    crossed = _sides_change(a, b) & _sides_change(b, a).transpose(1, 0, 3, 2)
    return 8.0 * crossed.any(axis=(2, 3)) + 3.0 * close.sum(axis=(2, 3))


def _sides_change(a: _Floats, b: _Floats) -> NDArray[np.bool_]:
    """Whether a piece of line b ends on the other side of a piece of line a than it begins, (a, b, piece, piece)."""
    normal = (a[:, 1:] - a[:, :-1]) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    side = np.einsum("apk,bqk->abpq", normal, b, optimize=True) - (normal * a[:, :-1]).sum(-1)[:, None, :, None]
    return side[..., :-1] * side[..., 1:] < 0


def _on_circles(spots: _Floats, half: _Floats, places: _Floats, radius: float) -> _Floats:
    away = np.maximum(np.abs(spots[:, None] - places) - half, 0)
    return CLASH * (np.linalg.norm(away, axis=-1) < radius + 2.5).sum(axis=1)


def _on_lines(spots: _Floats, half: _Floats, lines: _Floats) -> _Floats:
    inside = (np.abs(spots[:, None, None] - lines) < half + 2).all(axis=-1)
    return 7.0 * inside.sum(axis=2).clip(max=2).sum(axis=1)


def _boxes_meet(a: _Floats, half_a: _Floats, b: _Floats, half_b: _Floats, gap: float) -> NDArray[np.bool_]:
    return (np.abs(a[:, None] - b) < half_a + half_b + gap).all(axis=-1)


def _unit(vector: _Floats) -> _Floats:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def _direction(turn: float) -> _Floats:
    return np.array([np.cos(turn), np.sin(turn)])
