"""The pages of the package: every public name is described on that of its room, once, with its types."""

import ast
import importlib
import pkgutil
import posixpath
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError
from sphinx.util.inventory import InventoryFile

import fhx
from fhx.course.notebooks import is_code, read
from fhx.exact import Network
from fhx.figures import Slider
from fhx.machines import DFA, Comparison
from rooms import accepted, described, names_by_module

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ROOMS = ["fhx", *(f"fhx.{room.name}" for room in pkgutil.iter_modules(fhx.__path__) if room.ispkg)]


def missing(names: list[str], inventory: dict) -> list[str]:
    """The names that the inventory of the book has no entry for, whatever their kind."""
    described = {name for kind, entries in inventory.items() if kind.startswith("py:") for name in entries}
    return [name for name in names if name not in described]


def entry(html: Path, name: str) -> tuple[str, set[str]]:
    """The words and the links of what the page of its room says of a class or function."""
    page = BeautifulSoup((html / "book/api" / f"{name.split('.')[1]}.html").read_text(), "html.parser")
    found = page.find(id=name).find_parent("dl")
    return " ".join(found.text.split()), {link["href"] for link in found.find_all("a", href=True)}


@pytest.fixture
def inventory(html: Path) -> dict:
    with (html / "objects.inv").open("rb") as stream:
        return InventoryFile.load(stream, "", posixpath.join)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_described(room, inventory):
    module = importlib.import_module(room)
    assert module.__all__, f"{room} has no public names"
    assert not missing([f"{room}.{name}" for name in module.__all__], inventory)


def test_every_name_that_a_chapter_imports_is_described(inventory):
    cells = [cell for path in CHAPTERS for cell in read(path).cells[2:] if is_code(cell) and "from fhx" in cell.source]
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names if f"{node.module}."[:4] == "fhx."}
    assert len(names) > 100
    assert not missing(sorted(names), inventory)


def test_a_name_that_is_not_there_is_missed(inventory):
    assert missing(["fhx.cells.LSTMCell", "fhx.cells.NoSuchCell"], inventory) == ["fhx.cells.NoSuchCell"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_stands_under_one_module(room):
    module = importlib.import_module(room)
    found = names_by_module(module)
    assert Counter(name for names in found.values() for name in names) == Counter(module.__all__)
    for place, names in found.items():
        assert {getattr(importlib.import_module(place), name) is getattr(module, name) for name in names} <= {True}


def test_every_room_has_its_page_and_a_line_on_the_first_one():
    pages = {f"fhx.{page.stem}": page.read_text() for page in (ROOT / "book/api").glob("*.md")}
    listed = {room: re.findall(r"{room} (\S+)", text) for room, text in pages.items()}
    assert listed == {room: [room] for room in ROOMS[1:]}
    first = (ROOT / "book/api.md").read_text()
    assert re.findall(r"{room} (\S+)", first) == ["fhx"]
    assert sorted(" ".join(re.findall(r"{rooms} (.*)", first)).split()) == sorted(ROOMS[1:])


@pytest.mark.parametrize("room", ["machines", "exact", "compile", "cells", "dynamics", "stability", "tasks"])
def test_a_page_begins_with_the_modules_that_it_names(room, html):
    named = re.search(r":first: (.*)", (ROOT / f"book/api/{room}.md").read_text())[1].split()
    sections = re.findall(r'\bid="in-fhx-\w+-([\w-]+)"', (html / f"book/api/{room}.html").read_text())
    assert [section.replace("-", "_") for section in sections[: len(named)]] == named


def test_public_data_need_a_description(monkeypatch, tmp_path):
    (tmp_path / "bare_room.py").write_text('"""A room."""\nSHORT = 1\n"""A number."""\nBARE = 2\n')
    monkeypatch.syspath_prepend(tmp_path)
    room: ModuleType = importlib.import_module("bare_room")
    assert "   A number." in list(described(room.__name__, "SHORT", room.__name__))
    with pytest.raises(ExtensionError, match=r"bare_room\.BARE is public and has no description"):
        list(described(room.__name__, "BARE", room.__name__))


def test_types_are_shown_and_lead_to_their_classes(html):
    _, links = entry(html, "fhx.compile.dfa_to_rnn")
    assert {"machines.html#fhx.machines.DFA", "exact.html#fhx.exact.Recognizer"} <= links
    assert "Shaped[Tensor, 'time batch d_in']" in entry(html, "fhx.dynamics.unroll")[0]


def test_a_constructor_shows_what_it_accepts_and_not_what_it_stores(html):
    words, _ = entry(html, "fhx.machines.DFA")
    assert "alphabet (Reversible[Hashable])" in words
    assert "start (Hashable)" in words  # this one is stored as it is
    words, links = entry(html, "fhx.exact.Network")
    assert "V (Matrix | Iterable[Iterable[SupportsIndex | Fraction]])" in words
    assert "#fhx.exact.Matrix" in links


def test_aliases_and_computed_defaults_are_not_spelled_out(html):
    for room in ("exact", "figures", "tasks", "training"):
        page = (html / "book/api" / f"{room}.html").read_text()
        assert [word for word in ("_Buffer", "_SupportsArray", "NOTHING") if word in page] == []


def test_what_is_accepted_is_what_the_converters_take():
    assert accepted(DFA)["states"] == "~collections.abc.Reversible[~collections.abc.Hashable]"
    assert "start" not in accepted(DFA)
    assert accepted(Slider).keys() == {"values"}
    assert accepted(Network).keys() == {"V", "c", "steps_per_symbol"}
    assert accepted(Comparison) == {}
