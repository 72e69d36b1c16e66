"""The claims that chapter 2 settles: the form of a step, norms, stacks and deep cells, gates, and memories."""

import math
from itertools import pairwise, permutations, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.approximation import (
    exponential_sum,
    fold,
    hankel_bound,
    imitate,
    imitation_errors,
    interpolant,
    passing_times,
    rollout_bound,
    rollout_errors,
)
from fhx.cells import DeepCell, GRUCell, SimpleCell, Stack
from fhx.compile import cascade_to_rnns
from fhx.dynamics import Box, unroll
from fhx.exact import SimpleRNN
from fhx.experiments import stack_or_deep, stored, words
from fhx.experiments.protocol import judge
from fhx.machines import DFA


def double(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def parabola(h, x):
    return 4 * h * (1 - h)


# A3: the form of the step


@pytest.mark.claim("A3")
def test_a3_two_relu_units_are_the_step_h_minus_x_for_ever():
    cell = SimpleCell(1, 2, activation="relu", dtype=torch.float64)
    with torch.no_grad():
        cell.W[:], cell.U[:], cell.b[:] = double(1, 1, -1, -1).view(2, 2), double(-1, 1).view(2, 1), 0
        x = torch.randint(-40, 40, (2000, 8, 1), generator=generator(0)) / 8.0
        states = unroll(cell, x.double()).sum(-1)
    h = torch.zeros(8, dtype=torch.float64)
    for state, x_t in zip(states, x[..., 0], strict=True):
        h = (h - x_t).abs()
        assert torch.equal(state, h)


@pytest.mark.claim("A3")
@settings(deadline=None)
@given(st.tuples(*[st.floats(-5, 5)] * 3), st.sampled_from([torch.tanh, torch.relu, torch.sigmoid, lambda u: -u]))
def test_a3_no_unit_of_an_increasing_or_decreasing_activation_is_nearer_than_a_half_on_bits(weights, sigma):
    w, u, b = weights
    off = [abs(sigma(double(w * h + u * x + b)).item() - abs(h - x)) for h, x in product((0, 1), repeat=2)]
    assert max(off) >= 0.5 - 1e-12


# A4: a guarantee without the form


@pytest.mark.claim("A4")
@pytest.mark.parametrize("pieces", [4, 32, 256])
def test_a4_the_folded_interpolant_keeps_the_bound_of_the_recursion(pieces):
    cell, start = interpolant(parabola, torch.linspace(0, 1, pieces + 1)), double(0.3)
    net, none = fold(cell, start), torch.zeros(12, 1, 1, dtype=torch.float64)
    assert isinstance(net.cell, SimpleCell)
    with torch.no_grad():
        off = (net(none) - unroll(parabola, none, start)).abs().flatten()
    h = torch.linspace(0, 1, 3001, dtype=torch.float64)[:, None]
    chord = cell(h, torch.zeros_like(h))  # both steps map [0, 1] into itself, so the bound needs nothing outside
    assert ((chord >= -1e-12) & (chord <= parabola(h, 0) + 1e-12)).all()
    bounds = [rollout_bound(1 / pieces**2, 4.0, t) for t in range(1, 13)]
    assert all(e <= bound + 1e-9 for e, bound in zip(off.tolist(), bounds, strict=True))


@pytest.mark.claim("A4")
def test_a4_more_units_follow_chaos_longer_by_the_logarithm_of_their_number():
    h0, none = torch.rand(300, 1, generator=generator(1), dtype=torch.float64), torch.zeros(40, 300, 1).double()
    lasted = []
    for pieces in (16, 64, 256):
        cell = interpolant(parabola, torch.linspace(0, 1, pieces + 1))
        lasted.append(passing_times(rollout_errors(parabola, cell, none, h0), 0.1).median().item())
    gained = torch.tensor(lasted).diff()
    assert ((gained >= 3) & (gained <= 5)).all()  # four times the units, an error 16 times smaller: four doublings


@pytest.mark.claim("A4")
@pytest.mark.parametrize("layers", [1, 2, 5, 10])
def test_a4_layers_of_three_units_make_segments_in_powers_of_two(layers):
    h = torch.linspace(0, 1, 5001, dtype=torch.float64)
    tent, total = h, torch.zeros_like(h)
    for i in range(layers):
        on, above, kept = tent.relu(), (tent - 0.5).relu(), total.relu()
        tent, total = 2 * on - 4 * above, kept + (2 * on - 4 * above) / 4**i
    segments = interpolant(parabola, torch.linspace(0, 1, 2**layers + 1, dtype=torch.float64))
    torch.testing.assert_close(total, segments(h[:, None], torch.zeros_like(h[:, None]))[:, 0], rtol=0, atol=1e-11)
    assert (total - parabola(h, 0)).abs().max() <= 4.0**-layers + 1e-12


@pytest.mark.claim("A4")
@pytest.mark.parametrize("units", [1, 3, 8])
def test_a4_one_hidden_layer_is_off_by_the_square_of_its_units(units):
    """The best piecewise linear function of n + 1 equal pieces is half above and half below, and attains the bound."""
    h = torch.linspace(0, 1, 40 * (units + 1) + 1, dtype=torch.float64)
    chords = interpolant(parabola, torch.linspace(0, 1, units + 2, dtype=torch.float64))
    best = chords(h[:, None], torch.zeros_like(h[:, None]))[:, 0] + 0.5 / (units + 1) ** 2
    assert (best - parabola(h, 0)).abs().max().item() == pytest.approx(0.5 / (units + 1) ** 2, abs=1e-12)
    for seed in range(50):
        drawn = generator(seed)
        w, c, v = torch.randn(3, units, generator=drawn, dtype=torch.float64)
        features = torch.cat([torch.ones_like(h)[:, None], (h[:, None] * w + c).relu()], 1)
        start = features @ torch.cat([v[:1], v])
        fitted = features @ torch.linalg.lstsq(features, parabola(h, 0)[:, None], driver="gelsd").solution[:, 0]
        assert all((f - parabola(h, 0)).abs().max() >= 0.5 / (units + 1) ** 2 - 1e-12 for f in (start, fitted))


# A6: norms


@pytest.mark.claim("A6")
def test_a6_values_converge_like_the_square_and_slopes_like_the_first_power():
    inside = Box([1e-9], [1 - 1e-9])
    for pieces in (8, 64):
        cell = interpolant(parabola, torch.linspace(0, 1, pieces + 1))
        off = imitation_errors(parabola, cell, inside, samples=4000)
        assert 0.9 < off.sup * pieces**2 <= 1 + 1e-9
        assert 3.5 < off.derivative_sup * pieces <= 4 + 1e-6


@pytest.mark.claim("A6")
def test_a6_a_piecewise_linear_step_has_no_second_derivative_to_come_near_with():
    cell, s = interpolant(parabola, torch.linspace(0, 1, 65)), 1e-4
    h = torch.rand(200, 1, generator=generator(2), dtype=torch.float64)
    h = h[((64 * h + 0.5) % 1 - 0.5).abs()[:, 0] > 64 * 2 * s]  # farther than s from every knot
    assert len(h) > 150

    def second_difference(step):
        return sum(weight * step(h + shift, torch.zeros_like(h)) for weight, shift in ((1, s), (-2, 0), (1, -s))) / s**2

    assert torch.allclose(second_difference(cell), torch.zeros(()).double(), atol=1e-5)
    assert torch.allclose(second_difference(parabola), torch.tensor(-8.0).double(), atol=1e-5)


@pytest.mark.claim("A6")
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_a6_a_step_as_near_as_one_likes_in_l2_is_off_by_one_for_ever(delta):
    def spiked(h, x):
        return h + torch.relu(1 - h.abs() / delta)

    grid = torch.linspace(-delta, delta, 20001, dtype=torch.float64)
    squared = torch.trapezoid(torch.relu(1 - grid.abs() / delta).square(), grid)
    assert squared.item() == pytest.approx(2 * delta / 3, rel=1e-4)
    assert (unroll(spiked, torch.zeros(30, 1, 1).double(), double(0.0)) == 1).all()


@pytest.mark.claim("A6")
def test_a6_two_hidden_layers_make_a_box_and_one_leaves_a_ridge_without_end():
    side = torch.linspace(-40, 40, 801, dtype=torch.float64)
    x, y = torch.meshgrid(side, side, indexing="ij")

    def trapezoid(z):  # 1 on [-1, 1], 0 off [-1.5, 1.5]
        return 2 * sum(sign * (z - knot).relu() for knot, sign in ((-1.5, 1), (-1, -1), (1, -1), (1.5, 1)))

    box = (trapezoid(x) + trapezoid(y) - 1).relu()
    inner, outer = ((x.abs() <= r) & (y.abs() <= r) for r in (1 + 1e-9, 1.5 - 1e-9))
    assert torch.allclose(box[inner], torch.ones(()).double(), atol=1e-9)
    assert box[~outer].abs().max() < 1e-9
    ridge = trapezoid(x)  # one hidden layer: its mass on a disc grows with the disc
    mass = [ridge[(x.square() + y.square()) <= r * r].square().sum().item() for r in (10, 20, 40)]
    assert mass[1] > 1.9 * mass[0]
    assert mass[2] > 1.9 * mass[1]


# A11: stacks and deep cells


@pytest.mark.claim("A11")
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000))
def test_a11_what_is_put_on_top_does_not_change_the_bottom(seed):
    layers = [SimpleCell(2, 3, generator=generator(seed)), SimpleCell(3, 4, generator=generator(seed + 1))]
    x = torch.randn(12, 3, 2, generator=generator(seed + 2))
    with torch.no_grad():
        alone = unroll(Stack(layers[:1]), x)
        below = unroll(Stack([*layers, SimpleCell(4, 5, generator=generator(seed + 3))]), x)[..., :3]
    assert torch.equal(alone, below)


