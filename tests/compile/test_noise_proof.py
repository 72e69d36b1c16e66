"""Automata as logistic and tanh nets: right on all words, in their boxes under noise, refused where they are not."""

import numpy as np
import pytest
from attrs import evolve
from compile_strategies import machines
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from fhx.compile import dfa_to_rnn
from fhx.compile.noise_proof import noise_proof_net
from fhx.machines import DFA, NAMED

ACTIVATIONS = ("logistic", "tanh")
ANY = pytest.mark.parametrize("activation", ACTIVATIONS)


def run(net, word, noise=None):
    """The states of a net after each symbol, by its equation; ``noise`` is added to every one."""
    h = net.h0
    for t, a in enumerate(word):
        z = net.W @ h + net.U[:, net.dfa.alphabet.index(a)] + net.b
        h = expit(z) if net.activation == "logistic" else np.tanh(z)
        if noise is not None:
            h = h + noise[t]
        yield h


def accepts(net, h):
    return net.w @ h + net.c > 0


@ANY
@given(machines(states=6, symbols=3), st.data())
def test_random_machines_are_recognised_in_their_boxes_whatever_the_noise(activation, dfa, data):
    """Noise as large as is borne, of any sign, at every step."""
    net = dfa_to_rnn(dfa, activation)
    assert net.units == len(dfa.states) * len(dfa.alphabet) + 1
    eta = net.bears("state_noise", 2)
    assert eta > 0
    boxes = net.boxes(eta)
    word = data.draw(st.lists(st.sampled_from(dfa.alphabet), max_size=30))
    signs = np.random.default_rng(data.draw(st.integers(0, 2**32))).choice([-1, 0, 1], (len(word), net.units))
    state = dfa.start
    assert accepts(net, net.h0) == (state in dfa.accept)
    for a, h in zip(word, run(net, word, eta * signs), strict=True):
        low, high = boxes[state, a]
        assert ((low <= h) & (h <= high)).all()
        state = dfa.step(state, a)
        assert accepts(net, h) == (state in dfa.accept)


@ANY
@pytest.mark.parametrize("name", ["parity", "(a|b)*abb", "tomita-6"])
def test_weights_as_wrong_as_is_borne_still_recognise_long_words(name, activation):
    net, generator = dfa_to_rnn(NAMED[name], activation), np.random.default_rng(0)
    rho = net.bears("weight_noise")
    assert rho > 0.04
    for _ in range(10):
        moved = {key: v + rho * np.abs(v).max() * generator.choice([-1, 1], v.shape) for key, v in net.weights.items()}
        other = evolve(net, **{**moved, "c": float(moved["c"])})
        word = generator.choice(net.dfa.alphabet, 300)
        state = net.dfa.start
        for a, h in zip(word, run(other, word), strict=True):
            state = net.dfa.step(state, a)
            assert accepts(other, h) == (state in net.dfa.accept)


@ANY
def test_twenty_copies_with_two_per_cent_of_noise_are_certified_for_all_words(activation):
    net = dfa_to_rnn(NAMED["(a|b)*abb"], activation)
    assert all(net.perturbed(0.02, seed).boxes() for seed in range(20))
    assert not all(net.perturbed(0.2, seed).boxes() for seed in range(20))


@ANY
@given(machines(states=6, symbols=3))
def test_the_error_that_the_formula_keeps_is_kept(activation, dfa):
    """With M terms in a sum at most, eps = 1 / (32 M N) and no noise, in the numbers between 0 and 1."""
    net = dfa_to_rnn(dfa, activation)
    boxes = net.boxes()
    terms = max(np.count_nonzero(row) for row in net.W)
    eps = 1 / (32 * terms * net.units)
    for key, (low, high) in boxes.items():
        if activation == "tanh":
            low, high = (1 + low) / 2, (1 + high) / 2
        ones = low > 0.5
        assert ones.sum() == 1
        assert key is None or (low[ones] >= 1 - eps).all()
        assert (high[~ones] <= eps).all()


def test_tanh_units_are_logistic_ones_in_other_coordinates():
    one, other = (dfa_to_rnn(NAMED["tomita-4"], activation) for activation in ACTIVATIONS)
    word = "011010001100"
    for u, h in zip(run(one, word), run(other, word), strict=True):
        np.testing.assert_allclose(h, 2 * u - 1, atol=1e-12)
        assert other.w @ h + other.c == pytest.approx(one.w @ u + one.c)


@ANY
def test_what_is_wrong_has_no_boxes(activation):
    net = dfa_to_rnn(NAMED["parity"], activation)
    flipped = DFA(
        net.dfa.states, net.dfa.alphabet, net.dfa.transitions, net.dfa.start, set(net.dfa.states) - net.dfa.accept
    )
    assert net.boxes() is not None
    assert evolve(net, dfa=flipped).boxes() is None
    assert noise_proof_net(net.dfa, activation, gain=4).boxes() is None
    assert net.boxes(state_noise=net.bears("state_noise") + 0.002) is None
    assert net.boxes(weight_noise=net.bears("weight_noise") + 0.002) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: noise_proof_net(NAMED["parity"], "tanh", gain=7), "gain must be even"),
        (lambda: noise_proof_net(NAMED["parity"], "tanh", gain=0), "gain must be an integer of at least 1"),
        (lambda: dfa_to_rnn(NAMED["parity"], "tanh").boxes(state_noise=-1), "state_noise must be a finite number"),
        (lambda: dfa_to_rnn(NAMED["parity"], "tanh").bears("noise"), "what must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def by_the_proposition(dfa, gain):
    """The largest eta for which some epsilon meets both conditions, on a grid, and the terms of the answer."""
    into = {q: sum(target == q for target in dfa.transitions.values()) + (q == dfa.start) for q in dfa.states}
    M, K = max(into.values()), sum(into[q] for q in dfa.accept)
    epsilon, eta = np.meshgrid(np.geomspace(1e-12, 0.1, 400), np.linspace(0, 0.2, 2001))
    kept = epsilon >= expit(-gain * (0.5 - M * (epsilon + eta)))
    return eta[kept & (K * (epsilon + eta) < 0.5)].max(), K


@pytest.mark.parametrize("name", ["parity", "(a|b)*abb", "tomita-4"])
def test_boxes_find_more_than_the_proposition(name):
    net = dfa_to_rnn(NAMED[name], "logistic")
    least, _ = by_the_proposition(NAMED[name], net.W.max())
    assert 0.05 < least < net.bears("state_noise")


def test_the_answer_needs_less_noise_than_the_state():
    """One half divided by the number of terms of the answer: with a large gain nothing else is wrong there."""
    dfa = NAMED["tomita-4"]
    net = noise_proof_net(dfa, "logistic", gain=400)
    _, K = by_the_proposition(dfa, 400)
    word = "0000000"
    assert not dfa.accepts(word)
    for eta, right in ((0.49 / K, True), (0.51 / K, False)):
        *_, h = run(net, word)
        assert accepts(net, h + eta) != right
    assert net.bears("state_noise") == pytest.approx(0.5 / K, abs=2e-3)
