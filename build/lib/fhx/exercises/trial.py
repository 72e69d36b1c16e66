"""A case of an exercise tried: a caller gives the value of the reader's function, and here it is compared.

``check`` calls the function in this process; the grader has it called in a sandbox and gets the value as data.
"""

from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from fhx.exercises.compare import difference, is_open
from fhx.exercises.record import Case, Exercise
from fhx.exercises.show import show
from fhx.exercises.time_limit import TooSlowError

__all__ = ["OPEN", "Caller", "Lines", "NoValueError", "Outcome", "is_about_the_answer", "sentence", "shown", "try_case"]

Lines = tuple[tuple[str, str], ...]
"""(name, text) pairs, such as an input with its value."""
ORACLE = 30
"""An oracle may take this many times as long as an answer."""
OPEN, HOLE = "not answered yet", "The hole is not filled."


class NoValueError(RuntimeError):
    """A call gave no value.

    Attributes:
        status: of the outcome.
        words: what happened, without a full stop, so that one can add where.
        yours: the error, to be shown in place of the value.
        name: the name that was missing, if that is why.
    """

    def __init__(self, status: str, words: str = "", yours: str = "", name: str = "") -> None:
        super().__init__(words)
        self.status, self.words, self.yours, self.name = status, words, yours, name


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a case.

    Attributes:
        status: ``passed``, ``differs``, ``too slow``, ``not answered yet``, or what the caller says.
        message: one sentence.
        lines: on the case: the input, yours, expected.
        name: the name that was missing, if that is why there is no value.
        value: what was returned, of an answer that is still open.
    """

    status: str
    message: str = ""
    lines: Lines = ()
    name: str = ""
    value: Any = ...


class Caller(Protocol):
    """How the reader's function is called.

    Attributes:
        slack: how many times the exercise's limit a call may take.
    """

    slack: float

    def call(self, arguments: Case) -> Any:
        """The value of the function.

        Raises:
            NoValueError: there is none.
        """

    def limit(self, seconds: float) -> AbstractContextManager[None]:
        """Limits what is computed here with the value; raises a TooSlowError."""


def try_case(exercise: Exercise, case: Case, caller: Caller, place: str = "") -> Outcome:
    """Call the function on a case, and compare what it returns with what is right.

    Args:
        exercise: the exercise.
        case: one of its inputs. The function gets copies.
        caller: calls the function.
        place: what messages say about the case, such as ``" on example 1 of 2"``.

    Raises:
        RuntimeError: the oracle takes too long.
        Exception: the oracle failed.
    """
    try:
        with caller.limit(ORACLE * exercise.seconds):
            expected = exercise.oracle(*case)
            arguments = exercise.arguments(*deepcopy(case))
    except TooSlowError as error:
        raise RuntimeError("the oracle takes too long") from error
    try:
        value = caller.call(arguments)
    except NoValueError as none:
        if none.status == OPEN:
            return Outcome(OPEN, HOLE)
        yours = [("yours", none.yours)] if none.yours else []
        right = [("expected", show(expected))] if none.yours else []
        lines = (*shown(exercise, case), *yours, *right)
        return Outcome(none.status, sentence(f"{none.words}{place}"), lines, none.name)
    if is_open(value):
        return Outcome(OPEN, HOLE, value=value)
    try:
        with caller.limit(caller.slack * exercise.seconds):
            seen = exercise.observe(value, *deepcopy(case))
    except TooSlowError:
        late = f"What it returned could not be run within {exercise.seconds:g} s."
        return Outcome("too slow", late, shown(exercise, case))
    except Exception as error:  # it says what is wrong with the answer, or the answer broke it
        lines = (*shown(exercise, case), ("yours", show(value)))
        return Outcome("differs", sentence(str(error), f"{place}: "), lines)
    why = difference(seen, expected, exercise.tolerance)
    if why is None:
        return Outcome("passed")
    if seen is None and any(exercise.oracle(*one) is None for one in exercise.cases):
        why = "got None"  # which may be meant
    lines = (*shown(exercise, case), ("yours", show(seen)), ("expected", show(expected)))
    return Outcome("differs", sentence(why, f"{place}, "), lines)


MECHANICAL = (
    *("AttributeError", "EOFError", "FileNotFoundError", "ImportError", "IndentationError", "ModuleNotFoundError"),
    *("NameError", "PermissionError", "StdinNotImplementedError", "SyntaxError", "SystemExit", "TypeError"),
    "UnboundLocalError",
)
"""Errors that are not about what an exercise asks."""


def is_about_the_answer(status: str, lines: Lines) -> bool:
    """Whether a hint on the exercise may help: a value was wrong or late, and it was not the program that broke off."""
    yours = dict(lines).get("yours", "")
    broken = status == "raised" and yours.startswith(tuple(f"{name}:" for name in MECHANICAL))
    return status in ("differs", "raised", "too slow") and not broken


def shown(exercise: Exercise, case: Case) -> Lines:
    """The values of a case by their names."""
    return tuple((name, show(value)) for name, value in zip(exercise.inputs, case, strict=True))


def sentence(words: str, before: str = "") -> str:
    """The words as a sentence that begins with the place that they are about, if there is one."""
    words = f"{before.lstrip()}{words}" if before.strip(" ,:") else words
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('?', '.')) else '.'}"