@pytest.mark.claim("A11")
@pytest.mark.parametrize("seed", range(12))
def test_a11_a_tower_of_single_tanh_units_comes_to_a_period_of_at_most_two(seed):
    """Towers of one seed each: there is not a rate, so a tower that is slow to come to rest can be found."""
    drawn, height = generator(seed), 1 + seed % 5
    tower = Stack([SimpleCell(1, 1, dtype=torch.float64) for _ in range(height)])
    with torch.no_grad():
        for parameter in tower.parameters():
            parameter.copy_(3 * torch.randn(parameter.shape, generator=drawn, dtype=torch.float64))
        h0 = 2 * torch.rand(10, height, generator=drawn, dtype=torch.float64) - 1
        h = unroll(tower, torch.ones(400, 10, 1, dtype=torch.float64), h0)
    assert (h[-1] - h[-3]).abs().max() < 1e-2


@pytest.mark.claim("A11")
def test_a11_two_units_have_period_four_and_a_deep_cell_of_one_number_has_period_three():
    turning, scalar = SimpleCell(1, 2, dtype=torch.float64), DeepCell(1, 1, 2, width=2, dtype=torch.float64)
    with torch.no_grad():
        for parameter in (*turning.parameters(), *scalar.parameters()):
            parameter.zero_()
        turning.W[:] = double(0, -2, 2, 0).view(2, 2)
        scalar.W[:], scalar.b[:] = double(2, 4).view(2, 1), double(1, 0)
        scalar.W_upper[0][:], scalar.b_upper[0][:] = double(1, -1), -1
        for cell, period in ((turning, 4), (scalar, 3)):
            h = unroll(cell, torch.zeros(600, 1, 1).double(), 0.3 * torch.ones(cell.state_width).double())[-13:, 0]
            assert torch.allclose(h[period:], h[:-period], atol=1e-9)
            assert all((h[p:] - h[:-p]).abs().amax() > 0.1 for p in range(1, period))


