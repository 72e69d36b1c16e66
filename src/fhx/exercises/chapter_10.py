r"""The exercises of chapter 10, truncation, with their oracles.

Lengths and derivatives are compared with exact fractions, states with one run for every window, worst inputs with
all of them, rounding with fractions rounded by rule, and a reader's bound with two runs that do their worst.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import isfinite, tanh
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate_stable import forgets, is_enough
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]


# The shortest window


def _by_bisection(rate: Fraction, size: Fraction, eps: Fraction) -> int:
    low, high = 0, 1
    while rate**high * size > eps:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rate**middle * size > eps else (low, middle)
    return high


def _rate_size_and_eps(generator: Generator) -> Case:
    below = int(generator.integers(2, 40))
    rate = Fraction(int(generator.integers(0, below)), below)
    return rate, Fraction(int(generator.integers(1, 200)), 4), Fraction(1, int(generator.integers(1, 10_000)))


# All windows at once


def _one_by_one(W: Tensor, U: Tensor, b: Tensor, xs: Tensor, k: int) -> Tensor:
    """Every window by a run of its own, number by number."""
    w, u, bias, inputs = (part.tolist() for part in (W, U, b, xs))
    states = []
    for t in range(len(inputs)):
        h = [0.0] * len(w)
        for x in inputs[max(0, t + 1 - k) : t + 1]:
            sums = (
                sum(map(float.__mul__, w[i], h)) + sum(map(float.__mul__, u[i], x)) + bias[i] for i in range(len(w))
            )
            h = [tanh(value) for value in sums]
        states.append(h)
    return torch.tensor(states, dtype=torch.float64)


def _tensors(*parts: Sequence[object]) -> tuple[Tensor, ...]:
    return tuple(torch.tensor(part, dtype=torch.float64) for part in parts)


def _cell_and_inputs(generator: Generator) -> Case:
    d, d_in, T = (int(generator.integers(low, high)) for low, high in ((1, 4), (1, 3), (1, 12)))
    shapes = ((d, d), (d, d_in), (d,), (T, d_in))
    return *(torch.from_numpy(generator.normal(size=shape)) for shape in shapes), int(generator.integers(1, 14))


# Which step sizes


def _by_increments(p: Fraction) -> str:
    """From how the logarithm of the product grows when the number of steps doubles, twice."""
    sizes = np.arange(1, 2**17 + 1, dtype=float) ** -float(p)
    logs = np.cumsum(np.log1p(sizes))[[2**15 - 1, 2**16 - 1, 2**17 - 1]]
    ratio = (logs[2] - logs[1]) / (logs[1] - logs[0])
    return "power" if abs(ratio - 1) < 0.01 else "bounded" if ratio < 1 else "faster"


# The worst inputs


def _gap(a: Fraction, k: int, inputs: list[int]) -> Fraction:
    """The difference of the two derivatives by a, from the recursions of state and derivative."""
    found = []
    for window in (inputs, inputs[-k:]):
        h = slope = Fraction(0)
        for x in window:
            h, slope = a * h + x, a * slope + h
        found.append(slope)
    return abs(found[0] - found[1])


def _worst_of_all(a: Fraction, k: int, T: int) -> Fraction:
    return max(_gap(a, k, list(signs)) for signs in product((-1, 1), repeat=T))


def _gap_of_answer(value: Any, a: Fraction, k: int, T: int) -> Fraction:
    if not isinstance(value, list | tuple) or len(value) != T or any(x not in (-1, 1) for x in value):
        raise MalformedError(f"a list of {T} numbers, each 1 or -1", value)
    found, most = _gap(a, k, [int(x) for x in value]), _worst_of_all(a, k, T)
    if found < most:
        raise ValueError(f"these inputs give the difference {float(found):.4g}, others {float(most):.4g}")
    return found


def _weight_window_and_length(generator: Generator) -> Case:
    k = int(generator.integers(1, 5))
    return Fraction(int(generator.integers(-9, 10)), 10), k, int(generator.integers(k + 1, 8))


# The curvature


def _by_polynomials(a: Fraction, T: int) -> Fraction:
    """The second derivative of half the square of 1 + a + ... + a^(T-1), coefficient by coefficient."""
    ways = [min(n, T - 1) - max(0, n - T + 1) + 1 for n in range(2 * T - 1)]  # of n as a sum of two such powers
    return Fraction(1, 2) * sum(n * (n - 1) * ways[n] * a ** (n - 2) for n in range(2, 2 * T - 1))


# Large and forgetful


def _window_and_inputs(generator: Generator) -> Case:
    k, T = int(generator.integers(1, 6)), int(generator.integers(6, 12))
    return k, [int(x) for x in generator.choice([-3, -2, -1, 1, 2, 3], size=T)]


# Two runs that never meet


def _rounded(value: Fraction) -> Fraction:
    """To 24 binary digits, ties to even."""
    if not value:
        return value
    power = value.numerator.bit_length() - value.denominator.bit_length()
    power -= value < Fraction(2) ** power
    unit = Fraction(2) ** (power - 23)
    return round(value / unit) * unit


def _left_in_fractions(a: float, start: float) -> float:
    weight, ends = Fraction(float(np.float32(a))), []
    for h in (Fraction(0), Fraction(start)):
        last = None
        while h != last:
            h, last = _rounded(_rounded(weight * h) + 1), h
        ends.append(h)
    return float(abs(ends[0] - ends[1]))


def _weight_and_start(generator: Generator) -> Case:
    return float(np.float32(generator.uniform(0.1, 0.985))), float(generator.integers(150, 300))


# A better bound


def _worst_pair(w: float, u: float, k: int) -> float:
    """How far two runs are apart that a greedy search drives, one after 300 ones, and one from zero."""
    inputs = u * np.linspace(-1, 1, 401)
    h, cut = 0.0, 0.0
    for _ in range(300):
        h = tanh(w * h + u)
    for _ in range(k):
        highs, lows = np.tanh(w * h + inputs), np.tanh(w * cut + inputs)
        best = int((highs - lows).argmax())
        h, cut = float(highs[best]), float(lows[best])
    return h - cut


def _beats_state_gap_bound(value: Any, w: float, u: float, k: int) -> bool:
    if isinstance(value, Tensor | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise MalformedError("a finite number", value)
    worst, allowed = _worst_pair(w, u, k), w**k * min(1.0, tanh(u) / (1 - w))
    if value < worst * (1 - 1e-9):
        raise ValueError(f"{value:.4g} is not a bound: two runs are {worst:.4g} apart")
    if value > 0.95 * allowed:
        raise ValueError(f"{value:.4g} is a bound, but not a twentieth below Lemma 1's {allowed:.4g}")
    return True


def _tanh_unit(generator: Generator) -> Case:
    return float(generator.uniform(0.7, 0.98)), float(generator.uniform(0.5, 2)), int(generator.integers(5, 40))


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "10-length",
        "The shortest window",
        "shortest_window(rate, size, eps)",
        ("rate", "size", "eps"),
        cases=(
            (Fraction(1, 2), Fraction(1), Fraction(1, 8)),
            (Fraction(0), Fraction(5), Fraction(1, 100)),
            (Fraction(1, 2), Fraction(1), Fraction(2)),
            (Fraction(5, 6), Fraction(1), Fraction(25, 36)),
            (Fraction(99, 100), Fraction(100), Fraction(1, 1000)),
            (Fraction(1, 2), Fraction(1), Fraction(1, 8) - Fraction(1, 10**20)),
        ),
        sample=_rate_size_and_eps,
        oracle=_by_bisection,
    ),
    Exercise(
        "10-windows",
        "All windows at once",
        "all_windows(W, U, b, xs, k)",
        ("W", "U", "b", "xs", "k"),
        cases=(
            *((*_tensors([[0.5]], [[1.0]], [0.25], [[1.0], [0.0], [-1.0]]), k) for k in (1, 2, 5)),
            (*_tensors([[0.0, 1.0], [0.5, 0.0]], [[1.0], [0.0]], [0.0, 0.5], [[1.0], [0.0], [-1.0]]), 3),
        ),
        sample=_cell_and_inputs,
        oracle=_one_by_one,
    ),
    Exercise(
        "10-schedule",
        "Step sizes that keep the bound",
        "growth_of_bound(p)",
        ("p",),
        cases=tuple((Fraction(n, 2),) for n in (2, 4, 1, 0, 3)),
        sample=lambda generator: (Fraction(int(generator.integers(0, 41)), 20),),
        oracle=_by_increments,
    ),
    Exercise(
        "10-worst",
        "Inputs that meet Lemma 2",
        "worst_inputs(a, k, T)",
        ("a", "k", "T"),
        cases=((Fraction(1, 2), 1, 2), (Fraction(1, 2), 2, 6), (Fraction(-1, 2), 1, 2), (Fraction(-9, 10), 2, 7)),
        sample=_weight_window_and_length,
        oracle=_worst_of_all,
        observe=_gap_of_answer,
    ),
    Exercise(
        "10-curvature",
        "How curved a squared loss is",
        "loss_curvature(a, T)",
        ("a", "T"),
        cases=((Fraction(1, 2), 1), (Fraction(1, 2), 2), (Fraction(0), 3), (Fraction(1), 3), (Fraction(9, 10), 40)),
        sample=lambda generator: (Fraction(int(generator.integers(-12, 13)), 10), int(generator.integers(1, 30))),
        oracle=_by_polynomials,
    ),
    Exercise(
        "10-forgetful",
        "Large and forgetful",
        "forgetful()",
        ("k", "inputs"),
        cases=((3, [1, 1, 1, 1]), (2, [1, 1, 1, 1]), (1, [1, 1, 1, 1]), (3, [2, -1, 3, 1, -2, 1])),
        sample=_window_and_inputs,
        oracle=lambda k, inputs: is_enough(k, k >= 3),
        arguments=lambda k, inputs: (),
        observe=forgets,
    ),
    Exercise(
        "10-meet",
        "Two runs that never meet",
        "distance_left(a, start)",
        ("a", "start"),
        cases=((0.5, 200.0), (0.75, 200.0), (0.875, 200.0), (0.9375, 200.0), (0.9899999499320984, 300.0)),
        sample=_weight_and_start,
        oracle=_left_in_fractions,
        seconds=5.0,
    ),
    Exercise(
        "10-better",
        "A better bound for a tanh cell",
        "better_bound(w, u, k)",
        ("w", "u", "k"),
        cases=((0.9, 1.0, 10), (0.95, 0.5, 40), (0.7, 2.0, 5), (0.98, 1.0, 20)),
        sample=_tanh_unit,
        oracle=lambda w, u, k: True,
        observe=_beats_state_gap_bound,
    ),
)
"""The exercises of the chapter, in its order."""
