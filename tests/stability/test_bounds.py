"""The lemmas: nothing measured on random stable cells exceeds its bound; closed forms of the scalar linear cell."""

from functools import partial
from math import inf, log, log1p, prod

import pytest
import torch
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import DOUBLE, draw
from stable_cells import KINDS, moved, stable_cell, step_of, uniform, vector

from fhx.cells import LinearCell
from fhx.dynamics import unroll
from fhx.stability import (
    Constants,
    LossConstants,
    constants,
    descend,
    gradient_bound,
    gradient_gap,
    gradient_gap_bound,
    gradient_lipschitz_bound,
    lstm_bounds,
    lstm_constants,
    output_gap_bound,
    project,
    project_within,
    rounding_term,
    state_gap_bound,
    step_sizes,
    tanh_gradient_lipschitz_bound,
    truncated_states,
    weight_gap_bound,
    weight_gap_bound_harmonic,
    weight_gap_bound_power_law,
    window_for_output_gap,
)
from fhx.stability.smoothness import TANH_CURVE

RECIPE = st.tuples(
    st.sampled_from(KINDS),
    st.floats(0.02, 0.98),
    st.integers(1, 2),
    st.integers(1, 3),
    st.integers(0, 2**32),
    st.floats(0.1, 2),
)


def order(kind):
    return inf if kind == "lstm" else 2


def data(kind, d_in, d, seed, bound=1.0, time=40):
    """Inputs within the bound, a loss of the state and its constants in the cell's norm."""
    inputs = bound * uniform(time, 3, d_in, seed=seed)
    inputs = inputs.sign() * bound if seed % 2 else inputs
    readout, target = draw(d, seed=seed + 1), draw(3, seed=seed + 2)
    size = readout.norm(p=1 if kind == "lstm" else 2).item()

    def loss(h):
        return (torch.sqrt(1 + (h @ readout - target) ** 2) - 1).mean()

    return inputs, loss, LossConstants.pseudo_huber(size)


def gradient(cell, inputs, loss, h0=None):
    value = loss(cell.hidden(unroll(cell, inputs, h0)[-1]))
    return torch.cat([part.flatten() for part in torch.autograd.grad(value, list(cell.parameters()))])


def floor(found, size):
    """What rounding may add to the difference of two computed runs whose numbers are no larger than size."""
    return 2 * rounding_term(found.rate, size, 200)


@pytest.mark.claim("B6")
@given(RECIPE, st.integers(1, 45), st.floats(0, 2), st.booleans())
@settings(max_examples=30)
def test_states_differ_by_no_more_than_the_bound(recipe, k, bound, begun):
    kind, rate, d_in, d, seed, size = recipe
    cell = stable_cell(kind, rate, d_in, d, seed, size)
    inputs = data(kind, d_in, d, seed, bound)[0]
    h0 = uniform(cell.state_width, seed=seed) if begun else torch.zeros(cell.state_width, **DOUBLE)
    found = constants(cell, input_bound=bound, h0_bound=h0.norm(p=order(kind)).item())
    difference = (unroll(cell, inputs, h0) - truncated_states(cell, inputs, k, h0)).detach()
    measured = torch.linalg.vector_norm(difference, order(kind), -1).max().item()
    assert measured <= state_gap_bound(found, k) + floor(found, 1 + found.state_bound)


@pytest.mark.claim("B8")
@given(RECIPE, st.integers(1, 30), st.floats(0, 2))
@settings(max_examples=30)
def test_gradients_differ_by_no_more_than_the_bound(recipe, k, bound):
    kind, rate, d_in, d, seed, size = recipe
    cell = stable_cell(kind, rate, d_in, d, seed, size)
    inputs, loss, loss_constants = data(kind, d_in, d, seed, bound)
    found = constants(cell, input_bound=bound)
    largest = gradient_bound(found, loss_constants)
    assert gradient(cell, inputs, loss).norm() <= largest
    bounded = gradient_gap_bound(found, loss_constants, k) + floor(found, 1 + largest)
    assert gradient_gap(cell, inputs, loss, k) <= bounded
    assert gradient_gap(cell, inputs, lambda h: torch.stack([loss(one) for one in h]).mean(), k, True) <= bounded


