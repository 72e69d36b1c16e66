"""Comparison: never asks the reader's object, and says in one sentence what is wrong."""

import re
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fhx.exercises import difference
from fhx.exercises.compare import MalformedError, is_open, mismatch


class Agreeable(float):
    """Claims to be equal to everything, and at no distance from it."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


class YesTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class OtherTensor(torch.Tensor):
    """A subclass may override any method that a comparison calls."""


class YesList(list):
    def __iter__(self):
        return iter([1, 2])

    def __len__(self):
        return 2


scalars = st.one_of(st.booleans(), st.integers(), st.floats(), st.fractions(), st.text(max_size=5), st.none())
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3))


@given(values)
def test_everything_is_itself(value):
    assert difference(value, value) is None


@given(st.lists(st.integers(), min_size=1), st.data())
def test_one_changed_item_is_found_and_placed(numbers, data):
    place = data.draw(st.integers(0, len(numbers) - 1))
    changed = [*numbers]
    changed[place] += 1
    assert (
        difference(changed, numbers) == f"at [{place}]: the values differ: {changed[place]} instead of {numbers[place]}"
    )


@given(st.floats(-1e6, 1e6), st.floats(-3, 3))
def test_floats_are_compared_within_the_tolerance(value, step):
    error = step * 1e-3 * max(1.0, abs(value))
    if abs(abs(step) - 1) > 1e-6:
        assert (difference(value + error, value, 1e-3) is None) == (abs(step) < 1)


TENSOR = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("yours", "expected"),
    [
        (3, 3.0),
        (Fraction(1, 2), 0.5),
        (np.float32(0.5), 0.5),
        (torch.tensor(0.5), 0.5),
        (torch.tensor(3), 3),
        (np.bool_(True), True),
        (2, Fraction(2)),
        (float("nan"), float("nan")),
        (float("inf"), float("inf")),
        ((1, [2.0, 3.0]), [1, (2.0, 3.0)]),
        (namedtuple("Pair", "a b")(1, 2), (1, 2)),
        (torch.nn.Parameter(TENSOR), TENSOR),
        (torch.tensor([0.1, 1e6]), torch.tensor([0.1, 1e6 + 1], dtype=torch.float64)),
        (torch.tensor([0.1], dtype=torch.float64), torch.tensor([0.1])),
        (np.array([0.1], dtype=np.float32), np.array([0.1])),
        (torch.tensor(0.1, dtype=torch.float32), 0.1),
        (np.float32(0.1), 0.1),
        (torch.tensor(0.1).item(), 0.1),
        ((torch.tensor(1000.0) + 1e-4).item(), 1000.0),
        (np.array([1, 2]), np.array([1, 2])),
        (np.array([1, 2]), [1, 2]),
        (torch.tensor([0.1, 3.0]), (0.1, 3.0)),
        (TENSOR, [[1.0, 2.0], [3.0, 4.0]]),
        (np.array([Fraction(1, 2), Fraction(3)]), [Fraction(1, 2), Fraction(3)]),
        (TENSOR.numpy(), TENSOR),
        (TENSOR, TENSOR.numpy()),
        ({"a": 1.0}, {"a": 1.0}),
    ],
)
def test_these_are_the_same(yours, expected):
    assert difference(yours, expected) is None


@pytest.mark.parametrize(
    ("yours", "expected", "why"),
    [
        (None, 1, r"^expected a whole number \(int\), got None; is a return missing\?$"),
        (1, True, "expected True or False, got the int 1"),
        (True, 1, r"expected a whole number \(int\), got the bool True"),
        (1.0, 1, r"expected a whole number \(int\), got the float 1.0"),
        (0.5, Fraction(1, 2), "expected an exact Fraction or int, got the float 0.5"),
        (True, 1.0, "expected a number, got the bool True"),
        ("1", 1.0, "expected a number, got the string '1'"),
        (2, None, "expected None, got the int 2"),
        (0.25, 0.5, "the values differ by 0.25"),
        (0.100001, 0.1, "the values differ by 1e-06"),
        (0.0, 3e-6, "the values differ by 3e-06"),
        (1.0, 1.000001, "the values differ by 1e-06"),
        (torch.tensor(0.1).item() + 1e-4, 0.1, "the values differ by 0.0001"),
        (np.array([1.0, 2.0]), [1, 2], r"at \[0\]: expected a whole number \(int\), got"),
        (np.array([1, 2, 3]), [1, 2], "expected a list or tuple of 2, each a whole number .*, got an array of shape"),
        (np.array([0.5]), [Fraction(1, 2)], r"at \[0\]: expected an exact Fraction or int, got"),
        (float("nan"), 0.5, "^expected a number, got the float nan$"),
        (0.5, float("nan"), "the values differ"),
        (float("inf"), 0.5, "the values differ by inf"),
        (10**400, 0.5, "the values differ"),
        (Agreeable(0.5), 1.0, "got an object of type Agreeable"),
        ([1, Agreeable(3)], [1, 2.0], r"at \[1\]: expected a number, got an object of type Agreeable"),
        (YesList([9, 9]), [1, 2], r"at \[0\]: the values differ"),
        (YesList([]), [1, 2], "expected 2 items, got 0"),
        ([1, 2, 3], (1, 2), "expected 2 items, got 3"),
        (3, [1, 2], r"expected a list or tuple of 2, each a whole number \(int\), got the int 3"),
        ({"a": 1}, {"a": 1, "b": 2}, "no entry for 'b'"),
        ({"a": 1, "b": 2}, {"a": 1}, r"expected a dict with the keys \['a'\], got an entry for 'b' too"),
        ({"a": [1, 2]}, {"a": [1, 3]}, r"at \['a'\]\[1\]: the values differ"),
        (TENSOR.as_subclass(YesTensor), TENSOR, "expected a tensor of shape .* of type YesTensor"),
        (TENSOR.as_subclass(OtherTensor), TENSOR, "expected a tensor of shape .* of type OtherTensor"),
        (TENSOR.int(), TENSOR, "expected dtype torch.float32, got torch.int32"),
        (TENSOR.half(), TENSOR, "expected dtype torch.float32, got torch.float16"),
        (TENSOR, TENSOR.long(), "expected dtype torch.int64, got torch.float32"),
        (TENSOR + 1e-4, TENSOR.double(), r"the values differ at \[0, 0\]"),
        (TENSOR + 1e-6, TENSOR, r"the values differ at \[0, 0\]"),
        (torch.tensor(0.1001), 0.1, "the values differ by 0.0001"),
        (torch.tensor(0.1 + 1e-6, dtype=torch.float64), 0.1, "the values differ by 1e-06"),
        (TENSOR[0], TENSOR, r"expected shape \(2, 2\), got \(2,\)"),
        (
            TENSOR.tolist(),
            TENSOR,
            r"expected a tensor of shape \(2, 2\), torch.float32, got the list \[\[1.0, 2.0\], \[3.0, 4.0\]\]",
        ),
        (TENSOR.double().numpy(), TENSOR.int(), "expected dtype torch.int32, got float64"),
        (TENSOR.to_sparse(), TENSOR, "expected a tensor"),
        (TENSOR.to_sparse(), TENSOR.numpy(), r"expected an array of shape \(2, 2\), float32, got a tensor of shape"),
        (TENSOR + torch.tensor([[0, 0], [1, 0]]), TENSOR, r"the values differ at \[1, 0\]: 4.0 instead of 3.0"),
        (torch.tensor([torch.nan]), torch.tensor([1.0]), r"^expected a number at \[0\], got nan$"),
        ([0.1 + 2e-9, 1.0], [0.1, 1.0], r"at \[0\]: the values differ by 2e-09: 0.100000002 instead of 0.1"),
        ([Fraction(1, 3)], [Fraction(2, 3)], r"at \[0\]: the values differ: 1/3 instead of 2/3"),
        (np.array([1, 3]), np.array([1, 2]), r"differ at \[1\]: 3 instead of 2"),
        (np.array([1.0], dtype=object), np.array([1.0]), "expected dtype float64, got object"),
    ],
)
def test_these_differ_and_say_why(yours, expected, why):
    found = difference(yours, expected)
    assert found is not None
    assert re.search(why, found), found


def test_an_oracle_of_an_unknown_type_is_an_error():
    with pytest.raises(TypeError, match="object"):
        difference(1, object())


@pytest.mark.parametrize(
    ("value", "open_"),
    [(..., True), (NotImplemented, True), ([1, ...], True), ({"W": (..., 1)}, True), (None, False), ([0, ()], False)],
)
def test_holes_are_found_inside_too(value, open_):
    assert is_open(value) is open_


@pytest.mark.parametrize(
    ("yours", "expected", "malformed"),
    [
        (None, 1, True),
        ("a", 1, True),
        ([1], [1, 2], True),
        ([1, "a"], [1, 2], True),
        (float("nan"), 1.0, True),
        (torch.tensor([torch.nan]), torch.tensor([1.0]), True),
        (TENSOR[0], TENSOR, True),
        (TENSOR.long(), TENSOR, True),
        ({"b": 1}, {"a": 1}, True),
        (2, 1, False),
        (2, None, False),
        ([1, 3], [1, 2], False),
        (float("nan"), float("inf"), True),
        (TENSOR + 1, TENSOR, False),
    ],
)
def test_another_kind_is_told_from_another_value(yours, expected, malformed):
    assert mismatch(yours, expected).is_malformed is malformed


def test_what_is_malformed_is_said_in_one_line():
    assert str(MalformedError("a list", None)) == "expected a list, got None; is a return missing?"
    assert str(MalformedError("a list", 3, "too few")) == "expected a list, got the int 3: too few"
    assert str(MalformedError("two numbers", why="got three")) == "expected two numbers, got three"
