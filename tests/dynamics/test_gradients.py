"""Gradients through time, against autograd and against what is known of linear maps."""

from math import log

import pytest
import torch
from random_tensors import DOUBLE, draw, stack
from torch import nn
from torch.autograd.functional import jacobian as by_autograd

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization, gradient_norms, input_gradients, jacobians, product_norms


def make(kind, seed=0):
    return kind(2, 3, generator=torch.Generator().manual_seed(seed), **DOUBLE)


def bent(h, x):
    return torch.stack([h[:, 0] * h[:, 1] + x[:, 0], torch.sin(h[:, 0]) - x[:, 1] ** 2], -1)


def loss(h):
    return torch.cos(h).sum(-1) + h[:, 0] ** 3


@pytest.mark.parametrize("kind", [SimpleCell, LinearCell, LSTMCell, GRUCell, stack])
def test_norms_are_those_of_autograd(kind):
    cell, inputs = make(kind), draw(7, 4, 2)
    h0 = draw(4, cell.state_width)
    states = [h0.requires_grad_()]
    for x in inputs:
        states.append(cell(states[-1], x))
    gradients = torch.autograd.grad(loss(states[-1]).sum(), states[1:])
    wanted = torch.stack([torch.linalg.vector_norm(gradient, dim=-1) for gradient in gradients])
    found = gradient_norms(cell, inputs, loss, h0.detach())
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    logs = gradient_norms(cell, inputs, loss, h0.detach(), log_scale=True)
    torch.testing.assert_close(logs, wanted.log(), rtol=1e-12, atol=1e-12)


def test_norms_of_a_function():
    inputs, h0 = draw(5, 3, 2), draw(2)
    state = h0.expand(3, 2).requires_grad_()
    states = [state]
    for x in inputs:
        states.append(bent(states[-1], x))
    gradients = torch.autograd.grad(loss(states[-1]).sum(), states[1:])
    wanted = torch.stack([torch.linalg.vector_norm(gradient, dim=-1) for gradient in gradients])
    torch.testing.assert_close(gradient_norms(bent, inputs, loss, h0), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gain", [10.0, 0.1])
def test_logarithms_beyond_the_range_of_floats(gain):
    """A scaled rotation from the zero state, where every gradient is known."""
    cell = make(LinearCell)
    with torch.no_grad():
        cell.W.copy_(gain * torch.linalg.qr(draw(3, 3))[0])
        cell.b.zero_()
    inputs, steps = torch.zeros(500, 2, 2, **DOUBLE), torch.arange(499, -1, -1, **DOUBLE)
    logs = gradient_norms(cell, inputs, lambda h: h[:, 0], log_scale=True)
    torch.testing.assert_close(logs, (steps * log(gain))[:, None].expand(500, 2), rtol=1e-13, atol=1e-11)
    plain = gradient_norms(cell, inputs, lambda h: h[:, 0])
    assert not plain.isnan().any()
    assert plain[0, 0] == (torch.inf if gain > 1 else 0)


def test_no_gradient_exceeds_the_norm_of_the_product():
    cell, inputs = make(GRUCell), draw(30, 4, 2)
    logs = gradient_norms(cell, inputs, lambda h: h[:, 1], log_scale=True)
    bounds = product_norms(jacobians(cell, inputs))[1:]
    assert (logs <= bounds + 1e-12).all()


def test_a_silent_net_has_no_gradient_and_no_nan():
    inputs = torch.tensor([0.0, 9.0, -1.0], **DOUBLE)[:, None, None]
    logs = gradient_norms(
        lambda h, x: torch.relu(h - x), inputs, lambda h: h[:, 0], torch.ones(1, **DOUBLE), log_scale=True
    )
    assert logs[:, 0].tolist() == [-torch.inf, 0.0, 0.0]


@pytest.mark.parametrize("kind", [SimpleCell, LSTMCell, stack])
@pytest.mark.parametrize("lags", [0, 3, 5])
def test_input_gradients_are_those_of_autograd(kind, lags):
    net, inputs = Realization(make(kind), nn.Linear(3, 2, **DOUBLE), draw(make(kind).state_width)), draw(6, 3, 2)
    found = input_gradients(net, inputs, lags)
    assert found.shape == (6 - lags, lags + 1, 3)
    derivative = by_autograd(lambda x: net(x).sum(1), inputs)  # (time of p, output, time of x, batch, input)
    for t in range(6 - lags):
        for i in range(lags + 1):
            wanted = derivative[t + i, :, t].square().sum((0, 2)).sqrt()
            torch.testing.assert_close(found[t, i], wanted, rtol=1e-12, atol=1e-12)


def test_input_gradients_of_a_function_with_logarithms():
    """The state is multiplied by e^2 a step and takes up the input as it is."""
    net = Realization(lambda h, x: torch.e**2 * h + x, nn.Identity(), torch.zeros(1, **DOUBLE))
    logs = input_gradients(net, draw(600, 2, 1), 500, log_scale=True)
    wanted = 2 * torch.arange(501, **DOUBLE)[None, :, None].expand(100, 501, 2)
    torch.testing.assert_close(logs, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    cell, inputs = SimpleCell(2, 3), torch.zeros(4, 5, 2)
    for shapeless in (lambda h: h.mean(), lambda h: h):
        with pytest.raises(ValueError, match="loss must return 5 numbers, one for each sequence, got"):
            gradient_norms(cell, inputs, shapeless)
    with pytest.raises(ValueError, match="give h0"):
        gradient_norms(bent, inputs, loss)
    with pytest.raises(ValueError, match=r"a gradient needs states of a real dtype, got h0 of torch\.int64"):
        gradient_norms(lambda h, x: h, inputs, loss, torch.tensor([0]))
    for lags in (-1, 4):
        with pytest.raises(ValueError, match=f"lags must lie between 0 and T - 1 = 3, got {lags}"):
            input_gradients(Realization(cell, nn.Identity()), inputs, lags)
