"""Counter machines: what they accept, their laws, and what too few states cannot tell apart."""

import re
from collections import Counter
from itertools import product
from math import isqrt

import pytest
from counter_machines import counter_machines, plain_run, plainly_accepts, words_of
from hypothesis import given
from hypothesis import strategies as st
from machine_strategies import dfas

from fhx.machines import (
    COUNTER_MACHINES,
    NAMED,
    CounterConfiguration,
    CounterMachine,
    StepMachine,
    all_words,
    configuration_bound,
    equal_blocks_mistake,
    palindrome_length,
    palindrome_mistake,
    state_counts,
)


def balanced(word, opening, closing):
    height = 0
    for letter in word:
        height += (letter == opening) - (letter == closing)
        if height < 0:
            return False
    return height == 0


def anagrams(word):
    before, mark, after = word.partition("#")
    return bool(mark) and Counter(before) == Counter(after)


LANGUAGES = {
    "a^n b^n": lambda w: w == "a" * (len(w) // 2) + "b" * (len(w) // 2),
    "a^n b^n c^n": lambda w: w == "".join(x * (len(w) // 3) for x in "abc"),
    "dyck-1": lambda w: balanced(w, "(", ")"),
    "two dyck-1 shuffled": lambda w: balanced(w, "(", ")") and balanced(w, "[", "]"),
    "anagrams": anagrams,
    "majority": lambda w: w.count("a") > w.count("b"),
    "a^n b^m": lambda w: bool(re.fullmatch("a*b*", w)) and w.count("a") > w.count("b"),
    "squares": lambda w: isqrt(len(w)) ** 2 == len(w),
}
LONGEST = {1: 150, 2: 10, 3: 7, 4: 6}


@pytest.mark.parametrize("name", COUNTER_MACHINES)
def test_the_named_machines_accept_what_they_are_named_after(name):
    machine = COUNTER_MACHINES[name]
    words = list(all_words(machine.alphabet, LONGEST[len(machine.alphabet)]))
    assert [w for w in words if machine.accepts(w) != LANGUAGES[name](w)] == []
    assert sum(map(machine.accepts, words)) >= 3


@given(counter_machines(), st.data())
def test_a_run_is_that_of_the_plainest_program(machine, data):
    word = data.draw(words_of(machine, 20))
    plain = [at and CounterConfiguration(at[0], tuple(at[1])) for at in plain_run(machine, word)]
    assert list(machine.run(word)) == plain
    assert all(min(at.counts, default=0) >= 0 for at in plain if at)
    assert machine.accepts(word) == plainly_accepts(machine, word)


def in_the_state(machine):
    """The machine with each counter less one, and in its state which are 0: it accepts by states alone."""
    k, moves = machine.counters, {}
    bits = list(product((True, False), repeat=k))
    for rule, zero in product(machine.rules, bits):
        if all(test == "*" or (test == "0") == z for test, z in zip(rule.tests, zero, strict=True)):
            for low in product((True, False), repeat=k):  # whether max(c - 1, 0) is 0
                if all(x or not z for x, z in zip(low, zero, strict=True)):
                    parts = list(zip(rule.moves, zero, low, strict=True))
                    after = tuple((m < 1 and z) or (m == -1 and x) for m, z, x in parts)
                    left = [0 if z or (m == -1 and x) else m for m, z, x in parts]
                    tests = "".join("0" if x else "+" for x in low)
                    moves[(rule.state, zero), rule.symbol, tests] = (rule.target, after), left
    states = list(product(machine.states, bits))
    accept = [(q, zero) for q, zero in states if q in machine.accept and (all(zero) or not machine.at_zero)]
    return CounterMachine(states, machine.alphabet, k, moves, (machine.start, (True,) * k), accept)


@given(counter_machines(states=3, symbols=2, counters=2), st.data())
def test_ending_at_zero_can_be_in_the_state(machine, data):
    other = in_the_state(machine)
    for _ in range(5):
        word = data.draw(words_of(machine, 15))
        assert other.accepts(word) == machine.accepts(word)


def machine(**changes):
    parts = {
        "states": ["p"],
        "alphabet": "ab",
        "counters": 2,
        "transitions": {("p", "a", "+*"): ("p", [-1, 1])},
        "start": "p",
        "accept": ["p"],
    }
    return CounterMachine(**{**parts, **changes})


RULE = ("p", "a", "+*")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"states": ["p", "p"]}, "state 'p' is listed 2 times"),
        ({"alphabet": "aab"}, "symbol 'a' is listed 2 times"),
        ({"alphabet": "", "transitions": {}}, "the alphabet is empty"),
        ({"states": [], "transitions": {}}, "there are no states; the start 'p' is not a state"),
        ({"start": "x"}, "the start 'x' is not a state"),
        ({"accept": ["x"]}, "the accepting 'x' is not a state"),
        ({"transitions": {("p", "a"): ("p", [0, 0])}}, r"leaves from \('p', 'a'\), which is not a triple"),
        ({"transitions": {("x", "a", "**"): ("p", [0, 0])}}, "leaves from 'x', which is not a state"),
        ({"transitions": {("p", "c", "**"): ("p", [0, 0])}}, "reads 'c', which is not in the alphabet"),
        ({"transitions": {("p", "a", "*"): ("p", [0, 0])}}, "needs 2 tests, a string of '0', '\\+' and '\\*'"),
        ({"transitions": {("p", "a", "*1"): ("p", [0, 0])}}, "needs 2 tests"),
        ({"transitions": {("p", "a", (0, 0)): ("p", [0, 0])}}, "needs 2 tests"),
        ({"transitions": {RULE: "p"}}, "leads to 'p', which is not a pair"),
        ({"transitions": {RULE: ("x", [0, 0])}}, "leads to 'x', which is not a state"),
        ({"transitions": {RULE: ("p", [0])}}, r"has the moves \(0,\), which are not 2 of the integers -1, 0 and 1"),
        ({"transitions": {RULE: ("p", [2, 0])}}, "which are not 2 of the integers"),
        ({"transitions": {RULE: ("p", [1.0, 0])}}, "which are not 2 of the integers"),
        ({"transitions": {RULE: ("p", [True, 0])}}, "which are not 2 of the integers"),
        ({"transitions": {RULE: ("p", 0)}}, "which are not 2 of the integers"),
        ({"transitions": {RULE: ("p", [0, -1])}}, "subtracts from counter 1, which may be 0"),
        ({"transitions": {("p", "a", "0+"): ("p", [-1, 0])}}, "subtracts from counter 0, which may be 0"),
        ({"transitions": {RULE: ("p", [0, 0]), ("p", "a", "*0"): ("p", [0, 0])}}, "two transitions .* apply at once"),
        ({"counters": -1}, "counters must be an integer of at least 0, got -1"),
        ({"counters": True}, "counters must be an integer"),
    ],
)
def test_a_broken_law_is_named(changes, fault):
    with pytest.raises(ValueError, match=fault):
        machine(**changes)


