"""State diagrams: nothing lies on anything else, all is inside, and the drawing says what the machine is."""

import random
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.text import Text

from fhx.figures import state_diagram
from fhx.figures.layout import lay_out
from fhx.figures.words import state_name, text_width
from fhx.machines import DFA, NAMED, divisible_by, parity, tomita

SMALL = {name: dfa for name, dfa in NAMED.items() if len(dfa.states) <= 8}


pytestmark = pytest.mark.usefixtures("styled")


def machine(n, symbols, seed):
    draw = random.Random(seed)
    alphabet = "abcdef"[:symbols]
    table = {(q, a): draw.randrange(n) for q in range(n) for a in alphabet}
    return DFA(range(n), alphabet, table, 0, [q for q in range(n) if draw.random() < 0.4])


RANDOM = {f"{n} states, {k} symbols, seed {s}": machine(n, k, s) for n, k, s in (
    (1, 1, 0), (2, 5, 1), (3, 3, 2), (4, 2, 3), (5, 3, 4), (6, 2, 5), (6, 3, 6), (7, 3, 7), (8, 2, 8), (8, 4, 9),
    (11, 2, 10), (15, 2, 11),
)}  # fmt: skip


def pairs(dfa):
    """The pairs of states with an edge from one to the other in the diagram."""
    return {(q, dfa.transitions[q, a]) for q in dfa.reachable() for a in dfa.alphabet}


EACH = {**SMALL, **RANDOM}
SPARSE = {name: dfa for name, dfa in EACH.items() if len(pairs(dfa)) <= 20}
"""On denser ones words lie on lines, with a halo."""


def distance(box, center):
    dx, dy = max(box.x0 - center[0], center[0] - box.x1, 0), max(box.y0 - center[1], center[1] - box.y1, 0)
    return float(np.hypot(dx, dy))


def parts(fig):
    """Circles as (centre, radius), words on edges and names with their boxes, all in pixels, and the arrows."""
    fig.draw_without_rendering()
    (ax,) = fig.axes
    scale = ax.transData.transform((1, 0))[0] - ax.transData.transform((0, 0))[0]
    circles = [
        (ax.transData.transform(item.center), item.radius * scale)
        for item in fig.findobj(Circle)
        if item.get_gid() == "state"
    ]
    texts = [(item, item.get_window_extent()) for item in ax.texts]
    return circles, texts, fig.findobj(FancyArrowPatch)


@pytest.mark.parametrize("dfa", EACH.values(), ids=EACH)
def test_nothing_overlaps_and_all_is_inside(dfa):
    fig = state_diagram(dfa)
    assert fig.get_figwidth() == pytest.approx(5.8)
    circles, texts, arrows = parts(fig)
    words = [(item, box) for item, box in texts if item.get_gid() == "on an edge"]
    edges = len(pairs(dfa))
    assert (len(circles), len(words), len(arrows)) == (len(dfa.reachable()), edges, edges + 1)
    for (a, r), (b, s) in combinations(circles, 2):
        assert np.linalg.norm(a - b) > r + s + 8
    for item, box in words:
        assert all(distance(box, center) > radius for center, radius in circles), item.get_text()
    for (a, box_a), (b, box_b) in combinations(words, 2):
        assert not box_a.overlaps(box_b), (a.get_text(), b.get_text())
    for _, box in texts:
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1
    for arrow in arrows:
        box = arrow.get_window_extent()
        assert fig.bbox.x0 <= box.x0 + 1e-6 < box.x1 - 1e-6 <= fig.bbox.x1
        assert fig.bbox.y0 <= box.y0 + 1e-6 < box.y1 - 1e-6 <= fig.bbox.y1
    names = [box for item, box in texts if item.get_gid() == "in a circle"]
    for box in names:
        assert any(np.hypot(*(corner - c)) < r for c, r in circles for corner in [box.corners().mean(axis=0)])
        assert box.width < 2 * max(r for _, r in circles)


def sampled(route):
    t = np.linspace(0, 1, 200)[:, None]
    a, b, c, d = map(np.array, route.curve)
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t * t * c + t**3 * d


@pytest.mark.parametrize("width", [316, 417.6])
@pytest.mark.parametrize("dfa", SPARSE.values(), ids=SPARSE)
def test_no_word_lies_on_an_arrow(dfa, width):
    diagram = lay_out(dfa, width)
    arrows = [*(sampled(edge.route) for edge in diagram.edges), sampled(diagram.start)]
    for edge in diagram.edges:
        half = np.array([max(text_width(edge.word, diagram.text), 0.5 * diagram.text), 0.8 * diagram.text]) / 2
        assert not any((abs(arrow - edge.route.word) < half).all(axis=1).any() for arrow in arrows), edge.word


