"""Step: its run against a loop by hand, and the laws of its parts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.exact import Step, const, maximum, relu, slu, variable

h, k, x, y = map(variable, "hkxy")
STEP = Step(
    state={"h": slu(h + x - y) - Fraction(1, 2) * k, "k": relu(relu(k) - h) + x},
    inputs=("x", "y"),
    h0={"k": 1, "h": Fraction(1, 3)},
)
numbers = st.fractions(-3, 3, max_denominator=4)


@given(st.lists(st.tuples(numbers, numbers), max_size=5))
def test_run_is_a_loop_by_hand(xs):
    states = list(STEP.run(xs))
    a, b = Fraction(1, 3), 1
    assert states[0] == {"h": a, "k": b}
    for (p, q), state in zip(xs, states[1:], strict=True):
        a, b = min(max(a + p - q, 0), 1) - Fraction(1, 2) * b, max(max(b, 0) - a, 0) + p
        assert state == {"h": a, "k": b}


def test_depth_is_that_of_the_deepest_expression():
    assert STEP.depth == 2
    assert Step({"h": h + x}, ["x"], {"h": 0}).depth == 0
    assert Step({}, (), {}).depth == 0


def test_states_come_in_the_order_of_the_step_and_are_the_readers_own():
    run = STEP.run([(0, 0)])
    first = next(run)
    assert list(first) == ["h", "k"]
    first["k"] = 100
    assert next(run)["k"] == Fraction(2, 3)


def test_a_number_stands_for_a_constant_and_steps_are_values():
    step = Step({"h": 3}, (), {"h": 0})
    assert list(step.run([()])) == [{"h": 0}, {"h": 3}]
    assert step == Step({"h": const(3)}, [], {"h": 0})
    assert hash(step) == hash(Step({"h": const(3)}, [], {"h": 0}))
    with pytest.raises(TypeError):
        step.state["h"] = h


def test_all_faults_are_told_at_once():
    with pytest.raises(ValueError, match="this is not a step") as caught:
        Step({"h": h + variable("u"), "x": relu(maximum(x, variable("v")))}, ("x", "y", "y"), {"h": 0, "w": 1})
    message = str(caught.value)
    for fault in ["'x' is both", "'y' is listed twice", "uses 'u'", "uses 'v'", "no 'x'", "has 'w'"]:
        assert fault in message


@pytest.mark.parametrize(
    "make",
    [
        lambda: Step({"h": 0.5}, (), {"h": 0}),
        lambda: Step({"h": h}, (), {"h": 0.5}),
        lambda: Step({"h": h}, {"x"}, {"h": 0}),
        lambda: Step({1: h}, (), {1: 0}),
        lambda: list(STEP.run([(0.5, 0)])),
    ],
)
def test_floats_sets_and_names_that_are_no_strings_are_refused(make):
    with pytest.raises(TypeError):
        make()


def test_an_input_of_the_wrong_width_is_named():
    with pytest.raises(ValueError, match="x_2 has 1 entries"):
        list(STEP.run([(0, 0), (1,)]))
