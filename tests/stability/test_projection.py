"""Projections: optimality by a generic solver and by duality, certificates afterwards, and the traps of such code."""

import contraction_cells as zoo
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import Projected, contraction_rate, gru_bounds, lstm_bounds, project
from fhx.stability.rows import onto_balls, onto_gates

RATES = st.sampled_from([0.2, 0.7, 0.99])
DTYPES = st.sampled_from([torch.float64, torch.float32])
CONDITIONS = st.sampled_from(["rows", "sum", "four conditions"])


def copies(cell):
    return {name: p.detach().clone() for name, p in cell.named_parameters()}


def same(cell, before):
    return all(torch.equal(p, before[name]) for name, p in cell.named_parameters())


def certified(cell, condition, bound=1.0):
    """The rate by the condition that was asked for."""
    if isinstance(cell, LSTMCell):
        bounds = lstm_bounds(cell, bound)
        return {"rows": bounds.rate, "sum": bounds.sum_rate, "four conditions": bounds.four_condition_rate}[condition]
    return contraction_rate(cell, input_bound=bound)


def solved(u, v, b, bound, radius, limit):
    """The nearest row by a generic solver: with the signs known, what is bounded is linear in the absolute values."""
    target = np.concatenate([np.abs(u), np.abs(v), [b]])
    n, m = len(u), len(v)
    laws = [
        np.concatenate([-np.ones(n), np.zeros(m + 1)]),
        np.concatenate([-np.ones(n), np.full(m, -bound), [-1.0]]),
    ]
    result = minimize(
        lambda p: ((p - target) ** 2).sum() / 2,
        np.concatenate([np.zeros(n + m), [min(b, limit)]]),
        jac=lambda p: p - target,
        bounds=[(0, None)] * (n + m) + [(None, None)],
        constraints=[
            {"type": "ineq", "fun": lambda p, a=a, c=c: a @ p + c, "jac": lambda p, a=a: a}
            for a, c in zip(laws, (radius, limit), strict=True)
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    p = result.x
    return np.concatenate([np.sign(u) * p[:n], np.sign(v) * p[n : n + m], p[n + m :]])


@settings(max_examples=60)
@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.05, 1.0, 30.0]),
    st.floats(-3, 3),
    st.integers(0, 2**32),
)
def test_a_gate_against_a_generic_solver(n, m, bound, radius, limit, seed):
    generator = torch.Generator().manual_seed(seed)
    u, v, b = (torch.randn(size, generator=generator, dtype=torch.float64) for size in ((1, n), (1, m), (1,)))
    one = torch.ones(1, dtype=torch.float64)
    W, U, c = onto_gates(u, v, b, bound, radius * one, limit * one)
    ours = torch.cat([W[0], U[0], c]).numpy()
    theirs = solved(u[0].numpy(), v[0].numpy(), b.item(), bound, radius, limit)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    assert W.abs().sum() <= radius + 1e-14
    assert c + W.abs().sum() + bound * U.abs().sum() <= limit + 1e-14


