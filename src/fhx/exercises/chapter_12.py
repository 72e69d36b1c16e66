r"""The exercises of chapter 12, whether a run must be sequential, with their oracles.

Composed maps are tried at two points, scans count their rounds themselves, sweeps are compared with truncated runs and
with the linear system of the whole trajectory, adjoints with autograd, formulas with sets that are counted.
"""

from fractions import Fraction
from itertools import accumulate
from math import ceil

import torch
from numpy.random import Generator
from torch import Tensor

from fhx.exercises.evaluate_sweep import (
    NEAR,
    Part,
    join,
    misleads,
    newton_by_elimination,
    scanned,
    settles,
    sweep_arguments,
    tanh_guess,
)
from fhx.exercises.record import Case, Exercise

__all__ = ["EXERCISES"]

Pair = tuple[Fraction, Fraction]


def _fraction(generator: Generator, most: int = 12) -> Fraction:
    return Fraction(int(generator.integers(-most, most + 1)), int(generator.integers(1, 9)))


# Two steps in one


def _at_two_points(first: Pair, second: Pair) -> Pair:
    at_0, at_1 = (second[0] * (first[0] * h + first[1]) + second[1] for h in (0, 1))
    return at_1 - at_0, at_0


# A scan in rounds


def _in_few_rounds(word: str) -> dict[str, object]:
    rounds = next(n for n in range(len(word)) if 2**n >= len(word))
    return {"words": list(accumulate(word)), "rounds": rounds}


# Sweeps over an automaton


def _by_truncated_runs(step: dict[tuple[str, str], str], start: str, word: str) -> int:
    def ends(k: int) -> list[str]:
        found = []
        for t in range(1, len(word) + 1):
            state = start
            for symbol in word[max(0, t - k) : t]:
                state = step[state, symbol]
            found.append(state)
        return found

    return next(k for k in range(len(word) + 1) if ends(k) == ends(len(word)))


def _automaton(*rows: str) -> dict[tuple[str, str], str]:
    """Row by row, the state after 0 and the state after 1; the states are A, B, ..."""
    return {(chr(65 + q), str(i)): row[i] for q, row in enumerate(rows) for i in (0, 1)}


PARITY, LAST, LATCH, COUNT = (
    _automaton(*rows.split()) for rows in ("AB BA", "AB AB", "AB BB", "AB BC CA")
)  # of the ones, the last symbol, a one ever, ones modulo 3


def _automaton_and_word(generator: Generator) -> Case:
    n, T = int(generator.integers(2, 5)), int(generator.integers(1, 14))
    rows = ("".join(chr(65 + q) for q in generator.integers(n, size=2)) for _ in range(n))
    return _automaton(*rows), "A", "".join(map(str, generator.integers(2, size=T)))


# When many processors win

TENTHS_HUNDREDTHS_PARTS_AND_LENGTH = (
    *((2, 100, 125, 12), (9, 1000, 100, 150), (9, 1000, 100, 60), (0, 100, 100, 10), (5, 100, 8, 1)),
    *((5, 1, 10, 5), (5, 1, 10, 1)),  # small from the start
)


def _one_by_one(rate: Fraction, size: Fraction, eps: Fraction, T: int) -> int | None:
    sweeps = next((k for k in range(1, T) if rate**k * size <= eps), T)
    return next((P for P in range(1, T + 1) if sweeps * ceil(Fraction(T, P)) < T), None)


def _rate_size_eps_and_length(generator: Generator) -> Case:
    rate = Fraction(int(generator.integers(0, 20)), 20)
    size = Fraction(int(generator.integers(1, 40)), int(generator.choice([2, 2, 2, 2000])))
    eps = Fraction(1, int(generator.integers(1, 1000)))
    return rate, size, eps, int(generator.integers(1, 400))


# One sweep of Newton's method


def _guess_and_inputs(generator: Generator) -> Case:
    T = int(generator.integers(1, 7))
    guess, inputs = ([_fraction(generator, 6) for _ in range(T)] for _ in range(2))
    return guess, inputs, _fraction(generator, 6)


