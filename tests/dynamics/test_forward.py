"""Gradients forward in time, against autograd on the unrolled run."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw, stack
from torch.utils.flop_counter import FlopCounterMode

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import diagonal_rtrl, rtrl, unroll
from fhx.dynamics.forward import Loss

KINDS = {"simple": SimpleCell, "linear": LinearCell, "LSTM": LSTMCell, "GRU": GRUCell, "stack": stack}


def loss(h, t):
    """Another one at every time, and none at some."""
    return (t % 3) * (torch.cos(t * h).sum(-1) + h[:, 0] ** 3)


def by_autograd(parameters, states):
    total = sum(loss(h, t).sum() for t, h in enumerate(states, 1))
    return torch.autograd.grad(total, parameters)


@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 8),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 2**32),
)
@settings(max_examples=25)
def test_it_is_back_propagation(kind, time, batch, d, d_in, started, seed):
    cell = KINDS[kind](d_in, d, generator=torch.Generator().manual_seed(seed), **DOUBLE)
    inputs = draw(time, batch, d_in, seed=seed)
    h0 = draw(batch, cell.state_width, seed=seed + 1) if started else None
    wanted = by_autograd(list(cell.parameters()), unroll(cell, inputs, h0))
    found = rtrl(cell, inputs, loss, h0)
    assert list(found) == [name for name, _ in cell.named_parameters()]
    for part, other in zip(found.values(), wanted, strict=True):
        torch.testing.assert_close(part, other, rtol=1e-12, atol=1e-12)


def test_a_deep_cell_over_a_long_run():
    cell, inputs = DeepCell(2, 3, 2, generator=torch.Generator().manual_seed(0), **DOUBLE), draw(200, 2, 2)
    wanted = by_autograd(list(cell.parameters()), unroll(cell, inputs))
    for part, other in zip(rtrl(cell, inputs, loss).values(), wanted, strict=True):
        torch.testing.assert_close(part, other, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 8), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=60)
def test_traces_are_back_propagation(time, batch, d, d_in, started, seed):
    decay, weight = draw(d, seed=seed).tanh().requires_grad_(), draw(d, d_in, seed=seed + 1).requires_grad_()
    inputs, h0 = draw(time, batch, d_in, seed=seed + 2), draw(batch, d, seed=seed + 3) if started else None
    h, states = torch.zeros(batch, d, **DOUBLE) if h0 is None else h0, []
    for x in inputs:
        h = decay * h + x @ weight.T
        states.append(h)
    wanted = by_autograd([decay, weight], states) if time else (torch.zeros_like(decay), torch.zeros_like(weight))
    found = diagonal_rtrl(decay.detach(), weight.detach(), inputs, loss, h0)
    for part, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(part, other, rtol=1e-12, atol=1e-12)


def test_traces_are_what_is_left_of_the_sensitivity_of_a_linear_cell():
    cell, inputs = LinearCell(2, 3, **DOUBLE), draw(9, 2, 2)
    with torch.no_grad():
        cell.W.copy_(torch.diag(draw(3).tanh()))
        cell.b.zero_()
    whole = rtrl(cell, inputs, loss)
    by_decay, by_weight = diagonal_rtrl(cell.W.detach().diag(), cell.U.detach(), inputs, loss)
    torch.testing.assert_close(by_decay, whole["W"].diag(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(by_weight, whole["U"], rtol=1e-12, atol=1e-12)


def test_a_step_multiplies_d_squared_times_the_parameters():
    """The product of the Jacobian and the sensitivity alone is that many multiplications, and as many additions."""
    cell = SimpleCell(2, 16, **DOUBLE)
    P = sum(p.numel() for p in cell.parameters())

    def flops(steps):
        with FlopCounterMode(display=False) as counter:
            rtrl(cell, draw(steps, 1, 2), lambda h, _: h.sum(-1))
        return counter.get_total_flops()

    step = flops(5) - flops(4)
    assert 2 * 16**2 * P <= step < 1.2 * 2 * 16**2 * P


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    cell, inputs = SimpleCell(2, 3), torch.zeros(4, 5, 2)
    sum_of: Loss = lambda h, t: h.sum()  # noqa: E731
    with pytest.raises(ValueError, match=r"loss must return 5 numbers, one for each sequence, got \(\)"):
        rtrl(cell, inputs, sum_of)
    with pytest.raises(TypeError, match="needs a cell and its parameters, got function"):
        rtrl(lambda h, x: h, inputs, loss)
    with pytest.raises(ValueError, match=r"decay must be \(d,\), weight \(d, d_in\)"):
        diagonal_rtrl(torch.ones(3), torch.ones(2, 2), inputs, loss)
    with pytest.raises(ValueError, match=r"h0 must have shape \(batch, d\) = \(5, 3\), got \(3,\)"):
        diagonal_rtrl(torch.ones(3), torch.ones(3, 2), inputs, loss, torch.ones(3))
    with pytest.raises(ValueError, match=r"loss must return 5 numbers"):
        diagonal_rtrl(torch.ones(3), torch.ones(3, 2), inputs, sum_of)


@pytest.mark.usefixtures("unchecked")
def test_a_cell_without_parameters():
    cell = SimpleCell(1, 1)
    for name in ("W", "U", "b"):
        value = getattr(cell, name).detach()
        delattr(cell, name)
        cell.register_buffer(name, value)
    with pytest.raises(ValueError, match="SimpleCell has no parameters to learn"):
        rtrl(cell, torch.zeros(2, 1, 1), loss)
