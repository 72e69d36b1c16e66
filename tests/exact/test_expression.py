"""Expressions and formulas: against Python functions built beside them, truth tables, equality, bad input."""

import pickle
from fractions import Fraction
from itertools import product

import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from fhx.exact import (
    AND,
    NOT,
    OR,
    Expression,
    Matrix,
    affine,
    const,
    gradient_jump,
    if_then_else,
    maximum,
    one_sided_gradient,
    relu,
    slu,
    stack,
    sum_of,
    units_of,
    variable,
    variables,
)

NAMES = ("x", "y", "z")
x, y, z = map(variable, NAMES)
numbers = st.fractions(-3, 3, max_denominator=4)
points = st.fixed_dictionaries({name: numbers for name in NAMES})

# An expression, what it should be as a function of a point, and how many layers it should need at most.
written = st.recursive(
    st.one_of(
        st.sampled_from(NAMES).map(lambda name: (variable(name), lambda p: p[name], 0)),
        numbers.map(lambda k: (const(k), lambda p: k, 0)),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda ab: (ab[0][0] + ab[1][0], _sum(ab), max(ab[0][2], ab[1][2]))),
        st.tuples(inner, inner).map(lambda ab: (ab[0][0] - ab[1][0], _difference(ab), max(ab[0][2], ab[1][2]))),
        st.tuples(numbers, inner).map(lambda ka: (ka[0] * ka[1][0], lambda p: ka[0] * ka[1][1](p), ka[1][2])),
        inner.map(lambda a: (relu(a[0]), lambda p: max(a[1](p), 0), a[2] + 1)),
        inner.map(lambda a: (slu(a[0]), lambda p: min(max(a[1](p), 0), 1), a[2] + 1)),
    ),
    max_leaves=8,
)


def _sum(pair):
    return lambda p: pair[0][1](p) + pair[1][1](p)


def _difference(pair):
    return lambda p: pair[0][1](p) - pair[1][1](p)


@given(written, points)
def test_value_is_that_of_the_function_written_beside_it(case, point):
    e, f, layers = case
    assert e.evaluate(point) == f(point)
    assert e.substitute(point) == const(f(point))
    assert e.depth <= layers
    assert set(e.variables) <= set(NAMES)


@given(written, written, points)
def test_substitution_is_composition(outer, inner, point):
    composed = outer[0].substitute({"x": inner[0], "y": 2})
    assert composed.evaluate(point) == outer[1]({"x": inner[1](point), "y": 2, "z": point["z"]})


def test_depth_counts_nested_units():
    assert [const(1).depth, (x + 1).depth, relu(x).depth] == [0, 0, 1]
    assert (relu(x) + slu(relu(y) - x)).depth == 2
    assert relu(const(-2)) == const(0)
    assert slu(const(5)) == const(1)
    assert maximum(0, x, y).depth == 2


def test_equal_units_are_one_unit_whatever_their_names():
    twice = relu(x + y, "first") + relu(y + x, "second")
    assert twice == 2 * relu(x + y)
    assert [unit.name for unit in units_of([twice])] == ["first"]
    assert relu(x) != slu(x)
    assert relu(x) - relu(x) == const(0)
    assert len({relu(x + 1), relu(1 + x), relu(x + 2)}) == 2


def test_equality_of_deeply_nested_copies_is_quick():
    """Without sharing, comparing the k-th units compares all before them, twice as often with each level."""

    def nested(depth):
        return maximum(*variables("x", depth))

    one, other = nested(60), nested(60)
    assert one == other
    assert len(units_of([one, other])) == 59
    assert one != nested(59)


def test_units_are_listed_shallow_first_then_in_order():
    deep = relu(slu(y) + x, "c")
    names = [str(unit) for unit in units_of([deep + relu(z, "a"), relu(x, "b")])]
    assert names == ["a", "slu(y)", "b", "c"]


