"""The claims of chapter 7: gradients follow an exponent and no norm; what chaos, gates and reading both ways do."""

from fractions import Fraction
from math import log

import pytest
import torch
from random_tensors import rng
from torch import Tensor, nn

from fhx.cells import DeepCell, GRUCell, LSTMCell, SimpleCell, gaussian_, orthogonal_
from fhx.dynamics import (
    MeanField,
    gradient_norms,
    jacobians,
    log_product,
    lyapunov_spectrum,
    product_norms,
    unroll,
)
from fhx.tasks import recall
from fhx.training import Interval, interval

DOUBLE = {"dtype": torch.float64}


def set_weights(cell: SimpleCell, W: list, U: list, b: list) -> SimpleCell:
    cell.requires_grad_(False)
    for parameter, values in ((cell.W, W), (cell.U, U), (cell.b, b)):
        parameter.copy_(torch.tensor(values, **DOUBLE))
    return cell


@pytest.fixture
def toy() -> SimpleCell:
    return set_weights(SimpleCell(1, 2, **DOUBLE), [[0.9, 10.0], [0.0, 0.9]], [[0.0], [1.0]], [0.0, 0.0])


def random_cell(gain: float, seed: int, depth: int = 1, drive: float = 0.3) -> DeepCell:
    g = rng(seed)
    cell = DeepCell(100, 100, depth, generator=g, **DOUBLE).requires_grad_(False)
    gaussian_(cell, gain, generator=g)
    cell.U.copy_(drive / 10 * torch.randn(100, 100, generator=g, **DOUBLE))
    return cell


# A7: a bound, and no rate


@pytest.mark.claim("A7")
def test_a7_with_norm_ten_the_gradient_climbs_to_39_and_vanishes(toy):
    assert torch.linalg.matrix_norm(toy.W, 2) > 10
    size = product_norms(jacobians(toy, torch.zeros(200, 1, 1, **DOUBLE))).flip(0)[:, 0].exp()
    exact = [[Fraction(9, 10), 10], [0, Fraction(9, 10)]]
    power = [[1, 0], [0, 1]]
    for _ in range(10):
        power = [[sum(row[k] * exact[k][j] for k in (0, 1)) for j in (0, 1)] for row in power]
    assert power[0][1] == 100 * Fraction(9, 10) ** 9
    assert size.max() == pytest.approx(float(power[0][1]), rel=0.01)
    assert 9 <= size.argmax() <= 10
    assert size[200] < 1e-5


@pytest.mark.claim("A7")
def test_a7_the_norm_is_an_upper_bound_on_every_run():
    cell = random_cell(1.5, 0)
    J = jacobians(cell, torch.randn(50, 4, 100, generator=rng(1), **DOUBLE))
    norms = product_norms(J)[0]
    one_by_one = torch.linalg.matrix_norm(J, 2).log().sum(0)
    assert (norms < one_by_one).all()
    assert (one_by_one < 50 * torch.linalg.matrix_norm(cell.W, 2).log()).all()


@pytest.mark.claim("A7")
def test_a7_one_matrix_has_as_many_rates_as_inputs(toy):
    noise = torch.randn(1000, 1, 1, generator=rng(2), **DOUBLE)
    found = [lyapunov_spectrum(toy, s * noise, k=1).item() for s in (0.0, 0.3, 1.0, 3.0)]
    assert found[0] == pytest.approx(log(0.9), abs=0.01)
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0] - 3
    for s, exponent in zip((0.3, 1.0, 3.0), found[1:], strict=True):
        h = unroll(toy, s * noise)[:, 0]
        assert exponent == pytest.approx((0.9 * (1 - h**2)).log().mean(0).max().item(), abs=0.02)


@pytest.mark.claim("A7")
def test_a7_one_net_without_input_has_starts_of_both_signs():
    cell = set_weights(SimpleCell(1, 2, **DOUBLE), [[12.0, -24.0], [2.0, -4.0]], [[0.0], [0.0]], [0.0, 0.0])
    starts = 0.1 + 0.8 * torch.rand(100, 2, generator=rng(3), **DOUBLE)
    rates = lyapunov_spectrum(cell, torch.zeros(400, 100, 1, **DOUBLE), k=1, h0=starts, warmup=100)[:, 0]
    assert 20 < (rates > 0.5).sum() < 80
    assert ((rates > 0.5) | (rates < -0.5)).all()


