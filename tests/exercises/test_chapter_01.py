"""Every exercise of chapter 1: a right answer passes, plausible wrong ones fail."""

import math

import pytest
import torch
from exercise_laws import ExerciseLaws

from fhx.exercises import chapter_01, check
from fhx.exercises.chapter_01 import _gaps

EXERCISES = {exercise.id: exercise for exercise in chapter_01.EXERCISES}


def one_step(W, U, b, h, x):
    return torch.tanh(W @ h + U @ x + b)


def source_output(table, x0, word):
    h = table[word[0]][x0]
    for x in word[:-1]:
        h = table[h][x]
    return h


def inputs_seen(T):
    return max(1, T - 1)


def mod_three():
    return [[0, 1], [1, 2], [2, 0]], 0, [True, False, False]


def change_net():
    W = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    return W, [1, 1, 1], [0, -1, 0], [0, 0, 0], [1, -2, 0], 0


def change_net_of_distances():
    """The distance of two bits as the sum of what either exceeds the other by."""
    return [[0, 0, -1], [0, 0, 1], [0, 0, 0]], [1, -1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 0], 0


def moving_sum():
    W = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    return W, [1, 0, 0], [0, 0, 0], [1, 1, 1]


def minimal_states(table, h0, readout):
    reached = [h0]
    for h in reached:
        reached += [k for k in dict.fromkeys(table[h]) if k not in reached]
    block = {h: readout[h] for h in reached}
    for _ in reached:
        block = {h: (block[h], block[table[h][0]], block[table[h][1]]) for h in reached}
        names = {key: i for i, key in enumerate(dict.fromkeys(block.values()))}
        block = {h: names[key] for h, key in block.items()}
    return len(set(block.values()))


def gate_rows(U_f, U_i, U_o, U_z):
    return torch.cat([U_i, U_f, U_z, U_o])


def truncated_gradient(w, xs, h0, y, K):
    h = [h0]
    for x in xs:
        h.append(w * h[-1] + x)
    T = len(xs)
    return (h[T] - y) * sum(w ** (T - s) * h[s - 1] for s in range(T - K + 1, T + 1))


def steps_apart(h, gap):
    other, t = h + gap, 0
    while abs(h - other) <= 0.1:
        h, other, t = 4 * h * (1 - h), 4 * other * (1 - other), t + 1
    return t


def oscillator(period):
    W = 2 * torch.eye(period, dtype=torch.float64).roll(1, 0)
    h0 = -torch.ones(period, dtype=torch.float64)
    h0[0] = 1
    return W, torch.zeros(period, dtype=torch.float64), h0


RIGHT = [
    one_step,
    source_output,
    inputs_seen,
    mod_three,
    change_net,
    moving_sum,
    minimal_states,
    gate_rows,
    truncated_gradient,
    steps_apart,
    oscillator,
]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def source_as_usual(table, x0, word):
    h = x0
    for x in word:
        h = table[h][x]
    return h


def oldest_terms(w, xs, h0, y, K):
    full = truncated_gradient(w, xs, h0, y, len(xs))
    return full - (truncated_gradient(w, xs, h0, y, len(xs) - K) if len(xs) > K else 0.0)


def steps_counted_from_one(h, gap):
    return steps_apart(h, gap) + 1


def fading_clock(period):
    W, b, h0 = oscillator(period)
    return 0.45 * W, b, h0


WRONG = {
    "01-one-step": [
        lambda W, U, b, h, x: torch.relu(W @ h + U @ x + b),
        lambda W, U, b, h, x: torch.tanh(W @ h + U @ x + b)[None],
    ],
    "01-source-output": [source_as_usual, lambda table, x0, word: source_output(table, x0, (*word, 0))],
    "01-mod-three": [
        lambda: ([[0, 1], [1, 0]], 0, [True, False]),
        lambda: ([[0, 1], [1, 2], [2, 2]], 0, [True, False, False]),
        lambda: ([[0, 1], [1, 2], [2, 3]], 0, [True, False, False]),
    ],
    "01-change-net": [
        lambda: ([[1, -2], [1, -2]], [1, 1], [0, -1], [0, 0], [1, -2], 0),  # PARITY
        lambda: ([[1]], [1], [0], [0], [1], 0),
        lambda: ([[1] * 4] * 4, [1] * 4, [0] * 4, [0] * 4, [1] * 4, 0),
        lambda: ([[0, 0, 1], [0, 0, 1], [0, 0, 0]], [1, 1, 1], [0, -1, 0], [0, 0, 0], [1, -2, 0]),
        lambda: ([[0, 1], [0, 0]], [[1, 0], [1, 0]], [0, -1], [0, 0], [1, -2], 0),
    ],
    "01-moving-sum": [
        lambda: ([[2 / 3]], [1], [0], [1]),
    ],
    "01-minimal-states": [
        lambda table, h0, readout: len(table),
        lambda *case: len(set(case[2])),
    ],
    "01-truncated-gradient": [
        oldest_terms,
        lambda w, xs, h0, y, K: truncated_gradient(w, xs, h0, y, len(xs)),
    ],
    "01-steps-apart": [steps_counted_from_one, lambda h, gap: math.ceil(math.log2(0.1 / gap))],
    "01-oscillator": [fading_clock, lambda period: oscillator(period + 1), lambda period: oscillator(2)],
}


