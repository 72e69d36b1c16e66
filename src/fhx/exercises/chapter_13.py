r"""The exercises of chapter 13, the answer, with their oracles.

Chains are counted in graphs of steps, windows and rates found by search with more digits than floats have, sweeps
foretold by a closed form; a net to be recognised is made of known parts, and a designed one is run and disturbed.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from itertools import product
from math import log, tanh
from typing import Any

import numpy as np
from numpy.random import Generator

from fhx.exercises.compare import MalformedError
from fhx.exercises.evaluate import numbers_of
from fhx.exercises.record import Case, Exercise
from fhx.exercises.show import LINE, show

__all__ = ["EXERCISES"]

Step = Callable[[float, float], float]


# The least rate that remembers


def _by_halving(T: int, gap: float, diameter: float) -> float:
    """With the rate above, T steps leave more than the gap of the diameter; with the one below, less."""
    with localcontext() as context:
        context.prec = 40
        below, above = Decimal(0), max(Decimal(1), Decimal(gap) / Decimal(diameter))
        for _ in range(120):
            rate = (below + above) / 2
            below, above = (rate, above) if rate**T * Decimal(diameter) < Decimal(gap) else (below, rate)
        return float(below)


def _steps_gap_and_diameter(generator: Generator) -> Case:
    gap, diameter = generator.uniform(0.01, 1), generator.uniform(0.5, 8)
    return int(generator.integers(1, 2000)), float(gap), float(diameter)


# A window for all seeds


def _with_many_digits(exponents: list[float], size: float, eps: float) -> int | None:
    if max(exponents) >= 0:
        return None
    with localcontext() as context:
        context.prec = 40
        k, factor = 1, Decimal(max(exponents)).exp()
        left = Decimal(size) * factor
        while left > Decimal(eps):
            k, left = k + 1, left * factor
        return k


def _exponents_size_and_eps(generator: Generator) -> Case:
    exponents = generator.uniform(-1, generator.choice([-0.05, 0.05]), size=int(generator.integers(1, 8)))
    return exponents.tolist(), float(generator.uniform(0.5, 8)), float(10 ** generator.uniform(-8, 1))


# The longest chain


def _longest_paths(T: int, L: int, k: int) -> dict[str, int]:
    """Nodes are (t, l), in an order in which each comes after those it needs."""

    def longest(nodes: list[tuple[int, int]], needs: Callable[[int, int], list[tuple[int, int]]]) -> int:
        length: dict[tuple[int, int], int] = {}
        for node in nodes:
            length[node] = 1 + max((length.get(other, 0) for other in needs(*node)), default=0)
        return max(length.values())

    simple = [(t, 1) for t in range(1, T + 1)]
    layers = [(t, layer) for t in range(1, T + 1) for layer in range(1, L + 1)]
    windows = [(t, s) for t in range(1, T + 1) for s in range(max(1, t - k + 1), t + 1)]
    rounds, reach = 0, [1] * T
    while min(reach[t] - t for t in range(T)) < 1:
        reach, rounds = [reach[t] + (reach[t - reach[t]] if t >= reach[t] else 0) for t in range(T)], rounds + 1
    return {
        "simple": longest(simple, lambda t, _: [(t - 1, 1)]),
        "deep": longest(layers, lambda t, layer: [(t, layer - 1)] if layer > 1 else [(t - 1, L)]),
        "stack": longest(layers, lambda t, layer: [(t, layer - 1), (t - 1, layer)]),
        "windows": longest(windows, lambda t, s: [(t, s - 1)]),
        "scan": rounds,
    }


# Sweeps foretold


def _by_logarithms(c: float, error: float, eps: float, T: int) -> int:
    r"""From :math:`\log (c e_i) \le 2^i \log (c e_0)`."""
    return next((i for i in range(T) if 2**i * log(c * error) <= log(c * eps)), T)


def _curvature_error_eps_and_length(generator: Generator) -> Case:
    c, error = generator.uniform(0.1, 2, size=2).tolist()
    return c, error, float(10 ** generator.uniform(-12, 0)), int(generator.integers(1, 40))


# What kind of net this is


def _net(kind: str, w: float, b: float) -> Step:
    if kind == "keeps":
        return lambda h, x: w * h + x
    if kind == "chaotic":
        return lambda h, x: 1 - w * abs(h) + x
    return lambda h, x: tanh(w * h + x + b)


def _some_net(generator: Generator) -> Case:
    sign = float(generator.choice([-1, 1]))
    return [
        ("forgets", sign * float(generator.uniform(0, 0.9)), 0.0),
        ("forgets", float(generator.uniform(1.2, 2)), sign * 1.5),
        ("latches", sign * float(generator.uniform(1.5, 3)), 0.0),
        ("keeps", sign, 0.0),
        ("chaotic", float(generator.uniform(1.5, 1.8)), 0.0),
    ][int(generator.integers(5))]


def _one_of_four(value: Any, *case: Any) -> str:
    words = ("forgets", "latches", "keeps", "chaotic")
    if not isinstance(value, str) or value not in words:
        raise MalformedError(f"one of the words {', '.join(words)}", value)
    return value


# Parity of the last three


MOVES = 12
"""How many times a state is moved by less than may be, so that what it was cannot be read off the distance."""


def _answer_of_design(value: Any, word: list[int]) -> int:
    W, U, b, readout = _design(value)
    h = np.zeros(len(W))
    for t, x in enumerate(word, 1):
        h = W @ h + U * x + b
        if np.abs(h).max() > 1 + 1e-9:
            read = show(word, LINE // 2)
            raise ValueError(f"after {t} symbols of {read} a state is {np.abs(h).max():.3g}, and none may be above 1")
    corners = np.array(list(product((-1, 0, 1), repeat=len(h))))
    inner = np.random.default_rng(word).uniform(-1, 1, (MOVES, len(h)))
    answers = []
    for move in (*inner, *corners):
        answer = readout((h + move / 20).tolist())
        if not isinstance(answer, bool | int | np.bool_ | np.integer) or answer not in (0, 1):
            raise MalformedError("0 or 1 from the readout", answer)
        answers.append(int(answer))
    if len(set(answers)) > 1:
        read = show(word, LINE // 2)
        raise ValueError(f"after {read} the readout changes its mind if the state is moved by 1/20 or less")
    return answers[0]


def _design(value: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, Callable[[list[float]], Any]]:
    if not isinstance(value, list | tuple) or len(value) != 4 or not callable(value[3]):
        expected = "(W, U, b, readout), the last a function of the list of the state's numbers"
        raise MalformedError(expected, value)
    W, U, b = (numbers_of(name, part) for name, part in zip("WUb", value[:3], strict=True))
    U, b = (part[:, 0] if part.ndim == 2 and part.shape[1] == 1 else part for part in (U, b))  # columns
    d = len(U) if U.ndim == 1 else 0
    if not 1 <= d <= 3 or W.shape != (d, d) or b.shape != (d,) or not np.isfinite([*W.flat, *U, *b]).all():
        shapes = ", ".join(str(part.shape) for part in (W, U, b))
        found = f"got {shapes}" if np.isfinite([*W.flat, *U.flat, *b.flat]).all() else "got others that are not"
        raise MalformedError("finite W, U, b of the shapes (d, d), (d,), (d,), with d from 1 to 3", why=found)
    if (norm := float(np.linalg.norm(W, 2))) > 0.5 + 1e-9:
        raise ValueError(f"the norm of W is {norm:.3g}, more than 1/2")
    return W, U, b, value[3]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "13-rate",
        "The least rate that remembers",
        "least_rate(T, gap, diameter)",
        ("T", "gap", "diameter"),
        cases=((1, 0.5, 2.0), (2, 0.5, 2.0), (1000, 0.5, 2.0), (10, 2.0, 2.0), (3, 0.8, 0.1)),
        sample=_steps_gap_and_diameter,
        oracle=_by_halving,
    ),
    Exercise(
        "13-window",
        "A window for all seeds",
        "window_for(exponents, size, eps)",
        ("exponents", "size", "eps"),
        cases=(
            ([-0.5], 1.0, 0.01),
            ([-0.5, -0.1, -0.3], 4.0, 0.01),
            ([-0.5, 0.02, -0.3], 1.0, 0.01),
            ([-0.5], 1.0, 5.0),
            ([0.0], 1.0, 5.0),
        ),
        sample=_exponents_size_and_eps,
        oracle=_with_many_digits,
    ),
    Exercise(
        "13-chain",
        "The longest chain",
        "chains(T, L, k)",
        ("T", "L", "k"),
        cases=((4, 3, 2), (1, 1, 1), (5, 2, 9), (64, 4, 10)),
        sample=lambda generator: tuple(int(generator.integers(1, most)) for most in (50, 7, 60)),
        oracle=_longest_paths,
    ),
    Exercise(
        "13-sweeps",
        "Sweeps foretold",
        "sweeps_foretold(c, error, eps, T)",
        ("c", "error", "eps", "T"),
        cases=(
            (1.0, 0.1, 1e-7, 100),
            (1.0, 0.1, 1e-7, 2),
            (2.0, 1.0, 0.01, 30),
            (2.0, 1.0, 1.5, 30),
            (0.5, 1.5, 1e-10, 30),
        ),
        sample=_curvature_error_eps_and_length,
        oracle=_by_logarithms,
    ),
    Exercise(
        "13-kind",
        "What kind of net this is",
        "which_kind(step)",
        ("kind", "w", "b"),
        cases=(
            ("forgets", 0.5, 0.0),
            ("latches", 2.0, 0.0),
            ("keeps", -1.0, 0.0),
            ("chaotic", 1.7, 0.0),
            ("forgets", 2.0, 1.5),
            ("latches", -2.0, 0.0),
        ),
        sample=_some_net,
        oracle=lambda kind, w, b: kind,
        arguments=lambda kind, w, b: (_net(kind, w, b),),
        observe=_one_of_four,
    ),
    Exercise(
        "13-design",
        "Parity of the last three",
        "three_bit_parity()",
        ("word",),
        cases=tuple(([*map(int, word)],) for word in ("000", "100", "001", "0111", "11111111", "10100110")),
        sample=lambda generator: (generator.integers(2, size=int(generator.integers(3, 300))).tolist(),),
        oracle=lambda word: sum(word[-3:]) % 2,
        arguments=lambda word: (),
        observe=_answer_of_design,
    ),
)
"""The exercises of the chapter, in its order."""
