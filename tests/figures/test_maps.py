"""Maps of success: counts, borders and the key say what they are given."""

from itertools import product

import pytest
from matplotlib.patches import Rectangle
from readable import assert_readable

from fhx.figures import success_map
from fhx.training import proportion

DEPTHS, STEPS = (1, 2, 8), (10, 30, 100)
GRID = list(product(DEPTHS, STEPS))
FULL = {at: (at[0] % 6, 5) for at in GRID}

pytestmark = pytest.mark.usefixtures("styled")


def texts(ax):
    return [item.get_text() for item in ax.texts]


def segments(ax):
    return {tuple(sorted(zip(*line.get_data(), strict=True))) for line in ax.lines}


@pytest.mark.parametrize(("count", "rows"), [(1, 1), (2, 1), (4, 2)])
def test_maps_stand_two_wide_and_need_no_key(count, rows):
    fig = success_map({f"kind {i}": FULL for i in range(count)}, key=False)
    assert fig.axes[0].get_subplotspec().get_gridspec().get_geometry() == (rows, 2)
    assert not any(ax.child_axes for ax in fig.axes)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_texts_stay_apart_inside_and_readable(count):
    fig = success_map({f"kind {i}": FULL for i in range(count)}, {"kind 0": 25.0})
    fig.draw_without_rendering()
    items = [item for ax in fig.findobj(lambda item: hasattr(item, "texts")) for item in ax.texts]
    found = [(item, item.get_window_extent()) for item in dict.fromkeys(items) if item.get_text()]
    assert len(found) >= 9 * count + 6
    assert_readable(fig, found)


def test_a_square_holds_its_count_and_is_darker_for_more():
    counts = {(1, 10): (5, 5), (1, 30): (0, 5), (2, 10): None}
    ax = success_map({"kind": counts}).axes[0]
    assert texts(ax) == ["5", "0", "–", "–"]  # layer by layer; the last has no entry at all
    dark, light, *_ = [item.get_facecolor() for item in ax.patches if isinstance(item, Rectangle)]
    assert sum(dark[:3]) < 1.5 < 2.9 < sum(light[:3])
    places = {item.get_position(): item.get_text() for item in ax.texts}
    assert (places[0, 0], places[1, 0], places[0, 1]) == ("5", "0", "–")


@pytest.mark.parametrize("border", [5, 10, 25, 70, 300, 5000])
def test_the_border_parts_inside_from_outside_and_nothing_else(border):
    fig = success_map({"kind": FULL}, {"kind": border})
    expected = set()
    for (j, L), (i, T) in product(enumerate(DEPTHS), enumerate(STEPS)):
        inside = border >= L * T
        if i + 1 < len(STEPS) and inside != (L * STEPS[i + 1] <= border):
            expected.add(((i + 0.5, j - 0.5), (i + 0.5, j + 0.5)))
        if j + 1 < len(DEPTHS) and inside != (DEPTHS[j + 1] * T <= border):
            expected.add(((i - 0.5, j + 0.5), (i + 0.5, j + 0.5)))
    assert segments(fig.axes[0]) == expected
    assert fig.axes[0].get_title() == "kind" + {5: ", all beyond", 5000: ", all within"}.get(border, "")


def test_no_border_is_said_and_not_drawn():
    fig = success_map({"one": FULL, "two": FULL}, {"one": float("inf")})
    assert fig.axes[0].get_title() == "one, no border"
    assert not fig.axes[0].lines
    assert fig.axes[1].get_title() == "two"


@pytest.mark.parametrize(("trials", "counts"), [(5, [5, 4, 3, 2, 1, 0]), (25, [25, 20, 15, 10, 5, 0]), (1, [1, 0])])
def test_the_key_has_exact_intervals(trials, counts):
    fig = success_map({"kind": {(1, 10): (1, trials)}})
    box = fig.axes[1].child_axes[0]
    heading, *rows = texts(box)
    assert heading == f"of {trials}, 95 %"
    assert rows[::2] == [str(k) for k in counts]
    wanted = [proportion(k, trials) for k in counts]
    assert rows[1::2] == [f"{p.low:.2f} – {p.high:.2f}" for p in wanted]


@pytest.mark.parametrize(
    ("results", "borders", "message"),
    [
        ({}, None, "nothing to draw"),
        ({"kind": {(1, 10): None}}, None, "nothing to draw"),
        ({"kind": {(1, 10): (6, 5)}}, None, "6 of 5 is not a rate"),
        ({"kind": {(1, 10): (0, 0)}}, None, "0 of 0 is not a rate"),
        ({"kind": {(1, 10): (1, 5), (2, 10): (1, 4)}}, None, "4 trials, and others have 5"),
        ({f"{i}": FULL for i in range(9)}, None, "9 panels"),
        ({"kind": FULL}, {"other": 3.0}, "no such panel"),
    ],
)
def test_what_is_no_map_is_refused(results, borders, message):
    with pytest.raises(ValueError, match=message):
        success_map(results, borders)
