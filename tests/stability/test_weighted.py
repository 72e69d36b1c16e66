"""Certificates in weighted max norms: true, near the gain, and made of what is stated of them."""

from math import exp, inf, tanh

import contraction_cells as zoo
import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import (
    adversarial_gain,
    bonassi_rate,
    contraction_certificate,
    contraction_rate,
    gru_bounds,
    invariant_set,
    lstm_bounds,
    terzi_rate,
    truncated_states,
)
from fhx.stability.gates import Range, gate_and_tanh
from fhx.stability.gru import mean_gain
from fhx.stability.weights import best_weights

BOUNDS = st.floats(0, 2)
UNIT = st.floats(0, 1)
SIZE = st.just(0.0) | st.floats(1e-6, 10)


def sigmoid(a):
    return 1 / (1 + exp(-a))


def vector(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def random_lstm(units, factor, seed):
    cell = LSTMCell(4, units, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.mul_(factor)
    return cell


@pytest.mark.claim("E12")
@settings(max_examples=60)
@given(zoo.cells(most=2.0), BOUNDS, st.integers(0, 2**32))
def test_every_weights_bound_the_jacobian(cell, bound, seed):
    """For weights that nobody chose, at states and inputs in the corners and inside."""
    cell = cell()
    w = 10 ** (4 * torch.rand(cell.state_width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 2)
    found = contraction_certificate(cell, bound, w)
    h, x = zoo.points(cell, bound, 300)
    with torch.no_grad():
        rows = cell.jacobian(h, cell.drive(x)).abs() @ w
    assert (rows <= found.row_gains * (1 + 1e-12)).all()
    assert found.rate == pytest.approx((found.row_gains / w).max().item(), rel=1e-13)
    assert (found.row_gains / w).max() <= found.rate


@pytest.mark.claim("E12")
@settings(max_examples=8)
@given(zoo.cells(*zoo.GATED, most=2.0), BOUNDS)
def test_the_chosen_weights_are_no_worse_than_equal_ones(cell, bound):
    cell = cell()
    found = contraction_certificate(cell, bound)
    rows = (lstm_bounds if isinstance(cell, LSTMCell) else gru_bounds)(cell, bound).rate
    assert found.rate == contraction_rate(cell, input_bound=bound)
    assert found.rate <= contraction_rate(cell, "max", bound) * (1 + 1e-13)
    assert contraction_rate(cell, "max", bound) <= rows * (1 + 1e-13)
    assert found.weights.max() == 1
    assert contraction_certificate(cell, bound, found.weights).rate == pytest.approx(found.rate, rel=1e-13)


@settings(max_examples=8)
@given(zoo.cells(*zoo.GATED, most=2.0), BOUNDS)
def test_two_runs_part_no_faster_than_the_certificate_says(cell, bound):
    cell = cell()
    found = contraction_certificate(cell, bound)
    h, x = zoo.points(cell, bound, 2)
    inputs = x[:1].expand(30, 2, -1)
    with torch.no_grad():
        runs = torch.cat([h[None], unroll(cell, inputs, h)])
    apart = ((runs[:, 0] - runs[:, 1]).abs() / found.weights).amax(1)
    steps = torch.arange(31, dtype=torch.float64)
    assert (apart <= found.rate**steps * apart[0] * (1 + 1e-9) + 1e-12 / found.weights.min()).all()


@settings(max_examples=200)
@given(UNIT, UNIT, UNIT, UNIT, SIZE, SIZE)
@example(0.0, 1.0, 0.0, 1.0, 1.0, 12**0.5)
@example(0.0, 1.0, 0.0, 1.0, 1.0, 4.0)
@example(0.0, 1.0, 0.0, 0.3, 1.0, 30.0)
def test_a_gate_and_a_tanh_in_ranges_against_a_grid(o, o_more, t, t_more, kappa, w):
    low, high = sorted((o, o_more))
    least, most = sorted((t, t_more))
    found = gate_and_tanh(
        Range(vector(low), vector(high)), Range(vector(least), vector(most)), vector(kappa), vector(w)
    )
    gate = torch.linspace(low, high, 201, dtype=torch.float64)[:, None]
    tau = torch.linspace(least, most, 201, dtype=torch.float64)
    grid = (gate * (1 - tau**2) * kappa + gate * (1 - gate) * tau * w).max().item()
    assert grid <= found.item() * (1 + 1e-14) <= grid + 1e-4 * (kappa + w) + 1e-300


@settings(max_examples=200)
@given(UNIT, UNIT, st.floats(-1, 1), st.floats(-1, 1), UNIT, SIZE, SIZE, SIZE)
@example(0.0, 1.0, -1.0, 1.0, 1.0, 0.1, 5.0, 1.0)
@example(0.0, 1.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0)
def test_a_mean_of_state_and_candidate_against_a_grid(z, z_more, n, n_more, most, w, by_z, q):
    low, high = sorted((z, z_more))
    least, largest = sorted((n, n_more))
    numbers = (vector(most), vector(w), vector(by_z), vector(q))
    found = mean_gain(Range(vector(low), vector(high)), Range(vector(least), vector(largest)), *numbers)
    gate = torch.linspace(low, high, 201, dtype=torch.float64)[:, None]
    new = torch.linspace(least, largest, 201, dtype=torch.float64)
    grid = gate * w + gate * (1 - gate) * (most - new) * by_z + (1 - gate) * (1 - new**2) * q
    assert grid.max() <= found.item() + 1e-14 * (w + by_z + q)
    assert found.item() <= grid.max() + 1e-4 * (w + by_z + q) + 1e-300


@pytest.mark.claim("E12")
@settings(max_examples=20)
@given(zoo.cells(*zoo.GATED, most=2.0), BOUNDS)
def test_the_box_is_one_that_steps_stay_in_and_no_larger_than_what_was_proved_first(cell, bound):
    cell = cell()
    found = contraction_certificate(cell, bound)
    assert (found.box.low == invariant_set(cell, bound).low).all()
    h, x = zoo.points(cell, bound, 200)
    with torch.no_grad():
        after = cell(h, x)
    assert found.box.enlarged(1e-14 * found.box.radius.max().item()).contains(after).all()
    assert found.box.contains(torch.zeros(cell.state_width))
    assert found.box.high[: cell.state_size].max() <= 1
    if isinstance(cell, LSTMCell):
        assert (found.box.high[cell.state_size :] <= lstm_bounds(cell, bound).memory * (1 + 1e-13)).all()


@pytest.mark.claim("E12")
def test_an_lstm_of_one_unit_by_hand():
    """Gates i and o open, f = 1/2: |z| <= tanh(0.8 H), so |c| <= 2 tanh(0.8 H), and H = tanh(2 tanh(0.8 H))."""
    cell = LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for p in cell.parameters():
            p.zero_()
        cell.b_i.fill_(40.0)
        cell.b_o.fill_(40.0)
        cell.W_z.fill_(0.8)
    found = contraction_certificate(cell)
    H = 1.0
    for _ in range(1000):
        H = tanh(2 * tanh(0.8 * H))
    assert found.box.high.tolist() == pytest.approx([H, 2 * tanh(0.8 * H)], rel=1e-9)
    w_h, w_c = found.weights.tolist()
    assert found.row_gains.tolist() == pytest.approx(2 * [0.8 * w_h + 0.5 * w_c])  # at 0, where tanh is steepest
    assert found.rate == pytest.approx(1.3)


@pytest.mark.claim("E12")
@pytest.mark.parametrize(("units", "factor", "seeds", "least"), [(4, 0.3, 8, 8), (16, 0.3, 4, 4), (64, 0.25, 2, 2)])
def test_what_it_certifies_and_the_rows_do_not(units, factor, seeds, least):
    cells = [random_lstm(units, factor, seed) for seed in range(seeds)]
    assert sum(contraction_rate(cell) < 1 for cell in cells) >= least
    assert all(lstm_bounds(cell).rate >= 1 for cell in cells)


@pytest.mark.claim("E12")
@pytest.mark.parametrize("kind", [LSTMCell, GRUCell])
def test_it_is_near_what_a_search_finds(kind):
    for seed in range(3):
        cell = kind(4, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.mul_(0.35)
        found, certified = adversarial_gain(cell, starts=16, steps=40), contraction_certificate(cell).rate
        assert 0.8 * certified < found.gain <= certified * (1 + 1e-9)
        assert found.infinitesimal <= certified * (1 + 1e-9)


@given(st.integers(1, 5), st.integers(0, 2**32), st.floats(0, 1))
def test_for_a_linear_cell_it_is_the_perron_root(d, seed, kept):
    generator = torch.Generator().manual_seed(seed)
    cell = LinearCell(1, d, dtype=torch.float64)
    with torch.no_grad():
        W = torch.randn(d, d, generator=generator, dtype=torch.float64)
        cell.W.copy_(W * (torch.rand(d, d, generator=generator) <= kept))
    assume(cell.W.any())
    root = torch.linalg.eigvals(cell.W.detach().abs()).abs().max().item()
    rate = contraction_rate(cell, "weighted")
    assert rate >= root * (1 - 1e-9)
    if kept == 1:
        assert rate <= root * (1 + 1e-4)


def test_a_map_that_swaps_two_numbers_has_its_root_too():
    rate, weights = best_weights(lambda w: vector(4 * w[1], w[0]), 2)
    assert rate == pytest.approx(2, rel=1e-4)
    assert weights[0] / weights[1] == pytest.approx(2, rel=1e-3)


def test_a_gate_that_never_shuts_certifies_nothing():
    cell = LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.b_f.fill_(800.0)
    assert contraction_rate(cell) == inf
    with pytest.raises(ValueError, match="forget gate"):
        contraction_certificate(cell)


@settings(max_examples=40)
@given(zoo.cells(*zoo.GATED, most=1.5), BOUNDS, st.integers(0, 2**32))
def test_published_conditions_bound_what_they_are_about(cell, bound, seed):
    """Two runs from the reached states part no faster than the matrix, or the rate, of the condition says."""
    cell = cell()
    h, x = zoo.points(cell, bound, 2, seed)
    lstm = isinstance(cell, LSTMCell)
    rate = (terzi_rate if lstm else bonassi_rate)(cell, bound)
    with torch.no_grad():
        runs = torch.cat([h[None], unroll(cell, x[:1].expand(200, 2, -1), h)])
    apart = runs[:, 0] - runs[:, 1]
    if not lstm:
        apart = apart.abs().amax(1)
        assert (apart[1:] <= rate * apart[:-1] + 1e-13).all()
    elif rate < 0.95:
        assert apart[-1].norm() <= 1e-3 * (1 + apart[0].norm())


def test_published_conditions_by_hand():
    lstm, gru = LSTMCell(1, 1, dtype=torch.float64), GRUCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for p in (*lstm.parameters(), *gru.parameters()):
            p.zero_()
        lstm.W.copy_(vector(0.1, -0.2, 0.3, 0.4)[:, None])
        lstm.b_f.fill_(-1.0)
        gru.W.copy_(vector(0.3, -0.2, 0.5)[:, None])
        gru.U_z.fill_(0.25)
        gru.b_m.fill_(-0.1)
    i, f, z, o = sigmoid(0.1), sigmoid(1.2), tanh(0.3), sigmoid(0.4)  # the bias of f counts as 1
    c = i * z / (1 - f)
    alpha, beta = 0.2 * c / 4 + i * 0.3 + 0.1 * z / 4, 0.4 * tanh(c) / 4
    A = torch.tensor([[f, alpha], [o * f, o * alpha + beta]], dtype=torch.float64)
    assert terzi_rate(lstm) == pytest.approx(torch.linalg.eigvals(A).abs().max().item())
    keeps, shown = sigmoid(0.2 + 2 * 0.25), sigmoid(0.3)
    a = shown * 0.5 + 0.3 * (0.5 + 0.1) / 4
    expected = keeps + (1 - keeps) * a + (1 + tanh(0.5 + 0.1)) * 0.2 / 4
    assert bonassi_rate(gru, 2.0) == pytest.approx(expected)


def test_a_forget_gate_that_terzi_et_al_say_nothing_of():
    cell = LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.b_f.fill_(-40.0)  # shut, and open by its absolute value
    assert terzi_rate(cell) == inf > contraction_rate(cell)


@pytest.mark.parametrize("weights", [[1.0], *([1.0, wrong, 1.0, 1.0] for wrong in (-1.0, 0.0, inf, 5e-324))])
def test_weights_that_are_none(weights):
    with pytest.raises(ValueError, match="weights must be 4 positive"):
        contraction_certificate(LSTMCell(1, 2), weights=weights)


def test_cells_without_a_weighted_norm():
    with pytest.raises(ValueError, match="Lipschitz constant"):
        contraction_certificate(SimpleCell(1, 1, torch.sin))


@settings(max_examples=10)
@given(zoo.cells(*zoo.GATED, most=0.5), BOUNDS, st.integers(1, 12))
def test_a_window_from_the_certificate_is_long_enough(cell, bound, k):
    """Rate and bound of the states belong to one norm, which is nowhere below the max norm."""
    cell = cell()
    found = contraction_certificate(cell, bound)
    assume(found.rate < 1)
    inputs = bound * torch.randint(-1, 2, (40, 5, 2), generator=torch.Generator().manual_seed(k)).double()
    with torch.no_grad():
        gap = (truncated_states(cell, inputs, k) - unroll(cell, inputs)).abs().max()
    assert gap <= found.rate**k * found.state_bound + 1e-12


def test_for_all_states_there_is_no_bound_of_them():
    assert contraction_certificate(LinearCell(1, 2)).box is None
    assert contraction_certificate(LinearCell(1, 2)).state_bound == inf
