"""``fhx-course student`` and ``instructor``: what they write, what they refuse, and in which words."""

import json
import os
import tomllib
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from fhx import __version__
from fhx.course import main as command
from fhx.course.main import main

STUDENT = "01-first-student.ipynb"


@pytest.fixture
def out(clone):
    return clone / "dist"


@pytest.fixture
def run(clone, out, capsys):
    """Runs the command; gives its status and what it said."""

    def run(*arguments):
        status = main([*arguments, "--out", str(out), "--notebooks", str(clone / "notebooks")])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def edit(path, change):
    notebook = json.loads(path.read_text("utf-8"))
    change(notebook)
    path.write_text(json.dumps(notebook), "utf-8")


def test_the_script_is_this_command():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["scripts"]["fhx-course"].partition(":")
    assert getattr(import_module(module), name) is main
    assert {"nbformat", "pybtex", "pyyaml"} <= {
        line.partition(">")[0] for line in project["optional-dependencies"]["course"]
    }


@pytest.mark.parametrize("number", ["1", "01"])
def test_a_student_version_is_written_and_named(run, out, number):
    assert run("student", number) == (0, f"{out / STUDENT}\n", "")
    assert os.listdir(out) == [STUDENT]
    made = nbformat.read(out / STUDENT, as_version=4)
    nbformat.validate(made)
    assert [cell.id.partition("-")[0] for cell in made.cells] == [
        "launch", "version", "setup", "text", "figure", "figure", "statement", "hole",
    ]  # fmt: skip
    assert made.cells[0].source == "# The first"
    assert f"chapter 1 of [Recurrence](https://example.org/book), release {__version__}." in made.cells[1].source
    assert made.cells[2].source.startswith('REVISION = "main"\n')  # this clone has no git
    assert made.cells[5].source == "**Fig. 1.1** The state of Definition 1.1."
    assert made.cells[7].source.startswith("# Your turn: complete one_step,")
    assert "# It returns a tensor.\n" in made.cells[7].source


def test_an_instructors_version_has_the_solution_and_the_notes(run, out):
    assert run("instructor", "1")[0] == 0
    text = (out / "01-first-instructor.ipynb").read_text("utf-8")
    assert "one_step_solution" in text
    assert "#### Solution of exercise 1.1" in text
    assert "Common mistakes" in text


def test_a_second_time_it_is_written_over_also_if_it_was_run(run, out):
    run("student", "1")
    before = (out / STUDENT).read_bytes()
    edit(out / STUDENT, lambda notebook: notebook["cells"][-1].update(execution_count=3))
    assert run("student", "1")[0] == 0
    assert (out / STUDENT).read_bytes() == before


@pytest.mark.parametrize("content", ["not JSON", "[1]", '{"cells": [{"id": 3}]}', '{"cells": []}'])
def test_what_it_did_not_make_is_kept(run, out, content):
    out.mkdir()
    (out / STUDENT).write_text(content)
    status, said, error = run("student", "1")
    assert (status, said) == (2, "")
    assert error.startswith("fhx-course: error: not as this command made it: ")
    assert STUDENT in error
    assert (out / STUDENT).read_text() == content
    assert run("student", "1", "--force")[0] == 0
    assert (out / STUDENT).read_text() != content


def test_what_was_changed_is_kept_and_nothing_else_is_written(run, clone, out):
    (clone / "notebooks" / "02-second.ipynb").write_bytes((clone / "notebooks" / "01-first.ipynb").read_bytes())
    run("student", "1")
    edit(out / STUDENT, lambda notebook: notebook["cells"][-1].update(source="mine = 1"))
    status, _, error = run("student", "2", "1")
    assert status == 2
    assert "--force" in error
    assert os.listdir(out) == [STUDENT]
    assert "mine = 1" in (out / STUDENT).read_text("utf-8")


def test_an_error_in_one_chapter_writes_none(run, out):
    status, _, error = run("student", "1", "2")
    assert (status, error.count("\n")) == (2, 1)
    assert "02-second.ipynb: no cell installs the package" in error
    assert not out.exists()


@pytest.mark.parametrize("number", ["3", "0", "100"])
def test_an_unknown_chapter(run, clone, out, number):
    status, said, error = run("student", "1", number)
    assert (status, said) == (2, "")
    assert f"there is no chapter {number} in {clone / 'notebooks'}; there are 01, 02\n" in error
    assert not out.exists()


@pytest.mark.parametrize("word", ["three", "1.5", "²", "01-first"])
def test_a_chapter_is_a_number(run, word):
    status, _, error = run("student", word)
    assert (status, error) == (2, f"fhx-course: error: {word!r} is not a chapter; give numbers, as 3 or 03\n")


def test_missing_folders(run, clone, out, tmp_path, capsys):
    assert main(["student", "1", "--out", str(out), "--notebooks", str(clone / "none")]) == 2
    assert f"there is no folder {clone / 'none'}" in capsys.readouterr().err
    assert main(["student", "1", "--out", str(out), "--notebooks", str(clone / "book")]) == 2
    assert "no file" in capsys.readouterr().err
    (clone / "_config.yml").unlink()
    assert "there is no" in run("student", "1")[2]
    out.write_text("a file")
    assert f"{out} is not a folder" in run("student", "1")[2]


def test_a_file_that_cannot_be_written(run, out, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fhx.course.version_files.write_atomically", full)
    status, said, error = run("student", "1")
    assert (status, said) == (2, "")
    assert error.endswith(f"{STUDENT} cannot be written: No space left on device\n")


@pytest.mark.parametrize(
    ("place", "source", "words"),
    [
        (8, "", "the solution of ex-one does not end"),
        (6, "", "out of turn"),
        (4, "", "solution that belongs to no exercise"),
        (5, "def one_step():\n    return ...", "after ex-one there is no check of an exercise that the package knows"),
    ],
)
def test_exercises_that_are_not_marked_as_they_must_be(run, clone, place, source, words):
    edit(clone / "notebooks" / "01-first.ipynb", lambda notebook: notebook["cells"][place].update(source=source))
    status, _, error = run("student", "1")
    assert status == 2
    assert "01-first.ipynb" in error
    assert words in error


def test_a_file_that_is_no_notebook(run, clone):
    (clone / "notebooks" / "01-first.ipynb").write_text("{}")
    assert "01-first.ipynb is not a notebook" in run("student", "1")[2]


def test_a_missing_package_is_named(monkeypatch, capsys):
    def missing(path):
        raise ModuleNotFoundError("No module named 'nbformat'", name="nbformat")

    monkeypatch.setattr(command.importlib, "import_module", missing)
    assert main(["student", "1", "--out", "x"]) == 2
    assert "pip install 'fhx[course]'" in capsys.readouterr().err


def test_help_names_the_commands_and_imports_none_of_them(capsys, monkeypatch):
    monkeypatch.setattr(command, "_imported", None)
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert {"student", "instructor"} <= set(capsys.readouterr().out.split())
