"""How a check shows values: numbers to a few digits, in one line, and never long."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhx.exercises import check
from fhx.exercises.show import LONGEST, is_short, named, show
from fhx.machines import DFA

plain = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.none()),
    lambda v: st.lists(v, max_size=3) | st.tuples(v) | st.dictionaries(st.text(max_size=3), v, max_size=3),
)


@given(plain)
def test_what_holds_no_tensor_is_shown_as_it_is(value):
    text = repr(value)
    assert show(value) == text if len(text) <= LONGEST else len(show(value)) <= LONGEST


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
    ends = "tensor(shape (20, 20): 0., 1., 2., ..., 397., 398., 399.)"
    assert show(large) == ends
    assert show([large, small[:3]]) == f"[{ends}, tensor([0., 1., 2.])]"


def named_function():
    """For its name."""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (list(range(100)), "list(shape (100,): 0, 1, 2, ..., 97, 98, 99)"),
        ([[[0.5, 2.0]] * 2] * 50, "list(shape (50, 2, 2): 0.5, 2., 0.5, ..., 2., 0.5, 2.)"),
        ((torch.ones(9, 9), np.ones(70), [0.5] * 99, "relu"), "(tensor[9×9], array[70], list[99], 'relu')"),
        (torch.ones(9, 9, dtype=torch.float64), "tensor(shape (9, 9): 1., 1., 1., ..., 1., 1., 1.)"),
        (torch.ones(9, 9, dtype=torch.int32), "tensor[9×9]"),
        (["ab"] * 50, "['ab', 'ab', 'ab', ..., 'ab', 'ab', 'ab'] of 50 items"),
        (dict.fromkeys(range(50), 0), "{0: 0, 1: 0, 2: 0, ..., 47: 0, 48: 0, 49: 0} of 50 items"),
        ([Fraction(10**20, 7)] * 2, "[100000000000000000000/7, 100000000000000000000/7]"),
        (named_function, "function named_function"),
        ([lambda: 0], "[function without a name]"),
        (object(), "an object of type object"),
        ("a" * 90, f"'{'a' * 41} … (92 characters)"),
        (
            DFA(range(3), "ab", {(q, a): (q + 1) % 3 for q in range(3) for a in "ab"}, 0, [2]),
            "DFA(states 0 1 2; a to 1 2 0; b to 1 2 0; start 0; accept 2)",
        ),
        (
            DFA(range(30), "ab", {(q, a): (q + 1) % 30 for q in range(30) for a in "ab"}, 0, [2]),
            "DFA with 30 states",
        ),
        (torch.nn.Sequential(torch.nn.Tanh()), "Sequential( (0): Tanh() )"),
    ],
)
def test_in_a_line_values_are_told_by_their_shapes_and_few_numbers(value, text):
    assert show(value, 60) == text
    assert len(text) <= 61


@pytest.mark.parametrize(
    ("value", "text", "short"),
    [
        (list(range(100)), "list(shape (100,): 0, 1, 2, ..., 97, 98, 99)", True),
        ([[0.5] * 9] * 9, "list[9×9]", True),
        ("a" * 90, "", True),
        ([1, 2], "[1, 2]", False),
    ],
)
def test_a_text_tells_whether_it_is_all(value, text, short):
    assert is_short(text or show(value, 40)) is short


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        (3, "the int 3"),
        ("abc", "the string 'abc'"),
        (float("nan"), "the float nan"),
        (Fraction(1, 2), "the Fraction 1/2"),
        ([], "the list []"),
        ([0.5] * 90, "a list of 90 items"),
        ({1: "a" * 40}, "a dict of 1 entries"),
        (torch.ones(2, 3), "a tensor of shape (2, 3), torch.float32"),
        (np.ones(2), "an array of shape (2,), float64"),
        (named_function, "the function named_function"),
        (lambda: 0, "a function without a name"),
        (DFA, "the class DFA"),
        (object(), "an object of type object"),
    ],
)
def test_what_a_value_is_in_a_few_words(value, words):
    assert named(value) == words


def test_a_number_that_python_does_not_write_is_named_too():
    assert named(10**5000) == "the int <int object  … (33 characters)"


def test_what_stays_too_long_is_cut():
    text = show("a" * 1000)
    assert len(text) == LONGEST
    assert text.startswith(repr("a" * 500)[:-1])
    assert text.endswith("a … (1002 characters)")
    assert len(show([torch.ones(50, 50)] * 50)) <= LONGEST


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