@given(st.integers(1, 5), st.floats(0, 4), st.integers(0, 2**32))
def test_a_ball_by_the_conditions_of_optimality(n, radius, seed):
    """Numbers that stay apart from 0 move by one and the same amount, which is none unless the ball binds."""
    u = torch.randn(3, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    near = onto_balls(u, torch.full((3,), radius, dtype=torch.float64))
    for row, moved in zip(u, near, strict=True):
        if row.abs().sum() <= radius:
            assert torch.equal(row, moved)
            continue
        assert moved.abs().sum().item() == pytest.approx(radius, abs=1e-14)
        shift = (row - moved).abs()
        level = shift.max()
        assert (row * moved >= 0).all()
        assert ((moved == 0) | ((shift - level).abs() < 1e-14)).all()


@settings(max_examples=25)
@given(zoo.cells("tanh", "linear", "relu", "sigmoid", most=4.0), RATES)
def test_clipped_singular_values_are_nearest(cell, rate):
    """P is nearest to W in the ball if no Q of the ball has a larger product with W - P: the nuclear norm decides."""
    cell = cell()
    before, U, b = cell.W.detach().clone(), cell.U.detach().clone(), cell.b.detach().clone()
    radius = rate * (4 if getattr(cell, "activation", None) is torch.sigmoid else 1)
    W = project(cell, rate).W.detach()
    assert torch.equal(cell.U, U)
    assert torch.equal(cell.b, b)
    assert torch.linalg.matrix_norm(W, 2) <= radius
    gap = before - W
    assert (gap * W).sum() >= radius * torch.linalg.svdvals(gap).sum() * (1 - 1e-11) - 1e-12


@pytest.mark.claim("B5")
@settings(max_examples=40)
@given(
    st.sampled_from(["tanh", "sigmoid", "relu", "linear", "lstm", "gru"]),
    st.sampled_from([1, 3, 20]),
    st.floats(0, 5),
    st.floats(0, 20),
    st.integers(0, 2**32),
    RATES,
    DTYPES,
    CONDITIONS,
    st.sampled_from([0.0, 1.0, 3.0]),
)
def test_certified_afterwards_and_then_left_alone(kind, d, weight, bias, seed, rate, dtype, condition, bound):
    cell = zoo.make(kind, d, weight, bias, seed, dtype)
    before, was = copies(cell), certified(cell, condition, bound)
    assert project(cell, rate, bound, condition=condition) is cell
    assert certified(cell, condition, bound) <= rate
    assert contraction_rate(cell, input_bound=bound) <= rate
    if was <= rate:
        assert same(cell, before)
    once = copies(cell)
    project(cell, rate, bound, condition=condition)
    assert same(cell, once)
    if kind in zoo.GATED:
        assert not any((p.abs() > before[name].abs()).any() for name, p in cell.named_parameters() if name[0] in "WU")


@pytest.mark.parametrize("kind", ["linear", "lstm", "gru"])
def test_weights_far_outside_come_all_the_way_back(kind):
    """What is left of a large number from which a large one was taken is off by a rounding of the large ones."""
    for seed in range(30):
        cell = zoo.make(kind, 4, 1e4, 0.0, seed, torch.float64)
        project(cell, 0.1)
        assert contraction_rate(cell) <= 0.1


@pytest.mark.parametrize("condition", ["rows", "sum", "four conditions"])
def test_the_nearest_lstm_of_its_convex_set(condition):
    """Every other cell of the set is on the far side: a random one, and those that its constraints make extreme."""
    cell = zoo.make("lstm", 3, 2.0, 1.0, 4)
    before = torch.cat([p.detach().flatten() for p in cell.parameters()])
    project(cell, 0.9, condition=condition, forget=0.6)
    after = torch.cat([p.detach().flatten() for p in cell.parameters()])
    b = lstm_bounds(cell)
    limit = torch.full((3,), 0.6, dtype=torch.float64).logit()
    generator = torch.Generator().manual_seed(0)
    for _ in range(200):
        other = zoo.make("lstm", 3, 0.0, 0.0, 0)
        with torch.no_grad():
            for gate, sums in (("i", b.w_i), ("f", b.w_f), ("z", b.w_z), ("o", b.w_o)):
                signs = torch.randn(3, 3, generator=generator, dtype=torch.float64).sign()
                which = torch.nn.functional.one_hot(torch.randint(0, 3, (3,), generator=generator), 3)
                getattr(other, f"W_{gate}").copy_(signs * which * sums[:, None])
            other.U.copy_(cell.U + 0.2 * torch.randn(12, 2, generator=generator, dtype=torch.float64) * (cell.U != 0))
            other.b.copy_(cell.b)
            size = other.W_f.abs().sum(1) + other.U_f.abs().sum(1)
            other.b_f.copy_(torch.minimum(other.b_f, limit - size))
            for name in ("U_i", "U_z", "U_o"):
                getattr(other, name).copy_(getattr(cell, name))
        there = torch.cat([p.detach().flatten() for p in other.parameters()])
        assert (before - after) @ (there - after) <= 1e-9


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "relu", "linear", "lstm", "gru"])
def test_a_cell_at_the_border_stays(kind):
    for seed in range(3):
        cell = zoo.make(kind, 3, 0.1, 0.1, seed)
        before = copies(cell)
        bounds = {"lstm": lstm_bounds, "gru": gru_bounds}.get(kind)
        project(cell, bounds(cell, 0.1).rate if bounds else contraction_rate(cell, input_bound=0.1), 0.1)
        assert same(cell, before)


