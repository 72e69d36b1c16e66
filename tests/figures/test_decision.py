"""The chart of what to take for which task: every text in its box and apart from the others."""

from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text
from readable import shown

from fhx.figures import decision_chart

pytestmark = pytest.mark.usefixtures("styled")

QUESTIONS = [
    ("Must a rule hold exactly?", "A compiled machine", "Chapter 3"),
    ("Do the last k inputs decide, and is there room for them at every single step?", "A window", "Chapters 10 to 12"),
]
OTHERWISE = ("A simple net", "Chapter 7")


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
    try:
        assert in_boxes(fig)[:2] == [questions[0][0], " ".join(questions[0][1:])]
        check_chart(fig)
    finally:
        plt.close(fig)


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
