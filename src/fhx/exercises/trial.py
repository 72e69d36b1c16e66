"""A case of an exercise tried: a caller gives the value of the reader's function, and here it is compared.

``check`` calls the function in this process; the grader has it called in a sandbox and gets the value as data.
"""

from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from fhx.exercises.compare import MalformedError, Mismatch, is_open, mismatch
from fhx.exercises.record import Case, Exercise
from fhx.exercises.show import LINE, named, show
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
        status: ``passed``, ``differs``, ``malformed`` for a value of another type or shape than what is asked for,
            ``too slow``, ``not answered yet``, or what the caller says.
        message: one sentence.
        lines: on the case: the input; what was returned, if something else is made of it, such as the outputs of a net;
            yours; expected.
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
        right = [("expected", _shown_value(expected))] if none.yours and not exercise.is_design else []
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
        status, why = _told(error, value)
        lines = (*shown(exercise, case), ("yours", show(value, LINE)))
        return Outcome(status, sentence(why, f"{place}: "), lines)
    found = mismatch(seen, expected, exercise.tolerance)
    if found is None:
        return Outcome("passed")
    if seen is None and any(exercise.oracle(*one) is None for one in exercise.cases):
        found = Mismatch("got None")  # which may be meant
    made = exercise.is_design and seen is not value
    written = _shown_value if made else partial(show, longest=LINE)
    text = show(value, LINE)
    returned = (("returned", text),) if made and text != written(seen) else ()
    lines = (*shown(exercise, case), *returned, ("yours", written(seen)), ("expected", written(expected)))
    return Outcome("malformed" if found.is_malformed else "differs", sentence(found.words, f"{place}, "), lines)


def _told(error: Exception, value: Any) -> tuple[str, str]:
    """The status of an answer with which something cannot be done, and why, in at most two lines."""
    if isinstance(error, MalformedError):
        return "malformed", _cut(str(error))
    if isinstance(error, ValueError):
        return "differs", _cut(str(error))
    told = f"got {named(value)}, with which there is no going on: {type(error).__name__}: {error}"
    return "malformed", _cut(f"expected an answer as the exercise describes it, {told}")


def _cut(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= 2 * LINE else f"{words[: 2 * LINE]} …"


def _shown_value(value: Any) -> str:
    """What was made of an answer: a description stands there without quotes."""
    return value if type(value) is str and len(value) <= LINE else show(value, LINE)


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
    return status in ("differs", "malformed", "raised", "too slow") and not broken


def shown(exercise: Exercise, case: Case) -> Lines:
    """The values of a case by their names, of many ones shorter."""
    for longest in (2 * LINE, LINE, LINE // 2, LINE // 3, LINE // 4):
        lines = tuple((name, show(value, longest)) for name, value in zip(exercise.inputs, case, strict=True))
        if sum(len(name) + len(text) + 4 for name, text in lines) <= 2.2 * LINE:
            break
    return lines


def sentence(words: str, before: str = "") -> str:
    """The words as a sentence that begins with the place that they are about, if there is one."""
    words = f"{before.lstrip()}{words}" if before.strip(" ,:") else words
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('?', '.')) else '.'}"