@pytest.mark.claim("A11")
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from(["tanh", "relu"]))
def test_a11_a_deep_cell_is_a_simple_cell_of_as_many_units_on_a_slower_clock(seed, depth, activation):
    d, options = 3, {"generator": generator(seed), "dtype": torch.float64}
    deep, slow = (
        DeepCell(2, d, depth, activation=activation, **options),
        SimpleCell(2, d * depth, activation, **options),
    )
    x, fed = torch.randn(8, 3, 2, **options), torch.randn(8 * depth, 3, 2, **options)
    with torch.no_grad():
        slow.W.zero_(), slow.U.zero_()
        slow.W[:d, -d:], slow.U[:d] = deep.W, deep.U
        for k, W in enumerate(deep.W_upper, 1):
            slow.W[k * d : (k + 1) * d, (k - 1) * d : k * d] = W
        slow.b[:] = torch.cat([deep.b, *deep.b_upper])
        fed[::depth] = x
        assert torch.allclose(unroll(slow, fed)[depth - 1 :: depth, :, -d:], unroll(deep, x))
        slow.W[:d, -d:] = 0  # without the way back nothing is left after ``depth`` steps
        other = torch.cat([torch.randn(5 * depth, 3, 2, **options), fed[5 * depth :]])
        last, without = unroll(slow, fed)[6 * depth :, :, -d:], unroll(slow, other)[6 * depth :, :, -d:]
    assert torch.equal(last, without)


