"""Partial credit: a wrong answer gets points for the inputs on which it is right, and none for guessing."""

from dataclasses import replace

import pytest
from hostile import COUNT, HAT, HATS, LIMITS, STATES, instead, light, renamed
from hypothesis import given
from hypothesis import strategies as st
from submitted import text

from fhx.course.grading import judge
from fhx.course.grading.judge import grade_file
from fhx.course.grading.kernel import Kernel
from fhx.course.grading.marks import Task
from fhx.course.grading.partial import Tally, tally

alone = pytest.mark.alone  # real kernels
TASK = Task(3, "a seed of a test", only=(COUNT, HAT), random_inputs=8, limits=LIMITS, partial=True)
"""Of the 13 inputs of the first 5 are stated; 2 of the others have four units, and 5 of the others two states."""
MOSTLY = (
    "It is right on 11 of 13 inputs; a table of the stated ones, with one answer to all others, is right on 10. "
    "That gives 0.6 of 2 points."
)


CASES = st.tuples(st.booleans(), st.sampled_from("abc"))


@given(st.lists(CASES, max_size=9), st.lists(CASES, min_size=1, max_size=40), st.integers(1, 9))
def test_points(stated, others, most):
    rights, expected = [right for right, _ in stated + others], [value for _, value in others]
    points = tally(rights, expected).points(most)
    assert 0 <= points <= most
    assert (points == most) == all(rights)
    assert points == round(points, 1)
    for value in set(expected):  # who has a table of the stated ones, and one value for all others
        without = tally([True] * len(stated) + [one == value for one in expected], expected)
        assert without.points(most) == (most if len(set(expected)) == 1 else 0)
    if len(set(expected)) == 1:  # nothing tells an answer from a constant
        assert points == (most if all(rights) else 0)
    if not all(rights):
        better = list(rights)
        better[rights.index(False)] = True
        assert points <= tally(better, expected).points(most)


def test_points_by_hand():
    assert tally([True, True, True, False], ["a", "b", "b"]) == Tally(3, 3, 4)
    assert tally([True] * 3 + [False], ["a", "b", "c", "a"]) == Tally(3, 2, 4)
    assert Tally(3, 2, 4).points(2) == 1.0
    assert Tally(17, 12, 23).points(2) == 0.9  # 10/11, rounded down
    assert tally([True, True, False, True], ["True"] * 3) == Tally(3, 4, 4)
    assert Tally(3, 4, 4).points(1) == 0
    assert Tally(3, 4, 4).told(1) == (
        "It is right on 3 of 4 inputs, and the same is expected on all that are not stated, "
        "so that single ones count for nothing."
    )


@pytest.fixture(scope="module")
def launcher(isolated):
    with TASK.launcher() as made:
        yield made


@pytest.fixture
def graded(launcher, tmp_path):
    def grade(changed, *more, task=TASK):
        (tmp_path / "a.ipynb").write_text(text(light(changed, *more)))
        return {mark.exercise: mark for mark in grade_file(tmp_path / "a.ipynb", task, launcher)}

    return grade


@alone
def test_right_answers_are_as_before(graded):
    marks = graded({})
    assert [(mark.status, mark.points, mark.remarks) for mark in marks.values()] == [("ok", 2, ()), ("ok", 3, ())]


@alone
def test_an_answer_that_is_right_on_some(graded):
    few = "found = right(W, U, b, h0)\nreturn found if len(h0) != 4 else -1"
    changed = {COUNT: renamed(COUNT) + instead(STATES, few)}
    (mark, whole) = graded(changed).values()
    assert mark.status == "wrong"
    assert (mark.points, mark.remarks[0]) == (0.6, MOSTLY)
    assert mark.message == "On an input that is not shown the value is wrong."  # the first failure is told, as before
    assert whole.status == "ok"
    none = graded(changed, task=replace(TASK, partial=False))[COUNT]
    assert none == replace(mark, points=0, remarks=mark.remarks[1:])


@alone
def test_a_table_and_a_constant_get_nothing(graded):
    mark = graded({COUNT: instead(STATES, "return 2")})[COUNT]
    assert (mark.status, mark.points) == ("wrong", 0)
    table = "known = {('[0]', 2): 2, ('[2]', 2): 3, ('[0, 0]', 2): 3, ('[0, 0, 0]', 2): 8, ('[-1, 3]', 2): 5}\n"
    mark = graded({COUNT: instead(STATES, table + "return known.get((str(h0), len(U[0])), 2)")})[COUNT]
    assert (mark.status, mark.points) == ("wrong", 0)
    assert mark.remarks[0].startswith("It is right on 10 of 13 inputs")


@alone
def test_a_loop_costs_its_own_inputs(graded):
    loop = "while len(h0) == 4:\n    pass\nreturn right(W, U, b, h0)"
    mark = graded({COUNT: renamed(COUNT) + instead(STATES, loop)})[COUNT]
    assert (mark.status, mark.points, mark.remarks[0]) == ("timeout", 0.6, MOSTLY)


@alone
def test_a_crash_on_every_input_ends(graded, monkeypatch):
    made = []
    monkeypatch.setattr(judge, "Kernel", lambda *given: made.append(Kernel(*given)) or made[-1])
    mark = graded({COUNT: instead(STATES, "import os\nos._exit(1)")})[COUNT]
    assert (mark.status, mark.points) == ("crashed", 0)
    assert mark.remarks[0].startswith("It is right on 0 of 13 inputs")
    assert len(made) == 2 * (1 + judge.RESTARTS) + 1  # in two ways, and one for the other exercise


@alone
def test_a_function_that_builds_the_same_for_all_inputs_gets_nothing(graded):
    mark = graded({HAT: renamed(HAT) + instead(HATS, "return right(4)")})[HAT]
    assert (mark.status, mark.points) == ("wrong", 0)
    assert "the same is expected" in mark.remarks[0]


@alone
def test_private_inputs_stay_private(graded):
    body = "if n == 7:\n    return None\nreturn right(n)"
    task = replace(TASK, private={HAT: [[7]]})
    mark = graded({HAT: renamed(HAT) + instead(HATS, body)}, task=task)[HAT]
    assert mark.message == "On an input that is not shown the value is of another type or shape than what is asked for."
    assert mark.points == 0  # what is expected is the same on all inputs, whatever the answer
    assert not mark.lines
    assert "n: 7" in mark.inside
    assert "7" not in mark.remarks[0].partition("inputs")[0]


@alone
def test_the_best_way_counts(graded):
    worse = instead(STATES, "return -1")
    check = f"check({COUNT!r}, count_states)"
    better = renamed(COUNT) + instead(STATES, "return right(W, U, b, h0) if len(h0) != 4 else -1")
    mark = graded({COUNT: f"{worse}\n\n{check}"}, better)[COUNT]
    alone = graded({COUNT: better})[COUNT]
    assert mark.points == alone.points > 0
    assert "at the end of the notebook" in " ".join(mark.remarks)


@alone
def test_holes_get_nothing(graded):
    mark = graded({COUNT: instead(STATES, "return ...")})[COUNT]
    assert (mark.status, mark.points, mark.remarks) == ("not attempted", 0, ())


@alone
def test_a_package_call_in_a_partly_right_answer_is_asked_about(graded):
    calls = "from fhx.machines import DFA\nDFA.from_regex('a', alphabet='ab')\n"
    body = f"{calls}return right(W, U, b, h0) if len(h0) != 4 else -1"
    mark = graded({COUNT: renamed(COUNT) + instead(STATES, body)})[COUNT]
    assert mark.uses
    assert mark.points
