import math
import re
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from fhx.figures import Slider, truncation_explorer, truncation_frame

STEPS = {"linear": lambda a, x: a + x, "tanh": lambda a, x: math.tanh(a + x)}
GRID = [(rate, k, cell) for rate in (0.0, 0.5, 0.9, 1.0, 1.05) for k in (1, 7, 30) for cell in STEPS]


@pytest.fixture(scope="module")
def explorer():
    return truncation_explorer()


def by_a_plain_loop(rate, k, cell, inputs):
    """Every truncated state by a run of its own."""

    def last(window):
        h = 0.0
        for x in window:
            h = STEPS[cell](rate * h, x)
        return h

    full = [last(inputs[: t + 1]) for t in range(len(inputs))]
    return full, [last(inputs[max(0, t + 1 - k) : t + 1]) for t in range(len(inputs))]


def clips(page):
    """The part of each panel inside its axes."""
    return page.locator("svg[role=img] svg").all()


def drawn(frame):
    first, states, errors = frame["panels"]
    (inputs,), (full, cut), (error, bound) = (panel["series"] for panel in (first, states, errors))
    return [[float(y) for y in series["y"]] for series in (inputs, full, cut)], error["y"], bound["y"]


@pytest.mark.parametrize(("rate", "k", "cell"), GRID)
def test_the_curves_are_those_of_plain_loops_and_stay_below_the_bound(rate, k, cell):
    frame = truncation_frame(rate, k, cell)
    (inputs, full, cut), powers, bound = drawn(frame)
    assert inputs[:80] == [1.0] * 40 + [0.0] * 40
    assert set(inputs[80:]) == {-1.0, 1.0}
    expected = by_a_plain_loop(rate, k, cell, inputs)
    assert full == pytest.approx(expected[0], rel=1e-12, abs=1e-12)
    assert cut == pytest.approx(expected[1], rel=1e-12, abs=1e-12)
    errors = [0.0 if power is None else 10**power for power in powers]
    assert errors == pytest.approx([abs(a - b) for a, b in zip(full, cut, strict=True)], rel=1e-9, abs=1e-15)
    assert errors[:k] == [0.0] * k
    size = 1.0 if cell == "tanh" else 1 / (1 - rate) if rate < 1 else math.inf
    if 0 < rate < 1:
        assert [10**power for power in bound] == pytest.approx(2 * [rate**k * size])
        assert max(errors) <= 1.000001 * rate**k * size
    else:
        assert bound == [None, None]


def test_the_ones_nearly_meet_the_bound_of_the_linear_cell():
    _, powers, bound = drawn(truncation_frame(0.8, 12, "linear"))
    assert 0.99 < 10 ** (max(power for power in powers if power is not None) - bound[0]) <= 1.000001


def test_a_latch_forgets_what_it_was_told_only_if_it_is_truncated():
    (_, full, cut), *_ = drawn(truncation_frame(1.05, 30, "tanh"))
    rest = full[79]
    assert math.tanh(1.05 * rest) == pytest.approx(rest, abs=1e-2)
    assert rest > 0.3
    assert cut[79] == 0


@pytest.mark.parametrize(("rate", "cell"), [(0.5, "linear"), (0.9, "linear"), (0.9, "tanh"), (0.98, "tanh")])
def test_the_k_that_is_asked_for_is_the_smallest(rate, cell):
    said = truncation_frame(rate, 4, cell)["readout"]
    size = 1.0 if cell == "tanh" else 1 / (1 - rate)
    k = next(k for k in range(1, 1000) if rate**k * size <= 0.01)
    assert said.endswith(f"For an error of 0.01 it asks for k = {k}.")


@pytest.mark.full
def test_what_is_said_at_every_point_of_the_grid(explorer):
    assert len(explorer.frames) == 8 * 8 * 2
    for frame in explorer.frames:
        none = frame["panels"][2]["series"][1]["y"][0] is None
        assert ("Lemma 1 says nothing here" in frame["readout"]) == none
        assert ("Lemma 1 allows" in frame["readout"]) != none
    assert sum("nothing" in frame["readout"] for frame in explorer.frames) == 2 * 8 * 2
    said = explorer.frame(rate=0.9, k=1, cell="linear")["readout"]
    assert said.startswith("With the last 1 input the largest error is 8.9; Lemma 1 allows 9.")
    assert "6007" in explorer.frame(rate=1.05, k=8, cell="linear")["readout"]


def test_signs_come_from_the_seed():
    (first, *_), (same, *_), (other, *_) = (drawn(truncation_frame(0.5, 2, "tanh", seed))[0] for seed in (0, 0, 1))
    assert first == same != other
    assert first[:80] == other[:80]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_the_panels_share_their_axis_and_nothing_overflows(site, explorer, width, theme):
    page = site.open(explorer.to_html(), width=width, scheme=theme)
    plots = [{side: float(plot.get_attribute(side)) for side in ("x", "y", "width", "height")} for plot in clips(page)]
    assert [(plot["x"], plot["width"]) for plot in plots] == 3 * [(plots[0]["x"], plots[0]["width"])]
    assert all(upper["y"] + upper["height"] < lower["y"] for upper, lower in pairwise(plots))
    found = Axe().run(page).response["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    frame = page.locator(".rx").bounding_box()
    for text in page.locator("svg[role=img] > g > text").all():
        box = text.bounding_box()
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]


def test_it_goes_by_keyboard_and_names_its_values(site, explorer):
    page = site.open(explorer.to_html(), width=390)
    weight, kept = (page.get_by_role("slider", name=name) for name in ("Recurrent weight λ", "Inputs kept k"))
    assert (weight.get_attribute("aria-valuetext"), kept.get_attribute("aria-valuetext")) == ("0.90", "8")
    weight.press("End")
    kept.press("Home")
    page.get_by_role("combobox", name="Cell").select_option("tanh")
    assert page.get_by_role("status").text_content() == explorer.frame(rate=1.05, k=1, cell="tanh")["readout"]
    weight.press("ArrowLeft")
    page.get_by_role("button", name="Inputs kept k: next").press("Enter")
    assert page.get_by_role("status").text_content() == explorer.frame(rate=1.0, k=2, cell="tanh")["readout"]
    assert page.get_by_role("img").get_attribute("aria-label") == explorer.alt


def test_a_frame_is_the_same_two_colours_wherever_the_bound_is(site, explorer):
    page = site.open(explorer.to_html())
    lines = page.locator("path.rx-line")
    strokes = [line.get_attribute("stroke") for line in lines.all()]
    assert strokes == [f"var(--rx-c{i})" for i in range(4)]
    levels = set(re.findall(r"[ML][\d.]+ ([\d.]+)", lines.nth(3).get_attribute("d")))
    assert len(levels) == 1  # the bound is level


def test_live_goes_off_the_grid():
    panel = truncation_explorer().live(Slider("seed", "Seed", min=0, max=20, step=1))
    rate, kept, _, seed, output = panel.children
    rate.value, kept.value, seed.value = 0.66, 11, 3
    page = output.outputs[0]["data"]["text/html"]
    assert truncation_frame(0.66, 11, "linear", 3)["readout"] in page


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((-0.1, 1, "tanh"), "rate must lie between 0 and 2, got -0.1"),
        ((math.nan, 1, "tanh"), "got nan"),
        ((2.5, 1, "linear"), "got 2.5"),
        ((0.5, 0, "linear"), "k must be"),
        ((0.5, 1, "relu"), "cell must be one of 'linear', 'tanh', got 'relu'"),
    ],
)
def test_bad_input_is_named(values, words):
    with pytest.raises(ValueError, match=words):
        truncation_frame(*values)