@pytest.mark.claim("A7")
def test_a7_an_orthogonal_linear_net_is_where_the_norm_is_the_rate():
    cell = SimpleCell(1, 6, "identity", generator=rng(4), **DOUBLE).requires_grad_(False)
    orthogonal_(cell, 0.8, generator=rng(5))
    J = jacobians(cell, torch.zeros(30, 1, 1, **DOUBLE))
    assert product_norms(J)[0].item() == pytest.approx(30 * log(0.8))


# E6: the exponent, predicted and measured


@pytest.mark.claim("E6")
@pytest.mark.parametrize("gain", [0.8, 1.2, 2.0])
def test_e6_mean_field_theory_predicts_the_exponent_of_random_nets(gain):
    cells = [random_cell(gain, seed) for seed in range(6)]
    noise = [torch.randn(250, 1, 100, generator=rng(100 + seed), **DOUBLE) for seed in range(6)]
    runs = zip(cells, noise, strict=True)
    found = interval([lyapunov_spectrum(cell, x, k=1, warmup=100).item() for cell, x in runs])
    norms = interval([torch.linalg.matrix_norm(cell.W, 2).log().item() for cell in cells])
    assert abs(found.mean - MeanField("tanh", gain, 0.3).exponent) < 0.06
    assert norms.low > found.high + 0.5


@pytest.mark.claim("E6")
@pytest.mark.parametrize("gain", [0.7, 2.0])
def test_e6_in_deep_cells_the_rate_is_that_of_a_layer_times_their_number(gain):
    x = torch.zeros(200, 1, 100, **DOUBLE)
    means = []
    for depth in (1, 4):
        rates = []
        for seed in range(4):
            h0 = torch.randn(100, generator=rng(seed), **DOUBLE)
            cell = random_cell(gain, seed, depth, 0.0)
            rates.append(lyapunov_spectrum(cell, x, k=1, h0=h0, warmup=100).item() / depth)
        means.append(interval(rates).mean)
    assert means == pytest.approx([MeanField("tanh", gain).exponent] * 2, rel=0.2)
    if gain > 1:
        assert abs(means[0] - means[1]) < 0.02


@pytest.mark.claim("E6")
def test_e6_log_gradients_spread_like_the_root_of_the_steps():
    g = rng(0)
    cell = SimpleCell(1, 32, generator=g, **DOUBLE).requires_grad_(False)
    gaussian_(cell, 1.5, generator=g)
    cell.U.copy_(0.3 * torch.randn(32, 1, generator=g, **DOUBLE))
    x = torch.randn(121, 200, 1, generator=g, **DOUBLE)
    logs = gradient_norms(cell, x, lambda h: h[:, 0], log_scale=True)
    near, far = logs[-31], logs[-120]
    assert 1.6 < (far.std() / near.std()).item() < 2.5
    z = (far - far.mean()) / far.std()
    assert abs((z**3).mean()) < 0.5


# A13: a simple step, a complicated map


def tent_output(x_1: Tensor, T: int) -> Tensor:
    cell = set_weights(SimpleCell(1, 2, "relu", **DOUBLE), [[2.0, -4.0], [2.0, -4.0]], [[1.0], [1.0]], [0.0, -0.5])
    inputs = torch.zeros(T, len(x_1), 1, **DOUBLE)
    inputs = torch.cat([x_1[None, :, None], inputs[1:]])
    return unroll(cell, inputs)[-1] @ torch.tensor([2.0, -4.0], **DOUBLE)


@pytest.mark.claim("A13")
def test_a13_two_units_read_off_the_parity_of_a_number_and_have_exponentially_many_pieces():
    T = 14
    k = torch.arange(2**T + 1, **DOUBLE)
    assert torch.equal(tent_output(k / 2**T, T), k % 2)
    middle = ((k[:-1] + 0.5) / 2**T).requires_grad_()
    (slope,) = torch.autograd.grad(tent_output(middle, T).sum(), middle)
    assert torch.equal(slope.abs(), torch.full_like(slope, 2**T))
    assert (slope.sign().diff() != 0).all()


@pytest.mark.claim("A13")
def test_a13_the_tent_agrees_with_its_definition_in_exact_fractions():
    xs = [Fraction(k, 1000) for k in range(0, 1001, 7)]
    ys = []
    for y in xs:
        for _ in range(5):
            y = 2 * y if y <= Fraction(1, 2) else 2 - 2 * y
        ys.append(float(y))
    found = tent_output(torch.tensor([float(x) for x in xs], **DOUBLE), 5)
    assert torch.allclose(found, torch.tensor(ys, **DOUBLE), atol=1e-12)


