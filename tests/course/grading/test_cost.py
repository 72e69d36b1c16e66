"""The command on a small class: how long it takes, and what is seen meanwhile."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from submitted import answered, solutions, text

pytestmark = pytest.mark.alone

CLASS, MOST = 30, 240.0  # a class of thirty is to be graded in four minutes, on two cores
SAMPLE = 10


def test_a_class_takes_less_than_four_minutes(isolated, tmp_path):
    right = solutions()
    (tmp_path / "in").mkdir()
    for left_out, student in zip(right, range(SAMPLE), strict=False):
        answers = {name: source for name, source in right.items() if name != left_out}
        (tmp_path / "in" / f"student-{student}.ipynb").write_text(text(answered(answers)))
    command = [Path(sys.executable).with_name("recurrence-course"), "grade", "in", "--out", "out"]
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--chapter", "3", "--seed", "1"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    assert f"{SAMPLE}/{SAMPLE}" in done.stderr  # the progress
    assert done.stdout == f"{SAMPLE} submissions graded, 0 of them to be looked at: out/summary.html\n"
    assert seconds / SAMPLE < MOST / CLASS
