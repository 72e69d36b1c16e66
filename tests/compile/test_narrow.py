"""Automata in eleven units: the states of the machine, digit by digit, and what the net costs."""

from itertools import islice

import pytest
from compile_strategies import letters, machine, machines
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.compile import dfa_to_narrow_rnn, narrow_steps
from fhx.machines import DFA, all_words, parity


def numbered(dfa):
    """The states, accepting ones first."""
    return sorted(dfa.states, key=lambda q: q not in dfa.accept)


@pytest.mark.claim("E20")
@settings(deadline=None, max_examples=40)
@given(machines(states=9, symbols=4), st.integers(0, 6), st.integers(0, 2**32))
def test_its_state_is_the_machines_after_every_symbol(dfa, length, seed):
    net, word = dfa_to_narrow_rnn(dfa), letters(dfa, length, seed)
    assert net.units == 11
    order = numbered(dfa)
    held = map(net.decode, islice(net.run(word), 0, None, net.steps_per_symbol))
    for now, q in zip(held, dfa.run(word), strict=True):
        assert order[now["next"]] == q
        assert now["accepts"] == (q in dfa.accept)
    assert net.accepts(word) == dfa.accepts(word)


@pytest.mark.claim("E20")
@settings(deadline=None, max_examples=40)
@given(machines(states=20, symbols=3))
def test_steps_are_those_of_the_longest_table(dfa):
    place = {q: i for i, q in enumerate(numbered(dfa))}
    longest = max(sum(place[dfa.transitions[q, a]] + 1 for q in dfa.states) for a in dfa.alphabet)
    assert narrow_steps(dfa) == longest + 2 <= len(dfa.states) ** 2 + 2
    assert dfa_to_narrow_rnn(dfa).steps_per_symbol == narrow_steps(dfa)


def test_all_short_words_of_a_machine_of_twelve_states():
    dfa = machine(12, 2, seed=7)
    net = dfa_to_narrow_rnn(dfa)
    assert all(net.accepts(word) == dfa.accepts(word) for word in all_words("ab", 5))


def test_only_the_table_depends_on_the_machine():
    one, other = (dfa_to_narrow_rnn(machine(6, 2, seed)) for seed in (1, 2))
    entries = {key for key, value in one.rnn.U.entries.items() if value.denominator > 1}
    assert len(entries) == 2  # the two numbers
    assert one.rnn.W.entries.keys() == other.rnn.W.entries.keys()


@pytest.mark.parametrize("bad", ["x", parity])
def test_only_machines_are_compiled(bad):
    for function in (dfa_to_narrow_rnn, narrow_steps):
        with pytest.raises(TypeError, match="needs a DFA"):
            function(bad)


def test_the_empty_and_the_full_language():
    for accept in ([], [0]):
        dfa = DFA([0], "a", {(0, "a"): 0}, 0, accept)
        net = dfa_to_narrow_rnn(dfa)
        assert [net.accepts("a" * n) for n in range(4)] == [bool(accept)] * 4
