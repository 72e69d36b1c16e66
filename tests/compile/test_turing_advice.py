"""A net with advice does what the machine does on a tape that holds the advice and the word."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turing_strategies import machines_with_words

from fhx.compile import turing_to_rnn, with_advice
from fhx.machines import TURING_MACHINES, TuringMachine, palindromes

STEPS = 30


def answered(tm, advice, word, max_steps):
    """A run on a tape whose cells have numbers: the word from 0 on, the advice below; (1 or -1, steps), or None."""
    tape = dict(enumerate(word)) | {-k: symbol for k, symbol in enumerate(advice, start=1)}
    state, head = tm.start, 0
    for k in range(max_steps + 1):
        rule = tm.transitions.get((state, tape.get(head, tm.blank)))
        if rule is None:
            return (1 if state == tm.accept else -1), k
        state, tape[head], move = rule
        head = head + 1 if move == "R" else max(head - 1, -len(advice))
    return None


@st.composite
def advised(draw):
    """A machine, advice that its left stack has names for, and a word."""
    tm, word = draw(machines_with_words(states=4, symbols=4, longest=4))
    symbols = list(turing_to_rnn(tm).layout.left)
    return tm, draw(st.lists(st.sampled_from(symbols), max_size=6) if symbols else st.just([])), word


@settings(deadline=None, max_examples=60)
@given(advised(), st.integers(3, 5))
def test_the_net_runs_the_machine_on_the_longer_tape(drawn, base):
    tm, advice, word = drawn
    net = with_advice(tm, advice, base)
    outputs = islice(net.outputs(word), len(word) + 1 + STEPS)
    found = [(y, t - len(word) - 1) for t, y in enumerate(outputs, start=1) if y]
    wanted = answered(tm, advice, word, STEPS)
    assert found == ([] if wanted is None else [wanted])
    if wanted:
        assert next(islice(net.run(word), len(word) + 1 + wanted[1] + 1, None)) == {}  # nothing is kept


@settings(deadline=None, max_examples=30)
@given(advised(), st.integers(3, 4))
def test_only_the_start_knows_the_advice(drawn, base):
    tm, advice, _ = drawn
    plain, bare, net = turing_to_rnn(tm, base), with_advice(tm, (), base), with_advice(tm, advice, base)
    parts = [(net.rnn.W, net.rnn.U, net.rnn.b, net.w, net.c) for net in (bare, net)]
    assert parts[0] == parts[1]
    assert (bare.rnn.h0 == net.rnn.h0) == (not advice)
    assert net.units <= plain.units + 4 * len(plain.layout.left)


def test_names_of_the_units_that_hold_advice():
    tm = TuringMachine({("q", "a"): ("q", "a", "R")}, "q", "accept", "reject", "_", "a")
    plain, net = turing_to_rnn(tm), with_advice(tm, "a")
    stack = "advice left[a]"
    added = set(net.rnn.unit_names) - set(plain.rnn.unit_names)
    assert added == {stack, f"{stack} over", f"{stack} top", f"{stack} top-1"}
    assert net.decoder.names == (*plain.decoder.names, stack)


def test_a_beginning_of_the_advice_longer_than_the_run_gives_the_same_answer():
    back = TuringMachine(
        {("q", "1"): ("q", "1", "R"), ("q", "_"): ("p", "_", "L"), ("p", "1"): ("p", "1", "L"),
         ("q", "x"): ("p", "x", "R"), ("p", "x"): ("accept", "x", "L")},
        "q", "accept", "reject", "_", "1x",
    )  # fmt: skip
    for n in range(4):
        answers = {with_advice(back, "1" * (5 - n) + "x" + rest).answer("1" * n, 40) for rest in ("", "1", "x1x1x1")}
        assert len(answers) == 1
        assert answers.pop().steps == 1 + n + 1 + n + (5 - n) + 1


def test_without_advice_the_net_says_what_the_plain_one_says():
    tm = palindromes()
    for word in ("", "a", "abba", "ab"):
        limit = tm.decide(word, 100).steps + 2
        assert with_advice(tm, "").answer(word, limit) == turing_to_rnn(tm).answer(word, limit) is not None


@pytest.mark.parametrize("tm", [TURING_MACHINES["equal-blocks"], TuringMachine({}, "a", "a", "r", "_", "a")])
def test_a_symbol_without_a_name_is_named(tm):
    with pytest.raises(ValueError, match="symbol '?' of the advice has no name on the left stack".replace("?", "\\?")):
        with_advice(tm, "?")


def test_bad_input():
    with pytest.raises(TypeError, match="the advice is a set"):
        with_advice(palindromes(), {"a"})
    with pytest.raises(ValueError, match="base"):
        with_advice(palindromes(), "", 2)
