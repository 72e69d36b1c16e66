"""Step maps and the systems to identify: against scipy's integrator, a plain loop, and laws that must hold."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares
from seeded import assert_follows_its_seed, splits

from fhx.dynamics import unroll
from fhx.tasks import (
    henon_step,
    linear_delay_r2,
    logistic_map,
    logistic_orbit,
    logistic_step,
    lorenz,
    lorenz_step,
    pendulum,
    pendulum_step,
)

DOUBLE = {"dtype": torch.float64}
TIGHT = {"rtol": 1e-12, "atol": 1e-12, "method": "DOP853"}


def lorenz_field(_, h):
    """Many systems side by side."""
    u, v, w = h.reshape(3, -1)
    return np.concatenate([10 * (v - u), u * (28 - w) - v, u * v - 8 / 3 * w])


def exact_lorenz(h, time):
    """From points (N, 3) to points (N, 3)."""
    return solve_ivp(lorenz_field, (0, time), h.T.ravel(), **TIGHT).y[:, -1].reshape(3, -1).T


def exact_pendulum(h, torque, time, damping):
    def field(_, h):
        return [h[1], -math.sin(h[0]) - damping * h[1] + torque]

    return solve_ivp(field, (0, time), h, **TIGHT).y[:, -1]


POINTS = torch.tensor([[1.0, 1.0, 1.0], [-5.0, -8.0, 20.0], [12.0, 3.0, 35.0], [0.1, -9.0, 30.0]], **DOUBLE)
SWINGS = torch.tensor([[0.0, 0.0], [2.0, -1.0], [-3.0, 0.5], [0.3, 2.5]], **DOUBLE)
TORQUES = torch.tensor([[0.7], [-0.4], [0.0], [1.5]], **DOUBLE)


def after(step, h, x, dt, time):
    for _ in range(round(time / dt)):
        h = step(h, x, dt)
    return h


# --- the step maps


@pytest.mark.parametrize("system", ["lorenz", "pendulum"])
def test_the_error_of_a_flow_is_of_the_fourth_order(system):
    if system == "lorenz":
        time, coarse = 0.32, 0.01
        exact = torch.from_numpy(exact_lorenz(POINTS.numpy(), time))
        errors = [(after(lorenz_step, POINTS, None, coarse / k, time) - exact).norm() for k in (1, 2, 4)]
    else:
        time, coarse = 1.6, 0.1
        pairs = zip(SWINGS.tolist(), TORQUES.flatten().tolist(), strict=True)
        exact = torch.tensor(np.array([exact_pendulum(h, x, time, 0.1) for h, x in pairs]))
        errors = [(after(pendulum_step, SWINGS, TORQUES, coarse / k, time) - exact).norm() for k in (1, 2, 4)]
    assert errors[0] < 1e-3
    for big, small in pairwise(errors):
        assert math.log2(big / small) == pytest.approx(4, abs=0.35)


def test_a_free_pendulum_keeps_its_energy_to_the_order_of_the_method():
    def energy(h):
        return h[:, 1] ** 2 / 2 - h[:, 0].cos()

    drifts = []
    for dt in (0.2, 0.1, 0.05):
        h = after(lambda h, x, dt: pendulum_step(h, x, dt, 0.0), SWINGS, torch.zeros(4, 1, **DOUBLE), dt, 20.0)
        drifts.append((energy(h) - energy(SWINGS)).abs().max().item())
    assert drifts[0] < 1e-2
    assert drifts[1] < drifts[0] / 2**4
    assert drifts[2] < drifts[1] / 2**4
    damped = after(pendulum_step, SWINGS, torch.zeros(4, 1, **DOUBLE), 0.1, 20.0)
    assert bool((energy(damped)[1:] < energy(SWINGS)[1:] - 0.1).all())


def test_points_at_rest_stay_and_volumes_shrink_at_their_rates():
    rest = math.sqrt(8 / 3 * 27)
    fixed = torch.tensor([[0.0, 0.0, 0.0], [rest, rest, 27.0], [-rest, -rest, 27.0]], **DOUBLE)
    torch.testing.assert_close(lorenz_step(fixed), fixed, rtol=0, atol=1e-12)
    x = (-0.7 + math.sqrt(0.49 + 4 * 1.4)) / 2.8  # 1 - 1.4 x^2 + 0.3 x = x
    point = torch.tensor([x, 0.3 * x], **DOUBLE)
    torch.testing.assert_close(henon_step(point), point, rtol=0, atol=1e-15)
    held = torch.tensor([math.asin(0.6), 0.0], **DOUBLE)
    torch.testing.assert_close(pendulum_step(held, torch.tensor([0.6], **DOUBLE)), held, rtol=0, atol=1e-15)
    for h in POINTS:
        assert torch.linalg.det(torch.func.jacrev(henon_step)(h[:2])).item() == pytest.approx(-0.3)
        shrunk = torch.linalg.det(torch.func.jacrev(lorenz_step)(h)).item()
        assert math.log(shrunk) == pytest.approx(-(10 + 1 + 8 / 3) * 0.01, abs=1e-4)
    for h, x in zip(SWINGS, TORQUES, strict=True):
        shrunk = torch.linalg.det(torch.func.jacrev(pendulum_step)(h, x, 0.1, 0.3)).item()
        assert math.log(shrunk) == pytest.approx(-0.3 * 0.1, abs=1e-6)


@settings(max_examples=30)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.5, 2), st.floats(-1, 1))
def test_henons_map_is_its_three_moves(u, v, a, b):
    """Hénon's own account: fold the plane, contract it along one axis, exchange the axes."""
    folded = (u, v + 1 - a * u * u)
    contracted = (b * folded[0], folded[1])
    exchanged = (contracted[1], contracted[0])
    step = henon_step(torch.tensor([u, v], **DOUBLE), None, a, b)
    assert step.tolist() == pytest.approx(exchanged, abs=1e-15)


