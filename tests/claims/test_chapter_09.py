"""The claims of chapter 9: what a contraction is, which cells are one, what it forgets, what memory does not need."""

from itertools import product
from math import atanh, inf, log, tanh

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_tensors import rng
from torch import Tensor

from fhx.cells import Cell, LinearCell, LSTMCell, SimpleCell, orthogonal_
from fhx.dynamics import jacobians, product_norms, unroll
from fhx.machines import parity
from fhx.stability import (
    Translated,
    WithReadout,
    adversarial_gain,
    contraction_rate,
    definite_order,
    fixed_point,
    lyapunov_norm,
    window_for_margin,
)

DOUBLE = {"dtype": torch.float64}


def tensor(values: list) -> Tensor:
    return torch.tensor(values, **DOUBLE)


def zeroed(cell: Cell, **weights: list | float) -> Cell:
    """The cell with these weights, and 0 for all others."""
    cell.requires_grad_(False)
    for parameter in cell.parameters():
        parameter.zero_()
    for name, values in weights.items():
        getattr(cell, name)[:] = torch.as_tensor(values, **DOUBLE)
    return cell


def turning(**weights: list | float) -> SimpleCell:
    W = [[0.6, -0.6], [0.6, 0.6]]
    return zeroed(SimpleCell(1, 2, **DOUBLE), W=W, U=[[1.0], [0.0]], **weights)


# B4: a norm, a set of states and inputs belong to a contraction


@pytest.mark.claim("B4")
def test_b4_one_cell_contracts_in_one_norm_and_not_in_another():
    cell, x = turning(), torch.zeros(500, 1, **DOUBLE)
    h, other = 2 * torch.rand(2, 500, 2, generator=rng(0), **DOUBLE) - 1
    apart = (cell(h, x) - cell(other, x)).norm(dim=-1) / (h - other).norm(dim=-1)
    assert apart.max() < 0.72**0.5 + 1e-12
    corner = tensor([[1e-3, -1e-3]])
    assert (cell(corner, x[:1]) - cell(0 * corner, x[:1])).abs().max() > 1.19 * corner.abs().max()


@pytest.mark.claim("B4")
def test_b4_runs_on_one_input_meet_at_the_rate():
    cell = turning()
    starts = 2 * torch.rand(20, 2, generator=rng(1), **DOUBLE) - 1
    x = torch.randn(60, 1, 1, generator=rng(2), **DOUBLE).expand(-1, 20, -1)
    apart = torch.pdist(starts).max()
    last = unroll(cell, x, starts)[-1]
    assert 0 < torch.pdist(last).max() < contraction_rate(cell) ** 60 * apart


@pytest.mark.claim("B4")
def test_b4_a_matrix_of_norm_ten_contracts_in_a_norm_of_its_own():
    W = tensor([[0.9, 10.0], [0.0, 0.9]])
    assert contraction_rate(zeroed(LinearCell(1, 2, **DOUBLE), W=W), "lyapunov") < 1
    scaled = torch.diag(tensor([1.0, 200.0]))  # the second unit in units of 1/200
    assert torch.linalg.matrix_norm(torch.linalg.inv(scaled) @ W @ scaled, inf) > 10
    scaled = torch.diag(tensor([200.0, 1.0]))
    assert torch.linalg.matrix_norm(torch.linalg.inv(scaled) @ W @ scaled, inf) < 0.96


@pytest.mark.claim("B4")
def test_b4_with_tanh_a_spectral_radius_of_zero_need_not_contract_in_any_norm():
    W = tensor([[2.0, -2.0], [2.0, -2.0]])
    assert (W @ W == 0).all()
    cell = zeroed(SimpleCell(1, 2, **DOUBLE), W=W, b=[1.8, atanh(0.9) + 1.8])
    rest = tensor([[0.0, 0.9]])
    x = torch.zeros(40, 1, 1, **DOUBLE)
    assert torch.allclose(unroll(cell, x[:1], rest)[0], rest)
    assert torch.linalg.eigvals(jacobians(cell, x[:1], rest)[0, 0]).abs().max() == pytest.approx(1.62)
    assert (unroll(cell, x, rest + tensor([1e-6, 0.0]))[-1] - rest).abs().max() > 0.5


