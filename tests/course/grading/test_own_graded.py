"""Answers to an instructor's own exercises are graded as those to the book's, each by its student's variant."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hostile import LIMITS
from submitted import code, text

from fhx.course import CourseError
from fhx.course.exercises import own_exercises, read_own, read_students, variant_of
from fhx.course.grading.batch import Job, grade_all, grade_alone, read_private
from fhx.course.grading.marks import Task
from fhx.course.grading.records import key_of
from fhx.course.grading.submissions import find_submissions

SAMPLES = Path(__file__).parents[3] / "book" / "samples" / "own"
OWN = read_own(SAMPLES / "exercises.py")
TASK = Task(20, seed="a seed of a test", random_inputs=8, limits=LIMITS, own=OWN)
VARIED = replace(TASK, students=("Ada", "ben"))
EXERCISE = own_exercises(OWN)["20-count"]
RUNS = own_exercises(OWN)["20-runs"].solution


def modulus(name):
    return variant_of(EXERCISE, TASK.seed, name).parameters["m"]


def counts(m):
    return f"def count(word):\n    return word.count('a') % {m}"


def hand_in(folder, answers):
    folder.mkdir(exist_ok=True)
    for name, m in answers.items():
        (folder / f"{name}.ipynb").write_text(text([code(RUNS), code(counts(m))]))
    return find_submissions(folder)


def statuses(batch):
    return {one.student: [mark.status for mark in one.marks] for one in batch}


def test_a_task_has_them_and_is_the_same_when_it_was_sent():
    sent = Task.of(json.loads(json.dumps(asdict(VARIED))))
    assert sent == VARIED
    assert [exercise.id for exercise in sent.exercises] == ["20-runs", "20-count"]
    assert [exercise.id for exercise in replace(sent, only=("20-count",)).exercises] == ["20-count"]
    assert replace(TASK, own=()).exercises == []
    assert "20-runs" not in [exercise.id for exercise in replace(TASK, chapter=3).exercises]


def test_the_variant_is_that_of_the_name_in_the_list():
    assert VARIED.of_student("ada").student == "Ada"
    (_, count) = VARIED.of_student("ada").exercises
    assert count.oracle("a" * 7) == 7 % modulus("Ada")
    assert TASK.of_student("anybody") is TASK
    with pytest.raises(CourseError, match="the submission cleo is nobody's in the list of students"):
        VARIED.of_student("cleo")


def test_what_a_record_depends_on(tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_text("{}")

    def key(task):
        return key_of(path, task, "release")

    (name, source), more = OWN[0], VARIED.of_student("Ada")
    other = replace(TASK, own=((name, f"{source}\n"),))
    assert len({key(TASK), key(other), key(replace(TASK, own=())), key(more), key(VARIED.of_student("ben"))}) == 5
    longer = replace(VARIED, students=("Ada", "ben", "cleo"))
    assert key(longer.of_student("Ada")) == key(more)  # one student more changes nothing for the others


def test_own_exercises_are_graded(isolated, tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "20-runs.json").write_text('["ab"]')
    with pytest.raises(CourseError, match="case 1 is not a list of 1 values: word"):
        read_private(tmp_path / "private", TASK)
    found = hand_in(tmp_path / "in", {"ada": 3, "ben": 4})
    batch = list(grade_all(found, TASK, tmp_path / "out"))
    assert statuses(batch) == {"ada": ["ok", "ok"], "ben": ["ok", "wrong"]}
    assert [mark.most for mark in batch[0].marks] == [1, 2]


def test_each_student_is_graded_by_their_own_variant(isolated, tmp_path):
    assert modulus("Ada") != modulus("ben")
    own = hand_in(tmp_path / "own", {name: modulus(name) for name in VARIED.students})
    swapped = hand_in(tmp_path / "swapped", {"Ada": modulus("ben"), "ben": modulus("Ada")})
    right = {name: ["ok", "ok"] for name in VARIED.students}
    assert statuses(grade_all(own, VARIED, tmp_path / "out")) == right
    assert statuses(grade_all(swapped, VARIED, tmp_path / "out")) == {name: ["ok", "wrong"] for name in right}
    assert statuses(grade_all(own, VARIED, tmp_path / "out", again=("20-count",), workers=2)) == right


def test_a_cluster_gets_the_exercises_and_the_student(isolated, tmp_path):
    (one,) = hand_in(tmp_path / "own", {"ben": modulus("ben")})
    task = json.loads(json.dumps(asdict(VARIED.of_student("ben"))))
    for student, status in (("ben", "ok"), ("Ada", "wrong")):
        records, _ = grade_alone(Job("/nowhere", task | {"student": student}, one.path.read_bytes()))
        assert [record["status"] for record in records] == ["ok", status]


def test_whoever_is_not_in_the_list_stops_it_before_anything_is_graded(tmp_path):
    found = hand_in(tmp_path / "in", {"Ada": 2, "cleo": 2})
    with pytest.raises(CourseError, match="cleo is nobody's"):
        next(grade_all(found, VARIED, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_samples_students():
    assert read_students(SAMPLES / "students.csv") == ("ada", "ben", "cleo")
