"""The page of the package: every public name is described on it, once."""

import importlib
import pkgutil
import posixpath
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

import fhx

ROOMS = [f"fhx.{room.name}" for room in pkgutil.iter_modules(fhx.__path__) if room.ispkg]


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
