"""What is in the archive for Gradescope, and whose variants a submission there is graded by."""

import json
import re
import zipfile
from importlib.metadata import distribution

import pytest

from fhx._version import shipped
from fhx.course.gradescope.autograder import results_in
from fhx.course.gradescope.command import pins
from fhx.course.grading.marks import Task
from fhx.course.main import main
from fhx.exercises import EXERCISES

SECRET = "a seed of a test that is secret"
WORDS = ["gradescope", "--chapter", "3", "--seed", SECRET]


def test_the_same_task_gives_the_same_archive(tmp_path, capsys):
    for name in "ab":
        assert main([*WORDS, "--out", str(tmp_path / f"{name}.zip")]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    points = [exercise.notes.points for name, exercise in EXERCISES.items() if name.startswith("03-")]
    line = f"a.zip: {len(points)} exercises of chapter 3, {sum(points)} points\nIt holds your seed"
    assert line in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = archive.namelist()
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o777 for name in ("setup.sh", "run_autograder")}
    assert modes == {"setup.sh": 0o755, "run_autograder": 0o755}
    assert not [name for name in names if "__pycache__" in name]
    assert {"fhx/__init__.py", "fhx/course/grading/templates/page.html", "fhx/exercises/notes/03.toml"} <= set(names)
    assert {f"fhx/results/{path.name}" for path in shipped().glob("*.json")} <= set(names)


def test_the_task_is_in_it(tmp_path):
    words = [*WORDS, "--only", "03-hat", "--partial", "--random", "7", "--extra-index-url", "https://packages.example/"]
    assert main([*words, "--out", str(tmp_path / "a.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        task = Task.of(json.loads(archive.read("task.json")))
        lines = archive.read("requirements.txt").decode().splitlines()
    assert (task.seed, task.only, task.partial, task.random_inputs) == (SECRET, ("03-hat",), True, 7)
    assert task.limits.total == 480
    assert lines == ["--extra-index-url https://packages.example/", *pins()]


def test_every_requirement_has_its_version():
    found = dict(line.split("==") for line in pins())
    assert {"torch", "numpy", "ipykernel", "jupyter-client", "psutil", "pyzmq"} <= found.keys()
    assert "fhx" not in found  # the archive holds it
    for name, version in found.items():
        assert distribution(name).version.partition("+")[0] == version
        needed = [text for text in distribution(name).requires or () if ";" not in text]
        names = {re.match(r"[\w.-]+", text)[0].lower().replace("_", "-") for text in needed}
        if name == "torch":  # its needs are those of its build, and the container's may be another
            continue
        assert names <= {one.replace(".", "-") for one in found} | found.keys()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--only", "05-pop"], "not an exercise of chapter 3"),
        (["--seed", "short"], "could be guessed"),
        (["--out", "/dev/null/a.zip"], "cannot be written"),
    ],
)
def test_what_cannot_be_meant_is_told(tmp_path, capsys, words, why):
    assert main([*WORDS, "--out", str(tmp_path / "a.zip"), *words]) == 2
    assert why in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("user", [{"email": "Ada@uni.example"}, {"email": "x@y", "name": "ada@uni.example"}, {}])
def test_a_submission_of_nobody_is_told(tmp_path, monkeypatch, user):
    for name in ("source", "submission"):
        (tmp_path / name).mkdir()
    (tmp_path / "submission" / "a.ipynb").write_text("{}")
    task = {"chapter": 3, "seed": SECRET, "limits": {}, "only": [], "hidden": [], "own": []}
    (tmp_path / "source" / "task.json").write_text(json.dumps(task | {"students": ["ada@uni.example", "ben"]}))
    (tmp_path / "submission_metadata.json").write_text(json.dumps({"users": [user]}))
    graded = []
    monkeypatch.setattr(
        "fhx.course.gradescope.autograder.grade_alone", lambda job: graded.append(job.task["student"]) or ([], 1.0)
    )
    results = results_in(tmp_path)
    if user:
        assert graded == ["ada@uni.example"]
        assert results["execution_time"] == 1.0
    else:
        assert results["score"] == 0
        assert "You are not in the list of those who have variants" in results["output"]
        assert not graded


def test_a_broken_archive_is_no_zero(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "task.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting property name"):
        results_in(tmp_path)
