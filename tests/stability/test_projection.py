"""Projections: optimality by a generic solver and by duality, certificates afterwards, and the traps of such code."""

import contraction_cells as zoo
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from torch import nn

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import Projected, contracting, contraction_rate, gru_bounds, lstm_bounds, project
from fhx.stability.gates import farthest
from fhx.stability.rows import onto_balls, onto_gates

RATES = st.sampled_from([0.2, 0.7, 0.99])
DTYPES = st.sampled_from([torch.float64, torch.float32])
CONDITIONS = ["weighted", "rows", "sum", "four conditions"]


def copies(cell):
    return {name: p.detach().clone() for name, p in cell.named_parameters()}


def same(cell, before):
    return all(torch.equal(p, before[name]) for name, p in cell.named_parameters())


def certified(cell, condition, bound=1.0):
    """The rate by the condition that was asked for."""
    if condition == "weighted" or not isinstance(cell, LSTMCell | GRUCell):
        return contraction_rate(cell, input_bound=bound)
    if isinstance(cell, GRUCell):
        return gru_bounds(cell, bound).rate
    bounds = lstm_bounds(cell, bound)
    return {"rows": bounds.rate, "sum": bounds.sum_rate, "four conditions": bounds.four_condition_rate}[condition]


def flat(cell):
    """All weights as one vector."""
    return torch.cat([p.detach().flatten() for p in cell.parameters()])


def moved(cell, *args, **options):
    """How far a projection moves a cell."""
    before = flat(cell)
    return (flat(project(cell, *args, **options)) - before).norm().item()


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
    st.sampled_from(CONDITIONS),
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


@pytest.mark.parametrize(
    ("kind", "condition"), [("linear", "rows"), ("lstm", "rows"), ("gru", "rows"), ("gru", "weighted")]
)
def test_weights_far_outside_come_all_the_way_back(kind, condition):
    """What is left of a large number from which a large one was taken is off by a rounding of the large ones."""
    for seed in range(15 if condition == "rows" else 1):
        cell = zoo.make(kind, 4, 1e4, 0.0, seed, torch.float64)
        project(cell, 0.1, condition=condition)
        assert certified(cell, condition) <= 0.1


def nearest_by_solver(cell, rate, bound, condition, cap):
    """The squared distance of the nearest LSTM under a cap of all its gates, by a generic solver.

    Signs stay, so all is said in sizes, with the bias of the forget gate last: p = (W_i, W_f, W_z, W_o, U_f, b_f).
    """
    d, n = cell.state_size, cell.input_size
    parts = [w.detach().numpy() for w in (cell.W_i, cell.W_f, cell.W_z, cell.W_o, cell.U_f)]
    target = np.concatenate([*(np.abs(w).ravel() for w in parts), cell.b_f.detach().numpy()])
    one, sums = np.kron(np.eye(d), np.ones(d)), np.zeros((4, d, len(target)))
    for gate in range(4):
        sums[gate, :, gate * d * d : (gate + 1) * d * d] = one
    i, f, z, o = sums
    argument = f.copy()
    argument[:, 4 * d * d : -d] = bound * np.kron(np.eye(d), np.ones(n))
    argument[:, -d:] = np.eye(d)
    left, logit = rate - cap, np.log(cap / (1 - cap))
    if condition == "rows":
        laws = [(cap * f + z, left), (cap * f + i / 4, left), (o, 4 * rate)]
    else:
        laws = [(i, left), (f, left * (1 - cap)), (z, left / 4), (o, left)]
    A = np.concatenate([*(law for law, _ in laws), argument])
    most = np.concatenate([*(np.full(d, value) for _, value in laws), np.full(d, logit)])
    start = np.concatenate([np.zeros(len(target) - d), np.minimum(target[-d:], logit)])
    found = minimize(
        lambda p: ((p - target) ** 2).sum() / 2,
        start,
        jac=lambda p: p - target,
        bounds=[(0, None)] * (len(target) - d) + [(None, None)] * d,
        constraints=[{"type": "ineq", "fun": lambda p: most - A @ p, "jac": lambda p: -A}],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success, found.message
    return 2 * found.fun


@pytest.mark.claim("E15")
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([1, 1, 2]),
    st.sampled_from(["rows", "four conditions"]),
    st.floats(0.3, 2.5),
    st.floats(0, 3),
    st.sampled_from([0.5, 0.95]),
    st.sampled_from([0.0, 1.0]),
    st.integers(0, 2**32),
)
def test_the_nearest_lstm_of_all_caps_by_a_generic_solver(d, condition, weight, bias, rate, bound, seed):
    """For one cap of all gates the set is convex and a solver finds its nearest point: none is nearer than ours.

    With one unit, or with four conditions, our cap is one for all gates too, so the solver at our cap comes as near.
    """
    cell = zoo.make("lstm", d, weight, bias, seed)
    before, start = copies(cell), certified(cell, condition, bound)
    ours = moved(cell, rate, bound, condition=condition) ** 2
    assert certified(cell, condition, bound) <= rate
    cap = lstm_bounds(cell, bound).forget_bound
    cell.load_state_dict(before)
    if start <= rate:
        assert ours == 0
        return
    theirs = [nearest_by_solver(cell, rate, bound, condition, rate * part) for part in np.linspace(0.02, 0.98, 13)]
    assert ours <= min(theirs) + 1e-7
    if d == 1 or condition == "four conditions":
        assert abs(ours - nearest_by_solver(cell, rate, bound, condition, min(cap, rate - 1e-9))) <= 1e-5


