"""Every exercise of chapter 4: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import torch
from exercise_laws import ExerciseLaws
from scipy.special import expit
from torch import nn

from fhx.cells import GRUCell, LSTMCell
from fhx.compile import dfa_to_rnn
from fhx.dynamics import Realization
from fhx.exercises import chapter_04, check
from fhx.exercises.evaluate_lstm import START, counting_cell
from fhx.exercises.evaluate_noisy import survivors
from fhx.machines import DFA, CounterMachine, parity, tomita
from fhx.tasks import Acceptor
from fhx.training import proportion

EXERCISES = {exercise.id: exercise for exercise in chapter_04.EXERCISES}


def targets(accepts, word):
    return [accepts(word[:t]) for t in range(len(word) + 1)]


def tail(k, n, p):
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def crossing(k, n, level, steps=50):
    low, high = 0.0, 1.0
    for _ in range(steps):
        p = (low + high) / 2
        low, high = (low, p) if tail(k, n, p) > level else (p, high)
    return (low + high) / 2


def interval(k, n):
    return crossing(k, n, 0.025), crossing(k + 1, n, 0.975)


def relu_counter():
    return [[1, -1], [-1, 1]], [[1, -1], [-1, 1]], [0, 0], [0, 0], [-1, -1], 1


@torch.no_grad()
def in_order(cell):
    cell.U_z[2, 1] = 40.0
    cell.W_i[3, 2] = cell.U_i[3, 0] = 80.0
    cell.b_i[3] = -110.0
    cell.b_z[3] = 40.0
    return cell, [1.0, -1.0, 0.0, -1.0], -0.7


def window_reach(k):
    return (k + 1) // 2


def rows(accepts, alphabet, words, continuations):
    def row(u):
        return tuple(accepts(u + z) for z in continuations)

    known = {row(u) for u in words}
    new = [(u, a) for u in words for a in alphabet if row(u + a) not in known]
    return len(known), new[0] if new else None


def tanh_net(gain):
    """The exclusive or of the parity and a bit by two steps, as steep as the gain."""
    W = [[gain / 2, -gain / 2]] * 2
    U = [[0, gain]] * 2
    return W, U, [-gain / 2, -3 * gain / 2], [-1, -1], [0.5, -0.5], -0.5, "tanh"


def robust():
    return tanh_net(10)


def least_gain(M, eta):
    """From gain to gain, halved: does some error on a grid come back no larger?"""
    errors = np.geomspace(1e-12, 0.5 / M, 30_000)
    if eta >= 0.5 / M:
        return None
    low, high = 0.0, 1e9
    while high - low > 1e-7 * high:
        gain = (low + high) / 2 if low else high / 10
        holds = (expit(-gain * (0.5 - M * (errors + eta))) <= errors) & (errors + eta < 0.5 / M)
        low, high = (low, gain) if holds.any() else (gain, high)
    return float(high)


def maps_of_words(dfa):
    """Words of growing length, until a length brings no new map; and powers of each map until they repeat."""
    maps, length = set(), 0
    while True:
        new = {tuple(_end(dfa, q, word) for q in dfa.states) for word in product(dfa.alphabet, repeat=length)} - maps
        if not new:
            return len(maps), all(_rests(f, list(dfa.states)) for f in maps)
        maps |= new
        length += 1


def _end(dfa, q, word):
    for x in word:
        q = dfa.transitions[q, x]
    return q


def _rests(f, states):
    step, image = dict(zip(states, f, strict=True)), states
    for _ in states:
        image = [step[q] for q in image]
    return [step[q] for q in image] == image


def own_counters():
    """Two counters: the first for the letters a, the second for the letters b."""
    transitions = {
        ("A", "a", "**"): ("A", (1, 0)),
        ("A", "b", "**"): ("B", (0, 1)),
        ("B", "b", "**"): ("B", (0, 1)),
    }
    for q in "ABC":
        transitions |= {(q, "c", "+*"): ("C", (-1, 0)), (q, "c", "0+"): ("C", (0, -1))}
    return CounterMachine("ABC", "abc", 2, transitions, "A", "ABC", at_zero=True)


RIGHT = [targets, interval, relu_counter, in_order, window_reach, rows, robust, least_gain, maps_of_words, own_counters]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def without_order(cell):
    return cell, [1.0, -1.0, 0.0, 0.0], -0.7


@torch.no_grad()
def forgives(cell):
    """Unit 3 remembers only that the last letter was an a after a b."""
    cell, w, c = in_order(cell)
    cell.b_f[3] = -40.0
    return cell, w, c


@torch.no_grad()
def fades(cell):
    """A fault is remembered for five letters."""
    cell, w, c = in_order(cell)
    cell.b_f[3] = 1.0
    return cell, w, c


@torch.no_grad()
def counts_to_a_hundred(cell):
    """The memory of unit 1 leaks."""
    cell, w, c = in_order(cell)
    cell.b_f[1] = 6.0
    return cell, w, c


@torch.no_grad()
def forgets_where_it_starts(cell):
    cell, w, c = in_order(cell)
    cell.b_z[2] = 1.0
    return cell, w, c


def on_paper():
    return [[1, -2], [1, -2]], [[0, 1], [0, 1]], [0, -1], [0, 0], [1, -2], -0.5, "relu"


def counts_from_500():
    """Right as long as the b do not lead by more than 500."""
    return [[1, 0], [1, 0]], [[1, -1], [1, -1]], [0, -500], [500, 0], [1, -2], -499


def letters_first(accepts, alphabet, words, continuations):
    found = [rows(accepts, [letter], words, continuations)[1] for letter in alphabet]
    return rows(accepts, alphabet, words, continuations)[0], next(filter(None, found), None)


def up_to_nineteen(k):
    return min(window_reach(k), 19)


def compiled():
    net = dfa_to_rnn(parity())
    numbers = (net.rnn.W.dense(), net.rnn.U.dense(), net.rnn.b, net.rnn.h0, net.w, net.c - Fraction(1, 2))
    return *(np.array(part, dtype=float) for part in numbers), "relu"


def steep_relus(gain=1.5):
    """A step of slope ``gain`` between flat ends, once upwards for the bit 0, once downwards for 1."""
    low, high = (gain - 1) / 2, (gain + 1) / 2
    slopes, readout = np.array([gain, gain, -gain, -gain]), np.array([1, -1, 1, -1])
    U = [[0, -gain], [0, -gain], [0, gain], [0, gain]]
    return np.outer(slopes, readout), U, [-low, -high, high - gain, low - gain], [0] * 4, readout, -0.5, "relu"


WRONG = {
    "04-targets": [
        lambda accepts, word: [accepts(letter) for letter in word],
        lambda accepts, word: [accepts(word[t:]) for t in range(len(word) + 1)],
        lambda accepts, word: [int(accepts(word[:t])) for t in range(len(word) + 1)],
        lambda accepts, word: accepts(word),
    ],
    "04-interval": [
        lambda k, n: (crossing(k, n, 0.05), crossing(k + 1, n, 0.95)),
        lambda k, n: (crossing(k, n, 0.025), crossing(k, n, 0.975)),
        lambda k, n: (crossing(k, n, 0.025, steps=10), crossing(k + 1, n, 0.975, steps=10)),
        lambda k, n: interval(k, n)[::-1],
        lambda k, n: interval(k, n)[0],
    ],
    "04-relu-counter": [
        lambda: (*relu_counter()[:5], 0),
        lambda: (*relu_counter()[:5], 2),
        lambda: (*relu_counter()[:4], [-1, 0], 1),
        lambda: ([[1, 0], [0, 1]], *relu_counter()[1:]),
        lambda: (*relu_counter()[:5], Fraction(1, 2)),
        lambda: (*relu_counter()[:5], 0.5),
        lambda: relu_counter()[:5],
        lambda: ([[1, 0, 0]] * 3, [[1, -1]] * 3, [0] * 3, [0] * 3, [1, 0, 0], 0),
        counts_from_500,
    ],
    "04-lstm-order": [
        without_order,
        forgives,
        counts_to_a_hundred,
        forgets_where_it_starts,
        lambda cell: (*in_order(cell)[:2], 0.0),
        lambda cell: in_order(cell)[1:],
        lambda cell: (GRUCell(2, 4), *in_order(cell)[1:]),
        lambda cell: (LSTMCell(2, 6), *in_order(cell)[1:]),
        lambda cell: (cell, [1.0, -1.0], -0.7),
        lambda cell: (cell, "readout", -0.7),
        fades,
    ],
    "04-window": [
        lambda k: k // 2,
        lambda k: k / 2,
        lambda k: k // 2 + 1,
        up_to_nineteen,
    ],
    "04-rows": [
        lambda accepts, alphabet, words, continuations: rows(accepts, alphabet[::-1], words, continuations),
        lambda accepts, alphabet, words, continuations: rows(accepts, alphabet, words, continuations[:1]),
        lambda accepts, alphabet, words, continuations: (rows(accepts, alphabet, words, continuations)[0], None),
        lambda accepts, alphabet, words, continuations: rows(
            lambda w: accepts(w[::-1]), alphabet, words, continuations
        ),
        lambda accepts, alphabet, words, continuations: (
            len({tuple(accepts(u + a + z) for z in continuations) for u in words for a in ("", *alphabet)}),
            rows(accepts, alphabet, words, continuations)[1],
        ),
    ],
    "04-gain": [
        lambda M, eta: 1.01 * (least_gain(M, eta) or 0),
        lambda M, eta: least_gain(M, 0.0),
        lambda M, eta: least_gain(M, eta) or 0.0,
        lambda M, eta: least_gain(M, min(eta, 0.49 / M)),
    ],
    "04-repair": [
        on_paper,
        compiled,
        lambda: tanh_net(2.5),
        lambda: (*tanh_net(10)[:6], "relu"),
        lambda: (*tanh_net(10)[:6], "slu"),
        lambda: tanh_net(10)[:6],
        lambda: (tanh_net(10)[0], [0, 10], *tanh_net(10)[2:]),
        lambda: (np.eye(21), np.ones((21, 2)), *[np.ones(21)] * 3, 0, "tanh"),
        lambda: (*tanh_net(10)[:5], np.nan, "tanh"),
    ],
}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("04-relu-counter", counts_from_500),
        ("04-rows", letters_first),
        ("04-window", lambda k: min(window_reach(k), 19)),
    ],
)
def test_the_stated_cases_alone_refuse_what_random_inputs_may_miss(name, answer):
    assert check(name, answer, random_inputs=0).status == "differs"


class TestChapter04(ExerciseLaws):
    exercises, answers, wrong = chapter_04.EXERCISES, ANSWERS, WRONG


# Malformed designs get one sentence

MALFORMED = {
    ("04-relu-counter", 4): "On example 1 of 129: expected integers in the readout, got the Fraction 1/2.",
    ("04-relu-counter", 7): "On example 1 of 129: the net has 3 units, and at most 2 are asked for.",
    ("04-lstm-order", 0): "The net accepts 'ba' and should reject it; no shorter word was found wrong.",
    ("04-lstm-order", 1): "The net accepts 'abab' and should reject it; no shorter word was found wrong.",
    ("04-lstm-order", 10): "The net accepts 'aaaaababbbbb' and should reject it; no shorter word was found wrong.",
    ("04-lstm-order", 5): "Expected (cell, w, c), 3 values, got the tuple ([1.0, -1.0, 0.0, -1.0], -0.7).",
    ("04-lstm-order", 6): "Expected (cell, w, c) with the cell that the function was given, an LSTMCell(2, 4), got "
    "an object of type GRUCell.",
    ("04-lstm-order", 8): "Expected (cell, w, c) with 4 numbers w and one number c, got the tuple ([1.0, -1.0], -0.7).",
    ("04-repair", 0): "2 of the 20 disturbed nets are right on all words, and 18 are asked for.",
    ("04-repair", 1): "0 of the 20 disturbed nets are right on all words, and 18 are asked for.",
    ("04-repair", 4): (
        "Expected (W, U, b, h0, w, c, activation) with activation 'tanh' or 'relu', got the string 'slu'."
    ),
    ("04-repair", 5): "Expected (W, U, b, h0, w, c, activation), 7 values, got a tuple of 6 items.",
    ("04-repair", 6): "Expected (W, U, b, h0, w, c), for 2 units with U of shape (2, 2), got (2,).",
    ("04-repair", 7): "The net has 21 units, and at most 20 are asked for.",
}


@pytest.mark.parametrize(("name", "number"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert check(name, WRONG[name][number]).message == MALFORMED[name, number]


def test_a_long_mistake_is_written_by_its_blocks():
    message = check("04-lstm-order", counts_to_a_hundred).message
    assert message.startswith("The net accepts 'a^") or message.startswith("The net rejects 'a^")
    assert len(message) < 120


def test_a_float_among_exact_numbers_is_refused():
    assert "0.5" in check("04-relu-counter", WRONG["04-relu-counter"][5]).message


def test_a_mistake_without_noise_is_told_first():
    message = check("04-repair", lambda: tanh_net(2)).message
    assert message.startswith("Without any noise the net is wrong after '")
    read = message.split("'")[1]
    _, *prefixes = (read[:t] for t in range(len(read) + 1))
    assert outputs_are_odd(tanh_net(2), prefixes[-1]) != read.count("1") % 2
    assert all(outputs_are_odd(tanh_net(2), prefix) == prefix.count("1") % 2 for prefix in prefixes[:-1])


def outputs_are_odd(net, word):
    W, U, b, h, w, c = (np.array(part) for part in net[:6])
    for bit in word:
        h = np.tanh(W @ h + U[:, int(bit)] + b)
    return bool(w @ h + c > 0)


def test_an_open_assignment_to_weights_is_a_hole():
    def half_done(cell):
        with torch.no_grad():
            cell.U_z[2, 1] = ...
        return cell, [1, -1, 0, -1], -0.7

    assert check("04-lstm-order", half_done).status == "not answered yet"


# Other right answers pass


def test_other_right_designs_pass_too():
    W, U, b, h0, w, _ = relu_counter()
    assert check("04-relu-counter", lambda: (np.array(W), np.array(U), b, h0, [2 * v for v in w], 1))
    assert check("04-repair", steep_relus)
    assert check(
        "04-repair",
        lambda: [nn.Parameter(torch.tensor(part, dtype=torch.float32)) for part in tanh_net(20)[:6]] + ["tanh"],
    )

    def with_tensors(cell):
        cell, w, c = in_order(cell)
        readout = nn.Linear(4, 1)
        with torch.no_grad():
            readout.weight[:] = torch.tensor(w)
            readout.bias[:] = c
        return cell, readout.weight[0], readout.bias

    assert check("04-lstm-order", with_tensors)


# What the texts say about these exercises holds


def test_the_interval_is_the_chapters():
    for k, n in ((0, 10), (7, 10), (20, 20), (3, 41)):
        found = proportion(k, n)
        assert interval(k, n) == pytest.approx((found.low, found.high), abs=1e-6)


def test_the_given_cell_counts():
    """With the readout of the chapter, after the zero vector and after every letter."""
    cell = counting_cell()
    net = Realization(cell, lambda h: h @ torch.tensor([[1.0], [-1], [0], [0]]).double() - 0.7, START)
    words = ["abbaab" * 20, "a" * 300 + "b" * 301, "b" * 300 + "a" * 301]
    verdicts = Acceptor(net, "ab").prefixes(words).T.tolist()
    right = EXERCISES["04-relu-counter"].oracle
    assert [row[: len(word) + 1] for row, word in zip(verdicts, words, strict=True)] == list(map(right, words))


def test_one_unit_does_not_count():
    """No ReLU unit with weights from -2 to 2 agrees with the balance on the words of up to two letters."""
    numbers = range(-2, 3)
    right = EXERCISES["04-relu-counter"].oracle
    words = ["", "a", "b", "aa", "ab", "ba", "bb"]
    for W in numbers:
        for a in numbers:
            for b in numbers:
                for h0 in numbers:
                    states = []
                    for word in words:
                        h = h0
                        for letter in word:
                            h = max(0, W * h + (a if letter == "a" else b))
                        states.append(h)
                    good = [h for h, word in zip(states, words, strict=True) if right(word)[-1]]
                    bad = [h for h, word in zip(states, words, strict=True) if not right(word)[-1]]
                    assert max(good) >= min(bad), "accepts below a threshold"
                    assert min(good) <= max(bad), "accepts above a threshold"


def test_a_window_as_long_as_the_longest_word_shown_reaches_one_more():
    for longest in (10, 20, 50):
        assert chapter_04.EXERCISES[4].oracle(2 * longest + 1) == window_reach(2 * longest + 1) == longest + 1


def test_closing_the_table_gives_as_many_rows_as_the_machine_has_states():
    machines = {tomita(6): ["", "0"], DFA.from_regex("(a|b)*abb", "ab"): ["", "b", "bb"]}
    for machine, continuations in machines.items():
        words = [""]
        while new := rows(machine.accepts, machine.alphabet, words, continuations)[1]:
            words.append("".join(new))
        assert len(words) == len(machine.minimize().states)
        assert rows(machine.accepts, machine.alphabet, words, continuations) == (len(words), None)


def test_samples_hold_both_answers():
    cases = EXERCISES["04-rows"].all_cases(0, 20)
    assert {EXERCISES["04-rows"].oracle(*case)[1] is None for case in cases} == {True, False}


def test_how_much_noise_the_designs_stand():
    assert [survivors(robust(), noise) for noise in (0.02, 0.05)] == [20, 20]
    assert survivors(robust(), 0.3) < 10
    assert survivors(on_paper(), 0.0) == survivors(compiled(), 0.0) == 20
    assert survivors(steep_relus(), 0.02) >= 18
