"""Parameter counts by formula against the modules' own sums."""

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


def numbers(cell):
    return sum(p.numel() for p in cell.parameters())


@settings(max_examples=60)
@given(CASES, SIZE, st.integers(2, 9))
def test_the_formula_is_the_sum_over_the_module(case, n, d):
    kind, options = case
    assert parameter_count(kind, n, d, **options) == numbers(kind(n, d, **options))


@settings(max_examples=30)
@given(CASES, SIZE, st.integers(2, 9), st.integers(1, 4))
def test_the_formula_of_a_stack(case, n, d, depth):
    kind, options = case
    if isinstance(options.get("activation"), nn.Module):
        return  # the layers would share it
    stack = Stack([kind(d if k else n, d, **options) for k in range(depth)])
    assert parameter_count(Stack, n, d, depth=depth, layer=kind, layer_options=options) == numbers(stack)


@settings(max_examples=60)
@given(st.integers(200, 10**6), CASES, SIZE)
def test_the_width_is_the_largest_within_the_budget(budget, case, n):
    kind, options = case
    if parameter_count(kind, n, 1, **options) > budget:
        with pytest.raises(ValueError, match="more than the budget"):
            width_for(budget, kind, n, **options)
        return
    d = width_for(budget, kind, n, **options)
    assert parameter_count(kind, n, d, **options) <= budget < parameter_count(kind, n, d + 1, **options)


@pytest.mark.parametrize("kind", SHALLOW + LAYERED)
def test_how_weights_are_drawn_and_where_they_lie_counts_nothing(kind):
    depth = {"depth": 2} if kind in LAYERED else {}
    drawn = {"generator": torch.Generator(), "dtype": torch.float64, "device": "meta"}
    assert parameter_count(kind, 2, 3, **depth, **drawn) == numbers(kind(2, 3, **depth, **drawn))


def test_widths_by_hand():
    assert parameter_count(SimpleCell, 2, 10) == 10 * 13
    assert width_for(130, SimpleCell, 2) == 10
    assert width_for(129, SimpleCell, 2) == 9
    assert width_for(4 * 130, LSTMCell, 2) == 10
    assert width_for(10 * 13 + 10 * 21, Stack, 2, depth=2, layer=SimpleCell) == 10
    assert width_for(10 * 13 + 10 * 21 - 1, Stack, 2, depth=2, layer=SimpleCell) == 9


@pytest.mark.usefixtures("unchecked")
class TestBadInput:
    def test_a_budget_that_is_too_small(self):
        with pytest.raises(ValueError, match="LSTMCell has at least 16 parameters, more than the budget of 15"):
            width_for(15, LSTMCell, 2)
        with pytest.raises(ValueError, match=r"budget must be an integer of at least 1, got 1\.5"):
            width_for(1.5, LSTMCell, 2)

    def test_a_cell_without_a_formula(self):
        class Mine(AffineCell):
            def step(self, h, drive):
                return drive

        with pytest.raises(ValueError, match=r"there is a formula for DeepCell, .*, Stack, but none for .*Mine"):
            parameter_count(Mine, 2, 3)

    def test_sizes_and_options(self):
        with pytest.raises(ValueError, match="state_size must be an integer of at least 1, got 0"):
            parameter_count(SimpleCell, 2, 0)
        with pytest.raises(ValueError, match="input_size must be an integer of at least 1, got 0"):
            parameter_count(SimpleCell, 0, 2)
        for kind in LAYERED:
            with pytest.raises(ValueError, match="depth must be an integer of at least 1, got 0"):
                parameter_count(kind, 2, 3, depth=0)
        with pytest.raises(ValueError, match="depth must be an integer of at least 1, got 0"):
            parameter_count(Stack, 2, 3, depth=0, layer=SimpleCell)
        with pytest.raises(ValueError, match="width must be an integer of at least 1, got 0"):
            parameter_count(DeepCell, 2, 3, depth=2, width=0)
        with pytest.raises(TypeError, match="depth"):
            parameter_count(DeepCell, 2, 3)
        with pytest.raises(TypeError, match="gates"):
            parameter_count(LSTMCell, 2, 3, gates=3)
