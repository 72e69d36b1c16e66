"""Certificates from above: exact fractions, brute force over states and inputs, and cells that reach them."""

from fractions import Fraction
from itertools import product
from math import exp, inf, sqrt

import contraction_cells as zoo
import numpy as np
import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, ResidualCell, SimpleCell, Stack
from fhx.dynamics import jacobians, unroll
from fhx.stability import (
    contraction_rate,
    gru_bounds,
    invariant_set,
    lstm_bounds,
    lyapunov_norm,
    project,
    steps_to_contract,
    weighted_gain,
)
from fhx.stability.gru import beta
from fhx.stability.lyapunov import find_norm
from fhx.stability.norms import two_norm

BOUNDS = st.sampled_from([0.0, 0.5, 2.0])
MEASURES = {"max": lambda J: J.abs().sum(-1).amax(-1), 2: lambda J: torch.linalg.matrix_norm(J, 2)}


def sigmoid(a):
    return 1 / (1 + exp(-a))


def positive_definite(matrix):
    """Of Fractions: whether all pivots of elimination are positive."""
    rows = [list(row) for row in matrix]
    for k, pivot in enumerate(rows):
        if pivot[k] <= 0:
            return False
        for row in rows[k + 1 :]:
            factor = row[k] / pivot[k]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    return True


def fractions(matrix):
    return [[Fraction(entry) for entry in row] for row in matrix.tolist()]


def times(A, B):
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A]


def gap(rate, P, A):
    """rate^2 P - A' P A, exactly, of the floats as they are."""
    P, A = fractions(P), fractions(A)
    image = times(times([list(column) for column in zip(*A, strict=True)], P), A)
    return [[Fraction(rate) ** 2 * p - a for p, a in zip(*rows, strict=True)] for rows in zip(P, image, strict=True)]


@pytest.mark.claim("B5", "E8")
@settings(max_examples=30)
@given(zoo.cells(), BOUNDS, st.sampled_from([2, "max"]))
def test_no_gain_beats_a_certificate(cell, bound, norm):
    cell = cell()
    rate = contraction_rate(cell, norm, bound)
    h, x = zoo.points(cell, bound, 200)
    with torch.no_grad():
        drive = cell.drive(x)
        assert MEASURES[norm](cell.jacobian(h, drive)).max() <= rate * (1 + 1e-12)
        other = h.roll(1, 0)
        pairs = torch.stack([h - other, cell.step(h, drive) - cell.step(other, drive)])
    apart, after = torch.linalg.vector_norm(pairs, inf if norm == "max" else 2, dim=-1)
    assert (after <= rate * apart + 1e-14 * (1 + h.abs().max())).all()