def test_order_of_terms_has_no_part_in_equality_and_expressions_pickle():
    e, same = 2 * x + relu(y - z) - 1, relu(-z + y) - 1 + x + x
    assert e == same
    assert hash(e) == hash(same)
    assert pickle.loads(pickle.dumps(e)) == e
    assert (e / 2) * 2 == e
    assert sum([x, y], start=1) == x + y + 1
    assert 1 - x == -(x - 1)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (2 * x - y + 1, "2 x - y + 1"),
        (-x, "-x"),
        (x / 2 - Fraction(1, 3) * y, "1/2 x - 1/3 y"),
        (const(0), "0"),
        (const(Fraction(-1, 2)), "-1/2"),
        (relu(x, "top") - slu(y - 1), "top - slu(y - 1)"),
        (sum_of(variables("v", 10)), "v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + ... (2 more terms)"),
        (relu(relu(relu(relu(relu(x))))), "relu(relu(relu(relu(...))))"),
    ],
)
def test_how_expressions_are_written(e, text):
    assert str(e) == text


@pytest.mark.parametrize(
    "make",
    [
        lambda: const(0.5),
        lambda: x + 0.5,
        lambda: x * 2.0,
        lambda: x / 2.0,
        lambda: sum_of([x, 1.0]),
        lambda: relu(1.5),
        lambda: x - True,
        lambda: Expression({"x": 1.0}),
        lambda: Expression({1: 1}),
        lambda: x * y,
        lambda: relu(x) * x,
        lambda: x.evaluate({"x": 0.5}),
        lambda: affine([[1.0]], [x]),
        lambda: one_sided_gradient(x, {"x": 0.5}, {"x": 1}),
    ],
)
def test_floats_and_what_is_not_piecewise_linear_are_refused(make):
    with pytest.raises(TypeError, match=r"float|bool|not piecewise linear|atom"):
        make()


def test_expressions_and_units_cannot_be_changed():
    e = relu(x)
    with pytest.raises(FrozenInstanceError):
        e.constant = 3
    with pytest.raises(FrozenInstanceError):
        units_of([e])[0].argument = y
    with pytest.raises(TypeError):
        e.terms["x"] = 1


def test_what_is_no_name_is_named():
    with pytest.raises(TypeError, match="the name of a variable is a string, not the int 3"):
        variable(3)


def test_missing_variable_is_named():
    with pytest.raises(ValueError, match=r"\['y'\]"):
        (x + relu(y)).evaluate({"x": 1})


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("layer", [relu, slu])
def test_connectives_have_their_truth_tables_in_one_layer(n, layer):
    vs = variables("v", n)
    for bits in product((0, 1), repeat=n):
        values = dict(zip([f"v{i}" for i in range(1, n + 1)], bits, strict=True))
        assert AND(*vs, layer=layer).evaluate(values) == all(bits)
        assert OR(*vs, layer=layer).evaluate(values) == any(bits)
    assert AND(*vs, layer=layer).depth == OR(*vs, layer=layer).depth == (n > 0)
    assert NOT(x).evaluate({"x": 1}) == 0


@given(st.sampled_from([0, 1]), st.fractions(0, 1), st.fractions(0, 1))
def test_choice_is_right_for_truth_values_and_the_unit_interval(c, t, e):
    values = {"x": c, "y": t, "z": e}
    assert if_then_else(x, y, z).evaluate(values) == (t if c else e)
    assert if_then_else(x, y).evaluate(values) == (t if c else 0)
    assert len(units_of([if_then_else(x, y)])) == 1
    assert [f.evaluate(values) for f in if_then_else(x, (y, z), (z, y))] == ([t, e] if c else [e, t])


def test_choice_is_wrong_outside_of_the_unit_interval():
    assert if_then_else(x, y).evaluate({"x": 1, "y": 2}) == 1
    assert if_then_else(x, y, z).evaluate({"x": 0, "y": 2, "z": 0}) == 1
    with pytest.raises(ValueError, match="2 and 1"):
        if_then_else(x, (y, z), (y,))


