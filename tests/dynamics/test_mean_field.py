"""Mean-field theory: its integrals by another quadrature, its laws at every width on random layers, its limit."""

from itertools import pairwise
from math import comb, inf, log, pi, sqrt

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_tensors import DEVICE, rng
from scipy.integrate import quad
from scipy.special import psi

from fhx.cells import Cell, SimpleCell
from fhx.dynamics import MeanField, lyapunov_spectrum
from fhx.dynamics.mean_field import _normal_mean
from fhx.training import interval

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu}


def by_quadrature(f, q):
    """The mean over a normal number of variance q, piece by piece around zero, where f is steep."""
    ends = [-12 * sqrt(q), -20.0, -3.0, 0.0, 3.0, 20.0, 12 * sqrt(q)] if q > 16 else [-12 * sqrt(q), 0.0, 12 * sqrt(q)]

    def integrand(z):
        return f(z) * np.exp(-(z**2) / (2 * q)) / sqrt(2 * pi * q)

    return sum(quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12)[0] for a, b in pairwise(ends))


@given(st.floats(0, 1e8))
@example(0.0)
def test_means_over_a_normal_number_that_are_known(q):
    for f, mean in (
        (np.ones_like, 1.0),
        (np.square, q),
        (lambda z: np.exp(-(z**2) / 2), 1 / sqrt(1 + q)),
        (lambda z: 2 + np.tanh(z), 2.0),
    ):
        assert _normal_mean(f, q) == pytest.approx(mean, rel=1e-12, abs=0)


@settings(max_examples=30)
@given(st.floats(0.05, 30), st.floats(0, 5))
@example(1.0, 0.0)  # the edge itself
def test_the_fixed_point_and_the_gain_of_tanh(weight_std, bias_std):
    theory = MeanField("tanh", weight_std, bias_std)
    q = theory.variance
    if bias_std == 0 and weight_std <= 1:
        assert (q, theory.gain) == (0, pytest.approx(weight_std**2, rel=1e-14))
    elif q > 1e-6:
        image = weight_std**2 * by_quadrature(lambda z: np.tanh(z) ** 2, q) + bias_std**2
        assert image == pytest.approx(q, rel=1e-9)
        slope = by_quadrature(lambda z: (1 - np.tanh(z) ** 2) ** 2, q)
        assert theory.gain == pytest.approx(weight_std**2 * slope, rel=1e-9)
    rate = abs(log(theory.gain))
    assert theory.depth_scale == (pytest.approx(1 / rate) if rate else inf)
    assert theory.exponent == log(theory.gain) / 2


def test_the_length_map_goes_to_its_fixed_point():
    theory = MeanField("tanh", 1.5, 0.2)
    assert theory.variances(0) == []
    for start in (0.0, 1.0, 50.0):
        lengths = theory.variances(300, start)
        assert lengths[0] == pytest.approx(1.5**2 * start + 0.2**2)
        assert lengths[-1] == pytest.approx(theory.variance, rel=1e-12)
        assert theory.gains(300, start)[-1] == pytest.approx(theory.gain, rel=1e-12)


def test_relu_by_hand():
    assert MeanField("relu", 1.0, 0.5).variance == pytest.approx(0.5)
    assert MeanField("relu", 1.0, 0.5).gain == pytest.approx(0.5)
    assert MeanField("relu", 2.0).variance == inf
    critical = MeanField("relu", sqrt(2))
    assert (critical.variance, critical.gain, critical.depth_scale) == (1.0, 1.0, inf)
    assert MeanField("relu", sqrt(2), 0.1).variance == inf
    assert MeanField("relu", 2.0).variances(4) == pytest.approx([4.0, 8.0, 16.0, 32.0])
    # a residual layer: the mean m and the mean square p of its states, m += s sqrt(q / 2 pi), p += s^2 q / 2 + cross
    q = MeanField("relu", 1.0, residual_scale=1.0).variances(4)
    assert q[:2] == pytest.approx([1.0, 1.5])
    assert q[2] == pytest.approx(1.5 + 0.75 + 2 * sqrt(1 / (2 * pi)) * sqrt(1.5 / (2 * pi)))
    mean = sqrt(q[0] / (2 * pi)) + sqrt(q[1] / (2 * pi))  # of two layers
    assert q[3] == pytest.approx(q[2] + q[2] / 2 + 2 * mean * sqrt(q[2] / (2 * pi)))
    assert MeanField("relu", 1.0, residual_scale=2.0).gain == pytest.approx(3.0)


