"""Linear separability, decided exactly: a hyperplane, or multipliers that prove that there is none.

The simplex method is our own, in fractions: solvers of linear programs, SciPy's among them, work in floats, so that
neither a hyperplane nor its absence would be proved.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from attrs import frozen

from fhx.exact.numbers import Exact, Number, dot, vector


@frozen
class Separation:
    r"""Whether a hyperplane separates points of label 1 from points of label 0, with the proof.

    Either :math:`w \cdot x_i + b \ge 1` for label 1 and :math:`\le -1` for label 0. Or, with :math:`s_i = 1` for label
    1 and :math:`-1` for label 0, multipliers

    .. math:: y_i \ge 0, \qquad \sum_i y_i = 1, \qquad \sum_i y_i s_i (x_i, 1) = 0,

    which prove that there is no such w, b: the sum of :math:`y_i s_i (w \cdot x_i + b)` would be 0 and at least 1.
    In words: the two sets' convex hulls share a point.

    Attributes:
        points, labels: what was asked.
        w, b: the hyperplane, or None.
        multipliers: :math:`y`, or None.
    """

    points: tuple[tuple[Number, ...], ...]
    labels: tuple[int, ...]
    w: tuple[Fraction, ...] | None = None
    b: Fraction | None = None
    multipliers: tuple[Fraction, ...] | None = None

    def __bool__(self) -> bool:
        """Whether the points can be separated."""
        return self.w is not None

    def check(self) -> bool:
        """Whether the proof holds, computed anew from the points."""
        rows = _signed(self.points, self.labels)
        match self.w, self.b, self.multipliers:
            case w, b, None if w is not None and b is not None:
                return len(w) == len(rows[0]) - 1 and all(dot(row, (*w, b)) >= 1 for row in rows)
            case None, None, y if y is not None:
                sums = [dot(y, column) for column in zip(*rows, strict=True)] if len(y) == len(rows) else [1]
                return all(value >= 0 for value in y) and sum(y) == 1 and not any(sums)
        return False


def separate(points: Iterable[Sequence[Exact]], labels: Iterable[int]) -> Separation:
    r"""Separate points by a hyperplane, or prove that none does.

    Phase one of the simplex method, in fractions, looks for the multipliers; Bland's rule makes it end. If there are
    none, its dual solution is the hyperplane. See ``Separation``.

    Args:
        points: vectors of exact numbers, of one length.
        labels: 0 or 1 for each.

    Raises:
        TypeError: a point holds something that is not an exact number.
        ValueError: there is no point, points differ in length, or there is not one label 0 or 1 for each.

    Source: Farkas (1902); Bland (1977), "New finite pivoting rules for the simplex method".
    """
    given = [tuple(point) for point in points]
    if not given:
        raise ValueError("there are no points to separate")
    rows = tuple(vector(point, f"points[{i}]", len(given[0])) for i, point in enumerate(given))
    labels = tuple(labels)
    if len(labels) != len(rows):
        raise ValueError(f"there are {len(rows)} points and {len(labels)} labels")
    for i, label in enumerate(labels):
        if label not in (0, 1):
            raise ValueError(f"labels[{i}] is {label!r}, neither 0 nor 1")
    columns = [(*row, 1) for row in _signed(rows, labels)]
    y, dual = _feasible(columns, [0] * len(rows[0]) + [0, 1])
    if y is not None:
        return Separation(rows, labels, multipliers=y)
    *v, b, theta = dual
    return Separation(rows, labels, w=tuple(-value / theta for value in v), b=-b / theta)


def _signed(points: Iterable[Sequence[Number]], labels: Iterable[int]) -> list[tuple[Number, ...]]:
    """The rows :math:`s_i (x_i, 1)`."""
    return [tuple((1 if label else -1) * value for value in (*x, 1)) for x, label in zip(points, labels, strict=True)]


def _feasible(
    columns: Sequence[Sequence[Number]], right: Sequence[int]
) -> tuple[tuple[Fraction, ...] | None, tuple[Fraction, ...]]:
    """A y >= 0 with sum_i y_i columns[i] = right >= 0, or None; and the dual v, for which, if there is no y,
    v . columns[i] <= 0 for all i and v . right > 0.

    The tableau begins with one artificial unknown for each equation, and the last row holds the costs of their sum.
    """
    n, m = len(columns), len(right)
    rows = [
        [Fraction(column[k]) for column in columns] + [Fraction(k == l) for l in range(m)] + [Fraction(right[k])]
        for k in range(m)
    ]
    costs = [-sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    costs[n : n + m] = [Fraction(0)] * m
    rows.append(costs)
    basis = list(range(n, n + m))
    while (entering := next((j for j, cost in enumerate(rows[m][:-1]) if cost < 0), None)) is not None:
        ratios = [(rows[k][-1] / rows[k][entering], basis[k], k) for k in range(m) if rows[k][entering] > 0]
        _, _, leaving = min(ratios)
        _pivot(rows, leaving, entering)
        basis[leaving] = entering
    dual = tuple(1 - cost for cost in rows[m][n : n + m])
    if rows[m][-1] < 0:
        return None, dual
    value = {j: rows[k][-1] for k, j in enumerate(basis)}
    return tuple(value.get(i, Fraction(0)) for i in range(n)), dual


def _pivot(rows: list[list[Fraction]], leaving: int, entering: int) -> None:
    """Solve equation ``leaving`` for unknown ``entering`` and eliminate it from all others."""
    factor = rows[leaving][entering]
    rows[leaving] = pivot = [value / factor for value in rows[leaving]]
    for k, row in enumerate(rows):
        if k != leaving and row[entering]:
            rows[k] = [value - row[entering] * above for value, above in zip(row, pivot, strict=True)]