@pytest.mark.claim("A11")
@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=8), st.integers(1, 12))
def test_a11_the_kernel_of_a_tower_is_never_negative_at_an_even_lag(weights, steps):
    kernel = [1] + [0] * (2 * steps)
    for w in weights:
        for lag in range(1, len(kernel)):
            kernel[lag] += w * kernel[lag - 1]
    assert min(kernel[::2]) >= 0
    assert min(kernel[::2]) > 0 or not any(weights)


# A5: gates


@pytest.mark.claim("A5")
def test_a5_a_gru_is_imitated_by_one_hidden_layer_over_a_hundred_steps():
    gru = GRUCell(1, 2, generator=generator(3), dtype=torch.float64)
    with torch.no_grad():
        for parameter in gru.parameters():
            parameter *= 3
    states, inputs = Box([-1.0, -1.0], [1.0, 1.0]), Box([-1.0], [1.0])
    x = 2 * torch.rand(100, 100, 1, generator=generator(4), dtype=torch.float64) - 1
    off = [
        rollout_errors(gru, imitate(gru, states, inputs, units=n, activation="tanh"), x, torch.zeros(2).double()).max()
        for n in (4, 40)
    ]
    assert off[1] < 0.2 * off[0]
    assert off[1] < 0.05


# A5, A12: what training finds on words over groups


def trained_on(group: str) -> dict:
    """The results of the stored nets of a group by kind."""
    return {p["point"]["kind"]: p["result"] for p in stored("words")["points"] if p["point"]["group"] == group}


@pytest.fixture(scope="module")
def trained() -> dict:
    return trained_on("S3")


@pytest.mark.claim("A5", "A12")
def test_a12_simple_nets_learn_words_over_s3_with_every_seed_and_deep_ones_and_stacks_with_most(trained):
    learned = {name: sum(right > 0.95 for right in result["bands"]["4x"]) for name, result in trained.items()}
    assert min(trained["simple"]["bands"]["4x"]) > 0.98
    assert all(len(result["test"]) == 8 for result in trained.values())
    kinds = ("simple", "deep", "stack", "gated", "gated stack", "frozen", "frozen gated")
    assert [learned[name] for name in kinds] == [8, 7, 6, 8, 8, 0, 0]
    assert all(result["parameters"] <= 1000 for result in trained.values())


@pytest.mark.claim("A11", "A12")
def test_a12_over_a5_one_layer_learns_the_trained_length_and_no_form_holds_four_times_as_long():
    forms = ("simple", "deep", "stack", "gated", "gated stack")
    nets = {name: trained_on("A5")[name]["bands"] for name in forms}
    assert [sum(right > 0.95 for right in nets[name]["1x"]) for name in forms] == [7, 7, 8, 8, 8]
    assert all(sum(right > 0.95 for right in nets[name]["4x"]) <= 2 for name in forms)
    means = {name: sum(nets[name]["4x"]) / 8 for name in forms}
    assert means["simple"] < 0.7 < min(means[name] for name in forms[1:])


@pytest.mark.claim("A5", "A12")
def test_a5_after_1000_updates_one_would_have_said_that_gates_are_needed(trained):
    early = {
        name: sum(curve[result["at"].index(1000)] for curve in result["valid"]) / len(result["valid"])
        for name, result in trained.items()
    }
    assert max(early[name] for name in ("simple", "deep", "stack")) < 0.4 < 0.9 < early["gated"]


@pytest.mark.claim("A12")
def test_a12_what_is_ahead_is_undecided():
    judged = {name: judge(one) for name, one in words.evidence(stored("words")).items()}
    for name, verdict in judged.items():
        if "frozen" not in name:
            assert "holds" not in {verdict[said] for said in verdict.leads}, name
        if "deep" in name and name.startswith(("S3", "A5")) and "frozen" not in name:
            assert {verdict[said] for said in verdict.leads} == {"undecided at this budget"}, name


@pytest.mark.claim("A12")
def test_a12_on_teachers_of_one_layer_a_stack_is_behind_the_simple_cell_and_the_rest_is_undecided():
    judged = {name: judge(one) for name, one in stack_or_deep.evidence(stored("stack_or_deep")).items()}
    said = {name: verdict[s] for name, verdict in judged.items() for s in verdict.leads}
    assert len(said) == len(stack_or_deep.STATEMENTS) * len(stack_or_deep.DEPTHS)
    assert [name for name, word in said.items() if word == "fails"] == ["1, 64: stack or simple"]
    assert {word for name, word in said.items() if name != "1, 64: stack or simple"} == {"undecided at this budget"}
    assert all("plateau" in judged[name].reasons for name, word in said.items() if word != "fails")


