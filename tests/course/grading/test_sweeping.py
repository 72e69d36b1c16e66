"""What a kernel leaves running, where it has no world of its own, ends with it, even if it fights back."""

import os
import shutil
import subprocess
import time

import pytest

from fhx.course.grading import sweeping
from fhx.course.grading.sweeping import sweep
from fhx.course.grading.users import guard_user, spare_user

KILLER = "while :; do kill -9 -1; done"
"""It ends whatever its user may end, but for itself."""


@pytest.fixture
def daemon(monkeypatch):
    """Starts a process of a user that nobody is."""
    monkeypatch.setattr(sweeping, "EVERYBODYS", ())  # what other tests have left there takes its time
    if os.getuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("it takes root, and util-linux")
    started = []

    def start(user, code=KILLER):
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "bash", "-c", code]
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        while os.stat(f"/proc/{started[-1].pid}").st_uid != user:
            time.sleep(0.001)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_who_ends_others_is_not_ended_by_them(daemon, monkeypatch):
    real, kill, statuses = sweeping.waited, os.kill, []
    monkeypatch.setattr(sweeping, "waited", lambda act: statuses.append(real(act)) or statuses[-1])
    monkeypatch.setattr(os, "kill", lambda *words: (time.sleep(0.1), kill(*words)))  # time enough to be ended
    process = daemon(spare_user())
    time.sleep(0.05)  # it is in its loop
    sweep(spare_user(), guard_user())
    assert set(statuses) == {0}
    assert process.wait(5) == -9


def test_others_stay(daemon):
    mine, other, guard = spare_user(1), spare_user(2), guard_user()
    assert len({mine, other, guard}) == 3
    ended, kept = daemon(mine, "sleep 60"), daemon(other, "sleep 60")
    sweep(mine, guard)
    assert ended.wait(5) == -9
    assert kept.poll() is None


def test_who_ends_others_is_asked_whether_it_has(daemon, monkeypatch):
    asked = []
    monkeypatch.setattr(sweeping, "waited", lambda act: asked.append(act) or (247 if len(asked) < 3 else 0))
    sweep(spare_user(3), guard_user())
    assert len(asked) == 3


def test_it_is_said_if_something_is_left(daemon, monkeypatch):
    user = spare_user(4)
    daemon(user, "sleep 60")
    monkeypatch.setattr(sweeping, "waited", lambda act: 0)
    monkeypatch.setattr(sweeping, "SWEPT", 0.1)
    with pytest.raises(OSError, match=f"processes of the user {user} do not end"):
        sweep(user, guard_user())
