"""Every exercise of chapter 5: a right answer passes, plausible wrong ones fail."""

from fractions import Fraction
from itertools import chain
from math import comb, log2, prod

import pytest
from exercise_laws import ExerciseLaws

from fhx.compile import turing_to_rnn, turing_units
from fhx.exact.stacks import encode
from fhx.exercises import chapter_05, check
from fhx.exercises.chapter_05 import balanced, in_blocks, power_of_two
from fhx.exercises.evaluate_turing import short
from fhx.machines import TURING_MACHINES, TuringMachine, all_words

EXERCISES = {exercise.id: exercise for exercise in chapter_05.EXERCISES}
HALF = Fraction(1, 2)


def code(word, alphabet, base):
    if not word:
        return [0] * len(alphabet)
    below = code(word[1:], alphabet, base)
    return [Fraction((base - 1) * (a == word[0]) + v, base) for a, v in zip(alphabet, below, strict=True)]


def pop_numbers(base):
    return base, base - 1, base, 1


def tolerant_top(base, error):
    gap = Fraction(base - 2, base) - 2 * error
    return (1 / gap, (Fraction(1, base) + error) / gap) if gap > 0 else None


BRACKETS = {
    ("begin", "a"): ("seek", "A", "R"),
    ("begin", "_"): ("accept", "_", "R"),
    ("seek", "a"): ("seek", "a", "R"),
    ("seek", "x"): ("seek", "x", "R"),
    ("seek", "b"): ("match", "x", "L"),
    ("seek", "_"): ("home", "_", "L"),
    ("match", "x"): ("match", "x", "L"),
    ("match", "a"): ("seek", "x", "R"),
    ("match", "A"): ("seek", "X", "R"),
    ("home", "x"): ("home", "x", "L"),
    ("home", "X"): ("accept", "X", "R"),
}


def halting_brackets():
    return TuringMachine(BRACKETS, "begin", "accept", "reject", "_", "ab")


POWERS = {
    ("first", "a"): ("even", "_", "R"),
    ("even", "x"): ("even", "x", "R"),
    ("even", "_"): ("accept", "_", "R"),
    ("even", "a"): ("odd", "x", "R"),
    ("odd", "x"): ("odd", "x", "R"),
    ("odd", "a"): ("more", "a", "R"),
    ("odd", "_"): ("back", "_", "L"),
    ("more", "x"): ("more", "x", "R"),
    ("more", "a"): ("odd", "x", "R"),
    ("back", "a"): ("back", "a", "L"),
    ("back", "x"): ("back", "x", "L"),
    ("back", "_"): ("even", "_", "R"),
}


def powers():
    return TuringMachine(POWERS, "first", "accept", "reject", "_", "a")


def sets(tm):
    """The sets of the formula: states and symbols by move, pairs that stay, letters."""
    rules = tm.transitions.values()
    to = {move: {q for q, _, d in rules if d == move} for move in "LR"}
    written = {move: {b for _, b, d in rules if d == move} for move in "LR"}
    letters = set(tm.input_alphabet) - {tm.blank}
    right = (letters | written["L"]) - {tm.blank}
    return to["R"] | {tm.start}, to["L"], right, written["R"], {(q, b) for q, b, d in rules if d == "L"}, letters


def formula(QR, QL, GR, GL, S, letters):
    sizes = (len(part) for part in (QR, QL, GR, GL, S, letters))
    qr, ql, gr, gl, s, n = sizes
    return qr * (gr + 1) + ql * gl + s + 4 * gl + 7 * gr + n + 3


def count_units(tm):
    return formula(*sets(tm))


def one_number(word, alphabet):
    base = 2 * len(alphabet) + 1
    number = sum(Fraction(2 * (alphabet.index(a) + 1), base**t) for t, a in enumerate(word, 1))
    return number, [int(number * base >= 2 * j) for j in range(1, len(alphabet) + 1)]


def without_fractions(W, b, h0):
    """With any common multiple of the denominators, here their product."""
    D = prod(Fraction(x).denominator for x in [*b, *h0, *chain(*W)])
    rows = [[int(D * x) for x in (*row, c)] for row, c in zip(W, b, strict=True)]
    return [*rows, [*(0 for _ in b), D]], [*(int(D * x) for x in h0), D]


def impossible_length(units, steps):
    n, bits = 0, 0.0
    while True:
        n += 1
        bits += steps * log2(sum(comb(units * 2**n, j) for j in range(units + 1)))
        if bits + log2(sum(comb(2**n, j) for j in range(units + 1))) < 2**n:
            return n


def number_counter():
    """After the last a the number is in p, after a b in q, and z is 1 when it is 1."""
    W = [[HALF, 0, 0], [2, 2, -2], [4, 4, -3]]
    U = [[0, -1], [-2, 0], [-4, -1]]
    return W, U, [0, 0, 0], [1, 0, 1], [0, 0, 1], 0


