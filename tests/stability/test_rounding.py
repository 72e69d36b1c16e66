"""Every bound in exact numbers: never below what it bounds, and above it by nothing but a few roundings."""

from fractions import Fraction
from functools import partial
from math import inf

import contraction_cells as zoo
import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhx.cells import LinearCell, SimpleCell
from fhx.stability import (
    Constants,
    LossConstants,
    LSTMBounds,
    constants,
    contraction_rate,
    gradient_bound,
    gradient_gap_bound,
    gradient_lipschitz_bound,
    invariant_set,
    lstm_constants,
    output_gap_bound,
    rounding_term,
    simple_constants,
    state_gap_bound,
    weight_gap_bound,
    weight_gap_bound_harmonic,
    weight_gap_bound_power_law,
)
from fhx.stability.gates import gate_logits, memory, opened
from fhx.stability.gru import beta
from fhx.stability.lstm_constants import _twice
from fhx.stability.norms import max_norm, row_sums
from fhx.stability.smoothness import reach
from fhx.stability.ungated import convex_norm, zero_state_bound

SIZE = st.floats(0.1, 3)
RATE = st.floats(0.05, 0.95)
SEED = st.integers(0, 2**32)


def upto(most):
    """Zero, or numbers of the sizes that constants have; below 1e-300 products lose digits that no factor mends."""
    return st.just(0.0) | st.floats(1e-3, most)


