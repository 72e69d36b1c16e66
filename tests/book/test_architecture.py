"""The page on how the package is built: its drawing shows the imports, and what it points to is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sitecheck import ROOT

import fhx
from architecture import below, direct, drawing, floors, imported_rooms

PAGE = (ROOT / "book" / "architecture.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ROOMS = imported_rooms(Path(fhx.__path__[0]))


@st.composite
def graphs(draw) -> dict[str, set[str]]:
    """Rooms of which each imports some of those before it."""
    names = "abcdefg"[: draw(st.integers(1, 7))]
    return {
        name: set(draw(st.lists(st.sampled_from(names[:place] or "x")))) - {"x"} for place, name in enumerate(names)
    }


@settings(max_examples=60)
@given(graphs())
def test_arrows_lead_to_all_that_is_needed_and_none_can_be_spared(graph):
    arrows = direct(graph)
    for room in graph:
        assert below(arrows, room) == below(graph, room)
        for one in arrows[room]:
            assert one not in below({**arrows, room: arrows[room] - {one}}, room)


@settings(max_examples=60)
@given(graphs())
def test_a_room_stands_right_above_the_highest_that_it_imports(graph):
    at = {room: number for number, floor in enumerate(floors(graph)) for room in floor}
    assert at.keys() == graph.keys()
    assert at == {room: max((at[one] + 1 for one in graph[room]), default=0) for room in graph}


def test_the_imports_are_those_that_python_makes():
    """A room that is imported alone loads no room that the drawing does not have below it."""
    code = "import sys, fhx.{0}; print(*sorted({{n.split('.')[1] for n in sys.modules if n.startswith('fhx.')}}))"
    for room in ("exact", "stability", "training"):
        done = subprocess.run([sys.executable, "-c", code.format(room)], capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) & set(ROOMS) <= below(ROOMS, room) | {room}


def test_the_drawing_has_every_room_with_its_page_and_all_arrows_go_down():
    svg = drawing(ROOMS, {room: f"api/{room}.html" for room in ROOMS})
    assert dict(re.findall(r'<a href="api/(\w+)\.html">.*?<text[^>]*>(\w+)</text>', svg)) == {
        room: room for room in ROOMS
    }
    arrows = re.findall(r'class="line" d="M\S+ (\d+)C\S+ \S+ \S+ \S+ \S+ (\d+)"', svg)
    assert len(arrows) == sum(map(len, direct(ROOMS).values()))
    assert all(int(begin) < int(end) for begin, end in arrows)
    assert all((ROOT / "book" / "api" / f"{room}.md").is_file() for room in ROOMS)


def test_every_path_of_the_page_is_there():
    paths = re.findall(r"`((?:src|tests|book|notebooks|results|benchmarks)\b[\w/.-]*|\w+\.(?:yml|toml|txt))`", PAGE)
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / path).exists()] == ["notebooks/NN-title.ipynb"] * paths.count(
        "notebooks/NN-title.ipynb"
    )


def test_every_recipe_of_the_page_is_there():
    anchors = re.findall(r"CONTRIBUTING\.md#([\w-]+)\)", PAGE)
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.*)$", CONTRIBUTING, re.M)}
    assert len(anchors) > 8
    assert set(anchors) <= headings
    assert {"a-task", "a-figure", "an-explorer", "an-experiment", "a-release", "a-dependency"} <= headings


@pytest.mark.full
def test_the_built_page_has_the_drawing_and_links_that_lead_somewhere(html):
    page = html / "book" / "architecture.html"
    links = re.findall(r'<a href="([^"]+)"><rect', page.read_text("utf-8"))
    assert len(links) == len(ROOMS)
    assert all((page.parent / link).is_file() for link in links)
