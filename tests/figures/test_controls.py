import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fhx.figures import Button, Choice, Number, Slider, Text


@given(st.integers(-50, 50), st.integers(1, 40), st.sampled_from([0.1, 0.25, 0.001, 3.0]))
@settings(deadline=None, max_examples=50)
def test_a_slider_reaches_both_ends_in_equal_steps(start, count, step):
    low, high = round(start * step, 6), round((start + count) * step, 6)
    slider = Slider("g", "Gain", min=low, max=high, step=step)
    assert (slider.grid[0], slider.grid[-1], len(slider.grid)) == (low, high, count + 1)
    assert all(abs(value - (low + i * step)) < 1e-9 for i, value in enumerate(slider.grid))
    assert slider.initial == low


def test_steps_are_decimal_and_texts_have_equal_decimals():
    slider = Slider("g", "Gain", min=0.0, max=0.3, step=0.1, unit="nats")
    assert slider.grid == (0.0, 0.1, 0.2, 0.3)
    assert slider.texts == ["0.0 nats", "0.1 nats", "0.2 nats", "0.3 nats"]
    assert Slider("n", "Units", min=1, max=4, step=1).grid == (1, 2, 3, 4)
    assert all(isinstance(value, int) for value in Slider("n", "Units", min=1, max=4, step=1).grid)
    assert Slider("n", "Units", [1, 2.25, 8]).texts == ["1.00", "2.25", "8.00"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Slider("g g", "Gain", [1]), "'g g' is not an identifier"),
        (lambda: Slider("g", " ", [1]), "needs a label"),
        (lambda: Slider("g", "Gain"), "either values or all of"),
        (lambda: Slider("g", "Gain", [1], min=0), "either values or all of"),
        (lambda: Slider("g", "Gain", []), "at least one and increase"),
        (lambda: Slider("g", "Gain", [1, 1]), "at least one and increase"),
        (lambda: Slider("g", "Gain", [1, float("inf")]), "must be finite"),
        (lambda: Slider("g", "Gain", [1, 2], default=3), "default 3 of 'g' is not one of"),
        (lambda: Slider("g", "Gain", min=0, max=1, step=0.3), "do not reach 1"),
        (lambda: Slider("g", "Gain", min=1, max=0, step=0.1), "min < max"),
        (lambda: Slider("g", "Gain", min=0, max=float("inf"), step=1), "finite"),
        (lambda: Choice("c", "Cell", []), "at least one and differ"),
        (lambda: Choice("c", "Cell", ["a", "a"]), "at least one and differ"),
        (lambda: Choice("c", "Cell", ["a"], default="b"), "default 'b'"),
        (lambda: Number("x", "Number", min=0, max=1, default=2), "outside"),
        (lambda: Text("w", "Word", default="abc", alphabet="ab"), "among 'ab'"),
        (lambda: Text("w", "Word", default="aaa", max_length=2), "at most 2"),
    ],
)
def test_bad_controls_name_the_culprit(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_every_control_escapes_its_label():
    for control in (
        Slider("a", "<b>&", [1]),
        Choice("b", "<b>&", ["<i>"]),
        Number("c", "<b>&"),
        Text("d", "<b>&"),
        Button("e", "<b>&"),
    ):
        html = control.html("id")
        assert "<b>" not in html
        assert "<i>" not in html
        assert "&lt;b&gt;&amp;" in html


@pytest.mark.parametrize(
    ("values", "default", "disabled"),
    [([1, 2, 3], 1, ["true", "false"]), ([1, 2, 3], 2, ["false", "false"]), ([1, 2], 2, ["false", "true"])],
)
def test_a_slider_has_buttons_that_are_named_and_disabled_at_the_ends(values, default, disabled):
    html = Slider("n", "Units", values, default=default).html("id")
    assert re.findall('<button[^>]* aria-label="(.*?)"', html) == ["Units: previous", "Units: next"]
    assert re.findall('<button[^>]* aria-disabled="(.*?)"', html) == disabled


def test_widgets_start_at_the_default():
    assert Slider("g", "Gain", min=0.0, max=1.0, step=0.1, default=0.3).widget().value == 0.3
    assert Slider("n", "Units", [1, 2, 4], default=2).widget().value == 2
    assert Choice("c", "Cell", ["a", "b"], default="b").widget().value == "b"
    assert Number("x", "Number", default=0.5).widget().value == 0.5
    assert Text("w", "Word", default="ab").widget().value == "ab"
