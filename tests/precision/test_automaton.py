"""The automaton of a float net: it says what the net says, and is not the machine."""

import pytest
import torch

from fhx.compile import StateExplosionError, dfa_to_rnn, turing_to_rnn
from fhx.machines import TuringMachine, all_words, palindromes, parity
from fhx.precision import float_net_to_dfa

COUNTS = TuringMachine(
    {
        ("s", "a"): ("r", "A", "R"), ("r", "a"): ("r", "a", "R"), ("r", "B"): ("r", "B", "R"),
        ("r", "b"): ("l", "B", "L"), ("l", "B"): ("l", "B", "L"), ("l", "a"): ("l", "a", "L"),
        ("l", "A"): ("s", "A", "R"), ("s", "B"): ("c", "B", "R"), ("c", "B"): ("c", "B", "R"),
        ("c", "_"): ("yes", "_", "R"), ("s", "_"): ("yes", "_", "R"),
    },
    "s", "yes", "no", "_", "ab",
)  # fmt: skip


def test_the_automaton_of_a_float_net_says_what_it_says_and_is_not_the_machine():
    net = turing_to_rnn(COUNTS, 8)
    dfa = float_net_to_dfa(net, torch.float16)
    words = list(all_words("ab", 6))
    said = [answer is not None and answer.value == 1 for answer in net.to_torch(torch.float16).answers(words, 300)]
    assert [dfa.accepts(word) for word in words] == said
    wrong = [word for word in words if dfa.accepts(word) != COUNTS.decide(word, 300).accepted]
    assert wrong
    assert len(dfa.minimize().states) < len(dfa.states) < 1000


def test_the_automaton_knows_runs_that_never_end():
    goes = TuringMachine({("q", "a"): ("q", "a", "R"), ("q", "_"): ("q", "_", "L")}, "q", "yes", "no", "_", "a")
    dfa = float_net_to_dfa(turing_to_rnn(goes, 16), torch.float16)
    assert not any(dfa.accepts("a" * n) for n in range(20))


def test_the_search_for_an_automaton_has_a_limit():
    net = turing_to_rnn(COUNTS, 8)
    with pytest.raises(StateExplosionError, match="more than 100 states"):
        float_net_to_dfa(net, torch.float16, max_states=100)
    with pytest.raises(ValueError, match="a run over EOS meets more than 1 states"):
        float_net_to_dfa(net, torch.float16, max_states=1)


@pytest.mark.usefixtures("unchecked")
def test_what_has_no_end_mark_or_no_states_is_refused():
    with pytest.raises(TypeError, match=r"^float_net_to_dfa needs a HaltingNet, not the Recognizer"):
        float_net_to_dfa(dfa_to_rnn(parity()), torch.float32)
    with pytest.raises(ValueError, match=r"^max_states must be an integer of at least 1, got 0"):
        float_net_to_dfa(turing_to_rnn(palindromes()), torch.float32, max_states=0)
