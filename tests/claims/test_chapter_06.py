"""The claims that chapter 6 settles: each correction's smallest example, and what is true instead."""

from fractions import Fraction
from itertools import chain, islice, repeat
from math import log2

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhx.compile import (
    copy_words,
    language_to_rnn,
    turing_to_rnn,
    with_advice,
)
from fhx.exact import HaltingNet, SimpleRNN
from fhx.exact.stacks import encode
from fhx.experiments import finite_precision, stored
from fhx.machines import TuringMachine, all_words
from fhx.precision import certified_steps, exact_height, first_wrong_step, lossy_length, significand_bits

PRINTED = "#aa#bb#aaaa#abab#baba#bbbb#aaaaa#"


def four_lines(word, listed, symbols=1000):
    """The machine of the proof of Theorem 4.7, line by line; None: no answer yet."""
    other = ""
    for symbol in islice(listed, symbols):
        if symbol == "#":
            if other == word:
                return True
            other = ""
        else:
            other += symbol
            if len(other) > len(word):
                return False
    return None


def popped_as_printed(number):
    """The symbols # of a stack of one number, by (4.25) and (4.26): nothing where # is not on top."""
    while True:
        top = min(1, max(0, 3 * number - 1))
        yield "#" if top == 1 else ""
        number = 3 * number - top


def first_answer(outputs, limit):
    return next(((t, y) for t, y in enumerate(islice(outputs, limit), start=1) if y), None)


@pytest.mark.claim("C11")
def test_c11_w_u_and_b_are_one_rational_triple_for_all_languages_and_the_start_tells_them_apart():
    """So with a rational start too there are countably many nets, and they are run by hand."""
    nets = [language_to_rnn("ab", words) for words in (copy_words, [], ["b", "ab"])]
    (weights,) = {(net.empty.rnn.W, net.empty.rnn.U, net.empty.rnn.b) for net in nets}
    weights = [*weights[0].entries.values(), *weights[1].entries.values(), *weights[2]]
    assert all(isinstance(weight, int | Fraction) for weight in weights)
    words = list(all_words("ab", 4))
    for net, wanted in zip(nets, ({"", "aa", "bb", "aaaa", "abab", "baba", "bbbb"}, set(), {"b", "ab"}), strict=True):
        assert {word for word in words if net.decide(word).accepted} == wanted


@pytest.mark.claim("C11")
def test_c11_one_column_of_w_holds_the_list_as_well_as_the_start_does():
    """The column of the unit ``start``, which the lemma has already."""
    twice = language_to_rnn("ab", copy_words)
    full = twice.truncated(60)
    W, start = [list(row) for row in full.rnn.W.dense()], list(full.rnn.h0)
    for unit in twice.reals:
        W[unit][0] += start[unit]
        start[unit] = 0
    assert start == [1] + [0] * (full.units - 1)
    decides_pairs(HaltingNet(SimpleRNN(W, full.rnn.U, full.rnn.b, start, "relu"), full.w, full.c, "ab"), full)


@pytest.mark.claim("C11")
def test_c11_biases_hold_the_list_as_well_as_the_start_does():
    """A unit more to each real, relu(list - 1 + start), that goes where the unit with the list goes."""
    twice = language_to_rnn("ab", copy_words)
    full, more = twice.truncated(60), len(twice.reals)
    start, bias = list(full.rnn.h0), list(full.rnn.b)
    W = [[*row, *(row[unit] for unit in twice.reals)] for row in full.rnn.W.dense()]
    W += [[1] + [0] * (full.units + more - 1) for _ in twice.reals]
    bias += [start[unit] - 1 for unit in twice.reals]
    for unit in twice.reals:
        start[unit] = 0
    U = [*full.rnn.U.dense(), *more * [[0] * full.rnn.U.columns]]
    net = SimpleRNN(W, U, bias, start + [0] * more, "relu")
    decides_pairs(HaltingNet(net, [*full.w, *(full.w[unit] for unit in twice.reals)], full.c, "ab"), full)


