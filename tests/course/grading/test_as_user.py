"""The grader works for root, whom other tests are, and for a user who is not, with the same marks."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from hostile import COUNT, LIMITS, STATES, instead, light, network, outside, refused_calls, renamed
from submitted import text

from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Task

pytestmark = pytest.mark.alone

AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
"""Another user of this machine would not see this one's Python; one of a namespace has its files and not its rights."""
GRADE = """
import json, os, sys
from dataclasses import replace
from pathlib import Path
from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Task
from fhx.course.grading.launcher import Limits
assert os.getuid() == 1000
task = Task(3, "a seed of a test", only=("03-count-states",), random_inputs=2, limits=Limits(**json.loads(sys.argv[2])))
with task.launcher() as launcher:
    paths = sorted(Path(sys.argv[1]).iterdir())
    print(json.dumps({path.stem: [mark.status for mark in grade_file(path, task, launcher)] for path in paths}))
"""
INTO_OTHERS = """\
import ctypes, glob, os, signal
mine, found = os.getpid(), []
for place in glob.glob("/proc/[0-9]*"):
    if int(place[6:]) == mine:
        continue
    for name in ("environ", "mem", "maps"):
        try:
            found.append(open(f"{place}/{name}", "rb").read(9))
        except OSError:
            pass
    for name in ("root/tmp", "cwd", "fd"):
        try:
            found.append(os.listdir(f"{place}/{name}"))
        except OSError:
            pass
return -1 if found else right(W, U, b, h0)"""


DEEP = """\
import os
for place in ("/run/k", "/tmp", os.path.expanduser("~")):
    try:
        os.chdir(place)
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    except OSError:
        pass
return right(W, U, b, h0)"""


def right_and(body):
    """An answer that is right if the body says so."""
    return light({COUNT: renamed(COUNT) + instead(STATES, body)})


@pytest.fixture
def folder(tmp_path):
    cells = {
        "good": light(),
        "into": right_and(INTO_OTHERS),
        "deep": right_and(DEEP),
        "network": network(9),
        "outside": outside(tmp_path),
    }
    cells["calls"] = refused_calls()
    (tmp_path / "in").mkdir()
    for name, made in cells.items():
        (tmp_path / "in" / f"{name}.ipynb").write_text(text(made))
    return tmp_path / "in"


DESERVED = {
    "calls": ["wrong"],
    "deep": ["ok"],
    "good": ["ok"],
    "into": ["look at this"],  # it opens files
    "network": ["wrong"],
    "outside": ["wrong"],
}


def test_as_this_user(isolated, folder):
    task = Task(3, "a seed of a test", only=(COUNT,), random_inputs=2, limits=LIMITS)
    with task.launcher() as launcher:
        found = {path.stem: [mark.status for mark in grade_file(path, task, launcher)] for path in folder.iterdir()}
    assert found == DESERVED


def test_as_a_user_without_rights(isolated, folder):
    if os.getuid() != 0:
        pytest.skip("this is one")
    if not shutil.which("unshare") or subprocess.run([*AS_USER, "true"], capture_output=True).returncode:
        pytest.skip("no user can be made here")
    limits = json.dumps({"memory": LIMITS.memory, "slack": 2.0})
    command = [*AS_USER, sys.executable, "-c", GRADE, str(folder), limits]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == DESERVED
