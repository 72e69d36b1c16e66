"""Names of files and students: harmless in tables, terminals and pages, and never two the same."""

import csv
import io
import json
import os
import tempfile
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fhx.course import main as course
from fhx.course.grading import command, shown
from fhx.course.grading.marks import Mark, Task, writable
from fhx.course.grading.records import Graded, key_of
from fhx.course.grading.reports import write_student
from fhx.course.grading.submissions import file_name, find_submissions, passed_over
from fhx.course.grading.summary import summary_page
from fhx.course.grading.texts import HIDDEN as CATEGORIES
from fhx.course.grading.texts import JOINERS, folded, in_cell, on_screen, table

TRIGGERS = "=+-@＝＋－＠"


@given(st.text(st.one_of(st.sampled_from("=+-@\t\r\n ;,'\"|a\ufeff\u200b\u00a0＝"), st.characters(codec="utf-8"))))
@example(" =1")
@example("\n\n=1")
@example("a;=1")
@example("a\n =1")
@example("\u200b=1")
@example("\x00=1")
def test_no_cell_is_a_formula(text):
    text = text.replace("\r\n", "\n")
    (row,) = csv.reader(io.StringIO(table([[text, "x"]]).decode(), newline=""), strict=True)
    assert row == [in_cell(text), "x"]
    text = text.replace("\r", "\n")
    spelt = "".join(
        char.encode("unicode_escape").decode()
        if unicodedata.category(char) in CATEGORIES and char not in "\n\t" + JOINERS
        else char
        for char in text
    )  # what a terminal may obey
    assert row[0].replace("'", "") == spelt.replace("'", "")
    for part in (row[0], *row[0].replace("\r", "\n").replace("\t", "\n").replace(";", "\n").split("\n")):
        stripped = part.lstrip().lstrip("\ufeff\u200b\x00 ")
        assert not stripped or stripped[0] not in TRIGGERS


@given(st.text("ab1 .ü,'"))
def test_other_cells_stay_as_they_are(text):
    assert in_cell(text) == text


@given(st.text())
@example("\x1b[2J")
@example("\u202egpj.exe")
@example("\udcff")
def test_a_terminal_is_told_nothing(text):
    assert on_screen(text).isprintable()
    assert on_screen(text) == text or not text.isprintable()