@settings(max_examples=20)
@given(zoo.cells(most=1.0), BOUNDS)
def test_runs_from_zero_stay_in_the_invariant_set(cell, bound):
    cell = cell()
    try:
        box = invariant_set(cell, bound)
    except ValueError:
        assert all(contraction_rate(cell, norm, bound) >= 1 for norm in (2, "max"))
        return
    inputs = bound * torch.randint(-1, 2, (60, 20, 2), generator=torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        states = unroll(cell, inputs)
    assert box.enlarged(1e-12 * box.radius.max().item()).contains(states).all()
    assert box.contains(torch.zeros(cell.state_width))


@settings(max_examples=20)
@given(zoo.cells("tanh", "sigmoid", "lstm", "gru"), BOUNDS)
def test_no_step_leaves_the_invariant_set(cell, bound):
    cell = cell()
    h, x = zoo.points(cell, bound, 200)
    with torch.no_grad():
        after = cell(h, x)
    box = invariant_set(cell, bound)
    assert box.enlarged(1e-14 * box.radius.max().item()).contains(after).all()


@given(st.integers(1, 4), st.integers(0, 2**32), st.sampled_from([1e-200, 1e-3, 1.0, 7.0]))
def test_the_two_norm_is_an_upper_bound_in_exact_numbers(d, seed, scale):
    cell = LinearCell(1, d, dtype=torch.float64)
    with torch.no_grad():
        W = scale * torch.randint(-9, 10, (d, d), generator=torch.Generator().manual_seed(seed)).double()
        cell.W.copy_(W)
    rate = contraction_rate(cell)
    assume(rate > 0)
    assert positive_definite(gap(rate, torch.eye(d), W))
    assert not positive_definite(gap(rate * (1 - 1e-13), torch.eye(d), W))


@given(st.integers(1, 4), st.integers(0, 2**32), st.integers(1000, 1070))
def test_a_norm_of_numbers_too_small_for_relative_precision(d, seed, exponent):
    W = 2.0**-exponent * torch.randn(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    assume(W.any())
    assert positive_definite(gap(two_norm(W), torch.eye(d), W))
    assert two_norm(0 * W) == 0


def test_rates_by_hand():
    W = torch.tensor([[0.3, -0.4], [0.0, 0.2]], dtype=torch.float64)
    for cell, slope, layers in [
        (SimpleCell(1, 2), 1, 1),
        (SimpleCell(1, 2, "sigmoid"), 0.25, 1),
        (LinearCell(1, 2), 1, 1),
        (DeepCell(1, 2, depth=3), 1, 3),
    ]:
        cell = cell.double()
        with torch.no_grad():
            for matrix in cell.layer_matrices():
                matrix.copy_(W)
        assert contraction_rate(cell, "max") == pytest.approx((0.7 * slope) ** layers, rel=1e-12)
        assert contraction_rate(cell) == pytest.approx((slope * torch.linalg.svdvals(W)[0].item()) ** layers, rel=1e-12)


def scalar_lstm(w_i=0.0, w_f=0.0, w_z=0.0, w_o=0.0, b_i=0.0, b_f=0.0, b_z=0.0, b_o=0.0, u_f=0.0):
    cell = LSTMCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[w_i], [w_f], [w_z], [w_o]]))
        cell.U.copy_(torch.tensor([[0.0], [u_f], [0.0], [0.0]]))
        cell.b.copy_(torch.tensor([b_i, b_f, b_z, b_o]))
    return cell


@pytest.mark.claim("E8")
def test_the_numbers_of_an_lstm_by_hand():
    b = lstm_bounds(scalar_lstm(w_i=0.2, w_f=-0.1, w_z=0.05, w_o=0.3, b_f=-1.0, u_f=-0.25), input_bound=2.0)
    F = sigmoid(-1 + 0.1 + 2 * 0.25)
    assert pytest.approx(F) == b.forget_bound
    assert pytest.approx(1 / (1 - F)) == b.memory_bound
    assert b.sum_rate == pytest.approx(F + 0.05 + 0.05 + 0.025 / (1 - F) + 0.075)
    assert b.rate == pytest.approx(F * 1.1 + 0.05)
    assert b.four_condition_rate == pytest.approx(F + max(0.2, 0.3, 4 * 0.05, 0.1 / (1 - F)))
    assert b.four_conditions == {"i": 1 - F > 0.2, "f": (1 - F) ** 2 > 0.1, "z": (1 - F) / 4 > 0.05, "o": 1 - F > 0.3}
    assert all(b.four_conditions.values())
    assert lstm_bounds(scalar_lstm(w_z=0.5, b_f=-1.0)).rate == pytest.approx(sigmoid(-1) + 0.5)
    assert lstm_bounds(scalar_lstm(w_o=3.2)).rate == pytest.approx(0.8)
    assert lstm_bounds(scalar_lstm(w_i=1.2)).rate == pytest.approx(0.8)


@pytest.mark.claim("E8")
@settings(max_examples=30)
@given(zoo.cells("lstm"), BOUNDS)
def test_the_rates_of_several_units_by_hand(cell, bound):
    """The largest of the rows, and the sum of the largest, which belong to different rows."""
    cell = cell()
    w = {gate: getattr(cell, f"W_{gate}").abs().sum(1) for gate in "ifzo"}
    logits = cell.b_f + w["f"] + bound * cell.U_f.abs().sum(1)
    forget = logits.sigmoid()
    rows = torch.maximum(forget * (1 + w["f"]) + torch.maximum(w["z"], w["i"] / 4), w["o"] / 4).max().item()
    opened, largest = forget.max(), {gate: sums.max() for gate, sums in w.items()}
    closed = (-logits).sigmoid().min()  # 1 - F, of which the difference would lose digits
    total = opened + largest["i"] / 4 + largest["z"] + largest["f"] / closed / 4 + largest["o"] / 4
    b = lstm_bounds(cell, bound)
    assert b.sum_rate == pytest.approx(total.item(), rel=1e-9)
    if rows < 1:
        assert b.rate == pytest.approx(rows, rel=1e-9)


