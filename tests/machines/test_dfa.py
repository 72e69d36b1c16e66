"""A machine as a value: its laws, its runs, its forms."""

import copy
import pickle
import re
from itertools import product

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_strategies import dfas, plainly_accepts, words_over

from fhx.machines import DFA

ABB = DFA.from_regex("(a|b)*abb", alphabet="ab")
SHIFTED = DFA(
    ["lost", "no", "yes"],
    "ab",
    {(q, x): "yes" if x == "a" else "no" for q in ("lost", "no", "yes") for x in "ab"},
    "no",
    ["yes", "lost"],
)


# Laws


def test_every_fault_is_told_at_once():
    with pytest.raises(ValueError, match="not a total DFA") as caught:
        DFA([0, 0, 1], "aab", {(0, "a"): 3, (5, "b"): 0, (0, "z"): 0, (1, "b"): 0, "ab": 1}, 7, [9, 1])
    told = str(caught.value)
    for fault in (
        "state 0 is listed 2 times",
        "symbol 'a' is listed 2 times",
        "the start 7 is not a state",
        "the accepting 9 is not a state",
        "no transition from state 0 on symbol 'b'",
        "no transition from state 1 on symbol 'a'",
        "from 0 on 'a' leads to 3, which is not a state",
        "leaves from 5 on 'b', and 5 is not a state",
        "leaves from 0 on 'z', and 'z' is not in the alphabet",
        "leaves from 'ab', which is not a pair",
    ):
        assert fault in told
    assert told.count(";") == 9


def test_many_faults_are_counted():
    with pytest.raises(ValueError, match=r"symbol 9; and 90 more$"):
        DFA(range(10), range(10), {}, 0, [])


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (([], "a", {}, 0, []), "there are no states; the start 0 is not a state"),
        (([0], "", {}, 0, []), "the alphabet is empty"),
    ],
)
def test_something_must_be_there(parts, told):
    with pytest.raises(ValueError, match=told):
        DFA(*parts)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (({0}, "a", {(0, "a"): 0}, 0, []), "the states must have an order"),
        (([0], frozenset("a"), {(0, "a"): 0}, 0, []), "the symbols of the alphabet must have an order"),
        (([[0]], "a", {}, 0, []), "the states must be several hashable values"),
        ((3, "a", {}, 0, []), "the states must be several hashable values"),
        (([0], "a", {(0, "a"): []}, 0, []), "start and the targets of transitions"),
        (([0], "a", {(0, "a"): 0}, [], []), "start and the targets of transitions"),
        (([0], "a", {(0, "a"): 0}, 0, 0), "the accepting states must be several"),
        (([0], "a", [((0, "a"), 0)], 0, []), re.escape("transitions is a mapping {(state, symbol): state}, not list")),
    ],
)
def test_what_cannot_be_a_machine_is_a_type_error(parts, told):
    with pytest.raises(TypeError, match=told):
        DFA(*parts)


# Values


def test_nothing_can_be_changed():
    table = {(0, "a"): 0}
    dfa = DFA([0], "a", table, 0, [])
    table[0, "a"] = 1
    assert dfa.transitions[0, "a"] == 0
    with pytest.raises(FrozenInstanceError):
        dfa.start = 1
    with pytest.raises(TypeError, match="item assignment"):
        dfa.transitions[0, "a"] = 1


@settings(max_examples=30)
@given(dfas(max_states=12))
def test_copies_are_equal_with_equal_hashes(dfa):
    for other in (copy.copy(dfa), copy.deepcopy(dfa), pickle.loads(pickle.dumps(dfa)), evolve(dfa), eval(repr(dfa))):
        assert other == dfa
        assert hash(other) == hash(dfa)


def test_each_part_is_part_of_the_value():
    parts = ([0, 1], "ab", {(0, "a"): 0, (0, "b"): 1, (1, "a"): 0, (1, "b"): 0}, 0, [0])
    dfa = DFA(*parts)
    same = DFA(parts[0], parts[1], dict(reversed(parts[2].items())), 0, iter([0]))
    assert (same, hash(same)) == (dfa, hash(dfa))
    others = [
        DFA([1, 0], *parts[1:]),
        DFA(parts[0], "ba", *parts[2:]),
        DFA(*parts[:2], parts[2] | {(1, "b"): 1}, 0, [0]),
        DFA(*parts[:3], 1, [0]),
        DFA(*parts[:4], []),
    ]
    assert len({dfa, *others}) == 6


# Runs


