"""Truncated states: against a loop over windows, for every kind of cell; work, memory, gradients; the length needed."""

from functools import partial
from math import exp, nextafter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw, rng, stack

from fhx.cells import DeepCell, GRUCell, HighwayCell, LinearCell, LSTMCell, ResidualCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import truncated_states, truncation_length, window_for_state_gap

LAYERED = [partial(kind, depth=2) for kind in (DeepCell, ResidualCell, HighwayCell)]
KINDS = [SimpleCell, LinearCell, LSTMCell, GRUCell, *LAYERED, stack]


def loop(cell, inputs, k, h0=None):
    """One window after another, one step after another."""
    zero = cell.initial_state(inputs.shape[1])
    states = []
    for t in range(1, len(inputs) + 1):
        h = zero if t > k or h0 is None else h0.expand(zero.shape)
        for x in inputs[max(0, t - k) : t]:
            h = cell(h, x)
        states.append(h)
    return torch.stack(states)


@given(
    st.sampled_from(KINDS),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 3),
    st.none() | st.integers(1, 9),
    st.booleans(),
    st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_equal_to_the_loop(kind, time, k, batch, block, given_start, seed):
    cell = kind(2, 3, generator=rng(seed), **DOUBLE)
    inputs = draw(time, batch, 2, seed=seed)
    h0 = draw(batch, cell.state_width, seed=seed + 1) if given_start else None
    states = truncated_states(cell, inputs, k, h0, block)
    assert states.shape == (time, batch, cell.state_width)
    torch.testing.assert_close(states, loop(cell, inputs, k, h0), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_run_where_nothing_is_cut_off(kind):
    cell, inputs = kind(2, 3, generator=rng(), **DOUBLE), draw(5, 2, 2)
    h0 = draw(cell.state_width, seed=3)
    whole, cut = unroll(cell, inputs, h0), truncated_states(cell, inputs, 3, h0)
    torch.testing.assert_close(truncated_states(cell, inputs, 5, h0), whole, rtol=1e-14, atol=1e-14)
    torch.testing.assert_close(cut[:3], whole[:3], rtol=1e-14, atol=1e-14)
    assert (cut[3] - whole[3]).abs().max() > 1e-4


def test_a_window_knows_nothing_of_older_inputs():
    cell, inputs = LSTMCell(2, 3, generator=rng(), **DOUBLE), draw(9, 1, 2)
    changed = inputs.clone()
    changed[:4] += 1
    one, other = truncated_states(cell, inputs, 4), truncated_states(cell, changed, 4)
    assert torch.equal(one[7:], other[7:])
    assert not torch.equal(one[6], other[6])


@pytest.mark.parametrize("block", [None, 2])
@pytest.mark.parametrize("kind", [SimpleCell, LSTMCell, stack])
def test_gradients_are_those_of_the_loop(kind, block):
    cell, inputs = kind(2, 3, generator=rng(), **DOUBLE), draw(8, 2, 2).requires_grad_()
    h0, weight = draw(cell.state_width, seed=2).requires_grad_(), draw(8, 2, cell.state_width, seed=3)
    sources = [inputs, h0, *cell.parameters()]
    found = torch.autograd.grad((truncated_states(cell, inputs, 3, h0, block) * weight).sum(), sources)
    wanted = torch.autograd.grad((loop(cell, inputs, 3, h0) * weight).sum(), sources)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-13)


def test_of_a_function():
    def bent(h, x):
        return torch.stack([h[:, 0] * h[:, 1] + x[:, 0], torch.sin(h[:, 0]) - x[:, 1] ** 2], -1)

    inputs, h0 = draw(7, 2, 2), draw(2)
    states = truncated_states(bent, inputs, 3, h0, block=2)
    assert torch.equal(states[:3], unroll(bent, inputs[:3], h0))
    for t in range(4, 8):
        wanted = unroll(bent, inputs[t - 3 : t], torch.zeros(2, **DOUBLE))[-1]
        torch.testing.assert_close(states[t - 1], wanted, rtol=1e-13, atol=1e-14)


class Counted(torch.nn.Module):
    """How often a function is called, and on how many rows."""

    def __init__(self, step):
        super().__init__()
        self.step, self.rows = step, []

    def forward(self, h, x):
        self.rows.append(len(h))
        return self.step(h, x)


class Truncated(torch.nn.Module):
    """A cell's truncated states as a module, whose weights can be exchanged."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, inputs):
        return truncated_states(self.cell, inputs, 2)


@pytest.mark.parametrize(("time", "k", "block"), [(40, 5, 7), (40, 5, None), (13, 12, 3), (6, 1, 2)])
def test_work_and_memory(time, k, block):
    """k rows for each window and sequence, k for the head; never more than a block's rows at once."""
    counted, batch = Counted(lambda h, x: torch.tanh(h + x)), 3
    truncated_states(counted, draw(time, batch, 2), k, torch.zeros(2, **DOUBLE), block)
    assert sum(counted.rows) == batch * (k + (time - k) * k)
    assert max(counted.rows) == batch * min(block or time, time - k)


def test_blocks_are_chosen_by_what_they_hold(monkeypatch):
    monkeypatch.setattr("fhx.stability.truncation.CHUNK", 24)
    counted = Counted(lambda h, x: torch.tanh(h + x))
    truncated_states(counted, draw(30, 1, 2), 4, torch.zeros(2, **DOUBLE))
    assert max(counted.rows) == 6
    monkeypatch.setattr("fhx.stability.truncation.CHUNK", 3)
    counted.rows.clear()
    truncated_states(counted, draw(30, 2, 2), 4, torch.zeros(2, **DOUBLE))
    assert max(counted.rows) == 2  # one window of both sequences, where there is room for none


