"""Lyapunov exponents of maps that are known, and laws that hold on every run."""

from math import log, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DEVICE, DOUBLE, draw, rng
from scipy.stats import chi2

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import finite_time_exponents, jacobians, lyapunov_estimate, lyapunov_spectrum, unroll
from fhx.dynamics.lyapunov import LOSS, _first_frame, _log_norm_bound, _rank_bound
from fhx.training import interval


def nothing(time, batch):
    return torch.empty(time, batch, 0, **DOUBLE)


def logistic(h, x):
    return 4 * h * (1 - h)


def henon(h, x):
    return torch.stack([1 - 1.4 * h[:, 0] ** 2 + h[:, 1], 0.3 * h[:, 0]], -1)


def lorenz(dt):
    def flow(h):
        x, y, z = h.unbind(-1)
        return torch.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], -1)

    def step(h, x):
        a = flow(h)
        b = flow(h + dt / 2 * a)
        c = flow(h + dt / 2 * b)
        return h + dt / 6 * (a + 2 * b + 2 * c + flow(h + dt * c))

    return step


def test_a_diagonal_map():
    """The frame turns to the axes like (1/2)^t, the smallest ratio of two factors: to rounding within the warm-up."""
    factors = torch.tensor([-0.5, 2.0, 0.25, -1.0], **DOUBLE)
    found = lyapunov_spectrum(lambda h, x: h * factors, nothing(80, 2), h0=torch.zeros(4, **DOUBLE), warmup=60)
    wanted = torch.tensor([2.0, 1.0, 0.5, 0.25], **DOUBLE).log().expand(2, 4)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-13)


def test_a_scaled_orthogonal_map():
    """Exact at every time."""
    turn = 3 * torch.linalg.qr(draw(5, 5))[0]
    found = finite_time_exponents(lambda h, x: h @ turn.T, nothing(30, 2), h0=torch.zeros(5, **DOUBLE))
    torch.testing.assert_close(found, torch.full((30, 2, 5), log(3), **DOUBLE), rtol=0, atol=1e-13)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_linear_cell_has_the_logarithms_of_its_eigenvalues(seed):
    """W = V B V^-1 with two planes that turn and shrink by 1/2 and one direction that grows by 2. Within an invariant
    plane the stretch over T steps lies between r^T / cond(V) and r^T cond(V).
    """
    generator = rng(seed)
    cell = LinearCell(1, 5, generator=generator, **DOUBLE)
    angles = (6 * torch.rand(2, generator=generator)).tolist()
    blocks = [torch.tensor([[2.0]], **DOUBLE)]
    for radius, angle in zip((1.0, 0.5), angles, strict=True):
        a = torch.tensor(angle, **DOUBLE)
        turn = torch.stack([a.cos(), -a.sin(), a.sin(), a.cos()]).view(2, 2)
        blocks.append(radius * turn)
    v = torch.eye(5, **DOUBLE) + 0.3 * draw(5, 5, seed=seed)
    with torch.no_grad():
        cell.W.copy_(v @ torch.block_diag(*blocks) @ torch.linalg.inv(v))
    moduli = torch.linalg.eigvals(cell.W).abs().log().sort(descending=True).values.detach()
    found = lyapunov_spectrum(cell, torch.zeros(260, 1, 1, **DOUBLE), warmup=60)[0]
    condition = torch.linalg.cond(v).item()
    assert ((found - moduli).abs() <= log(condition) / 200 + condition**2 * 1e-13).all()
    assert abs(found[0] - log(2)) <= condition**2 * 1e-13


def test_the_logistic_map():
    """At r = 4, log |f'(h)| = ln 2 + (log s(f(h)) - log s(h)) / 2 with s(h) = h (1 - h): the sum telescopes."""
    start, time = torch.linspace(0.1, 0.45, 8, **DOUBLE)[:, None], 3000
    found = lyapunov_spectrum(logistic, nothing(time, 8), h0=start)
    end = unroll(logistic, nothing(time, 8), start)[-1]
    left = ((end * (1 - end)).log() - (start * (1 - start)).log()) / (2 * time)
    torch.testing.assert_close(found, log(2) + left, rtol=0, atol=1e-10)
    assert log(2) in interval(found[:, 0].tolist(), level=0.999)


def test_the_henon_map():
    """Exponents 0.419 and -1.623 (Wolf et al. 1985: 0.418 and -1.622); their sum is ln 0.3, whatever the run."""
    found = lyapunov_spectrum(henon, nothing(1100, 150), h0=0.1 * draw(150, 2), warmup=100)
    torch.testing.assert_close(found.sum(-1), torch.full((150,), log(0.3), **DOUBLE), rtol=0, atol=2 * LOSS)
    top = interval(found[:, 0].tolist(), level=0.999)
    assert top.low - 5e-4 <= 0.419 <= top.high + 5e-4  # the literature's value is rounded
    assert top.half_width < 0.005


