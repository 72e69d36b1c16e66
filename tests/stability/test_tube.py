"""Tubes along the last inputs: slopes of chords, boxes of states, and that no past leads out of a tube."""

from math import inf

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import rng

from fhx.cells import SimpleCell
from fhx.dynamics import unroll
from fhx.stability import largest_norm, project, reachable, slope_restricted_gain, truncated_states, tube
from fhx.stability.tube import chord_slopes

DOUBLE = {"dtype": torch.float64}
SEEDS = st.integers(0, 2**32)


@torch.no_grad()
def net(d: int, size: float, seed: int) -> SimpleCell:
    """Normal weights and biases of this standard deviation."""
    cell, generator = SimpleCell(2, d, generator=rng(seed), **DOUBLE), rng(seed + 1)
    for weight in cell.parameters():
        weight.copy_(size * torch.randn(weight.shape, generator=generator, **DOUBLE))
    return cell.requires_grad_(False)


def definite(d: int, seed: int) -> torch.Tensor:
    """A norm that is not round."""
    A = torch.randn(d, d, generator=rng(seed), **DOUBLE)
    return A @ A.mT + 0.1 * torch.eye(d, **DOUBLE)


def inputs(steps: int, many: int, seed: int, hard: bool) -> torch.Tensor:
    """Uniform in [-1, 1], or at the corners."""
    x = 2 * torch.rand(steps, many, 2, generator=rng(seed), **DOUBLE) - 1
    return x.sign() if hard else x


@pytest.mark.claim("E16")
@given(st.integers(1, 4), st.floats(0.05, 3.0), st.booleans(), st.booleans(), SEEDS)
@settings(max_examples=60, deadline=None)
def test_no_past_leads_out_of_the_tube(d, size, hard, known, seed):
    cell, P, k = net(d, size, seed), definite(d, seed + 2), 12
    if known:
        project(cell, 0.95)
        P = torch.eye(d, **DOUBLE)
    gain = slope_restricted_gain(cell.W, P, torch.ones(d, **DOUBLE)) if known else inf
    window, pasts = inputs(k, 3, seed + 3, hard), inputs(8, 3 * 40, seed + 4, True)
    radii = tube(cell, window, P, gain)
    assert radii.shape == (k + 1, 3)
    runs = unroll(cell, torch.cat([pasts, window.repeat_interleave(40, 1)]))[7:].unflatten(1, (3, 40))
    from_zero = torch.cat([torch.zeros(1, 3, d, **DOUBLE), unroll(cell, window)])
    assert ((runs - from_zero[:, :, None]).norm(dim=-1).amax(-1) <= radii).all()


@given(st.floats(-40, 40), st.floats(0, 60), st.floats(0, 60), st.floats(0, 1))
@settings(max_examples=300)
def test_chords_are_between_their_slopes(a, below, above, part):
    a, low, high = (torch.tensor(v, **DOUBLE) for v in (a, a - below, a + above))
    least, most = chord_slopes(a, low, high)
    end = low + part * (high - low)
    if (end - a).abs() > 1e-3:
        slope = (end.tanh() - a.tanh()) / (end - a)
        assert least - 1e-13 <= slope <= most + 1e-13
    assert 0 <= least <= most <= 1


@pytest.mark.parametrize("a", [0.0, 0.3, 2.0, 30.0, 400.0, 2000.0])
def test_slopes_of_chords_are_reached(a):
    """Against a fine grid; far out tanh is flat and most chords are those of a step from -1 to 1."""
    a = torch.tensor(a, **DOUBLE)
    ends = torch.linspace(-3 * a.item() - 2, 2 * a.item() + 2, 200_001, **DOUBLE)
    ends = ends[(ends - a).abs() > 1e-4]
    slopes = (ends.tanh() - a.tanh()) / (ends - a)
    for sign in (1, -1):
        least, most = chord_slopes(sign * a, *sorted((sign * ends.min(), sign * ends.max())))
        assert most.item() == pytest.approx(slopes.max().item(), rel=1e-3, abs=1e-12)
        assert least.item() == pytest.approx(slopes.min().item(), rel=1e-3, abs=1e-12)


