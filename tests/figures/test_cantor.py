"""The Cantor set: intervals, margin and points are where the exact numbers are."""

from fractions import Fraction
from itertools import product

import pytest
from matplotlib.patches import Rectangle
from readable import assert_readable

from fhx.exact.stacks import encode, margin
from fhx.figures import cantor_set

WORDS = ("", "a", "ab", "ba", "aab", "bb")
POINTS = {word or "empty": encode(word, "ab")[0] for word in WORDS}
DRAWN = {
    "points": lambda: cantor_set(3, 4, POINTS),
    "two": lambda: cantor_set(2, 5, {"0.1": Fraction(1, 2), "0.0111": Fraction(7, 16)}),
    "four": lambda: cantor_set(4, 3),
    "ten": lambda: cantor_set(10, 2, {"one": 1, "nought": 0}),
    "six levels": lambda: cantor_set(3, 6),
}

pytestmark = pytest.mark.usefixtures("styled")


def scale(ax):
    """From points of the picture to numbers, by the marks at 0 and 1."""
    marks = {item.get_text(): item.get_position()[0] for item in ax.texts if item.get_gid() == "tick"}
    return lambda x: (x - marks["0"]) / (marks["1"] - marks["0"])


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_texts_stay_apart_inside_and_readable(draw):
    fig = draw()
    fig.draw_without_rendering()
    found = [(item, item.get_window_extent()) for item in fig.axes[0].texts if item.get_text()]
    assert len(found) >= 6
    assert_readable(fig, found)


@pytest.mark.parametrize(("base", "depth"), [(2, 3), (3, 4), (5, 2)])
def test_a_level_is_the_numbers_whose_first_digits_are_0_or_the_largest(base, depth):
    ax = cantor_set(base, depth).axes[0]
    number = scale(ax)
    for k in range(depth + 1):
        bars = [item for item in ax.findobj(Rectangle) if item.get_gid() == f"level {k}"]
        lows = sorted(number(item.get_x()) for item in bars)
        digits = product((0, base - 1), repeat=k)
        assert lows == pytest.approx(
            sorted(sum(digit / base**i for i, digit in enumerate(word, 1)) for word in digits), abs=1e-9
        )
        for item in bars:
            width = number(item.get_x() + item.get_width()) - number(item.get_x())
            assert width == pytest.approx(base**-k)


def test_the_margin_is_as_wide_as_it_should_be_and_base_2_has_none():
    for base in (3, 4, 7):
        ax = cantor_set(base, 2).axes[0]
        number = scale(ax)
        (drawn,) = [item for item in ax.findobj(Rectangle) if item.get_gid() == "margin"]
        low, high = number(drawn.get_x()), number(drawn.get_x() + drawn.get_width())
        assert (low, high) == pytest.approx((1 / base, 1 - 1 / base))
        assert high - low == pytest.approx(float(margin(base)))
        assert f"margin of width {margin(base)}" in [item.get_text() for item in ax.texts]
    ax = cantor_set(2, 2).axes[0]
    assert not [item for item in ax.findobj(Rectangle) if item.get_gid() == "margin"]
    (line,) = [line for line in ax.lines if line.get_gid() == "no margin"]
    assert scale(ax)(line.get_xdata()[0]) == pytest.approx(0.5)
    assert any(item.get_text().startswith("no margin") for item in ax.texts)


def test_points_lie_on_their_numbers_and_names_keep_their_order():
    ax = cantor_set(3, 4, POINTS).axes[0]
    number = scale(ax)
    dots = sorted(number(line.get_xdata()[0]) for line in ax.lines if line.get_gid() == "point")
    assert dots == pytest.approx(sorted(map(float, POINTS.values())))
    named = sorted((item.get_position()[0], item.get_text()) for item in ax.texts if item.get_gid() == "name")
    values = [POINTS[name] for _, name in named]
    assert values == sorted(values)
    assert len(values) == len(POINTS)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, 2), ValueError, "base must be between 2 and 10"),
        ((3, 0), ValueError, "depth must be between 1 and 6"),
        ((3, 2, {"p": Fraction(4, 3)}), ValueError, r"'p' must be in \[0, 1\]"),
        ((3, 2, {"p": 0.5}), TypeError, "'p' must be an integer or a Fraction, got float"),
        ((3, 2, {"a" * 60: 0, "b" * 60: 1}), ValueError, "too long for one line"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        cantor_set(*arguments)