@settings(max_examples=30)
@given(zoo.cells("lstm"), BOUNDS)
def test_the_forget_gate_opens_to_its_bound_and_no_further(cell, bound):
    """Over all corners of states and inputs, where a monotone function of an affine one is largest."""
    cell = cell()
    d = cell.state_size
    corners = torch.tensor(list(product([-1.0, 1.0], repeat=d + 2)), dtype=torch.float64)
    gates = (corners[:, :d] @ cell.W_f.mT + bound * corners[:, d:] @ cell.U_f.mT + cell.b_f).sigmoid().amax(0)
    forget = lstm_bounds(cell, bound).forget
    assert (gates <= forget).all()
    torch.testing.assert_close(gates, forget, rtol=1e-12, atol=0)


@pytest.mark.claim("B5", "E8")
@settings(max_examples=50)
@given(zoo.cells("lstm"), BOUNDS)
def test_each_condition_implies_the_next(cell, bound):
    b = lstm_bounds(cell(), bound)
    assert b.rate <= b.sum_rate * (1 + 1e-14)
    assert b.sum_rate <= b.four_condition_rate * (1 + 1e-14)
    assert (b.four_condition_rate < 1) == all(b.four_conditions.values())


def test_inputs_are_at_most_one_unless_told_otherwise():
    lstm, gru = (zoo.make(kind, 2, 0.5, 0.1, 0) for kind in zoo.GATED)
    for cell, bounds in ((lstm, lstm_bounds), (gru, gru_bounds)):
        assert bounds(cell).rate == bounds(cell, 1.0).rate < bounds(cell, 1.1).rate
        assert (
            contraction_rate(cell) == contraction_rate(cell, input_bound=1.0) < contraction_rate(cell, input_bound=1.1)
        )
    assert lstm_bounds(lstm).input_bound == gru_bounds(gru).input_bound == 1


@pytest.mark.claim("E8")
def test_no_two_conditions_are_one():
    sharp = lstm_bounds(scalar_lstm(w_i=1.0, w_f=0.3, w_z=0.2, w_o=3.0))
    assert sharp.rate < 1 < sharp.sum_rate
    summed = lstm_bounds(scalar_lstm(w_z=0.2))
    assert summed.sum_rate < 1 < summed.four_condition_rate
    assert summed.four_conditions == {"i": True, "f": True, "z": False, "o": True}


def test_a_gate_and_a_tanh_never_have_their_largest_slopes_together():
    o = torch.linspace(0, 1, 201, dtype=torch.float64)[:, None]
    tau = torch.linspace(0, 1, 201, dtype=torch.float64)
    for kappa, w in [(1.0, 0.5), (1.0, 4.0), (0.1, 3.0), (0.0, 1.0), (0.3, 1.21)]:
        value = o * (1 - tau**2) * kappa + o * (1 - o) * tau * w
        assert value.max() <= max(kappa, w / 4) + 1e-15
        assert value.max() >= 0.99 * max(kappa, w / 4)


@pytest.mark.claim("E8")
@pytest.mark.parametrize(
    ("w_f", "w_z", "b_f"), [(0.0, 0.4, -1.0), (0.1, 0.2, 1.0), (-0.3, -0.1, -2.0), (5.0, 0.1, -8.0)]
)
def test_an_lstm_that_reaches_its_certificate(w_f, w_z, b_f):
    """At h = +-1, c = 1 / (1 - F), with an open input gate and a candidate of 0 there."""
    cell = scalar_lstm(w_f=w_f, w_z=w_z, b_f=b_f, b_i=40.0)
    sign = -1.0 if w_f < 0 else 1.0
    with torch.no_grad():
        cell.b_z.fill_(-w_z * sign)
    top, zero = lstm_bounds(cell).memory_bound, torch.zeros(1, dtype=torch.float64)
    states = torch.tensor([[sign, top], [sign, -top]], dtype=torch.float64)
    gains = [MEASURES["max"](cell.jacobian(state, cell.drive(zero))).item() for state in states]
    assert max(gains) == pytest.approx(lstm_bounds(cell).rate, rel=1e-12)