def test_all_faults_come_at_once_but_not_without_end():
    rules = {("p", "c", "**"): ("p", [0, 0]), ("p", "a", "**"): ("p", [-1, -1])}
    with pytest.raises(ValueError, match=r"'x' is not a state.*reads 'c'.*counter 0.*counter 1"):
        machine(start="x", transitions=rules)
    with pytest.raises(ValueError, match=r"and 10 more$"):
        machine(transitions={("p", "c", f"{i}"): ("p", [0, 0]) for i in range(10)})


def test_what_has_no_order_or_no_form_is_a_type_error():
    for changes in ({"states": {"p"}}, {"alphabet": {"a"}}, {"transitions": [RULE]}, {"start": []}, {"accept": 1}):
        with pytest.raises(TypeError):
            machine(**changes)


def test_a_symbol_outside_the_alphabet_is_an_error_after_a_stop_too():
    dyck = COUNTER_MACHINES["dyck-1"]
    assert list(dyck.run("())"))[-1] is None
    for word in ("x", ")x"):
        with pytest.raises(ValueError, match="'x' is outside the alphabet"):
            dyck.accepts(word)


def test_a_machine_is_a_value():
    one = machine()
    assert one == machine(transitions={RULE: ("p", (-1, 1))})
    assert hash(one) == hash(machine())
    assert eval(repr(one), {"CounterMachine": CounterMachine}) == one
    assert one.tested("p", "a") == (0,)
    assert one.tested("p", "b") == ()


