"""Constants of a step: against its derivatives, computed by autograd and measured norm by norm."""

import re
from itertools import product
from math import inf, sqrt

import pytest
import torch
from attrs import astuple, evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw
from stable_cells import KINDS, moved, stable_cell, step_of, uniform, vector
from torch.func import jacrev

from fhx.cells import GRUCell, LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.stability import (
    Constants,
    LossConstants,
    LSTMBounds,
    constants,
    contraction_rate,
    lstm_bounds,
    lstm_constants,
    project_within,
    simple_constants,
)


def first_order(cell, h, x, norm):
    """The derivatives by state, input and weights, each in the norms that the constants name: exact."""
    by_state, by_input, by_weights = (
        matrix.detach() for matrix in jacrev(step_of(cell), (0, 1, 2))(h, x, vector(cell))
    )
    if norm == 2:
        return [torch.linalg.matrix_norm(matrix, 2).item() for matrix in (by_state, by_input, by_weights)]
    sums = [matrix.abs().sum(1).max().item() for matrix in (by_state, by_input)]
    return [*sums, by_weights.norm(dim=1).max().item()]


def second_order(cell, h, x, norm):
    """By states, by state and weights, by weights twice: exact in the max norm, from below in the 2-norm."""

    def slopes(h, weights):
        return jacrev(lambda h, weights: step_of(cell)(h, x, weights), (0, 1))(h, weights)

    (hh, hw), (_, ww) = jacrev(slopes, (0, 1))(h, vector(cell))
    hh, hw, ww = hh.detach(), hw.detach(), ww.detach()
    if norm == 2:
        return [climb(tensor) for tensor in (hh, hw, ww)]
    signs = torch.tensor(list(product([-1.0, 1.0], repeat=len(h))), **DOUBLE)
    rows = (
        torch.einsum("sa,iab->isb", signs, hh).abs().sum(-1).max(),
        torch.einsum("sa,iab->isb", signs, hw).norm(dim=-1).max(),
    )
    return [*(row.item() for row in rows), torch.linalg.matrix_norm(ww, 2).max().item()]


def climb(tensor):
    """The gain |T(a, b)|_2 of unit vectors a, b, made larger by turns: never above the true norm."""
    best = 0.0
    for seed in range(3):
        a, b = (draw(size, seed=seed + 1) for size in tensor.shape[1:])
        for _ in range(8):
            a = torch.linalg.svd(torch.einsum("iab,b->ia", tensor, b / b.norm()))[2][0]
            b = torch.linalg.svd(torch.einsum("iab,a->ib", tensor, a))[2][0]
        best = max(best, torch.einsum("iab,a,b->i", tensor, a, b).norm().item())
    return best


def points(cell, found, input_bound, seed):
    """States within the bounds of the constants, at their edge and inside, and inputs."""
    for edge in (0, 1):
        h = uniform(cell.state_width, seed=seed + edge)
        h = h.sign() if edge else h
        x = input_bound * uniform(cell.input_size, seed=seed + 2 + edge).sign()
        if isinstance(cell, LSTMCell):
            size = torch.full_like(h, found.state_bound)
            size[: cell.state_size].clamp_(max=1)
            yield h * size, x
        else:
            yield h / h.norm() * found.state_bound * (1 if edge else 0.5), x


CELLS = st.tuples(
    st.sampled_from(KINDS), st.floats(0.05, 0.98), st.integers(1, 2), st.integers(1, 2), st.integers(0, 2**32),
    st.floats(0.1, 3),
)  # fmt: skip


@given(CELLS, st.floats(0, 2), st.floats(0, 1))
@settings(max_examples=30)
def test_no_derivative_is_larger(recipe, input_bound, share):
    """At both cells and between them, at states and inputs within the bounds."""
    kind, rate, d_in, d, seed, size = recipe
    cell = stable_cell(kind, rate, d_in, d, seed, size)
    other = stable_cell(kind, rate, d_in, d, seed + 5, size)
    found = constants(cell, other, input_bound=input_bound)
    for one in (cell, moved(cell, other, share)):
        for h, x in points(one, found, input_bound, seed):
            measured = first_order(one, h, x, found.norm) + second_order(one, h, x, found.norm)
            for value, bound in zip(measured, astuple(found)[:6], strict=True):
                assert value <= bound * (1 + 1e-9) + 1e-12


