"""A cell from another origin, a cell with its readout, and the fixed point of an input, against plain runs."""

from fractions import Fraction
from math import ceil, inf, log, sqrt

import contraction_cells as zoo
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import jacrev

from fhx.cells import DeepCell, GRUCell, LinearCell, LSTMCell, SimpleCell, Stack
from fhx.dynamics import unroll
from fhx.stability import (
    Translated,
    WithReadout,
    adversarial_gain,
    contraction_certificate,
    contraction_rate,
    fixed_point,
    invariant_set,
    lyapunov_norm,
    project,
)
from fhx.stability.certificates import certificate

BOUND = 0.5


def noise(*shape, seed=0):
    return 2 * torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1


def linear(width, outputs=2, size=1.0, bias=True, seed=0):
    readout = torch.nn.Linear(width, outputs, bias=bias, dtype=torch.float64)
    with torch.no_grad():
        for parameter in readout.parameters():
            parameter.copy_(size * noise(*parameter.shape, seed=seed))
    return readout


def contractive(cell):
    """The cell, projected where it can be; property tests draw no other deep ones."""
    if isinstance(cell, DeepCell):
        with torch.no_grad():
            for W in cell.layer_matrices():
                W.mul_(0.9 / max(1, torch.linalg.matrix_norm(W, 2)))
        return cell
    return project(cell, 0.9, BOUND)


@settings(max_examples=15)
@given(zoo.cells(), st.integers(0, 2**32))
def test_a_translated_run_is_the_run_moved(cell, seed):
    cell = cell()
    shift = noise(cell.state_width, seed=seed)
    moved = Translated(cell, shift)
    inputs = BOUND * noise(6, 3, 2, seed=seed + 1)
    with torch.no_grad():
        ours, theirs = unroll(moved, inputs) + shift, unroll(cell, inputs)
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(moved.hidden(ours - shift), cell.hidden(theirs), rtol=1e-9, atol=1e-9)
    assert contraction_rate(moved, input_bound=BOUND) == contraction_rate(cell, input_bound=BOUND)
    h, drive = noise(moved.state_width, seed=seed + 2), moved.drive(inputs[0, 0])
    torch.testing.assert_close(moved.jacobian(h, drive), jacrev(moved.step)(h, drive))


@settings(max_examples=12)
@given(zoo.cells(most=1.0), st.integers(0, 2**32))
def test_from_its_fixed_point_a_cell_takes_zero_to_zero(cell, seed):
    cell = contractive(cell())
    star = fixed_point(cell)
    moved = Translated(cell, star.state)
    nothing = torch.zeros(2, dtype=torch.float64)
    assert moved(torch.zeros_like(star.state), nothing).abs().max() < 1e-10
    assert moved.initial_state(3)[1].tolist() == (-star.state).tolist()
    box, there = invariant_set(cell, BOUND), invariant_set(moved, BOUND)
    torch.testing.assert_close(there.low + star.state, box.low)
    inputs = BOUND * noise(20, 5, 2, seed=seed).sign()
    assert there.enlarged(1e-12 * there.radius.max().item()).contains(unroll(moved, inputs).detach()).all()


@pytest.mark.parametrize("kind", ["tanh", "lstm"])
def test_the_search_takes_a_cell_that_was_moved(kind):
    cell = project(zoo.make(kind, 2, 1.0, 0.3, 0), 0.8)
    moved = Translated(cell, fixed_point(cell).state)
    found, here = adversarial_gain(moved, steps=30), adversarial_gain(cell, steps=30)
    assert found.gain <= contraction_rate(cell)
    assert found.gain == pytest.approx(here.gain, rel=1e-6)


@settings(max_examples=25)
@given(zoo.cells(), st.sampled_from([0.0, 0.1, 3.0]), st.booleans(), st.integers(0, 2**32))
def test_with_its_readout_a_cell_keeps_its_rate_in_the_weighted_norm(cell, size, bias, seed):
    cell = cell()
    readout = linear(cell.state_size, 2, size, bias, seed)
    both, width = WithReadout(cell, readout), cell.state_width
    gated = isinstance(cell, zoo.KINDS["lstm"] | zoo.KINDS["gru"])
    norm, order = ("weighted", inf) if gated else (2, 2)
    rate = contraction_rate(both, input_bound=BOUND)
    assert rate == contraction_rate(cell, norm, BOUND)
    L = both.lipschitz(norm) or 1.0
    w = contraction_certificate(cell, BOUND).weights if gated else torch.ones(width)

    def weighted(v):
        return torch.maximum(
            torch.linalg.vector_norm(v[:, :width] / w, order, dim=-1),
            torch.linalg.vector_norm(v[:, width:], order, dim=-1) / L,
        )

    h, x = zoo.points(cell, BOUND, 100)
    states = torch.cat([h, 5 * noise(100, 2, seed=seed)], -1)
    with torch.no_grad():
        after = both(states, x)
        swapped = both(states.roll(1, 0), x)
    assert (weighted(after - swapped) <= rate * weighted(states - states.roll(1, 0)) + 1e-12).all()


