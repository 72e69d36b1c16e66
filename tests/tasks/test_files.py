"""The loader: what it finds, what it downloads, and that nothing half done stays behind."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import evolve

from fhx.tasks import FILES, DataCorruptError, DataFile, DataNotFoundError, locate
from fhx.tasks.files import cache_folder, fingerprint

NAME = "folder/file.bin"


@pytest.fixture
def file(server) -> DataFile:
    digest = hashlib.sha256(server.body).hexdigest()
    return DataFile(NAME, (server.url,), (f"sha256:{digest}",), license="none", citation="nobody")


def contents(folder: Path) -> list[str]:
    """Everything below a folder that is not itself a plain folder of a file's path, hidden things included."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p != folder / "folder")


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_download_is_complete_cached_and_shown(server, file, tmp_path, capfd):
    path = locate(file, cache=tmp_path)
    assert path == tmp_path / NAME
    assert path.read_bytes() == server.body
    assert contents(tmp_path) == [NAME]
    out, err = capfd.readouterr()
    assert out == ""
    assert NAME in err or os.environ.get("TQDM_DISABLE")
    assert locate(file, cache=tmp_path) == path
    assert server.requests == 1


def test_the_file_id_of_git_is_as_good_as_a_sha256(server, file, tmp_path):
    either = evolve(file, hashes=("sha256:" + "0" * 64, fingerprint(server.body, "gitblob")))
    assert locate(either, cache=tmp_path).read_bytes() == server.body


@pytest.mark.parametrize("fault", ["truncated", "wrong", "500", "404"])
def test_one_fault_is_mended_by_trying_again(server, file, tmp_path, fault):
    server.script = [fault, "good"]
    assert locate(file, cache=tmp_path, pause=0).read_bytes() == server.body
    assert server.requests == 2
    assert contents(tmp_path) == [NAME]


def test_the_second_address_serves_when_the_first_does_not(server, file, tmp_path):
    dead = evolve(file, urls=(closed_port(), server.url))
    assert locate(dead, cache=tmp_path, pause=0).read_bytes() == server.body


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("truncated", "IncompleteRead"),
        ("wrong", "wrong hash"),
        ("500", "500 Server Error"),
        ("404", "404 Client Error"),
    ],
)
def test_a_lasting_fault_is_one_error_and_leaves_nothing(server, file, tmp_path, fault, said):
    server.script = [fault]
    with pytest.raises(DataNotFoundError, match=said) as caught:
        locate(file, cache=tmp_path, attempts=2, pause=0)
    assert server.requests == 2
    assert contents(tmp_path) == []
    assert server.url in str(caught.value)
    if fault == "wrong":
        assert fingerprint(server.body[::-1], "sha256") in str(caught.value)


@pytest.mark.full
def test_an_interrupted_download_leaves_nothing(server, file, tmp_path):
    server.script = ["stalled"]
    code = f"from fhx.tasks import DataFile, locate\nlocate({file!r}, cache={str(tmp_path)!r})"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as child:
        try:
            assert server.half_sent.wait(60)
            deadline = time.monotonic() + 20
            while (
                not any(p.is_file() and p.stat().st_size for p in tmp_path.rglob("*")) and time.monotonic() < deadline
            ):
                time.sleep(0.02)
            before = contents(tmp_path)
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=30)
        finally:
            child.kill()
    assert len(before) == 1, "half a file was there when the interruption came"
    assert b"KeyboardInterrupt" in errors
    assert contents(tmp_path) == []


def test_no_file_and_no_network_is_one_error_that_says_how_to_get_it(file, tmp_path, monkeypatch):
    monkeypatch.setenv("FHX_DATA", str(tmp_path / "mine"))
    lost = evolve(file, urls=(closed_port(),))
    with pytest.raises(DataNotFoundError) as caught:
        locate(lost, cache=tmp_path / "cache", pause=0)
    message = str(caught.value)
    for place in (tmp_path / "mine" / NAME, tmp_path / "cache" / NAME, lost.urls[0], lost.hashes[0], "ConnectionError"):
        assert str(place) in message
    assert "the folder does not exist" in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert contents(tmp_path / "cache") == []


def test_a_cache_that_cannot_be_written_is_named_in_the_error(file, tmp_path):
    write(tmp_path / "cache", b"a file where a folder should be")
    with pytest.raises(DataNotFoundError, match=r"Not a directory|File exists"):
        locate(file, cache=tmp_path / "cache", attempts=1)


def test_the_named_folder_comes_before_the_cache_and_the_cache_before_the_network(server, file, tmp_path, monkeypatch):
    mine, cached = write(tmp_path / "mine" / NAME, server.body), write(tmp_path / "cache" / NAME, server.body)
    monkeypatch.setenv("FHX_CACHE", str(tmp_path / "cache"))
    assert locate(file) == cached
    monkeypatch.setenv("FHX_DATA", str(tmp_path / "mine"))
    assert locate(file) == mine
    mine.unlink()
    assert locate(file) == cached
    assert server.requests == 0


@pytest.mark.parametrize("place", ["mine", "cache"])
def test_a_file_with_a_wrong_hash_is_named_with_both_hashes_and_kept(server, file, tmp_path, monkeypatch, place):
    monkeypatch.setenv("FHX_DATA", str(tmp_path / "mine"))
    path = write(tmp_path / place / NAME, server.body[:-1])
    with pytest.raises(DataCorruptError) as caught:
        locate(file, cache=tmp_path / "cache")
    for part in (str(path), file.hashes[0], fingerprint(server.body[:-1], "sha256")):
        assert part in str(caught.value)
    assert path.exists()
    assert server.requests == 0


def test_the_cache_is_a_folder_of_this_book(monkeypatch):
    monkeypatch.delenv("FHX_CACHE", raising=False)
    assert "fhx" in cache_folder().parts


def test_fingerprints_are_those_of_git_and_of_sha256():
    assert fingerprint(b"", "gitblob") == "gitblob:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert fingerprint(b"hello\n", "gitblob") == "gitblob:ce013625030ba8dba906f756967f9e9ca394464a"
    assert fingerprint(b"", "sha256").startswith("sha256:e3b0c44298fc1c149afbf4c8996fb924")
    with pytest.raises(ValueError, match="md5"):
        fingerprint(b"", "md5")


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"'chorales.mat' is known.*JSB_Chorales"):
        locate("chorales.mat")
    with pytest.raises(ValueError, match="attempts must be an integer of at least 1, got 0"):
        locate("wikitext-2/test.txt", cache=tmp_path, attempts=0)


def test_the_registry_is_complete():
    for name, file in FILES.items():
        assert name == file.name
        assert file.license
        assert file.citation
        assert all(url.startswith("https://") and url.endswith(name.rpartition("/")[2]) for url in file.urls)
        assert len({url.split("/")[2] for url in file.urls}) == 2  # whoever publishes it may go
        assert all(
            len(hash_.partition(":")[2]) == {"sha256": 64, "gitblob": 40}[hash_.split(":")[0]] for hash_ in file.hashes
        )


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", FILES)
def test_every_real_file_is_the_one_the_registry_knows(name):
    assert locate(name).is_file()


def closed_port() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/file.bin"