@given(CELLS, st.floats(0, 2), st.booleans())
@settings(max_examples=30)
def test_no_state_is_larger(recipe, input_bound, begun):
    kind, rate, d_in, d, seed, size = recipe
    cell = stable_cell(kind, rate, d_in, d, seed, size)
    start = uniform(cell.state_width, seed=seed) if begun else torch.zeros(cell.state_width, **DOUBLE)
    order = inf if kind == "lstm" else 2
    found = constants(cell, input_bound=input_bound, h0_bound=torch.linalg.vector_norm(start, order).item())
    inputs = input_bound * uniform(30, 4, d_in, seed=seed).sign()
    states = unroll(cell, inputs, start).detach()
    assert torch.linalg.vector_norm(states, order, -1).max() <= found.state_bound * (1 + 1e-12)
    pushed = cell(torch.zeros(4, cell.state_width, **DOUBLE), inputs[0]).detach()
    assert torch.linalg.vector_norm(pushed, order, -1).max() <= found.drive_bound * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_is_the_certificate(kind):
    cell = stable_cell(kind, 0.7, 2, 3)
    rate = lstm_bounds(cell).rate if kind == "lstm" else contraction_rate(cell)
    assert constants(cell).rate == pytest.approx(rate, rel=1e-12)
    assert constants(cell).norm == ("max" if kind == "lstm" else 2)


@pytest.mark.parametrize("kind", KINDS)
def test_several_cells_are_bounded_together(kind):
    """In any order, by no less than each by itself, and by no less than a cell between them."""
    cells = [stable_cell(kind, rate, 2, 3, seed, size) for rate, seed, size in ((0.7, 1, 0.3), (0.4, 2, 1.5))]
    with torch.no_grad():
        cells[0].W[:2], cells[1].W[2:] = cells[0].W[:2] / 2, cells[1].W[2:] / 2
    together = constants(*cells)
    assert together == constants(*reversed(cells))
    for cell in (*cells, moved(*cells, 0.3)):
        for bound, one in zip(astuple(together)[:-1], astuple(constants(cell))[:-1], strict=True):
            assert bound >= one * (1 - 1e-12)
    assert together.rate >= max(constants(cell).rate for cell in cells) > 0


def scalar(kind, w, u=1.0, b=0.0):
    cell = SimpleCell(1, 1, "tanh", **DOUBLE) if kind == "tanh" else LinearCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter, value in zip(cell.parameters(), (w, u, b), strict=True):
            parameter.fill_(value)
    return cell


def test_a_scalar_linear_cell_by_hand():
    found = constants(scalar("linear", 0.75, 2.0, 1.0), input_bound=0.5)
    state = 2 / (1 - 0.75)
    wanted = Constants(0.75, 2.0, sqrt(state**2 + 0.25 + 1), 0.0, 1.0, 0.0, 2.0, state)
    assert astuple(found) == pytest.approx(astuple(wanted), rel=1e-12)


def test_a_scalar_tanh_reaches_its_constants():
    """On a grid of states and inputs the gain reaches the rate, and its change 4 / (3 sqrt 3) w^2."""
    w = 0.9
    found = constants(scalar("tanh", w, 1.0), input_bound=1.0)
    a = torch.linspace(-1.5, 1.5, 3001, **DOUBLE)
    slope = 1 - a.tanh().square()
    assert (w * slope).max() == pytest.approx(found.rate, rel=1e-12)
    assert (2 * a.tanh() * slope * w**2).max() == pytest.approx(found.by_states, rel=1e-5)


def test_a_region_of_weights_needs_no_cell():
    cell = stable_cell("tanh", 0.6, 2, 3)
    W, U = (torch.linalg.matrix_norm(matrix.detach(), 2).item() for matrix in (cell.W, cell.U))
    drive = (cell.U.detach().abs().sum(1) + cell.b.detach().abs()).norm().item()
    by_hand = simple_constants(width=3, recurrent=W, inputs=U, drive=drive, input_norm=sqrt(2))
    assert astuple(by_hand) == pytest.approx(astuple(constants(cell)), rel=1e-12)
    everything = simple_constants(width=3, recurrent=W, inputs=inf, drive=inf, input_norm=sqrt(2))
    assert everything.state_bound == pytest.approx(sqrt(3))
    assert evolve(everything, by_input=0.0, drive_bound=0.0).by_weights == pytest.approx(sqrt(3 + 2 + 1))