@pytest.mark.claim("B5")
def test_b5_a_norm_of_w_below_one_is_not_enough_in_every_norm():
    """In a norm in which W halves all lengths, or nearly, tanh after it brings two states farther apart."""
    W = tensor([[2.0, -2.0], [2.0, -2.0]])
    root = torch.linalg.cholesky(lyapunov_norm(W)).mT  # |h| = |root h|
    assert torch.linalg.matrix_norm(root @ W @ torch.linalg.inv(root), 2) < 0.5
    cell = zeroed(SimpleCell(1, 2, **DOUBLE), W=W, b=[1.8, atanh(0.9) + 1.8])
    J = jacobians(cell, torch.zeros(1, 1, 1, **DOUBLE), tensor([[0.0, 0.9]]))[0, 0]
    assert torch.linalg.matrix_norm(root @ J @ torch.linalg.inv(root), 2) > 1.62


# B5: what is enough


@pytest.mark.claim("B5")
@pytest.mark.parametrize(("activation", "slope"), [("tanh", 1), ("relu", 1), ("sigmoid", 0.25), ("identity", 1)])
def test_b5_a_norm_below_one_over_the_slope_is_enough(activation, slope):
    cell = SimpleCell(2, 5, activation, generator=rng(3), **DOUBLE).requires_grad_(False)
    cell.W.mul_(0.99 / slope / torch.linalg.matrix_norm(cell.W, 2))
    x = torch.randn(4000, 2, generator=rng(4), **DOUBLE)
    h = torch.randn(4000, 5, generator=rng(5), **DOUBLE)
    other = h + 1e-3 * torch.randn(4000, 5, generator=rng(6), **DOUBLE)
    gains = (cell(h, x) - cell(other, x)).norm(dim=-1) / (h - other).norm(dim=-1)
    assert 0.4 < gains.max() <= 0.99 + 1e-9


# B7: memory and gradients


def latch() -> SimpleCell:
    return zeroed(SimpleCell(1, 1, **DOUBLE), W=2)


def through(cell: Cell, x: Tensor, starts: Tensor) -> Tensor:
    """The norm of the derivative of the last state by the first, one a start."""
    return product_norms(jacobians(cell, x, starts))[0].exp()


@pytest.mark.claim("B7")
def test_b7_gradients_of_a_contraction_vanish_at_its_rate():
    cell = turning(b=[0.3, -0.2])
    x = torch.randn(30, 50, 1, generator=rng(9), **DOUBLE)
    starts = 2 * torch.rand(50, 2, generator=rng(10), **DOUBLE) - 1
    gains = through(cell, x, starts)
    assert (gains < contraction_rate(cell) ** 30).all()
    assert (gains > 0).all()


@pytest.mark.claim("B7")
def test_b7_gradients_vanish_on_both_sides_of_a_latch_that_never_forgets():
    starts = tensor([[-0.9], [-0.01], [0.01], [0.9]])
    x = torch.zeros(60, 4, 1, **DOUBLE)
    assert (through(latch(), x, starts) < 1e-15).all()
    ends = unroll(latch(), x, starts)[-1, :, 0]
    assert (ends.sign() == starts[:, 0].sign()).all()
    assert ends.abs().min() > 0.95
    assert through(latch(), x, 0 * starts) == pytest.approx(2.0**60)


@pytest.mark.claim("B7")
def test_b7_a_first_step_may_hide_the_gradient_at_every_start_and_the_largest_one_stays():
    """A cube and then the latch: 1 and -1 are told apart for ever, and each start's gradient tends to 0."""
    starts = torch.cat(
        [-torch.logspace(-3, 0, 200, **DOUBLE), torch.zeros(1, **DOUBLE), torch.logspace(-3, 0, 200, **DOUBLE)]
    )
    h, slopes = starts**3 / 2, 1.5 * starts**2
    for _ in range(60):
        h = torch.tanh(2 * h)
        slopes = slopes * 2 * (1 - h**2)
    assert h[-1] - h[0] > 1.9
    assert slopes.max() < 1e-3
    assert slopes[200] == 0
    fine = torch.linspace(0, 1, 100_001, **DOUBLE)
    h, slopes = fine**3 / 2, 1.5 * fine**2
    for _ in range(12):
        h = torch.tanh(2 * h)
        slopes = slopes * 2 * (1 - h**2)
    assert slopes.max() > 1.9 / 2


@pytest.mark.claim("B7")
def test_b7_a_memory_that_undoes_noise_may_explode_at_no_single_start():
    h = torch.linspace(-1, 1, 20_001, **DOUBLE)
    slopes, largest = torch.ones_like(h), {}
    for T in range(1, 1001):
        slopes = slopes * (1 + 3 * h**2) * (1 - torch.tanh(h + h**3) ** 2)
        h = torch.tanh(h + h**3)
        largest[T] = slopes.max().item()
    assert slopes[10_000] == 1
    assert largest[10] > 5
    assert largest[100] > 20 * largest[10]
    assert largest[1000] > 20 * largest[100]
    assert slopes[[0, 5000, 8000, 12_000, 15_000, 20_000]].max() < 1e-20
    assert torch.tanh(torch.tensor(0.5 + 0.5**3)) - 0.05 > 0.5  # [1/2, 1] is not left under noise of 0.05


