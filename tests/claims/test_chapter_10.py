"""The claims that chapter 10 settles: truncated states, gradients, descents and outputs; with stability and without."""

from itertools import pairwise, product
from math import ceil, gamma, log, sqrt

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tensors import rng

from fhx.cells import LinearCell, LSTMCell, SimpleCell
from fhx.dynamics import unroll
from fhx.machines import DFA
from fhx.stability import (
    Constants,
    LossConstants,
    constants,
    contraction_rate,
    descend,
    gradient_gap,
    gradient_gap_bound,
    gradient_lipschitz_bound,
    lstm_bounds,
    output_gap_bound,
    project,
    state_gap_bound,
    step_sizes,
    truncated_states,
    weight_gap_bound,
    window_for_output_gap,
)

DOUBLE = {"dtype": torch.float64}
KINDS = [LinearCell, SimpleCell]
CELLS = st.tuples(st.sampled_from(KINDS), st.floats(0.05, 0.95), st.integers(0, 2**32))
EPS = 1e-10  # far above what rounding does to these runs of at most 30 steps


@torch.no_grad()
def scalar(a: float, u: float = 1.0, b: float = 0.0) -> LinearCell:
    cell = LinearCell(1, 1, generator=rng(0), **DOUBLE)
    for weight, value in zip(cell.parameters(), (a, u, b), strict=True):
        weight.fill_(value)
    return cell


def ones(steps: int) -> torch.Tensor:
    return torch.ones(steps, 1, 1, **DOUBLE)


@torch.no_grad()
def stable(kind: type, rate: float, seed: int) -> SimpleCell | LinearCell:
    cell, generator = kind(2, 3, generator=rng(seed), **DOUBLE), rng(seed + 1)
    for weight in cell.parameters():
        weight.copy_(torch.randn(weight.shape, generator=generator, **DOUBLE))
    return project(cell, rate)


def problem(seed: int, steps: int = 30):
    """Inputs between -1 and 1, a pseudo-Huber loss and its constants."""
    generator = rng(seed)
    x = 2 * torch.rand(steps, 2, 2, generator=generator, **DOUBLE) - 1
    r, y = torch.randn(3, generator=generator, **DOUBLE), torch.randn(2, generator=generator, **DOUBLE)
    return x, lambda h: ((1 + (h @ r - y) ** 2).sqrt() - 1).mean(), LossConstants.pseudo_huber(r.norm().item())


def toy(a: float) -> Constants:
    """h = a h + x with |x| at most 1 and only a trained, by hand."""
    return Constants(a, 1.0, 1 / (1 - a), 0.0, 1.0, 0.0, 1.0, 1 / (1 - a))


def total(h: torch.Tensor) -> torch.Tensor:
    return h.sum()


# B6


@pytest.mark.claim("B6")
def test_b6_no_number_times_the_logarithm_is_enough():
    ratios = []
    for gap in (1e-1, 1e-2, 1e-3, 1e-4):
        k = ceil(log(gap * 0.01) / log(1 - gap))
        assert (1 - gap) ** (k - 1) / gap > 0.01
        ratios.append(k / log(1 / (gap * 0.01)))
    assert ratios[-1] > 9_000
    assert all(b > 9 * a for a, b in pairwise(ratios))
    assert k == 138_149


@pytest.mark.claim("B6")
def test_b6_a_bias_alone_parts_the_states():
    cell, nothing = scalar(0.5, b=1.0), torch.zeros(60, 1, 1, **DOUBLE)
    for k in (1, 2, 5):
        gap = unroll(cell, nothing)[-1] - truncated_states(cell, nothing, k)[-1]
        assert gap.item() == pytest.approx(2.0 ** (1 - k))
        assert state_gap_bound(constants(cell, input_bound=0.0), k) == pytest.approx(2.0 ** (1 - k))


