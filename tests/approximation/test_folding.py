"""A step with one hidden layer and the simple RNN that it folds into: the same states."""

from fractions import Fraction

import pytest
import torch
from approximation_nets import exact_nets, exact_states, random_cell
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.approximation import ShallowCell, fold, fold_exactly, shallow_step
from fhx.cells import SimpleCell
from fhx.dynamics import unroll

EPS = torch.finfo(torch.float64).eps
SEEDS = st.integers(0, 2**32)


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(SEEDS, st.sampled_from(["relu", "tanh"]))
@settings(max_examples=20)
def test_step_is_its_formula(seed, activation):
    cell = random_cell(seed, activation=activation)
    h, x = normal(seed + 1, 3), normal(seed + 2, 2)
    hidden = [getattr(torch, activation)(cell.A[i] @ h + cell.B[i] @ x + cell.c[i]) for i in range(7)]
    expected = torch.stack([sum(cell.V[j, i] * hidden[i] for i in range(7)) + cell.d[j] for j in range(3)])
    torch.testing.assert_close(cell(h, x), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("activation", ["relu", "tanh", torch.sin])
def test_jacobians_are_those_of_autograd(activation):
    cell = random_cell(0, activation=activation)
    h, x = normal(1, 4, 3), normal(2, 4, 2)
    for k in range(4):
        by_h, by_x = torch.autograd.functional.jacobian(cell, (h[k], x[k]))
        torch.testing.assert_close(cell.jacobian(h, cell.drive(x))[k], by_h, rtol=0, atol=1e-14)
        torch.testing.assert_close(cell.input_jacobian(h, x)[k], by_x, rtol=0, atol=1e-14)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from(["relu", "tanh"]), st.sampled_from(["unit", "solved"]))
def test_folded_net_goes_through_the_states(seed, activation, start):
    """The step contracts by a half, so that rounding errors add up to at most twice that of a step."""
    cell = random_cell(seed, activation=activation, gain=0.5)
    h0, inputs = 3 * normal(seed + 1, 3), normal(seed + 2, 40, 5, 2)
    with torch.no_grad():
        net = fold(cell, h0, start)
        states = unroll(cell, inputs, h0)
        assert isinstance(net.cell, SimpleCell)
        assert net.cell.state_size == cell.units + (start == "unit")
        size = cell.V.norm() * (cell.A.norm() * states.abs().max() + cell.B.norm() * 9 + cell.c.norm() + cell.d.norm())
        largest = net.states(inputs).abs().max() + net.h0.norm()
        assert (net(inputs) - states).abs().max() < 100 * EPS * (
            1 + size + cell.V.norm() * largest * (1 + cell.A.norm())
        )


def test_activation_of_the_folded_net_is_the_cells():
    for activation in (torch.relu, torch.tanh):
        assert fold(random_cell(0, activation=activation)).cell.activation is activation


def test_a_start_that_no_state_of_the_units_gives():
    V, A = torch.tensor([[1.0], [0.0]]), torch.tensor([[1.0, 1.0]])
    cell = ShallowCell(V, A, torch.zeros(1, 1), torch.zeros(1), torch.zeros(2))
    h0, inputs = torch.tensor([2.0, 5.0]), torch.zeros(3, 1, 1)
    with pytest.raises(ValueError, match="not a combination of V's columns: take h0_method='unit'"):
        fold(cell, h0, "solved")
    with torch.no_grad():
        assert fold(cell, h0)(inputs)[:, 0].tolist() == [[7.0, 0.0]] * 3


@pytest.mark.usefixtures("unchecked")
def test_bad_starts():
    with pytest.raises(ValueError, match="h0_method must be one of 'unit', 'solved', got 'guess'"):
        fold(random_cell(0), h0_method="guess")
    with pytest.raises(ValueError, match=r"h0 must be one state, shape \(3,\), got \(2,\)"):
        fold(random_cell(0), torch.zeros(2))
    with pytest.raises(ValueError, match="needs an activation that is 0 at 0"):
        fold(random_cell(0, activation=torch.cos))


@settings(max_examples=60)
@given(exact_nets())
def test_exact_folding_is_equal_at_every_step(net_and_inputs):
    weights, xs = net_and_inputs
    net = fold_exactly(*weights)
    states = exact_states(weights, xs)
    assert list(net.outputs(xs)) == states
    assert [tuple(state.values()) for state in shallow_step(*weights).run(xs)] == [weights[-1], *states]
    assert net.units <= 1 + len(weights[1])


def test_a_cell_in_floats_folds_exactly():
    cell = random_cell(3, d=2, units=4, inputs=1)
    h0, xs = (Fraction(1, 3), Fraction(2)), [(Fraction(k, 5),) for k in range(5)]
    weights = [*cell.exact_weights(), h0]
    exact = list(fold_exactly(*weights).outputs(xs))
    assert exact == exact_states(weights, xs)
    inputs = torch.tensor(xs, dtype=torch.float64)[:, None]
    with torch.no_grad():
        floats = unroll(cell, inputs, torch.tensor([1 / 3, 2], dtype=torch.float64))[:, 0]
    torch.testing.assert_close(floats, torch.tensor(exact, dtype=torch.float64), rtol=0, atol=1e-13)


@pytest.mark.usefixtures("unchecked")
def test_sizes_that_do_not_fit():
    V, A, B, c, d = (m.detach() for m in random_cell(0).parameters())
    with pytest.raises(ValueError, match=r"A must have shape \(7, 3\) beside V \(3, 7\), got \(6, 3\)"):
        ShallowCell(V, A[:6], B, c, d)
    with pytest.raises(ValueError, match="V, A and B must be matrices"):
        ShallowCell(V, A, c, c, d)
    with pytest.raises(ValueError, match="A must be 2 x 1, for 1 states and 2 units"):
        shallow_step([[1, 1]], [[1, 1], [1, 1]], [[1], [1]], [0, 0], [0], [0])
    with pytest.raises(TypeError, match="float"):
        fold_exactly([[1.5]], [[1]], [[1]], [0], [0], [0])
