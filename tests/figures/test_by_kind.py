"""Charts of nets by kind and task: what is drawn is what was given, and texts stay apart."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from fhx.figures import curve_panels, interval_chart, look
from fhx.training import interval

KINDS = ("simple", "simple, stable", "LSTM", "LSTM, four conditions", "LSTM, sum", "LSTM, rows")
SCORES = {
    task: {kind: [base + 0.1 * n + 0.01 * seed**2 for seed in range(5)] for n, kind in enumerate(KINDS)}
    for task, base in (("chorales", 8.5), ("digits", 0.2), ("words", 4.7))
}
UNITS = {"chorales": "nats a frame", "digits": "share right", "words": "nats a word"}

pytestmark = pytest.mark.usefixtures("styled")


def shown(ax):
    """The texts of an axes that are drawn; ticks beyond its limits are not."""
    items = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        low, high = sorted(limits)
        items += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [item for item in items if item.get_visible() and item.get_text()]


def check_texts(fig, least):
    """All texts lie inside the figure, apart from one another."""
    fig.draw_without_rendering()
    found = [(item.get_text(), Text.get_window_extent(item)) for ax in fig.axes if ax.axison for item in shown(ax)]
    assert len(found) >= least
    for (a, one), (b, other) in combinations(found, 2):
        assert not one.overlaps(other), (a, b)
    for text, box in found:
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1, text


def test_a_row_holds_the_seeds_the_mean_and_its_interval():
    fig = interval_chart({"words": {"LSTM": [4.0, 4.5, 5.0], "simple": [4.2, 4.4]}}, UNITS)
    (ax,) = fig.axes
    seeds, mean, *_ = ax.lines
    assert seeds.get_xdata().tolist() == [4.0, 4.5, 5.0]
    assert set(seeds.get_ydata()) == {0}
    assert mean.get_xdata()[0] == pytest.approx(4.5)
    found = interval([4.0, 4.5, 5.0])
    (segment,) = ax.collections[0].get_segments()
    assert segment[:, 0].tolist() == pytest.approx([found.low, found.high])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["LSTM", "simple"]
    low, high = ax.get_ylim()
    assert low > high  # the first kind on top
    assert ax.get_xlabel() == "nats a word"


def test_a_kind_without_a_score_has_an_empty_row_and_colours_stay():
    fig = interval_chart({"chorales": SCORES["chorales"], "words": {"LSTM": [4.0, 5.0]}}, UNITS)
    first, second = fig.axes
    assert len(second.lines) == 2
    assert second.lines[0].get_ydata()[0] == KINDS.index("LSTM")
    assert to_hex(second.lines[1].get_color()) == to_hex(first.lines[5].get_color()) == look("LSTM").color


def test_a_row_is_there_only_if_one_of_the_panels_beside_it_fills_it():
    own = {"chorales": KINDS[:5], "digits": (KINDS[3], KINDS[0]), "words": (KINDS[5], KINDS[0])}
    fig = interval_chart({task: {kind: SCORES[task][kind] for kind in own[task]} for task in own}, UNITS)
    fig.draw_without_rendering()
    names = {ax.get_title(loc="left"): [label.get_text() for label in ax.get_yticklabels()] for ax in fig.axes}
    assert names["chorales"] == list(KINDS[:5])
    assert names["digits"] == [KINDS[0], KINDS[3], KINDS[5]]
    assert names["words"] == []  # they stand at the left
    wide, left, right = (ax.get_position() for ax in fig.axes)
    assert wide.x0 == pytest.approx(left.x0, abs=0.01)
    assert wide.x1 == pytest.approx(right.x1, abs=0.01)
    assert wide.height / 5 == pytest.approx(left.height / 3, rel=0.15)
    places = {ax.get_title(loc="left"): [line.get_ydata()[0] for line in ax.lines[1::2]] for ax in fig.axes}
    assert places == {"chorales": [0, 1, 2, 3, 4], "digits": [1, 0], "words": [2, 0]}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_texts_of_the_chart_stay_apart(count):
    fig = interval_chart(dict(list(SCORES.items())[:count]), UNITS)
    assert fig.get_figwidth() == pytest.approx(5.8)
    check_texts(fig, least=6 + 4 * count)


X = [1, 2, 5, 10]
CURVES = {
    task: {kind: (X, np.outer([1.0, 1.2, 0.9], np.exp(-np.arange(4) - n))) for n, kind in enumerate(KINDS[:4])}
    for task in ("chorales", "words")
}


def test_a_curve_is_the_mean_and_its_band_the_interval():
    fig = curve_panels({"words": {"LSTM": (X, [[4, 3, 2, 1], [6, 4, 2, 1]])}}, "k", "cost", log_x=True)
    (ax,) = fig.axes
    (line,) = ax.lines
    assert line.get_xdata().tolist() == X
    assert line.get_ydata() == pytest.approx([5, 3.5, 2, 1])
    heights = ax.collections[0].get_paths()[0].vertices
    assert heights[:, 1].max() == pytest.approx(interval([4, 6]).high)
    assert ax.get_xscale() == "log"


def test_powers_are_means_of_logarithms():
    logs = np.log([[1e-2, 1e-4], [1e-4, 1e-4], [1e-3, 1e-4]])
    fig = curve_panels({"words": {"LSTM": ([0, 1], logs)}}, "i", "gradient", powers=True)
    ax = fig.axes[0]
    assert ax.lines[0].get_ydata() == pytest.approx([-3, -4])
    fig.draw_without_rendering()
    written = {label.get_text(): tick for label, tick in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    assert written["$10^{-4}$"] == -4
    assert all(tick == round(tick) for tick in ax.get_yticks())


def test_a_kind_has_one_colour_in_all_panels():
    swapped = {"a": CURVES["words"], "b": dict(reversed(CURVES["words"].items()))}
    for ax in curve_panels(swapped, "k", "cost").axes:
        found = {line.get_label(): to_hex(line.get_color()) for line in ax.lines}
        assert found == {kind: look(kind).color for kind in KINDS[:4]}
        assert [to_hex(band.get_facecolor()) for band in ax.collections] == [to_hex(c.get_color()) for c in ax.lines]


@pytest.mark.parametrize("options", [{}, {"log_x": True}, {"powers": True}])
def test_texts_of_the_panels_stay_apart(options):
    check_texts(curve_panels(CURVES, "inputs seen", "cost", **options), least=18)


@pytest.mark.parametrize("results", [{}, {"words": {}}])
def test_nothing_to_draw_is_said(results):
    with pytest.raises(ValueError, match="nothing to draw"):
        interval_chart(results, UNITS)
    with pytest.raises(ValueError, match="nothing to draw"):
        curve_panels(results, "k", "cost")


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match=r"units\[task\] is missing for 'trees'"):
        interval_chart({"trees": {"LSTM": [1.0, 2.0]}}, UNITS)
    with pytest.raises(ValueError, match=r"LSTM on words has values of shape \(2, 3\) at \(2,\) points"):
        curve_panels({"words": {"LSTM": ([1, 2], np.ones((2, 3)))}}, "k", "cost")
    with pytest.raises(ValueError, match="7 kinds of net are too many: there are 6 colours"):
        interval_chart({"words": {str(i): [1.0, 2.0] for i in range(7)}}, UNITS)