def of_the_best_cap(cell, rate, condition, before):
    """The least squared distance over many caps, the rest of the rate split in proportion, with no search."""
    logits, best = np.linspace(-14, np.log(rate / (1 - rate)) - 1e-6, 401), np.inf
    per_row = []
    for logit in logits:
        F = torch.tensor(1 / (1 + np.exp(-logit)), dtype=torch.float64)
        every = torch.ones(cell.state_size, dtype=torch.float64)
        if condition == "sum":
            b = lstm_bounds(cell)
            n = b.norms
            part = min(1.0, (rate - F.item()) / (n["i"] / 4 + n["f"] / (4 * (1 - F.item())) + n["z"] + n["o"] / 4))
            total = 0.0
            for gate in "izo":
                W = getattr(cell, f"W_{gate}").detach()
                total += (W - onto_balls(W, part * n[gate] * every)).square().sum().item()
            gate = cell.W_f.detach(), cell.U_f.detach(), cell.b_f.detach()
            new = onto_gates(*gate, 1.0, part * n["f"] * every, logit * every)
            total += sum((w - v).square().sum().item() for w, v in zip(gate, new, strict=True))
            best = min(best, total)
            continue
        b = gru_bounds(cell)
        nu = torch.linspace(0, 1, 1001, dtype=torch.float64)[:, None]
        worst = (1 + nu) * (F * b.w_z + (1 - nu) * b.candidate)
        part = ((rate - F) / (1 - F) / worst.amax(0)).clamp(max=1)
        W, b_m = cell.W_n.detach(), cell.b_m.detach()
        gate = cell.W_z.detach(), cell.U_z.detach(), cell.b_z.detach()
        new = onto_gates(*gate, 1.0, part * b.w_z, logit * every)
        rows = (W - onto_balls(W, part * b.w_n)).square().sum(1) + ((1 - part) * b_m).square()
        rows = rows + sum((w - v).square().reshape(len(W), -1).sum(1) for w, v in zip(gate, new, strict=True))
        per_row.append(rows)
    if condition == "sum":
        return best
    wrong = gru_bounds(cell).row_rates > rate
    return torch.stack(per_row).amin(0)[wrong].sum().item()


@pytest.mark.parametrize(("kind", "condition"), [("lstm", "sum"), ("gru", "rows")])
@pytest.mark.parametrize(("weight", "bias", "rate"), [(0.8, 0.3, 0.95), (2.0, 1.0, 0.9), (1.0, 3.0, 0.5)])
def test_the_best_cap_where_the_rest_is_split_in_proportion(kind, condition, weight, bias, rate):
    for seed in range(2):
        cell = zoo.make(kind, 3, weight, bias, seed)
        before = copies(cell)
        wanted = of_the_best_cap(cell, rate, condition, before)
        assert wanted > 0
        assert moved(cell, rate, condition=condition) ** 2 == pytest.approx(wanted, rel=2e-3)