def test_residual_tanh_layers_lose_their_gain_as_their_states_grow():
    theory = MeanField("tanh", 2.0, residual_scale=0.5)
    gains = theory.gains(400)
    assert all(a > b > 1 for a, b in pairwise(gains))
    assert (theory.variance, theory.gain, theory.depth_scale) == (inf, 1.0, inf)
    # q grows by s^2 sigma_w^2 E tanh^2 a layer, and E tanh'^2 falls like (4/3) / sqrt(2 pi q)
    lengths = theory.variances(400)
    assert gains[-1] - 1 == pytest.approx(0.25 * 4 * 4 / 3 / sqrt(2 * pi * lengths[-1]), rel=2 / lengths[-1])


def test_the_edge_of_chaos():
    assert MeanField.critical_std("tanh") == 1.0
    assert MeanField.critical_std("relu", 3.0) == sqrt(2)
    # Schoenholz et al. (2017), section 3: the edge at a bias variance of 0.05 is at a weight variance of 1.76
    assert MeanField.critical_std("tanh", sqrt(0.05)) ** 2 == pytest.approx(1.76, abs=0.005)
    for bias_std in (1e-3, 0.1, 1.0, 4.0):
        edge = MeanField.critical_std("tanh", bias_std)
        assert MeanField("tanh", edge, bias_std).gain == pytest.approx(1, abs=1e-11)
        assert MeanField("tanh", 0.99 * edge, bias_std).gain < 1 < MeanField("tanh", 1.01 * edge, bias_std).gain


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("scale", [None, 0.7])
@pytest.mark.parametrize("width", [3, 30])
def test_a_layer_multiplies_a_squared_norm_by_the_gain_at_every_width(activation, scale, width):
    """For v orthogonal to the layer's inputs a, exactly in the mean over W and b, with q from the length of a."""
    weight_std, bias_std, start, layers = 1.7, 0.4, 0.8, 100_000 // width
    generator = rng(width)
    a = torch.zeros(width, dtype=torch.float64)
    a[0] = sqrt(start * width)
    v = torch.zeros(width, dtype=torch.float64)
    v[1:] = torch.randn(width - 1, generator=generator, dtype=torch.float64)
    v /= v.norm()
    weights = torch.randn(layers, width, width, generator=generator, dtype=torch.float64) * weight_std / sqrt(width)
    z = weights @ a + bias_std * torch.randn(layers, width, generator=generator, dtype=torch.float64)
    slope = 1 - z.tanh() ** 2 if activation == "tanh" else (z > 0).double()
    image = slope * (weights @ v) if scale is None else v + scale * slope * (weights @ v)
    expected = MeanField(activation, weight_std, bias_std, scale).gains(1, start)[0]
    assert expected in interval(image.square().sum(-1), level=0.9999)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_next_length_at_every_width(activation):
    """A residual layer on inputs of mean zero: p_1 = p_0 + s^2 E f^2 in the mean over W and b, whatever the width."""
    weight_std, bias_std, scale, layers, width = 1.7, 0.4, 0.7, 40_000, 8
    generator = rng(2)
    a = torch.randn(width, generator=generator, dtype=torch.float64)
    a = a - a.mean()
    weights = torch.randn(layers, width, width, generator=generator, dtype=torch.float64) * weight_std / sqrt(width)
    z = weights @ a + bias_std * torch.randn(layers, width, generator=generator, dtype=torch.float64)
    image = a + scale * ACTIVATIONS[activation](z)
    start = a.square().mean().item()
    q = MeanField(activation, weight_std, bias_std, scale).variances(2, start)[1]
    lengths = weight_std**2 * image.square().mean(-1) + bias_std**2
    assert q in interval(lengths, level=0.9999)


class Layered(Cell):
    """A net of a fresh random matrix for every step: the inputs are the matrices."""

    def __init__(self, activation, gain, width):
        super().__init__(width**2, width)
        self.activation, self.gain = activation, gain

    def drive(self, x):
        return self.gain / sqrt(self.state_size) * x

    def step(self, h, drive):
        return ACTIVATIONS[self.activation]((self._matrix(drive) @ h[..., None])[..., 0])

    def jacobian(self, h, drive):
        new = self.step(h, drive)
        slope = 1 - new**2 if self.activation == "tanh" else (new > 0).to(new)
        return slope[..., None] * self._matrix(drive)

    def _matrix(self, drive):
        return drive.unflatten(-1, (self.state_size, self.state_size))

    def initial_state(self, *batch_shape):
        return torch.ones(*batch_shape, self.state_size, dtype=torch.float64, device=DEVICE)