@pytest.mark.claim("B6")
def test_b6_so_does_a_start_alone():
    one = torch.ones(1, 1, **DOUBLE)
    nothing = torch.zeros(40, 1, 1, **DOUBLE)
    for k in (1, 5):
        apart = unroll(scalar(0.5), nothing, one) - truncated_states(scalar(0.5), nothing, k, one)
        assert apart[k].item() == 0.5 ** (k + 1)
        assert apart.max().item() <= state_gap_bound(constants(scalar(0.5), input_bound=0.0, h0_bound=1.0), k) + EPS


# B8


@pytest.mark.claim("B8")
@pytest.mark.parametrize("k", [1, 2, 7])
def test_b8_with_a_bias_and_no_input_the_gradients_differ_as_they_do_with_ones(k):
    def slope(n):
        cell = scalar(0.5, b=1.0)
        return torch.autograd.grad(unroll(cell, torch.zeros(n, 1, 1, **DOUBLE))[-1].sum(), cell.W)[0].item()

    assert slope(60) - slope(k) == pytest.approx((k + 1) * 2 ** (2 - k))


@pytest.mark.claim("B8")
def test_b8_the_power_of_the_linear_cell_is_three():
    """A loss that is 1-Lipschitz and 1-smooth, with slope 0 at the full state."""
    scaled = []
    for gap in (0.1, 0.05, 0.025):
        a, k = 1 - gap, round(8 / gap)
        h, slope = (1 - a**k) / gap, (1 - a**k) / gap**2 - k * a ** (k - 1) / gap
        miss = h - 1 / gap
        difference = abs(miss / sqrt(1 + miss**2) * slope)
        cell = scalar(a)
        value = (1 + (unroll(cell, ones(k))[-1] - 1 / gap) ** 2).sqrt().sum()
        assert torch.autograd.grad(value, cell.W)[0].abs().item() == pytest.approx(difference, rel=1e-6)
        assert difference <= gradient_gap_bound(toy(a), LossConstants(1.0, 1.0), k)
        scaled.append(difference / a**k * gap**3)
    assert all(0.95 < value < 1.01 for value in scaled)


# B9


@pytest.mark.claim("B9")
def test_b9_a_scalar_tanh_cell_has_the_power_two_and_a_half():
    """The limit h = tanh(a h + b): its second derivative in b by differences, at h^2 = (1 - a) / 5."""
    sizes = []
    for gap in (1e-2, 1e-3):
        a, h = 1 - gap, sqrt(gap / 5)
        wanted = 2 * h * (1 - h**2) / (gap + a * h**2) ** 3

        def limit(b, a=a, h=h):
            for _ in range(50):  # Newton
                s = torch.tanh(torch.tensor(a * h + b, **DOUBLE)).item()
                h -= (h - s) / (1 - a * (1 - s**2))
            return h

        b, step = torch.atanh(torch.tensor(h, **DOUBLE)).item() - a * h, gap**1.5 / 100
        found = (limit(b + step) - 2 * limit(b) + limit(b - step)) / step**2
        assert abs(found) == pytest.approx(wanted, rel=1e-2)
        sizes.append(wanted)
    assert log(sizes[1] / sizes[0]) / log(10) == pytest.approx(2.5, abs=0.01)


@pytest.mark.claim("B9")
def test_b9_a_quadratic_step_meets_the_bound_at_the_power_three():
    """h = r h - h^2 / 4 + b on 0 to 1 at b = 0, with the constants L_theta = 1 and M_hh = 1/2 for every rate r."""
    for gap in (0.1, 0.05):
        b, h = torch.zeros((), requires_grad=True, **DOUBLE), torch.zeros((), **DOUBLE)
        for _ in range(round(30 / gap)):
            h = (1 - gap) * h - h * h / 4 + b
        (slope,) = torch.autograd.grad(h, b, create_graph=True)
        (bent,) = torch.autograd.grad(slope, b)
        assert bent.item() == pytest.approx(-0.5 / gap**3, rel=1e-9)
        known = Constants(1 - gap, 1.0, 1.0, 0.5, 0.0, 0.0, 0.25, 1.0)
        assert gradient_lipschitz_bound(known, LossConstants(1.0, 0.0)) == pytest.approx(0.5 / gap**3)


