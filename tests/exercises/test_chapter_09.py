"""Every exercise of chapter 9: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import product
from math import floor, log

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.cells import DeepCell, LSTMCell
from fhx.exercises import chapter_09, check
from fhx.exercises.evaluate_stable import flip_flop
from fhx.machines import parity
from fhx.stability import contraction_rate, definite_order, project, steps_to_contract

EXERCISES = {exercise.id: exercise for exercise in chapter_09.EXERCISES}


def steps(rate, n):
    r = 1
    while n * rate ** (2 * r) >= 1:
        r += 1
    return r


def scale(a, b, r):
    return b * r / (r**2 - a**2)


def two_layer_gain(W1, W2):
    masks = map(np.array, product((0, 1), repeat=len(W1)))
    return max(np.abs(W2 * d @ W1).sum(1).max() for d in masks)


def refute(W, claim):
    row = max(W, key=lambda row: sum(map(abs, row)))
    return [1e-2 / (1 + claim) * np.sign(w) for w in row], [0.0] * len(W)


def shorten(W, radius):
    rows = []
    for row in W:
        sizes = np.sort(np.abs(row))[::-1]
        levels = (np.cumsum(sizes) - radius) / np.arange(1, len(row) + 1)
        rows.append(np.sign(row) * np.maximum(np.abs(row) - max(0, levels.max()), 0))
    return np.array(rows)


def order(delta):
    merged = list(range(len(delta)))
    for k in range(len(delta)):
        if len(set(merged)) == 1:
            return k
        rows = [tuple(merged[q] for q in row) for row in delta]
        merged = [rows.index(row) for row in rows]
    return None


def last_symbols(h, rate, k):
    symbols = []
    for _ in range(k):
        symbols.append(int(h))
        h = (h - symbols[-1]) / rate if rate else 0
    return symbols


def flip_flop_net(gain=1):
    W = [[gain, -gain], [gain, -gain]]
    return W, [2 * gain, 2 * gain], [1 - gain, -1 - gain], [1, -1], -1


RIGHT = [steps, scale, two_layer_gain, refute, shorten, order, last_symbols, flip_flop_net]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def rescaled(W, radius):
    sums = np.abs(W).sum(1, keepdims=True)
    return W * np.minimum(1, radius / np.maximum(sums, 1e-300))


WRONG = {
    "09-steps": [
        lambda rate, n: next(r for r in range(1, 10_000) if n**0.5 * rate**r < 1 - 1e-12),
        lambda rate, n: max(1, floor(log(n) / (-2 * log(rate))) + 1) if rate else 1,
        lambda rate, n: steps(rate, n) - 1,
    ],
    "09-shear": [
        lambda a, b, r: b / r,
        lambda a, b, r: 1 / scale(a, b, r),
    ],
    "09-layers": [
        lambda W1, W2: np.abs(W1).sum(1).max() * np.abs(W2).sum(1).max(),
        lambda W1, W2: two_layer_gain(W2, W1) if W1.shape[0] == W1.shape[1] else 0.0,
    ],
    "09-refute": [
        lambda W, claim: ([1.0] * len(W), [0.0] * len(W)),
        lambda W, claim: ([1e-7] * len(W), [0.0] * len(W)),
        lambda W, claim: ([2.0] * len(W), [0.0] * len(W)),
        lambda W, claim: ([0.0], [0.0] * 7),
        lambda W, claim: "ab",
        lambda W, claim: ([float("nan")] * len(W), [0.0] * len(W)),
        lambda W, claim: (np.linalg.svd(W)[2][0] / 100, [0.0] * len(W)),
    ],
    "09-rows": [
        rescaled,
        lambda W, radius: shorten(W, radius) * radius / np.abs(shorten(W, radius)).sum(1, keepdims=True).clip(1e-9),
        lambda W, radius: W.clip(-radius, radius),
    ],
    "09-order": [
        lambda delta: len(delta) - 1,
        lambda delta: order(delta) or 0,
        lambda delta: None if order(delta) is None else order(delta) + 1,
    ],
    "09-one-unit": [
        lambda h, rate, k: last_symbols(h, rate, k)[::-1],
        lambda h, rate, k: [round(symbol) for symbol in last_symbols(h, rate, k - 1)],
    ],
    "09-flip-flop": [
        lambda: flip_flop_net(2),
        lambda: flip_flop_net(0.9),
        lambda: ([[1.0]], [1.0], [0.0], [1.0], -0.5),
        lambda: None,
        lambda: ([[1.0]], [1.0], [0.0], [1.0]),
        lambda: ([[1.0]], [1.0, 2.0], [0.0], [1.0], 0.0),
        lambda: ("W", [1.0], [0.0], [1.0], 0.0),
        lambda: (np.eye(5), [1.0] * 5, [0.0] * 5, [1.0] * 5, 0.0),
        lambda: ([[float("nan")]], [1.0], [0.0], [1.0], 0.0),
    ],
}


class TestChapter09(ExerciseLaws):
    exercises, answers, wrong = chapter_09.EXERCISES, ANSWERS, WRONG


def test_a_wrong_none_is_not_taken_for_a_missing_return():
    result = check("09-order", lambda delta: None)
    assert result.message == "On example 1 of 6, got None."
    assert "is a return missing?" in check("09-steps", lambda rate, n: None).message


MESSAGES = {
    ("09-refute", 1): "the states are less than a millionth apart, where rounding counts.",
    ("09-refute", 2): "a state has a number outside [-1, 1].",
    ("09-refute", 3): "expected two states of 2 numbers, got the shapes (1,) and (7,).",
    ("09-refute", 4): "expected (h, other), 2 lists of 2 numbers, got the string 'ab'.",
    ("09-refute", 5): "expected h in numbers, got the list [nan, nan]: nan is among them.",
    ("09-flip-flop", 1): "after the word list(shape (44,): -1, 0, 0, ..., 0, 0, 0) the output is -0.229, ",
    ("09-flip-flop", 4): "expected (W, U, b, w, c), 5 values, got the tuple ([[1.0]], [1.0], [0.0], [1.0]).",
    ("09-flip-flop", 5): "expected W, U, b, w, c of the shapes (d, d), (d,), (d,), (d,), (), got ",
    ("09-flip-flop", 6): "in numbers, lists of one length or tensors, got ",
    ("09-flip-flop", 7): "the net has 5 units, and at most 4 are asked for.",
    ("09-flip-flop", 8): "expected W in numbers, got the list [[nan]]: nan is among them.",
}


@pytest.mark.parametrize(("name", "number"), MESSAGES)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert MESSAGES[name, number] in check(name, WRONG[name][number]).message


def test_a_latch_explodes_where_it_decides():
    message = check("09-flip-flop", WRONG["09-flip-flop"][0]).message
    assert "a product of Jacobians has the norm 128, and none may be above 4" in message


# What the texts say about these exercises holds


def test_the_package_counts_the_same_steps():
    for case in EXERCISES["09-steps"].all_cases(0, 30):
        rate, n = float(case[0]), case[1]
        assert steps_to_contract(rate, n) == steps(Fraction(rate), n)


def test_the_two_layers_certify_what_the_product_does_not():
    cell = DeepCell(1, 2, 2, dtype=torch.float64)
    W = torch.tensor([[0.6, 0.6], [0.6, -0.6]], dtype=torch.float64)
    with torch.no_grad():
        for layer in cell.layer_matrices():
            layer.copy_(W)
    assert contraction_rate(cell, "max") == pytest.approx(1.44)
    assert two_layer_gain(W.numpy(), W.numpy()) == pytest.approx(0.72)
    generator = torch.Generator().manual_seed(0)
    h, drive = (3 * torch.randn(2000, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    assert cell.jacobian(h, drive).abs().sum(-1).max() <= 0.72


def test_the_projection_is_that_of_the_package():
    cell = LSTMCell(1, 3, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.W_z.copy_(torch.tensor([[2.0, -1.0, 0.2], [0.1, 0.1, 0.0], [0.0, 3.0, 3.0]]))
        before = cell.W_z.numpy().copy()
    project(cell, 0.75, condition="rows")  # every row has a radius of its own
    after = cell.W_z.detach().numpy()
    assert np.abs(after).sum() < np.abs(before).sum()
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new, shorten(old[None], np.abs(new).sum())[0], atol=1e-9)


def test_orders_agree_with_the_package():
    assert definite_order(parity()) is order([[0, 1], [1, 0]]) is None


def test_the_flip_flop_is_right_on_a_long_word():
    word = [1, *[0] * 500, -1, *[0] * 500]
    assert flip_flop(flip_flop_net(), word) == -1
    assert flip_flop(flip_flop_net(), word[:501]) == 1
