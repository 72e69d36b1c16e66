"""A file is replaced as a whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fhx._files import replacing, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from fhx._files import replacing
with replacing(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_written_and_replaced_with_its_folders(tmp_path):
    path = tmp_path / "not" / "there" / "marks.csv"
    for content in (b"old", b"new"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_writer_that_is_killed_half_way_leaves_the_old_file(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_writer_that_raises_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"old")

    def write() -> None:
        with replacing(path) as part:
            part.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == {path: b"old"}


def test_readers_see_the_old_content_until_the_block_ends(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"old")
    with replacing(path) as part:
        part.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_new_file_has_the_usual_permissions_and_a_replaced_one_keeps_its_own(tmp_path):
    path, usual = tmp_path / "marks.csv", tmp_path / "usual"
    usual.touch()
    write_atomically(path, b"old")
    assert permissions(path) == permissions(usual)
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert permissions(path) == 0o600


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path):
    (tmp_path / "marks").write_bytes(b"a file")
    with pytest.raises(OSError, match="marks"):
        write_atomically(tmp_path / "marks" / "all.csv", b"new")
