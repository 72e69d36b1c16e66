"""Tape and units of a run: every cell, head and unit can be found again in the picture, and read on a phone."""

from functools import cache
from itertools import combinations, islice

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from fhx.compile import turing_to_rnn
from fhx.figures import tape_and_units
from fhx.figures.turing_run import unit_groups
from fhx.machines import (
    TuringMachine,
    addition,
    bouncing,
    busy_beaver,
    fold_tape,
    fold_word,
    increment,
    marching,
    palindromes,
)

BEAVER = busy_beaver(4)
REJECTS = TuringMachine({("q", "b"): ("q", "a", "R")}, "q", "accept", "reject", "_", "ab")
NETS = {
    "increment": (turing_to_rnn(increment()), "1101", {}),
    "rejects": (turing_to_rnn(REJECTS, 4), "bba", {}),
    "palindromes": (turing_to_rnn(palindromes()), "abba", {}),
    "addition": (turing_to_rnn(addition()), "1101+1011", {}),
    "beaver": (turing_to_rnn(fold_tape(BEAVER)), "", {"folded": BEAVER}),
    "small beaver": (turing_to_rnn(fold_tape(busy_beaver(2))), "1", {"folded": busy_beaver(2)}),
    "cut": (turing_to_rnn(marching()), "a", {"steps": 60}),
    "nothing": (turing_to_rnn(bouncing()), "", {"steps": 0}),
}
NAMED = ("increment", "rejects", "cut", "nothing")
LETTERED = ("increment", "rejects", "palindromes", "small beaver", "nothing")

pytestmark = pytest.mark.usefixtures("styled")


@cache
def picture(name):
    net, word, more = NETS[name]
    fig = tape_and_units(net, word, **more)
    fig.draw_without_rendering()
    return fig


@pytest.fixture(params=NETS)
def drawn(request):
    return request.param, picture(request.param)


def fed(name):
    """The word that the net reads."""
    _, word, more = NETS[name]
    return fold_word(more["folded"], word) if "folded" in more else word


def images(fig):
    return {image.get_gid(): np.asarray(image.get_array().filled(0)) for image in fig.axes[0].images if image.get_gid()}


def test_texts_stay_apart_inside_and_readable(drawn):
    name, fig = drawn
    assert fig.get_figwidth() == pytest.approx(5.8)
    assert fig.get_figheight() <= 14
    found = [(item, item.get_window_extent()) for item in fig.axes[0].texts]
    for (a, box_a), (b, box_b) in combinations(found, 2):
        meet = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0), min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0)
        assert min(meet) < 2, (a.get_text(), b.get_text())
    for item, box in found:
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1, item.get_text()
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1, item.get_text()
        assert item.get_fontsize() * 96 / 72 * 350 / (5.8 * 96) >= 9
    words = {item.get_text() for item, _ in found}
    units = NETS[name][0].rnn.unit_names
    assert (set(units) <= words) == (name in NAMED)
    assert set(unit_groups(NETS[name][0])) <= words


def test_units_and_outputs_are_those_of_the_net(drawn):
    name, fig = drawn
    net, _, more = NETS[name]
    shown = images(fig)
    columns = shown["output"].shape[1]
    states = list(islice(net.run(fed(name)), columns))
    for group, units in unit_groups(net).items():
        expected = [[float(state.get(unit, 0)) for state in states] for unit in units]
        assert np.array_equal(shown[group], expected)
    outputs = [0, *islice(net.outputs(fed(name)), columns - 1)]
    assert np.array_equal(shown["output"][0], np.abs(np.array(outputs, dtype=float)))
    answers = [item.get_text() for item in fig.axes[0].texts if item.get_gid() == "answer"]
    assert answers == [str(y).replace("-", "−") for y in outputs if y]
    verdict = net.machine.decide(fed(name), more.get("steps", 150))
    assert columns == len(fed(name)) + 2 + verdict.steps + (verdict.accepted is not None)