@pytest.mark.claim("B9")
def test_b9_the_constants_of_an_lstm_grow_with_its_forget_gates():
    """Only the forget bias is raised: powers 1, 5 and 3 of L_theta, of beta and of the bound of Lemma 2."""
    found = []
    for gap in (0.01, 0.001):
        cell = LSTMCell(1, 1, generator=rng(0), **DOUBLE).requires_grad_(False)
        for weight in cell.parameters():
            weight.zero_()
        cell.b_f[:] = log((1 - gap) / gap)
        cell.b_z[:] = 1
        known, loss = constants(cell), LossConstants(1.0, 0.0)
        found.append((known.by_weights, gradient_lipschitz_bound(known, loss), gradient_gap_bound(known, loss, 3)))
    powers = [log(far / near) / log(10) for near, far in zip(*found, strict=True)]
    assert powers == pytest.approx([1, 5, 3], abs=0.05)


def along(cell: LSTMCell, x: torch.Tensor, direction: dict[str, torch.Tensor], order: int) -> torch.Tensor:
    """The derivative of this order of the last (h, c) along a direction of the weights."""
    size = torch.zeros((), requires_grad=True, **DOUBLE)
    moved = {f"cell.{n}": weight.detach() + size * direction[n] for n, weight in cell.named_parameters()}
    numbers = torch.func.functional_call(Run(cell), moved, (x,))[0].unbind()
    for _ in range(order):
        numbers = [torch.autograd.grad(one, size, create_graph=True)[0] for one in numbers]
    return torch.stack([one.detach() for one in numbers])


class Run(torch.nn.Module):
    """The last state of a run from zero."""

    def __init__(self, cell: LSTMCell) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.new_zeros(x.shape[1], self.cell.state_width)
        for one in x:
            h = self.cell(h, one)
        return h


@torch.no_grad()
def open_lstm(d: int, gap: float, seed: int, recurrent: bool) -> LSTMCell:
    """Certified at 1 - gap, or with W = 0 and forget gates that open to it."""
    cell, generator = LSTMCell(2, d, generator=rng(seed), **DOUBLE), rng(seed + 1)
    for weight in cell.parameters():
        weight.copy_(torch.randn(weight.shape, generator=generator, **DOUBLE))
    cell.b_f.add_(log(1 / gap))
    return project(cell, 1 - gap, condition="rows") if recurrent else _without_recurrence(cell, gap)


def _without_recurrence(cell: LSTMCell, gap: float) -> LSTMCell:
    cell.W.zero_()
    room = log((1 - gap) / gap) - cell.U[cell.state_size : 2 * cell.state_size].abs().sum(1)
    cell.b_f.copy_(room)
    return cell


def directions(cell: LSTMCell, x: torch.Tensor, seed: int) -> list[dict[str, torch.Tensor]]:
    """Of length 1: random ones, and the one that moves the first memory most."""
    made = []
    for number in range(2):
        made.append(
            {n: torch.randn(w.shape, generator=rng(seed + number), **DOUBLE) for n, w in cell.named_parameters()}
        )
    slopes = torch.autograd.grad(Run(cell)(x)[0, cell.state_size], list(cell.parameters()))
    made.append(dict(zip((name for name, _ in cell.named_parameters()), slopes, strict=True)))
    lengths = [sum(part.square().sum() for part in one.values()).sqrt() for one in made]
    return [{n: part / size for n, part in one.items()} for one, size in zip(made, lengths, strict=True)]