def random(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def fractions(tensor):
    return [fractions(row) for row in tensor] if tensor.ndim else Fraction(tensor.item())


def real(number):
    number = Fraction(number)
    return mpmath.mpf(number.numerator) / number.denominator


def is_above(found, exact, part=1e-13):
    """At 40 digits, which mpmath's numbers need and fractions do not."""
    with mpmath.workdps(40):
        found, exact = real(found), exact if isinstance(exact, mpmath.mpf) else real(exact)
        assert exact <= found <= exact * (1 + part), (found, exact)


@given(RATE, st.lists(SIZE, min_size=7, max_size=7), st.integers(1, 9), st.lists(SIZE, min_size=1, max_size=4))
def test_lemmas_and_theorem(rate, numbers, k, steps):
    cell, loss = Constants(rate, 1.0, *numbers[:4], 1.0, numbers[4]), LossConstants(*numbers[5:])
    rate, weights, hh, hw, ww, state, slope, curve = map(Fraction, (rate, *numbers))
    change = weights / (1 - rate)
    states = rate**k * state
    gap = rate**k * (slope + curve * state) * change
    gap += rate ** (k - 1) * slope * state * (k * hw + (k - 1) * hh * change)
    smooth = slope * (hh * change**2 + 2 * hw * change + ww) / (1 - rate) + curve * change**2
    is_above(cell.sensitivity, change)
    is_above(state_gap_bound(cell, k), states)
    is_above(gradient_gap_bound(cell, loss, k), gap)
    is_above(gradient_lipschitz_bound(cell, loss), smooth)
    is_above(gradient_bound(cell, loss), slope * change)
    distance = Fraction(0)
    for size in map(Fraction, steps):
        distance += size * min(gap + smooth * distance, 2 * slope * change)
    is_above(output_gap_bound(cell, loss, k, steps, 1.7), Fraction(1.7) * (change * distance + states))
    is_above(output_gap_bound(cell, loss, k, steps), change * distance + states)


@given(SIZE, SIZE, SIZE, st.lists(SIZE, min_size=1, max_size=6))
def test_the_recursion(gap, smoothness, gradient, steps):
    distances = [Fraction(0)] * 2
    for size in map(Fraction, steps):
        changes = [Fraction(gap) + Fraction(smoothness) * distance for distance in distances]
        changes[1] = min(changes[1], 2 * Fraction(gradient))
        distances = [distance + size * change for distance, change in zip(distances, changes, strict=True)]
    is_above(weight_gap_bound(gap, smoothness, steps), distances[0])
    is_above(weight_gap_bound(gap, smoothness, steps, gradient), distances[1])


@given(SIZE, SIZE, SIZE, st.integers(1, 10**6))
def test_powers_of_the_number_of_steps(gap, smoothness, alpha, steps):
    with mpmath.workdps(40):
        E, beta, a = map(real, (gap, smoothness, alpha))
        power = E / beta * ((1 + a * beta) * mpmath.mpf(steps) ** (a * beta) - 1)
        is_above(weight_gap_bound_harmonic(gap, smoothness, alpha, steps), power, 1e-12 * (1 + 20 * alpha * smoothness))
        is_above(weight_gap_bound_harmonic(gap, 0.0, alpha, steps), a * E * (1 + mpmath.log(steps)))
        source = a * E * mpmath.mpf(steps) ** (a * beta + 1)
    assert weight_gap_bound_power_law(gap, smoothness, alpha, steps) == pytest.approx(float(source), rel=1e-12)


@given(RATE, SIZE, st.integers(1, 100))
def test_the_rounding_of_a_run(rate, size, operations):
    for dtype, eps in ((torch.float64, Fraction(1, 2**52)), (torch.float32, Fraction(1, 2**23))):
        wanted = operations * eps * Fraction(size) / (1 - Fraction(rate))
        is_above(rounding_term(rate, size, operations, dtype), wanted)
    assert rounding_term(rate, size, operations) == rounding_term(rate, size, operations, torch.float64)


@given(SIZE, SIZE, SIZE)
def test_losses(norm, outputs, targets):
    squared, huber = LossConstants.squared(norm, outputs, targets), LossConstants.pseudo_huber(norm)
    is_above(squared.lipschitz, Fraction(norm) * (Fraction(outputs) + Fraction(targets)))
    is_above(squared.smoothness, Fraction(norm) ** 2)
    is_above(huber.smoothness, Fraction(norm) ** 2)
    assert huber.lipschitz == norm


@pytest.mark.parametrize(
    ("activation", "slope", "curve", "size", "at_zero"),
    [("tanh", 1, None, 1, 0), ("sigmoid", 0.25, None, 1, 0.5), ("identity", 1, 0, inf, 0)],
)
@given(st.integers(1, 9), st.floats(0.05, 4), SIZE, SIZE, SIZE, upto(4))
def test_simple_constants(activation, slope, curve, size, at_zero, width, recurrent, inputs, drive, norm, start):
    sizes = {"recurrent": recurrent, "inputs": inputs, "drive": drive, "input_norm": norm}
    found = simple_constants(width=width, **sizes, activation=activation, h0_bound=start)
    with mpmath.workdps(40):
        w, pushed, x, h0, root = *map(real, (recurrent, drive, norm, start)), mpmath.sqrt(width)
        if curve is None:
            curve = 4 / (3 * mpmath.sqrt(3)) if activation == "tanh" else 1 / (6 * mpmath.sqrt(3))
        rate = slope * w
        first = slope * pushed + at_zero * root
        first = min(size * root, first) if size < inf else first
        states = ([size * root] if size < inf else []) + ([first / (1 - rate)] if rate < 1 else [])
        state = max(h0, min(states, default=mpmath.inf))
        xi = mpmath.sqrt(state**2 + x**2 + 1)
        wanted = {"rate": rate, "by_input": slope * real(inputs), "drive_bound": first}
        wanted |= {"by_states": curve * w**2}
        if state < mpmath.inf:
            wanted |= {"state_bound": state, "by_weights": slope * xi, "by_weights_twice": curve * xi**2}
            wanted |= {"by_state_and_weights": curve * w * xi + slope}
        else:
            assert (found.state_bound, found.by_weights, found.by_weights_twice) == (inf, inf, 0)
            assert found.by_state_and_weights == slope
        for name, value in wanted.items():
            near = 1e-13 if rate >= 1 or not states else 1e-13 / min(1, float(1 - rate))
            is_above(getattr(found, name), mpmath.mpf(value), near)


@given(st.integers(1, 4), st.integers(1, 4), st.floats(0.1, 2), SEED)
def test_constants_of_a_cell(d_in, d, input_bound, seed):
    cell = LinearCell(d_in, d, dtype=torch.float64)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(random(*parameter.shape, seed=seed))
    found = constants(cell, input_bound=input_bound)
    B = Fraction(input_bound)
    rows = [B * sum(map(abs, u)) + abs(b) for u, b in zip(fractions(cell.U), fractions(cell.b), strict=True)]
    with mpmath.workdps(40):
        is_above(found.drive_bound, mpmath.sqrt(real(sum(row**2 for row in rows))))
        if found.state_bound == inf:
            return
        within = simple_constants(
            width=d,
            recurrent=found.rate,
            inputs=1.0,
            drive=found.drive_bound,
            input_norm=float(mpmath.sqrt(d_in) * input_bound),
            activation="identity",
        )
    assert found.by_weights == pytest.approx(within.by_weights, rel=1e-12)


@given(st.integers(1, 60), SEED)
def test_rows_of_numbers(n, seed):
    numbers = random(3, n, seed=seed)
    exact = fractions(numbers)
    sums = [sum(map(abs, row)) for row in exact]
    for found, wanted in zip(row_sums(numbers), sums, strict=True):
        is_above(found.item(), wanted)
    is_above(max_norm(numbers), max(sums))
    bias = random(3, seed=seed + 1)
    for found, row, b in zip(reach(numbers, bias, 0.7), sums, fractions(bias), strict=True):
        is_above(found.item(), Fraction(0.7) * row + abs(b))
    for row, values in zip(numbers, exact, strict=True):
        with mpmath.workdps(40):
            is_above(convex_norm(row), mpmath.sqrt(real(sum(value**2 for value in values))))


@given(st.integers(1, 9), st.integers(1, 9), upto(3), SEED)
def test_gates(d, d_in, input_bound, seed):
    W, U, b = random(4, d, seed=seed), random(4, d_in, seed=seed + 1), 5 * random(4, seed=seed + 2)
    logits = gate_logits(W, U, b, input_bound)
    for found, w, u, bias in zip(logits, *map(fractions, (W, U, b)), strict=True):
        size = abs(bias) + sum(map(abs, w)) + Fraction(input_bound) * sum(map(abs, u))
        exact = size - abs(bias) + bias
        assert exact <= Fraction(found.item()) <= exact + size * Fraction(1e-14)
    for a, opens, holds in zip(logits.tolist(), opened(logits).tolist(), memory(logits).tolist(), strict=True):
        with mpmath.workdps(40):
            is_above(opens, 1 / (1 + mpmath.exp(-real(a))))
            is_above(holds, 1 + mpmath.exp(real(a)))
    assert opened(torch.tensor([50.0], dtype=torch.float64)).item() == 1
    is_above(memory(torch.tensor([600.0], dtype=torch.float64)).item(), mpmath.exp(600), 4e-12)


@given(SIZE, SIZE)
def test_what_a_gru_adds(y, q):
    """The parabola's top, or the end of the unit interval that it lies beyond."""
    at = min(1, Fraction(y) / (2 * Fraction(q)))
    found = beta(*(torch.tensor([number], dtype=torch.float64) for number in (y, q))).item()
    is_above(found, (1 + at) * (Fraction(y) + (1 - at) * Fraction(q)))


@pytest.mark.parametrize("kind", ["tanh", "relu", "linear", "deep"])
@given(st.integers(1, 4), upto(3), SEED)
def test_what_a_step_makes_of_the_zero_state(kind, d, input_bound, seed):
    cell = zoo.make(kind, d, 1.0, 1.0, seed)
    B, W = Fraction(input_bound), [fractions(matrix) for matrix in cell.layer_matrices()]
    b = [fractions(bias) for bias in cell.layer_biases()]
    pushed = [B * sum(map(abs, u)) + abs(bias) for u, bias in zip(fractions(cell.U), b[0], strict=True)]
    for matrix, biases in zip(W[1:], b[1:], strict=True):
        inner = [sum(abs(w) * p for w, p in zip(row, pushed, strict=True)) for row in matrix]
        pushed = [p + abs(bias) for p, bias in zip(inner, biases, strict=True)]
    for found, wanted in zip(zero_state_bound(cell, input_bound), pushed, strict=True):
        is_above(found.item(), wanted)


@given(RATE, SIZE, SIZE)
def test_the_box_of_a_scalar_cell(rate, u, b):
    for kind in (LinearCell, partial(SimpleCell, activation="relu")):
        cell = kind(1, 1, dtype=torch.float64)
        with torch.no_grad():
            for parameter, value in zip(cell.parameters(), (rate, u, b), strict=True):
                parameter.fill_(value)
        box = invariant_set(cell, 0.5)
        is_above(contraction_rate(cell), Fraction(rate))
        is_above(box.high.item(), (Fraction(u) / 2 + Fraction(b)) / (1 - Fraction(rate)), 1e-12)
        assert box.low.item() == -box.high.item()


@given(
    st.floats(0.01, 0.99), st.lists(SIZE, min_size=8, max_size=8), upto(2), st.integers(1, 4), upto(1),
    st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_lstm_constants(F, sizes, input_bound, d, drive, start):
    """Their formulas at 40 digits; those of second order are derived by the rules of differentiation elsewhere."""
    weights = [*(size / 5 for size in sizes[:3]), 2 * sizes[3]]  # the gain of h may be above that of c
    rows = [torch.full((d,), value, dtype=torch.float64) for value in (F, 1 / (1 - F), *weights)]
    bounds = LSTMBounds(input_bound, *rows)
    u = dict(zip("ifzo", sizes[4:], strict=True))
    found = lstm_constants(bounds, input_size=3, inputs=sizes[4:], drive_bound=drive, h0_bound=start)
    with mpmath.workdps(40):
        f, C = real(F), real(1 / (1 - F))
        n = {gate: real(value) for gate, value in bounds.norms.items()}
        v = {gate: real(value) for gate, value in u.items()}
        s, t = 1 / (6 * mpmath.sqrt(3)), 4 / (3 * mpmath.sqrt(3))
        phi, g = (f, f * (1 - f)) if F < 0.5 else (C / 4, mpmath.mpf(1) / 4)
        kappa = min(real(bounds.rate), f + phi * n["f"] + max(n["z"], n["i"] / 4))
        state = C
        if bounds.rate < 1 and not start:
            state = min(C, real(drive) / (1 - real(bounds.rate)))
        xi = mpmath.sqrt(d * min(1, state) ** 2 + 3 * real(input_bound) ** 2 + 1)
        curve = s * n["o"] ** 2 + n["o"] * kappa / 2 + t * kappa**2 + s * n["i"] ** 2 + n["i"] * n["z"] / 2
        curve += t * n["z"] ** 2 + s * C * n["f"] ** 2 + 2 * g * n["f"]
        near = 1e-12 / max(1e-3, abs(1 - bounds.rate))
        assert found.rate == bounds.rate
        assert (found.norm, found.drive_bound) == ("max", drive)
        is_above(found.by_input, max(v["o"] / 4, phi * v["f"] + max(v["z"], v["i"] / 4)), 1e-12)
        is_above(found.by_weights, xi * mpmath.sqrt(1 + phi**2), near)
        is_above(found.by_states, curve, 1e-12)
        is_above(found.state_bound, state, near)
        shown = [xi * slope * (n["o"] / 4 + t * kappa) for slope in (mpmath.mpf(1) / 4, phi, 1, 0)]
        moved = [
            xi * (s * n["i"] + n["z"] / 4) + mpmath.sqrt(d) / 4,
            xi * (s * C * n["f"] + g) + phi * mpmath.sqrt(d),
            xi * (n["i"] / 4 + t * n["z"]) + mpmath.sqrt(d),
            xi * (s * n["o"] + kappa / 4) + mpmath.sqrt(d) / 4,
        ]
        mixed = mpmath.sqrt(sum((a + b) ** 2 for a, b in zip(shown, moved, strict=True)))
        is_above(found.by_state_and_weights, mixed, near)
        slopes = torch.tensor([0.25, float(phi), 1.0, 0.0], dtype=torch.float64)
        twice = _twice(slopes, torch.tensor([0.0, 0.0, 0.0, 0.25], dtype=torch.float64), float(C))
        entries = {(0, 0): s, (1, 1): s * C, (2, 2): t, (3, 3): s, (0, 2): 0.25, (3, 0): 0.0625, (3, 1): phi / 4}
        entries |= {(3, 2): 0.25}
        for j in range(4):
            for k in range(4):
                wanted = entries.get((j, k), entries.get((k, j), 0)) + t * real(slopes[j].item()) * real(
                    slopes[k].item()
                )
                assert twice[j, k].item() == pytest.approx(float(wanted), rel=1e-13)
        largest = max(map(abs, mpmath.eigsy(mpmath.matrix(twice.tolist()), eigvals_only=True)))
        is_above(found.by_weights_twice, xi**2 * largest, near)