def parity_cell() -> SimpleCell:
    return zeroed(SimpleCell(1, 2, "relu", **DOUBLE), W=[[1, 1], [-1, -1]], U=[[-1], [1]])


@pytest.mark.claim("B7")
def test_b7_two_relu_units_compute_parity_and_no_gain_of_many_steps_passes_one():
    cell = parity_cell()
    bits = torch.randint(2, (200, 300, 1), generator=rng(11)).to(torch.float64)
    s = unroll(cell, bits)[..., :].sum(-1)
    assert (s == bits[..., 0].cumsum(0) % 2).all()
    x = 2 * torch.rand(100, 300, 1, generator=rng(12), **DOUBLE) - 0.5
    h, other = 2 * torch.rand(2, 300, 2, generator=rng(13), **DOUBLE)
    ends = unroll(cell, x, h)[-1] - unroll(cell, x, other)[-1]
    gains = ends.abs().sum(-1) / (h - other).abs().sum(-1)
    assert gains.max() <= 1 + 1e-9
    assert (through(cell, bits, h) <= 2**0.5 + 1e-9).all()
    kink = zeroed(SimpleCell(1, 2, "relu", **DOUBLE), W=[[1, 1], [-1, -1]], U=[[-1], [1]])
    start = torch.zeros(1, 2, **DOUBLE, requires_grad=True)  # s = x = 0
    kink(start, torch.zeros(1, 1, **DOUBLE)).sum().backward()
    assert (start.grad == 0).all()


@pytest.mark.claim("B7")
def test_b7_an_lstm_with_an_open_gate_remembers_at_gain_one():
    cell = zeroed(LSTMCell(1, 1, **DOUBLE), b_f=40, b_i=-40)
    starts = tensor([[0.0, -1.0], [0.0, 0.3]])
    x = torch.zeros(500, 2, 1, **DOUBLE)
    assert torch.allclose(unroll(cell, x, starts)[-1, :, 1], starts[:, 1], rtol=1e-9)
    assert (through(cell, x, starts) < 1.12).all()
    assert (through(cell, x, starts) >= 1 - 1e-9).all()


@pytest.mark.claim("B7")
def test_b7_memory_keeps_a_gradient_alive_somewhere_and_undoing_noise_makes_it_explode_there():
    cell, T = latch(), 25
    starts = torch.linspace(-0.3, 0.3, 601, **DOUBLE)[:, None]
    ends = unroll(cell, torch.zeros(T, 601, 1, **DOUBLE), starts)[-1]
    gains = through(cell, torch.zeros(T, 601, 1, **DOUBLE), starts)
    assert gains.max() >= (ends[-1] - ends[0]).abs().item() / 0.6
    assert gains.max() > 1e6
    assert gains.median() < 1e-6
    A = torch.linspace(0.5, 1.2, 100, **DOUBLE)  # noise of size 0.2 does not lead out of it
    images = cell(A[:, None], torch.zeros(100, 1, **DOUBLE))
    assert images.min() - 0.2 > 0.5
    assert images.max() + 0.2 < 1.2


# D1 and D2: translations and readouts


@pytest.mark.claim("D1")
def test_d1_a_translation_keeps_the_rate_and_moves_the_start():
    cell = turning(b=[0.5, -0.3])
    star = fixed_point(cell).state
    moved = Translated(cell, star)
    assert moved(torch.zeros(2, **DOUBLE), torch.zeros(1, **DOUBLE)).abs().max() < 1e-12
    rate = contraction_rate(cell)
    assert 0.98 * rate < adversarial_gain(moved, starts=8, steps=30).gain <= rate * (1 + 1e-9)
    assert (moved.initial_state() == -star).all()
    assert star.norm() > 0.5
    x = torch.randn(20, 3, 1, generator=rng(14), **DOUBLE)
    assert torch.allclose(unroll(moved, x), unroll(cell, x) - star)


@pytest.mark.claim("D1")
def test_d1_outputs_that_change_under_zero_input_need_a_bias_or_a_start():
    cell = zeroed(LinearCell(1, 1, **DOUBLE), W=0.5, U=1, b=0.5)
    y = unroll(cell, torch.zeros(10, 1, 1, **DOUBLE))[:, 0, 0]
    assert torch.allclose(y, 1 - 0.5 ** torch.arange(1, 11, **DOUBLE))
    free = zeroed(LinearCell(1, 1, **DOUBLE), W=0.5, U=1)
    assert (unroll(free, torch.zeros(10, 1, 1, **DOUBLE)) == 0).all()


