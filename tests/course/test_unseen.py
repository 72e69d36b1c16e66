"""The seed stands in no list of processes."""

import os
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict

import psutil
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fhx.course.grading.marks import Task
from fhx.course.grading.worker import Worker
from fhx.course.main import main
from fhx.course.unseen import hidden, restored

SEED = "maple-kettle-31-otter"
COMMAND = [sys.executable, "-P", "-m", "fhx.course.main"]


@given(
    st.lists(st.sampled_from(["--seed", "--see", "--seconds", f"--seed={SEED}", "--seed=", SEED, "grade", "--", "3"]))
)
@example(["--seed", "--seed", SEED])
@example(["--seed"])
def test_words_are_restored(words):
    stars, seeds = hidden(words)
    assert restored(stars, seeds) == words
    assert len(stars) == len(words)


@pytest.mark.parametrize(
    ("words", "stars"),
    [
        (["--seed", SEED, "x"], ["--seed", "***", "x"]),
        ([f"--seed={SEED}"], ["--seed=***"]),
        (["a", "--see", SEED], ["a", "--see", "***"]),
        (["--seconds", "600"], ["--seconds", "600"]),
    ],
)
def test_seeds_are_covered(words, stars):
    assert hidden(words)[0] == stars


@pytest.mark.full
@pytest.mark.parametrize("words", [["--seed", "short"], ["--see=short"]])
def test_the_seed_arrives(tmp_path, words):
    given = ["grade", str(tmp_path), "--chapter", "3", "--out", str(tmp_path / "out"), *words]
    done = subprocess.run([*COMMAND, *given], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "the seed 'short' could be guessed" in done.stderr


@pytest.mark.full
def test_the_command_shows_no_seed(tmp_path):
    """It waits for a table that nobody writes."""
    os.mkfifo(tmp_path / "students.csv")
    words = ["grade", str(tmp_path), "--chapter", "3", "--variants", str(tmp_path / "students.csv")]
    words += ["--out", str(tmp_path / "out"), "--seed", SEED]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            shown = psutil.Process(process.pid)
            until = time.monotonic() + 10
            while "***" not in shown.cmdline() and time.monotonic() < until:
                time.sleep(0.01)
            assert shown.cmdline()[-2:] == ["--seed", "***"]
            assert SEED not in repr(shown.environ())
            assert process.poll() is None
        finally:
            process.kill()


def test_a_call_from_python_stays_in_its_process(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it became another process"))
    words = ["grade", str(tmp_path), "--chapter", "3", "--out", str(tmp_path / "out"), "--seed", "short"]
    monkeypatch.setattr(sys, "argv", ["fhx-course", *words])
    assert main() == 2  # these words are not those that Python was started with
    monkeypatch.setattr(sys, "orig_argv", [sys.executable, *sys.argv])
    assert main(words) == 2
    assert capsys.readouterr().err.count("the seed 'short' could be guessed") == 2


@pytest.mark.parametrize("words", [["--seed-fd"], ["--seed-fd", "x"], ["--seed-fd", "987"]])
def test_no_pipe(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["fhx-course", *words])
    assert main() == 2
    assert "--seed-fd is for the command itself" in capsys.readouterr().err


@pytest.mark.full
def test_workers_show_no_seed():
    with closing(Worker(asdict(Task(3, SEED)), 60.0)) as worker:
        shown = psutil.Process(worker._started().process.pid)
        until = time.monotonic() + 10
        while not (shown.cmdline() and shown.environ()):  # as it starts it shows nothing for a moment
            assert time.monotonic() < until
        assert "fhx.course.grading.worker" in shown.cmdline()
        assert SEED not in repr((shown.cmdline(), shown.environ()))