def test_step_maps_are_cells_for_unrolling_and_pure():
    inputs = torch.zeros(30, 4, 1, **DOUBLE)
    starts = torch.tensor([[0.1], [0.2], [0.7], [0.9]], **DOUBLE)
    torch.testing.assert_close(unroll(logistic_step, inputs, starts), logistic_orbit(starts, 4.0, 30)[1:])
    for step, h0 in ((henon_step, POINTS[:, :2] / 40), (lorenz_step, POINTS), (pendulum_step, SWINGS)):
        states = unroll(step, inputs[:3], h0)
        assert states.shape == (3, *h0.shape)
        single = torch.stack([step(h, x) for h, x in zip(h0, inputs[0], strict=True)])
        torch.testing.assert_close(states[0], single)
        torch.testing.assert_close(torch.func.vmap(step)(h0, inputs[0]), single)
        assert step(h0.float(), inputs[0].float()).dtype == torch.float32


# --- the pendulum


@settings(max_examples=20)
@given(st.integers(1, 25), st.integers(1, 7), st.floats(0.05, 0.4), st.floats(0, 0.5), st.integers(0, 2**32))
def test_the_angle_is_that_of_a_plain_loop(steps, hold, dt, damping, seed):
    task = pendulum(steps, (3, 1, 2), seed, dt, damping, 0.6, hold, **DOUBLE)
    assert (task.kind, task.input_size, task.output_size) == ("value per step", 1, 1)
    assert [(part.steps, len(part)) for part in splits(task)] == [(steps, 3), (steps, 1), (steps, 2)]
    for part in splits(task):
        for n in range(len(part)):
            angle = rate = 0.0
            torques = part.inputs[:, n, 0].tolist()
            assert all(torques[t] == torques[t - t % hold] for t in range(steps))
            for torque, target in zip(torques, part.targets[:, n, 0].tolist(), strict=True):
                slopes = []
                for share in (0, dt / 2, dt / 2, dt):
                    a, r = slopes[-1] if slopes else (0.0, 0.0)
                    a, r = angle + share * a, rate + share * r
                    slopes.append((r, torque - math.sin(a) - damping * r))
                angle, rate = (
                    old + dt * (slopes[0][i] + 2 * slopes[1][i] + 2 * slopes[2][i] + slopes[3][i]) / 6
                    for i, old in enumerate((angle, rate))
                )
                assert target == pytest.approx(angle, abs=1e-11)


def test_the_angle_is_that_of_the_pendulum():
    part = pendulum(40, (2, 1, 1), dt=0.1, damping=0.2, **DOUBLE).train
    for n in range(2):
        h = np.zeros(2)
        for torque, target in zip(part.inputs[:, n, 0].tolist(), part.targets[:, n, 0].tolist(), strict=True):
            h = exact_pendulum(h, torque, 0.1, 0.2)
            assert target == pytest.approx(h[0], abs=1e-5)


def test_the_usual_pendulum_swings_far_but_not_over_the_top_and_is_no_linear_filter():
    task = pendulum(sizes=(500, 1, 300), seed=1)
    assert 1.5 < task.train.targets.abs().max() < math.pi
    assert task.train.inputs.std().item() == pytest.approx(0.25, abs=0.0075)  # 6 standard deviations of 10,000 draws
    assert 0.12 < task.test.targets.square().mean() < 0.24
    assert 0.8 < linear_delay_r2(task, 60) < 0.97


# --- Lorenz