@settings(max_examples=25)
@given(zoo.cells(most=1.0), st.booleans(), st.integers(0, 2**32))
def test_what_is_read_out_is_the_state(cell, bias, seed):
    cell = contractive(cell())
    readout = linear(cell.state_size, 3, 2.0, bias, seed)
    both = WithReadout(cell, readout)
    inputs = BOUND * noise(20, 5, 2, seed=seed).sign()
    with torch.no_grad():
        states, plain = unroll(both, inputs), unroll(cell, inputs)
        torch.testing.assert_close(both.hidden(states), readout(cell.hidden(plain)))
        torch.testing.assert_close(states[..., : cell.state_width], plain)
    box = invariant_set(both, BOUND)
    assert box.enlarged(1e-12 * box.radius.max().item()).contains(states).all()
    assert box.contains(torch.zeros(both.state_width, dtype=torch.float64))
    corner = box.high[: cell.state_width]
    assert (readout(cell.hidden(corner)) <= box.high[cell.state_width :] + 1e-12).all()


def test_the_norm_of_a_readout():
    readout = linear(2, 1)
    with torch.no_grad():
        readout.weight.copy_(torch.tensor([[3.0, -4.0]]))
    both = WithReadout(SimpleCell(1, 2, dtype=torch.float64), readout)
    assert both.lipschitz() == pytest.approx(5.0)
    assert both.lipschitz("max") == pytest.approx(7.0)


def halving(outputs, weight):
    """One unit that halves its state, read out several times with the same weight."""
    cell, readout = LinearCell(1, 1, dtype=torch.float64), torch.nn.Linear(1, outputs, bias=False, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(0.5)
        readout.weight.fill_(weight)
    return WithReadout(cell, readout)


def test_many_outputs_in_a_lyapunov_norm():
    """Their 2-norm is beyond the largest row sum of V, which would promise too much."""
    both = halving(9, 1.0)
    assert both.lipschitz("lyapunov") == both.lipschitz(2) == pytest.approx(3.0)
    apart = torch.zeros(10, dtype=torch.float64)
    apart[0] = 1.0
    size, rate = certificate(both).norm_function("lyapunov"), contraction_rate(both, "lyapunov")
    after = both(apart, torch.zeros(1, dtype=torch.float64)) - both(0 * apart, torch.zeros(1, dtype=torch.float64))
    assert size(after.detach()) <= rate * size(apart) < 1.01 * size(after.detach())


def test_in_the_plain_norm_a_readout_can_undo_a_contraction():
    both = halving(1, 3.0)
    assert contraction_rate(both) == pytest.approx(0.5)
    J = both.jacobian(torch.zeros(2, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
    assert J.tolist() == [[0.5, 0.0], [1.5, 0.0]]
    assert torch.linalg.matrix_norm(J, 2).item() == pytest.approx(0.5 * sqrt(10))


@settings(max_examples=12)
@given(zoo.cells(most=1.0), st.integers(0, 2**32), st.sampled_from([1e-1, 1e-4, 1e-9]))
def test_the_bound_of_a_fixed_point_is_kept(cell, seed, tolerance):
    cell = contractive(cell())
    x = BOUND * noise(2, seed=seed)
    near = fixed_point(cell, x, tolerance=tolerance)
    h = near.state
    with torch.no_grad():
        for _ in range(300):
            h = cell(h, x)
    norm = inf if isinstance(cell, (GRUCell, LSTMCell)) else 2
    assert torch.linalg.vector_norm(near.state - h, norm) <= near.error_bound + 1e-13
    assert near.error_bound <= tolerance
    assert near.rate <= contraction_rate(cell, input_bound=BOUND)


def test_a_fixed_point_by_hand():
    """h = a h + x: x / (1 - a) after steps that halve the error, exactly as the bound says."""
    cell = LinearCell(1, 1, dtype=torch.float64)
    with torch.no_grad():
        cell.W.fill_(0.5)
        cell.U.fill_(1.0)
        cell.b.fill_(0.0)
    found = fixed_point(cell, torch.tensor([3.0]), tolerance=1e-3)
    assert (6 - found.state.item()) == pytest.approx(found.error_bound)
    assert found.steps == 13  # 6 / 2^13 is the first below a thousandth
    assert fixed_point(cell).state.item() == 0
    assert not found.state.requires_grad


def test_a_fixed_point_in_a_norm_of_its_own():
    cell = LinearCell(1, 2, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.5, 4.0], [0.0, 0.5]]))
        cell.b.fill_(1.0)
    with pytest.raises(ValueError, match=r"^LinearCell.* contract under this input: its rate is 4\.0\d+$"):
        fixed_point(cell)
    assert fixed_point(cell, norm="lyapunov").state.tolist() == pytest.approx([18.0, 2.0])


