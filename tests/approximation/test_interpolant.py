"""The piecewise linear interpolant: at its knots it is f, and between them no error exceeds its bound."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.approximation import interpolant, interpolation_bound
from fhx.tasks import logistic_step

# f, its Lipschitz constant and largest second derivative on [-1, 1], and its derivative
SMOOTH = {
    "sin": (torch.sin, 1.0, math.sin(1), torch.cos),
    "square": (torch.square, 2.0, 2.0, lambda h: 2 * h),
    "exp": (torch.exp, math.e, math.e, torch.exp),
}
POINTS = torch.linspace(-1, 1, 4001, dtype=torch.float64)[:, None]
NOTHING = torch.zeros_like(POINTS)


def step(f):
    return lambda h, x: f(h)


def widest(knots):
    return knots.diff().max().item()


@st.composite
def knots(draw):
    inner = draw(st.lists(st.floats(-0.99, 0.99), max_size=12, unique_by=lambda t: round(t, 3)))
    return torch.tensor([-1.0, *sorted(inner), 1.0], dtype=torch.float64)


@settings(max_examples=25)
@given(knots(), st.sampled_from(sorted(SMOOTH)))
def test_errors_are_within_the_bounds(knots, name):
    f, lipschitz, curvature, slope = SMOOTH[name]
    net, width = interpolant(step(f), knots), widest(knots)
    with torch.no_grad():
        error = (net(POINTS, NOTHING) - f(POINTS)).abs().max().item()
        slopes = net.jacobian(POINTS, net.drive(NOTHING))[:, 0] - slope(POINTS)
        torch.testing.assert_close(net(knots[:, None], NOTHING[: len(knots)]), f(knots[:, None]), rtol=0, atol=1e-11)
    assert net.units == len(knots) - 1
    assert error <= interpolation_bound(width, lipschitz) + 1e-12
    assert error <= interpolation_bound(width, curvature=curvature) + 1e-11
    assert slopes[1:].abs().max().item() <= interpolation_bound(width, curvature=curvature, derivative=True) + 1e-8


def test_bounds_are_attained():
    """A parabola has the same second derivative everywhere, and |h| its whole Lipschitz constant on either side."""
    ends = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    with torch.no_grad():
        parabola = (interpolant(step(torch.square), ends)(POINTS, NOTHING) - POINTS.square()).abs().max().item()
        kink = (interpolant(step(torch.abs), ends)(POINTS, NOTHING) - POINTS.abs()).abs().max().item()
    assert parabola == pytest.approx(interpolation_bound(2.0, curvature=2.0))
    assert kink == pytest.approx(interpolation_bound(2.0, lipschitz=1.0))


def test_bound_is_the_smaller_one():
    assert interpolation_bound(0.1, 1.0, 1.0) == 0.1**2 / 8
    assert interpolation_bound(0.1, 1.0, 1000.0) == 0.05


@pytest.mark.parametrize("pieces", [4, 64])
def test_one_step_of_the_logistic_map(pieces):
    knots = torch.linspace(0, 1, pieces + 1, dtype=torch.float64)
    h = torch.rand(1000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.no_grad():
        error = (interpolant(logistic_step, knots)(h, h) - logistic_step(h)).abs().max().item()
    assert 0.9 / pieces**2 < error <= 1 / pieces**2 + 1e-14


@pytest.mark.usefixtures("unchecked")
def test_bad_knots_and_bounds():
    with pytest.raises(ValueError, match="at least two increasing numbers"):
        interpolant(step(torch.sin), torch.tensor([0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="f must return one number for each state"):
        interpolant(lambda h, x: h[:, 0], torch.tensor([0.0, 1.0]))
    with pytest.raises(ValueError, match="Lipschitz constant or the curvature"):
        interpolation_bound(1.0)
    with pytest.raises(ValueError, match="only with the curvature"):
        interpolation_bound(1.0, 1.0, derivative=True)
    with pytest.raises(ValueError, match="lipschitz must not be negative, got -1"):
        interpolation_bound(1.0, -1)
