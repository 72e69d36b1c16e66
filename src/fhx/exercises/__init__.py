"""The book's exercises: each is a record with an oracle, with which ``check`` compares an answer."""

from collections.abc import Callable
from typing import Any

from fhx._extras import needs

with needs("torch", "figures"):
    from fhx.exercises.checking import Result, check_exercise
    from fhx.exercises.collection import EXERCISES, unknown
    from fhx.exercises.compare import difference
    from fhx.exercises.notes import Mistake, Notes
    from fhx.exercises.record import Exercise
    from fhx.exercises.show import named

__all__ = ["EXERCISES", "Exercise", "Mistake", "Notes", "Result", "check", "difference"]


def check(exercise: str | Exercise, answer: Callable[..., Any], *, seed: int = 0, random_inputs: int = 20) -> Result:
    """Compare a reader's function with an exercise's oracle, on the stated inputs and then on random ones.

    It gets copies of the inputs, so it may change them. What it returns, raises or forgets to return is shown, with the
    first input on which it differs (or, where that is random or long, the shortest that is found), and never raised; a
    function whose hole is not filled (it returns ``...`` or ``NotImplemented``, or raises ``NotImplementedError``) is
    not answered yet. Where an answer failed, the result has a hint, which a notebook shows folded.

    Args:
        exercise: an id of :data:`EXERCISES`, such as ``"01-one-step"``, or an exercise.
        answer: the function that the exercise asks for.
        seed: seed of the random inputs.
        random_inputs: how many of them.

    Returns:
        A result that is true if the answer passed.

    Raises:
        ValueError: for an unknown id, with the three known ones that are nearest.
        TypeError: for something else in the place of the id.
    """
    if not isinstance(exercise, str | Exercise):
        wanted = "expected the id of an exercise, such as '01-one-step', and then the function"
        raise TypeError(f"{wanted}, got {named(exercise)} first")
    if isinstance(exercise, str) and exercise not in EXERCISES:
        raise ValueError(unknown(exercise))
    record = EXERCISES[exercise] if isinstance(exercise, str) else exercise
    return check_exercise(record, answer, seed, random_inputs)