def test_a_row_that_is_certified_stays():
    cell = zoo.make("lstm", 4, 0.1, 0.1, 1)
    rates = lstm_bounds(cell).row_rates
    rate = rates.median().item()
    assert rate < 1
    before = copies(cell)
    project(cell, rate)
    stays = (rates <= rate).repeat(4)
    assert 0 < stays.sum() < 16
    for name, p in cell.named_parameters():
        assert torch.equal(p[stays], before[name][stays])
    assert not torch.equal(cell.W, before["W"])


@pytest.mark.claim("B5")
def test_rows_are_bounded_and_not_columns():
    """A matrix whose columns are long and whose rows are short is left alone; its transpose is not."""
    tall = torch.zeros(10, 10, dtype=torch.float64)
    tall[:, 0] = 0.3
    for matrix, stays in ((tall, True), (tall.T, False)):
        cell = zoo.make("lstm", 10, 0.0, 0.0, 0)
        with torch.no_grad():
            cell.W_z.copy_(matrix)
        before = copies(cell)
        project(cell, 0.85)
        assert same(cell, before) is stays
        assert cell.W_z.abs().sum(1).max() <= 0.85 / 2


@pytest.mark.claim("B5")
@pytest.mark.parametrize("condition", ["rows", "sum", "four conditions"])
@pytest.mark.parametrize("trap", ["columns", "small"])
def test_what_is_short_stays_where_something_else_must_move(trap, condition):
    """Every row is uncertified by its forget bias, so all are projected: short rows of W_o nonetheless stay."""
    cell = zoo.make("lstm", 10, 0.0, 0.0, 0)
    with torch.no_grad():
        cell.b_f.fill_(20.0)
        if trap == "columns":
            cell.W_o[:, 0] = 0.4
        else:
            cell.W_o.copy_(1e-3 * torch.randn(10, 10, generator=torch.Generator().manual_seed(0)))
    before = copies(cell)
    project(cell, 0.9, condition=condition)
    assert (cell.W - before["W"]).abs().max() < 1e-12
    assert cell.b_f.max() < 0


def test_what_is_short_stays_in_a_gru_whose_update_gate_must_close():
    cell = zoo.make("gru", 10, 0.0, 0.0, 0)
    with torch.no_grad():
        cell.b_z.fill_(20.0)
        cell.W_n[:, 0] = 0.3
    before = copies(cell)
    project(cell, 0.9)
    assert (cell.W - before["W"]).abs().max() < 1e-12
    assert cell.b_z.max() < 1


@pytest.mark.parametrize("kind", ["tanh", "linear", "lstm", "gru"])
def test_small_weights_are_not_scaled_up(kind):
    cell = zoo.make(kind, 5, 1e-3, 0.0, 0)
    before = copies(cell)
    project(cell, 0.95)
    assert same(cell, before)


@pytest.mark.claim("B5")
@pytest.mark.parametrize("condition", ["rows", "sum", "four conditions"])
def test_a_forget_bias_of_20_is_bounded(condition):
    """However small all weights are, a gate that stays open does not contract."""
    cell = zoo.make("lstm", 5, 1e-3, 0.0, 0)
    with torch.no_grad():
        cell.b_f.fill_(20.0)
    others = cell.b.detach().clone()[[*range(5), *range(10, 20)]]
    assert contraction_rate(cell) > 0.9999
    project(cell, 0.95, condition=condition)
    assert cell.b_f.max() <= 0.0  # sigmoid(0) is half of what 0.95 leaves at most
    assert contraction_rate(cell) <= 0.95
    assert torch.equal(cell.b[[*range(5), *range(10, 20)]], others)
    project(cell, 0.4, condition=condition, forget=0.25)
    assert lstm_bounds(cell).forget_bound <= 0.25


