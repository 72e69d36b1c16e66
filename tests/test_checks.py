"""Checks of arguments: a plain number, or a ``ValueError`` that names the argument and shows what it got."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
import torch

from fhx._checks import (
    all_at_least_zero,
    at_least,
    at_least_zero,
    check_kind,
    non_negative,
    one_of,
    positive,
    positive_number,
)

NOT_REAL = [nan, inf, -inf, "1", None, 1j, [1.0], 10**400]


@pytest.mark.parametrize("value", [3, np.int64(3), torch.tensor(3)])
def test_an_integer_of_any_library_becomes_an_int(value):
    assert (positive("n", value), type(positive("n", value))) == (3, int)


@pytest.mark.parametrize("value", [0, -1, 2.0, np.float64(2), "2", None, True, np.bool_(True), nan])
def test_what_is_not_a_positive_integer_is_refused(value):
    with pytest.raises(ValueError, match=r"^n must be an integer of at least 1, got "):
        positive("n", value)


def test_the_least_integer_is_allowed_and_none_below():
    assert [at_least("n", least, least) for least in (-2, 0, 5)] == [-2, 0, 5]
    with pytest.raises(ValueError, match=r"^n must be an integer of at least -2, got -3$"):
        at_least("n", -3, -2)


@pytest.mark.parametrize("check", [positive_number, non_negative])
@pytest.mark.parametrize("value", [2, 0.5, Fraction(1, 2), np.float32(0.5), torch.tensor(0.5), 5e-324])
def test_a_number_of_any_library_becomes_a_float(check, value):
    found = check("eps", value)
    assert (type(found), found) == (float, float(value))


@pytest.mark.parametrize("value", [0, -0.0, -1, Fraction(1, 10**400), *NOT_REAL], ids=lambda value: str(value)[:9])
def test_what_is_not_a_positive_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^eps must be a positive number, got "):
        positive_number("eps", value)


@pytest.mark.parametrize("value", [-1, -5e-324, *NOT_REAL], ids=lambda value: str(value)[:9])
def test_what_is_not_a_finite_number_of_at_least_zero_is_refused(value):
    with pytest.raises(ValueError, match=r"^eps must be a finite number of at least 0, got "):
        non_negative("eps", value)


@pytest.mark.parametrize("value", [-1, -0.5, nan, -inf, "3", None, [1], np.ones(2), torch.ones(2)], ids=str)
def test_what_is_not_at_least_zero_is_refused(value):
    with pytest.raises(ValueError, match=r"^size must be a number of at least 0, got "):
        at_least_zero("size", value)
    with pytest.raises(ValueError, match=r"^size must be a number of at least 0, got "):
        all_at_least_zero(first=0, size=value)


@pytest.mark.parametrize("value", [0, 0.5, float("inf")])
def test_a_bound_may_be_infinite(value):
    assert at_least_zero("size", value) == value
    all_at_least_zero(first=value, second=value)


def test_zero_is_not_negative():
    assert non_negative("eps", 0) == 0.0


def test_a_choice_is_among_what_is_known():
    assert one_of("norm", "max", {"max": 0, 2: 1}) == "max"
    with pytest.raises(ValueError, match=r"^norm must be one of 'max', 2, got 'min'$"):
        one_of("norm", "min", {"max": 0, 2: 1})


def test_a_value_of_another_kind_is_shown_in_short():
    assert check_kind(True, int, "count") is None
    with pytest.raises(TypeError, match=r"^count needs a int, not the str 'x'$"):
        check_kind("x", int, "count")
    with pytest.raises(TypeError) as caught:
        check_kind("x" * 1000, int, "count")
    assert str(caught.value) == f"count needs a int, not the str '{'x' * 76}..."