# The gradient, backwards


def _by_autograd(J: Tensor, own: Tensor) -> Tensor:
    """What each state adds to the loss, as the gradient by a number that is added to it."""
    added = torch.zeros_like(own, requires_grad=True)
    h, loss = torch.zeros_like(own[0]), torch.zeros((), dtype=own.dtype)
    for t in range(len(own)):
        h = J[t] @ h + added[t]
        loss = loss + own[t] @ h
    return torch.autograd.grad(loss, added)[0]


def _jacobians_and_gradients(generator: Generator) -> Case:
    T, d = int(generator.integers(1, 9)), int(generator.integers(1, 4))
    return tuple(torch.from_numpy(generator.normal(size=shape)) for shape in ((T, d, d), (T, d)))


# How far a convolution sees


def _by_offsets(kernel: int, base: int, context: int) -> int | None:
    """From the set of all distances, layer by layer; spacings as large as the context add none that count."""
    seen, layers = {0}, 0
    while not seen.issuperset(range(context)):
        if base**layers >= context:
            return None
        seen = {far + tap * base**layers for far in seen for tap in range(kernel)}
        seen, layers = {far for far in seen if far < context}, layers + 1
    return layers


# What is kept


def _by_counting(T: int, d: int, k: int) -> dict[str, int]:
    """Every number by its name, and the names counted."""
    states = {("h", t, i) for t in range(1, T + 1) for i in range(d)}
    windows = {("h", t, s, i) for _, t, i in states for s in range(max(1, t - k + 1), t + 1)}
    slopes = {("J", t, i, j) for _, t, i in states for j in range(d)}
    return {
        "recurrence": len(states),
        "windows": len(windows),
        "window": len({name for name in windows if name[1] == T}),
        "newton": len(states | slopes),
        "diagonal": len(states | {name for name in slopes if name[2] == name[3]}),
    }


# A sweep that holds


def _cell_and_guess(generator: Generator) -> Case:
    most, scale, error = ((0.9, 0.3, NEAR), (0.9, 1, None), (10, 0.3, None))[generator.integers(3)]  # near or anywhere
    T = int(generator.integers(2, 60))
    w, inputs = float(generator.uniform(-most, most)), generator.normal(scale=scale, size=T).tolist()
    return tanh_guess(w, inputs, int(generator.integers(T)), error, int(generator.integers(99)))


