"""The style and the drawings: nothing overlaps, nothing is clipped, colours can be told apart."""

from itertools import combinations, pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text
from readable import assert_apart_and_inside

from fhx.figures import COLORS, band, depth_places, label_lines, unrolled

pytestmark = pytest.mark.usefixtures("styled")


def boxes(fig, kind=Text):
    fig.canvas.draw()
    found = [item for item in fig.findobj(kind) if item.get_visible() and (kind is not Text or item.get_text().strip())]
    return [(item, item.get_window_extent()) for item in found]


@pytest.mark.parametrize("draw", [lambda: unrolled(2), unrolled, lambda: unrolled(4), depth_places])
def test_no_text_overlaps_or_leaves_the_figure(draw):
    fig = draw()
    shown = [(item, box) for item, box in boxes(fig) if box.width]
    texts = [pair for pair in shown if not pair[0].axes or pair[0] in pair[0].axes.texts]
    assert len(texts) >= 8
    frames = [edge for _, edge in boxes(fig, FancyBboxPatch)]
    assert_apart_and_inside(fig, texts)
    for item, box in texts:
        if item.get_gid() != "in a box":
            continue
        inside = [e for e in frames if e.x0 < box.x0 < box.x1 < e.x1 and e.y0 < box.y0 < box.y1 < e.y1]
        assert len(inside) == 1, item.get_text()


@pytest.mark.parametrize("draw", [unrolled, depth_places])
def test_no_note_touches_a_box_and_text_is_readable_on_a_phone(draw):
    fig = draw()
    frames = [edge for _, edge in boxes(fig, FancyBboxPatch)]
    for a, b in combinations(frames, 2):
        assert not a.overlaps(b)
    for item, box in boxes(fig):
        if item.axes and item in item.axes.texts and item.get_gid() != "in a box":
            assert not any(box.overlaps(edge) for edge in frames), item.get_text()
            shrunk = 350 / (fig.get_figwidth() * 96)  # a column of 350 px, and an SVG of 96 px to the inch
            assert item.get_fontsize() * 96 / 72 * shrunk >= 9


def test_unrolled_has_a_copy_of_f_for_every_step():
    words = [item.get_text() for item in unrolled(4).findobj(Text)]
    assert words.count("$f$") == words.count("$g$") == 5
    assert {f"$h_{k}$" for k in range(5)} <= set(words)
    with pytest.raises(ValueError, match="between 2 and 4"):
        unrolled(5)


@pytest.mark.parametrize("draw", [unrolled, depth_places])
def test_boxes_are_functions_and_letters_values(draw):
    for item in draw().findobj(Text):
        letter = item.get_text().lstrip("$")[:1] if item.get_text().startswith("$") else ""
        if letter and "values" not in item.get_text():
            assert (item.get_gid() == "in a box") == (letter in "fg"), item.get_text()
            assert letter in "fgxhy"


def test_a_drawing_can_be_saved_twice_and_stays_the_same(tmp_path):
    fig, places = depth_places(), []
    for _ in range(2):
        fig.savefig(tmp_path / "depth.png", bbox_inches="tight")
        places.append([ax.get_position().bounds for ax in fig.axes])
    assert places[0] == places[1]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
@settings(deadline=None, max_examples=12)
def test_direct_labels_keep_their_order_and_do_not_overlap(ends):
    fig, ax = plt.subplots()
    for i, end in enumerate(ends):
        ax.plot([0, 1], [0, end], label=f"line {i}")
    labels = label_lines(ax)
    fig.canvas.draw()
    placed = [(Text.get_window_extent(label), label) for label in labels]
    for (a, _), (b, _) in combinations(placed, 2):
        assert not a.overlaps(b)
    upwards = [ends[int(label.get_text().split()[1])] for _, label in sorted(placed, key=lambda pair: pair[0].y0)]
    assert all(a <= b + 1e-9 for a, b in pairwise(upwards))
    assert {label.get_color() for label in labels} <= set(COLORS) or len(ends) > 6
    plt.close(fig)


def test_labels_stand_beside_ends_that_are_far_apart():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 0.1], label="low")
    ax.plot([0, 1, np.nan], [0, 0.9, 0.0], label="high")
    ax.plot([0, 1], [0, 0.5])
    labels = label_lines(ax)
    fig.canvas.draw()
    assert [label.get_text() for label in labels] == ["low", "high"]
    for label, end in zip(labels, (0.1, 0.9), strict=True):
        box = Text.get_window_extent(label)
        assert abs((box.y0 + box.y1) / 2 - ax.transData.transform((1, end))[1]) < 0.02 * ax.bbox.height + 3


def test_labels_that_were_moved_apart_are_aligned_and_have_leaders_to_the_ends_of_their_lines():
    fig, ax = plt.subplots()
    for name in ("one", "two", "three"):
        ax.plot([0, 1], [0, 0.5], label=name)
    ax.plot([0, 1], [0, 1], label="far")
    labels = label_lines(ax)
    fig.canvas.draw()
    led = {label.get_text() for label in labels if label.arrow_patch is not None}
    assert led == {"one", "two", "three"}  # "two" among them, though it was not moved
    lefts = {label.get_text(): Text.get_window_extent(label).x0 for label in labels}
    assert lefts["far"] < lefts["one"] == lefts["two"] == lefts["three"]
    for label in labels:
        if label.arrow_patch is not None:
            _, y = ax.transAxes.inverted().transform(ax.transAxes.transform(label.xy))
            assert y == pytest.approx(ax.transAxes.inverted().transform(ax.transData.transform((1, 0.5)))[1])


def test_a_line_without_a_label_is_an_error():
    _, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    with pytest.raises(ValueError, match="no line with a label"):
        label_lines(ax)


def test_a_band_spans_its_interval_in_the_colour_of_its_line():
    _, ax = plt.subplots()
    line = band(ax, [0, 1, 2], [1, 2, 3], [0, 1.5, 2], [2, 2.5, 5], label="mean")
    (filled,) = ax.collections
    corners = filled.get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == (0, 5)
    assert np.allclose(filled.get_facecolor()[0][:3], plt.matplotlib.colors.to_rgb(line.get_color()))
    assert list(line.get_ydata()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [([0, 0], [1], "one length"), ([0, 2], [3, 3], r"at x = 1 the mean 1 is outside its interval \[2, 3\]")],
)
def test_a_bad_band_is_named(low, high, words):
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=words):
        band(ax, [0, 1], [1, 1], low, high)


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    f = np.cbrt(xyz / [0.95047, 1, 1.08883])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira and Fernandes (2009), severity 1.
VISIONS = {
    "full": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_told_apart_by_every_vision(vision):
    seen = [lab(np.array(VISIONS[vision]) @ linear(color)) for color in COLORS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20


def test_colours_can_be_read_as_text_on_white_and_are_the_cycle():
    for color in COLORS:
        assert 1.05 / (np.array([0.2126, 0.7152, 0.0722]) @ linear(color) + 0.05) >= 4.5
    assert tuple(plt.rcParams["axes.prop_cycle"].by_key()["color"]) == tuple(c[1:] for c in COLORS) or tuple(
        plt.rcParams["axes.prop_cycle"].by_key()["color"]
    ) == tuple(COLORS)
