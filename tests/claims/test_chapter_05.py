"""The claims that chapter 5 settles: each correction's smallest example, and what is true instead."""

from fractions import Fraction
from itertools import islice, product, repeat
from math import lcm
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import source_step, turing_time, turing_to_layered_rnn, turing_to_rnn, turing_units
from fhx.exact import EOS, SimpleRNN, Step, slu, variable
from fhx.exact.stacks import decode, encode, pop, top
from fhx.machines import TuringMachine, all_words, universal

BRACKETS = TuringMachine(
    {
        ("seek", "a"): ("seek", "a", "R"),
        ("seek", "x"): ("seek", "x", "R"),
        ("seek", "b"): ("match", "x", "L"),
        ("seek", "_"): ("home", "_", "L"),
        ("match", "x"): ("match", "x", "L"),
        ("match", "a"): ("seek", "x", "R"),
        ("home", "x"): ("home", "_", "L"),
        ("home", "_"): ("accept", "_", "L"),
    },
    "seek",
    "accept",
    "reject",
    "_",
    "ab",
)


def small(rules, words="a"):
    """A machine with the rules ``{"qa": "pbL"}`` that starts in q; A is accept."""
    return TuringMachine({tuple(pair): tuple(rule) for pair, rule in rules.items()}, "q", "A", "J", "_", words)


def last_state(tm, word, mistakes):
    """Of the source's step, when the repaired one has the machine's last configuration."""
    read = [*word, *repeat(EOS, len(word) + 2 + tm.decide(word, 99).steps)]
    step = source_step(tm, mistakes=mistakes)
    *_, last = step.run([[int(a == x) for a in (*tm.input_alphabet, EOS)] for x in read])
    return {name: value for name, value in last.items() if value}


def random_machine(seed):
    draw = Random(seed)
    states, symbols = range(draw.randint(1, 4)), "_abc"[: draw.randint(2, 4)]
    goals = [*states, "accept", "reject"]
    rules = {
        (q, a): (draw.choice(goals), draw.choice(symbols), draw.choice("LR"))
        for q, a in product(states, symbols)
        if draw.random() < 0.9
    }
    rules[0, "_"] = (0, "a", draw.choice("LR"))
    return TuringMachine(rules, 0, "accept", "reject", "_", symbols[1:])


def balanced(word):
    """True or False, and None for a word with a bracket that closes none, on which the machine does not halt."""
    depths = [word[:n].count("a") - word[:n].count("b") for n in range(len(word) + 1)]
    return None if min(depths) < 0 else depths[-1] == 0


@pytest.mark.claim("C10")
def test_c10_the_machine_of_the_chapter_decides_brackets_or_goes_on_for_ever():
    net = turing_to_rnn(BRACKETS)
    for word in all_words("ab", 5):
        assert net.decide(word, 200).accepted is BRACKETS.decide(word, 200).accepted is balanced(word)


@pytest.mark.claim("C6")
def test_c6_the_printed_pop_leaves_the_set_of_codes_at_the_first_pop():
    z = variable("z")
    printed, repaired = 3 * z - slu(3 * z - 1), pop(z, top(z))
    for word in product("ab", repeat=4):
        for value, rest in zip(encode(word, "ab"), encode(word[1:], "ab"), strict=True):
            on_top = int(value >= Fraction(2, 3))
            assert repaired.evaluate({"z": value}) == rest
            assert printed.evaluate({"z": value}) == rest + on_top


@pytest.mark.claim("C6")
def test_c6_one_is_in_the_cantor_set_and_no_finite_stack():
    """It is the limit of the stacks a, aa, aaa, ..."""
    assert [1 - encode("a" * n, "a")[0] for n in range(1, 6)] == [Fraction(1, 3**n) for n in range(1, 6)]
    with pytest.raises(ValueError, match="not encode a finite stack"):
        decode([1], "a")


@pytest.mark.claim("C7")
@pytest.mark.parametrize(
    ("mistake", "rules", "word", "wrong"),
    [
        ("pop", {"q_": "A_R"}, "", {"right[_]": 1}),
        ("write", {"qa": "AbL"}, "a", {"right[a]": Fraction(2, 3), "right[b]": 0}),
        ("left end", {"q_": "A_L"}, "", {"A": 2, "left[$]": 0}),
        ("right end", {"q_": "p_R", "p_": "A_L"}, "", {"A": 0}),
    ],
)
def test_c7_the_smallest_examples_of_the_chapter(mistake, rules, word, wrong):
    tm = small(rules)
    right, bad = last_state(tm, word, []), last_state(tm, word, [mistake])
    assert right["A"] == 1
    assert {name: bad.get(name, 0) for name in wrong} == wrong
    assert {name: right.get(name, 0) for name in wrong} != wrong