@pytest.mark.claim("B5")
@pytest.mark.parametrize("b_z", [0.7, 5.0])
def test_a_gru_that_reaches_its_certificate(b_z):
    """It contracts however far its update gate opens."""
    cell = GRUCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        for p in cell.parameters():
            p.zero_()
        cell.b_r.fill_(40.0)
        cell.b_z.fill_(b_z)
        cell.W_n.fill_(0.6)
    J = cell.jacobian(torch.zeros(1).double(), cell.drive(torch.zeros(1).double()))
    assert J.item() == pytest.approx(sigmoid(b_z) + 0.6 * (1 - sigmoid(b_z)))
    assert contraction_rate(cell) == pytest.approx(J.item(), rel=1e-12)
    assert contraction_rate(cell) < 1


@settings(max_examples=25)
@given(zoo.cells("lstm", "gru", most=2.0), BOUNDS)
def test_row_by_row_against_a_grid_of_the_gates(cell, bound):
    """The suprema in closed form, against the largest value on a grid of what they are suprema of."""
    cell = cell()
    unit = torch.linspace(0, 1, 101, dtype=torch.float64)
    if isinstance(cell, LSTMCell):
        b = lstm_bounds(cell, bound)
        f = unit[:, None] * b.forget
        kept = (f + f * (1 - f) * b.memory * b.w_f).amax(0)
        i, z = unit[:, None, None], unit[:, None]
        new = (i * (1 - z**2) * b.w_z + i * (1 - i) * z * b.w_i).flatten(0, 1).amax(0)
        c = kept + new
        h = (i * (1 - z**2) * c + i * (1 - i) * z * b.w_o).flatten(0, 1).amax(0)
        grid = torch.maximum(c, h)
    else:
        b = gru_bounds(cell, bound)
        r, z, n = (unit[:, None] * b.reset), (unit[:, None] * b.update)[:, None], unit[:, None]
        q = (r * (b.w_n + (1 - r) * (b.w_n + b.b_m) * b.w_r)).amax(0)
        grid = (z + (1 - z) * (z * (1 + n) * b.w_z + (1 - n**2) * q)).flatten(0, 1).amax(0)
        exact = b.row_rates <= 1
        assert (grid <= b.row_rates).all()
        torch.testing.assert_close(grid[exact], b.row_rates[exact], rtol=2e-3, atol=0)
        return
    assert (grid <= b.row_rates).all()
    torch.testing.assert_close(grid, b.row_rates, rtol=2e-3, atol=0)


@pytest.mark.parametrize(("y", "q"), [(0.3, 0.2), (0.1, 0.4), (0.5, 0.1), (0.2, 0.0), (0.0, 0.3), (0.0, 0.0)])
def test_what_a_gru_adds_against_a_grid(y, q):
    nu = torch.linspace(0, 1, 2001, dtype=torch.float64)
    largest = ((1 + nu) * (y + (1 - nu) * q)).max().item()
    exact = beta(*(torch.tensor([number], dtype=torch.float64) for number in (y, q))).item()
    assert largest <= exact <= largest + 1e-6


@pytest.mark.claim("B4")
def test_outside_the_invariant_set_the_bound_is_false():
    cell = scalar_lstm(w_f=0.4)
    assert contraction_rate(cell) < 1
    J = cell.jacobian(torch.tensor([0.0, 50.0]).double(), cell.drive(torch.zeros(1).double()))
    assert MEASURES["max"](J) > 5