def top_exponents(activation, gain, width, steps, runs, seed):
    inputs = torch.randn(steps, runs, width**2, generator=rng(seed), dtype=torch.float64).to(DEVICE)
    return lyapunov_spectrum(Layered(activation, gain, width), inputs, k=1, warmup=10)[:, 0].tolist()


def test_the_top_exponent_of_random_relu_layers_at_finite_width():
    r"""Exact: a unit is on with probability 1/2, and given that k are, |Jv|^2 / |v|^2 is s^2 / n times chi-squared with
    k degrees of freedom, whatever the angle of v and the state; E log chi^2_k = psi(k / 2) + log 2.
    """
    gain, width = 1.5, 24
    terms = [comb(width, k) / 2**width * (psi(k / 2) + log(2)) for k in range(1, width + 1)]
    expected = (log(gain**2 / width) + sum(terms)) / 2
    found = interval(top_exponents("relu", gain, width, steps=110, runs=40, seed=0), level=0.999)
    assert expected in found
    assert MeanField("relu", gain).exponent not in found  # the mean-field limit itself is told from it at this width


def at_infinite_width(values):
    """The intercept of a straight line in 1/n through samples by width, with its standard error."""
    x = np.concatenate([np.full(len(v), 1 / n) for n, v in values.items()])
    y = np.concatenate(list(values.values()))
    weights = np.concatenate([np.full(len(v), 1 / np.std(v, ddof=1)) for v in values.values()])
    design = np.stack([np.ones_like(x), x], 1) * weights[:, None]
    inverse = np.linalg.inv(design.T @ design)
    return (inverse @ design.T @ (y * weights))[0], sqrt(inverse[0, 0])


def test_the_top_exponent_of_wide_random_tanh_layers():
    """Half the logarithm of the gain, up to a term in 1/n that the line through three widths takes away."""
    values = {n: top_exponents("tanh", 2.0, n, steps, 24, n) for n, steps in ((16, 310), (32, 160), (64, 90))}
    limit, error = at_infinite_width(values)
    assert abs(limit - MeanField("tanh", 2.0).exponent) < 4 * error
    assert error < 0.006


def test_the_top_exponent_of_a_wide_random_tanh_net():
    """One matrix for all times: in chaos, states of different times are uncorrelated, and the limit is the same."""
    values = {}
    for width, steps in ((32, 300), (64, 250), (128, 200)):
        values[width] = []
        for seed in range(10):
            cell, generator = SimpleCell(1, width, generator=rng(seed), dtype=torch.float64, device=DEVICE), rng(seed)
            with torch.no_grad():
                cell.W.copy_(2 * torch.randn(width, width, generator=generator, dtype=torch.float64) / sqrt(width))
                cell.b.zero_()
            h0 = torch.randn(3, width, generator=generator, dtype=torch.float64).to(DEVICE)
            inputs = torch.zeros(steps, 3, 1, dtype=torch.float64, device=DEVICE)
            values[width].append(lyapunov_spectrum(cell, inputs, k=1, h0=h0, warmup=50).mean().item())
    limit, error = at_infinite_width(values)
    assert abs(limit - MeanField("tanh", 2.0).exponent) < 4 * error
    assert error < 0.02


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sigmoid", 1.0), "activation must be one of 'tanh', 'relu', got 'sigmoid'"),
        (("tanh", 0.0), "weight_std must be a positive number, got 0.0"),
        (("tanh", float("nan")), "weight_std must be a positive number"),
        (("tanh", inf), "weight_std must be a positive number, got inf"),
        (("tanh", 1.0, -0.1), "bias_std must be a finite number of at least 0, got -0.1"),
        (("tanh", 1.0, inf), "bias_std must be a finite number of at least 0, got inf"),
        (("tanh", 1.0, 0.0, 0.0), "residual_scale must be a positive number, got 0.0"),
        (("tanh", 1.0, 0.0, inf), "residual_scale must be a positive number, got inf"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        MeanField(*arguments)


def test_bad_layers():
    theory = MeanField("relu", 1.0)
    for layers, start in ((-1, 1.0), (3, -1.0), (3, float("nan"))):
        with pytest.raises(ValueError, match=f"must not be negative, got {layers} and {start}"):
            theory.variances(layers, start)
    with pytest.raises(ValueError, match="activation must be"):
        MeanField.critical_std("sin")
