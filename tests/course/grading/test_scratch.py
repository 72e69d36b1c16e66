"""Folders of students' code go, whatever is in them, and nothing outside of them changes."""

import os
import shutil
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from fhx.course.grading.marks import Task
from fhx.course.grading.scratch import Scratch, remove
from fhx.course.grading.worker import Worker

AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
REMOVE = (
    "import sys; from pathlib import Path; from fhx.course.grading.scratch import remove; remove(Path(sys.argv[1]))"
)


@pytest.fixture
def place(tmp_path):
    """A folder, whose end pytest could not make if a test fails."""
    yield tmp_path
    subprocess.run(["rm", "-rf", "--", tmp_path], stderr=subprocess.DEVNULL)


def nested(folder: Path, depth: int, mode: int) -> None:
    """Folders in folders, the last with these rights and a file."""
    place = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=place))
    os.fchmod(place, mode)
    os.close(place)


def removed_by_a_user(folder: Path) -> None:
    """Remove it by a process without rights, which root is in a namespace where it is another user."""
    own = AS_USER if os.getuid() == 0 else []
    if own and (not shutil.which("unshare") or subprocess.run([*own, "true"], capture_output=True).returncode):
        pytest.skip("no user can be made here")
    done = subprocess.run([*own, sys.executable, "-c", REMOVE, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize(("depth", "mode"), [(2100, 0o500), (3, 0o000)])  # the first is longer than a path may be
def test_folders_that_are_deep_and_closed(place, depth, mode):
    (place / "made").mkdir()
    nested(place / "made", depth, mode)
    removed_by_a_user(place / "made")
    assert list(place.iterdir()) == []


def test_folders_in_a_closed_one(place):
    for name in ("made/a/b/c", "made/d"):
        (place / name).mkdir(parents=True)
    for name in ("made/a/b/c", "made/a/b", "made/a", "made/d", "made"):
        (place / name).chmod(0)
    removed_by_a_user(place / "made")
    assert list(place.iterdir()) == []


def test_what_links_lead_to_stays_as_it_is(place):
    (place / "grades").mkdir()
    (place / "grades" / "ada.csv").write_text("33")
    (place / "readonly").write_text("kept")
    modes = {"grades": 0o550, "readonly": 0o440}
    for name, mode in modes.items():
        (place / name).chmod(mode)
    closed = place / "made" / "-closed"
    closed.mkdir(parents=True)
    for name in modes:
        (closed / name).symlink_to(place / name)
    closed.chmod(0o500)
    removed_by_a_user(place / "made")
    assert sorted(path.name for path in place.iterdir()) == sorted(modes)
    assert {name: stat.S_IMODE((place / name).stat().st_mode) for name in modes} == modes
    assert (place / "grades" / "ada.csv").read_text() == "33"


def test_what_cannot_go_stops_nothing(tmp_path, monkeypatch):
    (tmp_path / "made").mkdir()
    monkeypatch.setattr("os.defpath", str(tmp_path))  # no rm, and no find
    remove(tmp_path / "made")
    assert (tmp_path / "made").exists()
    monkeypatch.undo()
    remove(tmp_path / "made")
    assert not (tmp_path / "made").exists()
    remove(tmp_path / "made")


def test_a_folder_goes_with_its_object(tmp_path):
    kept = Scratch(tmp_path)
    kept.remove()
    kept.remove()
    assert list(tmp_path.iterdir()) == []
    Scratch(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_worker_ends_whatever_its_kernels_left(tmp_path):
    with closing(Worker(asdict(Task(3, "a seed of a test")), 60.0)) as worker:
        folder = Path(os.readlink(f"/proc/{worker._started().process.pid}/cwd"))
        nested(folder, 1500, 0o500)
    assert not folder.exists()
