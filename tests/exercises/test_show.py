"""How a check shows values: numbers to a few digits, in one line, and never long."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhx.exercises import check
from fhx.exercises.show import LONGEST, show

plain = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.none()),
    lambda v: st.lists(v, max_size=3) | st.tuples(v) | st.dictionaries(st.text(max_size=3), v, max_size=3),
)


@given(plain)
def test_what_holds_no_tensor_is_shown_as_it_is(value):
    text = repr(value)
    assert show(value) == text if len(text) <= LONGEST else show(value).startswith(text[:LONGEST])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor([[1.0, -2.0], [1 / 3, 2e-7]]), "tensor([[1., -2.], [0.3333, 2e-07]])"),
        (torch.nn.Parameter(torch.tensor([1.23456])), "tensor([1.235])"),
        (torch.tensor(0.5, dtype=torch.float64), "tensor(0.5, dtype=torch.float64)"),
        (torch.tensor([0.5], dtype=torch.bfloat16), "tensor([0.5], dtype=torch.bfloat16)"),
        (torch.tensor([1, 123456]), "tensor([1, 123456])"),
        (torch.tensor([True, False]), "tensor([True, False])"),
        (torch.tensor([torch.nan, -torch.inf]), "tensor([nan, -inf])"),
        (torch.ones(0, 2), "tensor([])"),
        (np.array([2.0, 1 / 7]), "array([2., 0.1429])"),
        (
            ((torch.ones(1), 1 / 3), {"b": [torch.zeros(1)]}),
            "((tensor([1.]), 0.3333333333333333), {'b': [tensor([0.])]})",
        ),
        ((torch.ones(1),), "(tensor([1.]),)"),
        (ValueError("no"), "ValueError: no"),
    ],
)
def test_tensors_are_rounded_and_stand_in_one_line(value, text):
    assert show(value) == text


def test_a_small_tensor_is_whole_and_a_large_one_its_ends():
    small, large = torch.arange(40.0), torch.arange(400.0).reshape(20, 20)
    assert show(small) == f"tensor([{', '.join(f'{n}.' for n in range(40))}])"
    ends = "[[0., 1., ..., 18., 19.], [20., 21., ..., 38., 39.], ..., "
    ends += "[360., 361., ..., 378., 379.], [380., 381., ..., 398., 399.]]"
    assert show(large) == f"tensor(shape (20, 20): {ends})"
    assert show([large, small[:3]]) == f"[tensor(shape (20, 20): {ends}), tensor([0., 1., 2.])]"


def test_what_stays_too_long_is_cut():
    assert show("a" * 1000) == f"{repr('a' * 1000)[:LONGEST]} … (1002 characters)"
    assert len(show([torch.ones(50, 50)] * 50)) < LONGEST + 30


def test_a_trained_net_that_fails_is_shown_to_its_last_part():
    """Weights that survive noise: the largest net that may be handed in."""
    cell = torch.nn.RNNCell(2, 20)
    out = torch.nn.Linear(20, 1)
    net = cell.weight_hh, cell.weight_ih, cell.bias_hh, torch.zeros(20), out.weight[0], out.bias[0], "tanh"
    result = check("04-repair", lambda: net)
    assert result.status == "differs"
    (text,) = (text for name, text in result.lines if name == "yours")
    assert len(text) <= LONGEST
    assert "Parameter" not in text
    assert "requires_grad" not in text
    assert "\n" not in text
    assert text.endswith(", 'tanh')")


def test_sparse_tensors_and_subclasses_are_left_to_themselves():
    class Other(torch.Tensor):
        def __repr__(self):
            return "other"

    assert show(torch.ones(1).as_subclass(Other)) == "other"
    assert "sparse_coo" in show(torch.ones(1).to_sparse())
