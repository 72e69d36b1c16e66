"""Panels over one axis: means with their intervals, and texts apart from each other."""

from itertools import combinations, pairwise
from math import inf, nan

import numpy as np
import pytest
from matplotlib.text import Text
from readable import shown

from fhx.figures import Panel, aligned_panels
from fhx.training import interval

pytestmark = pytest.mark.usefixtures("styled")

X = [0.5, 1.0, 1.5]
SEEDS = np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 8.0], [1.5, 2.5, inf]])


def test_a_dot_is_a_mean_and_its_line_the_interval():
    (ax,) = aligned_panels(X, [Panel("steps", {"measured": SEEDS[:, :2].repeat(2, 1)[:, :3]})], "gain").axes
    line = ax.lines[0]
    assert line.get_xdata().tolist() == X
    assert line.get_ydata() == pytest.approx([1.5, 1.5, 2.5])
    found = interval(SEEDS[:, 0])
    assert ax.collections[0].get_segments()[0][:, 1] == pytest.approx([found.low, found.high])
    assert ax.get_title(loc="left") == "steps"
    assert ax.get_xlabel() == "gain"


def test_on_a_logarithmic_axis_the_mean_is_that_of_logarithms():
    (ax,) = aligned_panels(X, [Panel("steps", {"measured": [[1, 4, 1], [100, 4, 1]]}, log=True)], "gain").axes
    assert ax.lines[0].get_ydata() == pytest.approx([10, 4, 1])
    found = interval(np.log([1.0, 100.0]))
    assert np.log(ax.collections[0].get_segments()[0][:, 1]) == pytest.approx([found.low, found.high])
    assert ax.get_yscale() == "log"


def test_a_net_without_a_value_makes_a_triangle_and_no_mean():
    (ax,) = aligned_panels(X, [Panel("steps", {"measured": SEEDS}, {"bound": [1.0, 2.0, nan]}, log=True)], "gain").axes
    dots, missing, bound, *_ = ax.lines
    assert dots.get_xdata().tolist() == X[:2]
    assert missing.get_xdata().tolist() == X[2:]
    assert missing.get_marker() == "^"
    assert bound.get_linestyle() == "--"


def test_the_name_of_a_line_stands_where_the_line_ends():
    lines = {"ends early": [1.0, 2.0, nan], "goes through": [4.0, 5.0, 6.0]}
    fig = aligned_panels(X, [Panel("steps", {"measured": SEEDS[:2]}, lines)], "gain")
    (ax,) = fig.axes
    places = {item.get_text(): box for item, box in shown(fig, Text) if item.get_text() in lines}
    end = ax.transData.transform((X[1], 2.0))
    early = places["ends early"]
    assert early.x0 < early.x1 < end[0] < early.x1 + 20
    assert end[1] < early.y0 < end[1] + 20
    assert places["goes through"].x0 > ax.bbox.x1


def test_regions_stand_above_and_are_parted_in_all_panels():
    panels = [Panel("one", {"a": SEEDS[:2]}), Panel("two", {"a": SEEDS[:2], "b": SEEDS[:2] / 2}, log=True)]
    fig = aligned_panels(X, panels, "gain", {"left words": 0.9, "right": 1.5})
    for ax in fig.axes:
        dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
        assert dotted == [0.9]
    texts = shown(fig, Text)
    assert {"left words", "right", "one", "two"} <= {item.get_text() for item, _ in texts}
    marked = [(t, box) for t, box in texts if t.get_text() in ("left words", "right", "one", "two", "a", "b")]
    for (a, one), (b, other) in combinations(marked, 2):
        assert not one.overlaps(other), (a.get_text(), b.get_text())
    low, high = fig.axes[0].get_xlim()
    assert all(low == pytest.approx(ax.get_xlim()[0]) and high == pytest.approx(ax.get_xlim()[1]) for ax in fig.axes)
    bounds = [ax.get_position() for ax in fig.axes]
    assert all(a.x0 == pytest.approx(b.x0) and a.x1 == pytest.approx(b.x1) for a, b in pairwise(bounds))


@pytest.mark.parametrize(
    ("x", "panels", "words"),
    [
        (X, [], "0 panels"),
        ([1.0, 0.5], [Panel("a", {"a": [[1, 2], [1, 2]]})], "ascending"),
        (X, [Panel("a", {"wide": [[1, 2], [1, 2]]})], r"wide has values of shape \(2, 2\) at 3 points"),
        (X, [Panel("a", {"one": [[1, 2, 3]]})], "at least 2"),
    ],
)
def test_panels_that_cannot_be_drawn_are_refused(x, panels, words):
    with pytest.raises(ValueError, match=words):
        aligned_panels(x, panels, "gain")