# A10: gates, and nets that read both ways


@pytest.mark.claim("A10")
def test_a10_the_block_of_the_memory_is_the_forget_gate_and_the_direct_path_their_product():
    cell = LSTMCell(2, 3, generator=rng(0), **DOUBLE).requires_grad_(False)
    x = torch.randn(8, 1, 2, generator=rng(1), **DOUBLE)
    J = jacobians(cell, x)
    states = torch.cat([torch.zeros(1, 1, 6, **DOUBLE), unroll(cell, x)])
    forget = [torch.sigmoid(cell.W_f @ states[t, 0, :3] + cell.U_f @ x[t, 0] + cell.b_f) for t in range(8)]
    assert torch.allclose(J[:, 0, 3:, 3:], torch.stack([f.diag() for f in forget]))
    cell.W.zero_()
    M, scale = log_product(jacobians(cell, x))
    block = M[0, 3:, 3:] * scale.exp()
    blind = [torch.sigmoid(cell.U_f @ x[t, 0] + cell.b_f) for t in range(8)]
    assert torch.allclose(block, torch.stack(blind).prod(0).diag())


@pytest.mark.claim("A10")
def test_a10_the_exponent_of_an_lstm_at_the_start_follows_its_forget_bias():
    x = recall(900, sizes=(1, 1, 1), seed=1, dtype=torch.float64).test.inputs

    def rates(make, bias: float | None = None, turned: bool = False) -> Interval:
        found = []
        for seed in range(4):
            cell = make(5, 32, generator=rng(seed), **DOUBLE).requires_grad_(False)
            if turned:
                orthogonal_(cell, generator=rng(seed))
            if bias is not None:
                cell.b_f.fill_(bias)
            found.append(lyapunov_spectrum(cell, x, k=1, warmup=300).item())
        return interval(found)

    simple, as_it_comes = rates(SimpleCell), rates(LSTMCell)
    closed, held_open = rates(LSTMCell, 1.0), rates(LSTMCell, 3.0)
    assert 0.6 < as_it_comes.mean / simple.mean < 0.9
    assert rates(GRUCell).mean == pytest.approx(as_it_comes.mean, rel=0.25)
    assert as_it_comes.high < -0.3 < closed.low
    assert closed.high < held_open.low
    assert abs(held_open.mean) < 0.03
    assert rates(SimpleCell, turned=True).low > rates(LSTMCell, turned=True).high


@pytest.mark.claim("A10")
def test_a10_reading_both_ways_halves_the_way_of_the_farthest_input():
    there, back = (SimpleCell(5, 32, generator=rng(seed), **DOUBLE).requires_grad_(False) for seed in (0, 1))
    x = recall(100, sizes=(1, 1, 8), seed=2, dtype=torch.float64).test.inputs
    one = gradient_norms(there, x, lambda h: h[:, 0], log_scale=True)
    two = gradient_norms(back, x.flip(0), lambda h: h[:, 0], log_scale=True).flip(0)
    both = (torch.logaddexp(2 * one, 2 * two) / 2).mean(1)
    assert one.mean(1).argmin() == 0
    assert 35 < both.argmin() < 65
    assert 0.35 < (both.min() / one.mean(1).min()).item() < 0.65


@pytest.mark.claim("A10")
def test_a10_with_an_output_at_every_step_reading_both_ways_shortens_no_path():
    torch.manual_seed(0)
    both = nn.RNN(2, 3, bidirectional=True, **DOUBLE)
    weights = dict(both.named_parameters())
    x, t = torch.randn(9, 1, 2, generator=rng(1), **DOUBLE), 6
    with torch.no_grad():
        states = both(x)[0][:, 0]
    by_x = torch.autograd.functional.jacobian(lambda x: both(x)[0][t, 0], x)[:, :, 0]
    for name, own, times in (("l0", slice(0, 3), (3, 4, 5, 6)), ("l0_reverse", slice(3, 6), (8, 7, 6))):
        W, U = weights[f"weight_hh_{name}"], weights[f"weight_ih_{name}"]
        slopes = [torch.diag(1 - states[time, own] ** 2) for time in times]
        derivative = slopes[0] @ U
        for slope in slopes[1:]:
            derivative = slope @ W @ derivative
        assert torch.allclose(by_x[own, times[0]], derivative, atol=1e-12)
    assert not by_x[3:, :t].any()
    assert not by_x[:3, t + 1 :].any()
