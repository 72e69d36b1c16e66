"""Parameter counts against closed formulas; the widest cell within a budget."""

from functools import partial
from itertools import pairwise
from re import escape

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from fhx.cells import (
    AffineCell,
    DeepCell,
    DeepLSTMCell,
    GRUCell,
    HighwayCell,
    LinearCell,
    LSTMCell,
    ResidualCell,
    SimpleCell,
    Stack,
    parameter_count,
    width_for,
)

SHALLOW, LAYERED = [SimpleCell, LinearCell, LSTMCell, GRUCell], [DeepCell, ResidualCell, HighwayCell, DeepLSTMCell]
SIZE = st.integers(1, 9)
CASES = st.one_of(
    st.tuples(st.sampled_from(SHALLOW), st.just({})),
    st.tuples(st.sampled_from(LAYERED), st.fixed_dictionaries({"depth": st.integers(1, 5)})),
    st.tuples(
        st.just(DeepCell),
        st.fixed_dictionaries(
            {"depth": st.integers(1, 5), "width": st.none() | st.integers(2, 9), "normalized": st.booleans()}
        ),
    ),
    st.tuples(st.just(ResidualCell), st.just({"depth": 2, "scale": 0.5, "activation": nn.PReLU(3)})),
    st.tuples(st.just(HighwayCell), st.just({"depth": 2, "carry_bias": 1.0})),
)


def affine(blocks):
    return lambda n, d: blocks * d * (d + n + 1)


def deep(n, d, depth, width=None, normalized=False):
    rows = [*[width or d] * (depth - 1), d]
    return rows[0] * (d + n + 1) + sum(r * (m + 1) for m, r in pairwise(rows)) + 2 * sum(rows) * normalized


FORMULAS = {
    SimpleCell: affine(1),
    LinearCell: affine(1),
    LSTMCell: affine(4),
    GRUCell: lambda n, d: 3 * d * (d + n + 1) + d,
    DeepCell: deep,
    ResidualCell: lambda n, d, depth, scale=1.0, activation=None, leak=0.0: (
        d * n + depth * d * (d + 1) + (activation.num_parameters if activation else 0)
    ),
    HighwayCell: lambda n, d, depth, carry_bias=0.0: 2 * (d * n + depth * d * (d + 1)),
    DeepLSTMCell: lambda n, d, depth: (d if depth > 1 else 4 * d) * n + (depth + 3) * d * (d + 1),
}


@settings(max_examples=60)
@given(CASES, SIZE, st.integers(2, 9))
def test_the_count_is_the_formula(case, n, d):
    kind, options = case
    assert parameter_count(kind, n, d, **options) == FORMULAS[kind](n, d, **options)


@settings(max_examples=30)
@given(CASES, SIZE, st.integers(2, 9), st.integers(1, 4))
def test_the_count_of_a_stack(case, n, d, depth):
    kind, options = case
    layers = {**options, "depth": 2} if kind in LAYERED else options
    if isinstance(options.get("activation"), nn.Module):
        return  # the layers would share it
    make = (lambda *sizes, **placed: kind(*sizes, **layers, **placed)) if layers else kind
    first, other = (FORMULAS[kind](m, d, **layers) for m in (n, d))
    assert parameter_count(partial(Stack.repeat, make), n, d, depth=depth) == first + (depth - 1) * other


@settings(max_examples=60)
@given(st.integers(200, 10**6), CASES, SIZE)
def test_the_width_is_the_largest_within_the_budget(budget, case, n):
    kind, options = case
    least = 2 if options.get("normalized") else 1
    if FORMULAS[kind](n, least, **options) > budget:
        with pytest.raises(ValueError, match="more than the budget"):
            width_for(budget, kind, n, **options)
        return
    d = width_for(budget, kind, n, **options)
    assert FORMULAS[kind](n, d, **options) <= budget < FORMULAS[kind](n, d + 1, **options)


