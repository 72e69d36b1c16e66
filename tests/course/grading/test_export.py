"""Grades for Canvas and Moodle: whose submission is whose, and what is written."""

import argparse
import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fhx.course import CourseError
from fhx.course.grading import export
from fhx.course.grading.csv_files import Row
from fhx.course.grading.decisions import Decisions, write_batch
from fhx.course.grading.marks import Mark
from fhx.course.grading.records import Graded, write_record
from fhx.course.grading.rosters import CANVAS, MOODLE, matched

HAT, THRESHOLD = Mark("03-hat", "ok", 3, 3), Mark("03-threshold", "wrong", 0, 1, "The values differ.")
OPEN = Mark("03-threshold", "look at this", None, 1, "It was late.")
CANVAS_ROSTER = """\
\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Chapter 3 (77),Current Score
,,,,,Manual Posting,(read only)
    Points Possible,,,,,{most},
"Lovelace, Ada",101,s-1,ada@uni.example,One,,
"Boole, George",102,s-2,GB@uni.example,One,,
"=cmd(), Eve",103,s-3,eve,One,,
"Hopper, Grace",104,s-4,grace,One,,
"""
MOODLE_ROSTER = """\
First name,Last name,ID number,Institution,Email address,Assignment: Chapter 3 (Real)
Ada,Lovelace,,,ada@uni.example,-
George,Boole,7,,gb@uni.example,-
Eve,Ng,8,,eve@uni.example,-
"""


@pytest.fixture
def grades(tmp_path):
    """The folder of grades of four submissions, one of which a person has to decide on."""
    made = [Graded(name, f"{name}.ipynb", "k", 1.0, (HAT, THRESHOLD)) for name in ("ada", "Eve", "zoe")]
    made.append(Graded("gb@uni.example", "b.ipynb", "k", 1.0, (HAT, OPEN)))
    for graded in made:
        write_record(tmp_path / "grades", graded)
    decisions = Decisions({"Eve": {"03-threshold": (0.5, "Half of it.")}}, {"Eve": 1}, 10)
    write_batch(tmp_path / "grades", made, decisions, {"03-hat": "One-hot", "03-threshold": "Majority"})
    return tmp_path / "grades"


def exported(grades, kind, roster, *words):
    path = grades.parent / "roster.csv"
    path.write_text(roster, "utf-8")
    parser = argparse.ArgumentParser()
    export.add_arguments(parser)
    out = grades.parent / "export.csv"
    export.run(parser.parse_args([str(grades), f"--{kind}", str(path), "--out", str(out), *words]))
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_columns(grades, capsys):
    rows = exported(grades, "canvas", CANVAS_ROSTER.format(most="4.0"))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Chapter 3 (77)"],
        ["    Points Possible", "", "", "", "", "4"],
        ["Lovelace, Ada", "101", "s-1", "ada@uni.example", "One", "3"],
        ["Boole, George", "102", "s-2", "GB@uni.example", "One", ""],
        ["'=cmd(), Eve", "103", "s-3", "eve", "One", "3.15"],
    ]
    assert capsys.readouterr().out.splitlines() == [
        "nobody in the list fits the submission zoe",
        "no submission fits Grace Hopper (line 7)",
        "left empty, since a person has to decide: gb@uni.example",
        f"3 of 4 submissions are in {grades.parent / 'export.csv'}",
    ]


def test_an_assignment_that_is_new_gets_a_column(grades):
    assert exported(grades, "canvas", CANVAS_ROSTER.format(most="9"), "--assignment", "Nets")[0][-1] == "Nets"


def test_moodle_gets_points_and_feedback(grades):
    rows = exported(grades, "moodle", MOODLE_ROSTER.replace(",", ";"), "--assignment", "Nets")
    assert rows[0] == ["ID number", "Email address", "Nets", "Nets (feedback)"]
    assert [row[:3] for row in rows[1:]] == [
        ["", "ada@uni.example", "3"],
        ["7", "gb@uni.example", ""],
        ["8", "eve@uni.example", "3.15"],
    ]
    ada, _, eve = (row[3] for row in rows[1:])
    assert ada == "3 of 4 points.\nMajority: 0 of 1. wrong. The values differ."
    assert eve == (
        "3.15 of 4 points. It is 1 day late, at 10 % a day; before that it had 3.5.\nMajority: 0.5 of 1. Half of it."
    )