@pytest.mark.claim("E15")
@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 3),
    st.sampled_from(["rows", "four conditions"]),
    st.floats(0, 2),
    st.floats(0, 3),
    st.sampled_from([1e-5, 1e-2, 1.0]),
    st.sampled_from([0.5, 0.95]),
    st.integers(0, 2**32),
)
def test_a_distance_changes_no_faster_than_the_weights(d, condition, weight, bias, size, rate, seed):
    """What the distance to any set does: so a cell that crosses the rate by a little moves by no more than that."""
    cell, other = (zoo.make("lstm", d, weight, bias, seed) for _ in range(2))
    noise = torch.randn(flat(cell).shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    torch.nn.utils.vector_to_parameters(flat(cell) + size * noise / noise.norm(), other.parameters())
    distances = [moved(net, rate, condition=condition) for net in (cell, other)]
    assert abs(distances[0] - distances[1]) <= size + 1e-6 * (1 + max(distances))


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("kind", zoo.GATED)
@pytest.mark.parametrize("d", [1, 4])
def test_who_crosses_the_rate_by_a_little_moves_a_little(kind, condition, d):
    """At the border, along the line on which all weights grow together."""
    for seed in range(1 if condition == "weighted" else 2):
        cell = zoo.make(kind, d, 1.0, 0.0, seed)
        there, rate = flat(cell), 0.9

        def put(scale, cell=cell, there=there):
            torch.nn.utils.vector_to_parameters(scale * there, cell.parameters())

        low, high = 0.0, 3.0
        while high - low > 1e-6:
            put((low + high) / 2)
            low, high = ((low + high) / 2, high) if certified(cell, condition) <= rate else (low, (low + high) / 2)
        put(low)
        assert moved(cell, rate, condition=condition) == 0
        put(high + 1e-5)
        assert 0 < moved(cell, rate, condition=condition) < 1e-3


@settings(max_examples=5, deadline=None)
@given(st.sampled_from(zoo.GATED), st.integers(1, 4), st.floats(0, 4), st.floats(0, 4), RATES, st.integers(0, 2**32))
def test_the_weighted_norm_moves_no_cell_further_than_rows_do(kind, d, weight, bias, rate, seed):
    """It ends on the way there, and not before it has to."""
    by_rows, cell = (zoo.make(kind, d, weight, bias, seed) for _ in range(2))
    before, once = flat(cell), contraction_rate(cell)
    project(by_rows, rate, condition="rows")
    project(cell, rate)
    way, ours = flat(by_rows) - before, flat(cell) - before
    if once <= rate:
        assert not ours.any()
        return
    part = (ours @ way / (way @ way)).item()
    assert part <= 1
    torch.testing.assert_close(ours, part * way, rtol=1e-9, atol=1e-12)
    assert rate - 2e-5 <= contraction_rate(cell) <= rate


@given(st.floats(0.001, 0.999), st.floats(0.2, 5), st.sampled_from([1.0, 10.0, float("inf")]))
def test_the_way_ends_where_the_excess_does(root, power, beyond):
    def excess(part):
        return (part / root) ** power - 1 if part <= root else beyond * (part - root)

    end = farthest(excess)
    assert excess(end) <= 0
    assert end >= root - 3e-6


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "relu", "linear", "lstm", "gru"])
def test_a_cell_at_the_border_stays(kind):
    for seed in range(3):
        cell = zoo.make(kind, 3, 0.1, 0.1, seed)
        before = copies(cell)
        bounds = {"lstm": lstm_bounds, "gru": gru_bounds}.get(kind)
        project(cell, contraction_rate(cell, input_bound=0.1), 0.1)
        assert same(cell, before)
        if bounds:
            project(cell, bounds(cell, 0.1).rate, 0.1, condition="rows")
        assert same(cell, before)


def test_a_row_that_is_certified_stays():
    cell = zoo.make("lstm", 4, 0.1, 0.1, 1)
    rates = lstm_bounds(cell).row_rates
    rate = rates.median().item()
    assert rate < 1
    before = copies(cell)
    project(cell, rate, condition="rows")
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
        project(cell, 0.85, condition="rows")
        assert same(cell, before) is stays
        assert lstm_bounds(cell).rate <= 0.85


@pytest.mark.claim("B5")
@pytest.mark.parametrize("trap", ["columns", "small"])
def test_what_is_short_stays_where_something_else_must_move(trap):
    """Every row is uncertified by its forget bias, so all are projected: short rows of W_o nonetheless stay."""
    cell = zoo.make("lstm", 10, 0.0, 0.0, 0)
    with torch.no_grad():
        cell.b_f.fill_(20.0)
        if trap == "columns":
            cell.W_o[:, 0] = 0.4
        else:
            cell.W_o.copy_(1e-3 * torch.randn(10, 10, generator=torch.Generator().manual_seed(0)))
    before = copies(cell)
    project(cell, 0.9, condition="rows")
    assert torch.equal(cell.W, before["W"])
    assert cell.b_f.max().item() == pytest.approx(np.log(9), rel=1e-6)


@pytest.mark.parametrize("kind", ["tanh", "linear", "lstm", "gru"])
def test_small_weights_are_not_scaled_up(kind):
    cell = zoo.make(kind, 5, 1e-3, 0.0, 0)
    before = copies(cell)
    project(cell, 0.95)
    assert same(cell, before)


