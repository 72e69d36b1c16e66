"""Runs by composing maps against runs letter by letter, and what they cost against formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_strategies import dfas, words_over

from fhx.machines import parity, states_by_doubling, states_by_halving


@pytest.mark.claim("E24")
@given(st.data(), dfas(max_states=8))
def test_composed_maps_lead_through_the_states_of_the_run(data, machine):
    word = data.draw(words_over(machine.alphabet, 40))
    for run in (states_by_doubling(machine, word), states_by_halving(machine, iter(word))):
        assert [*run.states] == [*machine.run(word)]


@pytest.mark.claim("E24")
@pytest.mark.parametrize("T", [*range(70), 128, 255, 1000])
def test_rounds_and_compositions(T):
    log_up, log_down = max(T - 1, 0).bit_length(), max(T.bit_length() - 1, 0)
    doubling, halving = states_by_doubling(parity(), "1" * T), states_by_halving(parity(), "1" * T)
    assert (doubling.rounds, doubling.compositions) == (log_up, log_up * T - 2**log_up + 1 if T else 0)
    assert halving.rounds == 2 * log_down - (f"{T:b}"[:2] == "10")  # down to 3, which takes 2 rounds, or to 2
    assert halving.compositions == (2 * T - 1 - log_down - T.bit_count() if T else 0)
    assert doubling.states == halving.states


def test_a_run_refuses_a_letter_that_is_not_there():
    for run in (states_by_doubling, states_by_halving):
        with pytest.raises(ValueError, match="symbol '2' is outside the alphabet"):
            run(parity(), "0120")