@settings(max_examples=30)
@given(st.integers(1, 4), st.floats(0, 0.9), st.floats(0, 4), st.integers(0, 2**32))
@example(2, 0.9, 30.0, 0)
@example(2, 0.0, 2.225073858507e-311, 0)
def test_a_lyapunov_norm_in_exact_numbers(d, radius, off, seed):
    """A triangular matrix turned by an orthogonal one: of known spectral radius, and of any 2-norm."""
    generator = torch.Generator().manual_seed(seed)
    draw = torch.randn(2, d, d, generator=generator, dtype=torch.float64)
    signs = torch.randint(0, 2, (d,), generator=generator) * 2.0 - 1
    A = torch.diag(radius * signs) + off * draw[0].triu(1) / d
    Q = torch.linalg.qr(draw[1])[0]
    A = Q @ A @ Q.mT
    assume(A.any())
    P = lyapunov_norm(A)
    rate = weighted_gain(A, P)
    assert rate < 1
    assert torch.equal(P, P.mT)
    assert positive_definite(gap(1.0, P, torch.zeros(d, d)))
    assert positive_definite(gap(rate, P, A))
    cell = LinearCell(1, d, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(A)
    assert contraction_rate(cell, "lyapunov") == rate
    box = invariant_set(cell)
    with torch.no_grad():
        states = unroll(cell, torch.ones(50, 1, 1, dtype=torch.float64))
    assert box.enlarged(1e-12 * box.radius.max().item()).contains(states).all()


@settings(max_examples=30)
@given(st.integers(1, 4), st.floats(0.05, 0.95), st.integers(0, 2**32))
def test_the_lyapunov_equation(d, radius, seed):
    """P is what the equation says, and the gain in its norm is that of a 2-norm in other coordinates."""
    A = torch.randn(d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    A = A * (radius / np.abs(np.linalg.eigvals(A.numpy())).max())
    P, r = lyapunov_norm(A), (1 + radius) / 2
    condition = torch.linalg.cond(P).item()
    torch.testing.assert_close(P, torch.eye(d, dtype=torch.float64) + A.mT @ P @ A / r**2, rtol=1e-9, atol=1e-9)
    root, rate = torch.linalg.cholesky(P), weighted_gain(A, P)
    gain = torch.linalg.matrix_norm(torch.linalg.solve_triangular(root, A.mT @ root, upper=False), 2).item()
    assert rate == pytest.approx(gain, rel=1e-12 * condition)
    assert rate <= r * sqrt(1 - 1 / torch.linalg.matrix_norm(P, 2).item()) * (1 + 1e-12 * condition)
    for scale in (4.0**-30, 4.0**30):
        assert weighted_gain(A, scale * P) == pytest.approx(rate, rel=1e-12)
        assert weighted_gain(scale * A, P) == pytest.approx(scale * rate, rel=1e-12)


def test_a_form_that_rounding_may_have_made_positive_is_no_norm():
    A = torch.tensor([[0.5, 0.1], [0.0, 0.5]], dtype=torch.float64)

    def gain(least):
        return weighted_gain(A, torch.diag(torch.tensor([1.0, least], dtype=torch.float64)))

    assert [gain(least) for least in (1e-15, 0.0, -1e-3)] == [inf] * 3
    assert 0.5 < gain(1.0) < gain(1e-14) < inf
    assert weighted_gain(0 * A, torch.eye(2, dtype=torch.float64)) == 0


def test_a_norm_beyond_floats_is_refused_and_not_guessed():
    A = torch.diag(torch.full((6,), 0.99, dtype=torch.float64)) + 50 * torch.ones(6, 6, dtype=torch.float64).triu(1)
    with pytest.raises(ValueError, match=r"spectral radius is 0\.98999"):
        lyapunov_norm(A)


def test_a_norm_with_a_gain_of_one_is_none(monkeypatch):
    A = torch.eye(2, dtype=torch.float64) / 2
    for gain, found in ((1.0, False), (1 - 2**-53, True)):
        monkeypatch.setattr("fhx.stability.lyapunov.weighted_gain", lambda A, P, gain=gain: gain)
        assert (find_norm(A) is not None) is found


def test_where_the_two_norm_fails_a_lyapunov_norm_certifies():
    cell = LinearCell(1, 2, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.5, 40.0], [0.0, 0.5]]))
    assert contraction_rate(cell) > 40
    assert contraction_rate(cell, "lyapunov") < 0.8


@pytest.mark.parametrize("radius", [1.0, 1.5, 1 - 1e-17])
def test_no_norm_for_what_does_not_contract(radius):
    cell = LinearCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(radius)
    assert contraction_rate(cell, "lyapunov") == inf
    with pytest.raises(ValueError, match="spectral radius is 1"):
        lyapunov_norm(cell.W)
    with pytest.raises(ValueError, match="not known to stay"):
        invariant_set(cell)


@given(st.fractions(0, Fraction(99, 100)), st.integers(1, 300))
def test_steps_to_contract_in_exact_numbers(rate, width):
    steps = steps_to_contract(float(rate), width)
    rate = Fraction(float(rate))
    assert width * rate ** (2 * steps) < 1
    assert steps == 1 or width * rate ** (2 * steps - 2) >= Fraction(999_999_999, 10**9)