@pytest.mark.claim("B9")
@given(st.integers(1, 3), st.sampled_from([0.5, 0.1, 0.02]), st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_b9_the_sensitivity_of_an_lstm_has_the_power_one(d, gap, seed):
    cell = open_lstm(d, gap, seed, recurrent=True)
    x = 2 * torch.rand(40, 1, 2, generator=rng(seed + 2), **DOUBLE).round() - 1
    bound = sqrt(2) * sqrt(d + 2 + 1) / (1 - lstm_bounds(cell).rate)
    for one in directions(cell, x, seed + 3):
        assert along(cell, x, one, 1).abs().max() <= bound * (1 + EPS)


@pytest.mark.claim("B9")
@given(st.integers(1, 3), st.sampled_from([0.5, 0.1, 0.02]), st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_b9_the_curvature_of_an_lstm_without_recurrence_has_the_power_two(d, gap, seed):
    cell = open_lstm(d, gap, seed, recurrent=False)
    F, xi = lstm_bounds(cell).forget_bound, sqrt(d + 2 + 1)
    assert abs(F - (1 - gap)) < 1e-9
    x = 2 * torch.rand(40, 1, 2, generator=rng(seed + 2), **DOUBLE).round() - 1
    for one in directions(cell, x, seed + 3):
        assert along(cell, x, one, 2).abs().max() <= (5 * sqrt(d) * xi + 8 * xi**2) / (1 - F) ** 2 * (1 + EPS)


@pytest.mark.claim("B9")
def test_b9_an_lstm_reaches_the_power_two():
    ends = []
    for gap in (0.1, 0.05):
        cell = LSTMCell(2, 1, generator=rng(0), **DOUBLE)
        with torch.no_grad():
            for weight in cell.parameters():
                weight.zero_()
            cell.b_f.fill_(log((1 - gap) / gap))
        direction = {name: torch.zeros_like(weight) for name, weight in cell.named_parameters()}
        direction["W"][2, 0] = direction["b"][2] = sqrt(0.5)
        ends.append(along(cell, torch.zeros(round(20 / gap), 1, 2, **DOUBLE), direction, 2)[0].item() * gap**2)
    assert ends == pytest.approx([1 / 16, 1 / 16], rel=1e-4)


# B10


@pytest.mark.claim("B10")
@pytest.mark.parametrize("size", [0.25, 0.025, 0.0025])
def test_b10_one_step_parts_the_weights_by_its_size_and_not_by_its_square(size):
    """On |a| <= size, where the rate is size: the source allows a number times size squared."""
    done = descend(scalar(0.0), ones(2), total, 1, [size], lambda cell: project(cell, size))
    assert done.weights[-1].item() == pytest.approx(size)
    assert contraction_rate(done.cell) <= size * (1 + 1e-9)
    assert done.truncated.W.item() == 0
    known = Constants(size, 1.0, 1 / (1 - size), 0.0, 1.0, 0.0, 1.0, 1 / (1 - size))
    loss = LossConstants(1.0, 0.0)
    assert weight_gap_bound(gradient_gap_bound(known, loss, 1), gradient_lipschitz_bound(known, loss), [size]) >= size


def trained(recipe, k, alpha, steps):
    """Two descents within one set, and the constants of all weights that they visit."""
    kind, rate, seed = recipe
    cell, (x, loss, sizes) = stable(kind, rate, seed), problem(seed)
    visited = [cell]

    def keep(model):
        copy = kind(2, 3, generator=rng(0), **DOUBLE)
        copy.load_state_dict(project(model, rate).state_dict())
        visited.append(copy)

    schedule = step_sizes("1/t", alpha, steps)
    return descend(cell, x, loss, k, schedule, keep), constants(*visited), x, loss, sizes, schedule


# B11


@pytest.mark.claim("B11")
def test_b11_the_window_of_the_theorem_grows_faster_than_its_logarithm():
    """beta log N / (1 - rate) where N is beyond beta: at the rate 1/2 against a rate of 9/10, for one N."""
    loss, eps, lengths, logarithms = LossConstants(0.01, 0.01), 1e-3, [], []
    for a in (0.1, 0.5, 0.7):
        beta = gradient_lipschitz_bound(toy(a), loss)
        gap = gradient_gap_bound(toy(a), loss, 1)
        lengths.append(window_for_output_gap(toy(a), loss, eps, step_sizes("1/t", 1.0, 2000)))
        logarithms.append(log(gap * 2000**beta / eps))
    ratios = [k / size for k, size in zip(lengths, logarithms, strict=True)]
    assert ratios[0] < ratios[1] < ratios[2]
    assert ratios[2] > 2 * ratios[0]


@pytest.mark.claim("B11")
def test_b11_with_a_constant_loss_no_number_times_the_logarithm_is_enough():
    """One descent step that moves nothing: the states of the two models differ by a^k / (1 - a)."""
    ratios = []
    for gap in (0.1, 0.01):
        x = ones(round(30 / gap))
        k = ceil(log(gap * 0.01) / log(1 - gap))
        for window in (k - 1, k):
            done = descend(scalar(1 - gap), x, lambda h: 0 * h.sum(), window, [1.0])
            apart = (unroll(done.cell, x)[-1] - unroll(done.truncated, x[-window:])[-1]).item()
            assert (apart <= 0.01) == (window == k)
        ratios.append(k / log(1 / (gap**2 * 0.01)))
    assert ratios[1] > 8 * ratios[0]


# B12


def gaussian(seed: int):
    generator = rng(seed)
    cell = SimpleCell(4, 8, generator=generator, **DOUBLE)
    with torch.no_grad():
        for weight in (cell.W, cell.U):
            weight.copy_(torch.randn(weight.shape, generator=generator, **DOUBLE) / sqrt(8))
        cell.b.zero_()
    x, y = torch.randn(40, 4, 4, generator=generator, **DOUBLE), torch.randn(4, generator=generator, **DOUBLE)
    r = torch.randn(8, generator=generator, **DOUBLE) / sqrt(8)
    return project(cell, 0.75), x, lambda h: (h @ r - y).square().mean() / 2


@pytest.mark.claim("B12")
@pytest.mark.parametrize("seed", range(3))
def test_b12_gradients_of_gaussian_instances_fall_exponentially(seed):
    cell, x, loss = gaussian(seed)
    gaps = [gradient_gap(cell, x, loss, k) for k in (5, 15, 25)]
    assert gaps[1] < 3 * 0.75**10 * gaps[0]
    assert gaps[2] < 2 * 0.75**10 * gaps[1]
    assert gaps[2] > 0


@pytest.mark.claim("B12")
@pytest.mark.parametrize("seed", range(2))
def test_b12_with_constant_steps_the_weights_do_not_part_exponentially(seed):
    cell, x, loss = gaussian(seed)
    done = descend(cell, x, loss, 10, step_sizes("constant", 0.2, 60), lambda model: project(model, 0.75))
    assert done.losses[-1] < 0.2 * done.losses[0]
    assert done.weights[60] < 2 * done.weights[30]
    assert weight_gap_bound(1.0, 1.0, [0.2] * 60) > 200 * weight_gap_bound(1.0, 1.0, [0.2] * 30)


@pytest.mark.claim("B12")
@given(st.sampled_from(["1/t", "constant", "1/sqrt(t)"]), st.floats(1e-3, 1), st.floats(1e-2, 3), st.integers(1, 60))
def test_b12_the_bound_depends_on_the_sum_of_the_steps(schedule, alpha, smoothness, steps):
    sizes = step_sizes(schedule, alpha, steps)
    length, q = smoothness * sum(sizes), alpha * smoothness
    grown = log(1 + smoothness * weight_gap_bound(1.0, smoothness, sizes))
    assert length / (1 + q) - 1e-9 <= grown <= length + 1e-9


@pytest.mark.claim("B12")
@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_b12_steps_of_1_over_t_need_powers_of_ten(q):
    w, marks = 1.0, {}
    for t in range(1, 20_001):
        w *= 1 - q / t
        marks[t] = w
    for t in (200, 20_000):
        assert marks[t] == pytest.approx(t**-q / gamma(1 - q), rel=0.01)


# D3


@pytest.mark.claim("D3")
@settings(deadline=None, max_examples=15)
@given(CELLS, st.integers(1, 8), st.integers(1, 4))
def test_d3_the_losses_of_both_are_within_the_bound(recipe, k, steps):
    done, found, x, loss, sizes, schedule = trained(recipe, k, 0.1, steps)
    ends = [loss(unroll(done.cell, x)[-1]).item(), loss(unroll(done.truncated, x[-k:])[-1]).item()]
    assert abs(ends[0] - ends[1]) <= sizes.lipschitz * output_gap_bound(found, sizes, k, schedule) + EPS


@pytest.mark.claim("D3")
def test_d3_no_window_is_optimal_and_from_the_length_of_the_run_on_the_models_are_one():
    def keep(cell):
        with torch.no_grad():
            cell.W.clamp_(0, 0.9)
            cell.U.fill_(1)
            cell.b.zero_()

    def loss(h):
        return (h - 3).square().sum() / 2

    sizes, ends = step_sizes("1/t", 0.05, 20), {}
    for k in range(2, 14):
        ends[k] = descend(scalar(0.5), ones(12), loss, k, sizes, keep).weights[-1].item()
    assert ends[2] < ends[3]
    assert all(ends[k] > ends[k + 1] for k in range(3, 12))
    assert ends[11] > 0 == ends[12] == ends[13]


@pytest.mark.claim("D3")
@pytest.mark.parametrize("tilt", [1, -1])
def test_d3_with_a_fixed_window_either_may_be_trained_and_the_other_not(tilt):
    """In closed form: h = 1 / (1 - a) against (1 - a^10) / (1 - a), from h = 4.1."""

    def run(k):
        a = torch.tensor(1 - 1 / 4.1, requires_grad=True, **DOUBLE)
        for _ in range(800):
            h = (1 - a**k) / (1 - a) if k else 1 / (1 - a)
            loss = ((h - 4) ** 2 - 1) ** 2 + tilt * (h - 4) / 4
            (slope,) = torch.autograd.grad(loss, a)
            a = (a - 1e-4 * slope).clamp(0, 0.9).detach().requires_grad_()
        assert abs(slope) < 1e-6  # both have arrived: more steps change nothing
        return loss.item()

    whole, cut = run(None), run(10)
    assert tilt * (whole - cut) > 0.4


# D4


@pytest.mark.claim("D4")
def test_d4_the_sum_the_latch_and_parity_need_every_input():
    impulse = torch.zeros(200, 1, 1, **DOUBLE)
    impulse[0] = 1.0
    latch = SimpleCell(1, 1, generator=rng(0), **DOUBLE)
    with torch.no_grad():
        for weight, value in zip(latch.parameters(), (2.0, 3.0, 0.0), strict=True):
            weight.fill_(value)
    for cell in (scalar(1.0), latch):
        for k in (1, 20, 199):
            gap = (unroll(cell, impulse) - truncated_states(cell, impulse, k))[-1].abs().item()
            assert gap > 0.95
    parity = DFA([0, 1], "ab", {(q, c): q ^ (c == "a") for q in (0, 1) for c in "ab"}, 0, [1])
    for ending in ("", "b", "aba"):
        words = ["".join(start) + ending for start in product("ab", repeat=4)]
        assert 2 * sum(map(parity.accepts, words)) == len(words)


@pytest.mark.claim("D4")
@pytest.mark.parametrize("kind", KINDS)
def test_d4_a_steep_triangular_cell_is_exact_from_d_inputs_on(kind):
    cell, (x, _, _) = kind(2, 5, generator=rng(0), **DOUBLE), problem(0)
    with torch.no_grad():
        cell.W.copy_(torch.ones(5, 5).triu(1))
        cell.U.mul_(0.1)
    assert contraction_rate(cell) > 2
    state = {k: (unroll(cell, x) - truncated_states(cell, x, k)).abs().max().item() for k in (4, 5, 9)}
    slope = {k: gradient_gap(cell, x, total, k) for k in (5, 9, 10)}
    assert min(state[4], slope[5], slope[9]) > 1e-5
    assert max(state[5], state[9], slope[10]) < 1e-11


@pytest.mark.claim("D4")
def test_d4_a_step_that_doubles_a_distance_is_exact_from_two_inputs_on():
    """The states 0 and 1 of runs go to 0 and 2, which no norm on the line calls nearer."""

    def step(h, x):
        return 1 - torch.cos(torch.pi * h) + x

    pair = step(torch.tensor([[0.0], [1.0]], **DOUBLE), torch.zeros(2, 1, **DOUBLE)).flatten()
    assert (pair[1] - pair[0]).item() == pytest.approx(2)
    words = torch.tensor(list(product((0.0, 1.0), repeat=8)), **DOUBLE).T[..., None]
    zero = torch.zeros(256, 1, **DOUBLE)
    runs = unroll(step, words, zero)
    assert sorted(set(runs.flatten().tolist())) == pytest.approx([0, 1, 2, 3])
    gaps = [(runs - truncated_states(step, words, k, zero)).abs().max().item() for k in (1, 2, 5)]
    assert gaps == pytest.approx([2.0, 0.0, 0.0], abs=1e-12)


# D5


@pytest.mark.claim("D5")
@settings(deadline=None, max_examples=40)
@given(st.floats(-3, 3), st.floats(0.05, 1), st.integers(1, 60), st.floats(-2, 0), st.floats(0.1, 2))
def test_d5_projected_descent_slows_down_as_the_theorem_says(start, share, steps, low, high):
    """The loss 1 - cos w, of smoothness 1 and least value 0, on an interval."""
    w = min(max(start, low), high)
    first, sizes = 1 - torch.tensor(w, **DOUBLE).cos().item(), []
    for _ in range(steps):
        new = min(max(w - share * torch.tensor(w, **DOUBLE).sin().item(), low), high)
        sizes.append(((w - new) / share) ** 2)
        w = new
    assert min(sizes) <= 2 * first / (share * steps) + 1e-12


@pytest.mark.claim("D5")
def test_d5_the_curvature_explodes_with_the_length_without_stability():
    """By autograd at the end of the interval: bounded, as the square of the length, exponential."""

    def bend(a, steps):
        a = torch.tensor(a, requires_grad=True, **DOUBLE)
        (slope,) = torch.autograd.grad(a ** (2 * steps - 2) / 2, a, create_graph=True)
        return torch.autograd.grad(slope, a)[0].item()

    assert max(bend(0.9, steps) for steps in range(2, 400)) < 50
    assert bend(1.0, 200) / bend(1.0, 50) == pytest.approx(16, rel=0.1)
    assert bend(1.1, 200) / bend(1.1, 50) > 1e13


@pytest.mark.claim("D5")
def test_d5_one_step_size_does_not_serve_all_lengths_and_halving_does():
    def mapping(n, alpha=None, updates=2000):
        """The gradient mapping at the end, on 1 to 1.5; steps are halved until the loss falls enough if None."""
        a = 1.0
        for _ in range(updates):
            size, slope = alpha or 1.0, n * a ** (n - 1) * (a**n - 2)
            while True:
                new = min(max(a - size * slope, 1.0), 1.5)
                change = (new - a) ** 2 / (2 * size)
                if alpha or change < 1e-30 or (new**n - 2) ** 2 / 2 <= (a**n - 2) ** 2 / 2 - change:
                    break
                size /= 2
            last, a = abs(new - a) / size, new
        return last

    assert mapping(4, 0.01) < 1e-8
    assert mapping(9, 0.01) > 1
    assert mapping(199, 0.01) > 1
    assert all(mapping(n, updates=200) < 1e-5 for n in (4, 9, 199))
    curvatures = [4 * n**2 / 2 ** (2 / n) for n in (4, 9)]
    assert curvatures[0] < 2 / 0.01 < curvatures[1]
