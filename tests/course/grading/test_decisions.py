"""What persons decide goes into every output, and no notebook is graded again for it."""

import argparse
import csv
import io
import json
from dataclasses import asdict

import pytest
from submitted import code, text

from fhx.course import CourseError
from fhx.course.grading import batch, command
from fhx.course.grading.batch import grade_all
from fhx.course.grading.command import Persons, grade_folder
from fhx.course.grading.decisions import read_batch, read_decisions
from fhx.course.grading.marks import Mark, Task, marked
from fhx.course.grading.records import Graded
from fhx.course.grading.reports import grades_csv, needs_person, write_student
from fhx.course.grading.submissions import Submission, find_submissions
from fhx.course.grading.summary import summary_page, warnings
from fhx.exercises import EXERCISES

TASK = Task(3, "a seed of a test", only=("03-hat", "03-threshold", "03-fewest"))
MARKS = (
    Mark("03-hat", "wrong", 0, 3, "On an input that is not shown the value is wrong.", inside="It differs.\nn: 7"),
    Mark("03-threshold", "look at this", None, 1, "The grader failed here.", inside="Traceback"),
    Mark("03-fewest", "look at this", 6, 6, "It is right.", uses=("fhx.compile.dfa_to_rnn",)),
)
FOUND = (Mark("03-threshold", "look at this", None, 1, "It was late."), MARKS[0], MARKS[2])
"""In the order of the chapter."""
STUDENTS = [Submission(name, None) for name in ("ana", "ben", "=cmd()")]


def table(path, *lines):
    path.write_text("\n".join(lines))
    return path


def decided(folder, *rows, late=(), penalty=10.0):
    overrides = table(folder / "o.csv", "student,exercise,points,comment", *rows)
    days = table(folder / "late.csv", "student,days", *late)
    return read_decisions(overrides, days, penalty, STUDENTS, TASK.exercises)


def test_points_of_a_person_are_in_every_output(tmp_path):
    decisions = decided(
        tmp_path, "ana,03-hat,1.5,Half <of> it.", "ana,03-threshold,1,", "ana,03-fewest,6,Allowed.", late=["ana,2"]
    )
    graded = decisions.on(Graded("ana", "a.ipynb", "k", 1.0, MARKS))
    assert (graded.earned, graded.total) == (8.5, 6.8)
    assert not needs_person(graded)
    other = Graded("ben", "b.ipynb", "k", 1.0, MARKS)
    assert needs_person(other)
    first, second = csv.DictReader(io.StringIO(grades_csv([graded, other]).decode()))
    assert first["total"] == "6.8"
    assert first["before late days"] == "8.5"
    assert first["days late"] == "2"
    assert first["look at"] == ""
    assert first["decided by a person"] == "03-hat: Half <of> it.; 03-threshold; 03-fewest: Allowed."
    assert (second["total"], second["decided by a person"]) == ("", "")
    page = summary_page([graded, other], "")
    assert "ana</a>, 03-" not in page
    assert page.count("ben</a>, 03-") == 2
    assert "Half &lt;of&gt; it." in page
    assert "<td>2</td><td>6.8</td><td>8.5</td>" in page
    write_student(graded, tmp_path)
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert results["score"] == 6.8
    assert "2 days late, at 10 % a day; before that it had 8.5" in results["output"]
    assert [test["score"] for test in results["tests"]] == [1.5, 1, 6]
    assert "Half <of> it." in results["tests"][0]["output"]
    feedback = (tmp_path / "feedback.html").read_text("utf-8")
    assert "6.8 of 10 points. It is 2 days late, at 10 % a day; before that it had 8.5." in feedback
    assert "Half &lt;of&gt; it." in feedback


@pytest.mark.parametrize(("days", "penalty", "left"), [(20, 10, 0), (0.5, 10, 8.55), (3, 0, 9), (1, 100, 0)])
def test_late_days_cost_a_share_and_never_more_than_all(tmp_path, days, penalty, left):
    decisions = decided(tmp_path, "ana,03-hat,3,", "ana,03-threshold,0,", late=[f"ana,{days}"], penalty=penalty)
    assert decisions.on(Graded("ana", "a", "k", 1.0, MARKS)).total == left


def test_a_name_may_be_spelt_as_the_table_spells_it(tmp_path):
    assert decided(tmp_path, "'=cmd(),03-hat,1,").points == {"=cmd()": {"03-hat": (1.0, "")}}


