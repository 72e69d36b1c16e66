"""Every exercise of chapter 13: a right answer passes, plausible wrong ones fail."""

from itertools import product
from math import ceil, exp, inf, log, log2

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.cells import LinearCell
from fhx.exercises import chapter_13
from fhx.exercises.checking import check_exercise
from fhx.exercises.show import named
from fhx.stability import contraction_rate

EXERCISES = {exercise.id: exercise for exercise in chapter_13.EXERCISES}


def check(name, answer, cases=20):
    return check_exercise(EXERCISES[name], answer, 0, cases)


def least_rate(T, gap, diameter):
    return (gap / diameter) ** (1 / T)


def window_for(exponents, size, eps):
    worst, k = max(exponents), 1
    if worst >= 0:
        return None
    while size * exp(worst * k) > eps:
        k += 1
    return k


def chains(T, L, k):
    return {"simple": T, "deep": L * T, "stack": T + L - 1, "windows": min(k, T), "scan": ceil(log2(T))}


def sweeps_foretold(c, error, eps, T):
    for i in range(T):
        if error <= eps:
            return i
        error = c * error**2 if c * error < 1 else inf
    return T


def which_kind(step):
    def apart(h, other):
        gaps = []
        for _ in range(400):
            h, other = step(h, 0.0), step(other, 0.0)
            gaps.append(abs(h - other))
        return max(gaps[-50:])

    near, far = apart(0.3, 0.3 + 1e-7), apart(-0.9, 0.8)
    if near > 1e-3:
        return "chaotic"
    if far < 1e-6:
        return "forgets"
    return "latches" if near < 1e-9 else "keeps"


def three_bit_parity():
    W = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]]
    return W, [1, 0, 0], [0, 0, 0], lambda h: sum(h[i] * 2**i > 0.5 for i in range(3)) % 2


RIGHT = [least_rate, window_for, chains, sweeps_foretold, which_kind, three_bit_parity]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def moved_back(h):
    """What would be right if a state were moved by exactly 1/20, or not at all."""
    state = h[0] - round(20 * h[0]) / 20
    return int(4e3 * state + 1e-6).bit_count() % 2


def design(W, U, b, readout):
    return lambda: (W, U, b, readout)


SHIFT = [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]]


def bits(h):
    return sum(h[i] * 2**i > 0.5 for i in range(3)) % 2