@pytest.mark.claim("B9")
@given(RECIPE, st.floats(0, 2), st.floats(-6, 0), st.none() | st.integers(1, 20))
@settings(max_examples=30)
def test_gradients_at_two_weights_differ_by_no_more_than_the_lipschitz_bound(recipe, bound, exponent, k):
    """Of the whole model and of every truncation, for weights far from one another and near."""
    kind, rate, d_in, d, seed, size = recipe
    cell, far = (stable_cell(kind, rate, d_in, d, seed + one, size) for one in (0, 9))
    other = moved(cell, far, 10**exponent)
    inputs, loss, loss_constants = data(kind, d_in, d, seed, bound)
    inputs = inputs if k is None else inputs[-k:]
    found = constants(cell, other, input_bound=bound)
    measured = (gradient(cell, inputs, loss) - gradient(other, inputs, loss)).norm().item()
    distance = (vector(cell) - vector(other)).norm().item()
    slack = floor(found, 1 + gradient_bound(found, loss_constants)) if found.rate < 1 else inf
    assert found.rate < 1 or kind == "lstm"  # the sizes of two stable LSTMs need not make a stable set
    if found.rate < 1:
        assert measured <= gradient_lipschitz_bound(found, loss_constants) * distance + slack


@pytest.mark.claim("B10", "B11")
@given(
    RECIPE, st.integers(1, 8), st.sampled_from(["1/t", "constant", "1/sqrt(t)"]), st.floats(-6, 0.5), st.integers(1, 5)
)
@settings(max_examples=25)
def test_weights_and_outputs_of_two_descents_differ_by_no_more_than_the_bounds(recipe, k, schedule, exponent, steps):
    """On the convex set that an LSTM is kept in; for other cells between all weights that the two descents visit."""
    kind, rate, d_in, d, seed, size = recipe
    cell = stable_cell(kind, rate, d_in, d, seed, size)
    inputs, loss, loss_constants = data(kind, d_in, d, seed, time=20)
    visited = [cell]
    sizes = step_sizes(schedule, 10**exponent, steps)

    def keep(model):
        project_within(model, lstm_bounds(cell)) if kind == "lstm" else project(model, rate)
        visited.append(moved(model, model, 0))

    done = descend(cell, inputs, loss, k, sizes, keep)
    within = lstm_constants(lstm_bounds(cell), input_size=d_in, inputs=(inf,) * 4) if kind == "lstm" else None
    found = within or constants(*visited)
    gap, smooth, slope = (
        gradient_gap_bound(found, loss_constants, k),
        gradient_lipschitz_bound(found, loss_constants),
        gradient_bound(found, loss_constants),
    )
    rounded = floor(found, 1 + slope)  # of either gradient
    for t in range(steps + 1):
        bound = weight_gap_bound(gap + rounded, smooth, sizes[:t], slope + rounded)
        assert done.weights[t] <= bound + floor(found, 1 + vector(cell).norm().item())
    assert (done.gradients <= gap + smooth * done.weights[:-1] + rounded).all()
    with torch.no_grad():
        ends = [unroll(done.cell, inputs)[-1], unroll(done.truncated, inputs[-k:])[-1]]
    measured = torch.linalg.vector_norm(cell.hidden(ends[0] - ends[1]), order(kind), -1).max().item()
    slack = floor(found, 1 + found.state_bound + found.sensitivity * (1 + slope) * (1 + sum(sizes)))
    assert measured <= output_gap_bound(found, loss_constants, k, sizes) + slack


def line(rate, state=None):
    """The scalar linear cell h = a h + x with only a trained: the derivatives of one step are h and 1."""
    size = 1 / (1 - rate) if rate < 1 else inf
    return Constants(rate, 1.0, size, 0.0, 1.0, 0.0, 1.0, size if state is None else state)


def run(a, inputs):
    h = torch.zeros((), **DOUBLE)
    for x in inputs:
        h = a * h + x
    return h


