"""Definite machines by brute force over words, their contractive nets, and the window of a margin."""

from itertools import product

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhx.cells import SimpleCell
from fhx.dynamics import unroll
from fhx.machines import DFA, NAMED, all_words, parity
from fhx.stability import (
    DefiniteNet,
    contraction_rate,
    definite_net,
    definite_order,
    invariant_set,
    truncated_states,
    window_for_margin,
)
from fhx.stability.norms import UP

RATES = st.sampled_from([1e-3, 0.3, 0.5, 0.95])


@st.composite
def small_machines(draw, alphabet="01", most=4):
    n = draw(st.integers(1, most))
    targets = draw(st.lists(st.integers(0, n - 1), min_size=n * len(alphabet), max_size=n * len(alphabet)))
    pairs = dict(zip(product(range(n), alphabet), targets, strict=True))
    return DFA(range(n), alphabet, pairs, 0, draw(st.sets(st.integers(0, n - 1))))


@st.composite
def definite_machines(draw, most=3):
    """The last symbols as the state, and any answers: of an order up to their number."""
    alphabet = draw(st.sampled_from(["a", "01", "abc"]))
    k = draw(st.integers(0, most))
    states = [*all_words(alphabet, k)]
    moves = {(q, a): (q + a)[-k:] if k else "" for q in states for a in alphabet}
    answers = draw(st.lists(st.booleans(), min_size=len(states), max_size=len(states)))
    return DFA(states, alphabet, moves, "", {q for q, yes in zip(states, answers, strict=True) if yes})


def decided_by(answers, k, longest):
    """Whether the last k symbols decide the answers, by word, of all words of k to ``longest`` symbols."""
    seen = {}
    return all(
        seen.setdefault(word[len(word) - k :], yes) is yes for word, yes in answers.items() if k <= len(word) <= longest
    )


@pytest.mark.claim("E11")
@settings(max_examples=40)
@given(st.one_of(small_machines(), definite_machines()))
def test_the_order_by_brute_force(dfa):
    """A pair of states that a word keeps apart is kept apart by one that visits no pair twice: 6 of 4 states."""
    depth, known = 0, {dfa.start}
    while len(further := known | {dfa.step(q, a) for q in known for a in dfa.alphabet}) > len(known):
        depth, known = depth + 1, further
    answers = {word: dfa.accepts(word) for word in all_words(dfa.alphabet, 6 + depth if len(known) <= 4 else 6)}
    most = 6 if len(known) <= 4 else 3
    assert definite_order(dfa) == next((k for k in range(most + 1) if decided_by(answers, k, k + depth)), None)


@given(st.integers(0, 40))
def test_one_symbol(n):
    """Over one symbol the words of n symbols and more are all accepted."""
    dfa = DFA(range(n + 1), "a", {(q, "a"): min(q + 1, n) for q in range(n + 1)}, 0, {n})
    assert definite_order(dfa) == n


def test_orders_that_are_known():
    assert definite_order(DFA.from_regex("(0|1)*", "01")) == 0
    assert definite_order(DFA.from_regex("(0|1)*1", "01")) == 1
    assert definite_order(DFA.from_regex("(0|1)*1(0|1)(0|1)", "01")) == 3
    assert definite_order(DFA.from_regex("", "01")) == 1  # the empty word alone: one symbol is enough to reject
    assert definite_order(DFA.from_regex("1(0|1)*", "01")) is None
    assert {name for name, dfa in NAMED.items() if definite_order(dfa) is not None} == {"(a|b)*abb"}
    assert definite_order(NAMED["abb"]) == 3


@pytest.mark.claim("E11")
@settings(max_examples=40)
@given(definite_machines(), RATES)
def test_the_net_is_the_machine_and_contracts(dfa, rate):
    net = definite_net(dfa, rate)
    assert contraction_rate(net.cell) <= rate
    assert contraction_rate(net.cell, "max") <= rate
    assert net.rate == pytest.approx(rate if net.order > 1 else 0.0, rel=1e-12)
    for length in range(6):
        words = [word for word in all_words(dfa.alphabet, length) if len(word) == length]
        inputs = torch.cat([net.encode(word) for word in words], 1)
        states = torch.cat([net.cell.initial_state(1, len(words)), unroll(net.cell, inputs)]).detach()
        outputs = net.output(states[-1]).tolist()
        accepted = [dfa.accepts(word) for word in words]
        assert [y > 0 for y in outputs] == accepted
        assert [abs(y) for y in outputs] == pytest.approx([net.margin] * len(words), rel=1e-12)
        assert [net.accepts(word) for word in words[:3]] == accepted[:3]