def test_lorenz_targets_are_where_the_flow_takes_the_inputs():
    task = lorenz(10, (4, 1, 1), dt=0.05, observed="uvw", **DOUBLE)
    points, goals = (x.reshape(-1, 3).numpy() for x in (task.train.inputs, task.train.targets))

    def miss(scale):  # the units are not told: they are what makes the flow fit
        mean, spread = scale[:3], scale[3:]
        return ((exact_lorenz(points * spread + mean, 0.05) - mean) / spread - goals).ravel()

    fit = least_squares(miss, [0.0, 0.0, 23.0, 8.0, 9.0, 8.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.abs(fit.fun).max() < 1e-5
    assert fit.x[3:].min() > 1


def test_lorenz_inputs_are_standard_and_followed_by_the_targets():
    task = lorenz(60, (40, 5, 5), observed="uvw", **DOUBLE)
    assert (task.kind, task.input_size, task.output_size, task.labels) == ("value per step", 3, 3, ("u", "v", "w"))
    assert [(part.steps, len(part)) for part in splits(task)] == [(60, 40), (60, 5), (60, 5)]
    torch.testing.assert_close(task.train.inputs.mean((0, 1)), torch.zeros(3, **DOUBLE))
    torch.testing.assert_close(task.train.inputs.var((0, 1), correction=0), torch.ones(3, **DOUBLE))
    for part in splits(task):
        assert torch.equal(part.targets[:-1], part.inputs[1:])
        assert part.targets.square().mean().item() == pytest.approx(1, abs=0.35)
    changes = (task.train.targets - task.train.inputs).square().mean((0, 1)).tolist()
    assert changes == pytest.approx([0.07, 0.12, 0.20], rel=0.25)
    seen = lorenz(60, (40, 5, 5), observed="wu", **DOUBLE)
    assert torch.equal(seen.test.inputs, task.test.inputs[..., [2, 0]])
    assert seen.labels == ("w", "u")
    assert lorenz(3, (1, 1, 1)).train.inputs.dtype == torch.float32


# --- both


@pytest.mark.parametrize("make", [lorenz, pendulum])
def test_a_task_follows_its_seed_and_leaves_the_global_generator_alone(make):
    assert_follows_its_seed(make, steps=7, sizes=(3, 3, 3))
    with pytest.raises(ValueError, match=r"dtype must be floating, not torch\.int64"):
        make(dtype=torch.int64)
    with pytest.raises(ValueError, match="steps must be an integer of at least 1, got 0"):
        make(steps=0)
    for dt in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="dt must be a positive number"):
            make(dt=dt)


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: pendulum(torque=0.0), "torque must be a positive number"),
        (lambda: pendulum(damping=-0.1), "damping must be a finite number of at least 0, got -0.1"),
        (lambda: pendulum(hold=0), "hold must be an integer of at least 1"),
        (lambda: lorenz(observed=""), "observed must name some of 'u', 'v' and 'w'"),
        (lambda: lorenz(observed="uu"), "each once, not 'uu'"),
        (lambda: lorenz(observed="x"), "not 'x'"),
    ],
)
def test_impossible_systems_are_refused(make, culprit):
    with pytest.raises(ValueError, match=culprit):
        make()


# --- the logistic map


@settings(max_examples=80, deadline=None)
@given(st.floats(0, 4), st.floats(0, 1))
def test_an_orbit_follows_the_map_and_stays_in_the_unit_interval(r, start):
    orbit = logistic_orbit(start, r, 40).tolist()
    assert len(orbit) == 41
    assert orbit[0] == start
    for x, y in pairwise(orbit):
        assert 0 <= y <= 1
        assert y == pytest.approx(r * x * (1 - x), abs=1e-15)


def test_the_orbit_at_four_is_the_doubling_of_an_angle():
    # x = sin^2(pi a) goes to sin^2(2 pi a), an exact solution of the map
    angle = 0.1234
    exact = [math.sin(math.pi * angle * 2**t) ** 2 for t in range(16)]
    assert logistic_orbit(exact[0], 4.0, 15).tolist() == pytest.approx(exact, abs=1e-9)


def test_the_logistic_task_asks_for_the_next_value():
    task = logistic_map(r=3.7, steps=30, sizes=(4, 3, 2), dtype=torch.float64)
    assert [tuple(part.targets.shape) for part in splits(task)] == [(30, 4, 1), (30, 3, 1), (30, 2, 1)]
    for part in splits(task):
        torch.testing.assert_close(part.targets, 3.7 * part.inputs * (1 - part.inputs), rtol=0, atol=1e-15)
        assert torch.equal(part.targets[:-1], part.inputs[1:])
    assert logistic_map().train.inputs.dtype == torch.float32


@pytest.mark.parametrize(
    "arguments", [(0.5, 4.1), (0.5, -0.1), (0.5, float("nan")), (1.5, 4.0), (torch.tensor(1), 4.0)]
)
def test_an_orbit_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError, match="between 0 and"):
        logistic_orbit(*arguments)


def test_orbits_follow_their_seed_and_leave_the_global_generator_alone():
    assert_follows_its_seed(logistic_map)
    with pytest.raises(ValueError, match="steps must be an integer of at least 1"):
        logistic_map(steps=0)