def fewest_brackets():
    """d: how many are open; e: whether there was a b too many; and a unit for the verdict."""
    W = [[1, -1, 0], [-1, 1, 0], [-1, -1, 0]]
    U = [[1, -1, 0], [0, 1, 0], [0, 0, 1]]
    return W, U, [0, 0, 0], [0, 0, 0], [0, 0, 2], -1


RIGHT = [
    code,
    pop_numbers,
    tolerant_top,
    halting_brackets,
    powers,
    count_units,
    one_number,
    without_fractions,
    impossible_length,
    number_counter,
    fewest_brackets,
]
ANSWERS = dict(zip(EXERCISES, RIGHT, strict=True))


def brackets_with(changes, without=()):
    rules = {pair: rule for pair, rule in (BRACKETS | changes).items() if pair not in without}
    return lambda: TuringMachine(rules, "begin", "accept", "reject", "_", "ab")


def powers_with(changes, without=()):
    rules = {pair: rule for pair, rule in (POWERS | changes).items() if pair not in without}
    return lambda: TuringMachine(rules, "first", "accept", "reject", "_", "a")


def counted_with(change):
    """The formula with something forgotten in its sets."""

    def count(tm):
        names = ("QR", "QL", "GR", "GL", "S", "letters")
        return formula(*(dict(zip(names, sets(tm), strict=True)) | change(tm)).values())

    return count


def net_with(right, part, value):
    """A net with one of its six parts replaced."""
    return lambda: (*right()[:part], value, *right()[part + 1 :])


WRONG = {
    "05-code": [
        lambda word, alphabet, base: [v / (base - 1) for v in code(word, alphabet, base)],
        lambda word, alphabet, base: [float(v) for v in code(word, alphabet, base)],
        lambda word, alphabet, base: code(word, alphabet, 3),
        lambda word, alphabet, base: code(word, sorted(set(word)), base),
    ],
    "05-pop": [
        lambda base: (base, 1, base, 1),
        lambda base: (3, 2, 3, 1),
        lambda base: (base, base - 1, 1, 0),
        lambda base: (base, base - 1, base, 0),
        lambda base: (base, base - 1, 2, 1),
        lambda base: (base, base - 1, float(base), 1.0),
        lambda base: (base, base - 1),
    ],
    "05-error": [
        lambda base, error: tolerant_top(base, error) or (base, 1),
        lambda base, error: tolerant_top(base, min(error, Fraction(1, 7))),
        lambda base, error: tolerant_top(base, error) and (10**6, HALF * 10**6 - HALF),
        lambda base, error: tolerant_top(base, error) if error < Fraction(1, base) else None,
        lambda base, error: base,
    ],
    "05-halting": [
        brackets_with({}, [("begin", "_")]),
        brackets_with({("home", "a"): ("home", "a", "L")}),
        brackets_with({("home", "A"): ("accept", "A", "R")}),
        brackets_with({("begin", "a"): ("seek", "a", "R")}),
        brackets_with({("begin", "b"): ("begin", "b", "L")}),
        lambda: BRACKETS,
        lambda: TuringMachine(BRACKETS, "begin", "accept", "reject", "_", "a"),
    ],
    "05-powers": [
        powers_with({}, [("more", "x")]),
        powers_with({("more", "_"): ("back", "_", "L")}),
        powers_with({("first", "a"): ("even", "x", "R")}),
        powers_with({("first", "_"): ("accept", "_", "R")}),
        lambda: TuringMachine({("q", "a"): ("q", "a", "R"), ("q", "_"): ("A", "_", "R")}, "q", "A", "J", "_", "a"),
    ],
    "05-count": [
        counted_with(lambda tm: {"QR": sets(tm)[0] - {tm.start}}),
        counted_with(lambda tm: {"GR": sets(tm)[2] | {tm.blank}}),
        counted_with(lambda tm: {"GL": sets(tm)[3] - {tm.blank}}),
        counted_with(lambda tm: {"letters": set(tm.input_alphabet)}),
        counted_with(lambda tm: {"S": {q for q, _ in sets(tm)[4]}}),
        counted_with(lambda tm: {"QL": sets(tm)[1] - {tm.accept, tm.reject}}),
        lambda tm: float(count_units(tm)),
    ],
    "05-counter": [
        net_with(number_counter, 3, [1, 0, 0]),
        net_with(number_counter, 0, [[HALF, 0, 0], [2, 2, 0], [4, 4, -3]]),
        net_with(number_counter, 0, [[HALF, 0, 0], [2, 2, -2], [4, 4, 0]]),
        net_with(number_counter, 1, [[0, 0], [-2, 0], [-4, -1]]),
        net_with(number_counter, 1, [[0, -1], [0, 0], [-4, -1]]),
        lambda: number_counter()[:5],
        net_with(number_counter, 5, 0.0),
        lambda: ([[0] * 5] * 5, [[0, 0]] * 5, [0] * 5, [0] * 5, [0] * 5, 1),
    ],
    "05-fewest": [
        net_with(fewest_brackets, 5, 0),
        net_with(fewest_brackets, 0, [[1, 0, 0], [-1, 1, 0], [-1, -1, 0]]),
        net_with(fewest_brackets, 0, [[1, -1, 0], [-1, 0, 0], [-1, -1, 0]]),
        net_with(fewest_brackets, 0, [[1, -1, 0], [-1, 1, 0], [-1, 0, 0]]),
        net_with(fewest_brackets, 4, [0, 0, 0]),
        lambda: (*fewest_brackets()[:4], [0, 0, 0], 0),
        lambda: ([[0] * 11] * 11, [[0] * 3] * 11, [0] * 11, [0] * 11, [0] * 11, 1),
    ],
}


