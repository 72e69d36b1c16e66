"""The workflow for GitHub Classroom: its form, and its commands in an empty folder, with what is installed here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fhx.course.grading.namespaces import isolation_problem
from fhx.course.grading.shown import table
from fhx.exercises import chapter_03

SAMPLE = Path(__file__).parents[2] / "book" / "samples" / "classroom.yml"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def test_it_is_a_workflow():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(SAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.alone
def test_its_commands_grade_what_lies_there(tmp_path):
    if problem := isolation_problem():
        pytest.skip(problem)
    bin_ = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    made = ["fhx-course", "student", "3", "--notebooks", str(NOTEBOOKS), "--out", "."]
    subprocess.run(made, cwd=tmp_path, env=environment, check=True, capture_output=True)
    for step in yaml.safe_load(SAMPLE.read_text("utf-8"))["jobs"]["grade"]["steps"]:
        if step.get("name") in ("grade", "show"):
            told = {name: str(value) for name, value in step.get("env", {}).items()}
            run = ["bash", "-e", "-c", step["run"]]
            done = subprocess.run(run, cwd=tmp_path, env=environment | told, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    rows = (tmp_path / "summary.md").read_text("utf-8").splitlines()
    assert len(rows) == 2 + len(chapter_03.EXERCISES)
    assert "| 0 of 2 | not attempted" in rows[2]


def test_what_a_student_wrote_is_no_markup():
    name, output = "03-hat: Hats", "wrong. <b>| *x*</b>\nyours: [a](b)"
    text = table(f'{{"tests": [{{"name": "{name}", "max_score": 3, "output": {output!r}}}]}}'.replace("'", '"'))
    row = text.splitlines()[-1]
    assert "| to be decided |" in row
    assert row.count("|") == 4
    assert not set("<>*[]`") & set(row)
