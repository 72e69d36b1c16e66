"""The error recursion: its closed form against a loop, and real runs within the bound."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from fhx.approximation import (
    interpolant,
    interpolation_bound,
    passing_times,
    predicted_steps,
    rollout_bound,
    rollout_errors,
    step_error_for,
)
from fhx.tasks import logistic_step

LIPSCHITZ = st.one_of(st.floats(0, 3), st.just(1.0), st.floats(-1e-9, 1e-9).map(lambda off: 1 + off))


@given(st.floats(1e-12, 10), LIPSCHITZ, st.integers(0, 300))
def test_bound_is_the_recursion(eps, lipschitz, steps):
    error = Fraction(0)
    for _ in range(steps):
        error = Fraction(lipschitz) * error + Fraction(eps) if steps <= 40 else float(lipschitz * error + eps)
    bound = rollout_bound(eps, lipschitz, steps)
    assert bound == pytest.approx(float(error), rel=1e-12 * (1 + steps))
    if steps:
        assert step_error_for(bound, lipschitz, steps) == pytest.approx(eps, rel=1e-12)


def test_bound_may_be_infinite_and_may_be_nothing():
    assert rollout_bound(1e-3, 2.0, 5000) == math.inf
    assert rollout_bound(0.0, 2.0, 5000) == 0
    assert rollout_bound(1.0, 0.0, 7) == 1


@pytest.mark.parametrize("pieces", [8, 100])
def test_no_run_exceeds_its_bound(pieces):
    """A logistic map with r = 3.5 takes [0, 1] into [0, 0.875], and so do its chords; its derivative is at most 3.5."""

    def step(h, x):
        return logistic_step(h, r=3.5)

    net = interpolant(step, torch.linspace(0, 1, pieces + 1, dtype=torch.float64))
    eps = interpolation_bound(1 / pieces, curvature=7.0)
    h0 = torch.linspace(0, 1, 137, dtype=torch.float64)[:, None]
    errors = rollout_errors(step, net, torch.zeros(12, 137, 1, dtype=torch.float64), h0)
    assert errors[0].max() > eps / 10
    for t, error in enumerate(errors.amax(1).tolist(), start=1):
        assert error <= rollout_bound(eps, 3.5, t) + 1e-14


@given(st.floats(1e-9, 1e-2), st.floats(1e-3, 10), st.floats(-0.5, 2))
@example(0.004969566460462175, 1.5, 5e-324)
@example(1e-9, 10, -1e-300)
def test_predicted_time_is_when_the_recursion_passes(eps, threshold, exponent):
    steps = predicted_steps(eps, threshold, exponent)
    if math.isinf(steps):
        assert eps / (1 - math.exp(exponent)) <= threshold * (1 + 1e-9)
    elif steps < 1e6:
        rate = math.exp(exponent)
        low, high = (rollout_bound(eps, rate, max(0, n)) for n in (math.floor(steps), math.ceil(steps) + 1))
        assert low <= threshold * (1 + 1e-6)
        assert high >= threshold * (1 - 1e-6)


def test_prediction_is_the_logarithm_when_errors_double():
    assert predicted_steps(1e-9, 1.0, math.log(2)) == pytest.approx(math.log2(1e9), rel=1e-9)
    assert predicted_steps(1e-3, 1.0, 0.0) == pytest.approx(1000)


def test_errors_of_a_run_and_when_they_pass():
    def off(h, x):
        return 2 * h + x + 1e-3

    inputs = torch.ones(10, 2, 1, dtype=torch.float64)
    errors = rollout_errors(lambda h, x: 2 * h + x, off, inputs, torch.zeros(1, dtype=torch.float64))
    expected = torch.tensor([[1e-3 * (2**t - 1)] * 2 for t in range(1, 11)], dtype=torch.float64)
    torch.testing.assert_close(errors, expected)
    errors[:, 1] = torch.tensor([0.0] * 4 + [torch.nan] + [0.0] * 5)
    assert passing_times(errors, 0.1).tolist() == [7, 5]
    assert passing_times(errors[:3], 0.1).tolist() == [math.inf] * 2
    assert passing_times(errors[:0], 0.1).tolist() == [math.inf] * 2


@pytest.mark.usefixtures("unchecked")
def test_bad_numbers():
    with pytest.raises(ValueError, match="lipschitz must be a finite number of at least 0, got -1"):
        rollout_bound(1.0, -1, 3)
    with pytest.raises(ValueError, match="steps must be an integer of at least 0, got -3"):
        rollout_bound(1.0, 1.0, -3)
    with pytest.raises(ValueError, match="steps must be an integer of at least 1, got 0"):
        step_error_for(1.0, 1.0, 0)
    with pytest.raises(ValueError, match="step_error and threshold must be positive"):
        predicted_steps(0.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"shape \(time, batch\)"):
        passing_times(torch.zeros(3), 1.0)
