"""Imitations of steps by one hidden layer: nearer with more units, and exact where the step is such a net."""

import pytest
import torch

from fhx.approximation import imitate, imitation_errors, interpolant
from fhx.dynamics import Box, unroll
from fhx.tasks import pendulum_step

DISC = Box([-2.5, -2.5], [2.5, 2.5])
TORQUE = Box([-1.0], [1.0])


def lozi(h, x):
    u, v = h.unbind(-1)
    return torch.stack([1 - 1.7 * u.abs() + v, 0.5 * u], -1)


def sine(h, x):
    return 2 * h.sin()


@pytest.mark.parametrize("seed", range(3))
def test_more_units_come_nearer(seed):
    errors = []
    for units in (6, 12, 24, 48):
        net = imitate(pendulum_step, DISC, TORQUE, units=units, seed=seed)
        assert net.units == units
        errors.append(imitation_errors(pendulum_step, net, DISC, TORQUE, samples=4000))
    for first, last in ((errors[0], errors[2]), (errors[1], errors[3])):
        assert last.rms < first.rms / 4
        assert last.sup < first.sup / 2
        assert last.derivative_rms < first.derivative_rms / 2


def test_tanh_units_come_nearer_too():
    few, many = (imitate(pendulum_step, DISC, TORQUE, units=n, activation="tanh") for n in (6, 24))
    assert (
        imitation_errors(pendulum_step, many, DISC, TORQUE).rms
        < imitation_errors(pendulum_step, few, DISC, TORQUE).rms / 10
    )


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_it_is_a_net_in_the_boxs_own_coordinates(activation):
    """Off-centre boxes of unequal sides; the affine part of f is carried exactly by ReLUs in the whole box."""
    slopes = torch.tensor([[2.0, -1.0], [0.5, 3.0]], dtype=torch.float64)
    shift = torch.tensor([40.0, -7.0], dtype=torch.float64)

    def affine(h, x):
        return h @ slopes + x @ shift[None] - 3

    states, inputs = Box([10.0, -1.0], [90.0, -0.5]), Box([5.0], [5.5])
    net = imitate(affine, states, inputs, units=8, activation=activation, samples=500, max_iterations=10)
    errors = imitation_errors(affine, net, states, inputs, samples=500)
    assert errors.sup < (1e-9 if activation == "relu" else 1.0)
    if activation == "relu":
        assert errors.derivative_sup < 1e-9


def test_a_step_with_a_straight_kink_is_found_exactly():
    errors = imitation_errors(lozi, imitate(lozi, DISC, units=8), DISC, samples=3000)
    assert errors.sup < 1e-4
    assert errors.derivative_rms < 0.05


def test_fitted_kinks_beat_equal_ones_in_the_root_mean_square():
    line = Box([-3.0], [3.0])
    fitted = imitation_errors(sine, imitate(sine, line, units=12), line, samples=2000)
    equal = interpolant(sine, torch.linspace(-3, 3, 13, dtype=torch.float64))
    assert fitted.rms < imitation_errors(sine, equal, line, samples=2000).rms


def test_errors_are_those_of_the_definition():
    def off(h, x):
        return pendulum_step(h, x) + torch.stack([0.3 * h[:, 1], 0.4 * x[:, 0]], -1)

    errors = imitation_errors(pendulum_step, off, DISC, TORQUE, samples=5000)
    points = DISC.product(TORQUE).sample(5000, 12345, faces=0.1)
    assert errors.sup == pytest.approx((0.09 * points[:, 1] ** 2 + 0.16 * points[:, 2] ** 2).sqrt().max().item())
    assert errors.sup == pytest.approx((0.75**2 + 0.4**2) ** 0.5, rel=0.02)
    assert errors.derivative_sup == pytest.approx(0.4)
    assert errors.derivative_rms == pytest.approx(0.4)


def test_the_same_seed_gives_the_same_net():
    first, second, third = (imitate(lozi, DISC, units=10, seed=seed, max_iterations=3) for seed in (0, 0, 1))
    assert torch.equal(first.A, second.A)
    assert not torch.equal(first.A, third.A)


def test_without_inputs_the_input_is_not_read():
    net = imitate(lozi, DISC, units=8, max_iterations=2)
    h0 = torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        runs = unroll(net, torch.stack([torch.zeros(5, 1), torch.ones(5, 1)], 1).double(), h0)
    assert torch.equal(runs[:, 0], runs[:, 1])


def test_bad_requests(unchecked):
    with pytest.raises(ValueError, match="more than the 3 coordinates of the box, got 3"):
        imitate(pendulum_step, DISC, TORQUE, units=3)
    with pytest.raises(ValueError, match="activation must be one of 'tanh', 'relu', got 'sine'"):
        imitate(lozi, DISC, units=8, activation="sine")
    with pytest.raises(ValueError, match="8 units need more than 5 samples"):
        imitate(lozi, DISC, units=8, samples=5)
    with pytest.raises(ValueError, match="must return a finite state"):
        imitate(lambda h, x: h.log(), DISC, units=8)
    with pytest.raises(ValueError, match="must return a finite state"):
        imitate(lambda h, x: h[:, :1], DISC, units=8)
