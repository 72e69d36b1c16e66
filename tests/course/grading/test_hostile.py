"""Every submission gets what it deserves, and none affects another one, the machine or the grader."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hostile import (
    COUNT,
    DESERVED,
    MARKER,
    ON_ALL,
    SECRET,
    SLEEP,
    STATES,
    TRIED,
    instead,
    light,
    many_processes,
    message_of_many_parts,
    renamed,
)
from submitted import text

from fhx.course.grading import batch as batches
from fhx.course.grading.batch import Graded
from fhx.course.grading.command import grade_folder
from fhx.course.grading.judge import grade_file
from fhx.course.grading.marks import Mark

pytestmark = pytest.mark.alone


LEFT_OUT = "The cell that begins with “def second_last():” was left out: no answer within 6 s."
SPOILT = ("wrong", "crashed", "timeout")


def unlike(marks: Sequence[Mark], deserved: dict[str, str]) -> list[tuple[str, str, str, str]]:
    """The marks that differ from what is deserved, and those whose points do not follow from their status."""
    found = []
    for mark in marks:
        status = deserved.get(mark.exercise, "ok")
        right = mark.status == "ok" or (mark.status == "look at this" and mark.uses)
        points = None if mark.status == "invalid file" else mark.most if right else 0
        if mark.points != points or mark.status not in (SPOILT if status == "spoilt" else (status,)):
            found.append((mark.exercise, mark.status, mark.message, mark.inside))
    return found


@pytest.mark.parametrize("name", DESERVED)
def test_it_gets_what_it_deserves(batch, name):
    marks = batch.graded[name].marks
    assert unlike(marks, DESERVED[name]) == []
    assert tuple(mark.exercise for mark in marks) == TRIED


def test_on_all_exercises_they_get_what_they_deserve(batch):
    task = replace(batch.task, only=())
    with task.launcher() as launcher:
        for name, deserved in ON_ALL.items():
            marks = grade_file(batch.folder / "submissions" / f"{name}.ipynb", task, launcher)
            assert unlike(marks, deserved) == [], name
            assert {mark.exercise for mark in marks} >= {*TRIED, *deserved}


def test_all_were_graded(batch):
    assert batch.graded.keys() == DESERVED.keys()


def test_nothing_is_left_running(batch):
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert SLEEP not in listed
    assert not [child for child in psutil.Process().children(recursive=True) if "grading" in str(child.cmdline())]


def test_nothing_was_written_outside(batch):
    for place in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd(), "/", batch.folder, batch.folder / "out", "/run/k"):
        assert not (Path(place) / MARKER).exists()


def test_nobody_was_called(batch):
    assert batch.calls == 0


def test_no_temporary_folder_is_left(batch):
    assert set(Path(tempfile.gettempdir()).glob("rc-*")) <= batch.folders


def test_a_package_function_is_named(batch):
    uses = {mark.exercise: mark.uses for mark in batch.graded["calls_package"].marks if mark.uses}
    assert uses == {"03-distinguish": (".equivalent",), "03-pair-net": ("fhx.compile.dfa_to_rnn",)}


def test_cells_that_were_left_out_and_duplicates_are_told(batch):
    (mark,) = [mark for mark in batch.graded["duplicated"].marks if mark.exercise == "03-hat"]
    assert "defined in 3 cells" in " ".join(mark.remarks)
    remarks = {mark.exercise: mark.remarks for mark in batch.graded["loop_in_cell"].marks if mark.remarks}
    assert remarks == {"03-second-last": (LEFT_OUT,)}


def test_a_private_failure_is_told_by_its_kind_only(batch):
    student = (batch.folder / "out" / "students" / "public_only" / "feedback.html").read_text("utf-8")
    (mark,) = [mark for mark in batch.graded["public_only"].marks if mark.exercise == "03-hat"]
    assert mark.message == "On an input that is not shown the value is wrong."
    assert mark.message in student
    assert not mark.lines
    assert "n: 7" in mark.inside
    assert "n: 7" not in student


def test_a_public_failure_is_shown_in_full(batch):
    student = (batch.folder / "out" / "students" / "network" / "feedback.html").read_text("utf-8")
    assert "[[0]]" in student
    assert "-1" in student
    assert "expected" in student


def test_the_private_note_is_nowhere(batch):
    for path in (batch.folder / "out").rglob("*.*"):
        assert SECRET not in path.read_text("utf-8")


def test_an_interrupted_batch_went_on_from_where_it_was(batch):
    assert len(batch.first) == 4
    for name, when in batch.first.items():
        folder = batch.graded[name].folder
        assert (batch.folder / "out" / "records" / f"{folder}.json").stat().st_mtime_ns == when


def test_what_is_done_is_not_done_again(batch, monkeypatch):
    monkeypatch.setattr(batches, "grade_one", None)  # so nothing can be graded
    before = (batch.folder / "out" / "grades.csv").read_bytes()
    again = grade_folder(batch.folder / "submissions", batch.task, batch.folder / "out")
    assert {one.student: one for one in again} == batch.graded
    assert (batch.folder / "out" / "grades.csv").read_bytes() == before


def test_another_seed_or_file_is_graded_again(batch, monkeypatch):
    monkeypatch.setattr(batches, "grade_one", None)
    for task in (replace(batch.task, seed="another seed of it"), replace(batch.task, private={})):
        with pytest.raises(Exception, match="NoneType"):
            grade_folder(batch.folder / "submissions", task, batch.folder / "out")


def test_the_same_seed_gives_the_same_grades(batch):
    path = batch.folder / "submissions" / "public_only.ipynb"
    assert tuple(grade_file(path, batch.task)) == batch.graded["public_only"].marks


def test_a_failure_of_the_grader_is_no_zero(batch, tmp_path):
    task = replace(batch.task, limits=replace(batch.task.limits, startup=0.0))
    marks = grade_file(batch.folder / "submissions" / "good.ipynb", task)
    assert {(mark.status, mark.points) for mark in marks} == {("look at this", None)}
    graded = Graded("good", "good.ipynb", "", 0.0, tuple(marks))
    assert graded.total is None
    assert graded.has_failed


def test_processes_have_one_limit_together(batch, tmp_path):
    task = replace(batch.task, limits=replace(batch.task.limits, slack=10.0))
    (tmp_path / "a.ipynb").write_text(text(many_processes()))
    (mark,) = [mark for mark in grade_file(tmp_path / "a.ipynb", task) if mark.status != "ok"]
    assert (mark.exercise, mark.status) == ("03-count-states", "crashed")
    assert "used more than 1.5 GiB" in mark.message


def test_messages_have_one_limit_for_all_their_parts(batch, tmp_path):
    task = replace(batch.task, limits=replace(batch.task.limits, slack=10.0), only=(COUNT,))
    (tmp_path / "a.ipynb").write_text(text(message_of_many_parts()))
    before = psutil.Process().memory_info().rss
    (mark,) = grade_file(tmp_path / "a.ipynb", task)
    assert (mark.status, mark.message) == ("crashed", "It sent a message of more than 256 MiB.")
    assert psutil.Process().memory_info().rss - before < 2**28


def test_a_submission_has_its_time(batch, tmp_path):
    task = replace(batch.task, limits=replace(batch.task.limits, total=7.0))
    slow = "import time\ntime.sleep(2)\nreturn right(W, U, b, h0)"
    (tmp_path / "a.ipynb").write_text(text(light({COUNT: renamed(COUNT) + instead(STATES, slow)})))
    began = time.monotonic()
    marks = {mark.exercise: (mark.status, mark.points) for mark in grade_file(tmp_path / "a.ipynb", task)}
    assert time.monotonic() - began < 30
    place = TRIED.index(COUNT)
    assert {marks[name][0] for name in TRIED[:place]} == {"ok"}
    assert {marks[name] for name in TRIED[place:]} == {("look at this", None)}  # no judgement, and no number


def test_records_hold_what_the_instructor_sees(batch):
    record = json.loads((batch.folder / "out" / "records" / "Zoë.json").read_text("utf-8"))
    assert record["file"] == "my homework (1).ipynb"
    assert [mark["exercise"] for mark in record["marks"]] == [*TRIED]
