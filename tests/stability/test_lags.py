"""Gradients lag by lag: they add up, a cut leaves out what it should, and random cuts are right on average."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw, rng
from torch.nn.utils import parameters_to_vector

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import (
    LossConstants,
    constants,
    gradient_bound,
    lag_gradients,
    project,
    random_cut,
    random_cut_variance,
    window_for_gradient,
)

KINDS = st.sampled_from([SimpleCell, LinearCell, LSTMCell, GRUCell])
SEEDS = st.integers(0, 2**32)


def bent(h):
    return (1 + h.sum(-1) ** 2).sqrt().mean()


def detached(cell, x, k):
    """Truncated back-propagation as it is done: no graph before the last k steps."""
    with torch.no_grad():
        h = unroll(cell, x[: len(x) - k])[-1] if k < len(x) else cell.initial_state(x.shape[1])
    slopes = torch.autograd.grad(bent(cell.hidden(unroll(cell, x[len(x) - k :], h)[-1])), list(cell.parameters()))
    return parameters_to_vector(slopes)


@given(KINDS, st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_first_lags_are_truncated_backpropagation(kind, steps, k, batch, seed):
    k = min(k, steps)
    cell, x = kind(2, 3, generator=rng(seed), **DOUBLE), draw(steps, batch, 2, seed=seed)
    lags = lag_gradients(cell, x, bent)
    assert len(lags) == steps
    torch.testing.assert_close(lags[:k].sum(0), detached(cell, x, k), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(lag_gradients(cell, x, bent, k), lags[:k])


@given(st.sampled_from([SimpleCell, LinearCell]), st.floats(0.1, 0.95), SEEDS)
@settings(max_examples=30, deadline=None)
def test_what_is_left_out_is_within_the_bound(kind, rate, seed):
    cell = kind(2, 3, generator=rng(seed), **DOUBLE)
    project(cell, rate)
    x = 2 * torch.rand(30, 1, 2, generator=rng(seed + 1), **DOUBLE) - 1
    lags = lag_gradients(cell, x, bent)
    known, loss = constants(cell), LossConstants.pseudo_huber(3**0.5)
    for k in (1, 3, 10):
        assert lags[k:].sum(0).norm() <= known.rate**k * gradient_bound(known, loss) * (1 + 1e-9)


def scalar(a):
    cell = LinearCell(1, 1, generator=rng(0), **DOUBLE).requires_grad_(False)
    for weight, value in zip(cell.parameters(), (a, 1.0, 0.0), strict=True):
        weight.fill_(value)
    return cell.requires_grad_()


def test_by_hand():
    """h_4 = a h_3 + x_4 with a = 1/2 and ones: states 1, 1.5, 1.75 before the last steps."""
    lags = lag_gradients(scalar(0.5), torch.ones(4, 1, 1, **DOUBLE), lambda h: h.sum())
    assert lags[:, 0].tolist() == [1.75, 0.75, 0.25, 0.0]


@given(KINDS, st.floats(0.2, 0.95), SEEDS)
@settings(max_examples=20, deadline=None)
def test_random_cuts_are_right_on_average(kind, keep, seed):
    """The mean over all windows, each with its probability, without chance."""
    cell, x = kind(2, 3, generator=rng(seed), **DOUBLE), draw(9, 2, 2, seed=seed)
    lags = lag_gradients(cell, x, bent)
    whole, mean, square = lags.sum(0), 0, 0.0
    for n in range(1, len(lags) + 1):
        share = keep ** (n - 1) * ((1 - keep) if n < len(lags) else 1)
        cut = (lags[:n] / keep ** torch.arange(n, **DOUBLE)[:, None]).sum(0)
        mean, square = mean + share * cut, square + share * (cut - whole).square().sum().item()
    torch.testing.assert_close(mean, whole, rtol=1e-9, atol=1e-12)
    assert random_cut_variance(lags, keep) == pytest.approx(square, rel=1e-8, abs=1e-20)


def test_drawn_cuts_have_this_mean_and_variance():
    cell, x = SimpleCell(2, 3, generator=rng(1), **DOUBLE), draw(9, 2, 2, seed=1)
    lags = lag_gradients(cell, x, bent)
    cuts, variance = random_cut(lags, 0.8, rng(2), 20_000), random_cut_variance(lags, 0.8)
    apart = (cuts - lags.sum(0)).square().sum(1)
    assert apart.mean().item() == pytest.approx(variance, rel=0.1)
    assert (cuts.mean(0) - lags.sum(0)).norm() < 5 * (variance / 20_000) ** 0.5
    assert torch.equal(cuts, random_cut(lags, 0.8, rng(2), 20_000))


@given(st.floats(0.1, 0.97), st.floats(0.01, 1.0), st.integers(8, 60))
@settings(max_examples=60, deadline=None)
def test_a_window_of_a_geometric_decay(rate, tolerance, count):
    """All lags in one direction, of which the sum is known for ever."""
    lags = rate ** torch.arange(count, **DOUBLE)[:, None]
    k = window_for_gradient(lags, tolerance)

    def enough(n):
        left = rate**n
        return left <= tolerance * (1 - 2 * left) * (1 + 1e-6)

    assert enough(k) or k == count
    assert k == 1 or not enough(k - 1) or tolerance * (1 - 2 * rate ** (k - 1)) < rate ** (k - 1) * (1 + 1e-6)


def test_a_smaller_tolerance_asks_for_more():
    cell = SimpleCell(2, 3, generator=rng(0), **DOUBLE)
    project(cell, 0.9)
    lags = lag_gradients(cell, draw(40, 4, 2), bent)
    windows = [window_for_gradient(lags, tolerance) for tolerance in (1.0, 0.1, 0.01, 0.001)]
    assert all(a < b for a, b in pairwise(windows))
    for k, tolerance in zip(windows, (1.0, 0.1, 0.01, 0.001), strict=True):
        assert lags[k:].sum(0).norm() <= tolerance * lags.sum(0).norm()


@given(st.integers(1, 5), st.integers(1, 8), st.floats(0.001, 1.0), SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_nilpotent_cell_needs_no_more_lags_than_it_has_units(d, more, tolerance, seed):
    """From lag d on all are exactly 0; the window is the first one that leaves out a small enough part."""
    cell = LinearCell(2, d, generator=rng(seed), **DOUBLE)
    with torch.no_grad():
        cell.W.copy_(cell.W.triu(1))
    lags = lag_gradients(cell, draw(d + more, 1, 2, seed=seed), bent)
    assert not lags[d:].any()
    k = window_for_gradient(lags, tolerance)
    left = [lags[n:].norm(dim=1).sum() for n in range(d + more + 1)]
    good = [n for n in range(1, d + 1) if left[n] <= tolerance * (lags[:n].sum(0).norm() - left[n])]
    assert 1 <= k == min(good) <= d


def test_zeros_at_the_end_end_the_window_and_zeros_before_the_later_half_are_no_matter():
    assert window_for_gradient(torch.tensor([[1.0], [0.9], [0.0], [0.0]], **DOUBLE), 0.1) == 2
    assert window_for_gradient(torch.zeros(3, 2, **DOUBLE), 0.1) == 1
    decay = 0.1 ** torch.arange(8, **DOUBLE)[:, None]
    assert window_for_gradient(decay * (torch.arange(8) != 1)[:, None], 0.05) == 1


def test_lags_that_neither_grow_nor_decay_are_never_enough():
    """The slope of the line is 0 up to rounding, on either side."""
    for value in (1.0, 0.3, 7.0):
        for count in range(4, 12):
            with pytest.raises(ValueError, match="grow by a factor of 1 a lag"):
                window_for_gradient(torch.full((count, 1), value, **DOUBLE), 0.1)


LAGS = 0.5 ** torch.arange(8, **DOUBLE)[:, None]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: window_for_gradient(1.16 ** torch.arange(8, **DOUBLE)[:, None], 0.1),
            r"do not decay .* grow by a factor of 1\.16 a lag: lags are the rows, the latest first$",
        ),
        (
            lambda: window_for_gradient(LAGS[:, 0], 0.1),
            r"^lags must be a tensor of shape \(lags, weights\), got shape \(8,\)$",
        ),
        (lambda: window_for_gradient(LAGS.tolist(), 0.1), r"^lags must be a tensor .* got list$"),
        (lambda: window_for_gradient(LAGS * torch.nan, 0.1), "^lag 0 is not finite$"),
        (lambda: window_for_gradient(LAGS * (torch.arange(8) != 5)[:, None], 0.1), "^lag 5 is 0 and the last is not"),
        (lambda: window_for_gradient(LAGS[:0], 0.1), "at least four lags, got 0$"),
        (lambda: window_for_gradient(LAGS, 10), "^tolerance is a part of the gradient, above 0 and at most 1, got 10$"),
        (lambda: window_for_gradient(LAGS, torch.nan), "^tolerance is a part .* got nan$"),
        (lambda: window_for_gradient(LAGS, "0.1"), "^tolerance is a part .* got '0.1'$"),
        (lambda: random_cut(LAGS[:, 0], 0.5), r"^lags must be a tensor of shape .* got shape \(8,\)$"),
        (lambda: random_cut(LAGS, "0.5"), "^keep must lie between 0 and 1, got '0.5'$"),
        (lambda: random_cut_variance(LAGS.tolist(), 0.5), "^lags must be a tensor of shape .* got list$"),
        (
            lambda: lag_gradients(scalar(0.5), [1.0, 2.0], bent),
            r"^inputs must be a tensor of shape \(time, batch, d_in\), got list$",
        ),
    ],
)
def test_what_is_no_matrix_of_lags_or_no_part(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_input_is_refused():
    cell, lags = scalar(0.5), LAGS
    with pytest.raises(ValueError, match="at least one input"):
        lag_gradients(cell, torch.zeros(0, 1, 1, **DOUBLE), bent)
    with pytest.raises(ValueError, match="lags must be"):
        lag_gradients(cell, torch.zeros(2, 1, 1, **DOUBLE), bent, 0)
    with pytest.raises(ValueError, match="at least four lags"):
        window_for_gradient(lags[:3], 0.1)
    with pytest.raises(ValueError, match="do not decay"):
        window_for_gradient(lags.flip(0), 0.1)
    with pytest.raises(ValueError, match="tolerance"):
        window_for_gradient(lags, 0.0)
    for keep in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="keep must lie between 0 and 1"):
            random_cut(lags, keep)
    with pytest.raises(ValueError, match="draws"):
        random_cut(lags, 0.5, draws=0)
