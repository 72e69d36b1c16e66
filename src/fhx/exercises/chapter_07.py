r"""The exercises of chapter 7, gradients through time, with their oracles.

Products of Jacobians are compared with sums over paths, growth rates with exact fractions, rates of random products
with binomial sums, and a reader's folding net with a triangle wave.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, comb, exp, inf, isfinite, isnan, log, log1p, prod
from typing import Any

import torch
from numpy.random import Generator
from torch import Tensor

from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import numbers_of, parts_of
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]

Rows = Sequence[Sequence[float]]


# The product by its paths


def _by_paths(W: Tensor, states: Tensor) -> Tensor:
    """Every way through the units, from unit j at time 0 to unit i at time T, as a sum of products."""
    d, slopes = len(W), 1 - states**2
    total = torch.zeros_like(W)
    for path in product(range(d), repeat=len(states) + 1):
        steps = zip(slopes, path, path[1:], strict=False)
        total[path[-1], path[0]] += prod(float(slope[i] * W[i, j]) for slope, j, i in steps)
    return total


def _net_and_states(generator: Generator) -> Case:
    d, T = int(generator.integers(1, 4)), int(generator.integers(1, 5))
    return torch.from_numpy(generator.normal(size=(d, d))), torch.from_numpy(generator.uniform(-0.9, 0.9, (T, d)))


# The climb of a non-normal matrix


def _by_formula(a: Fraction, b: int) -> tuple[int, int]:
    def entry(n: int) -> Fraction:
        return n * a ** (n - 1) * b

    top = max(1, ceil(a / (1 - a)))
    low, high = top - 1, 2 * top + 1  # the entry is at least 1 at low, or low is 0
    while entry(high) >= 1:
        high *= 2
    low = top if entry(top) >= 1 else low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if entry(middle) >= 1 else (low, middle)
    return top, high


def _decay_and_coupling(generator: Generator) -> Case:
    below = int(generator.integers(2, 21))
    return Fraction(int(generator.integers(1, below)), below), int(generator.integers(1, 50))


# Growth beyond the range of floats


def _exact_growth(Js: Sequence[Rows], v: Sequence[float]) -> float:
    """In whole numbers: what is given is a multiple of 1/8."""
    w = [int(8 * x) for x in v]
    for J in Js:
        w = [sum(int(8 * entry) * x for entry, x in zip(row, w, strict=True)) for row in J]
    return log(sum(x * x for x in w)) / 2 - (len(Js) + 1) * log(8)


def _not_nan(value: Any, *case: Any) -> Any:
    """Infinity over infinity is what a product that is not divided in time comes to."""
    if isinstance(value, float) and isnan(value):
        raise MalformedError("a number", value, "the product has left the floats")
    return value


def _matrices(T: int, seed: int, largest: int) -> Case:
    """Invertible matrices whose entries are multiples of 1/8 up to largest/8."""
    generator = torch.Generator().manual_seed(seed)
    Js: list[list[list[float]]] = []
    while len(Js) < T:
        (a, b), (c, d) = torch.randint(-largest, largest + 1, (2, 2), generator=generator).tolist()
        if a * d != b * c:
            Js.append([[a / 8, b / 8], [c / 8, d / 8]])
    return Js, [1.0, -0.5]


def _some_matrices(generator: Generator) -> Case:
    return _matrices(int(generator.integers(1, 40)), int(generator.integers(10**6)), int(generator.choice([4, 8, 16])))


# Three rates of one product


def _by_binomials(a: float, b: float, T: int = 30) -> tuple[float, float, float]:
    """All products of T factors, k of them a, with their probabilities."""
    ways = [(comb(T, k) / 2**T, k * log(a) + (T - k) * log(b)) for k in range(T + 1)]
    top = max(size for _, size in ways)
    typical = sum(p * size for p, size in ways) / T
    moments = [m * top + log(sum(p * exp(m * (size - top)) for p, size in ways)) for m in (1, 2)]
    return typical, moments[0] / T, moments[1] / (2 * T)


def _two_factors(generator: Generator) -> Case:
    return float(generator.uniform(0.1, 1)), float(generator.uniform(0.5, 3))


# A forget gate held open


def _by_halving(T: int, keep: float) -> float:
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if -T * log1p(exp(-middle)) < log(keep) else (low, middle)
    return round(low, 9) + 0.0  # no -1e-16 for 0


def _steps_and_share(generator: Generator) -> Case:
    return int(generator.integers(1, 5000)), float(generator.uniform(0.01, 0.99))


# Three pieces per step


def _triangle_wave(T: int, x: Fraction) -> float:
    return float(1 - abs(1 - 3**T * x % 2))


def _folded(value: Any, T: int, x: Fraction) -> float:
    """The output of the reader's net at time T on the inputs x, 0, 0, ..."""
    parts = parts_of(value, "W", "U", "b", "w")
    W, U, b, w = (torch.from_numpy(numbers_of(*pair)) for pair in zip("WUbw", _plain(parts), strict=True))
    d = len(w) if w.ndim else 0
    if d > 3:
        raise ValueError(f"the net has {d} units, and at most 3 are asked for")
    shapes = [tuple(part.shape) for part in (W, U, b, w)]
    if not d or shapes != [(d, d), (d,), (d,), (d,)]:
        found = f"got {', '.join(map(str, shapes))}"
        raise MalformedError("W, U, b, w of the shapes (d, d), (d,), (d,), (d,)", why=found)
    h = torch.zeros(d, dtype=torch.float64)
    for t in range(T):
        h = torch.relu(W @ h + U * (float(x) if t == 0 else 0.0) + b)
    y = float(w @ h)
    return y if isfinite(y) else inf


