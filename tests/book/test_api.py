"""The page of the package: every public name is described on it, once, with its types."""

import importlib
import pkgutil
import posixpath
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError
from sphinx.util.inventory import InventoryFile

import fhx
from rooms import described, names_by_module

ROOT = Path(__file__).parents[2]
ROOMS = ["fhx", *(f"fhx.{room.name}" for room in pkgutil.iter_modules(fhx.__path__) if room.ispkg)]


def missing(names: list[str], inventory: dict) -> list[str]:
    """The names that the inventory of the book has no entry for, whatever their kind."""
    described = {name for kind, entries in inventory.items() if kind.startswith("py:") for name in entries}
    return [name for name in names if name not in described]


@pytest.fixture
def inventory(html: Path) -> dict:
    with (html / "objects.inv").open("rb") as stream:
        return InventoryFile.load(stream, "", posixpath.join)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_on_the_page(room, inventory):
    module = importlib.import_module(room)
    assert module.__all__, f"{room} has no public names"
    assert not missing([f"{room}.{name}" for name in module.__all__], inventory)


def test_a_name_that_is_not_there_is_missed(inventory):
    assert missing(["fhx.cells.LSTMCell", "fhx.cells.NoSuchCell"], inventory) == ["fhx.cells.NoSuchCell"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_stands_under_one_module(room):
    module = importlib.import_module(room)
    found = names_by_module(module)
    assert Counter(name for names in found.values() for name in names) == Counter(module.__all__)
    for place, names in found.items():
        assert {getattr(importlib.import_module(place), name) is getattr(module, name) for name in names} <= {True}


def test_every_room_is_on_the_page_once():
    listed = [
        line.split()[1] for line in (ROOT / "book/api.md").read_text().splitlines() if line.startswith("```{room}")
    ]
    assert sorted(listed) == sorted(ROOMS)


def test_public_data_need_a_description(monkeypatch, tmp_path):
    (tmp_path / "bare_room.py").write_text('"""A room."""\nSHORT = 1\n"""A number."""\nBARE = 2\n')
    monkeypatch.syspath_prepend(tmp_path)
    room: ModuleType = importlib.import_module("bare_room")
    assert "   A number." in list(described(room.__name__, "SHORT", room.__name__))
    with pytest.raises(ExtensionError, match=r"bare_room\.BARE is public and has no description"):
        list(described(room.__name__, "BARE", room.__name__))


def test_types_are_shown_and_lead_to_their_classes(html):
    page = BeautifulSoup((html / "book" / "api.html").read_text(), "html.parser")
    entry = page.find(id="fhx.compile.dfa_to_rnn").find_parent("dl")
    assert {"#fhx.machines.DFA", "#fhx.exact.Recognizer"} <= {link["href"] for link in entry.find_all("a", href=True)}
    entry = page.find(id="fhx.dynamics.unroll").find_parent("dl")
    assert "Shaped[Tensor, 'time batch d_in']" in " ".join(entry.text.split())