IDENTITY = LossConstants(1.0, 0.0)


@pytest.mark.claim("B6", "B8")
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_lemmas_1_and_2_are_met_by_the_scalar_linear_cell(rate, k):
    """With ones for inputs and the state itself for a loss nothing is lost: neither a power nor a constant."""
    a, ones = torch.tensor(rate, requires_grad=True, **DOUBLE), torch.ones(400, **DOUBLE)
    whole, cut = run(a, ones), run(a, ones[:k])
    assert (whole - cut).item() == pytest.approx(state_gap_bound(line(rate), k), rel=1e-11)
    gap = torch.autograd.grad(whole - cut, a)[0].item()
    assert gap == pytest.approx(gradient_gap_bound(line(rate), IDENTITY, k), rel=1e-11)
    by_hand = rate**k / (1 - rate) ** 2 + k * rate ** (k - 1) / (1 - rate)
    assert gap == pytest.approx(by_hand, rel=1e-11)


@pytest.mark.claim("B8")
def test_no_multiple_of_k_rate_to_the_k_bounds_the_gradients():
    """At the rate 0 the source's right side is 0; the gradients differ by the state that the truncation misses."""
    cell = LinearCell(1, 1, **DOUBLE)
    with torch.no_grad():
        for parameter, value in zip(cell.parameters(), (0.0, 1.0, 0.0), strict=True):
            parameter.fill_(value)
    inputs = torch.ones(2, 1, 1, **DOUBLE)
    assert gradient_gap(cell, inputs, lambda h: h.sum(), 1) == 1.0
    assert gradient_gap_bound(line(0.0), IDENTITY, 1) == pytest.approx(1.0)
    assert gradient_gap_bound(line(0.0), IDENTITY, 2) == 0.0


@given(st.floats(0, 0.95), st.lists(st.floats(0, 3), min_size=7, max_size=7), st.integers(1, 25))
def test_the_lemmas_solve_their_recursions(rate, sizes, k):
    """What the derivatives' differences obey step by step, solved by a loop."""
    weights, hh, hw, ww, state, slope, curve = sizes
    cell, loss = Constants(rate, 1, weights, hh, hw, ww, 1, state), LossConstants(slope, curve)
    change = weights / (1 - rate)
    states, derivatives, seen = state, change, 0.0
    for j in range(k):
        derivatives = rate * derivatives + (hh * (change if j else 0.0) + hw) * states
        states *= rate
    measured = slope * derivatives + curve * states * change
    assert gradient_gap_bound(cell, loss, k) == pytest.approx(measured, rel=1e-9, abs=1e-12)
    states = derivatives = 0.0
    for _ in range(1000):
        derivatives = rate * derivatives + (hh * states + hw) * seen + hw * states + ww
        states, seen = rate * states + weights, rate * seen + weights
    measured = slope * derivatives + curve * states * seen
    assert gradient_lipschitz_bound(cell, loss) == pytest.approx(measured, rel=1e-9, abs=1e-12)


@pytest.mark.claim("B9")
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_lipschitz_bound_of_gradients_is_met_by_the_scalar_linear_cell(rate):
    """The second derivatives of h = 1 / (1 - a) and of h^2 / 2, by hand and by autograd."""
    a, ones = torch.tensor(rate, requires_grad=True, **DOUBLE), torch.ones(600, **DOUBLE)
    size = 1 / (1 - rate)
    for loss, found, wanted in (
        (lambda h: h, IDENTITY, 2 * size**3),
        (lambda h: h**2 / 2, LossConstants(size, 1.0), 3 * size**4),
    ):
        slope = torch.autograd.grad(loss(run(a, ones)), a, create_graph=True)[0]
        measured = torch.autograd.grad(slope, a)[0].item()
        assert measured == pytest.approx(wanted, rel=1e-10)
        assert gradient_lipschitz_bound(line(rate), found) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.claim("B9")