def runs(name):
    """For each column of the machine's run the symbols by cell, and the head, by the machine alone."""
    net, word, more = NETS[name]
    tm = more.get("folded")
    if tm is None:
        cut = more.get("steps", 150) + 1
        return [(dict(enumerate(here.tape)), here.head) for here in islice(net.machine.run(word), cut)]
    tape, head, q, found = dict(enumerate(word)), 0, tm.start, []
    while True:
        halted = q in (tm.accept, tm.reject)
        found.append((dict(tape), None if halted else head))
        if (rule := tm.transitions.get((q, tape.get(head, tm.blank)))) is None:
            return found
        q, tape[head], move = rule
        head += 1 if move == "R" else -1


def test_the_tape_and_the_head_are_the_machines(drawn):
    name, fig = drawn
    net, _, more = NETS[name]
    blank = more.get("folded", net.machine).blank
    tape = images(fig)["tape"]
    heads = sorted(
        (item.get_x() + item.get_width() / 2, item.get_y() + item.get_height() / 2)
        for item in fig.axes[0].patches
        if isinstance(item, Rectangle) and item.get_gid() == "head"
    )
    (image,) = [image for image in fig.axes[0].images if image.get_gid() == "tape"]
    left, right, low, top = image.get_extent()
    rows, columns = tape.shape[:2]
    places = [(int((x - left) / (right - left) * columns), int((y - top) / (low - top) * rows)) for x, y in heads]
    expected = runs(name)
    begin = columns - len(expected) - (net.machine.decide(fed(name), more.get("steps", 150)).accepted is not None)
    first = min([0, *(cell for cells, _ in expected for cell in cells), *(h for _, h in expected if h is not None)])
    assert places == [(begin + k, head - first) for k, (_, head) in enumerate(expected) if head is not None]
    colors = {}
    for k, (cells, _) in enumerate(expected):
        for row in range(rows):
            symbol = cells.get(row + first, blank)
            colors.setdefault(symbol, set()).add(tuple(tape[row, begin + k]))
    assert all(len(found) == 1 for found in colors.values())
    assert len({next(iter(found)) for found in colors.values()}) == len(colors)
    assert colors.get(blank, {to_rgb("white")}) == {to_rgb("white")}
    letters = [item for item in fig.axes[0].texts if item.get_gid() == "symbol"]
    assert bool(letters) == (name in LETTERED and name != "nothing")
    for item in letters:
        x, y = item.get_position()
        k = int((x - left) / (right - left) * columns) - begin
        if k >= 0:
            assert item.get_text() == str(expected[k][0][int((y - top) / (low - top) * rows) + first])


def test_every_unit_stands_in_one_group():
    for net, _, _ in NETS.values():
        groups = unit_groups(net)
        assert sorted(unit for units in groups.values() for unit in units) == list(range(net.units))
        names = {group: [net.rnn.unit_names[unit] for unit in units] for group, units in groups.items()}
        assert all(name.startswith("left") for name in names.get("left stack", []))
        assert all(name.startswith("right") for name in names["right stack"])


def test_the_key_names_symbols_only_where_cells_hold_no_letters():
    for name in NETS:
        words = [item.get_text() for item in picture(name).axes[0].texts]
        assert any(text.endswith("(blank)") for text in words) == (name not in LETTERED)
        assert "head" in words


@pytest.mark.parametrize(
    ("name", "word", "more", "message"),
    [
        ("increment", "1", {"steps": -1}, "steps must be an integer of at least 0"),
        ("increment", "12", {}, "outside the alphabet"),
        ("cut", "a", {"steps": 600}, "columns do not fit"),
    ],
)
def test_what_cannot_be_drawn_is_said(name, word, more, message):
    with pytest.raises(ValueError, match=message):
        tape_and_units(NETS[name][0], word, **more)


def test_more_symbols_than_colours_need_a_run_short_enough_for_letters():
    rules = {("q", a): ("q", b, "R") for a, b in zip("abcdefg", "bcdefgh", strict=True)} | {("q", "_"): ("p", "_", "L")}
    rules |= {("p", a): ("p", a, "L") for a in "bcdefgh"}
    net = turing_to_rnn(TuringMachine(rules, "q", "accept", "reject", "_", "abcdefg"))
    tape_and_units(net, "abcdefg", steps=3)
    with pytest.raises(ValueError, match="too many for colours alone"):
        tape_and_units(net, "abcdefg", steps=100)
