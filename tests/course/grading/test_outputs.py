"""What is written, from marks that are given; and what is refused before anything is graded."""

import argparse
import csv
import io
import json
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from html.parser import HTMLParser

import psutil
import pytest
from submitted import code, text

from fhx.course import CourseError
from fhx.course.grading import command
from fhx.course.grading.batch import Graded, read_private
from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Mark, Task
from fhx.course.grading.reports import grades_csv, write_student
from fhx.course.grading.submissions import find_submissions, passed_over
from fhx.course.grading.summary import summary_page
from fhx.course.grading.worker import Worker

alone = pytest.mark.alone  # it waits for a process, and no longer than that should take

ATTACK = "<script>alert(1)</script>"
MARKS = (
    Mark("03-hat", "ok", 3, 3),
    Mark("03-threshold", "wrong", 0, 1, f"The values differ {ATTACK}.", (("yours", ATTACK),), ("A remark.",), "inside"),
    Mark("03-fewest", "look at this", 6, 6, uses=("fhx.compile.dfa_to_rnn",)),
)
FAILED = (*MARKS[:2], Mark("03-fewest", "look at this", None, 6, "The grader failed here.", inside="Traceback"))
BATCH = [Graded("=cmd()", "a.ipynb", "k", 2.5, MARKS), Graded("ana", "b.ipynb", "k", 3.5, FAILED)]


def test_the_table_has_a_row_a_student():
    rows = list(csv.DictReader(io.StringIO(grades_csv(BATCH).decode())))
    assert [row["student"] for row in rows] == ["'=cmd()", "ana"]
    assert [row["total"] for row in rows] == ["9", ""]
    assert [row["03-fewest"] for row in rows] == ["6", ""]
    assert [row["03-fewest status"] for row in rows] == ["look at this"] * 2
    assert [row["look at"] for row in rows] == [
        "03-fewest: fhx.compile.dfa_to_rnn",
        "The grader failed here.",
    ]


def test_a_student_gets_a_record_and_a_page(tmp_path):
    write_student(BATCH[1], tmp_path)
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [test.get("score") for test in results["tests"]] == [3, 0, None]
    assert results["score"] == 3
    assert [test["max_score"] for test in results["tests"]] == [3, 1, 6]
    assert {"name", "output", "visibility"} <= results["tests"][0].keys()
    page = (tmp_path / "feedback.html").read_text("utf-8")
    assert "not decided yet of 10 points" in page
    assert ATTACK not in page
    assert "&lt;script&gt;" in page
    for hidden in ("inside", "Traceback"):
        assert hidden not in page + json.dumps(results)