def test_the_power_in_the_lipschitz_bound_of_gradients_is_four():
    """A loss that is 1-Lipschitz and 1-smooth, on the linear cell: the curvature is (1 - a)^-4 where its slope is 0."""
    measured, gaps = [], [0.1, 0.03, 0.01]
    for gap in gaps:
        a = torch.tensor(1 - gap, requires_grad=True, **DOUBLE)
        h = run(a, torch.ones(int(40 / gap), **DOUBLE))
        loss = torch.sqrt(1 + (h - h.item()) ** 2)
        slope = torch.autograd.grad(loss, a, create_graph=True)[0]
        measured.append(torch.autograd.grad(slope, a)[0].item())
        assert measured[-1] == pytest.approx(gap**-4, rel=1e-8)
        bound = gradient_lipschitz_bound(line(1 - gap), LossConstants(1.0, 1.0))
        assert measured[-1] <= bound <= (1 + 2 * gap) * measured[-1] * (1 + 1e-6)
    assert measured[2] * gaps[2] ** 3 > 9 * measured[0] * gaps[0] ** 3


@pytest.mark.claim("B10")
@given(*(st.just(0.0) | st.floats(1e-6, most) for most in (3, 4, 2)), st.integers(1, 40))
def test_the_recursion_its_power_and_the_source(gap, smoothness, alpha, steps):
    sizes = step_sizes("1/t", alpha, steps)
    found = weight_gap_bound(gap, smoothness, sizes)
    power = weight_gap_bound_harmonic(gap, smoothness, alpha, steps)
    if smoothness > 1e-3:
        product = gap / smoothness * (prod(1 + size * smoothness for size in sizes) - 1)
        assert found == pytest.approx(product, rel=1e-7, abs=1e-9)
        closed = gap / smoothness * ((1 + alpha * smoothness) * steps ** (alpha * smoothness) - 1)
        assert power == pytest.approx(closed, rel=1e-7, abs=1e-9)
    assert found <= power * (1 + 1e-9)
    if smoothness:
        assert power <= weight_gap_bound_power_law(gap, smoothness, alpha, steps) * (1 + 1e-9) + 1e-300
    assert weight_gap_bound(gap, smoothness, sizes, 0.5) <= min(found, sum(sizes) * (1 + 1e-9))


def test_one_step_is_exact_and_the_power_is_not_one_more():
    assert weight_gap_bound_harmonic(0.3, 2.0, 0.5, 1) == pytest.approx(0.15)
    assert weight_gap_bound_power_law(0.3, 2.0, 0.5, 1) == pytest.approx(0.15)
    far = [weight_gap_bound(1.0, 2.0, step_sizes("1/t", 0.5, n)) for n in (1000, 4000)]
    assert log(far[1] / far[0]) / log(4) == pytest.approx(1.0, abs=0.01)  # alpha beta = 1, not 2


@pytest.mark.claim("B10")
def test_two_losses_that_meet_the_bound_of_weights():
    """Slopes -beta w and -beta w - E: the recursion is what happens, for every schedule."""
    gap, smoothness = 0.2, 1.5
    for schedule in ("1/t", "constant", "1/sqrt(t)"):
        sizes, w, other = step_sizes(schedule, 0.4, 12), 0.7, 0.7
        for size in sizes:
            w, other = w + size * smoothness * w, other + size * (smoothness * other + gap)
        assert other - w == pytest.approx(weight_gap_bound(gap, smoothness, sizes), rel=1e-12)


@pytest.mark.claim("B12")
def test_without_a_slower_step_the_bound_grows_exponentially():
    """With a constant step every further step multiplies it; with 1/t twice the steps do."""
    growth = {
        schedule: weight_gap_bound(1.0, 1.0, step_sizes(schedule, 1.0, 60))
        / weight_gap_bound(1.0, 1.0, step_sizes(schedule, 1.0, 30))
        for schedule in ("1/t", "1/sqrt(t)", "constant")
    }
    assert growth["1/t"] == pytest.approx(2, rel=1e-9)
    assert growth["1/sqrt(t)"] > 20
    assert growth["constant"] == pytest.approx(2**30, rel=1e-6)