def test_a_contraction_in_the_max_norm_becomes_one_in_the_two_norm():
    cell = project(zoo.make("lstm", 3, 2.0, 1.0, 0), 0.8)
    steps = steps_to_contract(contraction_rate(cell), cell.state_width)
    h0, _ = zoo.points(cell, 1.0, 50)
    inputs = 2 * torch.rand(steps, 50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1
    with torch.no_grad():
        through = torch.linalg.multi_dot(list(jacobians(cell, inputs[:, :1], h0[0])[:, 0].flip(0)))
    assert torch.linalg.matrix_norm(through, 2) <= sqrt(6) * contraction_rate(cell) ** steps < 1


def test_a_saturated_forget_gate_certifies_nothing():
    assert contraction_rate(scalar_lstm(b_f=20.0)) >= sigmoid(20.0)
    assert contraction_rate(scalar_lstm(b_f=40.0)) >= 1
    assert contraction_rate(scalar_lstm(b_f=800.0, w_f=0.1)) >= 1  # nothing is ever written
    wide = scalar_lstm(b_f=800.0, w_f=0.1, b_z=1.0)
    assert contraction_rate(wide) == lstm_bounds(wide).rate == inf
    with pytest.raises(ValueError, match="1 / \\(1 - F\\)"):
        invariant_set(wide)
    shut = scalar_lstm(b_f=-800.0, w_f=0.1, w_z=0.5)
    assert lstm_bounds(shut).rate == pytest.approx(0.5)
    assert contraction_rate(shut) < 0.3
    assert pytest.approx(1) == lstm_bounds(shut).memory_bound


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: contraction_rate(ResidualCell(1, 2, depth=1)), "no contraction is certified for ResidualCell"),
        (lambda c: contraction_rate(Stack([c])), "no contraction is certified for Stack"),
        (lambda c: contraction_rate(DeepCell(1, 2, depth=1, normalized=True)), "certified for DeepCell"),
        (lambda c: contraction_rate(SimpleCell(1, 2, torch.sin)), "activation sin is unknown"),
        (lambda c: contraction_rate(c, 1), "norm must be one of 2, 'max', 'weighted', 'lyapunov'"),
        (lambda c: contraction_rate(c, "lyapunov"), "for linear cells"),
        (lambda c: contraction_rate(c, input_bound=-1.0), "input_bound must be"),
        (lambda c: contraction_rate(c, input_bound=inf), "input_bound must be"),
        (lambda c: invariant_set(Stack([c])), "no contraction is certified for Stack"),
        (lambda c: lyapunov_norm(torch.zeros(2, 3)), "square matrix"),
        (lambda c: steps_to_contract(1.0, 4), "rate of at least 0 and below 1"),
        (lambda c: steps_to_contract(0.5, 0), "^width must be an integer of at least 1, got 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(LSTMCell(1, 2))


@pytest.mark.parametrize(
    "cell", [SimpleCell(1, 2), DeepCell(1, 2, 1), DeepCell(1, 2, 2, activation="identity")], ids=str
)
def test_only_one_linear_layer_has_a_lyapunov_norm(cell):
    with pytest.raises(ValueError, match=f'^the norm "lyapunov" is for linear cells, and {type(cell).__name__}'):
        contraction_rate(cell, "lyapunov")


def test_a_deep_cell_of_one_linear_layer_is_a_linear_cell():
    deep, flat = DeepCell(1, 2, 1, activation="identity"), LinearCell(1, 2)
    with torch.no_grad():
        flat.W.copy_(deep.layer_matrices()[0])
    assert contraction_rate(deep, "lyapunov") == contraction_rate(flat, "lyapunov")


@pytest.mark.parametrize("kind", zoo.KINDS)
def test_nothing_is_certified_of_what_is_not_finite(kind):
    cell = zoo.make(kind, 2, 1.0, 0.0, 0)
    with torch.no_grad():
        cell.W[0, 0] = torch.nan
    with pytest.raises(ValueError, match="not finite"):
        contraction_rate(cell)


def test_certificates_leave_cells_alone():
    cell = zoo.make("lstm", 2, 1.0, 0.0, 0, torch.float32)
    before = {name: p.clone() for name, p in cell.named_parameters()}
    rate = contraction_rate(cell)
    assert all(torch.equal(p, before[name]) and p.requires_grad for name, p in cell.named_parameters())
    assert rate == contraction_rate(cell.double())
