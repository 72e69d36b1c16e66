"""A stored result is found in the nearest place or downloaded; sentences about it hold, or are named."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from fhx.experiments import WrongResultError, results, stored, verified
from fhx.experiments.results import repository


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""


def put(folder, where):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps({"where": where, "points": [{"point": {}, "result": {}}]}))


@pytest.fixture
def places(tmp_path, monkeypatch):
    """An empty world: a working folder, a cache, no environment variable, and a repository that this test serves."""
    for name in ("work/notebooks", "cache", "home/results"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work/notebooks")
    monkeypatch.delenv("FHX_RESULTS", raising=False)
    monkeypatch.setenv("FHX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "home")))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setattr(results, "repository", lambda: f"http://127.0.0.1:{server.server_address[1]}")
    yield tmp_path
    server.shutdown()
    thread.join()
    server.server_close()


def test_nearest_place_wins(places, monkeypatch):
    put(places / "home/results", "repository")
    assert stored("run")["where"] == "repository"
    put(places / "work/results", "above")
    assert stored("run")["where"] == "above"
    put(places / "work/notebooks/results", "here")
    assert stored("run")["where"] == "here"
    put(places / "named", "environment")
    monkeypatch.setenv("FHX_RESULTS", str(places / "named"))
    assert stored("run")["where"] == "environment"


def test_download_is_kept(places, capfd):
    put(places / "home/results", "repository")
    stored("run")
    (places / "home/results/run.json").unlink()
    assert stored("run")["where"] == "repository"
    assert capfd.readouterr() == ("", "")


def test_absent_result_says_where_it_was_looked_for_and_how_to_make_it(places):
    with pytest.raises(FileNotFoundError) as caught:
        stored("run")
    message = str(caught.value)
    assert "FHX_RESULTS: not set" in message
    assert f"the folder results of {places / 'work/notebooks'}" in message
    assert f"the cache: {places / 'cache'}" in message
    assert "/results/run.json: HTTPError: 404" in message
    assert message.endswith("python -m fhx.experiments run")


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"[]", b"{}", b'{"points": [{"point": {}}]}', b'{"points": [1]}', b"\xff"]
)
def test_what_is_no_result_is_refused_and_not_kept(places, content):
    (places / "home/results/run.json").write_bytes(content)
    with pytest.raises(WrongResultError, match=r"http://.*/results/run\.json is not the result of an experiment"):
        stored("run")
    assert not [path for path in (places / "cache").rglob("*") if path.is_file()]
    (places / "work/results").mkdir()
    (places / "work/results/run.json").write_bytes(content)
    with pytest.raises(WrongResultError, match=r"work.results.run\.json is not the result of an experiment"):
        stored("run")


def test_repository_is_that_of_the_package(monkeypatch):
    addresses = {"Project-URL": ["Documentation, https://a.example", "Repository, https://github.com/O/R"]}

    class Metadata:
        def get_all(self, name, otherwise):
            return addresses.get(name, otherwise)

    assert repository().startswith("https://raw.githubusercontent.com/")
    monkeypatch.setattr(results, "metadata", lambda package: Metadata())
    assert repository() == "https://raw.githubusercontent.com/O/R/main"


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
