"""One colour and one marker for a kind of net, whichever figure it is in."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex

from fhx.experiments import recognition
from fhx.experiments.causal import LINEAR
from fhx.experiments.forms import FORMS
from fhx.figures import COLORS, curve_panels, interval_chart, look, looks, success_chart

RIVALS = ("TCN", "attention", "minGRU", "window 16", "window 64")
TRAINED = [*recognition.CELLS, *FORMS, *RIVALS, *LINEAR, "logistic 64"]


@pytest.mark.parametrize("kind", TRAINED)
def test_every_kind_that_is_trained_has_a_look(kind):
    found = look(kind)
    assert found.color in COLORS
    assert found.constrained is ("," in kind)


def test_kinds_that_are_drawn_together_look_unlike():
    for together in (recognition.CELLS, ["simple", "LSTM", *RIVALS], ["simple", "GRU", "LSTM", "linear", "affine"]):
        found = {look(kind.rstrip("0123456789 ")) for kind in together}
        names = {kind.rstrip("0123456789 ") for kind in together}
        assert len({one.color for one in found}) == len({one.marker for one in found}) == len(names)


def test_a_constrained_net_has_the_colour_of_its_kind_and_is_dashed_and_hollow():
    free, stable = look("simple").line, look("simple, stable").line
    assert free["color"] == stable["color"]
    assert free["marker"] == stable["marker"]
    assert (free["linestyle"], stable["linestyle"]) == ("-", "--")
    assert stable["markerfacecolor"] == "white"


def test_orthogonal_deep_cells_are_constrained_plain_ones():
    plain, orthogonal = look("plain"), look("orthogonal")
    assert (plain.color, plain.marker) == (orthogonal.color, orthogonal.marker)
    assert (plain.line["linestyle"], orthogonal.line["linestyle"]) == ("-", "--")


def test_an_unknown_kind_is_named():
    with pytest.raises(LookupError, match="called 'LSTMM'"):
        look("LSTMM")


def test_other_lines_take_the_colours_in_their_order():
    assert [one.color for one in looks(["moved", "reset 5"]).values()] == list(COLORS[:2])
    assert [one.color for one in looks(["LSTM", "reset 5"]).values()] == list(COLORS[:2])
    with pytest.raises(ValueError, match="7 kinds of net are too many"):
        looks(map(str, "abcdefg"))


def test_all_charts_give_a_kind_its_look():
    score = interval_chart({"words": {"GRU": [1.0, 2.0], "LSTM": [1.0, 3.0]}}, {"words": "nats"}).axes[0]
    curve = curve_panels({"words": {"LSTM": ([1, 2], [[1.0, 2.0], [1.0, 3.0]])}}, "k", "cost").axes[0]
    rate = success_chart({"LSTM": {"parity": {1: (3, 5)}}}).axes[0]
    drawn = [score.lines[-1], curve.lines[0], rate.lines[0]]
    assert {to_hex(line.get_color()) for line in drawn} == {look("LSTM").color}
    assert {line.get_marker() for line in drawn} == {look("LSTM").marker}
    plt.close("all")