def decides_pairs(net, full):
    for word in all_words("ab", 4):
        assert net.answer(word, 50) == full.answer(word, 50)
        assert net.answer(word, 50).value == (1 if word[: len(word) // 2] * 2 == word else -1)


@pytest.mark.claim("C11")
def test_c11_the_printed_list_accepts_a_word_of_five_letters_and_loses_one_of_six():
    continued = PRINTED + "aabaab#aaaaaaaa#"
    assert four_lines("aaaaa", continued) is True
    assert four_lines("aaaaaa", continued) is False
    repaired = language_to_rnn("ab", copy_words)
    assert [repaired.decide(word).accepted for word in ("aaaaa", "aaaaaa")] == [False, True]
    right = "".join(word + "#" for word in islice(copy_words(), 8))
    assert right == PRINTED.replace("aaaaa#", "aaaaaa#")


@pytest.mark.claim("C11")
@pytest.mark.parametrize(("words", "word"), [([], ""), ([""], "a")])
def test_c11_where_a_finite_list_ends_the_four_lines_never_answer(words, word):
    """If blanks behind the list are not symbols, as on an empty stack; if they count, the third line rejects."""
    listed = chain("".join(w + "#" for w in words), repeat(""))
    assert four_lines(word, listed) is None
    assert four_lines(word, chain("".join(w + "#" for w in words), repeat("_"))) is False
    assert language_to_rnn("a", words).decide(word).accepted is False


@pytest.mark.claim("C11")
def test_c11_without_a_number_for_the_mark_two_languages_have_one_list():
    lists = ["".join(w + "#" for w in words) for words in ([], [""])]
    bare = [encode([c if c != "#" else None for c in text], "a") for text in lists]
    assert bare[0] == bare[1]
    assert encode(lists[0], "a#") != encode(lists[1], "a#")
    assert [len(language_to_rnn(alphabet, []).reals) for alphabet in ("a", "ab")] == [2, 3]


@pytest.mark.claim("C11")
def test_c11_the_printed_pop_reads_one_mark_for_ever():
    (number,) = encode("#", "#")
    assert list(islice(popped_as_printed(number), 50)) == ["#"] * 50
    assert four_lines("a", popped_as_printed(number)) is None
    assert four_lines("", popped_as_printed(number)) is True


@pytest.mark.claim("C11")
def test_c11_the_quantifier_lets_a_net_say_one_on_every_word_of_the_empty_language():
    """Outputs at 0 < t < T alone are asked to be 0."""
    bare = HaltingNet(SimpleRNN([[0]], [[0, 1]], [0], [0], "relu"), [-2], 1, "a")
    for n in range(4):
        outputs = list(islice(bare.outputs("a" * n), n + 3))
        assert outputs == [1] * n + [-1] * 3
        assert first_answer(outputs[n:], 3) == (1, -1)
    outputs = list(islice(language_to_rnn("a", []).outputs("aa"), 40))
    assert sorted(outputs) == [-1] + [0] * 39


LETTERS = TuringMachine(
    {("take", a): ("take", a, "R") for a in "xuyn"}
    | {("take", "1"): ("back", "x", "L"), ("take", "_"): ("last", "_", "L")}
    | {(q, a): (q, a, "L") for q in ("back", "last") for a in "xu"}
    | {("back", a): ("take", "u", "R") for a in "yn"}
    | {("last", "y"): ("accept", "y", "L"), ("last", "n"): ("reject", "n", "L")},
    "take",
    "accept",
    "reject",
    "_",
    "1yn",
)
"""Crosses off a letter y or n to the left for each 1 of the word, and answers with the next."""


@pytest.mark.claim("C12")
@settings(deadline=None, max_examples=15)
@given(st.text("yn", min_size=8, max_size=20), st.integers(3, 4))
def test_c12_a_machine_reads_advice_beside_the_word_in_polynomial_time(advice, base):
    """The lemma of a tape that is not empty: 2 (n + 1)^2 steps to read letter n + 1, whatever the letters are."""
    net = with_advice(LETTERS, advice, base)
    for n in range(7):
        outputs = list(islice(net.outputs("1" * n), 2 * (n + 1) ** 2 + 10))
        time = 2 * (n + 1) ** 2 + 1
        assert [(t, y) for t, y in enumerate(outputs, start=1) if y] == [(time, 1 if advice[n] == "y" else -1)]


LEFTWARD = {
    ("q", "_"): ("p", "_", "L"),
    ("q", "1"): ("p", "1", "L"),
    ("p", "y"): ("accept", "y", "L"),
    ("p", "n"): ("reject", "n", "L"),
}
"""Answers with the letter left of the word, without a move to the right."""
NAMED = {("q", "y"): ("named", "y", "R"), ("q", "n"): ("named", "n", "R")}
"""Rules for other words, which give the letters of the advice their numbers on the left stack."""


@pytest.mark.claim("C12")
@settings(deadline=None, max_examples=10)
@given(st.text("yn", min_size=1, max_size=6), st.integers(0, 3))
def test_c12_a_machine_that_only_moves_left_needs_the_letters_of_the_advice_named(advice, n):
    with pytest.raises(ValueError, match="has no name on the left stack"):
        with_advice(TuringMachine(LEFTWARD, "q", "accept", "reject", "_", "1yn"), advice)
    net = with_advice(TuringMachine(LEFTWARD | NAMED, "q", "accept", "reject", "_", "1yn"), advice)
    outputs = list(islice(net.outputs("1" * n), n + 8))
    assert [(t, y) for t, y in enumerate(outputs) if y] == [(n + 2, 1 if advice[0] == "y" else -1)]


NUMBERS = st.fractions(-2, 2, max_denominator=9)
CHANGES = st.fractions(Fraction(-1, 1000), Fraction(1, 1000), max_denominator=10**5)


def flat_net(numbers):
    """Two units, two input symbols: W, U, b, h_0, w, c."""
    W, U, b, h0, w, c = (
        [numbers[0:2], numbers[2:4]],
        [numbers[4:6], numbers[6:8]],
        *(numbers[k : k + 2] for k in (8, 10, 12)),
        numbers[14],
    )
    return HaltingNet(SimpleRNN(W, U, b, h0, "relu"), w, c, "a")


@pytest.mark.claim("C12", "E4")
@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(NUMBERS, CHANGES), min_size=15, max_size=15), st.integers(0, 4))
def test_e4_changed_weights_change_outputs_by_no_more_than_the_theorem_says(pairs, n):
    numbers, changes = map(list, zip(*pairs, strict=True))
    epsilon = max(map(abs, changes))
    assume(epsilon)
    K = (2 + 2) * (max(1, *map(abs, numbers)) + 1)
    before = flat_net(numbers).outputs("a" * n)
    after = flat_net([x + e for x, e in zip(numbers, changes, strict=True)]).outputs("a" * n)
    for t, (y, z) in enumerate(islice(zip(before, after, strict=True), 8), start=1):
        assert abs(y - z) <= epsilon * (t + 2) * K ** (t + 2)