def test_a_fixed_point_with_a_readout():
    cell = project(zoo.make("lstm", 2, 1.0, 0.3, 0), 0.8)
    both = WithReadout(Translated(cell, noise(4)), linear(2, 1, 2.0))
    found = fixed_point(both, torch.ones(2)).state
    state = fixed_point(cell, torch.ones(2)).state
    torch.testing.assert_close(found[:4] + noise(4), state, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(found[4:], both.readout(state[:2]).detach(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("norm", [2, "max", "lyapunov"])
@pytest.mark.parametrize("kind", ["linear", "moved", "read", "read nothing"])
def test_the_norm_that_an_error_is_in(kind, norm):
    cell = LinearCell(1, 2, dtype=torch.float64)
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.5, 0.2], [0.1, -0.4]]))
    P, v = lyapunov_norm(cell.W), torch.tensor([0.3, -0.7], dtype=torch.float64)
    inner = {2: v.norm().item(), "max": 0.7, "lyapunov": (v @ P @ v).sqrt().item()}[norm]
    if not kind.startswith("read"):
        assert certificate(Translated(cell, v) if kind == "moved" else cell).norm_function(norm)(v) == pytest.approx(
            inner, rel=1e-13
        )
        return
    both = WithReadout(cell, linear(2, 2, 1.0 if kind == "read" else 0.0))
    L = both.lipschitz(norm) or 1.0
    for scale in (0.01, 10.0):
        y = scale * torch.tensor([3.0, -4.0], dtype=torch.float64)
        outer = scale * (4 if norm == "max" else 5) / L
        assert certificate(both).norm_function(norm)(torch.cat([v, y])) == pytest.approx(max(inner, outer), rel=1e-13)


def test_the_promised_steps():
    """The a-priori bound after the first step is met in so many more; the error is rounded upwards."""
    cell = LinearCell(1, 1, dtype=torch.float64)
    for rate, x in ((0.3, 0.7), (0.9, -2.0)):
        with torch.no_grad():
            for parameter, value in zip(cell.parameters(), (rate, 1.0, 0.0), strict=True):
                parameter.fill_(value)
        found = fixed_point(cell, torch.tensor([x]), tolerance=1e-6)
        x = torch.tensor(x).double().item()
        assert found.steps == ceil(log(1e-6 * (1 - rate) / abs(x)) / log(rate))
        apart = abs(found.state.item() - x / (1 - rate))
        assert apart == pytest.approx(found.error_bound, rel=1e-6)
        assert found.rate == contraction_rate(cell)
        exact = fixed_point(cell, torch.tensor([x]), tolerance=100.0)
        assert exact.steps == 1
        certified = Fraction(found.rate)
        assert certified / (1 - certified) * abs(Fraction(x)) <= Fraction(exact.error_bound)
        assert exact.error_bound == pytest.approx(rate / (1 - rate) * abs(x), rel=1e-13)


def test_the_first_state_that_is_near_enough():
    """Where the slope of tanh has fallen the bound of the error is met long before the promise."""
    cell, x = SimpleCell(1, 1, dtype=torch.float64), torch.tensor([2.0], dtype=torch.float64)
    with torch.no_grad():
        for parameter, value in zip(cell.parameters(), (0.9, 1.0, 0.0), strict=True):
            parameter.fill_(value)
    found, rate = fixed_point(cell, x, tolerance=1e-6), contraction_rate(cell)
    states = [torch.zeros(1, dtype=torch.float64)]
    while len(states) < 2 or rate / (1 - rate) * (states[-1] - states[-2]).abs() > 1e-6:
        states.append(cell(states[-1], x).detach())
    assert found.steps == len(states) - 1 < log(1e-6 * (1 - rate)) / log(rate) / 4
    assert torch.equal(found.state, states[-1])


def test_a_fixed_point_unless_told_otherwise():
    cell = project(zoo.make("lstm", 2, 1.0, 0.3, 0), 0.8)
    first, second = fixed_point(cell), fixed_point(cell, torch.zeros(2), "weighted", 1e-12)
    assert first.state.tolist() == second.state.tolist()
    assert (first.error_bound, first.steps, first.rate) == (second.error_bound, second.steps, second.rate)
    assert first.rate == contraction_rate(cell, input_bound=0.0) < contraction_rate(cell, input_bound=1.0)
    assert fixed_point(cell, torch.tensor([0.5, -2.0])).rate == contraction_rate(cell, input_bound=2.0)
    assert all(p.requires_grad for p in cell.parameters())


