"""An answer that is no answer: each exercise says in a few short lines what was wanted and what it got instead."""

import math
import re

import numpy as np
import pytest
import torch

from fhx.course.grading.solved import solutions
from fhx.exercises import EXERCISES, check
from fhx.exercises.checking import MOST_LINES, WIDTH
from fhx.exercises.show import named


class Thing:
    """Of no use to anybody."""


def stops(*case):
    raise ZeroDivisionError("my own mistake")


def nan_like(value):
    """The same shape, all of it NaN."""
    if isinstance(value, torch.Tensor):
        return torch.full(value.shape, torch.nan, dtype=torch.float64)
    if isinstance(value, np.ndarray):
        return np.full(value.shape, np.nan)
    if isinstance(value, list | tuple):
        return [nan_like(item) for item in value]
    return {key: nan_like(item) for key, item in value.items()} if isinstance(value, dict) else math.nan


VALUES = {
    "None": None,
    "a string": "abc",
    "a number": 3,
    "nothing in a list": [],
    "rows of two lengths": [[1], [1, 2]],
    "six strings": ["a"] * 6,
    "NaN": math.nan,
    "a large tensor": torch.zeros(50, 50),
    "a function": lambda *case: None,
    "an object": Thing(),
    "a long list": list(range(200)),
}
CALLS = {
    "raises": stops,
    "takes too many": lambda a, b, c, d, e, f, g, h, i: 0,
    "takes none": lambda: 0,
}
MAY_BE_NONE = {id_ for id_, one in EXERCISES.items() if any(one.oracle(*case) is None for case in one.cases)}
MAY_BE_NONE |= {"03-distinguish", "05-error"}


def told(id_, answer):
    """What the reader sees of an answer that is wrong, which is short."""
    result = check(id_, answer, random_inputs=3)
    assert not result, result
    lines = repr(result).split("\n")
    assert len(lines) <= MOST_LINES, result
    assert max(map(len, lines)) <= WIDTH, result
    assert all(len(text) <= 2 * WIDTH for _, text in result.lines)
    return result


@pytest.mark.parametrize("id_", EXERCISES)
def test_a_malformed_answer_is_told_what_was_wanted_and_what_it_is(id_):
    exercise = EXERCISES[id_]
    nans = nan_like(exercise.oracle(*exercise.cases[0]))
    for name, value in {**VALUES, "NaN in its shape": nans}.items():
        result = told(id_, lambda *case, value=value: value)
        assert result.status in ("malformed", "differs"), (name, result)
        if result.status == "malformed":
            assert re.search(r"(?i)expected .+(, got |, but )", result.message), (name, result)
        if result.status == "differs" and exercise.inputs:
            assert "expected" in dict(result.lines) or " " in result.message, (name, result)
        is_none_meant = value is None and id_ in MAY_BE_NONE
        if value is None or name in ("a large tensor", "an object", "a function"):
            assert (result.status == "differs") is is_none_meant, (name, result)
            words = (named(value), "got (50, 50)", "got the shapes (50,) and (50,)")
            assert is_none_meant or any(word in result.message for word in words), (name, result)


PARTS = {name: VALUES[name] for name in ("None", "a string", "rows of two lengths", "NaN", "an object", "a function")}


@pytest.mark.parametrize("id_", EXERCISES)
def test_a_right_answer_with_one_malformed_part_is_told_so(id_):
    names: dict = {"__name__": "solution"}
    before = torch.get_default_dtype()  # some chapters set another one
    try:
        exec(compile(solutions()[id_], f"solution of {id_}", "exec"), names)
        right = names[EXERCISES[id_].function]
        parts = right(*EXERCISES[id_].arguments(*EXERCISES[id_].cases[0]))
        for place in range(len(parts) if isinstance(parts, list | tuple) else 0):
            for name, value in PARTS.items():

                def answer(*case, place=place, value=value):
                    found = right(*case)
                    return [*found[:place], value, *found[place + 1 :]] if isinstance(found, list | tuple) else found

                result = told(id_, answer)
                assert result.status == "malformed" or (id_, name) in SERVES, (place, name, result)
    finally:
        torch.set_default_dtype(before)


SERVES = {("01-mod-three", "a string"), ("01-mod-three", "rows of two lengths")}
"""A string is true or false by its letters, and rows of two lengths may be read up to their ends."""


@pytest.mark.parametrize("id_", EXERCISES)
def test_a_call_that_fails_is_told_what_is_called(id_):
    exercise = EXERCISES[id_]
    calls = CALLS if exercise.arguments(*exercise.cases[0]) else {**CALLS, "takes none": lambda a: 0}
    for name, answer in calls.items():
        result = told(id_, answer)
        assert result.status == "raised", (name, result)
        is_called = f"It is called as {exercise.signature}, with " in result.message
        assert is_called is (name != "raises"), (name, result)
        error = "ZeroDivisionError: my own mistake (line " if name == "raises" else "TypeError: "
        assert dict(result.lines)["yours"].startswith(error), (name, result)


@pytest.mark.parametrize("id_", EXERCISES)
def test_what_is_no_function_is_named(id_):
    for value in (None, "abc", 3, [], [[1], [1, 2]], torch.ones(2)):
        result = told(id_, value)
        assert result.status == "malformed"
        assert f"Expected a function, got {named(value)}: " in result.message
        assert f"check({id_!r}, {EXERCISES[id_].function})" in result.message


MISTAKES = [(id_, mistake) for id_, exercise in EXERCISES.items() for mistake in exercise.notes.mistakes]


@pytest.mark.parametrize(("id_", "mistake"), MISTAKES, ids=[f"{id_}: {mistake.says}" for id_, mistake in MISTAKES])
def test_a_plausible_mistake_is_shown_in_a_few_lines_with_its_input_and_what_was_returned(id_, mistake):
    names: dict = {}
    exec(compile(mistake.code, f"mistake in {id_}", "exec"), names)
    result = told(id_, names[EXERCISES[id_].function])
    lines = dict(result.lines)
    assert lines.keys() >= {*EXERCISES[id_].inputs, "yours"}
    assert result.case is not None
    assert len(result.case) == len(EXERCISES[id_].inputs)