def _plain(value: Any) -> Any:
    """Fractions as floats, lists and tuples inside."""
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Fraction) else value


def _place(generator: Generator) -> Case:
    return int(generator.integers(1, 11)), Fraction(int(generator.integers(0, 1001)), 1000)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "07-chain",
        "A derivative by hand",
        "chain(W, states)",
        ("W", "states"),
        cases=(
            (torch.tensor([[2.0]], dtype=torch.float64), torch.tensor([[0.5], [0.0]], dtype=torch.float64)),
            (
                torch.tensor([[0.9, 10.0], [0.0, 0.9]], dtype=torch.float64),
                torch.tensor([[0.0, 0.5], [0.5, 0.0], [0.8, -0.5]], dtype=torch.float64),
            ),
        ),
        sample=_net_and_states,
        oracle=_by_paths,
        tolerance=1e-9,
    ),
    Exercise(
        "07-climb",
        "The climb before the fall",
        "climb(a, b)",
        ("a", "b"),
        cases=((Fraction(9, 10), 10), (Fraction(1, 2), 1), (Fraction(1, 5), 3), (Fraction(10, 11), 40)),
        sample=_decay_and_coupling,
        oracle=_by_formula,
    ),
    Exercise(
        "07-growth",
        "A product that leaves the floats",
        "growth(Js, v)",
        ("Js", "v"),
        cases=(
            ([[[2.0, 0.0], [0.0, 0.5]]], [3.0, 8.0]),
            ([[[0.0, 2.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 4.0]]], [1.0, 0.0]),
            _matrices(1500, 1, 40),
            _matrices(1500, 2, 2),
        ),
        sample=_some_matrices,
        oracle=_exact_growth,
        observe=_not_nan,
    ),
    Exercise(
        "07-rates",
        "Three rates of one product",
        "rates(a, b)",
        ("a", "b"),
        cases=((0.5, 1.6), (0.5, 2.0), (0.9, 0.9), (0.1, 3.0)),
        sample=_two_factors,
        oracle=_by_binomials,
    ),
    Exercise(
        "07-forget-bias",
        "How open a gate must be",
        "forget_bias(T, keep)",
        ("T", "keep"),
        cases=((1, 0.5), (100, 0.5), (1000, 0.9), (20, 0.01)),
        sample=_steps_and_share,
        oracle=_by_halving,
        tolerance=1e-6,
    ),
    Exercise(
        "07-fold",
        "Three pieces per step",
        "fold()",
        ("T", "x_1"),
        cases=(
            *((1, Fraction(k, 6)) for k in range(7)),
            *((2, Fraction(k, 9)) for k in range(10)),
            *((6, Fraction(k, 3**6)) for k in (0, 1, 2, 364, 365, 728, 729)),
        ),
        sample=_place,
        oracle=_triangle_wave,
        arguments=lambda T, x: (),
        observe=_folded,
        tolerance=1e-6,
    ),
)
"""The exercises of the chapter, in its order."""