@given(st.integers(1, 6), st.floats(0.1, 3.0), SEEDS)
@settings(max_examples=30, deadline=None)
def test_states_are_within_the_box(d, size, seed):
    cell = net(d, size, seed)
    K = reachable(cell)
    assert (unroll(cell, inputs(30, 50, seed + 1, True)).abs().amax((0, 1)) <= K).all()
    assert (K <= 1).all()


def test_one_unit_reaches_its_box():
    cell = SimpleCell(1, 1, generator=rng(0), **DOUBLE).requires_grad_(False)
    for weight, value in zip(cell.parameters(), (0.5, 0.4, 0.1), strict=True):
        weight.fill_(value)
    top = unroll(cell, torch.ones(200, 1, 1, **DOUBLE))[-1].item()
    assert top <= reachable(cell).item() <= top * (1 + 1e-8)


@given(st.integers(1, 6), SEEDS)
@settings(max_examples=30, deadline=None)
def test_no_state_of_the_box_is_larger_than_the_largest_norm(d, seed):
    P, K = definite(d, seed), torch.rand(d, generator=rng(seed + 1), **DOUBLE)
    h = (2 * torch.rand(500, d, generator=rng(seed + 2), **DOUBLE) - 1).sign() * K
    norms = ((h @ P) * h).sum(1).sqrt()
    assert norms.max() <= largest_norm(P, K) <= K.norm() * torch.linalg.matrix_norm(P, 2).sqrt() * (1 + 1e-8)


def test_the_tube_is_narrower_than_the_gain_says_and_holds_for_the_run_itself():
    cell, P = net(8, 8**-0.5, 0), torch.eye(8, **DOUBLE)
    project(cell, 0.9)
    x = inputs(40, 1, 1, False)
    windows = x[:, 0].unfold(0, 20, 1).permute(2, 0, 1)
    radii = tube(cell, windows, P, 0.9)
    assert (radii[20] < 0.9**20 * largest_norm(P, reachable(cell))).all()
    gaps = (unroll(cell, x) - truncated_states(cell, x, 20))[20:].norm(dim=-1)[:, 0]
    assert (gaps <= radii[20, 1:]).all()
    assert (radii[20, 1:] < 1e3 * gaps.max()).all()


def test_a_bound_of_zero_is_for_inputs_that_are_all_zero():
    cell, x = net(3, 0.5, 0), torch.zeros(5, 1, 2, **DOUBLE)
    assert (reachable(cell, 0.0) < reachable(cell)).all()
    radii, wider = (tube(cell, x, torch.eye(3, **DOUBLE), input_bound=bound) for bound in (0.0, 1.0))
    assert (radii < wider).all()
    run = torch.cat([torch.zeros(1, 1, 3, **DOUBLE), unroll(cell, torch.zeros(40, 1, 2, **DOUBLE))])
    for past in range(20):
        assert ((run[past : past + 6] - run[:6]).norm(dim=-1) <= radii).all()


@pytest.mark.parametrize("gain", [0.0, 0.9, inf])
def test_a_cell_that_never_leaves_zero_has_a_tube_of_radius_zero_up_to_rounding(gain):
    radii = tube(net(2, 0.0, 0), torch.zeros(3, 2, 2, **DOUBLE), torch.eye(2, **DOUBLE), gain)
    assert radii.max() < 1e-12


def test_a_norm_that_is_symmetric_but_for_rounding_is_taken():
    cell, x, P = net(3, 0.5, 0), torch.zeros(4, 1, 2, **DOUBLE), definite(3, 1).float()
    off = P.clone()
    off[0, 1] *= 1 + 1e-7
    torch.testing.assert_close(tube(cell, x, off), tube(cell, x, P), rtol=1e-6, atol=0)


class Doubled(SimpleCell):
    def step(self, h, drive):
        return 2 * super().step(h, drive)


