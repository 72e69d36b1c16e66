"""What is not a machine, a step or a net is refused by every compiler, in one sentence."""

import pytest

from fhx.compile import (
    dfa_to_grid_rnn,
    dfa_to_rnn,
    find_disagreement,
    rnn_to_dfa,
    source_step,
    step_to_rnn,
    turing_to_layered_rnn,
    turing_to_rnn,
    turing_units,
    with_advice,
)
from fhx.exact import variable
from fhx.machines import parity


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: dfa_to_rnn("parity"), "dfa_to_rnn needs a DFA, not the str 'parity'"),
        (lambda: dfa_to_grid_rnn("parity"), "dfa_to_grid_rnn needs a DFA, not the str 'parity'"),
        (lambda: rnn_to_dfa(3), "rnn_to_dfa needs a Recognizer, not the int 3"),
        (lambda: find_disagreement("parity", None), "find_disagreement needs a DFA, not the str 'parity'"),
        (lambda: find_disagreement(parity(), None), "find_disagreement needs a Recognizer, not the NoneType None"),
        (lambda: step_to_rnn(None, variable("h")), "step_to_rnn needs a Step, not the NoneType None"),
        (lambda: turing_to_rnn("x"), "turing_to_rnn needs a TuringMachine, not the str 'x'"),
        (lambda: turing_to_layered_rnn("x"), "turing_to_layered_rnn needs a TuringMachine, not the str 'x'"),
        (lambda: source_step("x"), "source_step needs a TuringMachine, not the str 'x'"),
        (lambda: turing_units("x"), "turing_units needs a TuringMachine, not the str 'x'"),
        (lambda: with_advice("x", "a"), "with_advice needs a TuringMachine, not the str 'x'"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(call, told, unchecked):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == told