def test_a_fixed_point_of_single_numbers_is_found_in_double():
    cell = project(zoo.make("tanh", 2, 1.0, 0.3, 0, torch.float32), 0.8)
    found = fixed_point(cell)
    assert found.state.dtype == torch.float64
    assert found.error_bound <= 1e-12
    assert cell.W.dtype == torch.float32


@pytest.mark.parametrize("kind", ["tanh", "lstm"])
def test_boxes_in_exact_numbers(kind):
    """Moved, and with all that is read out of it: no face lies inside the true one, nor far outside."""
    cell = zoo.make(kind, 2, 0.3, 0.3, 0)
    shift, box = 100 * noise(cell.state_width, seed=1), invariant_set(cell, BOUND)
    moved = Translated(cell, shift)
    assert (moved.input_size, moved.state_size, moved.state_width) == (2, 2, cell.state_width)
    there = moved.box(box)
    for low, high, s, below, above in zip(box.low, box.high, shift, there.low, there.high, strict=True):
        low, high, s, below, above = (Fraction(number.item()) for number in (low, high, s, below, above))
        assert 0 <= low - s - below < 1e-12
        assert 0 <= above - (high - s) < 1e-12
    for bias, size, c_size in (
        (True, 2.0, 2.0),
        (False, 2.0, 0.0),
        (True, 1e6, 1e6),
        (True, 1e-6, 1e-6),
        (True, 1e-9, 1e6),
    ):
        readout = linear(2, 3, size, bias, 5)
        if bias:
            readout.bias.detach().mul_(c_size / size)
        both = WithReadout(cell, readout)
        assert (both.input_size, both.state_size, both.state_width) == (2, 3, cell.state_width + 3)
        around = both.box(box)
        assert torch.equal(around.low[:-3], box.low)
        assert torch.equal(around.high[:-3], box.high)
        for j, row in enumerate(readout.weight):
            c = Fraction(readout.bias[j].item()) if bias else 0
            reached = [
                sorted(Fraction(v.item()) * Fraction(end[i].item()) for end in (box.low, box.high))
                for i, v in enumerate(row)
            ]
            lows, highs = zip(*reached, strict=True)
            assert 0 <= min(0, sum(lows) + c) - Fraction(around.low[j - 3].item()) < 1e-12 * max(size, c_size)
            assert 0 <= Fraction(around.high[j - 3].item()) - max(0, sum(highs) + c) < 1e-12 * max(size, c_size)


def test_a_readout_that_is_not_finite_is_named():
    readout = linear(2, 1)
    with torch.no_grad():
        readout.weight[0, 0] = inf
    for norm in (2, "max"):
        with pytest.raises(ValueError, match=r"^nothing is certified for V of the readout, which holds"):
            WithReadout(SimpleCell(1, 2, dtype=torch.float64), readout).lipschitz(norm)


def test_a_shift_takes_the_type_of_the_cell():
    moved = Translated(SimpleCell(1, 2, dtype=torch.float64), torch.ones(2, requires_grad=True))
    assert moved.shift.dtype == torch.float64
    assert not moved.shift.requires_grad
    assert "shift" in moved.state_dict()


def test_rounding_ends_the_iteration():
    cell = project(zoo.make("tanh", 4, 1.0, 1.0, 0), 0.99)
    found = fixed_point(cell, tolerance=1e-300)
    assert found.error_bound < 1e-12
    assert found.steps < 10_000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Translated(SimpleCell(1, 2), torch.zeros(3)),
            r"^the shift must be a state of 2 numbers, got shape",
        ),
        (
            lambda: WithReadout(SimpleCell(1, 2), torch.nn.Linear(3, 1)),
            "^the readout reads 3 numbers, and the cell",
        ),
        (lambda: WithReadout(SimpleCell(1, 2), torch.nn.Tanh()), r"must be a torch.nn.Linear, whose norm is known"),
        (
            lambda: fixed_point(LinearCell(1, 1), torch.zeros(2)),
            r"^the input must be 1 finite numbers, got",
        ),
        (lambda: fixed_point(LinearCell(1, 1), torch.tensor([inf])), "1 finite numbers"),
        (lambda: fixed_point(LSTMCell(1, 1), tolerance=0.0), "^tolerance must be a positive number, got 0"),
        (lambda: fixed_point(LSTMCell(1, 1), tolerance=inf), "^tolerance must be a positive number, got inf"),
        (
            lambda: contraction_rate(Translated(Stack([SimpleCell(1, 1)]), torch.zeros(1))),
            "no contraction is certified",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
