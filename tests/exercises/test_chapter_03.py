"""Every exercise of chapter 3: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from exercise_laws import ExerciseLaws
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import nfa_to_rnn
from fhx.exact import gradient_jump, relu, separate, variable
from fhx.exercises import chapter_03, check
from fhx.exercises.chapter_03 import ENDS_IN_ABB
from fhx.exercises.evaluate_certificate import TINY
from fhx.exercises.evaluate_exact import FUNCTIONS, LONG, MOST_LETTERS, layers_by_jumps, net_outputs, right_net
from fhx.machines import DFA, NFA, all_words, parity

EXERCISES = {exercise.id: exercise for exercise in chapter_03.EXERCISES}


def second_last():
    states = ["bb", "ba", "ab", "aa"]  # the last two letters
    delta = {(q, x): q[1] + x for q in states for x in "ab"}
    return states, "ab", delta, "bb", ["ab", "aa"]


def majority():
    return 2, 2, 2, -3


def proves_no_line(points, labels, multipliers):
    signed = [m if label else -m for m, label in zip(multipliers, labels, strict=True)]
    sums = [sum(s * z[i] for s, z in zip(signed, points, strict=True)) for i in range(len(points[0]))]
    return min(multipliers) >= 0 and sum(multipliers) == 1 and sum(signed) == 0 and not any(sums)


def one_layer():
    return True, False, False, True, False, True


def pair_net(dfa):
    pairs = [(q, a) for q in dfa.states for a in dfa.alphabet]
    after = [dfa.start, *(dfa.transitions[pair] for pair in pairs)]
    W = [[0] * len(after)] + [[int(k == q) for k in after] for q, _ in pairs]
    U = [[0] * len(dfa.alphabet)] + [[int(x == a) for x in dfa.alphabet] for _, a in pairs]
    return W, U, [0] + [-1] * len(pairs), [1] + [0] * len(pairs), [int(k in dfa.accept) for k in after], 0


def no_bb():
    return [[1, 1], [1, 0]], [[0, -1], [-1, 0]], [0, 0], [1, 0], [1, 1], 0


def count_states(W, U, b, h0):
    found = [tuple(h0)]
    for h in found:
        for column in zip(*U, strict=True):
            sums = [
                sum(w * v for w, v in zip(row, h, strict=True)) + u + c for row, u, c in zip(W, column, b, strict=True)
            ]
            after = tuple(min(1, max(0, s)) for s in sums)
            if after not in found:
                found.append(after)
    return len(found)


def hats(n):
    H = [[(j == k - 1) - 2 * (j == k) + (j == k + 1) + (k == j == 0) for j in range(n - 1)] for k in range(n)]
    return H, [1] + [0] * (n - 1)


def shortest_difference(left, right):
    word = {(left.start, right.start): ""}
    queue = list(word)
    for p, q in queue:
        if (p in left.accept) != (q in right.accept):
            return word[p, q]
        for x in left.alphabet:
            pair = left.transitions[p, x], right.transitions[q, x]
            if pair not in word:
                word[pair] = word[p, q] + x
                queue.append(pair)
    return None


def real_start(first, again):
    def number(bits):
        return sum(Fraction(2 * bit, 3**n) for n, bit in enumerate(bits, start=1))

    return number(first) + number(again) / (1 - Fraction(1, 3 ** len(again))) / 3 ** len(first)


def fewest():
    return [[-1, -1], [1, 0]], [[0, 2], [-2, -1]], [0, 0], [1, 0], [0, 1], 0


def table_number(dfa, symbol):
    """From the last digit to the first."""
    order = [q for q in dfa.states if q in dfa.accept] + [q for q in dfa.states if q not in dfa.accept]
    number, digits = Fraction(0), 0
    for q in reversed(order):
        number, digits = number / 3, digits + 1
        for _ in range(order.index(dfa.transitions[q, symbol])):
            number, digits = (number + 2) / 3, digits + 1
    return number, digits


def nfa_net(nfa):
    net = nfa_to_rnn(nfa)
    return net.rnn.W.dense(), net.rnn.U.dense(), list(net.rnn.b), list(net.rnn.h0), list(net.w), net.c


def bracket_net(m):
    """Unit i < m + 1 says that at most i brackets are open; the last one says that there was a fault."""
    n = m + 2
    W = np.eye(n, k=1, dtype=int) + np.eye(n, k=-1, dtype=int)
    U, b = np.array([[-1, 0]] * n), np.zeros(n, dtype=int)
    W[m, m + 1], b[m] = 0, 1  # never are more than m + 1 open
    W[0, [m, m + 1]] += 1, -1
    W[0, 0], b[0] = -1, -1
    W[m + 1], b[m + 1] = 0, 2
    W[m + 1, [0, m, m + 1]] = 1, -2, 2
    return W.tolist(), U.tolist(), b.tolist(), [1] * (m + 1) + [0], [1] + [0] * (m + 1), 0


RIGHT = [
    second_last,
    majority,
    proves_no_line,
    one_layer,
    pair_net,
    no_bb,
    count_states,
    hats,
    table_number,
    nfa_net,
    bracket_net,
    shortest_difference,
    real_start,
    fewest,
]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def certificate_without(part):
    """The check of a certificate that leaves out one of its four conditions."""

    def proves(points, labels, multipliers):
        signed = [m if label else -m for m, label in zip(multipliers, labels, strict=True)]
        conditions = {
            "signs": min(multipliers) >= 0,
            "sum": sum(multipliers) == 1,
            "balance": sum(signed) == 0,
            "points": not any(
                sum(s * z[i] for s, z in zip(signed, points, strict=True)) for i in range(len(points[0]))
            ),
        }
        return all(holds for name, holds in conditions.items() if name != part)

    return proves


def certificate_in_floats(points, labels, multipliers):
    signed = [float(m if label else -m) for m, label in zip(multipliers, labels, strict=True)]
    sums = [sum(s * z[i] for s, z in zip(signed, points, strict=True)) for i in range(len(points[0]))]
    zero = all(abs(value) < 1e-9 for value in (*sums, sum(signed), sum(map(float, multipliers)) - 1))
    return min(multipliers) >= 0 and zero


def net_without_start(dfa):
    W, U, b, h0, w, c = pair_net(dfa)
    return W, U, b, [0] * len(h0), w, c


def net_with_a_start_that_stays(dfa):
    W, U, b, h0, w, c = pair_net(dfa)
    return [[1, *W[0][1:]], *W[1:]], U, b, h0, w, c


def net_without_answer_for_the_empty_word(dfa):
    W, U, b, h0, w, c = pair_net(dfa)
    return W, U, b, h0, [0, *w[1:]], c


def transposed_net(dfa):
    W, *rest = pair_net(dfa)
    return [list(column) for column in zip(*W, strict=True)], *rest


def forgiving():
    """No two b at the end: right until the word goes on after bb."""
    return [[0, 0], [1, 0]], [[0, 1], [0, 1]], [0, -1], [0, 0], [0, -1], 1


def longest_first(left, right):
    words = [w for w in all_words("ab", 6) if left.accepts(w) != right.accepts(w)]
    return max(words, key=len) if words else None


def depth_first(letters):
    """The search through pairs of states with its list used as a stack."""

    def search(left, right):
        word = {(left.start, right.start): ""}
        stack = list(word)
        while stack:
            p, q = stack.pop()
            if (p in left.accept) != (q in right.accept):
                return word[p, q]
            for x in letters:
                pair = left.transitions[p, x], right.transitions[q, x]
                if pair not in word:
                    word[pair] = word[p, q] + x
                    stack.append(pair)
        return None

    return search


def words_up_to(length):
    def search(left, right):
        return next((w for w in all_words("ab", length) if left.accepts(w) != right.accepts(w)), None)

    return search


def thirds(first, again):
    bits = [*first, *again * 9]
    return sum(Fraction(2 * bit, 3**n) for n, bit in enumerate(bits, start=1))


def shift_register():
    return [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0], [0, 1], [0, 1]], [0, -1, -1], [0, 0, 0], [0, 0, 1], 0


def contains_abb():
    """Two units of the answer and a third that keeps what was said."""
    W, U, b, h0, _, _ = fewest()
    return [[*row, 0] for row in W] + [[0, 1, 1]], [*U, [0, 0]], [*b, 0], [*h0, 0], [0, 1, 1], 0


def joined(net, unit, entry):
    """A net with one unit more, which goes its own way: relu(W h + b) from a start, and an entry in the readout."""
    (W, U, b, h0, w, c), (own, bias, start) = net, unit
    W = [[*row, 0] for row in W] + [[0] * len(W) + [own]]
    return W, [*U, [0] * len(U[0])], [*b, bias], [*h0, start], [*w, entry], c


def right_for_some_time(dfa):
    """A unit counts down from 90, and another is 1 when it is done."""
    W, U, b, h0, w, c = joined(pair_net(dfa), (1, -1, 90), 0)
    W = [[*row, 0] for row in W] + [[0] * (len(W) - 1) + [-1, 0]]
    return W, [*U, [0] * len(U[0])], [*b, 1], [*h0, 0], [*w, 1], c


WRONG = {
    "03-second-last": [
        lambda: DFA("ab", "ab", {(q, x): x for q in "ab" for x in "ab"}, "b", "a"),
        lambda: ~DFA(*second_last()),
        lambda: DFA(range(3), "ab", {(q, x): min(q + 1, 2) for q in range(3) for x in "ab"}, 0, [2]),
        lambda: ("ab", "ab", {("a", "a"): "a"}, "a", "a"),
        lambda: "(a|b)*a(a|b)",
        lambda: (set(second_last()[0]), *second_last()[1:]),
        lambda: DFA("ab", "xy", {(q, x): q for q in "ab" for x in "xy"}, "b", "a"),
    ],
    "03-threshold": [
        lambda: (1, 1, 1, -2),
        lambda: (2, 2, 2, -1),
        lambda: (1.0, 1.0, 1.0, -1.5),
        lambda: (Fraction(1), Fraction(1), Fraction(1), Fraction(-3, 2)),
        lambda: ((2, 2, 2), -3),
    ],
    "03-certificate": [
        *map(certificate_without, ["signs", "sum", "balance", "points"]),
        certificate_in_floats,
        lambda points, labels, multipliers: not separate(points, labels),
    ],
    "03-one-layer": [
        lambda: (True, False, False, False, False, False),
        lambda: (True,) * 6,
        lambda: (False,) * 6,
        lambda: (1, 0, 0, 1, 0, 1),
        lambda: True,
    ],
    "03-pair-net": [
        net_without_start,
        net_with_a_start_that_stays,
        net_without_answer_for_the_empty_word,
        transposed_net,
        lambda dfa: pair_net(dfa)[:4],
        lambda dfa: pair_net(~dfa),
        right_for_some_time,
    ],
    "03-no-bb": [
        forgiving,
        lambda: pair_net(~DFA.from_regex("(a|b)*bb(a|b)*", "ab")),
        lambda: (np.array([[1.0, 1], [1, 0]]), *no_bb()[1:]),
        lambda: ([[1, 1], [Fraction(1, 2), 0]], *no_bb()[1:]),
        lambda: ([[1, 1], [1, 0]], [0, -1], [0, 0], [1, 0], [1, 1], 0),
        lambda: ([[1, 1], [1, 0]], [[0, -1], [-1, 0]], 0, [1, 0], [1, 1], 0),
        lambda: ([[1, 1], [1, 0]], [[0, -2], [-2, 0]], [0, 0], [2, 0], [Fraction(1, 2)] * 2, 0),
    ],
    "03-count-states": [
        lambda W, U, b, h0: 2 ** len(b) + 1,
        lambda W, U, b, h0: count_states(W, [row[:1] for row in U], b, h0),
        lambda W, U, b, h0: count_states([list(row) for row in zip(*W, strict=True)], U, b, h0),
    ],
    "03-hat": [
        lambda n: ([[(j == k - 1) - 2 * (j == k) + (j == k + 1) for j in range(n - 1)] for k in range(n)], [0] * n),
        lambda n: (hats(n + 1)[0][:n], hats(n)[1]),
        lambda n: (hats(n)[0], 1),
        lambda n: hats(n)[0],
        lambda n: ([[float(a) for a in row] for row in hats(n)[0]], hats(n)[1]),
        lambda n: (hats(n)[0], [0] * n),
    ],
    "03-sets": [
        lambda nfa: pair_net(nfa.determinize()),
        lambda nfa: (*nfa_net(nfa)[:2], [0] * len(nfa_net(nfa)[2]), *nfa_net(nfa)[3:]),
        lambda nfa: nfa_net(NFA(nfa.states, nfa.alphabet, nfa.transitions, [0], nfa.accept)),
        lambda nfa: nfa_net(nfa)[:5],
    ],
    "03-depth": [
        lambda m: bracket_net(m + 1),
        lambda m: bracket_net(max(1, m - 1)),
        lambda m: bracket_net(min(m, 6)),
        lambda m: (*bracket_net(m)[:3], [0] * (m + 2), *bracket_net(m)[4:]),
        lambda m: ([[1]], [[1, -1]], [0], [0], [-1], 1),
        lambda m: bracket_net(m)[:5],
    ],
    "03-distinguish": [
        longest_first,
        lambda left, right: shortest_difference(left, right) or None,
        lambda left, right: shortest_difference(left, right) or "",
        lambda left, right: "b" * len(shortest_difference(left, right) or ""),
        lambda left, right: ["a"],
        lambda left, right: "c",
        lambda left, right: not left.equivalent(right),
        depth_first("ab"),
        depth_first("ba"),
        words_up_to(4),
        words_up_to(10),
    ],
    "03-real-start": [
        lambda first, again: real_start(first, again) / 2,
        lambda first, again: float(real_start(first, again)),
        lambda first, again: real_start(first, [0]),
        lambda first, again: 3 * real_start(first, again),
        thirds,
    ],
    "03-fewest": [
        contains_abb,
        lambda: pair_net(DFA.from_regex("(a|b)*abb", "ab")),
        lambda: shift_register()[:5],
        lambda: (*fewest()[:4], [0, 2], 0),
        lambda: (*fewest()[:3], [0, 0], *fewest()[4:]),
        lambda: joined(fewest(), (1, 1, 0), 1),
    ],
}


class TestChapter03(ExerciseLaws):
    exercises, answers, wrong = chapter_03.EXERCISES, ANSWERS, WRONG


# Malformed designs get one sentence

MALFORMED = {
    ("03-certificate", 0): "On example 6 of 8: this is not a proof: a multiplier is negative, -1/2.",
    ("03-certificate", 1): "On example 2 of 8: this is not a proof: the multipliers add up to 0 and not to 1.",
    ("03-certificate", 2): (
        "On example 5 of 8: this is not a proof: with the signs the multipliers add up to 1 and not to 0."
    ),
    ("03-certificate", 3): (
        f"On example 8 of 8: this is not a proof: with the signs the points add up to ({3 * TINY}) and not to 0."
    ),
    ("03-pair-net", 2): (
        "On example 2 of 5: the output after the empty word '' is 0 and should be 1; no shorter word shows a mistake."
    ),
    ("03-pair-net", 6): (
        f"On example 1 of 5: the output after {'0' * 91!r} is 1 and should be 0; no shorter word shows a mistake."
    ),
    ("03-no-bb", 0): "The output after 'bba' is 1 and should be 0; no shorter word shows a mistake.",
    ("03-no-bb", 2): "Expected a net, but W[0, 0] is the float64 1.0: exact numbers are integers and Fractions.",
    ("03-hat", 0): "On example 1 of 4: at v = 0 your function for k = 0 is 0, and it should be 1.",
    ("03-distinguish", 7): "On example 6 of 7, the values differ.",
    ("03-distinguish", 10): "On example 7 of 7, the values differ.",
    ("03-real-start", 0): "On example 1 of 5: its bits are [0, 1, 1] and should be [1, 0, 0].",
    ("03-real-start", 2): "On example 2 of 5: its bits are [0, 0] and should be [1, 1].",
    ("03-fewest", 0): "The output after 'abba' is 1 and should be 0; no shorter word shows a mistake.",
    ("03-fewest", 5): "The output after 'a' is 1 and should be 0; no shorter word shows a mistake.",
    ("03-second-last", 0): "The machine accepts 'a' and should reject it; no shorter word shows a mistake.",
    ("03-second-last", 4): "Expected DFA(states, alphabet, transitions, start, accept) or these five in a tuple, got "
    "the string '(a|b)*a(a|b)'.",
    ("03-second-last", 5): "Expected DFA(states, alphabet, transitions, start, accept), but the states must have an "
    "order, and a set has none: give a list, a tuple or a string.",
    ("03-threshold", 0): "On example 4 of 8: w . x + b is 0 at x = (0, 1, 1), neither at least 1 nor at most -1.",
    ("03-threshold", 4): "On example 1 of 8: expected (w1, w2, w3, b), 4 integers, got the tuple ((2, 2, 2), -3).",
    ("03-one-layer", 0): "4 of the 6 answers are right.",
    ("03-pair-net", 4): "On example 1 of 5: expected (W, U, b, h0, w, c), 6 values, got a tuple of 4 items.",
    ("03-no-bb", 1): "The net has 7 units, and at most 2 are asked for.",
    ("03-no-bb", 3): "Expected weights and a start in integers, got fractions among them.",
    ("03-no-bb", 4): "Expected U as a list of rows, one per unit, got the list [0, -1].",
    ("03-no-bb", 5): "Expected b as a list of numbers, one per unit, got the int 0.",
    ("03-no-bb", 6): "Expected integers in the readout, got the Fraction 1/2.",
    ("03-hat", 3): "On example 1 of 4: expected (H, c) with 3 rows of 2 integers and 3 integers, for n = 3, "
    "got the list [[-1, 1], [1, -2], [0, 1]].",
    ("03-distinguish", 3): "On example 1 of 7: both machines reject 'bb', which does not tell them apart.",
    ("03-distinguish", 5): "On example 1 of 7: expected a string over 'ab', or None, got the string 'c'.",
    ("03-real-start", 1): (
        "On example 1 of 5: expected an exact number, a Fraction or int, got the float 0.6666666666666666."
    ),
    ("03-real-start", 3): "On example 1 of 5: the start lies between 0 and 1, and 2 does not.",
    ("03-fewest", 1): "The net has 9 units, and at most 3 are asked for.",
}


@pytest.mark.parametrize(("name", "number"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert check(name, WRONG[name][number]).message == MALFORMED[name, number]


@pytest.mark.parametrize("number", range(7, 11))
def test_stated_machines_tell_a_search_that_does_not_find_the_shortest_words(number):
    assert check("03-distinguish", WRONG["03-distinguish"][number], random_inputs=0).status == "differs"


def reading_in_binary(wait):
    """The right net, a unit with another value for each word, and one that is wrong when this is over 2 ** ``wait``."""
    W, U, b, h0, w, c = joined(fewest(), (2, 0, 1), 0)
    W = [[*row, 0] for row in W] + [[0, 0, 1, 0]]
    return W, [*U[:2], [0, 1], [0, 0]], [*b, -(2**wait)], [*h0, 0], [*w, 1], c


def test_a_net_with_too_many_states_is_tried_on_words():
    assert right_net(reading_in_binary(MOST_LETTERS), ENDS_IN_ABB)
    with pytest.raises(
        ValueError, match=rf"the output after 'a{{10}}'\.\.\.'a{{10}}', 41 letters is {2**39} and should be 0$"
    ):
        right_net(reading_in_binary(39), ENDS_IN_ABB)
    with pytest.raises(ValueError, match=r", 201 letters is .* and should be 0$"):
        right_net(reading_in_binary(LONG), ENDS_IN_ABB)
    with pytest.raises(ValueError, match=r"the output after 'aaba' is 1 and should be 0; no shorter word"):
        right_net(reading_in_binary(3), ENDS_IN_ABB)


@pytest.mark.full
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32))
def test_the_word_that_a_wrong_net_is_told_is_a_first_one(seed):
    """Against a search through all words in their order, run one by one."""
    generator = np.random.default_rng(seed)
    net = [part.copy() for part in map(np.array, pair_net(parity()))]
    part = net[generator.choice([0, 1, 2, 3, 4])]
    part[tuple(generator.integers(part.shape))] += generator.choice([-1, 1])
    wrong = (word for word in all_words("01", 7) if net_outputs(tuple(net), word, "01")[-1] != parity().accepts(word))
    word = next(wrong, None)
    if word is None:
        assert right_net(tuple(net), parity())
    else:
        with pytest.raises(ValueError, match=f"after {repr(word) if word else 'the empty word'}.* no shorter word"):
            right_net(tuple(net), parity())


def test_a_missing_transition_of_a_machine_is_named():
    assert "'a' on symbol 'b'" in check("03-second-last", WRONG["03-second-last"][3]).message


# Other right answers pass, and what the texts say of these exercises holds


def test_other_right_designs_pass_too():
    assert check("03-second-last", lambda: DFA(*second_last()))
    states, _, *rest = second_last()
    assert check(
        "03-second-last", lambda: [[*states, "c"], "ba", {**rest[0], ("c", "a"): "c", ("c", "b"): "c"}, *rest[1:]]
    )
    assert check("03-threshold", lambda: [4, 5, 4, -6])
    assert check("03-fewest", shift_register)
    assert check("03-fewest", lambda: joined(fewest(), (1, 1, 0), 0)).message == "It is right. 6 points."
    assert check("03-no-bb", lambda: tuple(np.array(part) for part in no_bb()))


def test_units_in_another_order_pass():
    def reversed_net(dfa):
        W, U, b, h0, w, c = pair_net(dfa)
        return [row[::-1] for row in W[::-1]], U[::-1], b[::-1], h0[::-1], w[::-1], c

    assert check("03-pair-net", reversed_net)


def test_any_shortest_word_passes():
    def last_in_the_alphabet(left, right):
        words = (w for w in all_words("ba", 12) if left.accepts(w) != right.accepts(w))
        return next(words, None)

    assert check("03-distinguish", last_in_the_alphabet)


def test_samples_hold_both_answers():
    for name, values in {"03-certificate": {True, False}, "03-distinguish": {True, False}}.items():
        exercise = EXERCISES[name]
        found = {str(exercise.oracle(*case)).startswith(("None", "True")) for case in exercise.all_cases(0, 20)}
        assert found == values


def test_one_layer_where_it_is_said_and_jumps_that_differ_elsewhere():
    """Three sums of ReLUs that are equal to the functions on a grid, where they are linear between neighbours."""
    grid = list(product(range(-3, 4), repeat=2))
    sums = {
        0: lambda u, v: u - max(0, u - v),
        3: lambda u, v: Fraction(abs(u) + abs(v) + abs(u - v), 2),
        5: lambda u, v: abs(u + v) + abs(u - v) - abs(u) - abs(v),
    }
    assert all(FUNCTIONS[k](u, v) == f(u, v) for k, f in sums.items() for u, v in grid)
    assert layers_by_jumps() == tuple(k in sums for k in range(6)) == one_layer()
    u, v = variable("u"), variable("v")
    size = relu(v) + relu(-v)
    least = u - relu(u - v)
    largest = relu(u - relu(v)) + relu(v)
    others = {
        1: (relu(least), (0, 1), (1, 0)),
        2: (u + v - largest + relu(-least), (0, 1), (1, 0)),
        4: (relu(u - size) + relu(size - u), (1, 0), (0, 1)),
    }
    for k, (f, (p, q), (m, n)) in others.items():
        assert all(FUNCTIONS[k](i, j) == f.evaluate({"u": i, "v": j}) for i, j in grid)
        here, there = (gradient_jump(f, {"u": s * p, "v": s * q}, {"u": m, "v": n}) for s in (1, -1))
        assert here != there


def test_two_units_are_a_machine_with_as_many_states_as_the_language_needs():
    """A proof for every word: each state is one vector, and each step from it is that of the machine."""
    for net, (states, table) in {
        no_bb: ({"clean": (1, 0), "b": (0, 1), "bb": (0, 0)}, {"clean": ("clean", "b"), "b": ("clean", "bb")}),
        fewest: (
            {"-": (1, 0), "a": (0, 0), "ab": (2, 0), "abb": (0, 1)},
            {"-": ("a", "-"), "a": ("a", "ab"), "ab": ("a", "abb"), "abb": ("a", "-")},
        ),
    }.items():
        W, U, b, h0, w, c = (np.array(part) for part in net())
        good = {"abb"} if net is fewest else {"clean", "b"}
        assert states[next(iter(states))] == tuple(h0)
        for q, h in states.items():
            assert w @ h + c == (q in good)
            for x, after in enumerate(table.get(q, (q, q))):
                assert tuple(np.maximum(W @ h + U[:, x] + b, 0)) == states[after]


def test_a_rational_start_gives_bits_that_repeat_and_denominators_do_not_grow():
    z = real_start([1, 0, 1], [0, 1])
    seen = [z]
    for _ in range(20):
        seen.append(3 * seen[-1] - 2 * (seen[-1] >= Fraction(2, 3)))
    assert seen[3:5] * 9 == seen[3:21]
    assert all(z.denominator % state.denominator == 0 for state in seen)


def test_count_states_meets_the_bound():
    """Three bits of memory, and a start that is none of them."""
    shift = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    case = (shift, [[0, 1], [0, 0], [0, 0]], [0, 0, 0], [5, 0, 0])
    assert EXERCISES["03-count-states"].oracle(*case) == count_states(*case) == 2**3 + 1


def test_an_exercise_without_inputs_runs_once_and_says_so():
    calls = []
    result = check("03-second-last", lambda: calls.append(1) or second_last())
    assert len(calls) == 1
    assert result.message == "It is right. 2 points."
    assert check("03-one-layer", lambda: 1 / 0).message == "It stopped."