WRONG = {
    "13-rate": [
        lambda T, gap, diameter: (diameter / gap) ** (1 / T),
        lambda T, gap, diameter: log(gap / diameter) / T,
        lambda T, gap, diameter: min(0.999, least_rate(T, gap, diameter)),
        lambda T, gap, diameter: least_rate(T + 1, gap, diameter),
    ],
    "13-window": [
        lambda exponents, size, eps: window_for([min(exponents)], size, eps),
        lambda exponents, size, eps: window_for([e for e in exponents if e < 0] or [-1.0], size, eps),
        lambda exponents, size, eps: window_for(exponents, 1.0, eps),
        lambda exponents, size, eps: 1 + (window_for(exponents, size, eps) or 0),
        lambda exponents, size, eps: max(0, ceil(log(size / eps) / -max(exponents))) if max(exponents) < 0 else None,
    ],
    "13-chain": [
        lambda T, L, k: {**chains(T, L, k), "stack": T + L},
        lambda T, L, k: {**chains(T, L, k), "windows": T * k},
        lambda T, L, k: {**chains(T, L, k), "scan": T},
        lambda T, L, k: {**chains(T, L, k), "deep": T},
        lambda T, L, k: chains(T, L, k)["deep"],
    ],
    "13-sweeps": [
        lambda c, error, eps, T: min(T, ceil(log2(max(2.0, error / eps)))),
        lambda c, error, eps, T: sweeps_foretold(c, error, eps, 10**3),
        lambda c, error, eps, T: sweeps_foretold(1.0, error, eps, T),
        lambda c, error, eps, T: sweeps_foretold(c, error, eps, T) + 1,
        lambda c, error, eps, T: T,
    ],
    "13-kind": [
        lambda step: "forgets",
        lambda step: {"keeps": "latches"}.get(which_kind(step), which_kind(step)),
        lambda step: step,
    ],
    "13-design": [
        design(SHIFT, [1, 0, 0], [0, 0, 0], lambda h: 1 - bits(h)),
        design(SHIFT, [1, 0, 0], [0, 0, 0], lambda h: sum(round(x) for x in h) % 2),
        design(SHIFT, [2, 0, 0], [0, 0, 0], bits),
        design(SHIFT, [1, 0, 0], [0, 0, 0], lambda h: h[0]),
        design([[0.5]], [0.5], [0], lambda h: int(8 * h[0]).bit_count() % 2),
        design([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [1, 0, 0], [0, 0, 0], lambda h: sum(x > 0.5 for x in h) % 2),
        design(SHIFT, [1, 0], [0, 0, 0], bits),
        design([[0.5]], [1e-3], [0], moved_back),
        lambda: 3,
    ],
}


class TestChapter13(ExerciseLaws):
    exercises, answers, wrong = chapter_13.EXERCISES, ANSWERS, WRONG


MALFORMED = [
    (
        lambda: 3,
        "expected (W, U, b, readout), the last a function of the list of the state's numbers, got the int 3.",
    ),
    (
        design(SHIFT, [1, 0], [0, 0, 0], bits),
        "expected finite W, U, b of the shapes (d, d), (d,), (d,), with d from 1 to 3, got (3, 3), (2,), (3,).",
    ),
    (
        design(SHIFT, [[1, 0, 0]], [0, 0, 0], bits),
        "expected finite W, U, b of the shapes (d, d), (d,), (d,), with d from 1 to 3, got (3, 3), (1, 3), (3,).",
    ),
    (design([[0.6]], [0.4], [0], lambda h: 0), "the norm of W is 0.6, more than 1/2."),
    (
        design("ab", [0.4], [0], lambda h: 0),
        "expected W in numbers, lists of one length or tensors, got the string 'ab'.",
    ),
    (design(SHIFT, [1, 0, 0], [0, 0, 0], lambda h: 0.5), "expected 0 or 1 from the readout, got the float 0.5."),
]


@pytest.mark.parametrize(("answer", "words"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(answer, words):
    assert check("13-design", answer).message == f"On example 1 of 6: {words}"


@pytest.mark.parametrize("answer", ["forget", 1, torch.zeros(2)])
def test_a_word_that_was_not_offered_is_told_the_four(answer):
    words = f"expected one of the words forgets, latches, keeps, chaotic, got {named(answer)}."
    assert check("13-kind", lambda step: answer).message == f"On example 1 of 6: {words}"


def test_large_states_and_small_margins_are_named():
    large, small = (
        check("13-design", design(SHIFT, [2, 0, 0], [0, 0, 0], bits)),
        check("13-design", WRONG["13-design"][4]),
    )
    assert "a state is 2, and none may be above 1" in large.message
    assert "the readout changes its mind if the state is moved by 1/20" in small.message


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_returned_is_named(name):
    result = check(name, lambda *case: None)
    may_be_none = name == "13-window"  # on other inputs
    assert result.status == ("differs" if may_be_none else "malformed")
    assert "None" in result.message


# Other right answers pass


def closed_window(exponents, size, eps):
    worst = max(exponents)
    return None if worst >= 0 else max(1, ceil(log(eps / size) / worst))


def two_units():
    """The last symbol in the one unit, the two before it in the other, as signs."""

    def readout(h):
        second = h[1] > 0
        third = h[1] > (0.42 if second else -0.42)
        return (int(h[0] > 0) + second + third) % 2

    return [[0, 0], [0.42, 0.25]], [2, 0], [-1, 0], readout


def test_other_right_answers_pass_too():
    assert check("13-window", closed_window)
    assert check("13-rate", lambda T, gap, diameter: exp(log(gap / diameter) / T))
    assert check("13-design", two_units)
    assert check("13-design", lambda: (np.array(SHIFT), np.array([1, 0, 0]), torch.zeros(3), bits))
    assert check("13-design", design(SHIFT, [[1], [0], [0]], torch.zeros(3, 1), bits))
    with torch.no_grad():
        cell = LinearCell(1, 3)
        cell.W[:], cell.U[:], cell.b[:] = torch.tensor(SHIFT), torch.tensor([[1.0], [0.0], [0.0]]), 0
    assert check("13-design", design(cell.W, cell.U, cell.b, bits))


# What the texts say about these exercises holds


def test_a_net_that_forgets_may_stretch():
    kind, w, b = EXERCISES["13-kind"].cases[4]
    step = chapter_13._net(kind, w, b)
    slopes = [(step(h + 1e-6, 0.0) - step(h, 0.0)) / 1e-6 for h in (-0.75, 0.9)]
    assert slopes[0] > 1.9
    assert slopes[1] < 0.1


def test_one_linear_unit_has_too_small_a_margin():
    """The least distance of two states with other answers, for words of up to eight symbols."""
    best = 0.0
    for rate in np.linspace(0.05, 0.5, 91):
        states = {0: [], 1: []}
        for word in product((-1, 1), repeat=8):
            h = 0.0
            for x in word:
                h = rate * h + (1 - rate) * x
            states[sum(x > 0 for x in word[-3:]) % 2].append(h)
        best = max(best, min(abs(a - b) for a in states[0] for b in states[1]))
    assert 0.07 < best < 0.1


def test_the_shift_is_certified():
    cell = LinearCell(1, 3, generator=torch.Generator(), dtype=torch.float64).requires_grad_(False)
    cell.W.copy_(torch.tensor(SHIFT, dtype=torch.float64))
    assert contraction_rate(cell) == pytest.approx(0.5)