@given(st.lists(numbers, min_size=1, max_size=5))
def test_maximum_nests_one_unit_less_than_it_has_arguments(values):
    vs = variables("v", len(values))
    e = maximum(*vs)
    assert e.evaluate({f"v{i}": value for i, value in enumerate(values, start=1)}) == max(values)
    assert e.depth == len(units_of([e])) == len(values) - 1


def test_vectors():
    A, v = [[1, 2], [0, Fraction(1, 2)]], (x, relu(y))
    assert affine(A, v, (3, z)) == (x + 2 * relu(y) + 3, Fraction(1, 2) * relu(y) + z)
    assert affine(Matrix.of(A), v) == (x + 2 * relu(y), Fraction(1, 2) * relu(y))
    assert stack(x, (y, 1), ()) == (x, y, const(1))
    assert [str(e) for e in relu((x, y), "r")] == ["r1", "r2"]
    assert variables("v", 2) == (variable("v1"), variable("v2"))
    with pytest.raises(ValueError, match="shape"):
        affine(A, (x,))
    with pytest.raises(ValueError, match="maximum"):
        maximum()


@given(written, points, points, points)
def test_gradient_is_the_difference_quotient_beside_the_point(case, point, direction, other):
    """So near to the point that no crease lies between, which sizes and denominators here allow."""
    e, f, _ = case
    try:
        found = one_sided_gradient(e, point, direction)
    except ValueError:
        return
    near = {name: point[name] + direction[name] / 10**12 for name in NAMES}
    nearer = {name: near[name] + other[name] / 10**24 for name in NAMES}
    if any(direction.values()):
        slope = sum(found.get(name, 0) * other[name] for name in NAMES)
        assert (f(nearer) - f(near)) * 10**24 == slope


def test_gradient_of_a_known_map():
    e = relu(x + 2 * y) - slu(3 * x)
    assert one_sided_gradient(e, {"x": 0, "y": 0}, {"x": 1}) == {"x": -2, "y": 2}
    assert one_sided_gradient(e, {"x": 0, "y": 0}, {"x": -1}) == {"x": 0, "y": 0}
    assert one_sided_gradient(e, {"x": Fraction(1, 3), "y": 0}, {"x": 1}) == {"x": 1, "y": 2}
    assert gradient_jump(e, {"x": Fraction(1, 3), "y": -1}, {"x": 1}) == {"x": 3, "y": 0}
    with pytest.raises(ValueError, match=r"crease of relu\(x \+ 2 y\)"):
        one_sided_gradient(e, {"x": 0, "y": 0}, {"x": 2, "y": -1})
    with pytest.raises(ValueError, match=r"\['y'\]"):
        one_sided_gradient(e, {"x": 0}, {"x": 1})


def test_the_jump_of_a_maximum_of_three_differs_along_a_line():
    e = maximum(0, x, y)
    assert gradient_jump(e, {"x": 0, "y": -1}, {"x": 1}) == {"x": 1, "y": 0}
    assert gradient_jump(e, {"x": 0, "y": 1}, {"x": 1}) == {"x": 0, "y": 0}


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=5), numbers, numbers)
def test_the_jump_of_one_layer_is_the_same_along_a_line(units, above, below):
    """Across x = 0: units with that crease jump, and all the others only where their own creases meet it."""
    e = sum_of(c * relu(a * x + b * y + 1) for a, b, c in units) + 2 * relu(x) - relu(-3 * x)
    on_creases = {-1 / b for _, b, _ in units if b}
    if above not in on_creases and below not in on_creases:
        jumps = [gradient_jump(e, {"x": 0, "y": height}, {"x": 1}) for height in (above, below)]
        assert jumps[0] == jumps[1] == {"x": -1, "y": 0}
