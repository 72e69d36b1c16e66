"""Every exercise of chapter 2: a right answer passes, plausible wrong ones fail."""

from math import comb

import numpy as np
import pytest
from exercise_laws import ExerciseLaws

from fhx.approximation import hankel_bound, rollout_bound, step_error_for
from fhx.exercises import chapter_02, check

EXERCISES = {exercise.id: exercise for exercise in chapter_02.EXERCISES}


def largest_so_far():
    return [[-1, -1], [1, 1]], [[1], [0]], [0, 0], [0, 0], [1, 1], 0


def step_error(error, lipschitz, steps):
    return error / sum(lipschitz**k for k in range(steps))


def spike(delta):
    return [(1 / delta, 1, delta), (-2 / delta, 1, 0), (1 / delta, 1, -delta)]


def slow_clock(W, U, b, upper):
    d, layers = len(W), 1 + len(upper)
    big = np.zeros((layers, d, layers, d), dtype=int)
    big[0, :, -1] = W
    for k, (V, _) in enumerate(upper, 1):
        big[k, :, k - 1] = V
    inputs = [*U, *[[0] * len(U[0])] * (d * (layers - 1))]
    return big.reshape(layers * d, -1).tolist(), inputs, [*b, *(c for _, bias in upper for c in bias)]


def counter(p):
    return [1, 1], [1, 1], [0, 1 - p], [1, -p], 0


def tower_kernel(weights, steps):
    kernel = [1] + [0] * (steps - 1)
    for w in weights:
        for t in range(1, steps):
            kernel[t] += w * kernel[t - 1]
    return kernel


def units_needed(kernel, error):
    n = (len(kernel) + 1) // 2
    rows = np.lib.stride_tricks.sliding_window_view(np.array(kernel), n)
    return int((np.linalg.svd(rows, compute_uv=False) > error).sum())


def sign_test(leads):
    signs = [lead > 0 for lead in leads if lead != 0]
    n, k = len(signs), max(sum(signs), len(signs) - sum(signs))
    return min(1.0, 2 * sum(comb(n, j) for j in range(k, n + 1)) / 2**n)


def last_reversal(updates, one, other):
    leads = np.mean(one, 0) - np.mean(other, 0)
    there = leads != 0
    at, signs = np.array(updates)[there], np.sign(leads[there])
    changes = at[1:][signs[1:] != signs[:-1]]
    return int(changes[-1]) if len(changes) else None


RIGHT = [largest_so_far, step_error, spike, slow_clock, counter, tower_kernel, units_needed, sign_test, last_reversal]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def with_a_stack_instead(W, U, b, upper):
    big, inputs, biases = slow_clock(W, U, b, upper)
    for row in big[: len(W)]:
        row[:] = [0] * len(row)
    return big, inputs, biases


