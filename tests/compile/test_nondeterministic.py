"""Nondeterministic machines as nets: the same words, the same sets, few units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.compile import dfa_to_rnn, nfa_to_rnn
from fhx.machines import NAMED, NFA, letter_from_the_end


@st.composite
def nfas(draw, states=6):
    """A machine of up to so many states over a and b."""
    Q = range(draw(st.integers(1, states)))
    sets = st.sets(st.sampled_from(Q))
    moves = {(q, a): draw(sets) for q in Q for a in "ab" if draw(st.booleans())}
    return NFA(Q, "ab", moves, draw(sets), draw(sets))


@pytest.mark.claim("E21")
@given(nfas(), st.text("ab", max_size=30))
def test_the_net_is_in_the_set_of_states_of_the_machine(nfa, word):
    net = nfa_to_rnn(nfa)
    assert net.rnn.is_integer
    for states, h in zip(nfa.run(word), net.run(word), strict=True):
        held = net.decode(h)
        assert {q for q in nfa.states if held[str(q)]} == states
        assert all(value in (0, 1) for value in held.values())
    assert net.accepts(word) == nfa.accepts(word)
    more = 1 + 2 * (len(nfa.accept) > 1)
    assert net.units <= 2 * len(nfa.states) + more


@pytest.mark.claim("E21")
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_a_guess_takes_two_units_for_each_letter_back(d):
    nfa = letter_from_the_end(d)
    net, sets = nfa_to_rnn(nfa), nfa.determinize().minimize()
    assert net.units <= 2 * (d + 1) + 1
    assert dfa_to_rnn(sets).units == 2 * 2**d + 1
    for word in ("a" * 3 + "b" * (d - 1), "b" * d, "ab" * d, ""):
        assert net.accepts(word) == sets.accepts(word)


@pytest.mark.parametrize("name", NAMED)
def test_deterministic_machines_are_some_of_them(name):
    dfa = NAMED[name]
    net, other = nfa_to_rnn(NFA.from_dfa(dfa)), dfa_to_rnn(dfa)
    for length in range(8):
        word = [dfa.alphabet[(i * i + length) % len(dfa.alphabet)] for i in range(length)]
        assert net.accepts(word) == other.accepts(word)


def test_only_nondeterministic_machines_are_taken():
    with pytest.raises(TypeError, match="nfa_to_rnn"):
        nfa_to_rnn(NAMED["parity"])