class TestChapter05(ExerciseLaws):
    exercises, answers, wrong = chapter_05.EXERCISES, ANSWERS, WRONG


MALFORMED = {
    ("05-pop", 6): "On example 1 of 8: expected (alpha, beta, gamma, delta), 4 numbers, got the tuple (3, 2).",
    (
        "05-error",
        1,
    ): "On example 4 of 7: at v = 1/2, error included, you read 1/2, and stacks come as near as you like to it.",
    ("05-halting", 0): "The machine rejects the empty word '' and should accept it.",
    ("05-halting", 4): "On 'b' there is no answer within 10,000 steps.",
    ("05-halting", 5): "Expected TuringMachine(rules, start, accept, reject, blank, input_alphabet), got a dict "
    "of 11 entries.",
    ("05-halting", 6): "The input alphabet is 'a' and should be 'ab'.",
    ("05-counter", 5): "On example 1 of 129: expected (W, U, b, h0, w, c), 6 values, got a tuple of 5 items.",
    ("05-counter", 7): "On example 1 of 129: the net has 5 units, and at most 4 are asked for.",
    ("05-fewest", 5): "After the empty word '' all outputs are 0 for 20 EOS, and should come to 1.",
    ("05-fewest", 4): "After the empty word '' the answer is -1 and should be 1.",
}


@pytest.mark.parametrize(("name", "number"), MALFORMED)
def test_what_is_wrong_is_said_in_a_sentence(name, number):
    assert check(name, WRONG[name][number]).message == MALFORMED[name, number]


def test_the_code_is_that_of_the_package():
    exercise = EXERCISES["05-code"]
    for case in exercise.all_cases(3, 20):
        assert tuple(exercise.oracle(*case)) == encode(*case)


def test_names_are_counted_as_the_compiler_counts_where_every_rule_is_of_use():
    count = EXERCISES["05-count"].oracle
    for tm in TURING_MACHINES.values():
        assert count(tm) >= turing_units(tm) >= turing_to_rnn(tm).units
    for tm in (halting_brackets(), powers(), *(TURING_MACHINES[name] for name in chapter_05.SMALL)):
        assert count(tm) == turing_units(tm)


def test_languages_against_other_definitions():
    for word in all_words("ab", 8):
        rest = word
        while "ab" in rest:
            rest = rest.replace("ab", "")
        assert balanced(word) == (rest == "")
        assert in_blocks(word) == (word in {"a" * n + "b" * n for n in range(5)})
    assert [n for n in range(70) if power_of_two("a" * n)] == [1, 2, 4, 8, 16, 32, 64]


def test_samples_hold_both_answers():
    errors, counts = EXERCISES["05-error"], EXERCISES["05-counter"]
    assert {errors.oracle(*case) for case in errors.all_cases(0, 20)} == {"a line", "None"}
    assert {list(counts.oracle(*case).values())[-1] for case in counts.all_cases(0, 20)} == {"positive", "not"}


def test_none_is_an_answer_where_no_line_is_right():
    said = check("05-error", lambda base, error: None)
    assert said.status == "differs"
    assert "return missing" not in said.message
    assert dict(said.lines)["expected"] == "a line"


def test_other_right_designs_pass_too():
    assert check("05-pop", lambda base: (base, base - 1, Fraction(base, base - 2), Fraction(1, base - 2)))
    W, U, b, h0, w, c = number_counter()
    assert check("05-counter", lambda: (W, U, b, h0, [0, 0, 6], -5))
    assert check("05-counter", lambda: ([*W, [0] * 3], U, b, h0, w, c)).status == "malformed"
    compiled = turing_to_rnn(TURING_MACHINES["marching"]).units
    assert compiled > 10
    assert check("05-fewest", lambda: (*fewest_brackets()[:4], [0, 0, 1], Fraction(-1, 2))).status == "differs"


def test_words_are_shortened_in_messages():
    assert short("ab") == "'ab'"
    assert short("a" * 30 + "b") == "'aaaaaaaaaa'...'aaaaaaaaab', 31 letters"
