"""What the grader knows of the book is what the book says, and its solutions are right on any case."""

import book_data
import numpy as np
import pytest

from fhx.course.grading.solved import failure_of_solution, solutions
from fhx.course.grading.uses import known_uses
from fhx.exercises import EXERCISES


@pytest.mark.full
def test_what_is_known_of_the_book_is_what_it_says():
    uses, solved = book_data.made()
    assert uses == known_uses(), "run tests/course/grading/book_data.py"
    assert solved == solutions(), "run tests/course/grading/book_data.py"


@pytest.mark.full
@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_is_right_on_a_case(name):
    exercise = EXERCISES[name]
    case = exercise.sample(np.random.default_rng(0)) if exercise.inputs else ()
    assert failure_of_solution(exercise, case) is None


def test_a_wrong_solution_is_told_with_the_case():
    hat = EXERCISES["03-hat"]
    told = failure_of_solution(hat, (3,), "def hats(n):\n    return 1")
    assert "n: 3" in told
    assert "yours: 1" in told
    assert failure_of_solution(hat, (3,), None) is None
