"""Tables of weights, runs, charts and the two layers: every number can be found again, and read on a phone."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from fhx.compile import dfa_to_grid_rnn, dfa_to_rnn
from fhx.exact import Recognizer, SimpleRNN
from fhx.figures import (
    counting,
    machine_and_net,
    space_time,
    success_chart,
    two_layers,
    weight_matrix,
)
from fhx.figures.words import unit_name
from fhx.machines import NAMED, parity

NETS = {name: dfa_to_rnn(NAMED[name]) for name in ("parity", "abb", "tomita-5")}
LANGUAGES = ("PARITY", "Tomita 3", "Tomita 4", "aⁿbⁿ", "aⁿbⁿcⁿ", "Dyck-1")
RATES = {net: {language: {1: (10, 10), 2: (9, 10), 5: (4, 10), 10: (0, 10)} for language in LANGUAGES} for net in "AB"}
RUNS = {"LSTM": {n: [*range(n + 1), *range(n - 1, -1, -1)] for n in (5, 10, 50, 100)}}
DRAWN = {
    "weights": lambda: weight_matrix(NETS["tomita-5"]),
    **{f"{name} and its net": lambda name=name: machine_and_net(NAMED[name], NETS[name]) for name in ("parity", "abb")},
    "run": lambda: space_time(NETS["abb"], "babaabbabb"),
    "run of the grid": lambda: space_time(dfa_to_grid_rnn(NAMED["abb"]), "babaabb"),
    "floats": lambda: space_time(np.sin(np.arange(60).reshape(4, 15)), "ab" * 7 + "a", names="pqrs"),
    "rates": lambda: success_chart(RATES),
    "counts": lambda: counting(RUNS),
    "two layers": two_layers,
}


pytestmark = pytest.mark.usefixtures("styled")


def words(fig):
    """All texts that are drawn, with their boxes; a tick beyond the end of its axis is not."""
    fig.draw_without_rendering()
    found = [*fig.texts, *(item for ax in fig.axes for item in (*ax.texts, ax.title, ax._left_title))]
    for axis in (axis for ax in fig.axes if ax.axison for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        found += [axis.label, *(tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)]
        found += [tick.label2 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [(item, item.get_window_extent()) for item in found if item.get_visible() and item.get_text().strip()]


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_no_word_overlaps_another_or_leaves_the_figure_and_all_are_readable(draw):
    fig = draw()
    assert fig.get_figwidth() == pytest.approx(5.8)
    found = words(fig)
    assert len(found) > 8
    for (a, box_a), (b, box_b) in combinations(found, 2):
        meet = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0), min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0)
        assert min(meet) < 1, (a.get_text(), b.get_text())
    for item, box in found:
        assert fig.bbox.x0 - 2 <= box.x0 < box.x1 <= fig.bbox.x1 + 2, item.get_text()
        assert fig.bbox.y0 - 2 <= box.y0 < box.y1 <= fig.bbox.y1 + 2, item.get_text()
        assert item.get_fontsize() * 96 / 72 * 350 / (5.8 * 96) >= 9, item.get_text()


def read_off(fig):
    """For each cell its entry, by the words in line with it: {(row, block and column): number}."""
    found = words(fig)
    cells = [item.get_window_extent() for item in fig.findobj(Rectangle) if item.get_gid() == "cell"]
    entries = [(item, box) for item, box in found if item.get_gid() == "in a cell"]
    table = {}
    for cell in cells:
        inside = [
            item.get_text()
            for item, box in entries
            if cell.x0 < (box.x0 + box.x1) / 2 < cell.x1 and cell.y0 < (box.y0 + box.y1) / 2 < cell.y1
        ]
        assert len(inside) <= 1
        table[round(-cell.y0 - cell.y1), round(cell.x0 + cell.x1)] = (
            Fraction(inside[0].replace("−", "-")) if inside else 0
        )
    return table


def by_rows(table):
    rows = {}
    for (y, _), value in sorted(table.items()):
        rows.setdefault(y, []).append(value)
    return list(rows.values())


@pytest.mark.parametrize("name", NETS)
def test_the_table_holds_every_weight_in_its_place(name):
    net = NETS[name]
    rnn = net.rnn
    W, U = rnn.W.dense(), rnn.U.dense()
    expected = [[*W[i], *U[i], rnn.b[i], rnn.h0[i]] for i in range(net.units)] + [[*net.w, net.c]]
    fig = weight_matrix(net)
    assert by_rows(read_off(fig)) == expected
    left = sorted(((box.y0, item.get_text()) for item, box in words(fig) if item.get_ha() == "right"), reverse=True)
    assert [text for _, text in left if text != "$c$"] == [*map(unit_name, rnn.unit_names), "$w$"]
    upright = sorted((box.x0, item.get_text()) for item, box in words(fig) if item.get_rotation() == 90)
    assert [text for _, text in upright] == [unit_name(unit) for unit in rnn.unit_names]


def test_fractions_and_signs_are_told_apart_without_colour():
    net = Recognizer(SimpleRNN([[Fraction(1, 2), -1], [2, 1]], [[1], [0]], (0, -3), (1, 0), "slu"), (1, -1), 0, "a")
    fig = weight_matrix(net)
    assert by_rows(read_off(fig)) == [[Fraction(1, 2), -1, 1, 0, 1], [2, 1, 0, -3, 0], [1, -1, 0]]
    gray = {}
    for item in fig.findobj(Rectangle):
        if item.get_gid() == "cell":
            box = item.get_window_extent()
            look = round(float(np.mean(item.get_facecolor()[:3])), 2), item.get_linewidth() > 1
            gray[round(-box.y0 - box.y1), round(box.x0 + box.x1)] = look
    looks = {}
    for at, value in read_off(fig).items():
        looks.setdefault(1 if value == 1 else np.sign(value) * 2, set()).add(gray[at])
    assert all(len(look) == 1 for look in looks.values())
    assert len({look for (look,) in looks.values()}) == 4


def test_machine_and_net_are_side_by_side_only_where_there_is_room():
    beside, above = (machine_and_net(dfa, dfa_to_rnn(dfa)) for dfa in (parity().canonical(), NAMED["abb"]))
    for fig, is_beside in ((beside, True), (above, False)):
        fig.draw_without_rendering()
        circles = [item.get_window_extent() for item in fig.findobj(Circle)]
        cells = [item.get_window_extent() for item in fig.findobj(Rectangle) if item.get_gid() == "cell"]
        assert (max(box.x1 for box in circles) < min(box.x0 for box in cells)) == is_beside
        assert (min(box.y0 for box in circles) > max(box.y1 for box in cells)) == (not is_beside)
    assert by_rows(read_off(beside)) == by_rows(read_off(weight_matrix(NETS["parity"])))


@pytest.mark.parametrize(("net", "word"), [(NETS["abb"], "babaabb"), (NETS["tomita-5"], "0110"), (NETS["parity"], "")])
def test_a_run_shows_every_state_and_output(net, word):
    rows = by_rows(read_off(space_time(net, word)))
    xs = [[int(symbol == a) for a in net.alphabet] for symbol in word]
    dense = [net.rnn.h0, *net.rnn.reference_states(xs)]
    assert rows[:-1] == [list(row) for row in zip(*dense, strict=True)]
    assert rows[-1] == [int(net.accepts(word[:t])) for t in range(len(word) + 1)]


def test_a_run_with_two_steps_a_symbol_has_an_output_only_after_the_second():
    net = dfa_to_grid_rnn(NAMED["abb"])
    table = read_off(space_time(net, "abb"))
    rows = by_rows(table)
    assert [len(row) for row in rows] == [7] * net.units + [4]
    columns = sorted({x for _, x in table})
    low = max(y for y, _ in table)
    assert [x for y, x in sorted(table) if y == low] == columns[::2]
    assert rows[-1] == [0, 0, 0, 1]


def test_floats_are_drawn_about_zero():
    states = np.array([[0.0, 1.0, -0.5], [0.25, -0.25, 0.0]])
    (image,) = space_time(states, "aab", names=["p", "q"]).axes[0].images
    assert np.array_equal(image.get_array(), states)
    assert image.norm.vmin == -1
    assert image.norm.vmax == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: weight_matrix(dfa_to_rnn(NAMED["divisible-by-7-decimal"])), "columns do not fit: at most"),
        (lambda: space_time(NETS["parity"], "01" * 40), "81 columns do not fit"),
        (lambda: space_time(NETS["parity"]), "needs a word"),
        (lambda: space_time(NETS["parity"], "012"), "outside the alphabet"),
        (lambda: space_time(np.zeros(3)), r"shape \(units, time\)"),
        (lambda: space_time(np.full((2, 2), np.nan)), "finite"),
        (lambda: space_time(np.zeros((2, 3)), "ab"), "2 symbols for 3 steps"),
        (lambda: space_time(np.zeros((2, 3)), names=["p"]), "1 names for 2 units"),
        (lambda: success_chart({}), "nothing to draw"),
        (lambda: success_chart({"a": {"L": {1: (2, 1)}}}), "2 of 1"),
        (lambda: success_chart({"a": {"L": {1: (1, 1)}}, "b": {"K": {1: (1, 1)}}}), "b has the languages"),
        (lambda: success_chart({"a": {"L": {1: (1, 1)}, "K": {2: (1, 1)}}}), "a on K has the lengths"),
        (lambda: success_chart({"a": {str(k): {1: (1, 1)} for k in range(7)}}), "7 languages"),
        (lambda: counting({"a": {3: [0, 1, 2]}}), "a at n = 3"),
        (lambda: counting({"a": {}}), "nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_intervals_are_those_that_the_tails_of_the_binomial_give():
    from scipy.stats import binom

    fig = success_chart({"GRU": {"PARITY": {1: (3, 10), 2: (0, 5), 10: (5, 5)}}})
    (lines,) = [item for item in fig.axes[0].collections]
    (low3, high3), (low0, high0), (low5, high5) = [sorted(path.vertices[:, 1]) for path in lines.get_paths()]
    assert binom.sf(2, 10, low3) == pytest.approx(0.025)
    assert binom.cdf(3, 10, high3) == pytest.approx(0.025)
    assert (low0, high5) == (0, 1)
    assert binom.cdf(0, 5, high0) == pytest.approx(0.025)
    assert binom.sf(4, 5, low5) == pytest.approx(0.025)
    assert [list(line.get_ydata()) for line in fig.axes[0].lines] == [[0.3, 0, 1]]


def test_lines_of_a_counter_are_marked_where_they_turn():
    ax = counting(RUNS).axes[0]
    turns = sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if len(line.get_xdata()) == 1)
    assert turns == [(n, n) for n in (5, 10, 50, 100)]
    assert {text.get_text() for text in ax.texts} >= {"n = 100", "50"}


def test_the_cut_moves_and_the_boxes_stay():
    fig = two_layers()
    fig.draw_without_rendering()
    boxes = [item.get_window_extent() for item in fig.findobj(FancyBboxPatch) if item.get_gid() != "step"]
    frames = [item.get_window_extent() for item in fig.findobj(FancyBboxPatch) if item.get_gid() == "step"]
    named = [(item.get_text(), box) for item, box in words(fig) if item.get_gid() == "in a box"]
    assert len(boxes) == 12 + 2
    held = [
        [
            text
            for text, box in sorted(named, key=lambda pair: pair[1].x0)
            if frame.contains(*box.p0) and frame.contains(*box.p1)
        ]
        for frame in sorted(frames, key=lambda frame: (-round(frame.y0), frame.x0))
    ]
    assert held == [["AND", "sum"]] * 3 + [["AND"], ["sum", "AND"], ["sum", "AND"], ["sum"]]
    for a, b in combinations(frames, 2):
        assert not a.overlaps(b)


def test_names_of_units_lose_the_brackets_of_tuples():
    names = ("start", "2&b", "(0, 1)&1", "('p', 'q')&a")
    assert list(map(unit_name, names)) == ["start", "2&b", "01&1", "pq&a"]


def test_parity_needs_five_units_here():
    assert len(by_rows(read_off(weight_matrix(dfa_to_rnn(parity()))))) == 5 + 1
