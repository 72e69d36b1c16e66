"""``check``: the reader's function compared with the oracle, on stated and on random inputs."""

import inspect
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

from fhx._templates import environment
from fhx.exercises.compare import is_open, open_parts
from fhx.exercises.record import Case, Exercise
from fhx.exercises.show import LINE, is_short, named, show
from fhx.exercises.time_limit import TooSlowError, time_limit
from fhx.exercises.trial import OPEN, Lines, NoValueError, Outcome, is_about_the_answer, try_case

__all__ = ["Here", "Result", "check_exercise"]

_TEMPLATES = environment("fhx.exercises")
MARKS = {"passed": "✓", OPEN: "○"}
MOST_LINES, WIDTH, ANY = 6, 120, 10**9
"""Of the text of a result; and a length that no text has."""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a check found; true if the answer passed, shown as text or, in a notebook, as HTML.

    Attributes:
        exercise: the exercise.
        status: one of ``passed``, ``differs``, ``malformed`` (a value of another type or shape than what is asked for),
            ``raised``, ``too slow``, ``not answered yet``.
        message: one sentence.
        lines: (name, text) pairs on the first input that differs: the input, yours, expected. Long values are short.
        case: the values of that input, as they are.
    """

    exercise: Exercise
    status: str
    message: str
    lines: Lines = ()
    case: Case | None = None

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

    @property
    def _again(self) -> str:
        return f'check("{self.exercise.id}", {self.exercise.function})'

    @property
    def _whole(self) -> Lines:
        """Where the whole input is, if a part of it is shown shorter than it is."""
        return (("whole input", f"{self._again}.case"),) if self.case and _is_cut(self.exercise, self.lines) else ()

    def __repr__(self) -> str:
        """At most six lines, for which inputs share lines, and the way to the hint may be left out."""
        head = _wrapped(f"{self._mark} {self.exercise.title}: {self.status}. {self.message}")
        lines = [f"{name}: {' '.join(text.splitlines())}" for name, text in self.lines]
        if self.hint:
            lines.append(f"hint: {self._again}.hint" + ("; whole input: .case" if self._whole else ""))
        else:
            lines += [f"{name}: {text}" for name, text in self._whole]
        inputs = len(self.exercise.inputs) if self.case is not None else 0
        if len(head) + len(lines) > MOST_LINES:
            lines = [*_packed(lines[:inputs]), *lines[inputs:]]
        hint = [f"  {lines.pop()}"] if self.hint else []
        head += [part for line in lines for part in _wrapped(f"  {line}")]
        return "\n".join([*head, *hint] if len(head) < MOST_LINES else head)

    def _repr_html_(self) -> str:
        return _TEMPLATES.get_template("result.html").render(
            mark=self._mark,
            title=self.exercise.title,
            status=self.status,
            message=self.message,
            lines=(*self.lines, *self._whole),
            hint=self.hint,
        )


def check_exercise(exercise: Exercise, answer: Callable[..., Any], seed: int, random_inputs: int) -> Result:
    """Run ``answer`` on all cases; the first that differs ends it. Nothing that ``answer`` does is raised."""
    if is_open(answer):
        return _unanswered(exercise)
    if not callable(answer):
        advice = f"Expected a function, got {named(answer)}: pass the function itself, as in check"
        advice = f"{advice}({exercise.id!r}, {exercise.function})."
        return Result(exercise, "malformed", advice, (("yours", show(answer, LINE)),))
    caller, stated = Here(exercise, answer), len(exercise.cases)
    cases = list(exercise.all_cases(seed, random_inputs))
    for number, case in enumerate(cases):
        outcome = try_case(exercise, case, caller, _place(exercise, number))
        if outcome.status == OPEN:
            return _unanswered(exercise, outcome.value)
        if outcome.status != "passed":
            outcome, number = _smaller(exercise, caller, cases, number, outcome)
            return Result(exercise, outcome.status, outcome.message, outcome.lines, deepcopy(cases[number]))
    agrees = f"It agrees on {stated} examples and {random_inputs} random inputs." if exercise.inputs else "It is right."
    return Result(exercise, "passed", f"{agrees}{_points(exercise)}")


def _place(exercise: Exercise, number: int) -> str:
    """Which case it is, counted from 0."""
    stated = len(exercise.cases)
    which = f" on example {number + 1} of {stated}" if number < stated else f" on random input {number - stated + 1}"
    return which if exercise.inputs else ""


def _smaller(
    exercise: Exercise, caller: "Here", cases: Sequence[Case], number: int, outcome: Outcome
) -> tuple[Outcome, int]:
    """The smallest of the later inputs that fails, if the one found is random or too long to be read; else that one.

    It is looked for as long as one call may take. A stated input that can be read is what the statement talks about.
    """
    is_stated, size, end = number < len(exercise.cases), _size(cases[number]), time.monotonic() + exercise.seconds
    if outcome.status == "too slow" or (is_stated and not _is_cut(exercise, outcome.lines)):
        return outcome, number
    later = [(other, n) for n, case in enumerate(cases[number + 1 :], number + 1) if (other := _size(case)) < size]
    for _, n in sorted(later):
        if time.monotonic() > end:
            break
        found = try_case(exercise, cases[n], caller, _place(exercise, n))
        if found.status == outcome.status:
            return found, n
    return outcome, number


def _size(case: Case) -> int:
    return sum(len(show(value, ANY)) for value in case)


def _is_cut(exercise: Exercise, lines: Lines) -> bool:
    """Whether a part of the input is shown shorter than it is."""
    return any(is_short(text) for name, text in lines if name in exercise.inputs)


def _forget_half_imported() -> None:
    """Drop the parts of packages that were being imported when the time was over.

    Such a package is not there itself, and who imports it later would find it without these parts.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] not in sys.modules]:
        del sys.modules[name]


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
            _forget_half_imported()
            raise NoValueError("too slow", f"No value within {self._exercise.seconds:g} s") from None
        except (Exception, SystemExit) as error:
            if "ellipsis" in show(error).lower():  # a hole was left in an expression
                raise NoValueError(OPEN) from None
            stopped = self._is_called_otherwise(error, arguments)
            raise NoValueError("raised", stopped or "It stopped", _where(error)) from error

    def _is_called_otherwise(self, error: BaseException, arguments: Case) -> str:
        """What to say if it was the call that failed: the function has other parameters than the exercise's."""
        if not isinstance(error, TypeError):
            return ""
        try:
            inspect.signature(self._answer).bind(*arguments)
        except TypeError:
            count = f"{len(arguments)} argument{'s' * (len(arguments) != 1)}"
            return f"It is called as {self._exercise.signature}, with {count}, and does not take them"
        except ValueError:  # it has no signature
            return ""
        return ""


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
    line = f"(line {mine[-1].lineno}: {shorten(mine[-1].line or '', LINE // 2, placeholder=' …')})" if mine else ""
    text = show(error, LINE)
    return f"{text}{' ' if len(text) + len(line) < LINE else chr(10)}{line}" if line else text


def _wrapped(text: str) -> list[str]:
    """A line, or what it is on more of them: no line is too long."""
    return [text] if len(text) <= WIDTH else wrap(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _packed(texts: Sequence[str]) -> list[str]:
    """Texts side by side, in as few lines as they need."""
    packed: list[str] = []
    for text in texts:
        if packed and len(packed[-1]) + len(text) + 4 <= WIDTH:  # a mark between them, and the indent
            packed[-1] += f"; {text}"
        else:
            packed.append(text)
    return packed


OTHERS = ("site-packages", sysconfig.get_path("stdlib"), str(Path(__file__).parents[1]))
"""Places of code that is not the reader's."""
