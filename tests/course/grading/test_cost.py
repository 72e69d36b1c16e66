"""The command on a class: how long it takes, and what is seen meanwhile."""

import os
import subprocess
import sys
import time
from itertools import combinations, cycle, islice
from pathlib import Path

import pytest
from submitted import answered, solutions, text


def graded(folder: Path, size: int) -> subprocess.CompletedProcess[str]:
    """A class of which each leaves two other exercises out, graded by the command as a person would."""
    right = solutions()
    (folder / "in").mkdir()
    for student, left_out in enumerate(islice(cycle(combinations(right, 2)), size)):
        answers = {name: source for name, source in right.items() if name not in left_out}
        (folder / "in" / f"student-{student}.ipynb").write_text(text(answered(answers)))
    words = ["grade", "in", "--chapter", "3", "--seed", "a seed of a test", "--out", "out"]
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    command = [Path(sys.executable).with_name("fhx-course"), *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.alone
def test_it_shows_how_far_it_is(isolated, tmp_path):
    done = graded(tmp_path, 2)
    assert done.returncode == 0, done.stderr
    assert "1/2" in done.stderr
    assert "2/2" in done.stderr
    assert done.stdout == "2 submissions graded, 0 of them to be looked at: out/summary.html\n"


@pytest.mark.slow
def test_a_class_of_sixty_takes_less_than_eight_minutes_on_two_cores(isolated, tmp_path):
    began = time.monotonic()
    assert graded(tmp_path, 60).stdout.startswith("60 submissions graded, 0 of them")
    assert time.monotonic() - began < 480