def test_the_lorenz_system():
    """Known: 0.906, 0, -14.57 per unit of time; the sum is the divergence -41/3, up to the fourth order of RK4."""
    found = {}
    for dt in (0.02, 0.01):
        steps = round(20 / dt)
        start = torch.tensor([1.0, 1.0, 25.0], **DOUBLE) + draw(48, 3)
        inputs = nothing(steps + round(5 / dt), 48)
        found[dt] = lyapunov_spectrum(lorenz(dt), inputs, h0=start, warmup=round(5 / dt)) / dt
    off = {dt: abs(exponents.sum(-1).mean().item() + 41 / 3) for dt, exponents in found.items()}
    assert 8 < off[0.02] / off[0.01] < 32
    assert off[0.01] < 1e-3
    for column, (known, rounded) in enumerate([(0.906, 5e-4), (0.0, 0.0), (-14.57, 5e-3)]):
        values = interval(found[0.01][:, column].tolist(), level=0.999)
        assert values.low - rounded - off[0.01] <= known <= values.high + rounded + off[0.01]
        assert values.half_width < 0.05


@settings(max_examples=25)
@given(st.sampled_from([SimpleCell, GRUCell, LSTMCell]), st.integers(1, 4), st.integers(1, 40), st.integers(0, 2**32))
def test_all_exponents_sum_to_the_mean_logarithm_of_the_determinant(kind, width, time, seed):
    cell, inputs = kind(2, width, generator=rng(seed), **DOUBLE), draw(time, 3, 2, seed=seed)
    steps = jacobians(cell, inputs).detach()
    determinants = torch.linalg.slogdet(steps).logabsdet.mean(0)
    rounding = 1e-15 * cell.state_width**2 * torch.linalg.cond(steps).max().item()
    found = lyapunov_spectrum(cell, inputs).sum(-1)
    torch.testing.assert_close(found, determinants, rtol=1e-12, atol=cell.state_width * LOSS + rounding)


def chaotic(width, gain, dtype=torch.float64):
    cell = SimpleCell(1, width, generator=rng(3), dtype=dtype, device=DEVICE)
    with torch.no_grad():
        cell.W.copy_(gain * draw(width, width) / sqrt(width))
    return cell


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    ("width", "gain", "k"), [(6, 2.0, None), (6, 2.0, 2), (40, 3.0, 3), (40, 3.0, None), (6, 4.0, 6)]
)
def test_longer_pieces_cost_no_more_than_they_may(width, gain, k, dtype):
    """Beside one factorisation a step. A chaotic state is the same in both; only the frames are made differently."""
    cell, inputs = chaotic(width, gain, dtype), 0.1 * draw(300, 2, 1).to(dtype)
    pieces = lyapunov_spectrum(cell, inputs, k)
    steps = finite_time_exponents(cell, inputs, k)[-1].sort(-1, descending=True).values
    condition = torch.linalg.cond(jacobians(cell, inputs).detach().double()).max().item()  # one step's own rounding
    torch.testing.assert_close(pieces, steps, rtol=0, atol=LOSS + width * torch.finfo(dtype).eps * condition)


@given(st.sampled_from([(), (3,), (2, 3), (4, 1)]), st.integers(1, 5), st.floats(0, 1), st.integers(0, 2**32))
def test_bounds_of_norm_and_rank_are_the_definition(shape, width, empty, seed):
    generator = np.random.default_rng(seed)
    matrices = generator.normal(size=(*shape, width, width)) * generator.choice([1e-200, 1.0, 1e200], (*shape, 1, 1))
    matrices *= generator.random((*shape, width, 1)) >= empty / 2
    matrices *= generator.random((*shape, 1, width)) >= empty / 2
    with np.errstate(divide="ignore"):
        rows, columns = np.log(np.abs(matrices).sum(-1)).max(-1), np.log(np.abs(matrices).sum(-2)).max(-1)
    bound, rank = _log_norm_bound(torch.from_numpy(matrices)), _rank_bound(torch.from_numpy(matrices))
    assert bound.shape == rank.shape == shape
    np.testing.assert_allclose(bound.numpy(), (rows + columns) / 2, rtol=1e-13, atol=1e-13)
    filled = [np.count_nonzero((matrices != 0).any(axis), -1) for axis in (-1, -2)]
    assert np.array_equal(rank.numpy(), np.minimum(*filled))
    size = np.where(rank > 0, np.exp(rows), 1)
    norms = np.linalg.norm(matrices / size[..., None, None], 2, (-2, -1)) * (1 - 1e-12)
    assert (np.exp(bound.numpy()) >= norms * size).all()


