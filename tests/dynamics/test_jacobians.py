"""Jacobians along a run: autograd one state at a time, plain functions, chunks, bad input."""

import sys

import pytest
import torch
from random_tensors import DOUBLE, draw, rng, stack
from torch.autograd.functional import jacobian as by_autograd

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import jacobians, unroll
from fhx.dynamics.jacobians import jacobian_chunks


def bent(h, x):
    """A plain function of whole batches, in which each sequence minds its own business."""
    return torch.stack([h[:, 0] * h[:, 1] + x[:, 0], torch.sin(h[:, 0]) - x[:, 1] ** 2], -1)


@pytest.mark.parametrize("kind", [SimpleCell, LinearCell, LSTMCell, GRUCell, stack])
def test_of_a_cell(kind):
    cell, inputs = kind(2, 3, generator=rng(), **DOUBLE), draw(5, 4, 2)
    h0 = draw(4, cell.state_width)
    found, before = jacobians(cell, inputs, h0), h0
    assert found.shape == (5, 4, cell.state_width, cell.state_width)
    for t, x in enumerate(inputs):
        for b in range(4):
            one = by_autograd(lambda h, x=x[b]: cell(h, x), before[b])
            torch.testing.assert_close(found[t, b], one, rtol=1e-12, atol=1e-12)
        before = cell(before, x)


def test_of_a_function():
    inputs, h0 = draw(5, 4, 2), draw(2)
    found, before = jacobians(bent, inputs, h0), torch.cat([h0.expand(1, 4, 2), unroll(bent, inputs, h0)[:-1]])
    for t in range(5):
        for b in range(4):
            (x, y), zero = before[t, b], torch.zeros((), **DOUBLE)
            wanted = torch.stack([torch.stack([y, x]), torch.stack([torch.cos(x), zero])])
            torch.testing.assert_close(found[t, b], wanted, rtol=1e-12, atol=1e-12)


def test_the_product_is_the_derivative_of_the_last_state():
    cell, inputs, h0 = GRUCell(2, 3, generator=rng(), **DOUBLE), draw(6, 1, 2), draw(3)
    product = torch.eye(3, **DOUBLE)
    for step in jacobians(cell, inputs, h0)[:, 0]:
        product = step @ product
    whole = by_autograd(lambda h: unroll(cell, inputs, h)[-1, 0], h0)
    torch.testing.assert_close(product, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("steps", "lengths"), [(3, [3, 3, 1]), (0.5, [1] * 7)])
def test_chunks_are_the_whole(monkeypatch, steps, lengths):
    """A chunk holds as many steps as there is room for, and one where there is room for none."""
    inputs, h0 = draw(7, 2, 2), draw(2)
    whole = jacobians(bent, inputs, h0)
    monkeypatch.setattr(sys.modules[jacobian_chunks.__module__], "CHUNK", int(steps * 2 * 2 * 2))
    chunks = [chunk for _, chunk in jacobian_chunks(bent, inputs, h0)]
    assert [len(chunk) for chunk in chunks] == lengths
    assert torch.equal(torch.cat(chunks), whole)
    assert torch.equal(jacobians(bent, inputs, h0), whole)


def test_no_inputs_have_no_jacobians():
    assert jacobians(SimpleCell(2, 3), torch.zeros(0, 4, 2)).shape == (0, 4, 3, 3)


@pytest.mark.usefixtures("unchecked")
def test_states_without_a_derivative_and_what_unroll_refuses():
    with pytest.raises(ValueError, match=r"a gradient needs states of a real dtype, got h0 of torch\.int64"):
        jacobians(lambda h, x: h, torch.zeros(4, 2, 1), torch.tensor([0]))
    with pytest.raises(ValueError, match="give h0"):
        jacobians(bent, torch.zeros(4, 2, 2))
    with pytest.raises(ValueError, match="inputs must have shape"):
        jacobians(SimpleCell(2, 3), torch.zeros(4, 2))