@pytest.mark.parametrize("frozen", [(), ("U", "b"), ("W", "b")])
def test_the_way_back_keeps_one_block_at_a_time(frozen):
    """Whichever weights are trained, what autograd keeps does not grow with k once the windows fill blocks."""

    def kept(k, block):
        numbers = []

        def pack(tensor):
            numbers.append(tensor.numel())
            return tensor

        cell, inputs = SimpleCell(1, 4, generator=rng(), **DOUBLE), draw(41, 1, 1)
        for name in frozen:
            getattr(cell, name).requires_grad_(False)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            truncated_states(cell, inputs, k, block=block)[k:].sum()
        return sum(numbers)

    head = [kept(k, 40) for k in (2, 10)]
    blocks = [kept(k, 3) for k in (2, 10)]
    assert head[1] > 4 * head[0]
    assert blocks[1] - blocks[0] < (head[1] - head[0]) / 4


def test_many_nets_at_once():
    cells = [SimpleCell(1, 2, generator=rng(seed), **DOUBLE) for seed in range(3)]
    inputs, run = draw(6, 2, 1), Truncated(SimpleCell(1, 2, generator=rng(), **DOUBLE))
    weights = {f"cell.{name}": value for name, value in torch.func.stack_module_state(cells)[0].items()}
    found = torch.func.vmap(lambda one: torch.func.functional_call(run, one, (inputs,)))(weights)
    for cell, states in zip(cells, found, strict=True):
        torch.testing.assert_close(states, truncated_states(cell, inputs, 2))


@pytest.mark.parametrize("shape", [(0, 2, 2), (5, 0, 2)])
def test_nothing(shape):
    cell = LSTMCell(2, 3, generator=rng(), **DOUBLE)
    assert truncated_states(cell, torch.zeros(shape, **DOUBLE), 2).shape == (*shape[:2], 6)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_is_a_positive_integer(k, unchecked):
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        truncated_states(SimpleCell(2, 3, **DOUBLE), draw(4, 1, 2), k)


def test_block_is_a_positive_integer(unchecked):
    with pytest.raises(ValueError, match="block must be an integer of at least 1"):
        truncated_states(SimpleCell(2, 3, **DOUBLE), draw(4, 1, 2), 1, block=0)


@pytest.mark.claim("B6")
@given(
    st.just(0.0) | st.floats(1e-9, 1 - 1e-6), st.floats(0, 10), st.floats(0, 10), st.floats(1e-12, 10), st.floats(0, 2)
)
def test_the_length_is_the_first_that_is_enough(rate, lipschitz, bound, eps, at_zero):
    k = truncation_length(rate, lipschitz, bound, eps, at_zero)
    size = (lipschitz * bound + at_zero) / (1 - rate)
    assert k >= 1
    assert rate**k * size <= eps
    assert k == 1 or rate ** (k - 1) * size > eps


@given(st.floats(1e-3, 1 - 1e-9), st.floats(1e-3, 1e6), st.integers(1, 60))
def test_a_length_that_is_just_enough(rate, size, k):
    """At the border the logarithms may be off by one."""
    eps = rate**k * size
    first = next(j for j in range(1, k + 1) if rate**j * size <= eps)
    assert window_for_state_gap(rate, size, eps) == first
    assert window_for_state_gap(rate, size, nextafter(eps, 0)) > first


def test_the_divisor_belongs_to_the_length():
    """At the rate 1 - 1e-4 the logarithm is 14 and the length 138,000: no absolute constant times the logarithm."""
    assert truncation_length(1 - 1e-4, 1.0, 1.0, 1e-2) == pytest.approx(14 * 1e4, rel=0.02)
    assert truncation_length(exp(-1), 1.0, 1.0, 1e-2) == 6


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ((1.0, 1.0, 1.0, 0.1), "rate of at least 0"),
        ((-0.1, 1.0, 1.0, 0.1), "rate"),
        ((float("nan"), 1.0, 1.0, 0.1), "rate"),
        ((0.5, -1.0, 1.0, 0.1), "^input_lipschitz must be a finite number of at least 0, got -1"),
        ((0.5, float("inf"), 1.0, 0.1), "^input_lipschitz must be a finite number"),
        ((0.5, 1.0, -1.0, 0.1), "^input_bound must be a finite number"),
        ((0.5, 1.0, float("inf"), 0.1), "^input_bound must be a finite number"),
        ((0.5, 1.0, 1.0, 0.0), "^eps must be a positive number, got 0"),
        ((0.5, 1.0, 1.0, float("nan")), "^eps must be a positive number, got nan"),
        ((0.5, 1.0, 1.0, 0.1, float("inf")), "^at_zero must be a finite number"),
        ((0.5, 1.0, 1.0, 0.1, -1.0), "^at_zero must be a finite number"),
    ],
)
def test_bad_numbers(arguments, culprit):
    with pytest.raises(ValueError, match=culprit):
        truncation_length(*arguments)


def test_states_that_are_not_bounded_need_for_ever():
    for size in (float("inf"), -1.0, float("nan")):
        with pytest.raises(ValueError, match=r"^state_bound must be a finite number of at least 0"):
            window_for_state_gap(0.5, size, 0.1)


def test_windows_by_hand():
    assert [window_for_state_gap(*given) for given in ((0.5, 0.0, 0.1), (0.0, 5.0, 0.1), (0.5, 2.0, 1.0))] == [1, 1, 1]
    assert window_for_state_gap(0.5, 2.0, 0.999) == 2
    assert window_for_state_gap(0.5, 1.0, 2.0**-40) == 40
    assert truncation_length(0.5, 1.0, 1.0, 2.0**-40) == truncation_length(0.5, 1.0, 1.0, 2.0**-40, 0.0) == 41