def test_the_first_frame_is_the_same_for_all_and_the_first_columns_of_a_larger_one():
    zeros = torch.zeros(2, 5, 5, **DOUBLE)
    whole = _first_frame(zeros, None)
    torch.testing.assert_close(whole.mT @ whole, torch.eye(5, **DOUBLE).expand(2, 5, 5), rtol=0, atol=1e-14)
    for k in range(1, 6):
        some = _first_frame(zeros.float(), k)
        assert (some.shape, some.dtype) == ((2, 5, k), torch.float32)
        torch.testing.assert_close(some, whole[..., :k].float())
        assert torch.equal(some[0], some[1])


def test_the_first_few_are_those_of_all():
    cell, inputs = chaotic(12, 2.0), draw(200, 2, 1)
    some, whole = finite_time_exponents(cell, inputs, 3), finite_time_exponents(cell, inputs)
    torch.testing.assert_close(some, whole[..., :3], rtol=0, atol=1e-9)
    assert some.shape == (200, 2, 3)


def test_finite_times_are_runs_that_end_there():
    cell, inputs = chaotic(5, 1.5), draw(50, 2, 1)
    found = finite_time_exponents(cell, inputs)
    for time in (1, 7, 50):
        torch.testing.assert_close(found[time - 1], finite_time_exponents(cell, inputs[:time])[-1])


def test_a_warm_up_is_not_counted():
    """The diagonal map of the inputs: what is counted is what comes after, wherever the warm-up ends."""
    inputs = draw(50, 2, 1).exp()
    for warmup in (0, 1, 17, 49):
        found = lyapunov_spectrum(lambda h, x: h * x, inputs, h0=torch.zeros(1, **DOUBLE), warmup=warmup)
        torch.testing.assert_close(found, inputs[warmup:].log().mean(0))


def test_the_error_is_that_of_a_mean():
    """Independent stretches: the estimate's square over the true one is chi-squared over its degrees of freedom."""
    time, runs, blocks = 400, 100, 20
    inputs = (0.7 * draw(time, runs, 1)).exp()
    exponents, error = lyapunov_estimate(lambda h, x: h * x, inputs, h0=torch.zeros(1, **DOUBLE))
    degrees = runs * (blocks - 1)
    ratio = (error / (0.7 / sqrt(time))).square().sum().item() * (blocks - 1)
    # lengths of blocks may differ by what a piece overhangs: allow for a tenth of a block on top of chance
    assert 0.9 * chi2.ppf(5e-4, degrees) <= ratio <= 1.1 * chi2.ppf(1 - 5e-4, degrees)
    covered = ((exponents.abs() < 4 * error).sum()).item()
    assert covered >= runs - 2


def test_a_silent_unit_is_minus_infinity_and_never_nan():
    """A ReLU net of which two of five units are silent for ever: three exponents are finite."""
    weights = torch.linalg.qr(draw(5, 5))[0]
    shift = torch.tensor([10.0, 10.0, 10.0, -1e3, -1e3], **DOUBLE)

    def f(h, x):
        return torch.relu(0.5 * h @ weights.T + shift)

    found, error = lyapunov_estimate(f, nothing(60, 2), h0=torch.zeros(5, **DOUBLE))
    assert (found[:, :3] > -torch.inf).all()
    assert (found[:, 3:] == -torch.inf).all()
    assert (error[:, 3:] == torch.inf).all()
    assert error[:, :3].isfinite().all()
    assert not finite_time_exponents(f, nothing(60, 2), h0=torch.zeros(5, **DOUBLE)).isnan().any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("gain", [0.0, 1e-30, 5.0, 1e3, 1e6])
def test_no_run_gives_nan(gain, dtype):
    """Dead, vanishing, chaotic, saturated so that tanh' is zero in floats."""
    cell, inputs = chaotic(30, gain, dtype), draw(100, 3, 1).to(dtype)
    exponents, error = lyapunov_estimate(cell, inputs, warmup=5)
    assert torch.equal(exponents, lyapunov_spectrum(cell, inputs, warmup=5))
    assert not exponents.isnan().any()
    assert not error.isnan().any()
    if gain in (0.0, 1e6):
        assert (exponents == -torch.inf).all()
    if gain == 5.0:
        assert (exponents[:, 0] > 0).all()


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    cell, inputs = SimpleCell(2, 3), torch.zeros(6, 1, 2)
    for function in (lyapunov_spectrum, finite_time_exponents):
        for k in (0, 4, -1):
            with pytest.raises(ValueError, match=f"k must lie between 1 and the state's width 3, got {k}"):
                function(cell, inputs, k)
        with pytest.raises(ValueError, match="give h0"):
            function(logistic, inputs)
    for warmup in (-1, 6):
        with pytest.raises(ValueError, match=f"warmup must leave a step of T = 6 to count, got {warmup}"):
            lyapunov_spectrum(cell, inputs, warmup=warmup)
    with pytest.raises(ValueError, match="an error needs at least 4 counted steps, got 3"):
        lyapunov_estimate(cell, inputs, warmup=3)
    with pytest.raises(ValueError, match="need at least one input"):
        finite_time_exponents(cell, inputs[:0])