@pytest.mark.parametrize(
    ("kind", "roster", "why"),
    [
        ("canvas", CANVAS_ROSTER.format(most="100"), r"has 100 points in the gradebook, and 4 here"),
        ("canvas", MOODLE_ROSTER, "not a table of Canvas: it has no column ID"),
        ("moodle", CANVAS_ROSTER.format(most="4"), "not a table of Moodle: it has no column Email address or"),
        ("canvas", "", "not a table of Canvas"),
        ("canvas", "Student,ID\nPoints Possible,\n", "lists nobody"),
        ("moodle", f"{MOODLE_ROSTER}Ada,Byron,9,,ada@other.example,-", r"'ada' fits two rows, line 2 .* and line 5"),
        ("moodle", MOODLE_ROSTER.replace("Eve,Ng,8", "Eve,Ng,zoe"), r"line 4 .*two submissions fit, 'Eve' and 'zoe'"),
        (
            "canvas",
            CANVAS_ROSTER.format(most="4").replace("Current Score", "Chapter 3"),
            "two columns are called Chapter",
        ),
    ],
)
def test_nothing_is_guessed_and_nothing_written(grades, kind, roster, why):
    with pytest.raises(CourseError, match=why):
        exported(grades, kind, roster)
    assert not (grades.parent / "export.csv").exists()


def test_whole_names_come_before_parts():
    rows = [Row("r", line, {"Email address": f"{name}@x", "Username": user}) for line, (name, user) in enumerate(
        [("ada", "al"), ("b", "ada")], 2
    )]  # fmt: skip
    assert matched(rows, ["ADA"], MOODLE).found == {1: "ADA"}


def test_a_name_may_stand_in_both_orders():
    rows = [Row("r", 2, {"Student": "Lovelace, Ada", "ID": "1"})]
    for name in ("lovelace, ada", "Ada Lovelace", "1"):
        assert matched(rows, [name], CANVAS).found == {0: name}
    assert matched(rows, ["Ada", "ada_lovelace"], CANVAS).found == {}


@pytest.mark.parametrize("name", ["lovelaceada_1_77_homework-2", "lovelaceada_LATE_1_77_03-chapter (1)"])
def test_a_download_of_canvas_goes_by_the_number_in_its_name(name):
    rows = [Row("r", 2, {"Student": "Lovelace, Ada", "ID": "1"}), Row("r", 3, {"Student": "Boole, G", "ID": "77"})]
    assert matched(rows, [name], CANVAS).found == {0: name}
    assert matched(rows, [name.replace("_1_", "_2_")], CANVAS).found == {}


def test_a_download_of_moodle_goes_by_the_name_before_its_number():
    rows = [Row("r", 2, {"First name": "Ada", "Last name": "Lovelace", "Email address": "a@uni.example"})]
    name = "Ada Lovelace_4711_assignsubmission_file"
    assert matched(rows, [name], MOODLE).found == {0: name}
    assert matched(rows, [name.replace("Ada", "Eve")], MOODLE).found == {}


def test_a_table_of_nobody_is_not_written(grades):
    roster = (
        CANVAS_ROSTER.format(most=4).replace("ada@", "x@").replace("GB@", "y@").replace("eve", "z").replace("Eve", "Z")
    )
    with pytest.raises(CourseError, match="no submission is of anybody"):
        exported(grades, "canvas", roster)
    assert not (grades.parent / "export.csv").exists()


LOGINS = st.text("abAB@é1.", min_size=1, max_size=4)


@given(st.lists(LOGINS, max_size=6), st.lists(LOGINS, max_size=6, unique=True))
def test_a_match_is_certain_or_refused(logins, students):
    rows = [Row("r", line, {"SIS Login ID": login, "ID": f"#{line}"}) for line, login in enumerate(logins)]
    refused = ""
    try:
        found = matched(rows, students, CANVAS)
    except CourseError as error:
        refused = str(error)
    if refused:
        assert "fits two rows" in refused or "two submissions fit" in refused
        return
    assert sorted([*found.found.values(), *found.without_row]) == sorted(students)
    assert len(found.found) + len(found.without_submission) == len(rows)
    for place, student in found.found.items():
        login = logins[place].casefold()
        assert student.casefold() in (login, login.rpartition("@")[0])
        assert sum(one.casefold() == login for one in logins) == 1