@settings(max_examples=40)
@given(definite_machines(), RATES, st.integers(0, 2**32))
def test_a_readout_of_lipschitz_constant_1(dfa, rate, seed):
    net = definite_net(dfa, rate)
    generator = torch.Generator().manual_seed(seed)
    between = torch.rand(60, net.cell.state_width, generator=generator, dtype=torch.float64).to(net.codes)
    near = net.codes[torch.randint(len(net.codes), (60,), generator=generator)]
    near = near + net.margin * (2 * between - 1)
    points = torch.cat([between, near])
    outputs, other = net.output(points), points.roll(1, 0)
    apart = (points - other).abs().amax(-1)
    assert ((outputs - outputs.roll(1, 0)).abs() <= apart * (1 + 1e-12)).all()
    assert outputs.abs().max() <= net.margin


@given(definite_machines(), RATES)
def test_the_window_of_a_definite_net_is_its_order(dfa, rate):
    net = definite_net(dfa, rate)
    assert net.order == definite_order(dfa)
    assert net.window == net.order


def test_a_definite_net_is_its_truncation():
    net = definite_net(DFA.from_regex("(0|1)*1(0|1)(0|1)", "01"), 0.5)
    inputs = net.encode("0110100110010110")
    full, cut = unroll(net.cell, inputs), truncated_states(net.cell, inputs, net.order)
    assert torch.allclose(full, cut, atol=1e-14)
    assert not torch.allclose(full, truncated_states(net.cell, inputs, net.order - 1))