def test_the_linear_cell_without_contraction_is_not_bounded():
    found = constants(scalar("linear", 1.0))
    assert (found.rate, found.state_bound, found.sensitivity) == (pytest.approx(1.0), inf, inf)


def test_an_lstm_that_begins_elsewhere():
    cell = stable_cell("lstm")
    assert constants(cell, h0_bound=0.5).state_bound == lstm_bounds(cell).memory_bound
    assert constants(cell).state_bound <= lstm_bounds(cell).memory_bound


def test_losses():
    h, target = torch.linspace(-3, 3, 601, **DOUBLE), 0.5
    found = LossConstants.pseudo_huber(2.0)
    values = torch.sqrt(1 + (2 * h - target) ** 2) - 1
    slope = values.diff() / h.diff()
    assert slope.abs().max() <= found.lipschitz
    assert (slope.diff() / h.diff()[1:]).abs().max() == pytest.approx(found.smoothness, rel=1e-2)
    squared = LossConstants.squared(2.0, 6.0, 0.5)
    values = (2 * h + target) ** 2 / 2
    slope = values.diff() / h.diff()
    assert slope.abs().max() == pytest.approx(squared.lipschitz, rel=1e-2)
    assert (slope.diff() / h.diff()[1:]).abs().max() == pytest.approx(squared.smoothness, rel=1e-2)


class Jet:
    """Bounds of a number, and of its first and second derivatives in five directions: state, weights of i, f, z, o."""

    def __init__(self, value, slope, curve):
        self.value, self.slope, self.curve = value, slope, curve

    def __add__(self, other):
        return Jet(self.value + other.value, self.slope + other.slope, self.curve + other.curve)

    def __mul__(self, other):
        cross = torch.outer(self.slope, other.slope)
        slope = self.value * other.slope + other.value * self.slope
        return Jet(
            self.value * other.value, slope, self.value * other.curve + other.value * self.curve + cross + cross.T
        )

    def through(self, value, slope, curve):
        """A function of the number, whose own size, slope and curvature are bounded."""
        return Jet(value, slope * self.slope, curve * torch.outer(self.slope, self.slope) + slope * self.curve)


@given(st.lists(st.floats(0, 2), min_size=4, max_size=4), st.floats(0, 2), st.integers(1, 3), st.integers(1, 3))
def test_an_lstm_by_the_rules_of_differentiation(sizes, input_bound, d_in, d):
    """Sums, products and chains of bounds make the same constants, where the forget gate opens to a half."""
    n = dict(zip("ifzo", sizes, strict=True))
    rows = [torch.full((d,), value, dtype=torch.float64) for value in (0.5, 2.0, *sizes)]
    found = lstm_constants(LSTMBounds(input_bound, *rows), input_size=d_in, inputs=(1.0,) * 4)
    xi = sqrt(d + d_in * input_bound**2 + 1)

    def before(k, gate):
        slope, curve = torch.zeros(5, dtype=torch.float64), torch.zeros(5, 5, dtype=torch.float64)
        slope[0], slope[k + 1] = n[gate], xi
        curve[0, k + 1] = curve[k + 1, 0] = sqrt(d)
        return Jet(0.0, slope, curve)

    pre = {gate: before(k, gate) for k, gate in enumerate("ifzo")}
    logistic = (0.25, 1 / (6 * sqrt(3)))
    i, o = (pre[gate].through(1.0, *logistic) for gate in "io")
    f, z = pre["f"].through(0.5, *logistic), pre["z"].through(1.0, 1.0, 4 / (3 * sqrt(3)))
    memory = Jet(2.0, torch.eye(5, dtype=torch.float64)[0], torch.zeros(5, 5, dtype=torch.float64))
    c = i * z + f * memory
    c.slope[0] = 0.5 * (1 + n["f"]) + max(n["z"], n["i"] / 4)  # the gain is known better than by the rules
    h = o * c.through(1.0, 1.0, 4 / (3 * sqrt(3)))
    assert found.by_states == pytest.approx(h.curve[0, 0].item(), rel=1e-9)
    assert found.by_state_and_weights == pytest.approx(h.curve[0, 1:].norm().item(), rel=1e-9)
    assert found.by_weights_twice == pytest.approx(torch.linalg.matrix_norm(h.curve[1:, 1:], 2).item(), rel=1e-9)
    by_rules = h.slope[1:].norm().item()
    assert found.by_weights <= by_rules * (1 + 1e-12)
    assert found.by_weights >= 0.9 * by_rules