def _f(*numbers: int) -> list[Fraction]:
    """Halves."""
    return [Fraction(number, 2) for number in numbers]


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "12-compose",
        "Two steps in one",
        "compose(first, second)",
        ("first", "second"),
        cases=tuple(((*_f(*a),), (*_f(*b),)) for a, b in (((1, 2), (1, 4)), ((0, 6), (2, 0)), ((-6, 2), (4, -2)))),
        sample=lambda generator: tuple((_fraction(generator), _fraction(generator)) for _ in range(2)),
        oracle=_at_two_points,
    ),
    Exercise(
        "12-rounds",
        "A scan in few rounds",
        "prefixes(items, join)",
        ("word",),
        cases=(("ab",), ("abcd",), ("a",), ("abc",), ("abcdefghijklm",)),
        sample=lambda generator: ("".join(generator.choice([*"pqrstuv"], size=int(generator.integers(1, 70)))),),
        oracle=_in_few_rounds,
        arguments=lambda word: ([Part(letter) for letter in word], join),
        observe=scanned,
    ),
    Exercise(
        "12-automaton",
        "Sweeps over an automaton",
        "sweeps_needed(step, start, word)",
        ("step", "start", "word"),
        cases=(
            *((PARITY, "A", word) for word in ("1010", "00001", "000")),
            *((LAST, "A", "1010"), (LATCH, "A", "0010000"), (COUNT, "A", "11111111")),
        ),
        sample=_automaton_and_word,
        oracle=_by_truncated_runs,
    ),
    Exercise(
        "12-processors",
        "When many processors win",
        "processors(rate, size, eps, T)",
        ("rate", "size", "eps", "T"),
        cases=tuple(
            (Fraction(n, 10), Fraction(size, 100), Fraction(1, parts), T)
            for n, size, parts, T in TENTHS_HUNDREDTHS_PARTS_AND_LENGTH
        ),
        sample=_rate_size_eps_and_length,
        oracle=_one_by_one,
    ),
    Exercise(
        "12-newton",
        "One sweep of Newton's method",
        "newton_sweep(guess, inputs, h0)",
        ("guess", "inputs", "h0"),
        cases=(
            (_f(0, 0, 0), _f(1, 1, 1), Fraction(0)),
            (_f(2), _f(1), Fraction(1)),
            (_f(1, 2, 3), _f(1, 0, -1), _f(3)[0]),
        ),
        sample=_guess_and_inputs,
        oracle=newton_by_elimination,
    ),
    Exercise(
        "12-adjoint",
        "The gradient, backwards",
        "adjoints(J, own)",
        ("J", "own"),
        cases=tuple(
            tuple(torch.tensor(part, dtype=torch.float64) for part in case)
            for case in (
                ([[[7.0]], [[0.5]], [[0.5]]], [[0.0], [0.0], [1.0]]),
                ([[[7.0]], [[2.0]], [[3.0]]], [[1.0], [1.0], [1.0]]),
                ([[[0.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]]], [[0.0, 0.0], [1.0, 0.0]]),
            )
        ),
        sample=_jacobians_and_gradients,
        oracle=_by_autograd,
    ),
    Exercise(
        "12-context",
        "How far a convolution sees",
        "layers_needed(kernel, base, context)",
        ("kernel", "base", "context"),
        cases=((2, 2, 8), (2, 1, 8), (3, 2, 100), (3, 3, 27), (2, 3, 3), (4, 5, 4), (2, 2, 1), (5, 5, 125)),
        sample=lambda generator: tuple(int(generator.integers(*ends)) for ends in ((2, 6), (1, 7), (1, 300))),
        oracle=_by_offsets,
    ),
    Exercise(
        "12-memory",
        "What has to be kept",
        "numbers_kept(T, d, k)",
        ("T", "d", "k"),
        cases=((3, 1, 2), (10, 4, 1), (5, 2, 5), (4, 3, 9)),
        sample=lambda generator: tuple(int(generator.integers(1, most)) for most in (40, 7, 50)),
        oracle=_by_counting,
    ),
    Exercise(
        "12-misleading",
        "A small residual and a wrong run",
        "misleading(h0)",
        ("h0",),
        cases=((0.3,), (-0.6,), (0.123,), (0.0,), (0.99999999,), (-0.99999999,)),
        sample=lambda generator: (float(generator.choice([-1, 1]) * generator.uniform(0.05, 0.95)),),
        oracle=lambda h0: True,
        observe=misleads,
    ),
    Exercise(
        "12-safe",
        "A sweep that holds",
        "safe_sweep(guess, f, slope)",
        ("w", "inputs", "guess"),
        cases=(
            tanh_guess(0.5, [0.5, -0.5, 0.5], 0, 0.0),
            tanh_guess(0.9, 30 * [0.1, -0.1], 3, NEAR),
            tanh_guess(3.0, 20 * [0.1], 5, None),
            (0.9, [3.0, 0.6], [0.0, 0.0]),
            (8.0, 400 * [0.01], 400 * [0.0]),
            (-8.0, 400 * [0.01], 400 * [0.0]),
            (8.0, [*370 * [0.01], 20.0, *29 * [0.01]], 400 * [0.0]),
        ),
        sample=_cell_and_guess,
        oracle=lambda w, inputs, guess: True,
        arguments=sweep_arguments,
        observe=settles,
    ),
)
"""The exercises of the chapter, in its order."""