@pytest.mark.claim("C7")
def test_c7_by_the_display_the_empty_tape_is_not_empty():
    """(4.28) has $ on the left stack and a blank on $ on the right one; the display shows all of both."""
    state = source_step(small({"q_": "A_R"})).h0
    marked = ("_", "a", "$")
    left, right = (decode([state[f"{side}[{a}]"] for a in marked], marked) for side in ("left", "right"))
    assert [*reversed(left), *right] == ["$", "_", "$"]


@pytest.mark.claim("C7")
def test_c7_with_the_extra_blank_the_two_marks_are_never_on_top_together():
    """So (4.33) needs one term more for a blank behind the word; without the blank of (4.28) it would need two."""
    together = {True: 0, False: 0}
    mark = {"left[$]": Fraction(2, 3), "right[$]": Fraction(2, 3)}  # both stacks are the mark alone
    for seed in range(12):
        tm = random_machine(seed)
        step = source_step(tm, layers=2)
        for word in all_words("".join(tm.input_alphabet), 1):
            fed = [[int(a == x) for a in (*tm.input_alphabet, EOS)] for x in (*word, *repeat(EOS, 12))]
            for blank in (True, False):
                start = dict(step.h0) if blank else step.h0 | dict.fromkeys(mark, Fraction(2, 3)) | {"right[_]": 0}
                for state in islice(Step(step.state, step.inputs, start).run(fed), 2 * len(word) + 2, None):
                    together[blank] += mark.items() <= state.items()
    assert together[True] == 0 < together[False]


@pytest.mark.claim("C9")
def test_c9_two_layers_are_enough_and_the_direct_net_needs_no_pause():
    for layers in (2, 3, 4):
        net = turing_to_layered_rnn(BRACKETS, layers=layers)
        assert [net.decide(word, 99) for word in ("", "ab")] == [BRACKETS.decide(word, 99) for word in ("", "ab")]
        answer = next(t for t, y in enumerate(net.outputs("ab"), start=1) if y)
        assert answer * layers == turing_time(2, 8, layers) == layers * (2 * 2 + 3 + 8)
    assert next(t for t, y in enumerate(turing_to_rnn(BRACKETS).outputs("ab"), start=1) if y) == 2 + 1 + 8


WEIGHTS = st.fractions(-2, 2, max_denominator=6)


@pytest.mark.claim("C10", "C12")
@settings(deadline=None)
@given(st.lists(st.lists(WEIGHTS, min_size=5, max_size=5), min_size=2, max_size=2), st.text("01", max_size=25))
def test_c10_after_t_steps_the_numbers_have_of_the_order_of_t_digits(rows, word):
    """Rows of W (two columns), U (one), b and h_0: the proposition's D and its bound on the integers."""
    W, U, b, h0 = [r[:2] for r in rows], [[r[2]] for r in rows], [r[3] for r in rows], [r[4] for r in rows]
    D = lcm(*(Fraction(x).denominator for r in rows for x in r))
    largest = max(1, *(sum(map(abs, r[:4])) for r in rows), *map(abs, h0))
    for t, state in enumerate(SimpleRNN(W, U, b, h0, "relu").reference_states([[int(x)] for x in word]), start=1):
        integers = [D ** (t + 1) * Fraction(value) for value in state]
        assert all(n.denominator == 1 and abs(n) <= (D * largest) ** (t + 1) for n in integers)


@pytest.mark.claim("C10")
def test_c10_silence_is_no_answer():
    """A bound that is too small turns a member into none, and one on which the machine runs on is silent for ever."""
    net = turing_to_rnn(BRACKETS)
    assert BRACKETS.decide("aabb", 99) == (True, 18)
    assert [net.decide("aabb", n).accepted for n in (17, 18)] == [None, True]
    assert not any(islice(net.outputs("b"), 300))


@pytest.mark.claim("E2")
@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_e2_units_are_at_most_the_stated_count(seed):
    tm = random_machine(seed)
    states, symbols = len(tm.states), len(tm.tape_alphabet)
    assert turing_to_rnn(tm).units <= turing_units(tm) <= 3 * states * symbols + 18 * symbols


@pytest.mark.claim("E2")
def test_e2_the_universal_machine_takes_121_units():
    assert turing_to_rnn(universal()).units == turing_units(universal()) == 121
