"""The last chapter's figures: every text in its box and apart from the others, and means with their intervals."""

from itertools import combinations, pairwise
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from recurrence.figures import Panel, aligned_panels, decision_chart
from recurrence.training import interval

pytestmark = pytest.mark.usefixtures("styled")

QUESTIONS = [
    ("Must a rule hold exactly?", "A compiled machine", "Chapter 3"),
    ("Do the last k inputs decide, and is there room for them at every single step?", "A window", "Chapters 10 to 12"),
]
OTHERWISE = ("A simple net", "Chapter 7")


def shown(fig, kind):
    fig.draw_without_rendering()
    found = [item for item in fig.findobj(kind) if item.get_visible() and (kind is not Text or item.get_text().strip())]
    return [(item, item.get_window_extent()) for item in found]


def in_boxes(fig):
    """The words of every box, read from top to bottom; each text lies in just one box."""
    boxes = [edge for _, edge in shown(fig, FancyBboxPatch)]
    words = [[] for _ in boxes]
    for item, box in shown(fig, Text):
        if item.get_gid() == "in a box":
            (place,) = [
                n for n, e in enumerate(boxes) if e.x0 < box.x0 < box.x1 < e.x1 and e.y0 < box.y0 < box.y1 < e.y1
            ]
            words[place].append((-box.y0, item.get_text()))
    return [" ".join(text for _, text in sorted(lines)) for lines in words]


def check_chart(fig):
    texts = shown(fig, Text)
    for (a, one), (b, other) in combinations(texts, 2):
        assert not one.overlaps(other), (a.get_text(), b.get_text())
    boxes = [edge for _, edge in shown(fig, FancyBboxPatch)]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    for item, box in texts:
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1, item.get_text()
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1, item.get_text()
        if item.get_gid() != "in a box":
            assert not any(box.overlaps(edge) for edge in boxes), item.get_text()
        shrunk = 350 / (fig.get_figwidth() * 96)  # a column of 350 px, and an SVG of 96 px to the inch
        assert item.get_fontsize() * 96 / 72 * shrunk >= 9


def test_a_question_stands_beside_what_to_take_and_the_last_box_is_for_no():
    fig = decision_chart(QUESTIONS, OTHERWISE)
    expected = [text for asks, *taken in QUESTIONS for text in (asks, " ".join(taken))]
    assert in_boxes(fig) == [*expected, " ".join(OTHERWISE)]
    boxes = [edge for _, edge in shown(fig, FancyBboxPatch)]
    for ask, take in (boxes[:2], boxes[2:4]):
        assert ask.x1 < take.x0
        assert (ask.y0, ask.y1) == pytest.approx((take.y0, take.y1))
    assert boxes[0].y0 > boxes[2].y1 > boxes[2].y0 > boxes[4].y1  # asked from top to bottom
    said = [item.get_text() for item, _ in shown(fig, Text)]
    assert said.count("yes") == said.count("no") == len(QUESTIONS)
    assert len(fig.findobj(FancyArrowPatch)) == 2 * len(QUESTIONS)
    check_chart(fig)


WORDS = st.lists(st.text("abdeghimnorstw", min_size=1, max_size=12), min_size=1, max_size=9).map(" ".join)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5))
@settings(deadline=None, max_examples=5)
def test_any_words_fit_into_their_boxes(questions):
    fig = decision_chart(questions, OTHERWISE)
    assert in_boxes(fig)[:2] == [questions[0][0], " ".join(questions[0][1:])]
    check_chart(fig)


@pytest.mark.parametrize(
    ("questions", "otherwise", "words"),
    [
        ([], OTHERWISE, "0 questions"),
        (QUESTIONS * 5, OTHERWISE, "10 questions"),
        ([("Why?", " ", "Chapter 1")], OTHERWISE, "empty"),
        (QUESTIONS, ("", "Chapter 7"), "empty"),
    ],
)
def test_a_chart_that_cannot_be_drawn_is_refused(questions, otherwise, words):
    with pytest.raises(ValueError, match=words):
        decision_chart(questions, otherwise)


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
