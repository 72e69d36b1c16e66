r"""The exercises of chapter 11, on real data, with their oracles.

Perplexities are compared with exact products, windows and cut states with counting and runs, certificates and
exponents with the package, the test of signs with all distributions of sums, and cosines with the sine of half the
angle.
"""

from collections import Counter
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import torch
from numpy.random import Generator

from fhx._modules import undrawn
from fhx.cells import SimpleCell
from fhx.dynamics import lyapunov_spectrum
from fhx.exercises.record import Case, Exercise
from fhx.stability import contraction_rate

__all__ = ["EXERCISES"]


def _from_exact(probabilities: list[float], unknown: list[bool], rare: int) -> float:
    """From the exact product of the words' probabilities."""
    product = Fraction(1)
    for p, is_unknown in zip(probabilities, unknown, strict=True):
        product *= Fraction(p) / (rare if is_unknown else 1)
    return exp((log(product.denominator) - log(product.numerator)) / len(probabilities))


def _text(generator: Generator) -> Case:
    size = int(generator.integers(1, 12))
    unknown = generator.random(size) < 0.3
    return generator.uniform(0.01, 0.9, size).tolist(), unknown.tolist(), int(generator.integers(1, 500))


def _by_counting(T: int, k: int) -> tuple[Fraction, Fraction]:
    """From the inputs that each output sees, one by one."""
    starts = range(0, T, k)
    trained = [len([s for s in range(start, T) if s <= t]) for t in range(T) for start in [starts[t // k]]]
    evaluated = [len([s for s in range(T) if t - k < s <= t]) for t in range(T)]
    return Fraction(sum(trained), T), Fraction(sum(evaluated), T)


def _run_and_window(generator: Generator) -> Case:
    return int(generator.integers(1, 40)), int(generator.integers(1, 50))


def _by_runs(a: Fraction, x: list[int], k: int) -> list[Fraction]:
    """A run from zero over each window."""
    states = []
    for t in range(1, len(x) + 1):
        h = Fraction(0)
        for u in x[max(0, t - k) : t]:
            h = a * h + u
        states.append(h)
    return states


def _linear(generator: Generator) -> Case:
    a = Fraction(int(generator.integers(-6, 7)), int(generator.integers(1, 5)))
    x = generator.integers(-4, 5, size=int(generator.integers(1, 9)))
    return a, [int(u) for u in x], int(generator.integers(1, 8))


def _by_package(w: float, x: list[float]) -> tuple[float, float]:
    """The certificate's logarithm and the exponent, from the package."""
    cell = undrawn(SimpleCell, 1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(w)
        cell.U.fill_(1)
        cell.b.zero_()
    inputs = torch.tensor(x, dtype=torch.float64).view(-1, 1, 1)
    return log(contraction_rate(cell)), lyapunov_spectrum(cell, inputs).item()


def _scalar(generator: Generator) -> Case:
    size = int(generator.integers(1, 12))
    return float(generator.choice([-1, 1]) * generator.uniform(0.2, 3)), generator.normal(size=size).tolist()


def _by_sums(differences: list[int]) -> Fraction:
    """From the distribution of the sum, built up one seed at a time."""
    sums = Counter({0: 1})
    for d in differences:
        step = Counter[int]()
        for total, ways in sums.items():
            step[total + d] += ways
            step[total - d] += ways
        sums = step
    seen = abs(sum(differences))
    return Fraction(sum(ways for total, ways in sums.items() if abs(total) >= seen), 2 ** len(differences))


def _differences(generator: Generator) -> Case:
    size = int(generator.integers(1, 9))
    return ([int(d) for d in generator.integers(-9, 10, size=size)],)


def _by_half_the_angle(one: float, other: float, apart: float) -> float:
    """From the sine of half the angle, which the sides of a triangle and half its perimeter give."""
    half = (one + other + apart) / 2
    return 1 - 2 * (half - one) * (half - other) / (one * other)


def _moves(generator: Generator) -> Case:
    n = int(generator.integers(1, 5))
    one, noise = generator.normal(size=(2, n, n))
    other = one + generator.uniform(0.1, 2) * noise
    return tuple(float(np.linalg.norm(move)) for move in (one, other, one - other))


def _as_pair(value: Any, *case: Any) -> Any:
    """A pair of whole numbers or Fractions as Fractions, anything else as it is."""
    if isinstance(value, list | tuple):
        return tuple(Fraction(part) if type(part) is int else part for part in value)
    return value


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "11-perplexity",
        "The perplexity of the whole vocabulary",
        "whole_perplexity(probabilities, unknown, rare)",
        ("probabilities", "unknown", "rare"),
        cases=(
            ([0.25, 0.25], [False, False], 10),
            ([0.5, 0.5], [False, True], 4),
            ([0.1], [True], 100),
            ([0.2, 0.05, 0.4, 0.3], [False, True, False, True], 23_280),
            (5000 * [0.0625], 5000 * [False], 10),
        ),
        sample=_text,
        oracle=_from_exact,
    ),
    Exercise(
        "11-window",
        "What a window lets a net see",
        "mean_inputs(T, k)",
        ("T", "k"),
        cases=((6, 3), (1, 1), (5, 1), (5, 2), (70, 20), (3, 10)),
        sample=_run_and_window,
        oracle=_by_counting,
        observe=_as_pair,
    ),
    Exercise(
        "11-cut",
        "A truncated model by hand",
        "cut_states(a, x, k)",
        ("a", "x", "k"),
        cases=(
            (Fraction(1, 2), [4, 0, 0, 2], 2),
            (Fraction(1), [1, 1, 1, 1], 3),
            (Fraction(3), [1, 0, 0], 1),
            (Fraction(-1, 2), [2, 4], 5),
        ),
        sample=_linear,
        oracle=_by_runs,
    ),
    Exercise(
        "11-reading",
        "A certificate and an exponent",
        "rates(w, x)",
        ("w", "x"),
        cases=((2.0, [0.0, 0.0]), (0.5, [1.0]), (2.0, [3.0, -3.0, 3.0]), (-1.5, [0.2, 0.1, 0.4])),
        sample=_scalar,
        oracle=_by_package,
        tolerance=1e-7,
    ),
    Exercise(
        "11-signs",
        "What five seeds can show",
        "sign_test(differences)",
        ("differences",),
        cases=(([3, 1, 4, 1, 5],), ([1],), ([2, -1, 1],), ([0, 0, 3],), ([-5, 2, -3, -1, -4],)),
        sample=_differences,
        oracle=_by_sums,
    ),
    Exercise(
        "11-moves",
        "How alike two moves are",
        "cosine(one, other, apart)",
        ("one", "other", "apart"),
        cases=((3.0, 4.0, 5.0), (3.0, 3.0, 0.0), (1.0, 1.0, 1.0), (2.0, 1.0, 3.0)),
        sample=_moves,
        oracle=_by_half_the_angle,
        tolerance=1e-7,
    ),
)
"""The exercises of the chapter, in its order."""
