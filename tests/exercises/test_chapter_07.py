"""Every exercise of chapter 7: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from math import expm1, hypot, log

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.cells import SimpleCell
from fhx.dynamics import jacobians
from fhx.exercises import chapter_07, check

EXERCISES = {exercise.id: exercise for exercise in chapter_07.EXERCISES}


def chain(W, states):
    product = torch.eye(len(W), dtype=W.dtype)
    for h in states:
        product = torch.diag(1 - h**2) @ W @ product
    return product


def entry(a, b, n):
    return n * a ** (n - 1) * b


def climb(a, b):
    top = 1
    while entry(a, b, top + 1) > entry(a, b, top):
        top += 1
    gone = top
    while entry(a, b, gone) >= 1:
        gone += 1
    return top, gone


def growth(Js, v):
    total, (x, y) = 0.0, v
    for (a, b), (c, d) in Js:
        x, y = a * x + b * y, c * x + d * y
        size = hypot(x, y)
        x, y, total = x / size, y / size, total + log(size)
    return total + log(hypot(x, y))


def rates(a, b):
    return log(a * b) / 2, log((a + b) / 2), log((a * a + b * b) / 2) / 2


def forget_bias(T, keep):
    share = keep ** (1 / T)
    return log(share / (1 - share))


def fold():
    w = [3, -6, 6]
    return [w, w, w], [1, 1, 1], [0, -1 / 3, -2 / 3], w


RIGHT = [chain, climb, growth, rates, forget_bias, fold]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def chain_backwards(W, states):
    return chain(W, states.flip(0))


def chain_of_transposes(W, states):
    return chain(W.T, states)


def plain_product(Js, v):
    w = np.array(v)
    with np.errstate(all="ignore"):
        for J in Js:
            w = np.array(J) @ w
        return float(np.log(np.linalg.norm(w)))


def tent():
    return [[2, -4], [2, -4]], [1, 1], [0, -0.5], [2, -4]


WRONG = {
    "07-chain": [
        chain_backwards,
        chain_of_transposes,
        lambda W, states: torch.linalg.matrix_power(W, len(states)),
        lambda W, states: chain(W, states[1:]),
        lambda W, states: chain(W, states).norm(),
    ],
    "07-climb": [
        lambda a, b: (climb(a, b)[0] + 1, climb(a, b)[1]),
        lambda a, b: (climb(a, b)[0], climb(a, b)[1] + 1),
        lambda a, b: (float(climb(a, b)[0]), climb(a, b)[1]),
        lambda a, b: (round(-1 / log(a)), climb(a, b)[1]),
        lambda a, b: climb(a, b)[0],
    ],
    "07-growth": [
        plain_product,
        lambda Js, v: growth(Js[::-1], v),
        lambda Js, v: growth(Js, v) - log(hypot(*v)),
        lambda Js, v: growth(Js, v) / len(Js) + 1e-6,
        lambda Js, v: growth(Js[:-1], v),
    ],
    "07-rates": [
        lambda a, b: (rates(a, b)[0], rates(a, b)[1], 2 * rates(a, b)[2]),
        lambda a, b: rates(a, b)[::-1],
        lambda a, b: (2 * rates(a, b)[0], *rates(a, b)[1:]),
        lambda a, b: rates(a, b)[:2],
    ],
    "07-forget-bias": [
        lambda T, keep: -forget_bias(T, keep),
        lambda T, keep: log(keep ** (1 / T)),
        lambda T, keep: log(T),
        lambda T, keep: keep ** (1 / T),
    ],
    "07-fold": [
        tent,
        lambda: (*fold()[:3], [1, -2, 2]),
        lambda: (fold()[0], [1, 0, 0], *fold()[2:]),
        lambda: (fold()[0], fold()[1], [0, -1 / 2, -1], fold()[3]),
        lambda: fold()[:3],
        lambda: ("W", *fold()[1:]),
        lambda: (*fold()[:3], 3),
        lambda: (np.eye(4), np.ones(4), np.zeros(4), np.ones(4)),
        lambda: ([[1, 2]], *fold()[1:]),
    ],
}


class TestChapter07(ExerciseLaws):
    exercises, answers, wrong = chapter_07.EXERCISES, ANSWERS, WRONG


MALFORMED = {
    4: "On example 1 of 24: expected (W, U, b, w), 4 values, got a tuple of 3 items.",
    5: "On example 1 of 24: expected W in numbers, lists of one length or tensors, got the string 'W'.",
    6: ("On example 1 of 24: expected W, U, b, w of the shapes (d, d), (d,), (d,), (d,), got (3, 3), (3,), (3,), ()."),
    7: "On example 1 of 24: the net has 4 units, and at most 3 are asked for.",
}


@pytest.mark.parametrize("number", MALFORMED)
def test_what_is_wrong_with_a_net_is_said_in_a_sentence(number):
    assert check("07-fold", WRONG["07-fold"][number]).message == MALFORMED[number]


def test_a_product_that_has_left_the_floats_is_told_so():
    said = "On example 3 of 4: expected a number, got the float nan: the product has left the floats."
    assert check("07-growth", plain_product).message == said


def test_a_bias_of_nought_is_shown_as_nought():
    assert str(EXERCISES["07-forget-bias"].oracle(1, 0.5)) == "0.0"


@pytest.mark.parametrize("exercise", EXERCISES)
def test_nothing_returned_is_named(exercise):
    result = check(exercise, lambda *case: None)
    assert result.status == "malformed"
    assert "None" in result.message


# Other right answers pass


def test_other_right_answers_pass_too():
    assert check("07-chain", lambda W, states: chain(W, states).float())
    assert check("07-forget-bias", lambda T, keep: -log(expm1(-log(keep) / T)))
    third = Fraction(1, 3)
    assert check("07-fold", lambda: ([[3, -6, 6]] * 3, [1] * 3, [0, -third, -2 * third], [3, -6, 6]))
    swapped = [6, 3, -6]
    assert check("07-fold", lambda: ([swapped] * 3, [1] * 3, [-2 / 3, 0, -1 / 3], swapped))


# What the texts say about these exercises holds


def test_the_chain_is_the_product_of_the_packages_jacobians():
    cell = SimpleCell(1, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_(False)
    x = torch.randn(4, 1, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    J = jacobians(cell, x)[:, 0]
    h, states = torch.zeros(3, dtype=torch.float64), []
    for x_t in x[:, 0]:
        states.append(h := cell(h, x_t))
    assert torch.allclose(EXERCISES["07-chain"].oracle(cell.W, torch.stack(states)), J[3] @ J[2] @ J[1] @ J[0])


def test_the_chapters_matrix_climbs_nine_steps():
    assert climb(Fraction(9, 10), 10)[0] == 9


def test_a_product_may_shrink_typically_and_grow_on_average():
    typical, mean, rms = rates(0.5, 1.6)
    assert typical < 0 < mean < rms


def test_a_bias_of_five_keeps_half_for_a_hundred_steps():
    assert forget_bias(100, 0.5) == pytest.approx(4.97, abs=0.01)