@pytest.mark.parametrize("dfa", [*EACH.values()][::2], ids=[*EACH][::2])
def test_no_edge_runs_through_a_circle_that_is_not_its_own(dfa):
    diagram = lay_out(dfa, 417.6)
    for edge in diagram.edges:
        curve = sampled(edge.route)
        for state, center in diagram.circles.items():
            near = np.linalg.norm(curve - center, axis=1).min()
            assert near > diagram.radius - 1, (edge.source, edge.target, state)
        ends = {edge.source: curve[0], edge.target: curve[-1]} if edge.source != edge.target else {}
        for state, end in ends.items():
            assert np.linalg.norm(end - diagram.circles[state]) == pytest.approx(diagram.radius, abs=1.5)


def test_the_words_are_the_transitions_merged_and_in_order():
    (edge,) = [e for e in lay_out(tomita(2), 400).edges if e.source == e.target]
    assert (edge.word, edge.symbols) == ("0, 1", ("0", "1"))
    seen = {(e.source, a, e.target) for e in lay_out(NAMED["abb"], 400).edges for a in e.symbols}
    assert seen == {(q, a, r) for (q, a), r in NAMED["abb"].transitions.items()}


def test_accepting_states_are_doubled_and_lit_ones_filled():
    fig = state_diagram(tomita(4), highlight=["q1", "q2"])
    rings = [item for item in fig.findobj(Circle) if item.get_gid() != "state"]
    assert len(rings) == 3
    fills = [item.get_facecolor() for item in fig.findobj(Circle) if item.get_gid() == "state"]
    assert len({fill for fill in fills if fills.count(fill) == 2}) == 2
    assert state_diagram(NAMED["tomita-5"], highlight=(0, 0))  # a state that is a tuple
    with pytest.raises(ValueError, match="9 is not a state"):
        state_diagram(tomita(4), highlight=9)


def test_a_trap_can_be_left_out_and_a_note_says_so():
    whole, cut = (state_diagram(tomita(4), hide_trap=hide) for hide in (False, True))
    assert [len(parts(fig)[0]) for fig in (whole, cut)] == [4, 3]
    assert len(parts(cut)[2]) == len(parts(whole)[2]) - 2
    (note,) = [box for item, box in parts(cut)[1] if item.get_gid() == "note"]
    assert all(distance(note, center) > radius for center, radius in parts(cut)[0])
    assert 0 <= note.x0 < note.x1 <= cut.bbox.x1
    assert not [item for item, _ in parts(state_diagram(parity(), hide_trap=True))[1] if item.get_gid() == "note"]


def test_given_positions_are_kept_and_names_are_written():
    places = {"r0": (0, 0), "r1": (10, 0), "r2": (5, 8)}
    diagram = lay_out(divisible_by(3), 400, positions=places, names={"r0": "zero"})
    x, y = (np.array([diagram.circles[q][k] for q in places]) for k in (0, 1))
    assert x[0] < x[2] < x[1]
    assert y[0] == pytest.approx(y[1])
    assert y[2] > y[0] + diagram.radius
    assert diagram.names == {"r0": "zero", "r1": "r1", "r2": "r2"}
    with pytest.raises(ValueError, match="positions lack the state 'r2'"):
        lay_out(divisible_by(3), 400, positions={"r0": (0, 0), "r1": (1, 0)})
    with pytest.raises(ValueError, match="one position"):
        lay_out(divisible_by(3), 400, positions={"r0": (0, 0), "r1": (1, 0), "r2": (1, 0)})


def test_a_diagram_fits_into_axes_that_are_given():
    fig, axes = plt.subplots(1, 2, figsize=(5.8, 3))
    for ax, dfa in zip(axes, (parity(), divisible_by(3)), strict=True):
        assert state_diagram(dfa, ax=ax) is fig
    fig.draw_without_rendering()
    for ax in axes:
        assert [item for item in ax.texts if item.get_gid() == "in a circle"]
        for item in ax.texts:
            box = item.get_window_extent()
            assert ax.bbox.x0 - 1 <= box.x0 < box.x1 <= ax.bbox.x1 + 1
            assert ax.bbox.y0 - 1 <= box.y0 < box.y1 <= ax.bbox.y1 + 1


def test_the_same_machine_is_drawn_the_same():
    assert lay_out(NAMED["S3"], 400) == lay_out(NAMED["S3"], 400)


def test_text_is_readable_on_a_phone():
    for item in state_diagram(NAMED["abb"]).findobj(Text):
        if item.get_text().strip():
            assert item.get_fontsize() * 96 / 72 * 350 / (5.8 * 96) >= 9


@pytest.mark.parametrize(
    ("dfa", "keywords", "words"),
    [
        (NAMED["S5"], {}, "120 states .* at most 15"),
        (parity(), {"names": {"even": "an even number"}}, "'an even number' does not fit into a circle"),
    ],
)
def test_what_cannot_be_drawn_is_said(dfa, keywords, words):
    with pytest.raises(ValueError, match=words):
        state_diagram(dfa, **keywords)


def test_names_of_states():
    assert [state_name(q) for q in (3, "ab", (0, 1), (0, (1, 2)), ((0, 10), 1))] == ["3", "ab", "01", "0,12", "0,10,1"]