CELL, X, P3 = net(3, 0.5, 0), torch.zeros(4, 1, 2, **DOUBLE), torch.eye(3, **DOUBLE)
SKEW = P3 + 5 * torch.tensor([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]], **DOUBLE)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tube(CELL, X, P3, gain=-1.0), r"^gain must be a number of at least 0, got -1\.0$"),
        (lambda: tube(CELL, X, P3, gain=torch.nan), "^gain must be a number of at least 0, got nan$"),
        (lambda: tube(CELL, X, P3, gain="0.9"), "^gain must be a number of at least 0, got '0.9'$"),
        (lambda: tube(CELL, X, SKEW), r"^P must be symmetric: entry \(2, 0\) is 5\.0 and \(0, 2\) is 0\.0$"),
        (lambda: tube(CELL, X, SKEW.mT), r"^P must be symmetric: entry \(2, 0\) is 0\.0 and \(0, 2\) is 5\.0$"),
        (lambda: tube(CELL, X, P3[:2, :2]), r"^P must be a tensor of shape \(3, 3\), got shape \(2, 2\)$"),
        (lambda: tube(CELL, X, P3[0]), r"^P must be a tensor of shape \(3, 3\), got shape \(3,\)$"),
        (lambda: tube(CELL, X, P3.tolist()), r"^P must be a tensor of shape \(3, 3\), got list$"),
        (lambda: tube(CELL, X, None), "^P must be a tensor .* got NoneType$"),
        (lambda: tube(CELL, X, P3 * torch.nan), "P, which holds an entry that is not finite"),
        (
            lambda: tube(CELL, X[:, 0], P3),
            r"^windows must be a tensor of shape \(k, windows, 2\), got shape \(4, 2\)$",
        ),
        (lambda: tube(CELL, X[..., :1], P3), r"^windows must be .*\(k, windows, 2\), got shape \(4, 1, 1\)$"),
        (lambda: tube(CELL, X.tolist(), P3), "^windows must be a tensor .* got list$"),
        (lambda: tube(CELL, None, P3), "^windows must be a tensor .* got NoneType$"),
        (lambda: tube(Doubled(2, 3, **DOUBLE), X, P3), "^Doubled overrides step of SimpleCell"),
        (lambda: tube(CELL, X, P3, input_bound=-1.0), "^input_bound must be a finite number of at least 0, got -1"),
        (lambda: tube(CELL, X, P3, input_bound=inf), "^input_bound must be a finite number of at least 0, got inf"),
        (lambda: reachable(None), "simple cells with tanh"),
        (lambda: largest_norm(P3, torch.ones(2, **DOUBLE)), r"^P must be .*\(2, 2\), got shape \(3, 3\)$"),
        (lambda: largest_norm(P3, P3), r"^K must be a tensor of shape \(d,\), got shape \(3, 3\)$"),
        (lambda: largest_norm(-P3, torch.ones(3, **DOUBLE)), "not positive definite"),
        (lambda: largest_norm(SKEW, torch.ones(3, **DOUBLE)), "^P must be symmetric"),
        (lambda: largest_norm(torch.eye(13), torch.ones(13)), "at most 12 units, got 13$"),
    ],
)
def test_arguments_that_make_no_tube(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_input_is_refused():
    cell, x, P = net(2, 0.5, 0), torch.zeros(3, 1, 2, **DOUBLE), torch.eye(2, **DOUBLE)
    with pytest.raises(ValueError, match="simple cells with tanh"):
        tube(SimpleCell(2, 2, "relu", **DOUBLE), x, P)
    with pytest.raises(ValueError, match=r"larger than the bound 1\.0"):
        tube(cell, x + 1.5, P)
    with pytest.raises(ValueError, match="not positive definite"):
        tube(cell, x, -P)
    with pytest.raises(ValueError, match="not positive definite"):
        tube(cell, x, torch.diag(torch.tensor([1.0, 1e-6], **DOUBLE)))
    with pytest.raises(ValueError, match="at most 12 units"):
        tube(net(13, 0.1, 0), x, torch.eye(13, **DOUBLE))
    with pytest.raises(ValueError, match="input_bound"):
        reachable(cell, -1.0)