@given(st.floats(0, 0.97), st.floats(0.01, 3), st.floats(0, 1), st.floats(-6, 3), st.integers(0, 20), st.floats(0.1, 2))
@settings(max_examples=30)
def test_the_window_for_an_output_gap_is_long_enough_and_no_longer(rate, weights, curve, exponent, steps, alpha):
    cell = Constants(rate, 1, weights, curve, 1, curve, 1, 1 / (1 - rate))
    loss, eps = LossConstants(1.0, 0.5), 10**exponent
    sizes = step_sizes("1/t", alpha / (1 + gradient_lipschitz_bound(cell, loss)), steps) if steps else []
    k = window_for_output_gap(cell, loss, eps, sizes, 2.0)

    def outputs(k):
        distance = weight_gap_bound(gradient_gap_bound(cell, loss, k), gradient_lipschitz_bound(cell, loss), sizes)
        return 2 * (cell.sensitivity * distance + state_gap_bound(cell, k))

    assert all(outputs(j) <= eps * (1 + 1e-6) for j in range(k, k + 40))
    assert k == 1 or outputs(k - 1) > eps * (1 - 1e-6)
    assert output_gap_bound(cell, loss, k, sizes, 2.0) <= eps * (1 + 1e-6)


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("second", [0.0, 0.3])
@pytest.mark.parametrize("sizes", [[], [0.0, 0.0], [0.02, 0.01], [1.0, 0.5, 0.25]])
@pytest.mark.parametrize("lipschitz", [1.0, 2.0])
def test_the_window_is_the_first(rate, second, sizes, lipschitz):
    """For outputs a millionth nearer or farther than what some window promises."""
    cell, loss = Constants(rate, 1.0, 0.7, second, second, second, 1.0, 1.5), LossConstants(0.8, second)

    def outputs(k):
        distance = weight_gap_bound(gradient_gap_bound(cell, loss, k), gradient_lipschitz_bound(cell, loss), sizes)
        return lipschitz * (cell.sensitivity * distance + state_gap_bound(cell, k))

    promised = [outputs(k) for k in range(1, 400)]
    for k in (1, 2, 3, 17):
        for part in (1 - 1e-6, 1 + 1e-6):
            if eps := part * promised[k - 1]:
                first = 1 + max((j for j, one in enumerate(promised, 1) if one > eps), default=0)
                assert window_for_output_gap(cell, loss, eps, sizes, lipschitz) == first
                assert lipschitz > 1 or window_for_output_gap(cell, loss, eps, sizes) == first


def test_a_window_beyond_all_floats():
    cell, sizes = line(0.99), step_sizes("1/t", 1.0, 1000)
    smooth = gradient_lipschitz_bound(cell, LossConstants(1.0, 1.0))
    assert weight_gap_bound(1.0, smooth, sizes) == inf
    growth = sum(log1p(size * smooth) for size in sizes)
    k = window_for_output_gap(cell, LossConstants(1.0, 1.0), 1e-3, sizes)
    assert k == pytest.approx(growth / -log(0.99), rel=0.2)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_rounding_of_a_run(rate):
    """In float32 the scalar cell stays within the term; its truncation stops getting nearer while the lemma falls."""
    gap = rounding_term(rate, 1 / (1 - rate) + 1, 2, torch.float32)
    inputs = uniform(3000, seed=3).float()
    exact, rounded = torch.zeros((), **DOUBLE), torch.zeros((), device=inputs.device)
    for x in inputs:
        exact, rounded = float(torch.tensor(rate)) * exact + x.double(), torch.tensor(rate) * rounded + x
        assert (exact - rounded).abs() <= gap


def test_what_is_measured_stops_at_the_rounding():
    """Two float32 runs with one input, from below and from above, never meet at the rate 0.99."""
    low, high, rate = torch.tensor(0.0), torch.tensor(200.0), torch.tensor(0.99)
    for _ in range(5000):
        low, high = rate * low + 1, rate * high + 1
    eps = torch.finfo(torch.float32).eps
    assert 200 * 0.99**5000 < 1e-19
    assert 0.1 < (high - low).item() / (100 * eps / (1 - 0.99)) < 2
    assert high - low <= 2 * rounding_term(0.99, 101.0, 2, torch.float32)