class Text(HTMLParser):
    """Collects the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def test_the_summary_has_its_plots():
    page = summary_page(BATCH, "Chapter 3")
    parser = Text()
    parser.feed(page)
    assert parser.tags.count("svg") == 3
    assert "script" not in parser.tags
    assert "fhx.compile.dfa_to_rnn" in page
    assert page == summary_page(BATCH, "Chapter 3")


def test_submissions_are_files_or_folders(tmp_path):
    for name in (
        "ana.ipynb",
        "ben/homework.ipynb",
        "cleo/1.ipynb",
        "cleo/2.ipynb",
        ".ipynb_checkpoints/x.ipynb",
        "dan/notes.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("eve.IPYNB", "fay.zip"):
        (tmp_path / name).touch()
    assert [one.student for one in find_submissions(tmp_path)] == ["ana", "ben", "cleo/1", "cleo/2", "dan", "eve"]
    assert passed_over(tmp_path) == ["dan/notes.txt", "fay.zip"]


def test_the_folder_is_meant_and_not_a_file(tmp_path):
    (tmp_path / "ana.ipynb").touch()
    with pytest.raises(CourseError, match=r"ana\.ipynb is a file; name the folder it is in"):
        find_submissions(tmp_path / "ana.ipynb")


def test_a_notebook_of_another_chapter_is_for_a_person(tmp_path):
    (tmp_path / "a.ipynb").write_text(text([code("def pop_numbers():\n    return 1")]))
    marks = grade_file(tmp_path / "a.ipynb", Task(3, "a seed of a test"))
    assert {(mark.status, mark.points) for mark in marks} == {("look at this", None)}
    assert summary_page([Graded("ana", "a.ipynb", "k", 1.0, tuple(marks))], "").count("no function of chapter 3") == 1


@alone
def test_another_chapter_takes_another_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ana.ipynb").touch()
    words = [str(tmp_path / "in"), "--seed", "a seed of a test", "--out", str(tmp_path / "out"), "--without-isolation"]
    command.run(parsed(*words, "--chapter", "3", "--only", "03-hat"))
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out" / "grades.csv").read_text("utf-8")))
    assert [name for name in row if name.endswith(" status")] == ["03-hat status"]
    with pytest.raises(CourseError, match="holds the grades of chapter 3"):
        command.run(parsed(*words, "--chapter", "5"))


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("03-hut.json", "[]", "belongs to no exercise of chapter 3"),
        ("03-hat.json", "[", "is not JSON"),
        ("03-hat.json", "[[1, 2]]", "case 1 is not a list of 1 values: n"),
        ("03-fewest.json", "[[]]", "belongs to an exercise without inputs"),
        ("03-hat.json", "{}", "is not a list of cases, each a list of 1 values: n"),
        ("03-distinguish.json", "[[1, 2]]", "case 1: there is no right value for left = 1, right = 2"),
        ("03-hat.JSON", "[[1]]", "is not a .json file"),
    ],
)
def test_private_cases_are_checked(tmp_path, name, content, why):
    (tmp_path / name).write_text(content)
    with pytest.raises(CourseError, match=why):
        read_private(tmp_path, Task(3, "a seed of a test"))


def parsed(*words):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--chapter", "99"], "no chapter 99"),
        (["--chapter", "3", "--memory", "0"], "must be positive"),
        (["--chapter", "3", "--only", "03-hut"], "no exercise 03-hut; chapter 3 has 03-second-last"),
        (["--chapter", "3", "--only", "05-pop"], "05-pop is not an exercise of chapter 3"),
        (["--chapter", "3", "--private", "/nowhere"], "no folder /nowhere"),
        (["--chapter", "3"], "no notebook"),
    ],
)
def test_what_cannot_be_graded_is_told(tmp_path, words, why):
    words = [str(tmp_path), "--seed", "a seed of a test", "--out", str(tmp_path / "out"), "--without-isolation", *words]
    with pytest.raises(CourseError, match=why):
        command.run(parsed(*words))
    assert not (tmp_path / "out").exists()


def test_without_namespaces_it_refuses(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "isolation_problem", lambda: "there is no kernel for it")
    with pytest.raises(CourseError, match=r"no kernel for it.*--without-isolation"):
        command.run(
            parsed(str(tmp_path), "--chapter", "3", "--seed", "a seed of a test", "--out", str(tmp_path / "out"))
        )


@pytest.fixture
def worker():
    made = Worker(asdict(Task(3, "a seed of a test")), 60)
    yield made
    made.close()


@alone
def test_a_worker_that_dies_is_no_ones_zero(worker, tmp_path):
    threading.Timer(0.2, worker._started().process.kill).start()  # while it imports torch
    assert isinstance(worker.grade(tmp_path / "a.ipynb"), str)
    assert {mark["status"] for mark in worker.grade(tmp_path / "a.ipynb")} == {"invalid file"}  # by another one


@alone
def test_a_worker_imports_nothing_from_where_it_is(worker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "psutil.py").write_text("raise SystemExit('it was imported')")
    assert {mark["status"] for mark in worker.grade(tmp_path / "a.ipynb")} == {"invalid file"}


@alone
def test_a_worker_that_has_ended_is_started_again(worker, tmp_path):
    process = worker._started().process
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == -signal.SIGTERM
    assert {mark["status"] for mark in worker.grade(tmp_path / "a.ipynb")} == {"invalid file"}


@alone
def test_a_worker_can_be_stopped_while_another_thread_waits(worker, tmp_path):
    with ThreadPoolExecutor(1) as threads:
        waits = threads.submit(worker.grade, tmp_path / "a.ipynb")
        while worker._running is None:
            time.sleep(0.01)
        worker.stop()
        assert "it ended" in waits.result(10)
    assert worker.grade(tmp_path / "a.ipynb") == "it was stopped\n"


@alone
def test_it_grades_without_isolation_if_told(tmp_path):
    from hostile import instead, light
    from submitted import text

    os.makedirs(tmp_path / "in")
    (tmp_path / "in" / "a.ipynb").write_text(text(light({"03-hat": instead("hats(n)", "return 1")})))
    command.run(
        parsed(
            str(tmp_path / "in"),
            "--chapter",
            "3",
            "--seed",
            "a seed of a test",
            "--out",
            str(tmp_path / "out"),
            "--without-isolation",
        )
    )
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out" / "grades.csv").read_text("utf-8")))
    assert [name for name in row if name.endswith(" status") and row[name] != "ok"] == ["03-hat status"]
    assert not [child for child in psutil.Process().children(recursive=True) if "grading" in str(child.cmdline())]
