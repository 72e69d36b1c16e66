"""The archive for Gradescope installs itself and grades, in a folder laid out as Gradescope's containers are."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "grading"))

from hostile import COUNT, HAT, HATS, STATES, instead, light, public_only, renamed
from submitted import Cells, text

import fhx
from fhx._version import shipped
from fhx.course.main import main

pytestmark = pytest.mark.alone

SECRET = "a seed of a test that is secret"
OUT = """\
import glob, os, socket, subprocess, sys
found = []
for place in ("/autograder/source/task.json", "/autograder/results", "/autograder/submission", *EXERCISES):
    try:
        found.append(os.listdir(place) if os.path.isdir(place) else open(place).read())
    except OSError:
        pass
for place in ("/autograder/results/results.json", "/opt/fhx/new", "/autograder/run_autograder", "/etc/new"):
    try:
        found.append(open(place, "w"))
    except OSError:
        pass
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            found.append(socket.socket(family, kind))
        except OSError:
            pass
for place in glob.glob("/proc/[0-9]*/mem") + glob.glob("/proc/[0-9]*/environ"):
    if os.stat(place).st_uid != os.getuid():
        try:
            found.append(open(place, "rb").read(1))
        except OSError:
            pass
for act in (lambda: os.setuid(0), lambda: os.kill(os.getppid(), 9), lambda: os.setgroups([0]), lambda: os.chroot("/")):
    try:
        found.append(act())
    except OSError:
        pass
if os.getuid() == 0 or os.getgid() == 0 or os.getgroups():
    found.append("rights")
try:
    from fhx.exercises.chapter_03 import EXERCISES as known
    found += [one for one in known if hasattr(one, "oracle_of_a_book")]
except Exception:
    pass
"""
"""Whatever a user should not reach, in ``found``."""
EXERCISES = """\
import sys
EXERCISES = [f"{place}/fhx/{name}" for place in sys.path for name in ("exercises", "course")]
"""
LEAVE = """\
import os, subprocess
for place in ("/tmp", "/dev/shm", "/var/tmp"):
    try:
        open(f"{place}/left", "w").write(repr((W, U, b, h0)))
        os.chmod(f"{place}/left", 0o666)
    except OSError:
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "7654"])
    os._exit(0)
os.wait()
fight = f"while kill -0 {os.getpid()}; do :; done; while :; do kill -9 -1; done; : 7654"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("bash", ["bash", "-c", fight])  # as soon as the kernel has ended, it ends whom it can
    os._exit(0)
os.wait()
return right(W, U, b, h0)"""
FIND = """\
import glob, os
left = glob.glob("/tmp/left") + glob.glob("/dev/shm/left") + glob.glob("/var/tmp/left")
running = [p for p in glob.glob("/proc/[0-9]*/cmdline") if b"7654" in open(p, "rb").read()]
return 0 if left or running else hat(n)"""


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    """A container with the grader of some exercises of chapter 3 installed, and a private input."""
    if os.getuid() != 0 or not shutil.which("bwrap"):
        pytest.skip("it takes root, and bubblewrap")
    spec = importlib.util.spec_from_file_location("container", Path(__file__).with_name("container.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("gradescope")
    (folder / "private").mkdir()
    (folder / "private" / f"{HAT}.json").write_text("[[7]]")
    (folder / "in").mkdir()
    words = ["gradescope", "--chapter", "3", "--seed", SECRET, "--private", str(folder / "private"), "--random", "3"]
    assert main([*words, "--only", COUNT, HAT, "--out", str(folder / "a.zip")]) == 0
    made = module.Container(folder / "in")
    if made.run("unshare", "--mount", "true").returncode == 0:
        pytest.skip("namespaces can be made without rights here, which is no container")
    made.unpack(folder / "a.zip")
    done = made.run("bash", "/autograder/source/setup.sh")
    assert done.returncode == 0, done.stderr
    return made


def graded(container, *files: Cells, names=("homework",), metadata=None):
    """The results that Gradescope would have, and what only the instructor sees."""
    for folder in ("submission", "results"):
        shutil.rmtree(container.autograder / folder)
        (container.autograder / folder).mkdir()
    for name, cells in zip(names, files, strict=True):
        (container.autograder / "submission" / f"{name}.ipynb").write_text(text(cells))
    (container.autograder / "submission_metadata.json").write_text(json.dumps(metadata or {}))
    container.autograder.chmod(0o755)
    done = container.run("/autograder/run_autograder")
    assert done.returncode == 0, done.stderr
    return json.loads((container.autograder / "results" / "results.json").read_text()), done.stdout


def scores(results):
    return {test["name"].partition(":")[0]: test.get("score") for test in results["tests"]}


def test_the_container_knows_the_version_and_has_the_results(container):
    asked = "import fhx; from fhx._version import shipped; print(fhx.__version__, len([*shipped().iterdir()]))"
    done = container.run("/opt/fhx/bin/python", "-c", asked)
    assert done.stdout == f"{fhx.__version__} {len([*shipped().glob('*.json')])}\n", done.stderr


def test_right_answers_get_their_points(container):
    results, said = graded(container, light())
    assert scores(results) == {COUNT: 2, HAT: 3}
    assert results["score"] == 5
    assert said == ""


def test_a_private_failure_is_for_the_instructor_only(container):
    results, said = graded(container, public_only())
    assert scores(results) == {COUNT: 2, HAT: 0}
    assert "On an input that is not shown the value is wrong." in json.dumps(results)
    assert "n: 7" in said
    assert "n: 7" not in json.dumps(results)
    assert SECRET not in said + json.dumps(results)
    assert results["stdout_visibility"] == "hidden"


def test_students_code_reaches_nothing(container):
    out = "\n".join([EXERCISES + OUT, "assert not found, found", "return right(W, U, b, h0)"])
    results, said = graded(container, light({COUNT: renamed(COUNT) + instead(STATES, out)}))
    assert scores(results) == {COUNT: 2, HAT: 3}, said + results["tests"][0]["output"]


def test_nothing_of_an_answer_is_left_for_the_next(container):
    changed = {COUNT: renamed(COUNT) + instead(STATES, LEAVE)}
    changed |= {HAT: renamed(HAT).replace("right", "hat") + instead(HATS, FIND)}
    results, said = graded(container, light(changed))
    assert scores(results) == {COUNT: 2, HAT: 3}, said + json.dumps(results)
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "7654" not in listed


def test_another_number_of_notebooks_is_told(container):
    results, _ = graded(container, light(), light(), names=("one", "two"))
    assert results["score"] == 0
    assert "Hand in one notebook. There are 2: one.ipynb, two.ipynb" in results["output"]
    results, _ = graded(container, names=())
    assert "no notebook" in results["output"]
