"""Linear separability with its proof."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from attrs import evolve
from exact_nets import INTEGERS, NUMBERS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fhx.exact import separate

SQUARE = ((0, 0), (0, 1), (1, 0), (1, 1))
QUARTER = Fraction(1, 4)


@st.composite
def labeled(draw, numbers=NUMBERS):
    dimension = draw(st.integers(1, 3))
    points = draw(st.lists(st.tuples(*[numbers] * dimension), min_size=1, max_size=9))
    return points, draw(st.lists(st.integers(0, 1), min_size=len(points), max_size=len(points)))


@pytest.mark.parametrize(("inputs", "separable"), [(1, 4), (2, 14), (3, 104)])
def test_boolean_functions(inputs, separable):
    """The numbers of threshold functions of 1, 2, 3 inputs are known."""
    points = list(product((0, 1), repeat=inputs))
    found = [separate(points, labels) for labels in product((0, 1), repeat=2**inputs)]
    assert all(separation.check() for separation in found)
    assert sum(map(bool, found)) == separable


@pytest.mark.claim("C2")
def test_xor():
    separation = separate(SQUARE, [0, 1, 1, 0])
    assert not separation
    assert separation.multipliers == (QUARTER,) * 4
    assert separation.w is None
    assert separation.b is None
    assert separation.check()


def test_and():
    separation = separate(SQUARE, [0, 0, 0, 1])
    assert separation
    assert separation.multipliers is None
    for point, label in zip(SQUARE, (0, 0, 0, 1), strict=True):
        value = sum(w * x for w, x in zip(separation.w, point, strict=True)) + separation.b
        assert value >= 1 if label else value <= -1


@settings(max_examples=150)
@given(labeled())
def test_one_proof_or_the_other(case):
    separation = separate(*case)
    assert separation.check()
    numbers = (*separation.w, separation.b) if separation else separation.multipliers
    assert all(type(value) is Fraction for value in numbers)


@settings(max_examples=100)
@given(labeled(INTEGERS))
def test_against_floats(case):
    """Points of small integers, where a solver in floats can tell."""
    points, labels = case
    signs = np.where(labels, 1, -1)[:, None]
    rows = signs * np.c_[np.array(points), np.ones(len(points))]
    solved = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    assert solved.status in (0, 2)
    assert bool(separate(points, labels)) == (solved.status == 0)


def test_margins_that_floats_miss():
    tiny = Fraction(1, 10**40)
    assert separate([(1,), (1 + tiny,)], [0, 1]).check()
    assert bool(separate([(1,), (1 + tiny,)], [0, 1]))
    assert not separate([(1,), (1 + tiny,), (1 + 2 * tiny,)], [0, 1, 0])


def test_one_label_only_and_a_point_with_both():
    assert separate([(0,), (5,)], [1, 1])
    assert separate([(0,), (5,)], [0, 0])
    both = separate([(3, 4), (0, 0), (3, 4)], [0, 1, 1])
    assert both.multipliers == (Fraction(1, 2), 0, Fraction(1, 2))


def test_check_sees_what_is_no_proof():
    xor, conjunction = separate(SQUARE, [0, 1, 1, 0]), separate(SQUARE, [0, 0, 0, 1])
    half = Fraction(1, 2)
    for wrong in (
        evolve(xor, multipliers=(half, half, 0, 0)),
        evolve(xor, multipliers=(0, 0, 0, 0)),
        evolve(xor, multipliers=(half, half, half, half)),
        evolve(xor, multipliers=(QUARTER,) * 3),
        evolve(xor, labels=(0, 0, 0, 1)),
        evolve(separate([(0,), (1,), (2,)], [0, 1, 1]), w=None, b=None, multipliers=(half, 1, -half)),
        evolve(xor, multipliers=None),
        evolve(conjunction, w=(1, 1), b=-1),
        evolve(conjunction, w=(*conjunction.w, 0)),
        evolve(conjunction, b=None),
        evolve(conjunction, multipliers=xor.multipliers),
        evolve(conjunction, labels=(0, 1, 1, 0)),
    ):
        assert wrong.check() is False


@pytest.mark.parametrize(
    ("points", "labels", "error", "message"),
    [
        ([(0.5,)], [0], TypeError, "points[0][0] is the float 0.5"),
        ([(0, 1), (1,)], [0, 1], ValueError, "points[1] has 1 entries, but 2"),
        ([(0,), (1,)], [0], ValueError, "there are 2 points and 1 labels"),
        ([(0,), (1,)], [0, 2], ValueError, "labels[1] is 2, neither 0 nor 1"),
        ([], [], ValueError, "there are no points"),
    ],
)
def test_bad_input(points, labels, error, message):
    with pytest.raises(error, match=re.escape(message)):
        separate(points, labels)