def test_a_state_that_is_not_bounded_bounds_nothing():
    endless = Constants(0.5, 1, inf, 0, 1, 0, inf, inf)
    assert state_gap_bound(endless, 3) == inf
    assert gradient_gap_bound(endless, IDENTITY, 3) == inf


def test_nothing_times_infinity_is_nothing():
    """Where no step is made, or none that differs, what is not bounded does not matter."""
    steep, curved = Constants(0.5, 1, inf, 1, 1, 1, 1, 2.0), LossConstants(1.0, 1.0)
    assert weight_gap_bound(1.0, inf, [0.5]) == pytest.approx(0.5)
    assert weight_gap_bound(inf, 1.0, [0.0, 0.0]) == 0
    assert weight_gap_bound(1.0, inf, [0.5, 0.5]) == inf
    assert weight_gap_bound(1.0, inf, [0.5, 0.5], 3.0) == pytest.approx(3.5)
    assert weight_gap_bound_harmonic(0.0, 1.0, 1e3, 10**6) == weight_gap_bound_power_law(0.0, 1.0, 1e3, 10**6) == 0
    assert weight_gap_bound_harmonic(inf, 1.0, 0.0, 3) == weight_gap_bound_power_law(inf, 1.0, 0.0, 3) == 0
    assert weight_gap_bound_harmonic(1.0, 1.0, 1e3, 10**6) == weight_gap_bound_power_law(1.0, 1.0, 1e3, 10**6) == inf
    assert output_gap_bound(steep, curved, 2, [], 3.0) == pytest.approx(3 * 0.25 * 2.0)
    assert gradient_gap_bound(Constants(0.5, 1, 1, 0, 1, 0, 1, inf), LossConstants(0.0, 0.0), 2) == inf
    assert Constants(1.0, 1, 1, 0, 1, 0, 1, 1).sensitivity == inf


def test_constants_are_in_a_norm_that_every_cell_has():
    assert Constants(0.5, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, norm=inf).norm == "max"
    with pytest.raises(ValueError, match=r"^norm must be 2 or \"max\", got 'lyapunov'"):
        Constants(0.5, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, norm="lyapunov")


