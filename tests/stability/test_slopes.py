"""Quadratic norms of slope-restricted cells: what is certified of any P and T, and the best ones."""

from math import inf

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhx.experiments import stored
from fhx.experiments.norms import cell
from fhx.stability import (
    best_slope_norm,
    contraction_rate,
    gain_of_every_norm,
    slope_restricted_gain,
    weighted_gain,
)

SEED = st.integers(0, 2**32)
DOUBLE = {"dtype": torch.float64}


def drawn(seed, n):
    generator = torch.Generator().manual_seed(seed)
    root, W = torch.randn(2, n, n, generator=generator, **DOUBLE)
    return W / n**0.5, root @ root.mT + 0.1 * torch.eye(n, **DOUBLE), generator


def length(P, v):
    return ((v @ P) * v).sum(-1).sqrt()


@pytest.mark.claim("E13")
@settings(max_examples=60)
@given(st.integers(1, 5), SEED, st.floats(0.1, 10))
def test_no_pair_of_states_beats_the_certificate(n, seed, size):
    """For a P and a T that nobody chose, with tanh, ReLU and steps between them, at random biases."""
    W, P, generator = drawn(seed, n)
    T = torch.linalg.eigvalsh(P)[-1] * (0.51 + torch.rand(n, generator=generator, **DOUBLE))
    rate = slope_restricted_gain(W, P, T)
    assert 0 < rate < inf
    h, other = size * torch.randn(2, 300, n, generator=generator, **DOUBLE)
    e = 3 * torch.randn(300, n, generator=generator, **DOUBLE)
    for activation in (torch.tanh, torch.relu, lambda a: a):
        after = activation(h @ W.mT + e) - activation(other @ W.mT + e)
        assert (length(P, after) <= rate * length(P, h - other) * (1 + 1e-10)).all()


@given(st.integers(1, 4), SEED)
def test_with_t_equal_to_a_diagonal_p_it_is_the_gain_of_the_matrix(n, seed):
    W, _, generator = drawn(seed, n)
    p = 0.1 + torch.rand(n, generator=generator, **DOUBLE)
    P = torch.diag(p)
    assert slope_restricted_gain(W, P, p) == pytest.approx(weighted_gain(W, P), rel=1e-6)


@given(st.integers(1, 4), SEED, st.integers(-300, 150))
def test_the_size_of_the_matrix_does_not_matter(n, seed, exponent):
    W, P, _ = drawn(seed, n)
    T = torch.linalg.eigvalsh(P)[-1] * torch.ones(n, **DOUBLE)
    rate, scaled = (slope_restricted_gain(size * W, P, T) for size in (1.0, 10.0**exponent))
    assert scaled == pytest.approx(10.0**exponent * rate, rel=1e-9)
    assert slope_restricted_gain(0 * W, P, T) == 0


def test_the_two_norm_is_the_diagonal_norm_of_ones():
    W = torch.tensor([[0.3, -0.4], [0.0, 0.2]], **DOUBLE)
    assert slope_restricted_gain(W, torch.eye(2), torch.ones(2)) == pytest.approx(torch.linalg.svdvals(W)[0].item())


@pytest.mark.usefixtures("unchecked")
def test_norms_that_are_none():
    W, one = torch.eye(2, **DOUBLE) / 2, torch.ones(2, **DOUBLE)
    assert slope_restricted_gain(W, torch.diag(torch.tensor([1.0, 0.0])), one) == inf
    assert slope_restricted_gain(W, torch.eye(2), torch.tensor([1.0, 0.5])) == inf
    assert slope_restricted_gain(W, torch.eye(2), torch.tensor([1.0, -1.0])) == inf
    with pytest.raises(ValueError, match="different sizes"):
        slope_restricted_gain(W, torch.eye(3), one)
    with pytest.raises(ValueError, match="not finite"):
        slope_restricted_gain(W, torch.eye(2), inf * one)
    with pytest.raises(ValueError, match="not 0"):
        best_slope_norm(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="at most 16"):
        gain_of_every_norm(torch.zeros(17, 17))


@pytest.mark.claim("E13")
@settings(max_examples=6)
@given(st.integers(1, 4), SEED)
def test_the_best_norm_lies_between_the_bounds(n, seed):
    W, _, _ = drawn(seed, n)
    assume(W.abs().max() > 1e-3)
    lower, (rate, P, T) = gain_of_every_norm(W), best_slope_norm(W)
    diagonal, D, _ = best_slope_norm(W, diagonal=True)
    assert lower * (1 - 1e-9) <= rate <= diagonal * (1 + 1e-3) <= torch.linalg.matrix_norm(W, 2) * (1 + 3e-3)
    assert diagonal <= torch.linalg.eigvals(W.abs()).abs().max() * (1 + 3e-3)  # diagonal Schur stability contains it
    assert rate == slope_restricted_gain(W, P, T)
    assert torch.equal(D, torch.diag(D.diagonal()))


def test_the_lower_bound_is_that_of_a_principal_submatrix():
    W = torch.tensor([[2.0, -2.0], [2.0, -2.0]], **DOUBLE)  # nilpotent, and each unit alone doubles
    assert torch.linalg.eigvals(W).abs().max() < 1e-6
    assert gain_of_every_norm(W) == pytest.approx(2)


@pytest.mark.claim("E13")
def test_stored_norms_are_certified_without_the_solver():
    """What is stored has six digits, P and T too, and is certified as it stands there."""
    for one in stored("norms")["points"]:
        found, net = one["result"], cell(**one["point"])
        for name in ("diagonal", "inequality"):
            P, T = (torch.tensor(found[f"{name} {letter}"], **DOUBLE) for letter in "PT")
            assert slope_restricted_gain(net.W, P, T) == pytest.approx(found[name], rel=1e-5)
        assert found["lower"] <= found["inequality"] * (1 + 1e-5)
        for norm in (2, "max", "weighted"):
            assert contraction_rate(net, norm) == pytest.approx(found[str(norm)], rel=1e-5)
