"""``check``: the reader's function compared with the oracle, on stated and on random inputs."""

import sysconfig
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from fhx._templates import environment
from fhx.exercises.compare import is_open, open_parts
from fhx.exercises.record import Case, Exercise
from fhx.exercises.show import show
from fhx.exercises.time_limit import TooSlowError, time_limit
from fhx.exercises.trial import OPEN, Lines, NoValueError, is_about_the_answer, try_case

__all__ = ["Here", "Result", "check_exercise"]

_TEMPLATES = environment("fhx.exercises")
MARKS = {"passed": "✓", OPEN: "○"}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a check found; true if the answer passed, shown as text or, in a notebook, as HTML.

    Attributes:
        exercise: the exercise.
        status: one of ``passed``, ``differs``, ``raised``, ``too slow``, ``not answered yet``.
        message: one sentence.
        lines: (name, text) pairs on the first input that differs: the input, yours, expected.
    """

    exercise: Exercise
    status: str
    message: str
    lines: Lines = ()

    def __bool__(self) -> bool:
        return self.status == "passed"

    @property
    def hint(self) -> str:
        """What to look at, for an answer whose value is not right; a notebook folds it."""
        helps = is_about_the_answer(self.status, self.lines)
        return self.exercise.notes.hint if helps and self.exercise.notes else ""

    @property
    def _mark(self) -> str:
        return MARKS.get(self.status, "✗")

    def __repr__(self) -> str:
        head = f"{self._mark} {self.exercise.title}: {self.status}. {self.message}"
        there = [("hint", f'check("{self.exercise.id}", {self.exercise.function}).hint')] if self.hint else []
        return "\n".join([head, *(indent(f"{name}: {text}", "  ") for name, text in (*self.lines, *there))])

    def _repr_html_(self) -> str:
        return _TEMPLATES.get_template("result.html").render(
            mark=self._mark,
            title=self.exercise.title,
            status=self.status,
            message=self.message,
            lines=self.lines,
            hint=self.hint,
        )


def check_exercise(exercise: Exercise, answer: Callable[..., Any], seed: int, random_inputs: int) -> Result:
    """Run ``answer`` on all cases; the first that differs ends it. Nothing that ``answer`` does is raised."""
    if is_open(answer):
        return _unanswered(exercise)
    if not callable(answer):
        advice = f"Pass the function itself, as in check({exercise.id!r}, {exercise.function})."
        return Result(exercise, "differs", advice, (("yours", show(answer)),))
    caller, stated = Here(exercise, answer), len(exercise.cases)
    for number, case in enumerate(exercise.all_cases(seed, random_inputs), 1):
        which = f" on example {number} of {stated}" if number <= stated else f" on random input {number - stated}"
        outcome = try_case(exercise, case, caller, which if exercise.inputs else "")
        if outcome.status == OPEN:
            return _unanswered(exercise, outcome.value)
        if outcome.status != "passed":
            return Result(exercise, outcome.status, outcome.message, outcome.lines)
    agrees = f"It agrees on {stated} examples and {random_inputs} random inputs." if exercise.inputs else "It is right."
    return Result(exercise, "passed", f"{agrees}{_points(exercise)}")


class Here:
    """Calls the reader's function in this process."""

    slack = 1.0

    def __init__(self, exercise: Exercise, answer: Callable[..., Any]) -> None:
        self._exercise, self._answer = exercise, answer

    def limit(self, seconds: float) -> AbstractContextManager[None]:
        return time_limit(seconds)

    def call(self, arguments: Case) -> Any:
        try:
            with self.limit(self._exercise.seconds):
                return self._answer(*arguments)
        except NotImplementedError:
            raise NoValueError(OPEN) from None
        except TooSlowError:
            raise NoValueError("too slow", f"No value within {self._exercise.seconds:g} s") from None
        except (Exception, SystemExit) as error:
            if "ellipsis" in show(error).lower():  # a hole was left in an expression
                raise NoValueError(OPEN) from None
            raise NoValueError("raised", "It stopped", _where(error)) from error


def _points(exercise: Exercise) -> str:
    points = exercise.notes.points if exercise.notes else 0
    return f" {points} point{'s' if points > 1 else ''}." if points else ""


def _unanswered(exercise: Exercise, value: Any = ...) -> Result:
    """Names what is still open in a value of which something is filled in."""
    todo = f"Fill the hole in {exercise.signature} and run the cell again."
    if parts := open_parts(value):
        *more, last = map(str, parts)
        which = f"Parts {', '.join(more)} and {last}" if more else f"Part {last}"
        todo = f"{which} of what {exercise.function} returns still hold{'' if more else 's'} `...`."
    return Result(exercise, OPEN, todo)


def _where(error: BaseException) -> str:
    """The error and the line it came from, if that is the reader's."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    mine = [frame for frame in frames if frame.line and not any(place in frame.filename for place in OTHERS)]
    return show(error) + (f"\n(line {mine[-1].lineno}: {mine[-1].line})" if mine else "")


OTHERS = ("site-packages", sysconfig.get_path("stdlib"), str(Path(__file__).parents[1]))
"""Places of code that is not the reader's."""