class TestChapter01(ExerciseLaws):
    exercises, answers, wrong = chapter_01.EXERCISES, ANSWERS, WRONG


def test_other_right_designs_pass_too():
    assert check("01-change-net", change_net_of_distances)
    assert check("01-mod-three", lambda: ([(3, 1), (1, 2), (2, 3), (3, 1)], 0, (1, 0, 0, 1)))
    as_tensors = [torch.tensor(part) for part in moving_sum()]
    assert check("01-moving-sum", lambda: as_tensors)


def test_a_column_or_a_row_stands_for_a_vector_and_one_number_in_brackets_for_a_number():
    W, U, b, h0, V, c = (torch.tensor(part) for part in change_net())
    assert check("01-change-net", lambda: (W, U[:, None], b[None], h0[:, None], V[None], c[None]))
    assert not check("01-change-net", lambda: (W, U[:, None], b[None], h0[:, None], -V[None], c[None]))
    assert "c of shape (), got (2,)" in check("01-change-net", lambda: (W, U, b, h0, V, [0, 0])).message


def test_a_table_by_pairs_is_told_from_rows():
    flip = {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0}
    result = check("01-mod-three", lambda: (flip, 0, [True, False]))
    assert result.message == "On example 1 of 127: expected table[h][x], a list of rows, got a dictionary by pairs."


def test_a_wrong_clock_is_told_its_own_period():
    turning = [[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]]
    spiral = ([[2 * value for value in row] for row in turning], [0, 0], [1, 0])
    said = {
        "example 1 of 5: the state repeats every 3 steps, and a period of 1 is asked for": oscillator(3),
        "example 2 of 5: the state repeats every step, and a period of 2 is asked for": oscillator(1),
        "example 1 of 5: after 2000 steps the state does not repeat within 60 more": spiral,
    }
    for words, net in said.items():
        assert words in check("01-oscillator", lambda period, net=net: net).message


def test_single_precision_is_no_mistake():
    def in_single(*case):
        return one_step(*(part.float() for part in case))

    assert check("01-one-step", in_single)
    whole = check("01-one-step", lambda *case: one_step(*case).long())
    assert "expected dtype torch.float64, got torch.int64" in whole.message


def test_first_differing_inputs_are_the_telling_ones():
    """T - 1 is right but for T = 1; a table that stops counting at two fails on three ones."""
    assert ("T", "1") in check("01-inputs-seen", lambda T: T - 1).lines
    assert ("word", "(1, 1, 1)") in check("01-mod-three", WRONG["01-mod-three"][1]).lines
    assert "at most 3" in check("01-change-net", WRONG["01-change-net"][2]).message
    assert "U of shape (2,), got (2, 2)" in check("01-change-net", WRONG["01-change-net"][4]).message


def test_gate_rows_are_the_rows_that_torch_reads():
    """With the rows assembled so, torch's LSTM computes the gates of the equations."""
    U = dict(zip("fioz", torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(0)).double(), strict=True))
    net = torch.nn.LSTMCell(2, 3, bias=False, dtype=torch.float64)
    x = torch.tensor([0.3, -1.0], dtype=torch.float64)
    with torch.no_grad():
        net.weight_ih.copy_(gate_rows(*U.values()))
        h, c = net(x)
    i, o, z = torch.sigmoid(U["i"] @ x), torch.sigmoid(U["o"] @ x), torch.tanh(U["z"] @ x)
    torch.testing.assert_close(c, i * z)
    torch.testing.assert_close(h, o * torch.tanh(i * z))


def test_the_truncated_gradient_is_autograds_with_a_detached_state():
    w = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    xs, K = [0.3, -1.0, 0.5, 2.0], 2
    h = torch.tensor(0.4, dtype=torch.float64)
    for t, x in enumerate(xs):
        h = w * (h.detach() if t == len(xs) - K else h) + x
    (gradient,) = torch.autograd.grad((h - 1.5) ** 2 / 2, w)
    exercise = EXERCISES["01-truncated-gradient"]
    assert exercise.oracle(0.7, xs, 0.4, 1.5, K) == pytest.approx(gradient.item())


@pytest.mark.parametrize("case", [*EXERCISES["01-steps-apart"].all_cases(seed=3, random_inputs=30)])
def test_rounding_does_not_decide_how_long_a_forecast_lasts(case):
    def other_form(h, gap):
        a, b, t = h, h + gap, 0
        while abs(a - b) <= 0.1:
            a, b, t = 1 - (1 - 2 * a) ** 2, 1 - (1 - 2 * b) ** 2, t + 1
        return t

    assert other_form(*case) == steps_apart(*case) == len(_gaps(*case)) - 1
