"""Nets that go on after their word, in floats: against the exact nets where these are exact, and step by step."""

import sys
from fractions import Fraction
from itertools import islice

import pytest
import torch

from fhx.compile import turing_to_rnn
from fhx.exact import Answer, HaltingNet, SimpleRNN
from fhx.experiments.finite_precision import there_and_back
from fhx.machines import all_words

FLOATS = (torch.bfloat16, torch.float16, torch.float32, torch.float64)

BACK = there_and_back()


def slu_net(steps_per_symbol=1):
    """A saturating counter of the letters a: it answers 1 at the third EOS after at least two."""
    rnn = SimpleRNN(
        W=[[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [2, 0, 0, 1, 0]],
        U=[[Fraction(1, 2), 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        b=[0, 0, 0, 0, -2],
        h0=[0] * 5,
        activation="slu",
    )
    return HaltingNet(rnn, [0, 0, 0, 0, 1], 0, "ab", steps_per_symbol)


@pytest.mark.parametrize("dtype", FLOATS)
def test_where_floats_suffice_states_and_answers_are_those_of_the_exact_net(dtype):
    net = turing_to_rnn(BACK, 4)
    words = list(all_words("ab", 2))
    floats = net.to_torch(dtype)
    states = floats.states(words, 9)
    assert states.dtype == floats.dtype == dtype
    for word, run in zip(words, states.double().tolist(), strict=True):
        exact = [[float(h.get(j, 0)) for j in range(net.units)] for h in islice(net.run(word), len(word) + 10)]
        assert run[: len(exact)] == exact
    assert floats.answers(words, 9) == [net.answer(word, 9) for word in words]
    outputs = floats(floats.one_hot(words, 9)).double().tolist()
    assert outputs == [[float(y) for y in islice(net.outputs(word), 11)] for word in words]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_word_read_symbol_by_symbol_is_the_word_read_at_once(dtype):
    net = turing_to_rnn(BACK, 5)
    floats, word = net.to_torch(dtype), "abbaabab"
    at_once = floats.states([word], 20)[0]
    state = floats.inner.h0
    for t, column in enumerate([*("ab".index(a) for a in word), *[-1] * 20], start=1):
        state = floats.step(state, column)
        torch.testing.assert_close(state, at_once[t], rtol=0, atol=0, equal_nan=True)


def test_the_answer_comes_within_the_limit_or_not_at_all():
    floats = turing_to_rnn(BACK, 4).to_torch()
    word = "b" + "a" * 20
    steps = BACK.decide(word, 100).steps + 1
    assert floats.answers([word, "a", ""], steps) == [Answer(-1, steps), Answer(1, 4), Answer(-1, 1)]
    assert floats.answers([word], steps - 1) == floats.answers([word], 0) == [None]


def test_slu_units_become_two_relus():
    net = slu_net()
    words = list(all_words("ab", 4))
    assert net.to_torch(torch.float16).answers(words, 6) == [net.answer(word, 6) for word in words]
    assert {net.answer(word, 6) is None for word in words} == {False, True}


def test_no_words_and_no_steps():
    floats = turing_to_rnn(BACK, 4).to_torch()
    assert floats.states([], 0).shape == (0, 1, floats.net.units)
    assert floats.states([""], 0).shape == (1, 1, floats.net.units)


def test_bad_input(unchecked):
    floats = turing_to_rnn(BACK, 4).to_torch()
    with pytest.raises(ValueError, match="'c' at position 1 is outside"):
        floats.answers(["ac"], 3)
    with pytest.raises(ValueError, match="max_steps must be an integer of at least 0, got -1"):
        floats.answers(["a"], -1)
    with pytest.raises(TypeError, match=r"floating-point type of torch, got torch\.int64"):
        turing_to_rnn(BACK, 4).to_torch(torch.int64)
    with pytest.raises(ValueError, match="one step per symbol have states here, and this one has 2"):
        slu_net(2).to_torch().states(["a"], 1)


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "fhx.exact.torch_halting")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'fhx\[torch\]'"):
        slu_net(2).to_torch()
