"""Certificates that no line separates labelled points: the oracle, cases, and what is said of a wrong answer."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from fhx.exact import separate
from fhx.exercises.record import Case

__all__ = ["CERTIFICATES", "a_certificate", "certificate_verdict", "hulls_share_a_point"]

Bits = Sequence[int]
Rows = Sequence[Sequence[int]]

TINY = Fraction(1, 10**20)
CORNERS = [(0, 0), (1, 1), (0, 1), (1, 0)]
CERTIFICATES: tuple[Case, ...] = (
    (CORNERS, [0, 0, 1, 1], [Fraction(1, 4)] * 4),
    (CORNERS, [0, 0, 1, 1], [Fraction(0)] * 4),
    (CORNERS, [0, 0, 1, 1], [Fraction(1)] * 4),
    (CORNERS, [0, 0, 0, 1], [Fraction(1, 4)] * 4),
    ([(0, 0), (1, 1)], [1, 0], [Fraction(1), Fraction(0)]),
    ([(0,), (1,), (2,)], [1, 0, 0], [Fraction(1, 2), Fraction(1), Fraction(-1, 2)]),
    ([(0,), (1,), (3,)], [0, 1, 0], [Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)]),
    ([(0,), (1,), (3,)], [0, 1, 0], [Fraction(1, 3) + TINY, Fraction(1, 2), Fraction(1, 6) - TINY]),
)
"""Points, labels and multipliers, some of which are a proof."""


def hulls_share_a_point(points: Rows, labels: Bits, multipliers: Sequence[Fraction]) -> bool:
    """The other form of Farkas' theorem: weights on the points of each label that meet in one point of both hulls."""
    if any(multiplier < 0 for multiplier in multipliers):
        return False
    centers = []
    for label in (0, 1):
        chosen = [(2 * m, z) for m, z, s in zip(multipliers, points, labels, strict=True) if s == label]
        if sum(m for m, _ in chosen) != 1:
            return False
        centers.append([sum(m * z[i] for m, z in chosen) for i in range(len(points[0]))])
    return centers[0] == centers[1]


def a_certificate(generator: Generator) -> Case:
    """Points that no line separates with their certificate, as it is or spoilt a little."""
    while True:
        points = [tuple(point) for point in generator.integers(0, 4, size=(6, generator.integers(1, 4))).tolist()]
        labels = generator.integers(0, 2, size=6).tolist()
        multipliers = separate(points, labels).multipliers
        if multipliers is not None:
            break
    spoilt, (i, j) = list(multipliers), generator.choice(6, size=2, replace=False)
    spoilt[i] += TINY
    spoilt[j] -= TINY
    as_it_is, negative, twice = multipliers, [-m for m in multipliers], [2 * m for m in multipliers]
    choices = [as_it_is, as_it_is, as_it_is, spoilt, negative, twice]
    return points, labels, list(choices[generator.integers(len(choices))])


def certificate_verdict(
    value: Any, points: Sequence[Sequence[int]], labels: Sequence[int], multipliers: Sequence[Fraction]
) -> Any:
    """The answer on a certificate; a ValueError names a condition that fails where it was taken for a proof."""
    signed = [m if label else -m for m, label in zip(multipliers, labels, strict=True)]
    total = [sum(m * z for m, z in zip(signed, axis, strict=True)) for axis in zip(*points, strict=True)]
    fails = {
        f"a multiplier is negative, {min(multipliers)}": min(multipliers) < 0,
        f"the multipliers add up to {sum(multipliers)} and not to 1": sum(multipliers) != 1,
        f"with the signs the multipliers add up to {sum(signed)} and not to 0": sum(signed) != 0,
        f"with the signs the points add up to ({', '.join(map(str, total))}) and not to 0": any(total),
    }
    if value is True and any(fails.values()):
        raise ValueError(f"this is not a proof: {next(name for name, holds in fails.items() if holds)}")
    return value
