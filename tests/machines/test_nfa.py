"""Nondeterministic machines: their sets against paths, against automata-lib, and their faults."""

from itertools import product

import pytest
from automata.fa.dfa import DFA as LibraryDFA
from automata.fa.nfa import NFA as LibraryNFA
from hypothesis import given
from hypothesis import strategies as st
from machine_strategies import nfas

from fhx.machines import DFA, NAMED, NFA, all_words, letter_from_the_end

ENDS = NFA("pqr", "ab", {("p", "a"): "pq", ("p", "b"): "p", ("q", "b"): "r"}, "p", "r")
"""Words that end with ab."""


def by_paths(nfa, word):
    """Whether some row of states, one after each symbol, leads from a start to an accepting state."""
    rows = product(nfa.states, repeat=len(word) + 1)
    return any(
        row[0] in nfa.start
        and row[-1] in nfa.accept
        and all(row[t + 1] in nfa.transitions.get((row[t], a), ()) for t, a in enumerate(word))
        for row in rows
    )


@given(nfas(states=3, symbols=2), st.text("ab", max_size=4))
def test_a_word_is_accepted_if_a_path_accepts_it(nfa, word):
    word = [a for a in word if a in nfa.alphabet]
    assert nfa.accepts(word) == by_paths(nfa, word)


@given(nfas())
def test_its_sets_are_the_states_of_a_machine_that_accepts_the_same_words(nfa):
    library = LibraryNFA(
        states={*map(str, nfa.states), "start"},
        input_symbols={*nfa.alphabet},
        transitions={
            str(q): {a: {*map(str, nfa.transitions.get((q, a), ()))} for a in nfa.alphabet} for q in nfa.states
        }
        | {"start": {"": {*map(str, nfa.start)}}},
        initial_state="start",
        final_states={*map(str, nfa.accept)},
    )
    other = DFA.from_automata_lib(LibraryDFA.from_nfa(library, minify=False), nfa.alphabet)
    assert nfa.determinize().equivalent(other)


@given(nfas())
def test_backwards_it_accepts_words_read_backwards(nfa):
    back = nfa.reverse()
    for word in all_words("".join(nfa.alphabet), 4):
        assert back.accepts(word[::-1]) == nfa.accepts(word)


@pytest.mark.parametrize("name", NAMED)
def test_a_deterministic_machine_is_one(name):
    assert NFA.from_dfa(NAMED[name]).determinize().equivalent(NAMED[name])


def test_ends_with_ab():
    assert [word for word in all_words("ab", 3) if ENDS.accepts(word)] == ["ab", "aab", "bab"]
    assert [*ENDS.run("ab")] == [{"p"}, {"p", "q"}, {"p", "r"}]
    assert repr(ENDS) == (
        "NFA(('p', 'q', 'r'), ('a', 'b'), {('p', 'a'): ['p', 'q'], ('p', 'b'): ['p'], ('q', 'b'): ['r']}, ['p'], ['r'])"
    )


@pytest.mark.parametrize("d", range(1, 9))
def test_the_letter_d_before_the_end_needs_every_set(d):
    nfa = letter_from_the_end(d)
    assert len(nfa.states) == d + 1
    assert len(nfa.determinize().minimize().states) == 2**d
    for word in all_words("ab", 6):
        assert nfa.accepts(word) == (len(word) >= d and word[-d] == "a")


def test_faults_are_named():
    with pytest.raises(ValueError, match="this is not an NFA") as found:
        NFA("pp", "a", {("p", "b"): "z", "p": "p"}, "x", "y")
    for fault in (
        "state 'p' is listed 2 times",
        "the start 'x' is not a state",
        "the accepting 'y' is not a state",
        "'b' is not in the alphabet",
        "leads to 'z', which is not a state",
        "not a pair",
    ):
        assert fault in str(found.value)
    with pytest.raises(TypeError, match="mapping"):
        NFA("p", "a", [("p", "a")], "p", "p")
    with pytest.raises(TypeError, match="targets of"):
        NFA("p", "a", {("p", "a"): 3}, "p", "p")
    with pytest.raises(TypeError, match="order"):
        NFA({"p"}, "a", {}, "p", "p")
    with pytest.raises(ValueError, match="outside the alphabet"):
        ENDS.accepts("abc")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        letter_from_the_end(0)
    with pytest.raises(ValueError, match="two symbols"):
        letter_from_the_end(2, "a")