@pytest.mark.claim("E3")
def test_e3_first_wrong_steps_lie_between_prediction_and_loss():
    """Certified below, as proved; above, as measured, no later than a number alone loses letters, though the net's own
    number may go on to change; in base 4, whose weights are exact, both are near p / log2 B."""
    points = [p["point"] | p["result"] for p in stored("finite_precision")["points"] if "type" in p["point"]]
    points = [p for p in points if "machine" not in p]
    assert len(points) == 16
    for p in points:
        assert p["certified length"] < p["wrong step"] <= p["wrong answer"] <= p["lossy length"]
        depth = significand_bits(getattr(torch, p["type"])) / log2(p["base"])
        assert 0 <= p["lossy length"] - depth <= 3
        if p["base"] == 4:
            assert depth - 2 <= p["certified length"] < p["wrong step"] <= depth + 1
            assert p["exact height"] <= p["certified length"] <= p["exact height"] + 2


@pytest.mark.claim("E3")
@pytest.mark.parametrize("base", finite_precision.BASES)
@pytest.mark.parametrize("name", finite_precision.TYPES)
def test_e3_a_number_alone_loses_letters_from_the_lossy_length_on(name, base):
    """Sums of floats that are added exactly and then rounded: what the proposition of the chapter says."""
    dtype = getattr(torch, name)
    n, p = lossy_length(base, dtype), significand_bits(dtype)

    def rounded(x):
        places = p if x < 1 else p - 1 if x < 2 else None
        return Fraction(round(x * 2**places), 2**places)  # ties to even

    assert rounded(1 - Fraction(1, base**n)) == 1
    number = rounded(1 - Fraction(1, base))
    for k in range(2, n):
        number = rounded(number + Fraction(base - 1, base**k))
    for k in range(n, n + 30):
        assert rounded(number + Fraction(base - 1, base**k)) == number


@pytest.mark.claim("E3")
def test_e3_the_net_s_own_number_leaves_its_range_when_letters_no_longer_fit():
    net, n = turing_to_rnn(finite_precision.there_and_back(), 4), lossy_length(4, torch.float16)
    kept = net.rnn.unit_names.index("right[a] keep")
    states = net.to_torch(torch.float16).states(["a" * (n + 13)], 0)[0]
    assert states[n + 1, kept] == 1
    assert states[n + 13, kept] > 1


@pytest.mark.claim("E3")
@pytest.mark.parametrize(("name", "height", "wrong"), [("float16", 2, 6), ("float32", 9, 12)])
def test_e3_in_base_four_the_first_wrong_step_is_where_the_stored_run_has_it(name, height, wrong):
    dtype, net = getattr(torch, name), turing_to_rnn(finite_precision.there_and_back(), 4)
    assert exact_height(net, dtype) == height
    for word in finite_precision.words(height):
        time = 3 * len(word) + 6
        assert certified_steps(net, word, dtype, time) == time
    firsts = [
        [first_wrong_step(net, word, dtype, 3 * n + 6) for word in finite_precision.words(n)]
        for n in (wrong - 1, wrong)
    ]
    assert set(firsts[0]) == {None}
    assert set(firsts[1]) != {None}
    assert wrong <= lossy_length(4, dtype)
