"""A common mistake is found on a stated input, which a reader sees and can follow by hand, and not on random ones."""

import pytest

from fhx.exercises import EXERCISES
from fhx.exercises.checking import check_exercise

MISTAKES = [(id, mistake) for id, exercise in EXERCISES.items() for mistake in exercise.notes.mistakes]


@pytest.mark.parametrize(("id", "mistake"), MISTAKES, ids=[f"{id}: {mistake.says}" for id, mistake in MISTAKES])
def test_a_stated_input_finds_the_mistake(id, mistake):
    names: dict = {}
    exec(compile(mistake.code, f"mistake in {id}", "exec"), names)
    exercise = EXERCISES[id]
    assert check_exercise(exercise, names[exercise.function], seed=0, random_inputs=0).status == "differs"
