r"""The exercises of chapter 9, stability, with their oracles.

Powers are compared with whole numbers, a formula with singular values, slopes of hidden units with signs of the
state, projections with bisection, merged states with pairs of states, and a decoder with the word itself; a
pair of states and a reader's flip-flop are run.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.random import Generator

from fhx._roots import root
from fhx.exercises.evaluate_stable import flip_flop, refutes
from fhx.exercises.record import Case, Exercise
from fhx.machines import DFA, all_words

__all__ = ["EXERCISES"]

Table = list[list[int]]


# Steps in the 2-norm


def _in_whole_numbers(rate: Fraction, n: int) -> int:
    """n p^(2r) < q^(2r), by one multiplication a step."""
    r, left, right = 1, n * rate.numerator**2, rate.denominator**2
    while left >= right:
        r, left, right = r + 1, left * rate.numerator**2, right * rate.denominator**2
    return r


def _rate_and_width(generator: Generator) -> Case:
    below = int(generator.integers(2, 30))
    return Fraction(int(generator.integers(0, below)), below), int(generator.integers(1, 200))


# The scale of a shear


def _by_singular_values(a: float, b: float, r: float) -> float:
    def excess(log_v: float) -> float:
        return float(np.linalg.norm([[a, b / np.exp(log_v)], [0, a]], 2)) - r

    return float(np.exp(root(excess, -20, 20, xtol=1e-14)))


def _shear(generator: Generator) -> Case:
    a = float(generator.uniform(0.1, 0.9))
    return a, float(generator.uniform(0.1, 20)), float(generator.uniform(a + 0.03, 0.99))


# Two layers


def _by_signs(W1: np.ndarray, W2: np.ndarray) -> float:
    """Of each row and each corner of the cube of directions, what the hidden units can add at most."""
    corners = product((-1.0, 1.0), repeat=W1.shape[1])
    return max(float(np.maximum(row * (W1 @ s), 0).sum()) for s in map(np.array, corners) for row in W2)


def _two_layers(generator: Generator) -> Case:
    n, m = (int(size) for size in generator.integers(1, 5, size=2))
    return generator.normal(size=(m, n)), generator.normal(size=(n, m))


# A pair against a claim


def _claim(W: list[list[float]]) -> Case:
    return W, 0.99 * max(sum(map(abs, row)) for row in W)


def _some_claim(generator: Generator) -> Case:
    d = int(generator.integers(1, 5))
    return _claim((generator.uniform(0.2, 3) * generator.normal(size=(d, d))).tolist())


# Rows


def _by_bisection(W: np.ndarray, radius: float) -> np.ndarray:
    rows = []
    for row in W:
        low, high = 0.0, float(np.abs(row).max())
        if np.abs(row).sum() <= radius:
            high = 0.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(np.abs(row) - middle, 0).sum() > radius else (low, middle)
        rows.append(np.sign(row) * np.maximum(np.abs(row) - high, 0))
    return np.array(rows)


def _rows_and_radius(generator: Generator) -> Case:
    shape = tuple(int(size) for size in generator.integers(1, 5, size=2))
    return generator.normal(size=shape), float(generator.uniform(0.2, 3))


# The order of a machine


def _by_pairs(delta: Table) -> int | None:
    """The longest way of a pair of states that stay two; None if some pair comes back."""
    length: dict[tuple[int, int], int] = {}

    def longest(pair: tuple[int, int], above: tuple[tuple[int, int], ...]) -> int | None:
        if pair[0] == pair[1]:
            return 0
        if pair in above:
            return None
        if pair not in length:
            ways = []
            for ends in zip(delta[pair[0]], delta[pair[1]], strict=True):
                way = longest((min(ends), max(ends)), (*above, pair))
                if way is None:
                    return None
                ways.append(way)
            length[pair] = 1 + max(ways)
        return length[pair]

    found = [longest(pair, ()) for pair in combinations(range(len(delta)), 2)]
    ways = [way for way in found if way is not None]
    return max(ways, default=0) if len(ways) == len(found) else None


def _table(generator: Generator) -> Case:
    """Half of them of machines that are definite: the last symbols as states, with random answers, minimised."""
    if generator.random() < 0.5:
        n, m = int(generator.integers(1, 5)), int(generator.integers(1, 3))
        return ([[int(q) for q in row] for row in generator.integers(0, n, size=(n, m))],)
    k, alphabet = int(generator.integers(1, 4)), "ab"
    words = [*all_words(alphabet, k)]
    moves = {(w, a): (w + a)[-k:] for w in words for a in alphabet}
    accept = [w for w in words if generator.random() < 0.5]
    dfa = DFA(words, alphabet, moves, "", accept).minimize().canonical()
    return ([[dfa.transitions[q, a] for a in alphabet] for q in dfa.states],)


# The past of one unit


def _state_of(word: Sequence[int], rate: Fraction, k: int) -> Case:
    h = Fraction(0)
    for symbol in word:
        h = rate * h + symbol
    return h, rate, k


def _newest_first(word: Sequence[int], rate: Fraction, k: int) -> list[int]:
    return [*reversed(word), *[0] * k][:k]


def _word_and_rate(generator: Generator) -> Case:
    m = int(generator.integers(1, 6))
    below = int(generator.integers(2, 30))
    rate = Fraction(1, m + 1) * Fraction(int(generator.integers(1, below)), below)
    word = [int(symbol) for symbol in generator.integers(1, m + 1, size=int(generator.integers(0, 12)))]
    return word, rate, int(generator.integers(1, 15))


# A flip-flop


def _last_sign(word: Sequence[int]) -> int:
    return next(symbol for symbol in reversed(word) if symbol)


def _signals(generator: Generator) -> Case:
    """Up to 60 symbols, or up to 2,000 of which most or all are 0."""
    size, quick = [(60, 0.2), (2000, 0.01), (2000, 0.0)][generator.integers(3)]
    size = int(generator.integers(1, size))
    symbols = generator.choice([-1, 0, 1], p=[quick / 2, 1 - quick, quick / 2], size=size)
    return ([int(generator.choice([-1, 1])), *map(int, symbols)],)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "09-steps",
        "Steps enough for the 2-norm",
        "steps(rate, n)",
        ("rate", "n"),
        cases=(
            (Fraction(1, 2), 4),
            (Fraction(0), 9),
            (Fraction(9, 10), 32),
            (Fraction(3, 4), 1),
            (Fraction(1, 2) - Fraction(1, 10**20), 4),
        ),
        sample=_rate_and_width,
        oracle=_in_whole_numbers,
    ),
    Exercise(
        "09-shear",
        "The scale of a shear",
        "scale(a, b, r)",
        ("a", "b", "r"),
        cases=((0.5, 1.0, 0.8), (0.9, 10.0, 0.95), (0.7, 1.2, 0.9), (0.1, 0.1, 0.9)),
        sample=_shear,
        oracle=_by_singular_values,
        tolerance=1e-8,
    ),
    Exercise(
        "09-layers",
        "Two layers that undo each other",
        "two_layer_gain(W1, W2)",
        ("W1", "W2"),
        cases=(
            (np.array([[0.6, 0.6], [0.6, -0.6]]), np.array([[0.6, 0.6], [0.6, -0.6]])),
            (np.array([[0.5], [-2.0]]), np.array([[1.0, 1.0]])),
            (np.array([[3.0]]), np.array([[-0.5]])),
        ),
        sample=_two_layers,
        oracle=_by_signs,
    ),
    Exercise(
        "09-refute",
        "A pair against a claim",
        "refute(W, claim)",
        ("W", "claim"),
        cases=(
            _claim([[0.6, -0.6], [0.6, 0.6]]),
            _claim([[0.1, 0.1], [-2.0, 1.0]]),
            _claim([[0.0, 0.5], [0.0, -3.0]]),
        ),
        sample=_some_claim,
        oracle=lambda W, claim: True,
        observe=refutes,
    ),
    Exercise(
        "09-rows",
        "Rows and not columns",
        "shorten(W, radius)",
        ("W", "radius"),
        cases=(
            (np.array([[3.0, -1.0], [0.5, 0.0]]), 1.0),
            (np.array([[1.0, 0.8], [0.0, 0.2]]), 1.0),
            (np.array([[2.0, 2.0, -2.0]]), 1.5),
        ),
        sample=_rows_and_radius,
        oracle=_by_bisection,
    ),
    Exercise(
        "09-order",
        "The order of a machine",
        "order(delta)",
        ("delta",),
        cases=(
            ([[1, 2], [1, 2], [1, 2]],),
            ([[0, 1], [1, 0]],),
            ([[0, 0]],),
            ([[0, 1], [0, 0]],),
            ([[1], [2], [3], [3]],),
            ([[0, 1], [2, 3], [0, 1], [2, 3]],),
        ),
        sample=_table,
        oracle=_by_pairs,
    ),
    Exercise(
        "09-one-unit",
        "The past of one unit",
        "last_symbols(h, rate, k)",
        ("word", "rate", "k"),
        cases=(
            ([1, 2, 2], Fraction(1, 4), 2),
            ([2, 1], Fraction(1, 4), 4),
            ([], Fraction(1, 4), 1),
            ([5, 5, 5, 5], Fraction(1, 7), 3),
        ),
        sample=_word_and_rate,
        oracle=_newest_first,
        arguments=_state_of,
    ),
    Exercise(
        "09-flip-flop",
        "A flip-flop that does not explode",
        "flip_flop_net()",
        ("word",),
        cases=(([1],), ([-1],), ([1, 0, 0],), ([1, -1, 0],), ([-1, -1, 1],), ([1] + [0] * 500,), ([1] * 9 + [-1, 0],)),
        sample=_signals,
        oracle=_last_sign,
        arguments=lambda word: (),
        observe=flip_flop,
        seconds=10.0,
    ),
)
"""The exercises of the chapter, in its order."""
