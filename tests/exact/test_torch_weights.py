"""Exact nets of torch's weights, and torch's nets of exact weights."""

import math
import re
from fractions import Fraction

import pytest
import torch
from exact_nets import INTEGERS, runs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fhx.exact import SimpleRNN

WEIGHTS = st.floats(-4, 4, width=32)


@st.composite
def torch_nets(draw, weights=WEIGHTS):
    """ReLU nets of torch with drawn weights, some without biases, some that are cells."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    kind, bias = draw(st.sampled_from([nn.RNN, nn.RNNCell])), draw(st.booleans())
    net = kind(*sizes, nonlinearity="relu", bias=bias, dtype=draw(st.sampled_from([torch.float32, torch.float64])))
    with torch.no_grad():
        for parameter in net.parameters():
            count = parameter.numel()
            parameter.copy_(torch.tensor(draw(st.lists(weights, min_size=count, max_size=count))).view_as(parameter))
    return net


def torch_states(net, inputs):
    """The states of a net in float64, from zeros."""
    net, inputs = net.double(), torch.tensor(inputs, dtype=torch.float64)
    if isinstance(net, nn.RNN):
        return net(inputs)[0].tolist()
    states, h = [], None
    for x in inputs:
        h = net(x, h)
        states.append(h.tolist())
    return states


@settings(max_examples=60)
@given(torch_nets(), st.data())
def test_an_exact_net_is_torchs_without_rounding(net, data):
    rnn = SimpleRNN.from_torch(net)
    letters = data.draw(st.lists(st.integers(0, net.input_size - 1), min_size=1, max_size=6))
    inputs = [[int(place == letter) for place in range(net.input_size)] for letter in letters]
    exact = list(rnn.reference_states(inputs))
    for state, rounded in zip(exact, torch_states(net, inputs), strict=True):
        largest = max(map(float, state), default=0.0) + 1
        assert all(
            math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * largest) for a, b in zip(state, rounded, strict=True)
        )


@settings(max_examples=60)
@given(torch_nets(st.integers(-3, 3).map(float)), st.data())
def test_integer_weights_have_the_same_states(net, data):
    letters = data.draw(st.lists(st.integers(0, net.input_size - 1), min_size=1, max_size=8))
    inputs = [[int(place == letter) for place in range(net.input_size)] for letter in letters]
    exact = [[float(value) for value in state] for state in SimpleRNN.from_torch(net).reference_states(inputs)]
    assert exact == torch_states(net, inputs)


@settings(max_examples=60)
@given(torch_nets())
def test_there_and_back_are_the_same_weights(net):
    rnn = SimpleRNN.from_torch(net)
    kept = dict(net.named_parameters())
    back = rnn.to_torch(torch.float64, exact=False)
    for there, here in zip(("weight_hh", "weight_ih"), (back.weight_hh_l0, back.weight_ih_l0), strict=True):
        assert torch.equal(here, next(value for name, value in kept.items() if name.startswith(there)).double())
    assert not back.bias_hh_l0.any()
    assert SimpleRNN.from_torch(back).W == rnn.W


@settings(max_examples=60)
@given(runs(INTEGERS))
def test_a_net_of_integers_comes_back_as_it_was(run):
    rnn, _ = run
    if rnn.activation == "relu":
        assert SimpleRNN.from_torch(rnn.to_torch(), rnn.h0) == SimpleRNN(rnn.W, rnn.U, rnn.b, rnn.h0, "relu")


def test_subnormal_weights_and_every_bit_are_kept():
    net = nn.RNN(1, 1, nonlinearity="relu", dtype=torch.float64)
    with torch.no_grad():
        net.weight_hh_l0.fill_(5e-324)
        net.weight_ih_l0.fill_(0.1)
        net.bias_ih_l0.fill_(1e300)
        net.bias_hh_l0.fill_(1.0)
    rnn = SimpleRNN.from_torch(net)
    assert rnn.W.dense() == ((Fraction(1, 2**1074),),)
    assert rnn.U.dense() == ((Fraction(0.1),),)
    assert rnn.b == (Fraction(1e300) + 1,)
    with pytest.raises(ValueError, match=re.escape("torch.float64 rounds 1 numbers, the first b[0] = ")):
        rnn.to_torch()
    assert rnn.to_torch(exact=False).bias_ih_l0.item() == 1e300


def infinite():
    net = nn.RNN(1, 2, nonlinearity="relu")
    with torch.no_grad():
        net.weight_hh_l0[0, 1] = float("nan")
    return net


@pytest.mark.parametrize(
    ("net", "error", "why"),
    [
        (nn.Linear(2, 2), TypeError, "from_torch is for torch.nn.RNN and RNNCell, not Linear"),
        (nn.RNN(2, 2), ValueError, "has the activation tanh"),
        (nn.RNN(2, 2, 2, bidirectional=True), ValueError, "tanh, .*; it has 2 layers; it reads in both directions"),
        (infinite(), ValueError, "infinite or not a number, in weight_hh_l0"),
    ],
)
def test_what_does_not_fit_is_refused(net, error, why):
    with pytest.raises(error, match=why):
        SimpleRNN.from_torch(net)


THIRD = SimpleRNN([[Fraction(1, 3)]], [[1]], [0], [0], "relu")


@pytest.mark.parametrize(
    ("rnn", "options", "error", "why"),
    [
        (THIRD, {}, ValueError, r"rounds 1 numbers, the first W\[0, 0\] = 1/3"),
        (SimpleRNN([[2**11 + 1]], [[1]], [0], [0], "relu"), {"dtype": torch.float16}, ValueError, "= 2049"),
        (SimpleRNN([[10**400]], [[1]], [0], [0], "relu"), {}, ValueError, "rounds 1 numbers"),
        (SimpleRNN([[1]], [[1]], [0], [0], "slu"), {}, ValueError, "torch.nn.RNN has no slu units"),
        (THIRD, {"dtype": torch.int64}, TypeError, "floating-point type of torch, got torch.int64"),
    ],
)
def test_weights_that_a_type_would_round_are_refused(rnn, options, error, why):
    with pytest.raises(error, match=why):
        rnn.to_torch(**options)


def test_the_start_is_given_or_zero():
    net = nn.RNN(1, 2, nonlinearity="relu")
    assert SimpleRNN.from_torch(net).h0 == (0, 0)
    assert SimpleRNN.from_torch(net, [1, Fraction(1, 2)]).h0 == (1, Fraction(1, 2))
    with pytest.raises(ValueError, match="h0 has 1 entries, but 2 are needed"):
        SimpleRNN.from_torch(net, [1])