# A11: layers that add


@pytest.mark.claim("A11")
def test_a11_two_layers_that_add_track_s3():
    """All states that the stack reaches are tried, so this holds for words of any length."""
    swap, letters = (1, 0, 2), [*permutations(range(3))]
    powers = {
        (b, a): tuple(swap[(i + a) % 3] if b else (i + a) % 3 for i in range(3)) for b in range(2) for a in range(3)
    }
    exponents = {p: at for at, p in powers.items()}
    signs = DFA([0, 1], letters, {(b, x): (b + exponents[x][0]) % 2 for b in (0, 1) for x in letters}, 0, {0})
    turns = DFA([0, 1, 2], [0, 1, 2], {(a, c): (a + c) % 3 for a in range(3) for c in range(3)}, 0, {0})
    link = {(b, x): (-1) ** b * exponents[x][1] % 3 for b in (0, 1) for x in letters}
    net = cascade_to_rnns(signs, turns, link)
    seen, rest = {net.start}, [net.start]
    while rest:
        units = rest.pop()
        p = powers[net.read(units)]
        for x in letters:
            after = net.step(units, x)
            assert powers[net.read(after)] == tuple(x[i] for i in p)
            if after not in seen:
                seen.add(after)
                rest.append(after)
    words_of_six = product(letters[1:3], repeat=6)
    for word in words_of_six:
        p = (0, 1, 2)
        for x, state in zip(word, net.states(word), strict=True):
            p = tuple(x[i] for i in p)
            assert powers[state] == p


def subgroup(generators):
    """All products of some permutations."""
    found = {tuple(range(len(generators[0])))}
    rest = [*found]
    while rest:
        p = rest.pop()
        for x in generators:
            q = tuple(x[i] for i in p)
            if q not in found:
                found.add(q)
                rest.append(q)
    return found


def derived(group):
    """The subgroup of all commutators."""

    def inverse(p):
        return tuple(p.index(i) for i in range(len(p)))

    def after(x, p):
        return tuple(x[i] for i in p)

    return subgroup([after(after(x, p), after(inverse(x), inverse(p))) for x in group for p in group])


@pytest.mark.claim("A11")
def test_a11_s3_is_solvable_and_a5_is_not():
    s3 = subgroup([(1, 0, 2), (1, 2, 0)])
    a5 = subgroup([(1, 2, 0, 3, 4), (1, 2, 3, 4, 0)])
    assert (len(s3), len(derived(s3)), len(derived(derived(s3)))) == (6, 3, 1)
    assert len(a5) == 60
    assert derived(a5) == a5


# E10: memories


@pytest.mark.claim("E10")
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 80), st.lists(st.integers(0, 1), min_size=1, max_size=120))
def test_e10_three_relu_units_delay_bits_by_any_number_of_steps(delay, bits):
    B = 2**delay
    net = SimpleRNN([[2, -2 * B, 2 * B]] * 3, [[1]] * 3, [0, 1 - B, -B], [0] * 3, "relu")
    outputs = [v - w for _, v, w in net.reference_states([(bit,) for bit in bits])]
    assert outputs == ([0] * delay + bits)[: len(bits)]


@pytest.mark.claim("E10")
@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_e10_a_power_law_takes_few_exponentials_and_each_helps_by_a_factor(power):
    kernel = (1 + torch.arange(255.0, dtype=torch.float64)) ** -power
    bounds = [hankel_bound(kernel, m) for m in range(1, 9)]
    assert all(low > 2 * high for low, high in pairwise(bounds))
    for m in (2, 4, 7):
        off = (exponential_sum(kernel, m).kernel(255).flatten() - kernel).abs().sum().item()
        assert bounds[m - 1] <= off <= 100 * bounds[m - 1]
    assert off < 0.01


@pytest.mark.claim("E10")
def test_e10_the_slowest_unit_lasts_about_as_long_as_the_run():
    for steps in (63, 255):
        fitted = exponential_sum((1 + torch.arange(float(steps), dtype=torch.float64)) ** -1, 6)
        scale = -1 / math.log(torch.linalg.eigvals(fitted.W).abs().max().item())
        assert 0.3 < scale / steps < 5