def test_an_update_bias_of_20_is_bounded():
    cell = zoo.make("gru", 5, 1e-3, 0.0, 0)
    with torch.no_grad():
        cell.b_z.fill_(20.0)
    project(cell, 0.95, forget=0.9)
    assert cell.b_z.max().item() == pytest.approx(np.log(9), abs=0.01)
    assert contraction_rate(cell) <= 0.95


def test_the_weakest_condition_moves_an_lstm_least():
    moved = {}
    for condition in ("rows", "sum", "four conditions"):
        cell = zoo.make("lstm", 8, 1.0, 0.5, 0)
        before = copies(cell)
        project(cell, 0.95, condition=condition)
        moved[condition] = sum((p - before[name]).square().sum().item() for name, p in cell.named_parameters())
    assert moved["rows"] < 0.7 * min(moved["sum"], moved["four conditions"])


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.5),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.05),
    "lbfgs": lambda p: torch.optim.LBFGS(p, lr=0.5, max_iter=3),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", ["tanh", "lstm", "gru"])
def test_training_under_the_hook(optimizer, kind):
    """The loss asks for large states, which pulls every cell out of its set; taken off, the hook lets it go."""
    cell = zoo.make(kind, 3, 0.9, 0.3, 0)
    inputs = torch.ones(5, 1, 2, dtype=torch.float64)

    def loss():
        chosen.zero_grad()
        value = (unroll(cell, inputs)[-1] - 2).square().sum()
        value.backward()
        return value

    chosen = OPTIMIZERS[optimizer](cell.parameters())
    start = loss().item()
    handle = chosen.register_step_post_hook(Projected(cell, 0.6, forget=0.2))
    assert contraction_rate(cell) <= 0.6
    for _ in range(8):
        chosen.step(loss)
        assert contraction_rate(cell) <= 0.6
    assert loss() < start
    handle.remove()
    for _ in range(20):
        chosen.step(loss)
    assert contraction_rate(cell) > 0.6


def test_one_hook_for_several_cells():
    cells = [zoo.make(kind, 3, 2.0, 1.0, 0) for kind in ("tanh", "lstm")]
    Projected(cells, 0.7, input_bound=0.5)
    assert [contraction_rate(cell, input_bound=0.5) <= 0.7 for cell in cells] == [True, True]


def close(number, wanted, near=1e-11):
    assert number.item() == pytest.approx(wanted, rel=near)


@pytest.mark.parametrize("condition", ["rows", "sum", "four conditions"])
def test_where_the_weights_of_an_lstm_end(condition):
    """Row by row the split of the rate, written out; every row of weights is long, the gate opens to 0.15 and 0.1."""
    cell, rate = zoo.make("lstm", 2, 1.0, 0.0, 3), 0.8
    opens = torch.tensor([0.15, 0.1], dtype=torch.float64)
    with torch.no_grad():
        cell.W.mul_(4)
        cell.b_f.copy_(opens.logit() - cell.W_f.abs().sum(1) - cell.U_f.abs().sum(1) / 2)
    b = lstm_bounds(cell, 0.5)
    project(cell, rate, 0.5, condition=condition)
    after = lstm_bounds(cell, 0.5)
    for j in range(2):
        F = opens[j].item() if condition == "rows" else 0.15
        left = rate - F
        w_i, w_f, w_z, w_o = (rows[j].item() for rows in (b.w_i, b.w_f, b.w_z, b.w_o))
        if condition == "rows":
            new = max(w_z, w_i / 4)
            part = left / (F * w_f + new)
            wanted = [min(w_i, 4 * part * new), part * w_f, min(w_z, part * new), min(w_o, 4 * rate)]
        elif condition == "four conditions":
            wanted = [min(w_i, left), min(w_f, left * (1 - F)), min(w_z, left / 4), min(w_o, left)]
        else:
            n = b.norms
            part = left / (n["i"] / 4 + n["f"] / (4 * (1 - F)) + n["z"] + n["o"] / 4)
            wanted = [min(w, part * n[gate]) for w, gate in zip((w_i, w_f, w_z, w_o), "ifzo", strict=True)]
        for rows, sum_of_row in zip((after.w_i, after.w_f, after.w_z, after.w_o), wanted, strict=True):
            close(rows[j], sum_of_row)