@settings(max_examples=50)
@given(st.data())
def test_a_run_is_the_start_and_a_state_for_each_symbol(data):
    dfa = data.draw(dfas())
    word = data.draw(words_over(dfa.alphabet))
    states = list(dfa.run(word))
    assert states[0] == dfa.start
    assert len(states) == len(word) + 1
    assert all(dfa.transitions[q, x] == r == dfa.step(q, x) for q, x, r in zip(states, word, states[1:], strict=False))
    assert dfa.accepts(word) == (states[-1] in dfa.accept) == plainly_accepts(dfa, word)


def test_a_run_is_a_generator():
    run = ABB.run("abX")
    assert [next(run), next(run), next(run)] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"symbol 'X' is outside the alphabet \('a', 'b'\)"):
        next(run)


@pytest.mark.parametrize(
    ("state", "symbol", "told"),
    [(0, "c", "symbol 'c' is outside"), (0, [], "symbol \\[\\]"), (9, "a", "9 is not a state")],
)
def test_a_step_from_nowhere(state, symbol, told):
    with pytest.raises(ValueError, match=told):
        ABB.step(state, symbol)


# Forms


def distinguished(dfa):
    """Moore's table: the pairs of reachable states that some word tells apart, filled in until nothing changes."""
    reached = [dfa.start]
    for q in reached:
        reached += dict.fromkeys(r for x in dfa.alphabet if (r := dfa.transitions[q, x]) not in reached)
    block = {q: q in dfa.accept for q in reached}
    while True:
        rows = {q: (block[q], *(block[dfa.transitions[q, x]] for x in dfa.alphabet)) for q in reached}
        if len(set(rows.values())) == len(set(block.values())):
            return reached, block
        block = rows


@settings(max_examples=60)
@given(dfas())
def test_minimize_against_moores_table(dfa):
    reached, block = distinguished(dfa)
    assert dfa.reachable() == tuple(reached)
    first = {}
    for q in reached:
        first.setdefault(block[q], q)
    assert dfa.minimize() == DFA(
        list(first.values()),
        dfa.alphabet,
        {(q, x): first[block[dfa.transitions[q, x]]] for q in first.values() for x in dfa.alphabet},
        dfa.start,
        [q for q in first.values() if q in dfa.accept],
    )


def test_minimize_where_states_split_late():
    """A chain in which the first two states differ only on a word of 40 symbols, and one with every state alike."""
    chain = DFA(range(42), "ab", {(q, x): min(q + (x == "a"), 41) for q in range(42) for x in "ab"}, 0, [41])
    assert chain.minimize() == chain
    assert len((~evolve(chain, accept=frozenset())).minimize().states) == 1


@settings(max_examples=40)
@given(dfas(max_states=20), st.randoms(use_true_random=False))
def test_canonical_forms_do_not_see_names_or_order(dfa, random):
    states = list(dfa.states)
    random.shuffle(states)
    new = {q: f"state {i}" for i, q in enumerate(states)}
    renamed = DFA(
        [new[q] for q in states],
        dfa.alphabet,
        {(new[q], x): new[r] for (q, x), r in dfa.transitions.items()},
        new[dfa.start],
        [new[q] for q in dfa.accept],
    )
    canonical = dfa.canonical()
    assert renamed.canonical() == canonical == canonical.canonical()
    assert canonical.states == tuple(range(len(dfa.reachable())))
    for q, r in zip(dfa.reachable(), canonical.states, strict=True):
        assert (q in dfa.accept) == (r in canonical.accept)


def test_canonical_numbers_breadth_first_by_alphabet():
    assert SHIFTED.reachable() == ("no", "yes")
    assert SHIFTED.canonical() == DFA([0, 1], "ab", {(q, x): int(x == "a") for q in (0, 1) for x in "ab"}, 0, [1])
    assert evolve(ABB, alphabet=("b", "a")).reachable() == (0, 1, 2, 3)
    swapped = DFA("xyz", "ab", {(q, x): {"a": "y", "b": "z"}[x] for q in "xyz" for x in "ab"}, "x", "z")
    assert swapped.reachable() == ("x", "y", "z")
    assert evolve(swapped, alphabet=("b", "a")).reachable() == ("x", "z", "y")


def test_none_is_a_state_like_any_other():
    table = {(q, "a"): {None: 1, 1: -1, -1: None}[q] for q in (None, 1, -1)}
    dfa = DFA([None, 1, -1], "a", table, None, [None])
    assert dfa.minimize() == dfa
    assert (dfa & dfa) == dfa.canonical()


def test_the_books_first_machine():
    assert len(ABB.states) == 4
    for word in map("".join, product("ab", repeat=7)):
        assert ABB.accepts(word) == word.endswith("abb")
