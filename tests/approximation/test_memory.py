"""Memory kernels and what they cost in units: known kernels, rest points, bounds from below and from above."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fhx.approximation import (
    LinearRecurrence,
    exponential_sum,
    hankel_bound,
    hankel_matrix,
    linear_part,
    memory_kernel,
    rest_point,
)
from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import Realization

DOUBLE = {"dtype": torch.float64}
SEEDS = st.integers(0, 2**32)


def normal(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), **DOUBLE)


def random_recurrence(seed, units, radius=0.95):
    W = normal(seed, units, units)
    W = radius * W / torch.linalg.eigvals(W).abs().max()
    return LinearRecurrence(W, normal(seed + 1, units, 1), normal(seed + 2, 1, units))


def scalar_kernel(part, steps):
    return part.kernel(steps)[:, 0, 0]


def power_law(p, steps):
    return (1 + torch.arange(steps, **DOUBLE)) ** -p


def sizes(e):
    return {"sum": e.abs().sum().item(), "energy": e.norm().item(), "largest": e.abs().max().item()}


# --- linear recurrences and linear parts


@settings(max_examples=10)
@given(SEEDS, st.integers(1, 4))
def test_kernel_is_the_whole_map(seed, units):
    part = LinearRecurrence(0.5 * normal(seed, units, units), normal(seed + 1, units, 2), normal(seed + 2, 3, units))
    inputs = normal(seed + 3, 6, 1, 2)
    kernel = part.kernel(6)
    with torch.no_grad():
        outputs = part.realization()(inputs)[:, 0]
    for t in range(6):
        by_kernel = sum(kernel[s] @ inputs[t - s, 0] for s in range(t + 1))
        torch.testing.assert_close(outputs[t], by_kernel, rtol=1e-10, atol=1e-10)


def test_kernel_of_a_linear_cell():
    generator = torch.Generator().manual_seed(0)
    cell = LinearCell(2, 3, generator=generator, **DOUBLE)
    net = Realization(cell, nn.Linear(3, 2, **DOUBLE))
    for t, row in enumerate(memory_kernel(net, 5)):
        expected = net.readout.weight @ torch.linalg.matrix_power(cell.W, t) @ cell.U
        torch.testing.assert_close(row, expected.detach(), rtol=1e-12, atol=1e-12)
        assert not row.requires_grad


@pytest.mark.parametrize("kind", [SimpleCell, GRUCell, LSTMCell])
def test_rest_point_rests_and_small_impulses_follow_the_kernel(kind):
    """Central differences of the net's outputs, with the input away from zero for a time and then back."""
    cell = kind(2, 3, generator=torch.Generator().manual_seed(1), **DOUBLE)
    net = Realization(cell, nn.Linear(3, 1, **DOUBLE))
    x = torch.tensor([0.3, -0.2], **DOUBLE)
    with torch.no_grad():
        h = rest_point(cell, x)
        torch.testing.assert_close(cell(h, x), h, rtol=0, atol=1e-12)
        assert h.norm() > 0.01
        at_rest, kernel = Realization(cell, net.readout, h0=h), memory_kernel(net, 8, x=x)
        for i in range(2):
            impulse = torch.zeros(8, 1, 2, **DOUBLE)
            impulse[0, 0, i] = 1e-4
            response = (at_rest(x + impulse) - at_rest(x - impulse))[:, 0] / 2e-4
            torch.testing.assert_close(kernel[:, :, i], response, rtol=1e-5, atol=1e-7)


def test_newton_finds_a_rest_point_that_repels():
    cell = SimpleCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter, value in ((cell.W, 3.0), (cell.U, 1.0), (cell.b, 0.0)):
            parameter.fill_(value)
    assert rest_point(cell, guess=torch.tensor([0.1], **DOUBLE)).item() == pytest.approx(0, abs=1e-9)
    upper = rest_point(cell, guess=torch.tensor([1.0], **DOUBLE)).item()
    assert upper == pytest.approx(math.tanh(3 * upper))
    assert upper > 0.9
    assert linear_part(Realization(cell, nn.Identity()), at=torch.zeros(1, **DOUBLE)).W.item() == 3


def test_no_rest_point():
    cell = LinearCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.fill_(1.0)
    with pytest.raises(ValueError, match="no rest point was found"):
        rest_point(cell)
    with pytest.raises(ValueError, match="not a plain function"):
        linear_part(Realization(lambda h, x: h, nn.Identity(), torch.zeros(1)))


# --- exponentials and Hankel matrices