@pytest.mark.parametrize(
    ("rows", "late", "why"),
    [
        (["ana,03-hat,1,", "eve,03-hat,1,"], [], r"o\.csv, line 3: there is no submission 'eve'"),
        (["ana,03-hut,1,"], [], r"o\.csv, line 2: '03-hut' is not an exercise that is graded"),
        (["ana,03-hat,3.5,"], [], r"line 2: 03-hat has 0 to 3 points, and not 3\.5"),
        (["ana,03-hat,-1,"], [], r"line 2: 03-hat has 0 to 3 points, and not -1"),
        (["ana,03-hat,nan,"], [], r"line 2: 'nan' is not a number"),
        (["ana,03-hat,,"], [], r"line 2: '' is not a number"),
        (['ana,03-hat,1,"two', 'lines"', "ana,03-hat,1,"], [], r"line 4: ana, 03-hat stands already in line 2"),
        (["ana,03-hat,1,,"], ["ana,1", "ana,2"], r"late\.csv, line 3: ana stands already in line 2"),
        (["ana,03-hat,1,,more"], [], r"line 2: it has 5 cells, and line 1 has 4"),
        ([], ["eve,1"], r"late\.csv, line 2: there is no submission 'eve'"),
        ([], ["ana,-1"], r"late\.csv, line 2: -1 days"),
    ],
)
def test_a_row_that_cannot_be_meant_is_named(tmp_path, rows, late, why):
    with pytest.raises(CourseError, match=why):
        decided(tmp_path, *rows, late=late)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"student,points\nana,1", "line 1: there is no column 'exercise'"),
        (b"student,exercise,points,remark\n", "line 1: 'remark' is not one of the columns"),
        (b"student,exercise,points\n\xe4,1,1", "line 2 is not in UTF-8"),
        (b"student,student,exercise,points\n", "two columns 'student'"),
        (b'student,exercise,points\n"ana', "is not a table"),
    ],
)
def test_a_table_that_is_another_one_is_refused(tmp_path, content, why):
    (tmp_path / "o.csv").write_bytes(content)
    with pytest.raises(CourseError, match=why):
        read_decisions(tmp_path / "o.csv", None, 10, STUDENTS, TASK.exercises)


def test_a_penalty_is_a_percentage(tmp_path):
    with pytest.raises(CourseError, match="--late-penalty is a percentage"):
        decided(tmp_path, penalty=101)


def test_a_batch_is_read_as_it_was_decided(tmp_path, monkeypatch):
    submissions(tmp_path, "ana", "ben")
    counted(monkeypatch)
    overrides = table(tmp_path / "o.csv", "student,exercise,points", "ben,03-threshold,1")
    made = grade_folder(tmp_path / "in", TASK, tmp_path / "out", persons=Persons(overrides))
    assert read_batch(tmp_path / "out")[0] == made
    assert [graded.marks[0].points for graded in made] == [None, 1]
    (tmp_path / "out" / "records" / "ana.json").unlink()
    with pytest.raises(CourseError, match="the record of ana is not complete"):
        read_batch(tmp_path / "out")
    (tmp_path / "out" / "batch.json").unlink()
    with pytest.raises(CourseError, match="run fhx-course grade first"):
        read_batch(tmp_path / "out")


def submissions(folder, *names):
    (folder / "in").mkdir()
    for name in names:
        (folder / "in" / f"{name}.ipynb").write_text(text([code(f"def hats(n):\n    return '{name}'")]))


def found_in(task, path):
    return [mark for mark in FOUND if not task["only"] or mark.exercise in task["only"]]


def counted(monkeypatch, judge=found_in):
    """Instead of processes, a function; gives the exercises that were graded, by file."""
    calls = []

    def here(jobs, workers):
        for place, job in enumerate(jobs):
            calls.append((job.path.rpartition("/")[2], tuple(job.task["only"])))
            yield place, ([asdict(mark) for mark in judge(job.task, job.path)], 1.0)

    monkeypatch.setattr(batch, "_here", here)
    monkeypatch.setattr(command, "read_forms", lambda *_: {})
    return calls


def test_a_changed_table_grades_nothing_again(tmp_path, monkeypatch):
    submissions(tmp_path, "ana", "ben")
    calls = counted(monkeypatch)
    for points in (1, 2):
        overrides = table(tmp_path / "o.csv", "student,exercise,points", f"ana,03-hat,{points}")
        made = grade_folder(tmp_path / "in", TASK, tmp_path / "out", persons=Persons(overrides))
        assert made[0].marks[1].points == points
    assert len(calls) == 2
    assert grade_folder(tmp_path / "in", TASK, tmp_path / "out")[0].marks == FOUND  # the records are the grader's
    assert len(calls) == 2
    record = json.loads((tmp_path / "out" / "records" / "ana.json").read_text("utf-8"))
    assert record.keys() == {"student", "file", "key", "seconds", "marks"}