@pytest.mark.claim("D1")
@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0, 3), st.sampled_from([tanh, lambda h: h / 4, lambda h: -2 * h]))
def test_d1_an_inequality_without_norms_holds_for_no_pair_both_ways_round(h, other, rate, f):
    one, back = f(h) - f(other) < rate * (h - other), f(other) - f(h) < rate * (other - h)
    assert not (one and back)


@pytest.mark.claim("D1")
def test_d1_and_in_one_order_for_a_step_that_doubles_distances():
    for h, other in ((1.0, 0.0), (2.5, -3.0)):
        assert -2 * h + 2 * other < 0.5 * (h - other)
        assert abs(-2 * h + 2 * other) == 2 * abs(h - other)


@pytest.mark.claim("D1")
@torch.no_grad()
def test_d1_gradients_that_do_not_explode_do_not_make_a_cell_stable():
    cell = LinearCell(1, 4, generator=rng(20), **DOUBLE)
    orthogonal_(cell, generator=rng(21))
    x, starts = torch.randn(300, 1, 1, generator=rng(22), **DOUBLE).expand(-1, 2, -1), torch.eye(4, **DOUBLE)[:2]
    assert through(cell, x, starts) == pytest.approx(1.0)
    ends = unroll(cell, x, starts)[-1]
    assert (ends[0] - ends[1]).norm() == pytest.approx((starts[0] - starts[1]).norm())
    assert contraction_rate(cell) >= 1


@pytest.mark.claim("D2")
def test_d2_the_readout_moves_into_the_state_at_the_same_rate_in_a_norm_of_its_own():
    cell, readout = turning(), torch.nn.Linear(2, 1, **DOUBLE).requires_grad_(False)
    readout.weight[:] = tensor([[3.0, 4.0]])
    joined = WithReadout(cell, readout)
    x = torch.randn(15, 2, 1, generator=rng(15), **DOUBLE)
    assert torch.allclose(unroll(joined, x)[..., 2:], readout(unroll(cell, x)))
    h, away = torch.randn(2, 10_000, 3, generator=rng(16), **DOUBLE) * tensor([1.0, 1.0, 5.0])
    other = h + 1e-3 * away

    def size(v: Tensor) -> Tensor:
        return torch.maximum(v[:, :2].norm(dim=-1), v[:, 2:].norm(dim=-1) / 5)

    x = torch.rand(10_000, 1, generator=rng(17), **DOUBLE)
    gains = size(joined(h, x) - joined(other, x)) / size(h - other)
    assert 0.98 * 0.72**0.5 < gains.max() <= 0.72**0.5 + 1e-9
    J = jacobians(joined, torch.zeros(1, 1, 1, **DOUBLE))[0, 0]
    assert torch.linalg.matrix_norm(J, 2) == pytest.approx((0.72 * 26) ** 0.5)


# E11: the last symbols decide


@pytest.mark.claim("E11")
def test_e11_outputs_on_two_words_with_one_end_come_together_so_parity_has_no_margin():
    cell = turning()
    for k in (5, 15, 30):
        words = torch.zeros(k + 1, 2, 1, **DOUBLE)
        words[0, 0] = 1
        gap = (unroll(cell, words)[-1, 0] - unroll(cell, words)[-1, 1]).norm().item()
        assert 0 < gap <= contraction_rate(cell) ** k * 8**0.5
        assert window_for_margin(contraction_rate(cell), 8**0.5, 1.0, 0.99 * gap / 2) > k
    assert definite_order(parity()) is None


@pytest.mark.claim("E11")
def test_e11_without_a_margin_a_contraction_recognises_parity():
    for bits in product((0, 1), repeat=9):
        h = 1.0
        for bit in bits:
            h = 0.5 * (1 - 2 * bit) * h
        assert (h < 0) == (sum(bits) % 2 == 1)
        assert abs(h) == 0.5**9


@pytest.mark.claim("E11")
def test_e11_a_unit_of_slope_one_forgets_without_contracting():
    cell = zeroed(SimpleCell(1, 1, **DOUBLE), W=1)
    h = unroll(cell, torch.zeros(4000, 2, 1, **DOUBLE), tensor([[1.0], [-0.4]]))[-1, :, 0]
    assert h.abs().max() < 0.03
    assert h[0] == pytest.approx((1.5 / 4000) ** 0.5, rel=0.01)
    assert log(h[0].item()) / 4000 > -1e-3
    assert contraction_rate(cell) >= 1