NAMES = ("forget", "w_i", "w_f", "w_z", "w_o")


@given(st.floats(0.1, 0.9), st.integers(1, 3), st.integers(1, 3), st.floats(0, 2), st.integers(0, 2**32))
@settings(max_examples=25)
def test_the_projection_within_bounds(rate, d_in, d, input_bound, seed):
    """It leads into the set, leaves what is there, and the angle to every other cell of the set is not acute."""
    inner, outer = (stable_cell("lstm", rate, d_in, d, seed + one) for one in (0, 7))
    bounds, before = lstm_bounds(inner, input_bound), vector(outer)
    with torch.no_grad():
        for parameter in outer.parameters():
            parameter.add_(draw(*parameter.shape, seed=seed + 3))
        before = vector(outer)
    assert project_within(outer, bounds) is outer
    for name in NAMES:
        assert (getattr(lstm_bounds(outer, input_bound), name) <= getattr(bounds, name)).all()
    nearest = vector(outer)
    project_within(outer, bounds)
    torch.testing.assert_close(vector(outer), nearest, rtol=1e-12, atol=1e-12)
    project_within(inner, bounds)
    for share in (0.0, 0.5, 0.9):
        member = vector(moved(inner, outer, share))
        assert (before - nearest) @ (member - nearest) <= 1e-10 * (1 + before.norm() ** 2)


def test_what_constants_are_for_unless_told_otherwise():
    for kind in KINDS:
        cell = stable_cell(kind, 0.7, 2, 3)
        assert constants(cell) == constants(cell, input_bound=1.0, h0_bound=0.0)
    sizes = {"width": 3, "recurrent": 0.1, "inputs": 1.0, "drive": 0.2, "input_norm": 1.0}
    assert simple_constants(**sizes) == simple_constants(**sizes, activation="tanh", h0_bound=0.0)
    assert simple_constants(**sizes).state_bound < simple_constants(**sizes, h0_bound=0.9).state_bound
    bounds = lstm_bounds(stable_cell("lstm", 0.3))
    found = lstm_constants(bounds, input_size=1, inputs=(1.0,) * 4)
    assert found == lstm_constants(bounds, input_size=1, inputs=(1.0,) * 4, drive_bound=1.0, h0_bound=0.0)


def test_the_drive_of_saturated_gates_is_one():
    """The numbers written are 1 up to a rounding, and none is larger."""
    cell = stable_cell("lstm", 0.7, 2, 3)
    with torch.no_grad():
        cell.b_i.fill_(60.0)
        cell.b_z.fill_(60.0)
    assert constants(cell).drive_bound == 1


@pytest.mark.parametrize("input_bound", [0.3, 2.0])
def test_the_constants_of_an_lstm_are_those_of_its_bounds(input_bound):
    cell = stable_cell("lstm", 0.7, 2, 3)
    written = max(
        (cell.b_i[j] + input_bound * cell.U_i[j].abs().sum()).sigmoid().item()
        * (cell.b_z[j].abs() + input_bound * cell.U_z[j].abs().sum()).tanh().item()
        for j in range(3)
    )
    rows = [getattr(cell, f"U_{gate}").detach().abs().sum(1).max().item() for gate in "ifzo"]
    found = constants(cell, input_bound=input_bound)
    by_hand = lstm_constants(lstm_bounds(cell, input_bound), input_size=2, inputs=rows, drive_bound=written)
    assert astuple(found)[:-1] == pytest.approx(astuple(by_hand)[:-1], rel=1e-11)
    assert found.drive_bound > written
    largest = constants(cell, input_bound=input_bound, h0_bound=0.5).state_bound
    assert largest == lstm_bounds(cell, input_bound).memory_bound