@pytest.mark.parametrize("b_m", [1.5, -1.5])
def test_where_the_weights_of_a_gru_end(b_m):
    """One unit without inputs: one part of all that adds to the candidate, where the update gate need not close."""
    cell, rate, cap = zoo.make("gru", 1, 0.0, 0.0, 0), 0.7, 0.3
    w_r, w_z, w_n = 0.5, 0.4, -2.0
    with torch.no_grad():
        for parameter, value in (
            (cell.W_r, w_r),
            (cell.W_z, w_z),
            (cell.W_n, w_n),
            (cell.b_m, b_m),
            (cell.b_z, np.log(cap / (1 - cap)) - w_z),
        ):
            parameter.fill_(value)
    R = 1 / (1 + np.exp(-w_r))
    r = np.linspace(0, R, 200_001)
    q = (r * (2.0 + (1 - r) * 3.5 * w_r)).max()
    nu = np.linspace(0, 1, 200_001)
    beta = ((1 + nu) * (cap * w_z + (1 - nu) * q)).max()
    part = (rate - cap) / (1 - cap) / beta
    assert part < 1
    project(cell, rate, forget=0.35)
    close(cell.W_n, part * w_n, 1e-8)
    close(cell.b_m, part * b_m, 1e-8)
    close(cell.W_z, part * w_z, 1e-8)
    close(cell.b_z, np.log(cap / (1 - cap)) - w_z)
    assert cell.W_r.item() == w_r
    assert contraction_rate(cell) <= rate


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "lstm", "gru"])
def test_a_projection_goes_no_further_than_it_must(kind):
    for rate in (0.3, 0.9):
        cell = project(zoo.make(kind, 3, 20.0, 1.0, 0), rate)
        found = contraction_rate(cell)
        assert rate * (1 - 1e-11 if kind in ("tanh", "sigmoid") else 0.5) <= found <= rate


def test_what_is_projected_unless_told_otherwise():
    options = [{}, {"input_bound": 1.0}, {"condition": "rows"}, {"forget": 0.3}]
    for seed in range(3):
        for kind in zoo.GATED:
            cells = [project(zoo.make(kind, 3, 2.0, 1.0, seed), 0.6, **option) for option in options]
            assert all(same(cell, copies(cells[0])) for cell in cells)
            hooked = zoo.make(kind, 3, 2.0, 1.0, seed)
            Projected(hooked, 0.6)
            assert same(hooked, copies(cells[0]))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: project(DeepCell(1, 2, depth=2), 0.5), "^there is no projection for DeepCell"),
        (lambda: project(SimpleCell(1, 2), 1.0), "^a contraction needs a rate above 0 and below 1, got 1"),
        (lambda: project(LinearCell(1, 2), 0.0), "rate above 0 and below 1"),
        (
            lambda: project(LSTMCell(1, 2), 0.5, condition="columns"),
            "^condition must be one of 'rows', 'sum', 'four conditions'",
        ),
        (lambda: project(LSTMCell(1, 2), 0.5, forget=0.5), "^forget must lie between 0 and the rate 0.5, got 0.5"),
        (lambda: project(LSTMCell(1, 2), 0.5, forget=0.0), "^forget must lie between"),
        (lambda: project(GRUCell(1, 2), 0.5, input_bound=-1.0), "input_bound must be"),
        (lambda: Projected([SimpleCell(1, 2, torch.sin)], 0.5), "activation sin is unknown"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