def test_hankel_matrix_is_its_definition():
    for steps in (1, 2, 7, 8):
        H = hankel_matrix(torch.arange(steps, **DOUBLE))
        assert H.shape[0] - H.shape[1] in (0, 1)
        assert sum(H.shape) == steps + 1
        assert H.tolist() == [[float(i + j) for j in range(H.shape[1])] for i in range(H.shape[0])]


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 4))
def test_a_sum_of_m_exponentials_takes_m_units(seed, units):
    """Its poles may be complex. m units find it, and no number of them below is excluded that should not be."""
    kernel = scalar_kernel(random_recurrence(seed, units), 60)
    found = exponential_sum(kernel, units)
    scale = kernel.abs().max()
    assert (scalar_kernel(found, 60) - kernel).abs().max() < 1e-8 * scale
    for measure in ("sum", "energy", "largest"):
        assert hankel_bound(kernel, units, measure) < 1e-12 * scale


@pytest.mark.claim("E10")
def test_decay_takes_one_unit():
    kernel = torch.exp(-torch.arange(200, **DOUBLE))
    found = exponential_sum(kernel, 1)
    assert found.W.item() == pytest.approx(math.exp(-1), rel=1e-13)
    assert (scalar_kernel(found, 200) - kernel).abs().max() < 1e-15
    assert hankel_bound(kernel, 1) == 0
    assert exponential_sum(kernel, 5).units == 1


@pytest.mark.claim("E10")
def test_a_delay_takes_as_many_units_as_it_lasts():
    """All singular values of the Hankel matrix of an impulse at t = 9 are 1: with fewer than 10 units nothing helps."""
    kernel = torch.zeros(20, **DOUBLE)
    kernel[9] = 1
    for units in range(1, 10):
        assert hankel_bound(kernel, units) == pytest.approx(1, abs=1e-10)
    assert hankel_bound(kernel, 10) == 0


@pytest.mark.claim("E10")
@settings(max_examples=25)
@given(SEEDS, st.integers(1, 6), st.floats(0.3, 3), st.sampled_from([30, 61, 128]), st.floats(0, 0.3))
def test_nothing_is_nearer_than_the_bound(seed, units, p, steps, noise):
    kernel = power_law(p, steps) + noise * normal(seed, steps)
    others = [exponential_sum(kernel, units), random_recurrence(seed, units)]
    for other in others:
        for measure, size in sizes(scalar_kernel(other, steps) - kernel).items():
            assert size >= hankel_bound(kernel, units, measure) * (1 - 1e-9)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("units", [1, 3, 6])
def test_power_laws_are_fitted_within_a_factor_of_the_best(p, units):
    kernel = power_law(p, 256)
    error = (scalar_kernel(exponential_sum(kernel, units), 256) - kernel).abs().sum().item()
    bound = hankel_bound(kernel, units)
    assert 0 < bound <= error < 15 * bound


def test_bounds_are_those_of_the_definition():
    kernel = power_law(1.0, 9)
    values = np.linalg.svd(np.array([[1 / (1 + i + j) for j in range(5)] for i in range(5)]), compute_uv=False)
    tail = math.sqrt((values[2:] ** 2).sum())
    assert hankel_bound(kernel, 2) == pytest.approx(values[2], rel=1e-9)
    assert hankel_bound(kernel, 2, "energy") == pytest.approx(tail / math.sqrt(5), rel=1e-9)
    assert hankel_bound(kernel, 2, "largest") == pytest.approx(tail / 5, rel=1e-9)


def test_a_short_part_of_the_kernel_may_give_the_best_bound():
    kernel = torch.zeros(400, **DOUBLE)
    kernel[:8] = power_law(1.0, 8)
    whole = torch.linalg.svdvals(hankel_matrix(kernel))[1:].norm().item() / 200
    assert hankel_bound(kernel, 1, "largest") > 1.05 * whole


def test_bad_requests(unchecked):
    kernel = power_law(1.0, 10)
    with pytest.raises(ValueError, match="measure must be one of 'sum', 'energy', 'largest', got 'two'"):
        hankel_bound(kernel, 1, "two")
    with pytest.raises(ValueError, match="5 units need a kernel of more than 10 steps, got 10"):
        exponential_sum(kernel, 5)
    with pytest.raises(ValueError, match="vector of finite numbers"):
        exponential_sum(kernel[:, None], 1)
    with pytest.raises(ValueError, match="the kernel is zero"):
        exponential_sum(torch.zeros(9), 1)
    with pytest.raises(ValueError, match="W must be m x m"):
        LinearRecurrence(torch.zeros(2, 2), torch.zeros(3, 1), torch.zeros(1, 2))