def settled(u):
    """A tanh cell of one unit, one-hot symbols that push it by u and -u, and the outputs of all words up to 10."""
    cell = SimpleCell(2, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(0.4)
        cell.U.copy_(torch.tensor([[-u, u]]))
        cell.b.fill_(0.1)
    outputs, words, h = {"": 0.0}, [""], torch.zeros(1, 1, dtype=torch.float64)
    for _ in range(10):
        words = [word + symbol for word in words for symbol in "01"]
        with torch.no_grad():
            h = cell(h.repeat_interleave(2, 0), torch.eye(2, dtype=torch.float64).repeat(len(h), 1))
        outputs |= zip(words, h[:, 0].tolist(), strict=True)
    return cell, outputs


@pytest.mark.claim("E11")
@settings(max_examples=30)
@given(st.floats(0.1, 1.5), st.floats(-0.8, 0.8))
def test_a_margin_has_a_window(u, threshold):
    cell, outputs = settled(u)
    margin = min(abs(y - threshold) for y in outputs.values())
    assume(margin >= 1e-4)
    diameter = 2 * invariant_set(cell).radius.item()
    k = window_for_margin(contraction_rate(cell), diameter, 1.0, margin)
    assume(k < 10)  # or no ending comes twice
    assert decided_by({word: y > threshold for word, y in outputs.items()}, k, 10)


@given(st.floats(0, 0.99), st.floats(0, 1e3), st.floats(0, 1e3), st.floats(1e-6, 10))
def test_the_least_window(rate, diameter, lipschitz, margin):
    k = window_for_margin(rate, diameter, lipschitz, margin)
    assert lipschitz * diameter * rate**k < 2 * margin
    assert k == 0 or lipschitz * diameter * rate ** (k - 1) >= 2 * margin * (1 - 1e-13)


@given(st.integers(1, 64), st.floats(0.3, 20), st.floats(1e-3, 1e3))
def test_the_least_window_of_a_contraction_that_hardly_is_one(ulps, exponent, reach):
    """Its logarithms are rounded so much that the window to begin with is too long or too short."""
    rate, margin = 1 - ulps * 2.0**-53, reach * 10**-exponent
    k = window_for_margin(rate, reach, 1.0, margin)
    assert reach * rate**k * UP < 2 * margin
    assert k == 0 or reach * rate ** (k - 1) * UP >= 2 * margin


def test_the_largest_table(monkeypatch):
    dfa = DFA.from_regex("(0|1)*1(0|1)(0|1)", "01")
    monkeypatch.setattr("fhx.stability.definite.MOST_CODES", 8)
    assert len(definite_net(dfa, 0.5).codes) == 15
    monkeypatch.setattr("fhx.stability.definite.MOST_CODES", 7)
    with pytest.raises(ValueError, match=r"^the readout's table has 2\^3 words, more than 7$"):
        definite_net(dfa, 0.5)


def test_the_parts_of_a_net():
    """Of a machine that looks at the last but one of three symbols: a shift register of two blocks, and codes."""
    dfa = DFA.from_regex("(a|b|c)*b(a|b|c)", "abc")
    net = definite_net(dfa, 0.5)
    rate = net.rate
    assert 0 < 0.5 - rate < 1e-13
    W = torch.zeros(6, 6, dtype=torch.float64)
    W[3:, :3] = rate * torch.eye(3, dtype=torch.float64)
    assert torch.equal(net.cell.W.cpu(), W)
    assert torch.equal(net.cell.U.cpu(), torch.eye(6, 3, dtype=torch.float64))
    assert not net.cell.b.any()
    assert (net.alphabet, net.order, net.margin) == (("a", "b", "c"), 2, rate / 2)
    codes = {tuple(code): yes for code, yes in zip(net.codes.tolist(), net.accepted.tolist(), strict=True)}
    assert len(codes) == 1 + 3 + 9
    assert codes[1, 0, 0, 0, rate, 0] is True
    assert codes[0, 1, 0, 0, 0, 0] is False
    assert net.encode("cb").tolist() == [[[0, 0, 1]], [[0, 1, 0]]]
    middle = (net.codes[0] + net.codes[1]) / 2
    assert -net.margin <= net.output(middle).item() <= net.margin
    near = net.cell(net.cell(net.cell.initial_state(), net.encode("b")[0, 0]), net.encode("a")[0, 0]).detach()
    assert net.output(near + 0.3).item() == pytest.approx(
        (
            min((near + 0.3 - c).abs().max().item() for c, yes in zip(net.codes, net.accepted, strict=True) if not yes)
            - min((near + 0.3 - c).abs().max().item() for c, yes in zip(net.codes, net.accepted, strict=True) if yes)
        )
        / 2
    )
    assert definite_net(DFA.from_regex("(a|b)*", "ab"), 0.25).margin == pytest.approx(2.0, rel=1e-12)


def test_windows_by_hand():
    assert window_for_margin(0.5, 1.0, 1.0, 0.25) == 2  # 1/2 is not below 1/2
    assert window_for_margin(0.5, 1.0, 1.0, 0.26) == 1
    assert window_for_margin(0.5, 1.0, 0.0, 0.1) == 0
    assert [window_for_margin(0.5, 1.0, 1.0, part * UP / 2) for part in (1, 1.01)] == [1, 0]
    found = window_for_margin(0.9999999999999997, 1.7955598129875106, 1.0, 8.494371483374004e-12)
    assert found < 76212275832460592  # what the logarithms say
    assert window_for_margin(0.0, 1.0, 1.0, 0.1) == 1
    assert window_for_margin(1 - 2**-50, 1.0, 1.0, 1e-3) == pytest.approx(2**50 * 6.2146, rel=1e-4)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: definite_net(parity(), 0.5), "^the machine is definite of no order: a contraction"),
        (
            lambda: definite_net(DFA.from_regex("(0|1)*1", "01"), 1.0),
            "^a definite net needs a rate above 0 and below 1, got 1",
        ),
        (lambda: definite_net(DFA.from_regex("(0|1)*1", "01"), 0.0), "rate above 0 and below 1"),
        (
            lambda: definite_net(DFA.from_regex("(0|1)*1(0|1)(0|1)", "01"), 1e-200),
            "^the margin 1e-200\\^2 / 2 is beyond",
        ),
        (lambda: definite_net(DFA.from_regex("(0|1)*", "01"), 5e-324), "^the margin 5e-324\\^-1 / 2 is beyond"),
        (lambda: definite_net(DFA.from_regex("(0|1)*1{17}", "01"), 0.5), "table has 2\\^17 words"),
        (lambda: definite_net(DFA.from_regex("(0|1)*1", "01"), 0.5).accepts("012"), "symbol '2' is outside"),
        (lambda: window_for_margin(1.0, 1.0, 1.0, 0.1), "rate of at least 0 and below 1"),
        (lambda: window_for_margin(0.5, 1.0, 1.0, 0.0), "^margin must be a positive number, got 0"),
        (lambda: window_for_margin(0.5, 1.0, 1.0, float("inf")), "^margin must be a positive number, got inf"),
        (lambda: window_for_margin(0.5, float("inf"), 1.0, 0.1), "^diameter must be a finite number of at least 0"),
        (lambda: window_for_margin(0.5, 1.0, -1.0, 0.1), "^lipschitz must be a finite number of at least 0"),
        (lambda: window_for_margin(0.5, 1.0, float("inf"), 0.1), "^lipschitz must be a finite number"),
        (lambda: window_for_margin(0.5, -1.0, 1.0, 0.1), "^diameter must be a finite number of at least 0, got -1"),
        (lambda: window_for_margin(0.5, 1e200, 1e200, 0.1), r"^lipschitz \* diameter must be a finite number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_net_is_a_value():
    net = definite_net(DFA.from_regex("(0|1)*1", "01"), 0.5)
    assert isinstance(net, DefiniteNet)
    with pytest.raises(AttributeError):
        net.margin = 1.0


@pytest.mark.usefixtures("unchecked")
def test_only_machines_have_an_order():
    with pytest.raises(TypeError, match=r"^definite_order needs a DFA, not the str 'parity'"):
        definite_order("parity")
