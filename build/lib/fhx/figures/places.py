"""Where the circles of a state diagram stand: a search over the points of a small staggered lattice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["placements"]

_Floats = NDArray[np.float64]
_CROSSING, _THROUGH, _LENGTH, _BACK, _ROW, _BURIED = 6.0, 2.0, 1.0, 3.0, 2.5, 8.0


def placements(n: int, pairs: Sequence[tuple[int, int]], layers: Sequence[int], columns: int) -> list[_Floats]:
    """Places for ``n`` states, best first: a few local optima, one for each way to begin the search.

    A good placement has few crossings, no edge through a circle, short edges, few rows, the layers from left to right
    and nothing to the left of the start, which is state 0.

    Args:
        n: number of states.
        pairs: the edges between different states.
        layers: for each state its distance from the start.
        columns: columns of the lattice, at least 2.

    Returns:
        arrays (n, 2) of columns and rows; every second row is shifted by half a column.
    """
    rows = 3 if n <= 3 * (columns - 1) else 5
    points = np.array([(x + 0.5 * (y % 2), y) for y in range(rows) for x in range(columns)], dtype=float)
    ends = np.array(sorted({(min(pair), max(pair)) for pair in pairs}), dtype=int).reshape(-1, 2)
    forward = np.array([(p, q) for p, q in pairs if layers[q] == layers[p] + 1], dtype=int).reshape(-1, 2)
    found = [_descend(begin, points, ends, forward) for begin in _beginnings(n, layers, rows, columns)]
    best = {at.tobytes(): at for _, at in sorted(found, key=lambda pair: pair[0])}
    return [points[at] for at in best.values()]


def _beginnings(n: int, layers: Sequence[int], rows: int, columns: int) -> list[NDArray[np.int_]]:
    """States in a row, by layers, around a ring, and mixed in a few ways, as places in the lattice."""
    order = sorted(range(n), key=lambda state: layers[state])
    middle = rows // 2
    by_row = sorted(range(rows * columns), key=lambda place: (abs(place // columns - middle), place % columns))
    by_layer = sorted(range(rows * columns), key=lambda place: (place % columns, abs(place // columns - middle)))
    center = np.array([(columns - 1) / 2, middle])
    at = np.array([(place % columns, place // columns) for place in range(rows * columns)]) - center
    ring = sorted(range(rows * columns), key=lambda place: (-np.abs(at[place]).max(), np.arctan2(*at[place][::-1])))
    found = []
    draw = np.random.default_rng(0)
    mixed = [list(draw.permutation(by_row[: n + 2])) for _ in range(5 if n <= 8 else 1)]
    for places in (by_row, by_layer, ring, *mixed):
        begin = np.empty(n, dtype=int)
        begin[order] = places[:n]
        found.append(begin)
    return found


def _descend(
    at: NDArray[np.int_], points: _Floats, ends: NDArray[np.int_], forward: NDArray[np.int_]
) -> tuple[float, NDArray[np.int_]]:
    """Move one state, or swap two, as long as that helps."""
    n, free = len(at), len(points)
    best = float(_cost(at[None], points, ends, forward)[0])
    while True:
        moves = np.repeat(at[None], n * free, axis=0)
        for k, (state, place) in enumerate((state, place) for state in range(n) for place in range(free)):
            moves[k, at == place] = at[state]
            moves[k, state] = place
        costs = _cost(moves, points, ends, forward)
        k = int(costs.argmin())
        if costs[k] > best - 1e-9:
            return best, at
        best, at = float(costs[k]), moves[k]


def _cost(at: NDArray[np.int_], points: _Floats, ends: NDArray[np.int_], forward: NDArray[np.int_]) -> _Floats:
    """The cost of each placement, (moves, n) places of the lattice."""
    crosses, through = _tables(points.tobytes(), len(points))
    xy = points[at]
    total = _ROW * np.ptp(xy[..., 1], axis=1) + 0.3 * np.abs(xy[..., 1] - xy[:, :1, 1]).sum(axis=1) / at.shape[1]
    left = (xy[:, 1:, 0] < xy[:, :1, 0]) | ((xy[:, 1:, 0] == xy[:, :1, 0]) & (xy[:, 1:, 1] == xy[:, :1, 1]))
    total = total + _BURIED * left.any(axis=1)
    a, b = at[:, ends[:, 0]], at[:, ends[:, 1]]
    total = total + _LENGTH * (np.linalg.norm(points[a] - points[b], axis=-1) ** 1.2).sum(axis=1)
    total = total + _THROUGH * through[a[:, :, None], b[:, :, None], at[:, None, :]].sum(axis=(1, 2))
    i, j = np.triu_indices(len(ends), 1)
    total = total + _CROSSING * crosses[a[:, i], b[:, i], a[:, j], b[:, j]].sum(axis=1)
    return total + _BACK * (xy[:, forward[:, 1], 0] <= xy[:, forward[:, 0], 0]).sum(axis=1)


@lru_cache(maxsize=8)
def _tables(data: bytes, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For points p, q, r, s: whether the segments pq and rs cross, and whether r lies in the way of pq."""
    points = np.frombuffer(data).reshape(n, 2)

    def side(p: _Floats, q: _Floats, r: _Floats) -> _Floats:
        return np.sign(np.round((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0], 9))

    p, q, r = points[:, None, None], points[None, :, None], points[None, None, :]
    turn = side(p, q, r)
    apart = turn[:, :, :, None] * turn[:, :, None, :] < 0  # r and s on both sides of pq
    crosses = apart & np.moveaxis(apart, (2, 3), (0, 1))
    along = ((r - p) * (q - p)).sum(-1) / np.maximum(((q - p) ** 2).sum(-1), 1e-9)
    distance = np.linalg.norm(p + np.clip(along, 0, 1)[..., None] * (q - p) - r, axis=-1)
    return crosses, (distance < 0.35) & (along > 0) & (along < 1)
