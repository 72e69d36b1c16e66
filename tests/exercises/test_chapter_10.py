"""Every exercise of chapter 10: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from math import ceil, log, tanh

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.cells import LinearCell, SimpleCell
from fhx.exercises import chapter_10
from fhx.exercises.checking import check_exercise
from fhx.stability import (
    constants,
    gradient_gap_bound,
    gradient_lipschitz_bound,
    state_gap_bound,
    truncated_states,
    window_for_state_gap,
)
from fhx.stability.smoothness import Constants, LossConstants

EXERCISES = {exercise.id: exercise for exercise in chapter_10.EXERCISES}


def check(name, answer, cases=20):
    return check_exercise(EXERCISES[name], answer, 0, cases)


def shortest_window(rate, size, eps):
    k = 1
    while rate**k * size > eps:
        k += 1
    return k


def all_windows(W, U, b, xs, k):
    drives, h = xs @ U.T + b, torch.zeros(len(xs), len(W), dtype=xs.dtype)
    for back in reversed(range(min(k, len(xs)))):
        h = torch.cat([h[:back], torch.tanh(h[back:] @ W.T + drives[: len(xs) - back])])
    return h


def growth_of_bound(p):
    return "bounded" if p > 1 else "power" if p == 1 else "faster"


def worst_inputs(a, k, T):
    return [1 if a > 0 or (T - t) % 2 == 0 else -1 for t in range(1, T + 1)]


def loss_curvature(a, T):
    h = slope = bend = Fraction(0)
    for _ in range(T):
        h, slope, bend = a * h + 1, a * slope + h, a * bend + 2 * slope
    return slope**2 + h * bend


def forgetful():
    return [[2, 2, 6], [10, 4, 12], [-4, -2, -6]], [1, 0, 0]


def distance_left(a, start):
    a, one, ends = np.float32(a), np.float32(1), []
    for h in (np.float32(0), np.float32(start)):
        last = None
        while h != last:
            h, last = a * h + one, h
        ends.append(float(h))
    return abs(ends[1] - ends[0])


def better_bound(w, u, k):
    D = 1.0
    for _ in range(1000):
        D = tanh(w * D + u)
    for _ in range(k):
        D = 2 * tanh(w * D / 2)
    return D


RIGHT = [
    shortest_window,
    all_windows,
    growth_of_bound,
    worst_inputs,
    loss_curvature,
    forgetful,
    distance_left,
    better_bound,
]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def by_tracing_the_largest(w, u, k):
    return w**k * min(1.0, tanh(u) / (1 - w))


WRONG = {
    "10-length": [
        lambda rate, size, eps: shortest_window(*map(float, (rate, size, eps))),
        lambda rate, size, eps: next(k for k in range(1, 10**5) if rate**k * size <= float(eps)),
        lambda rate, size, eps: next(k for k in range(1, 10**5) if float(rate) ** k * size <= float(eps) * (1 + 1e-12)),
        lambda rate, size, eps: max(1, ceil(log(size / eps) / -log(rate))) if rate else 1,
        lambda rate, size, eps: shortest_window(rate, size, eps) - 1,
        lambda rate, size, eps: float(shortest_window(rate, size, eps)),
    ],
    "10-windows": [
        lambda W, U, b, xs, k: all_windows(W, U, b, xs, len(xs)),
        lambda W, U, b, xs, k: all_windows(W, U, b, xs, k + 1),
        lambda W, U, b, xs, k: all_windows(W.T, U, b, xs, k) if len(W) > 1 else 0 * xs @ U.T,
        lambda W, U, b, xs, k: all_windows(W, U, 0 * b, xs, k),
        lambda W, U, b, xs, k: all_windows(W, U, b, xs, k)[-1],
    ],
    "10-schedule": [
        lambda p: "bounded" if p > 2 else "power" if p >= 1 else "faster",
        lambda p: {2: "bounded", 1: "power"}.get(p, "faster"),
        lambda p: growth_of_bound(p) == "bounded",
    ],
    "10-worst": [
        lambda a, k, T: [-x for x in worst_inputs(a, k, T)][:-1],
        lambda a, k, T: [1 if a > 0 or t % 2 else -1 for t in range(k)] + [1] * (T - k),
        lambda a, k, T: [(-1) ** t for t in range(T)],
        lambda a, k, T: [Fraction(1, 2)] * T,
        lambda a, k, T: 1,
    ],
    "10-curvature": [
        lambda a, T: float(loss_curvature(a, T)) + 1e-3,
        lambda a, T: loss_curvature(a, T + 1),
        lambda a, T: loss_curvature(a, T) / 2,
        lambda a, T: 3 / (1 - a) ** 4 if a != 1 else Fraction(0),
        lambda a, T: float(loss_curvature(a, T)),
    ],
    "10-forgetful": [
        lambda: ([[np.int8(8)] * 3] * 3, [np.int8(1)] * 3),
        lambda: ([[0, 10, 0], [0, 0, 10], [0, 0, 0]], [0, 0, 1]),
        lambda: ([[1, 1, 3], [5, 2, 6], [-2, -1, -3]], [1, 0, 0]),
        lambda: ([[2, 2, 6], [10, 4, 12], [-4, -2, 6]], [1, 0, 0]),
        lambda: ([[2.5, 2, 6], [10, 4, 12], [-4, -2, -6]], [1, 0, 0]),
        lambda: ([[10, -10], [10, -10]], [0, 1]),
        lambda: 3,
    ],
    "10-meet": [
        lambda a, start: 0.0,
        lambda a, start: 2.0**-23 / (1 - a),
        lambda a, start: distance_left(a, start) / 2,
        lambda a, start: a**1000 * start,
    ],
    "10-better": [
        by_tracing_the_largest,
        lambda w, u, k: by_tracing_the_largest(w, u, k) / 2,
        lambda w, u, k: 0.99 * better_bound(w, u, k),
        lambda w, u, k: float("nan"),
        lambda w, u, k: 0.0,
        lambda w, u, k: "small",
    ],
}


class TestChapter10(ExerciseLaws):
    exercises, answers, wrong = chapter_10.EXERCISES, ANSWERS, WRONG


MALFORMED = [
    ("10-worst", lambda a, k, T: 1, "On example 1 of 4: expected a list of 2 numbers, each 1 or -1, got the int 1."),
    (
        "10-forgetful",
        lambda: 3,
        "On example 1 of 4: expected (W, U), three rows of three whole numbers and a list of three, got the int 3.",
    ),
    (
        "10-forgetful",
        lambda: ([[1, 1, 3], [5, 2, 6], [-2, -1, -3]], [1, 0, 0]),
        "On example 1 of 4: the norm of W is 9.42, less than 10.",
    ),
    (
        "10-worst",
        lambda a, k, T: [-1] + [1] * (T - 1),
        "On example 2 of 4: these inputs give the difference 1.938, others 2.562.",
    ),
    ("10-better", lambda w, u, k: "small", "On example 1 of 4: expected a finite number, got the string 'small'."),
]


@pytest.mark.parametrize(("name", "answer", "words"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, answer, words):
    assert check(name, answer).message == words


def test_a_bound_that_is_none_or_too_large_is_told_so():
    assert "is not a bound: two runs are" in check("10-better", lambda w, u, k: 0.0).message
    assert "not a twentieth below Lemma 1's" in check("10-better", by_tracing_the_largest).message


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_returned_is_named(name):
    result = check(name, lambda *case: None)
    assert result.status == "malformed"
    assert "None" in result.message


# Other right answers pass


def by_runs(W, U, b, xs, k):
    cell = SimpleCell(xs.shape[1], len(W), dtype=torch.float64, generator=torch.Generator())
    with torch.no_grad():
        for own, given in ((cell.W, W), (cell.U, U), (cell.b, b)):
            own.copy_(given)
        return truncated_states(cell, xs[:, None], k)[:, 0]


def test_other_right_answers_pass_too():
    assert check("10-windows", by_runs)
    assert check("10-worst", lambda a, k, T: tuple(-x for x in worst_inputs(a, k, T)))
    assert check("10-forgetful", lambda: ([[-3, -3, -9], [-15, -6, -18], [6, 3, 9]], (0, 0, 2)))
    assert check("10-better", lambda w, u, k: 1.01 * better_bound(w, u, k))


# What the texts say about these exercises holds


def test_the_window_in_floats_misses_by_one_at_most_and_only_where_both_sides_are_all_but_equal():
    for rate, size, eps in EXERCISES["10-length"].all_cases(seed=3, random_inputs=40):
        k, in_floats = shortest_window(rate, size, eps), window_for_state_gap(*map(float, (rate, size, eps)))
        at_a_border = any(abs(rate**n * size / eps - 1) < 1e-15 for n in (k - 1, k))
        assert in_floats == k or (at_a_border and abs(in_floats - k) == 1)


@pytest.mark.parametrize("a", [0.9, -0.9])
def test_the_worst_inputs_meet_the_bound_of_gradients_in_a_long_run(a):
    k, H = 8, 10.0
    gap = chapter_10._gap(Fraction(str(a)), k, worst_inputs(a, k, 300))
    known = Constants(0.9, 1, H, 0, 1, 0, 1, H)
    assert float(gap) == pytest.approx(gradient_gap_bound(known, LossConstants(1, 0), k), rel=1e-9)


def test_the_curvature_is_three_over_the_fourth_power_or_a_multiple_of_t_to_the_fourth():
    known = Constants(0.9, 1, 10, 0, 1, 0, 1, 10)
    assert float(loss_curvature(Fraction(9, 10), 400)) == pytest.approx(3e4)
    bound = gradient_lipschitz_bound(known, LossConstants(10, 1))
    assert float(loss_curvature(Fraction(9, 10), 400)) == pytest.approx(bound)
    assert loss_curvature(Fraction(1), 1000) / 1000**4 == pytest.approx(7 / 12, rel=0.01)


def test_forgetful_is_large_and_has_no_eigenvalue_but_nought():
    W = np.array(forgetful()[0])
    assert np.linalg.norm(W, 2) > 10
    assert not (W @ W @ W).any()


def test_two_runs_with_weight_099_stay_99_units_of_the_last_place_apart():
    left = EXERCISES["10-meet"].oracle(0.9899999499320984, 300.0)
    assert left / 2.0**-17 == 99  # 2^-17 is the distance of neighbours between 64 and 128


def test_the_better_bound_is_below_that_of_states_and_met():
    for w, u, k in EXERCISES["10-better"].cases:
        cell = SimpleCell(1, 1, dtype=torch.float64, generator=torch.Generator()).requires_grad_(False)
        for weight, value in ((cell.W, w), (cell.U, u), (cell.b, 0.0)):
            weight.fill_(value)
        mine = better_bound(w, u, k)
        assert mine < 0.95 * state_gap_bound(constants(cell), k)
        assert mine == pytest.approx(chapter_10._worst_pair(w, u, k), rel=1e-3)


def test_the_length_is_that_of_the_linear_cell():
    cell = LinearCell(1, 1, dtype=torch.float64, generator=torch.Generator()).requires_grad_(False)
    for weight, value in ((cell.W, 0.9), (cell.U, 1.0), (cell.b, 0.0)):
        weight.fill_(value)
    known = constants(cell)
    assert window_for_state_gap(known.rate, known.state_bound, 0.01) == 66
    assert shortest_window(Fraction(9, 10), Fraction(10), Fraction(1, 100)) == 66
