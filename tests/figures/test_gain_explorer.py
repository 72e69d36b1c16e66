import math

import numpy as np
import pytest
import torch

from fhx.figures import gain_frame, regime


def test_the_first_steps_are_those_of_a_plain_loop():
    generator = torch.Generator().manual_seed(7)
    W = torch.randn(5, 5, generator=generator, dtype=torch.float64).numpy()
    U = torch.randn(5, 1, generator=generator, dtype=torch.float64).numpy()[:, 0]
    W /= np.abs(np.linalg.eigvals(W)).max()
    h, expected = np.zeros(5), []
    for t in range(80):
        h = np.tanh(1.3 * W @ h + U * (t < 5))
        expected.append(h[:3])
    series = gain_frame(1.3, seed=7, state_size=5)["panels"][0]["series"]
    for k in range(3):
        assert np.allclose(series[k]["y"], np.array(expected)[:, k], atol=1e-9)


@pytest.mark.full
def test_below_one_it_dies_out_and_above_one_it_does_not(gain):
    said = [frame["readout"] for frame in gain.frames]
    assert all("dies out" in text for text in said[:11])
    assert not any("dies out" in text for text in said[11:])
    assert "fixed point" in said[11]
    assert "every 2 steps" in said[16]
    assert "every 14 steps" in said[21]
    assert all("irregularly" in text for text in said[22:])


@pytest.mark.parametrize("gain", [2.1, 2.4, 3.0])
def test_irregular_means_a_positive_exponent_over_a_far_longer_run(gain):
    generator = torch.Generator().manual_seed(264)
    W, U = (torch.randn(12, n, generator=generator, dtype=torch.float64).numpy() for n in (12, 1))
    W = gain * W / np.abs(np.linalg.eigvals(W)).max()
    h, v, total = np.zeros(12), np.eye(12)[0], 0.0
    for t in range(8000):
        h = np.tanh(W @ h + U[:, 0] * (t < 5))
        v = (1 - h * h) * (W @ v)
        size = np.linalg.norm(v)
        v, total = v / size, total + (math.log(size) if t >= 2000 else 0.0)
    assert (total / 6000 > 3e-3) == ("irregularly" in gain_frame(gain)["readout"])


def test_regimes_of_runs_that_are_known():
    t = torch.arange(600, dtype=torch.float64)[:, None]
    zero = torch.zeros(600, 1, dtype=torch.float64)
    assert "dies out; after 600 steps the state has length less than" in regime(0.5**t, 0.5**t)
    assert "dies out, but slowly" in regime((1 + t) ** -0.5, zero)
    assert "fixed point of length 2," in regime(2 + 0.5**t, zero)
    assert "every 7 steps" in regime(torch.sin(2 * math.pi * t / 7), zero)
    wave = torch.sin(t)
    assert "predictably; two runs started 10⁻⁶ apart come to lie up to 2.0 · 10⁻⁶" in regime(wave, wave + 2e-6)
    assert "irregularly; two runs started 10⁻⁶ apart come to lie up to 0.5 apart" in regime(wave, wave + 0.5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gain_frame(-0.1), "gain must be a finite number >= 0, got -0.1"),
        (lambda: gain_frame(float("nan")), "got nan"),
        (lambda: gain_frame(1.0, state_size=2), "at least 3"),
        (lambda: regime(torch.zeros(399, 2), torch.zeros(399, 2)), "at least 400 steps"),
        (lambda: regime(torch.zeros(400, 2), torch.zeros(400, 3)), "one shape"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    gain_frame(1.0)
    assert torch.equal(before, torch.get_rng_state())