@pytest.mark.claim("B5")
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_forget_bias_of_20_is_bounded(condition):
    """However small all weights are, a gate that stays open does not contract."""
    cell = zoo.make("lstm", 5, 1e-3, 0.0, 0)
    with torch.no_grad():
        cell.b_f.fill_(20.0)
    others = cell.b.detach().clone()[[*range(5), *range(10, 20)]]
    assert contraction_rate(cell) > 0.9999
    project(cell, 0.95, condition=condition)
    assert lstm_bounds(cell).forget_bound <= 0.95
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
    """The sets lie in each other: four conditions, sum, rows, weighted."""
    for seed in range(2):
        ways = [moved(zoo.make("lstm", 4, 1.0, 0.5, seed), 0.95, condition=condition) for condition in CONDITIONS]
        assert 0 < ways[0] < ways[1] < min(ways[2:])


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
    handle = chosen.register_step_post_hook(Projected(cell, 0.6, condition="rows", forget=0.2))
    assert contraction_rate(cell) <= 0.6
    for _ in range(8):
        chosen.step(loss)
        assert contraction_rate(cell) <= 0.6
    assert loss() < start
    handle.remove()
    for _ in range(60):
        chosen.step(loss)
    assert contraction_rate(cell) > 0.6


def test_one_hook_for_several_cells():
    cells = [zoo.make(kind, 3, 2.0, 1.0, 0) for kind in ("tanh", "lstm")]
    Projected(cells, 0.7, input_bound=0.5)
    assert [contraction_rate(cell, input_bound=0.5) <= 0.7 for cell in cells] == [True, True]


@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "lstm", "gru"])
def test_a_projection_goes_no_further_than_it_must(kind):
    for rate in (0.3, 0.9):
        cell = project(zoo.make(kind, 3, 20.0, 1.0, 0), rate)
        found = contraction_rate(cell)
        assert rate * (1 - 1e-11 if kind in ("tanh", "sigmoid") else 1 - 1e-5) <= found <= rate


def test_what_is_projected_unless_told_otherwise():
    options = [{}, {"input_bound": 1.0}, {"condition": "weighted"}, {"forget": None}]
    for kind in zoo.GATED:
        cells = [project(zoo.make(kind, 1, 1.0, 0.0, 0), 0.6, **option) for option in options]
        assert all(same(cell, copies(cells[0])) for cell in cells)
        hooked = zoo.make(kind, 1, 1.0, 0.0, 0)
        assert not same(hooked, copies(cells[0]))
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
            "^condition must be one of 'weighted', 'rows', 'sum', 'four conditions'",
        ),
        (lambda: project(LSTMCell(1, 2), 0.5, forget=0.5), "^forget must lie between 0 and the rate 0.5, got 0.5"),
        (lambda: project(LSTMCell(1, 2), 0.5, forget=0.0), "^forget must lie between"),
        (lambda: project(GRUCell(1, 2), 0.5, input_bound=-1.0), "input_bound must be"),
        (
            lambda: project(contracting(SimpleCell(1, 2), 0.9), 0.5),
            "^weights of ParametrizedSimpleCell.* are parametrised",
        ),
        (lambda: Projected([SimpleCell(1, 2, torch.sin)], 0.5), "activation sin is unknown"),
        (lambda: project(SimpleCell(1, 2), "0.9"), "^a contraction needs a rate above 0 and below 1, got '0.9'$"),
        (lambda: project(SimpleCell(1, 2), torch.nan), "rate above 0 and below 1, got nan$"),
        (lambda: project(LSTMCell(1, 2), 0.9, forget="0.2"), "^forget must lie between 0 and the rate 0.9, got '0.2'$"),
        (lambda: Projected([], 0.9), "^there is no cell to project$"),
        (lambda: Projected((cell for cell in ()), 0.9), "^there is no cell to project$"),
        (lambda: Projected(0.95, SimpleCell(1, 2)), "^cells must be a cell or several, got float$"),
        (
            lambda: Projected(torch.optim.SGD(SimpleCell(1, 2).parameters()), 0.95),
            "^cells must be a cell or several, got SGD$",
        ),
        (lambda: Projected(SimpleCell(1, 2).parameters(), 0.95), "^cells .* got Parameter among them$"),
        (lambda: Projected(nn.RNN(1, 2), 0.95), r"^RNN\(1, 2\) is a net of torch"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["tanh", "linear", *zoo.GATED]),
    st.sampled_from([0.01, 3.0]),
    st.sampled_from([torch.nan, torch.inf]),
    st.data(),
)
def test_a_weight_that_is_not_finite_is_named_and_nothing_is_moved(kind, size, value, data):
    """Whichever weight it is, those that no projection moves included, and within the rate or outside."""
    cell = zoo.make(kind, 2, size, 0.0, 0)
    name = data.draw(st.sampled_from([name for name, _ in cell.named_parameters()]))
    cell.get_parameter(name).detach().view(-1)[-1] = value
    before = copies(cell)
    with pytest.raises(ValueError, match=rf"^nothing is certified for {name} of .* not finite$"):
        project(cell, 0.9)
    assert all(torch.equal(p.nan_to_num(), before[key].nan_to_num()) for key, p in cell.named_parameters())