@pytest.mark.parametrize("name", "WUb")
@pytest.mark.parametrize("kind", ["tanh", "lstm"])
def test_what_is_not_finite_is_named(kind, name):
    cell = stable_cell(kind)
    with torch.no_grad():
        getattr(cell, name).flatten()[-1] = inf
    known = lstm_bounds(stable_cell("lstm"))
    with pytest.raises(ValueError, match=f"^nothing is certified for {name} of the {type(cell).__name__}, which holds"):
        constants(cell)
    if kind == "lstm":
        with pytest.raises(ValueError, match=f"^nothing is certified for {name} of the LSTMCell, which"):
            project_within(cell, known)


FIELDS = ["rate", "by_input", "by_weights", "by_states", "by_state_and_weights", "by_weights_twice", "drive_bound"]


@pytest.mark.parametrize("name", [*FIELDS, "state_bound"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_no_constant_is_negative(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be a number of at least 0, got {value}"):
        Constants(**{**dict.fromkeys([*FIELDS, "state_bound"], 0.0), name: value})
    assert Constants(**dict.fromkeys([*FIELDS, "state_bound"], 0.0)).norm == 2


@pytest.mark.parametrize("name", ["recurrent", "inputs", "drive", "input_norm", "h0_bound"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_no_size_is_negative(name, value):
    sizes = dict.fromkeys(["recurrent", "inputs", "drive", "input_norm"], 1.0)
    with pytest.raises(ValueError, match=f"^{name} must be a number of at least 0, got {value}"):
        simple_constants(width=2, **{**sizes, name: value})


class Nameless:
    def __call__(self, a):
        return a


WITHIN = lstm_bounds(LSTMCell(1, 2, **DOUBLE))
TWO, THREE = (SimpleCell(1, d, **DOUBLE) for d in (2, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: constants(), "^constants need at least one cell$"),
        (lambda: constants(GRUCell(1, 2, **DOUBLE)), "^no constants are known for GRUCell"),
        (
            lambda: constants(SimpleCell(1, 2, "relu", **DOUBLE)),
            "of 'relu' is not bounded: use tanh, sigmoid, identity",
        ),
        (lambda: constants(SimpleCell(1, 2, torch.sin, **DOUBLE)), "derivative of 'sin' is"),
        (lambda: constants(SimpleCell(1, 2, Nameless(), **DOUBLE)), "derivative of 'an activation' is"),
        (lambda: constants(TWO, THREE), re.escape(f"one kind and size, got {TWO}, {THREE}")),
        (lambda: constants(SimpleCell(1, 2, **DOUBLE), LinearCell(1, 2, **DOUBLE)), "one kind and size"),
        (lambda: constants(LinearCell(1, 2, **DOUBLE), input_bound=-1.0), "^input_bound must"),
        (lambda: constants(LinearCell(1, 2, **DOUBLE), h0_bound=-1.0), "^h0_bound must be a number"),
        (lambda: constants(LSTMCell(1, 2, **DOUBLE), h0_bound=2.0), "^h0_bound must lie between 0 and 1 for an LSTM"),
        (
            lambda: lstm_constants(lstm_bounds(LSTMCell(1, 2, **DOUBLE)), input_size=1, inputs=(1, 1, 1)),
            "four row sums.*got 3",
        ),
        (lambda: constants(LSTMCell(1, 2, **DOUBLE), h0_bound=float("nan")), "^h0_bound must lie between 0 and 1"),
        (
            lambda: lstm_constants(WITHIN, input_size=1, inputs=(1,) * 4, drive_bound=1.5),
            "^drive_bound must lie between",
        ),
        (
            lambda: lstm_constants(WITHIN, input_size=1, inputs=(1,) * 4, drive_bound=-0.5),
            "^drive_bound must lie between",
        ),
        (lambda: project_within(LSTMCell(1, 3, **DOUBLE), WITHIN), "^the bounds are of 2 units, and LSTMCell.* has 3$"),
        (lambda: simple_constants(width=2, recurrent=-1, inputs=1, drive=1, input_norm=1), "^recurrent"),
        (
            lambda: simple_constants(width=0, recurrent=1, inputs=1, drive=1, input_norm=1),
            "^width must be an integer of at least 1",
        ),
        (lambda: Constants(0.5, 1, 1, 1, 1, 1, 1, 1, 3), "^norm must be one of 2"),
        (lambda: LossConstants(-1.0, 1.0), "^lipschitz must be a number of at least 0, got -1"),
        (lambda: LossConstants(1.0, float("nan")), "^smoothness must be a number"),
    ],
)
def test_bad_input(call, words, unchecked):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("name", "part", "W", "U", "b", "state", "x"),
    [
        ("rate", 0.99, (0, -0.513, 0, 0), (0, 0, 0, 0), (40, -1, 2, -2), (-1, 1.614), 0),
        ("by_input", 0.99, (-1.957, 0.097, 0.082, 0.015), (0, -0.046, 0, 0), (4, -3, 1, 40), (1, -1.05744), -1),
        ("by_weights", 0.99, (0.066, -0.147, -0.034, 0.713), (0, -0.445, 0, 0), (40, -3, 0, -2), (0, 0), -1),
        ("by_states", 0.99, (0, 0, 0, 0), (0, 0, 0, 0.058), (0, -1, 4, 40), (0, 0.68348), 0),
        ("by_state_and_weights", 0.8, (0, -0.07, 0, 0.107), (1.735, 0, 0.164, 0), (40, -3, 0, -2), (-0.171, 0.171), 0),
        ("by_weights_twice", 0.45, (1.108, 0, -0.455, 0), (0, 0, 0.207, 0), (4, -3, 0, 2), (0.201, -0.402), -1),
    ],
)
def test_an_lstm_nearly_reaches_each_constant(name, part, W, U, b, state, x):
    """In the stated set; a constant that were ten times larger than needed would be noticed."""
    cell = LSTMCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter, values in zip(cell.parameters(), (W, U, b), strict=True):
            parameter.copy_(torch.tensor(values, **DOUBLE).reshape(parameter.shape))
    found, h, x = constants(cell), torch.tensor(state, **DOUBLE), torch.tensor([x], **DOUBLE)
    assert abs(state[0]) <= min(1, found.state_bound)
    assert abs(state[1]) <= lstm_bounds(cell).memory.item()
    names = [field.name for field in fields(Constants)][:6]
    measured = dict(zip(names, first_order(cell, h, x, "max") + second_order(cell, h, x, "max"), strict=True))
    assert part * getattr(found, name) <= measured[name] <= getattr(found, name) * (1 + 1e-9)


@given(st.floats(0.2, 0.98), st.integers(1, 2), st.integers(0, 2**32), st.floats(0.1, 3), st.floats(0, 2))
@settings(max_examples=20)
def test_the_constants_of_an_lstm_hold_in_all_of_their_set(rate, d, seed, size, input_bound):
    """With memories of up to 1 / (1 - F_j), further than any run gets."""
    cell = stable_cell("lstm", rate, 1, d, seed, size)
    found, memory = constants(cell, input_bound=input_bound), lstm_bounds(cell, input_bound).memory
    for edge in (0, 1):
        part = uniform(2 * d, seed=seed + edge)
        part = part.sign() if edge else part
        h = part * torch.cat([torch.full((d,), min(1.0, found.state_bound), **DOUBLE), memory])
        x = input_bound * uniform(1, seed=seed + 2 + edge).sign()
        measured = first_order(cell, h, x, "max") + second_order(cell, h, x, "max")
        for value, bound in zip(measured, astuple(found)[:6], strict=True):
            assert value <= bound * (1 + 1e-9) + 1e-12


def test_beyond_their_set_the_constants_of_an_lstm_are_false():
    """Its runs from 0 stay in 0, and what its weights can do at h = 1 is not what they can do there."""
    cell = LSTMCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.zero_()
        cell.b_i.fill_(40.0)
        cell.b_f.fill_(-40.0)
        cell.b_o.fill_(40.0)
    found, x = constants(cell, input_bound=0.0), torch.zeros(1, **DOUBLE)
    assert found.state_bound == 0
    inside, outside = (first_order(cell, torch.tensor([h, 0.0], **DOUBLE), x, "max")[2] for h in (0.0, 1.0))
    assert inside <= found.by_weights < 0.9 * outside