# What too few states cannot tell apart


@given(dfas(max_states=12, alphabet="ab"))
def test_every_finite_machine_is_wrong_about_equal_blocks(dfa):
    states = StepMachine.from_dfa(dfa)
    word = equal_blocks_mistake(states, len(dfa.states))
    assert dfa.accepts(word) != LANGUAGES["a^n b^n"](word)
    assert len(word) <= 2 * len(dfa.states)


def test_a_machine_that_counts_is_not_caught_on_equal_blocks():
    assert equal_blocks_mistake(COUNTER_MACHINES["a^n b^n"], 200) is None
    with pytest.raises(ValueError, match="max_states must be"):
        equal_blocks_mistake(COUNTER_MACHINES["a^n b^n"], 0)


def marked(word):
    before, mark, after = word.partition("#")
    return bool(mark) and after == before[::-1]


@given(counter_machines(states=3, counters=2, alphabet="ab#"))
def test_every_counter_machine_is_wrong_about_marked_palindromes(machine):
    longest = palindrome_length(machine)
    word = palindrome_mistake(machine, longest)
    assert machine.accepts(word) != marked(word)
    assert len(word) <= 2 * longest + 1
    assert palindrome_mistake(machine, 0) is None


@given(counter_machines(states=3, counters=2), st.integers(0, 6))
def test_no_more_configurations_are_counted_than_the_bound(machine, n):
    after = [{list(machine.run(word))[-1] for word in product(machine.alphabet, repeat=t)} for t in range(n + 1)]
    counts = state_counts(machine, machine.alphabet, n)
    assert counts == list(map(len, after))
    assert all(count <= configuration_bound(machine, t) for t, count in enumerate(counts))


@pytest.mark.parametrize("name", COUNTER_MACHINES)
def test_the_palindrome_length_is_the_least(name):
    machine = COUNTER_MACHINES[name]
    n = palindrome_length(machine)
    assert 2**n > configuration_bound(machine, n)
    assert 2 ** (n - 1) <= configuration_bound(machine, n - 1)
    assert 4 ** palindrome_length(machine, 4) > configuration_bound(machine, palindrome_length(machine, 4))


def test_the_bound_is_a_formula():
    assert configuration_bound(COUNTER_MACHINES["squares"], 5) == 7 * 6**2 + 1
    assert configuration_bound(COUNTER_MACHINES["dyck-1"], 0) == 2


def test_growth_is_by_the_number_of_counters():
    two = state_counts(COUNTER_MACHINES["two dyck-1 shuffled"], "()[]", 24)
    one = state_counts(COUNTER_MACHINES["dyck-1"], "()", 24)
    assert one[24] == 24 // 2 + 2  # even heights, and the stop
    assert two[24] == (24 // 2 + 1) ** 2 + 1  # pairs of heights with an even sum of at most 24, and the stop
    parity = StepMachine.from_dfa(NAMED["parity"])
    assert state_counts(parity, "01", 5) == [1, 2, 2, 2, 2, 2]


def test_arguments_of_the_adversary_are_checked():
    dyck = COUNTER_MACHINES["dyck-1"]
    with pytest.raises(TypeError, match="configuration_bound needs a CounterMachine"):
        configuration_bound(NAMED["parity"], 3)
    with pytest.raises(TypeError, match="palindrome_length needs a CounterMachine"):
        palindrome_length(NAMED["parity"])
    for call in (
        lambda: configuration_bound(dyck, -1),
        lambda: palindrome_length(dyck, 1),
        lambda: palindrome_mistake(dyck, -1),
        lambda: state_counts(dyck, "()", -1),
    ):
        with pytest.raises(ValueError, match="must be an integer of at least"):
            call()