CELL, ENDLESS = line(0.5), "^no window is long enough: the constants are not finite$"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (partial(state_gap_bound, CELL, 0), "^k must be an integer of at least 1"),
        (partial(state_gap_bound, Constants(1.0, 1, 1, 0, 1, 0, 1, inf), 1), "rate"),
        (partial(gradient_gap_bound, CELL, IDENTITY, 0), "^k must be an integer of at least 1"),
        (partial(gradient_gap_bound, Constants(1.5, 1, 1, 0, 1, 0, 1, 1), IDENTITY, 1), "rate"),
        (partial(gradient_lipschitz_bound, Constants(1.0, 1, 1, 0, 1, 0, 1, 1), IDENTITY), "rate"),
        (partial(gradient_bound, Constants(1.0, 1, 1, 0, 1, 0, 1, 1), IDENTITY), "rate"),
        (partial(weight_gap_bound, -1.0, 1.0, [1.0]), "^gap must be a number of at least 0, got -1"),
        (partial(weight_gap_bound, 1.0, float("nan"), [1.0]), "^smoothness must be a number"),
        (partial(weight_gap_bound, 1.0, 1.0, [1.0, -1.0]), "^step_size must be a number"),
        (partial(weight_gap_bound, 1.0, 1.0, [1.0], -1.0), "^gradient must be a number"),
        (partial(weight_gap_bound_harmonic, -1.0, 1.0, 1.0, 3), "^gap must be a number"),
        (partial(weight_gap_bound_harmonic, 1.0, -1.0, 1.0, 3), "^smoothness must be a number"),
        (partial(weight_gap_bound_harmonic, 1.0, 1.0, -1.0, 3), "^alpha must be a number"),
        (partial(weight_gap_bound_harmonic, 1.0, 1.0, 1.0, 0), "^steps must be an integer of at least 1"),
        (partial(weight_gap_bound_power_law, -1.0, 1.0, 1.0, 3), "^gap must be a number"),
        (partial(weight_gap_bound_power_law, 1.0, -1.0, 1.0, 3), "^smoothness must be a number"),
        (partial(weight_gap_bound_power_law, 1.0, 1.0, -1.0, 3), "^alpha must be a number"),
        (partial(weight_gap_bound_power_law, 1.0, 1.0, 1.0, 0), "^steps must be an integer of at least 1"),
        (partial(output_gap_bound, CELL, IDENTITY, 1, [], -1.0), "^output_lipschitz must be a number"),
        (partial(output_gap_bound, CELL, IDENTITY, 0, []), "^k must be an integer of at least 1"),
        (partial(window_for_output_gap, CELL, IDENTITY, 0.0, []), "^eps must be a positive number, got 0"),
        (partial(window_for_output_gap, CELL, IDENTITY, inf, []), "^eps must be a positive number, got inf"),
        (partial(window_for_output_gap, CELL, IDENTITY, 1.0, [], -1.0), "^output_lipschitz must be a number"),
        (partial(window_for_output_gap, CELL, IDENTITY, 1.0, [1.0, -1.0]), "^step size 2 must be a number"),
        (partial(window_for_output_gap, line(1.0, 1.0), IDENTITY, 1.0, []), "rate"),
        (partial(window_for_output_gap, line(0.5, inf), IDENTITY, 1.0, []), ENDLESS),
        (partial(window_for_output_gap, Constants(0.5, 1, inf, 0, 1, 0, 1, 1), IDENTITY, 1.0, []), ENDLESS),
        (partial(rounding_term, 0.5, -1.0, 3), "^size must be a number"),
        (partial(rounding_term, 1.0, 1.0, 3), "rate"),
        (partial(rounding_term, 0.5, 1.0, 0), "^operations must be an integer of at least 1"),
    ],
)
def test_bad_numbers_in_bounds(call, words, unchecked):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.claim("E14")
@settings(max_examples=25)
@given(st.floats(0.3, 0.97), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2**32), st.floats(0.1, 3))
def test_the_gradient_of_a_tanh_cell_has_the_power_two_and_a_half(rate, d, d_in, seed, size):
    """The second derivative of the last state along random changes of all weights, which may be 1 long."""
    cell = stable_cell("tanh", rate, d_in, d, seed, size)
    found = constants(cell)
    step, weights = step_of(cell), vector(cell).requires_grad_()
    h = torch.zeros(d, **DOUBLE)
    for x in uniform(60, d_in, seed=seed + 1).sign():
        h = step(h, x, weights)
    bound = tanh_gradient_lipschitz_bound(found, LossConstants(1, 0))
    for k in range(4):
        shown, first, second = (v / v.norm() for v in (draw(n, seed=seed + k) for n in (d, *2 * [len(weights)])))
        if k % 2:
            second = draw(len(weights), seed=seed + k + 9)
            second = second / second.norm()
        (slope,) = torch.autograd.grad(shown @ h, weights, create_graph=True)
        (bent,) = torch.autograd.grad(slope @ first, weights, retain_graph=True)
        assert abs(bent @ second) <= bound * (1 + 1e-9)


def test_the_tanh_bound_by_hand_and_beside_the_lemma():
    fixed = {"by_input": 0, "by_weights": 2, "by_states": TANH_CURVE, "by_state_and_weights": 1.0}
    for gap in (0.1, 1e-3, 1e-5):
        found = Constants(1 - gap, **fixed, by_weights_twice=0, drive_bound=1, state_bound=1)
        sharp = tanh_gradient_lipschitz_bound(found, LossConstants(3, 5))
        assert sharp == pytest.approx(3 * (8 / gap**2.5 + 4 / gap**2) + 20 / gap**2)
    assert sharp < 0.1 * gradient_lipschitz_bound(found, LossConstants(3, 5))
    with pytest.raises(ValueError, match="2-norm"):
        tanh_gradient_lipschitz_bound(evolve(found, norm="max"), LossConstants(1, 0))