WRONG = {
    "02-running-maximum": [
        lambda: ([[-1, -1], [1, 1]], [[1], [0]], [0, 0], [0, 0], [1, 0], 0),
        lambda: ([[-1, -1], [1, 1]], [[1], [1]], [0, 0], [0, 0], [1, 1], 0),
        lambda: ([[1]], [[1]], [0], [0], [1], 0),
        lambda: (*largest_so_far()[:5], 1),
        lambda: largest_so_far()[:5],
        lambda: ([[0] * 3] * 3, [[1]] * 3, [0] * 3, [0] * 3, [1] * 3, 0),
        lambda: ([[-1, -1], [1, 1]], [[1.0], [0.0]], [0, 0], [0, 0], [1, 1], 0),
        lambda: None,
        lambda: (np.array([[-1, -1], [1, 1]]), *largest_so_far()[1:]),
    ],
    "02-step-error": [
        lambda error, lipschitz, steps: error / lipschitz**steps,
        lambda error, lipschitz, steps: error / steps,
    ],
    "02-spike": [
        lambda delta: [(1, 1, delta), (-2, 1, 0), (1, 1, -delta)],
        lambda delta: [(1 / delta, 1, delta), (-1 / delta, 1, 0)],
        lambda delta: [(1 / delta, 1, delta), (-2 / delta, 1, 0)],
        lambda delta: [(1, 0, 1)],
        lambda delta: [*spike(delta), (1, 1, -8 * delta)],
        lambda delta: [*spike(delta), (1, -1, -8 * delta)],
        lambda delta: spike(delta)[0],
        lambda delta: [*spike(delta), (0, 0, 0), (0, 0, 0)],
    ],
    "02-slow-clock": [
        with_a_stack_instead,
        lambda W, U, b, upper: slow_clock(W, U, b, upper[::-1]),
        lambda W, U, b, upper: (W, U, b),
        lambda W, U, b, upper: (np.array(slow_clock(W, U, b, upper)[0]).T.tolist(), *slow_clock(W, U, b, upper)[1:]),
    ],
    "02-counter": [
        lambda p: counter(p + 1),
        lambda p: ([1, 1], [1, 1], [0, 1 - p], [1, -1], 0),
        lambda p: ([1, 1], [1, 1], [0, -p], [1, -p], 0),
        lambda p: ([1, 1], [1, 1], [0, 0.5], [1, -p], 0),
        lambda p: ([1], [1], [0], [1], 0),
        lambda p: counter(p)[:4],
    ],
    "02-tower-kernel": [
        lambda weights, steps: tower_kernel(weights[:1], steps),
        lambda weights, steps: tower_kernel(weights, steps + 1)[1:],
    ],
    "02-units": [
        lambda kernel, error: units_needed(kernel, error) + 1,
        lambda kernel, error: units_needed(kernel, 1e-9),
        lambda kernel, error: units_needed(kernel, error) / 1,
    ],
    "02-sign-test": [
        lambda leads: sign_test(leads) / 2,
        lambda leads: sign_test([lead or -1.0 for lead in leads]),
        lambda leads: min(1.0, 2 * sign_test(leads)),
    ],
    "02-last-reversal": [
        lambda updates, one, other: last_reversal(updates[::-1], [c[::-1] for c in one], [c[::-1] for c in other]),
        lambda updates, one, other: last_reversal(updates, one[:1], other[:1]),
        lambda updates, one, other: last_reversal(updates, one, other) or 0,
        lambda updates, one, other: last_reversal(updates[:-1], [c[:-1] for c in one], [c[:-1] for c in other]),
    ],
}


class TestChapter02(ExerciseLaws):
    exercises, answers, wrong = chapter_02.EXERCISES, ANSWERS, WRONG


MALFORMED = {
    ("02-running-maximum", 4): "On example 1 of 5: expected (W, U, b, h0, w, c), 6 values, got a tuple of 5 items.",
    ("02-running-maximum", 5): "On example 1 of 5: expected one or two rows in W, one per unit, got a list of 3 items.",
    (
        "02-running-maximum",
        7,
    ): "On example 1 of 5: expected (W, U, b, h0, w, c), 6 values, got None; is a return missing?",
    ("02-running-maximum", 8): (
        "On example 1 of 5: expected one or two rows in W, one per unit, got an array of shape (2, 2), int64."
    ),
    ("02-spike", 6): "On example 1 of 11: expected a list of units, each a list or tuple (v, w, c) of numbers, "
    "got the tuple (2.0, 1, 0.5).",
    ("02-spike", 7): "On example 1 of 11: there are 5 units, and at most 4 are asked for.",
    ("02-counter", 3): "On example 1 of 4: expected whole numbers of shape (2,) as b, got the list [0, 0.5].",
}


@pytest.mark.parametrize(("name", "number"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert check(name, WRONG[name][number]).message == MALFORMED[name, number]


@pytest.mark.parametrize(("lipschitz", "steps"), [(0.5, 7), (1.0, 9), (3.0, 4)])
def test_the_package_agrees_on_how_exact_a_step_must_be(lipschitz, steps):
    eta = step_error(0.5, lipschitz, steps)
    assert eta == pytest.approx(step_error_for(0.5, lipschitz, steps))
    assert rollout_bound(eta, lipschitz, steps) == pytest.approx(0.5)


def test_the_package_s_bound_changes_where_the_count_of_units_says():
    import torch

    kernel = [1 / (1 + s) for s in range(21)]
    m = units_needed(kernel, 0.01)
    assert hankel_bound(torch.tensor(kernel, dtype=torch.float64), m) <= 0.01
    assert hankel_bound(torch.tensor(kernel, dtype=torch.float64), m - 1) > 0.01
