"""Closed-form Jacobians against automatic differentiation."""

import copy
from functools import partial

import pytest
import torch
from cell_zoo import KINDS
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw
from torch import nn
from torch.func import functional_call, jacrev, stack_module_state, vmap
from torch.nn import functional as F

from fhx.cells import (
    AffineCell,
    Cell,
    DeepCell,
    DeepLSTMCell,
    HighwayCell,
    LSTMCell,
    ResidualCell,
    SimpleCell,
    Stack,
)
from fhx.dynamics import unroll

SEED = st.integers(0, 2**32 - 2)


# What a layer norm takes away from a Jacobian can be nearly all of it (of two units it leaves signs), and what is left
# is known to the rounding of what was there: then the error is relative to 1 where the Jacobian is smaller.
SMALLEST = {"normalised": 1.0, "stack": 1.0}


def relative_error(ours, exact, smallest=1e-300):
    return ((ours - exact).abs().max() / exact.abs().max().clamp(min=smallest)).item()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(st.data(), st.integers(1, 3), SEED)
def test_closed_form_equals_automatic_differentiation(kind, data, batch, seed):
    cell = data.draw(KINDS[kind])()
    smallest = SMALLEST.get(kind, 1e-300)
    h, x = draw(batch, cell.state_width, seed=seed), draw(batch, cell.input_size, seed=seed + 1)
    ours = cell.jacobian(h, cell.drive(x))
    assert ours.shape == (batch, cell.state_width, cell.state_width)
    assert relative_error(ours, vmap(jacrev(cell.forward))(h, x), smallest) < 1e-12
    ours = cell.input_jacobian(h, x)
    assert ours.shape == (batch, cell.state_width, cell.input_size)
    assert relative_error(ours, vmap(jacrev(cell.forward, 1))(h, x), smallest) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5)
@given(st.data(), SEED)
def test_the_default_equals_automatic_differentiation_in_every_batch_shape(kind, data, seed):
    cell = data.draw(KINDS[kind])()
    for shape in ((), (2,), (2, 3), (0,)):
        h, x = draw(*shape, cell.state_width, seed=seed), draw(*shape, cell.input_size, seed=seed + 1)
        drive = cell.drive(x)
        assert cell.jacobian(h, drive).shape == (*shape, cell.state_width, cell.state_width)
        assert cell.input_jacobian(h, x).shape == (*shape, cell.state_width, cell.input_size)
        if shape != (0,):
            torch.testing.assert_close(cell.jacobian(h, drive), Cell.jacobian(cell, h, drive), rtol=1e-10, atol=1e-10)
            torch.testing.assert_close(
                cell.input_jacobian(h, x), Cell.input_jacobian(cell, h, x), rtol=1e-10, atol=1e-10
            )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@settings(max_examples=2)
@given(st.data())
def test_all_that_a_cell_computes_is_of_its_dtype(kind, dtype, data):
    cell = data.draw(KINDS[kind])().to(dtype)
    h, x = cell.initial_state(3), draw(3, cell.input_size).to(dtype)
    made = [h, cell.drive(x), cell(h, x), cell.hidden(h), cell.jacobian(h, cell.drive(x)), cell.input_jacobian(h, x)]
    assert {value.dtype for value in made} == {dtype}


def test_a_new_cell_has_jacobians():
    class Squared(AffineCell):
        def step(self, h, drive):
            return drive + F.linear(h * h, self.W)

    cell = Squared(2, 3, **DOUBLE)
    h, x = draw(4, 3), draw(4, 2)
    torch.testing.assert_close(cell.jacobian(h, cell.drive(x)), 2 * h[:, None, :] * cell.W)
    torch.testing.assert_close(cell.input_jacobian(h, x), cell.U.expand(4, 3, 2))


@pytest.mark.parametrize("activation", [nn.Tanh(), lambda a: a.softmax(-1)])
@pytest.mark.parametrize("kind", [SimpleCell, partial(DeepCell, depth=3), partial(ResidualCell, depth=2)])
def test_any_callable_is_differentiated(kind, activation):
    cell = kind(2, 3, activation=activation, **DOUBLE)
    h, x = draw(3), draw(2)
    ours = torch.cat((cell.jacobian(h, cell.drive(x)), cell.input_jacobian(h, x)), 1)
    torch.testing.assert_close(ours, torch.cat(jacrev(cell, (0, 1))(h, x), 1), rtol=1e-12, atol=1e-12)


def test_the_jacobian_of_a_run_is_the_product_of_the_steps_own():
    cell = Stack([LSTMCell(2, 3, **DOUBLE), DeepCell(3, 4, 3, **DOUBLE)])
    inputs, h0 = draw(6, 1, 2), draw(cell.state_width)
    before = torch.cat((h0[None, None], unroll(cell, inputs, h0)[:-1]))
    product = torch.linalg.multi_dot(list(cell.jacobian(before, cell.drive(inputs))[:, 0].flip(0)))
    exact = jacrev(lambda h: unroll(cell, inputs, h)[-1, 0])(h0)
    assert relative_error(product, exact) < 1e-12


def test_the_memory_of_an_lstm_goes_through_the_forget_gate_alone():
    for cell in (LSTMCell(2, 3, **DOUBLE), DeepLSTMCell(2, 3, 4, **DOUBLE)):
        h, x = draw(6), draw(2)
        by_c = cell.jacobian(h, cell.drive(x))[3:, 3:]
        off = draw(3, seed=5)
        moved = cell(torch.cat((h[:3], h[3:] + off)), x)[3:] - cell(h, x)[3:]
        torch.testing.assert_close(by_c, by_c.diagonal().diag())
        torch.testing.assert_close(moved, by_c.diagonal() * off)


def test_nothing_flows_down_a_stack():
    cell = Stack([HighwayCell(2, 3, 2, **DOUBLE), SimpleCell(3, 4, **DOUBLE)])
    J = cell.jacobian(draw(5, 7), cell.drive(draw(5, 2)))
    assert not J[:, :3, 3:].any()
    assert J[:, 3:, :3].abs().min() > 0


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3)
@given(st.data())
def test_jacobians_of_many_nets_at_once(kind, data):
    cell = data.draw(KINDS[kind])()
    halved = copy.deepcopy(cell)
    with torch.no_grad():
        for p in halved.parameters():
            p /= 2
    h, x = draw(2, cell.state_width), draw(2, cell.input_size)

    class Both(nn.Module):
        def __init__(self, cell):
            super().__init__()
            self.cell = cell

        def forward(self):
            return self.cell.jacobian(h, self.cell.drive(x)), self.cell.input_jacobian(h, x)

    nets = [Both(cell), Both(halved)]
    many = vmap(lambda p: functional_call(nets[0], p, ()))(stack_module_state(nets)[0])
    for ours, one, other in zip(many, *(net() for net in nets), strict=True):
        torch.testing.assert_close(ours, torch.stack((one, other)), rtol=1e-10, atol=1e-10)