@settings(max_examples=60)
@given(CASES, SIZE, st.integers(2, 33))
def test_a_budget_that_a_width_uses_up_allows_it(case, n, d):
    kind, options = case
    budget = FORMULAS[kind](n, d, **options)
    assert width_for(budget, kind, n, **options) == d
    if d > 2:
        assert width_for(budget - 1, kind, n, **options) == d - 1


@pytest.mark.parametrize("kind", SHALLOW + LAYERED)
def test_nothing_is_drawn_and_where_weights_lie_counts_nothing(kind):
    depth, generator, before = {"depth": 2} if kind in LAYERED else {}, torch.Generator(), torch.get_rng_state()
    drawn = {"generator": generator, "dtype": torch.float64, "device": "cpu"}
    assert parameter_count(kind, 2, 3, **depth, **drawn) == FORMULAS[kind](2, 3, **depth)
    assert torch.equal(generator.get_state(), torch.Generator().get_state())
    assert torch.equal(torch.get_rng_state(), before)


def test_widths_by_hand():
    assert parameter_count(SimpleCell, 2, 10) == 10 * 13
    assert width_for(130, SimpleCell, 2) == 10
    assert width_for(129, SimpleCell, 2) == 9
    assert width_for(4 * 130, LSTMCell, 2) == 10
    tower = partial(Stack.repeat, SimpleCell)
    assert width_for(10 * 13 + 10 * 21, tower, 2, depth=2) == 10
    assert width_for(10 * 13 + 10 * 21 - 1, tower, 2, depth=2) == 9
    assert width_for(2 * 4 + 2 + 4, DeepCell, 1, depth=1, normalized=True) == 2


def test_a_cell_of_ones_own():
    class Mine(AffineCell):
        def step(self, h, drive):
            return drive

    def restless(*sizes, generator=None, **options):
        assert generator is None
        return Mine(*sizes, **options)

    generator = torch.Generator()
    assert parameter_count(Mine, 2, 3) == parameter_count(restless, 2, 3, generator=generator) == 3 * (3 + 2 + 1)
    assert width_for(18, restless, 2, generator=generator) == 3


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    def test_a_budget_that_is_too_small(self):
        with pytest.raises(ValueError, match="LSTMCell has at least 16 parameters, more than the budget of 15"):
            width_for(15, LSTMCell, 2)
        with pytest.raises(ValueError, match="DeepCell has at least 12 parameters, more than the budget of 11"):
            width_for(11, DeepCell, 1, depth=1, normalized=True)
        tower = partial(Stack.repeat, SimpleCell)
        law = f"{tower!r} has at least 7 parameters, more than the budget of 6"
        with pytest.raises(ValueError, match=f"^{escape(law)}$"):
            width_for(6, tower, 2, depth=2)
        assert width_for(7, tower, 2, depth=2) == 1
        with pytest.raises(ValueError, match=r"budget must be an integer of at least 1, got 1\.5"):
            width_for(1.5, LSTMCell, 2)

    def test_sizes_and_options(self):
        with pytest.raises(ValueError, match="state_size must be an integer of at least 1, got 0"):
            parameter_count(SimpleCell, 2, 0)
        with pytest.raises(ValueError, match="input_size must be an integer of at least 1, got 0"):
            parameter_count(SimpleCell, 0, 2)
        for kind in LAYERED:
            with pytest.raises(ValueError, match="depth must be an integer of at least 1, got 0"):
                parameter_count(kind, 2, 3, depth=0)
        with pytest.raises(ValueError, match="depth must be an integer of at least 1, got 0"):
            parameter_count(partial(Stack.repeat, SimpleCell), 2, 3, depth=0)
        with pytest.raises(ValueError, match="width must be an integer of at least 1, got 0"):
            width_for(99, DeepCell, 2, depth=2, width=0)
        with pytest.raises(TypeError, match="depth"):
            parameter_count(DeepCell, 2, 3)
        with pytest.raises(TypeError, match="gates"):
            parameter_count(LSTMCell, 2, 3, gates=3)
