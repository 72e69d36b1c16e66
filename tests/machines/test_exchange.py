"""Automata go to AALpy and dot and come back the same; drawings that show no machine are refused."""

import re

import pytest
from aalpy.utils import load_automaton_from_file, save_automaton_to_file
from hypothesis import given
from machine_strategies import dfas

from fhx.machines import DFA, NAMED, all_words, dfa_from_aalpy, dfa_from_dot, dfa_to_aalpy, dfa_to_dot, parity

AWKWARD = DFA(
    ['a "b"', "\\", "ü,"], ['"', ","], {(q, x): "\\" for q in ('a "b"', "\\", "ü,") for x in '",'}, "ü,", ["\\"]
)


@given(dfas())
def test_there_and_back_by_aalpy(dfa):
    assert dfa_from_aalpy(dfa_to_aalpy(dfa), dfa.alphabet) == dfa


@pytest.mark.parametrize("name", NAMED)
def test_aalpy_runs_it_as_we_do(name):
    dfa = NAMED[name]
    there = dfa_to_aalpy(dfa)
    for word in all_words(dfa.alphabet, 4):
        outputs = there.execute_sequence(there.initial_state, tuple(word))
        assert (outputs[-1] if word else there.initial_state.is_accepting) == dfa.accepts(word)


@pytest.mark.parametrize("dfa", [*NAMED.values(), AWKWARD], ids=[*NAMED, "awkward"])
def test_there_and_back_by_dot(dfa):
    again = dfa_from_dot(dfa_to_dot(dfa), list(map(str, dfa.alphabet)))
    assert again.accept == frozenset(map(str, dfa.accept))
    assert again.states == tuple(map(str, dfa.states))
    assert again.transitions == {(str(q), str(x)): str(to) for (q, x), to in dfa.transitions.items()}
    assert again.start == str(dfa.start)


def test_aalpy_reads_our_dot_and_we_read_its(tmp_path):
    path = tmp_path / "parity.dot"
    path.write_text(dfa_to_dot(parity()))
    theirs = load_automaton_from_file(str(path), "dfa")
    ours = dfa_from_aalpy(theirs, [0, 1])  # AALpy takes digits for numbers
    assert all(ours.accepts(map(int, word)) == parity().accepts(word) for word in all_words("01", 6))
    save_automaton_to_file(dfa_to_aalpy(parity()), str(tmp_path / "theirs"), file_type="dot")
    assert dfa_from_dot((tmp_path / "theirs.dot").read_text()).equivalent(parity())


def test_a_drawing_of_lecture_notes():
    drawn = """digraph {
        rankdir=LR; node [shape=circle]; "" [shape=none]
        even [shape=doublecircle]
        "" -> even
        even -> odd [label="1"]; odd -> even [label="1"]
        even -> even [label="0, 2"]; odd -> odd [label="0,2"]
    }"""
    dfa = dfa_from_dot(drawn)
    assert dfa.alphabet == ("0", "1", "2")
    assert all(dfa.accepts(word) == (word.count("1") % 2 == 0) for word in all_words("012", 5))


@pytest.mark.parametrize(
    ("drawn", "words"),  # each with an arrow from i, which is no state
    [
        ("no drawing", "not a drawing in dot"),
        ('digraph { a [shape=circle]; a -> a [label="0"] }', "arrow from nowhere must show the start, and there are 0"),
        ('{i} i -> b; a -> b [label="0"]; b -> a [label="0"] }', "there are 2"),
        ('{i} a -> a [label="0"]; a -> b [label="0"]; b -> b [label="0"] }', "two arrows leave 'a'"),
        ("{i} a -> a }", "an arrow that leaves 'a' has no label"),
        ('{i} a [label="x"]; b [label="x"]; a -> b [label="0"] }', "two states are labelled 'x'"),
        ('{i} a -> b [label="0"]; b -> b [label="1"] }', "transition"),
    ],
)  # fmt: skip
def test_what_is_no_machine_is_refused(drawn, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        dfa_from_dot(drawn.replace("{i}", "digraph { i [shape=none]; i -> a;"))


@pytest.mark.parametrize(
    ("states", "alphabet", "words"),
    [
        ([1, "1"], "a", "states are told apart by how they look, and '1'"),
        ([""], "a", "states are told apart by how they look, and ''"),
        (["q"], [0, "0"], "symbols are told apart by how they look, and '0'"),
        (["q"], ["a,b"], "'a,b' has one"),
    ],
)
def test_what_looks_the_same_is_not_drawn(states, alphabet, words):
    dfa = DFA(states, alphabet, {(q, x): states[0] for q in states for x in alphabet}, states[0], [])
    with pytest.raises(ValueError, match=re.escape(words)):
        dfa_to_dot(dfa)


@pytest.mark.parametrize("change", [dfa_to_aalpy, dfa_to_dot, lambda machine: dfa_from_aalpy(machine, "01")])
def test_what_is_no_automaton_is_named(change):
    with pytest.raises(TypeError, match="not the str 'parity'"):
        change("parity")
