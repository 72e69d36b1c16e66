"""The book's own solutions, on which the cases of an instructor are tried before a class is."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from fhx.exercises import Exercise
from fhx.exercises.checking import Here
from fhx.exercises.trial import try_case

__all__ = ["failure_of_solution", "solutions"]


@cache
def solutions() -> dict[str, str]:
    """The code of a solution with all that it needs, by the exercise's id."""
    return json.loads(files("fhx.course.grading").joinpath("solutions.json").read_text("utf-8"))


def failure_of_solution(exercise: Exercise, case: Sequence[Any], code: str | None = None) -> str | None:
    """What is wrong with the solution on a case; None if it is right there, or there is none.

    Args:
        exercise: the exercise.
        case: a value for each of its inputs.
        code: of the solution, for an exercise that is not the book's.
    """
    code = solutions().get(exercise.id) if code is None else code
    if code is None:
        return None
    names: dict[str, Any] = {"__name__": "solution"}
    with _same_dtype():
        exec(compile(code, f"<solution of {exercise.id}>", "exec"), names)
        outcome = try_case(exercise, tuple(case), Here(exercise, names[exercise.function]))
    told = "; ".join(f"{name}: {value}" for name, value in outcome.lines)
    return None if outcome.status == "passed" else f"{outcome.message} ({told})"


@contextmanager
def _same_dtype() -> Iterator[None]:
    """What is run may import torch, and set another default dtype: it is put back."""
    torch = sys.modules.get("torch")
    before = torch and torch.get_default_dtype()
    try:
        yield
    finally:
        if torch := sys.modules.get("torch"):
            torch.set_default_dtype(before or torch.float32)
