"""What a reader designed for chapter 12, tried: a scan that counts its rounds, a wrong run, a sweep that holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isfinite, tanh
from typing import Any

import torch

from fhx.exercises.compare import MalformedError

__all__ = ["Part", "join", "misleads", "newton_by_elimination", "scanned", "settles", "sweep_arguments", "tanh_guess"]

STEPS, RESIDUAL, APART = 40, 1e-6, 1
NEAR, QUICK, EXACT = 1e-4, 1e-6, 1e-9


@dataclass(frozen=True)
class Part:
    """A stretch of a word, with the number of rounds in which it was joined."""

    word: str
    rounds: int = 0


def join(first: Part, second: Part) -> Part:
    """``second`` behind ``first``, a round after the later of the two."""
    return Part(first.word + second.word, 1 + max(first.rounds, second.rounds))


def scanned(value: Any, word: str) -> dict[str, Any]:
    """The words of the parts in an answer, and the rounds that the last of them took.

    Raises:
        ValueError: the answer is not a list of parts, one per letter of the word.
    """
    parts = list(value) if isinstance(value, list | tuple) else []
    if len(parts) != len(word) or not all(type(part) is Part for part in parts):
        raise MalformedError(f"a list of {len(word)} of the items, joined by join", value)
    return {"words": [part.word for part in parts], "rounds": max(part.rounds for part in parts)}


def misleads(value: Any, h0: float) -> bool:
    r"""True if 40 states have a small residual under :math:`h \mapsto 1 - 2 h^2` and are far from the run from ``h0``.

    The run is made with 60 decimal digits, of which 40 steps cost no more than 25.

    Raises:
        ValueError: not 40 numbers between -1 and 1, a residual above a millionth, or no state off by more than 1.
    """
    states = _numbers(value, STEPS)
    with localcontext() as context:
        context.prec = 60
        before, truth, largest = Decimal(h0), Decimal(h0), Decimal(0)
        for t, h in enumerate(map(Decimal, states), 1):
            residual, before, truth = abs(1 - 2 * before**2 - h), h, 1 - 2 * truth**2
            if residual > Decimal(RESIDUAL):
                raise ValueError(
                    f"the residual at step {t} is {_beyond(float(residual), RESIDUAL)}, above {RESIDUAL:g}"
                )
            largest = max(largest, abs(h - truth))
    if largest <= APART:
        raise ValueError(f"no state is off by more than {APART}; the largest error is {largest:.3g}")
    return True


def _tanh_run(w: float, inputs: Sequence[float]) -> list[float]:
    r"""The states of :math:`h_t = \tanh(w h_{t-1} + x_t)` from 0."""
    states, h = [], 0.0
    for x in inputs:
        h = tanh(w * h + x)
        states.append(h)
    return states


def tanh_guess(
    w: float, inputs: list[float], right: int, error: float | None, seed: int = 0
) -> tuple[float, list[float], list[float]]:
    """The first states right, the others off by ``error``, or anywhere in [-1, 1] if that is None."""
    truth, generator = _tanh_run(w, inputs), torch.Generator().manual_seed(seed)
    anywhere = (2 * torch.rand(len(inputs), generator=generator, dtype=torch.float64) - 1).tolist()
    rest = anywhere if error is None else [h + error for h in truth]
    return w, inputs, truth[:right] + rest[right:]


def sweep_arguments(w: float, inputs: Sequence[float], guess: Sequence[float]) -> tuple[list[float], ...]:
    """A guess of the states, and what a sweep may know of the cell: its step and its slope at the guess."""
    steps = [tanh(w * h + x) for h, x in zip([0.0, *guess], inputs, strict=False)]
    return list(guess), steps, [w * (1 - step**2) for step in steps]


def settles(value: Any, w: float, inputs: Sequence[float], guess: Sequence[float]) -> bool:
    r"""True if a sweep stays among the states, adds one right state to the right ones, and is quick near the run.

    Raises:
        ValueError: not such a list; a right state too few; or a guess within :math:`10^{-4}` of a run whose slopes
            are at most 0.9 became one that is not within :math:`10^{-6}`.
    """
    after, truth = _numbers(value, len(guess)), _tanh_run(w, inputs)
    right = next((t for t, pair in enumerate(zip(guess, truth, strict=True)) if pair[0] != pair[1]), len(guess))
    for t, (h, true) in enumerate(zip(after[: right + 1], truth, strict=False), 1):
        if (off := abs(h - true)) > EXACT:
            far = f"state {t} of yours is off by {off:.2g}, more than {EXACT:g}"
            raise ValueError(f"the first {right} states of the guess are right, and {far}")
    error, left = (max(abs(h - true) for h, true in zip(run, truth, strict=True)) for run in (guess, after))
    if abs(w) <= 0.9 and error <= 1.001 * NEAR and left > QUICK:
        raise ValueError(f"a guess with the error {error:.1g} became one with {left:.1g}, more than {QUICK:g}")
    return True


def newton_by_elimination(guess: list[Fraction], inputs: list[Fraction], h0: Fraction) -> list[Fraction]:
    r"""A sweep of Newton's method for :math:`f(h, x) = h^2 / 4 + x`, for all corrections at once, by elimination."""
    T, before = len(inputs), [h0, *guess]
    rows = [
        [Fraction(int(s == t)) - (before[t] / 2 if s == t - 1 else 0) for s in range(T)]
        + [before[t] ** 2 / 4 + inputs[t] - guess[t]]
        for t in range(T)
    ]
    for column in range(T):
        pivot = next(row for row in range(column, T) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for row in range(T):
            if row != column and (factor := rows[row][column]):
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [h + row[-1] for h, row in zip(guess, rows, strict=True)]


def _numbers(value: Any, count: int) -> list[float]:
    """As floats between -1 and 1."""
    try:
        numbers = [float(number) for number in value]
    except (TypeError, ValueError) as error:
        raise MalformedError(f"a list of {count} numbers", value) from error
    if len(numbers) != count:
        raise MalformedError(f"a list of {count} numbers", why=f"got a list of {len(numbers)}")
    for t, number in enumerate(numbers, 1):
        if not (isfinite(number) and abs(number) <= 1):
            raise MalformedError("numbers in [-1, 1]", why=f"got {_beyond(number, 1)} as state {t}")
    return numbers


def _beyond(number: float, limit: float) -> str:
    """In as many digits as show that its size is above the limit."""
    texts = [f"{number:.{digits}g}" for digits in range(4, 18)]
    return next((text for text in texts if abs(float(text)) > limit), texts[-1])
