"""Leads of one kind of net over another: a sign test by all ways in which signs fall, and reversals by exact means."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from numpy.random import Generator

from fhx.exercises.record import Case

__all__ = ["by_all_signs", "curves", "exact_reversal", "leads"]

Curves = Sequence[Sequence[float]]


def by_all_signs(leads: Sequence[float]) -> float:
    """The share of all ways in which the signs can fall that has at least as many alike."""
    signs = [lead > 0 for lead in leads if lead != 0]
    alike = max(signs.count(True), signs.count(False))
    ways = [max(way.count(True), way.count(False)) for way in product((True, False), repeat=len(signs))]
    return sum(many >= alike for many in ways) / len(ways)


def leads(generator: Generator) -> Case:
    """One to eleven leads, in eighths."""
    found = generator.integers(-8, 13, size=generator.integers(1, 12)) / 8
    return ([float(lead) for lead in found],)


def exact_reversal(updates: Sequence[int], one: Curves, other: Curves) -> int | None:
    """Where the sign of the exact difference of the means, zeros left out, is another than the one before it."""
    differences = [
        sum(map(Fraction, a)) / len(a) - sum(map(Fraction, b)) / len(b)
        for a, b in zip(zip(*one, strict=True), zip(*other, strict=True), strict=True)
    ]
    signed = [(at, lead > 0) for at, lead in zip(updates, differences, strict=True) if lead != 0]
    changes = [at for (_, before), (at, now) in pairwise(signed) if now != before]
    return max(changes, default=None)


def curves(generator: Generator) -> Case:
    """Two kinds of one to four seeds whose curves, in eighths, cross and touch."""
    n = int(generator.integers(2, 12))
    step = int(generator.integers(1, 6)) * 50

    def draw() -> Any:
        rises = generator.integers(-2, 4, size=(2 ** int(generator.integers(0, 3)), n))
        return (rises.cumsum(1).clip(0, 8) / 8).tolist()

    return list(range(0, n * step, step)), draw(), draw()