@given(st.sets(st.sampled_from(["ana", "Ana", "a/b", "a__b", "x" * 200, "X" * 200, "e\u0301", "é", "ana/1", "ana/2"])))
def test_no_two_submissions_share_a_name(names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names | {"z"}:
            path = Path(folder) / f"{name}.ipynb"
            path.parent.mkdir(exist_ok=True)
            path.touch()
        found = find_submissions(Path(folder))
        assert len(found) == len(names | {"z"})
        assert len({folded(one.folder) for one in found}) == len(found)
        assert {str(one.path.relative_to(folder)) for one in found} == {f"{name}.ipynb" for name in names | {"z"}}


def test_names_that_collide_are_told(tmp_path):
    for name in ("ana.ipynb", "Ana.ipynb", "ana.IPYNB", "ben.ipynb"):
        (tmp_path / name).touch()
    found = find_submissions(tmp_path)
    assert [one.student.partition("-")[0] for one in found] == ["Ana", "ana", "ana", "ben"]
    assert [bool(one.note) for one in found] == [True, True, True, False]
    assert found[0].note == f"Ana.ipynb is graded as {found[0].student}, since another one has the same name"
    (tmp_path / f"{found[0].student}.ipynb").touch()  # somebody wants to be taken for Ana
    again = find_submissions(tmp_path)
    assert len({folded(one.folder) for one in again}) == 5


def test_a_bad_pair_does_not_stop_the_class(tmp_path, monkeypatch, capsys):
    def graded(submissions, *_):
        yield from (Graded(one.student, "x", "k", 1.0, (Mark("03-hat", "ok", 3, 3),)) for one in submissions)

    monkeypatch.setattr(command, "grade_all", graded)
    monkeypatch.setattr(command, "read_forms", lambda *_: {})
    (tmp_path / "in").mkdir()
    for name in ("ana.ipynb", "Ana.ipynb"):
        (tmp_path / "in" / name).touch()
    task = command.Task(3, "a seed of a test", only=("03-hat",))
    made = command.grade_folder(tmp_path / "in", task, tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out" / "students")) == sorted(file_name(one.student) for one in made)
    assert capsys.readouterr().out.count("since another one has the same name") == 2
    assert "since another one has the same name" in (tmp_path / "out" / "summary.html").read_text("utf-8")


def test_many_folders_are_found_in_no_time(tmp_path):
    for number in range(2000):
        (tmp_path / f"s{number}").mkdir()
        (tmp_path / f"s{number}" / "homework.ipynb").touch()
    seen = []
    began = time.process_time()
    found = find_submissions(tmp_path, lambda: seen.append(None))
    assert time.process_time() - began < 2  # each pair of them would take longer
    assert len(found) == len(seen) == 2000


HOSTILE = "\x1b[2Jana\u202e\n<script>"


def test_a_page_shows_no_name_that_does_something(tmp_path):
    graded = Graded(HOSTILE, HOSTILE, "k", 1.0, (Mark("03-hat", "look at this", None, 3, "Why?"),) * 2)
    write_student(graded, tmp_path)
    for page in (summary_page([graded], "", [HOSTILE]), (tmp_path / "feedback.html").read_text("utf-8")):
        assert not {"\x1b", "\u202e", "<script>"} & {part for part in ("\x1b", "\u202e", "<script>") if part in page}
        assert "\\x1b[2Jana\\u202e\\n&lt;script&gt;" in page


def test_no_name_reaches_the_terminal_as_it_is(tmp_path, monkeypatch, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "\x1b[2J.zip").touch()
    (tmp_path / "in" / "\x1b]0;a\x07.ipynb").touch()

    def grade(*_):
        return [Graded("a", "a", "k", 1.0, (Mark("03-hat", "ok", 3, 3),))]

    monkeypatch.setattr(command, "grade_folder", grade)
    words = ["grade", str(tmp_path / "in"), "--chapter", "3", "--seed", "a seed of a test", "--without-isolation"]
    assert course.main([*words, "--out", str(tmp_path / "\x1b[3Jout")]) == 0
    assert course.main([*words, "--out", str(tmp_path / "\x1b[3Jout"), "--private", str(tmp_path / "\x1b[4J")]) == 2
    said = "".join(capsys.readouterr())
    assert said.count("\\x1b") == 3
    assert all(line.isprintable() for line in said.splitlines())


@pytest.mark.parametrize("name", ["a;=1", "-1", " +1"])
def test_every_cell_of_a_table_is_harmless(name):
    assert table([["x", name]]).decode().strip().split(",")[1].replace('"', "").lstrip("a;")[0] == "'"


def test_hidden_notebooks_are_told_and_copies_of_jupyter_are_not(tmp_path):
    for name in (".hidden.ipynb", "..ipynb", ".folder/x.ipynb", ".ipynb_checkpoints/ada-checkpoint.ipynb", "ada.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [one.student for one in find_submissions(tmp_path)] == ["ada"]
    assert passed_over(tmp_path) == ["..ipynb", ".folder/x.ipynb", ".hidden.ipynb"]


def test_a_huge_file_is_not_read_to_know_it_again(tmp_path):
    path = tmp_path / "sparse.ipynb"
    with path.open("wb") as file:
        file.truncate(2**40)
    began = time.monotonic()
    assert key_of(path, Task(3, "the seed of a test"), "v").endswith(f"-{2**40}")
    assert time.monotonic() - began < 5


def test_no_text_of_a_mark_moves_a_terminal():
    assert writable("a\x1b[2Jb\x07\tc\nd") == "a\\x1b[2Jb\\x07\tc\nd"


HIDDEN = "\u202a\u202e\u2066\u2069\u200b\ufeff\u061c\ufffe\U000e0041\u200f\u2028\u00ad\u2060\ufff9"
"""Characters that turn the direction of a text, or are not seen."""


@pytest.mark.parametrize("char", HIDDEN)
def test_characters_that_are_not_seen_are_spelt_out(char):
    spelt = char.encode("unicode_escape").decode()
    for harmless in (writable, in_cell, on_screen):
        assert harmless(f"a{char}b") == f"a{spelt}b"


def test_letters_that_a_language_joins_stay():
    for name in ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0915\u094d\u200d\u0937", "e\u0301\u00a0\u4e2d"):
        assert writable(name) == in_cell(name) == name


def test_a_text_of_an_answer_turns_nothing_on_a_page(tmp_path):
    mark = Mark("03-hat", "wrong", 0, 3, writable(f"It says {HIDDEN}."), remarks=(writable(HIDDEN),))
    write_student(Graded(writable(f"ada{HIDDEN}"), "a.ipynb", "", 1.0, (mark,)), tmp_path)
    for name in ("feedback.html", "results.json"):
        content = (tmp_path / name).read_text()
        assert not set(HIDDEN) & set(content)
    assert "u202e" in content


def test_results_in_markdown_show_what_is_not_seen():
    tests = [{"name": f"a{HIDDEN}", "output": f"b{HIDDEN}", "max_score": 1}]
    assert not set(HIDDEN) & set(shown.table(json.dumps({"tests": tests})))


def test_names_of_files_show_what_is_not_seen(tmp_path):
    (tmp_path / "ada\u202e\u200b.ipynb").write_text("{}")
    (one,) = find_submissions(tmp_path)
    assert one.student == r"ada\u202e\u200b"
    assert not set(HIDDEN) & set(one.folder)


def test_what_an_archive_leaves_is_nobody(tmp_path):
    names = ("ada/a.ipynb", "__MACOSX/ada/._a.ipynb", "__MACOSX/ada/b.ipynb", "ben/__MACOSX/x.ipynb", "ben/b.ipynb")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [one.student for one in find_submissions(tmp_path)] == ["ada", "ben"]
    assert passed_over(tmp_path) == []
