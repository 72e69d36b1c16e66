"""A stored result is found in the nearest place; sentences about it hold, or are named."""

import json
from pathlib import Path

import numpy as np
import pytest

from fhx import _version
from fhx.experiments import WrongResultError, stored, verified

ROOT = Path(__file__).parents[2]


def put(folder, where):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps({"where": where, "points": [{"point": {}, "result": {}}]}))


@pytest.fixture
def places(tmp_path, monkeypatch):
    """An empty world: a working folder, no environment variable, and an installed package with results."""
    for name in ("work/notebooks", "site/fhx/results"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work/notebooks")
    monkeypatch.delenv("FHX_RESULTS", raising=False)
    monkeypatch.setattr(_version, "__file__", str(tmp_path / "site/fhx/_version.py"))
    return tmp_path


def test_nearest_place_wins(places, monkeypatch):
    put(places / "site/fhx/results", "package")
    assert stored("run")["where"] == "package"
    put(places / "work/results", "above")
    assert stored("run")["where"] == "above"
    put(places / "work/notebooks/results", "here")
    assert stored("run")["where"] == "here"
    put(places / "named", "environment")
    monkeypatch.setenv("FHX_RESULTS", str(places / "named"))
    assert stored("run")["where"] == "environment"


def test_a_clone_has_them_beside_its_sources(places, monkeypatch):
    put(places / "clone/results", "clone")
    monkeypatch.setattr(_version, "__file__", str(places / "clone/src/fhx/_version.py"))
    assert stored("run")["where"] == "clone"
    monkeypatch.undo()
    assert _version.shipped() == ROOT / "results"


def test_absent_result_says_where_it_was_looked_for_and_how_to_make_it(places):
    with pytest.raises(FileNotFoundError) as caught:
        stored("run")
    message = str(caught.value)
    assert "FHX_RESULTS: not set" in message
    assert f"the folder results of {places / 'work/notebooks'}" in message
    assert f"the package: {places / 'site/fhx/results'}" in message
    assert message.endswith("python -m fhx.experiments run")


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"[]", b"{}", b'{"points": [{"point": {}}]}', b'{"points": [1]}', b"\xff"]
)
def test_what_is_no_result_is_refused(places, content):
    (places / "work/results").mkdir()
    (places / "work/results/run.json").write_bytes(content)
    with pytest.raises(WrongResultError, match=r"work.results.run\.json is not the result of an experiment"):
        stored("run")


def test_a_line_for_each_sentence_in_order(capfd):
    assert verified({"two is more than one": 2 > 1, "an array's too": np.float64(1) < 2}) == (
        "two is more than one: True\nan array's too: True"
    )
    assert capfd.readouterr() == ("", "")


def test_every_sentence_that_does_not_hold_is_named_and_no_other():
    with pytest.raises(AssertionError) as caught:
        verified({"up": np.bool_(False), "level": True, "down": 1 > 2})
    assert str(caught.value) == "these do not hold: up; down"


def test_nothing_verifies_nothing():
    with pytest.raises(ValueError, match="nothing to verify"):
        verified({})