def test_one_exercise_is_graded_again_and_the_others_kept(tmp_path, monkeypatch):
    submissions(tmp_path, "ana", "ben")
    calls = counted(monkeypatch)
    found = find_submissions(tmp_path / "in")
    list(grade_all(found, TASK, tmp_path / "out"))
    calls.clear()
    right = Mark("03-hat", "ok", 3, 3)
    again = counted(monkeypatch, lambda task, path: [right])
    changed = Task(3, "a seed of a test", only=TASK.only, private={"03-hat": [[7]]})
    (tmp_path / "in" / "ben.ipynb").write_text(text([code("def hats(n):\n    return 'changed'")]))
    made = grade_all(found, changed, tmp_path / "out", again=["03-hat"])
    assert next(made).marks == (FOUND[0], right, FOUND[2])
    made.close()  # interrupted before ben, whose file has changed
    assert again == [("ana.ipynb", ("03-hat",))]
    rest = counted(monkeypatch)
    assert [one.student for one in grade_all(found, changed, tmp_path / "out")] == ["ana", "ben"]
    assert rest == [("ben.ipynb", TASK.only)]


def test_one_exercise_alone_does_not_tell_another_chapter(tmp_path, monkeypatch):
    submissions(tmp_path, "ana")
    none = Mark("03-hat", "look at this", None, 3, "The notebook has no function of chapter 3.")
    absent = Mark("03-hat", "not attempted", 0, 3, "There is no function hats in the notebook.")
    calls = counted(
        monkeypatch, lambda task, path: [none] if task["only"] == ("03-hat",) else [FOUND[0], absent, FOUND[2]]
    )
    found = find_submissions(tmp_path / "in")
    list(grade_all(found, TASK, tmp_path / "out"))
    (graded,) = grade_all(found, TASK, tmp_path / "out", again=["03-hat"])
    assert graded.marks == (FOUND[0], absent, FOUND[2])
    assert [only for _, only in calls] == [TASK.only, ("03-hat",), TASK.only]


@pytest.mark.parametrize(
    ("name", "why"), [("03-hut", "no such exercise is assigned"), ("05-pop", "not an exercise of chapter 3")]
)
def test_only_what_is_assigned_is_graded_again(tmp_path, name, why):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    words = [str(tmp_path), "--seed", "a seed of a test", "--out", str(tmp_path / "out"), "--without-isolation"]
    with pytest.raises(CourseError, match=why):
        command.run(parser.parse_args([*words, "--chapter", "3", "--regrade", name]))


def on_case(n, **changes):
    return Mark(
        "03-hat",
        "wrong",
        0,
        3,
        "On an input that is not shown …",
        inside=f"It differs.\nn: {n}\nyours: 2\nexpected: 3",
        **changes,
    )


OK, HOLE = Mark("03-hat", "ok", 3, 3), Mark("03-hat", "not attempted", 0, 3)
SAID = Mark("03-hat", "look at this", None, 3, "In the file check had called it right.", inside="It differs.\nn: 7")
OPEN = Mark("03-hat", "wrong", 0, 3, "The values differ.", (("n", "3"),))


@pytest.mark.parametrize(
    ("marks", "doubted"),
    [
        ([on_case(7)] * 3, True),
        ([on_case(7), on_case(7), SAID, HOLE], True),
        ([on_case(7)] * 2, False),
        ([on_case(7), on_case(7), on_case(8)], False),
        ([on_case(7), on_case(7), on_case(7), OK], False),
        ([on_case(7), on_case(7), on_case(7), OPEN], False),
        ([OPEN] * 3, False),
    ],
)
def test_an_input_on_which_all_fail_is_doubted(marks, doubted):
    made = [Graded(f"s{place}", "", "k", 1.0, (mark,)) for place, mark in enumerate(marks)]
    assert [text.startswith("03-hat: nobody passes") and "n = 7" in text for text in warnings(made)] == [True] * doubted
    assert ("Is that input right?" in summary_page(made, "")) == doubted


@pytest.mark.parametrize(
    ("marks", "doubted"),
    [
        ([HOLE] * 3, True),
        ([HOLE] * 3 + [marked(EXERCISES["03-hat"], "invalid file", "The file is empty.")], True),
        ([HOLE] * 2, False),
        ([HOLE, HOLE, OPEN], False),
    ],
)
def test_an_exercise_that_nobody_attempted_may_not_be_assigned(marks, doubted):
    made = [Graded(f"s{place}", "", "k", 1.0, (mark,)) for place, mark in enumerate(marks)]
    assert [text.startswith("03-hat: nobody attempted it") for text in warnings(made)] == [True] * doubted
    assert ("leave it out by --only" in summary_page(made, "")) == doubted


def test_a_doubt_is_said_at_once(tmp_path, monkeypatch, capsys):
    submissions(tmp_path, "ana", "ben", "cleo")
    counted(monkeypatch, lambda task, path: [on_case(7)])
    grade_folder(tmp_path / "in", Task(3, "a seed of a test", only=("03-hat",)), tmp_path / "out")
    assert (
        "warning: 03-hat: nobody passes, and all 3 answers fail on n = 7. Is that input right?"
        in capsys.readouterr().out
    )
