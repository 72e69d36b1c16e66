"""``check``: the reader's function against the oracle, on stated and on random inputs."""

import signal
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

from fhx.exercises.compare import difference, is_open, open_parts
from fhx.exercises.record import Exercise
from fhx.exercises.show import show

__all__ = ["Result", "check_exercise"]

Status = Literal["passed", "differs", "raised", "too slow", "not answered yet"]
MARKS = {"passed": "✓", "differs": "✗", "raised": "✗", "too slow": "✗", "not answered yet": "○"}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a check found; true if the answer passed, shown as text or, in a notebook, as HTML.

    Attributes:
        exercise: the exercise.
        status: one of ``passed``, ``differs``, ``raised``, ``too slow``, ``not answered yet``.
        message: one sentence.
        lines: (name, text) pairs on the first input that differs: the input, yours, expected.
        hint: what to look at, from the second failure on.
    """

    exercise: Exercise
    status: Status
    message: str
    lines: tuple[tuple[str, str], ...] = ()
    hint: str = ""

    def __bool__(self) -> bool:
        return self.status == "passed"

    def __repr__(self) -> str:
        head = f"{MARKS[self.status]} {self.exercise.title}: {self.status}. {self.message}"
        lines = (*self.lines, *([("hint", self.hint)] if self.hint else []))
        return "\n".join([head, *(indent(f"{name}: {text}", "  ") for name, text in lines)])

    def _repr_html_(self) -> str:
        # Colours are inherited, so that it reads in light and dark; the mark and the words carry the meaning.
        code = "color: inherit; background: none; white-space: pre-wrap; overflow-wrap: anywhere"
        rows = "".join(
            f'<dt style="font-weight: 600">{escape(name)}</dt>'
            f'<dd style="margin: 0 0 .3em 1.2em"><code style="{code}">{escape(text)}</code></dd>'
            for name, text in self.lines
        )
        head = f"<strong>{escape(self.exercise.title)}: {self.status}.</strong> {escape(self.message)}"
        return (
            '<div style="border-left: .25em solid currentColor; padding: .2em .8em; margin: .5em 0">'
            f'<p style="margin: 0 0 .3em"><span aria-hidden="true">{MARKS[self.status]}</span> {head}</p>'
            + (f'<dl style="margin: 0">{rows}</dl>' if rows else "")
            + (f'<p style="margin: .3em 0 0"><strong>Hint:</strong> {escape(self.hint)}</p>' if self.hint else "")
            + "</div>"
        )


def check_exercise(exercise: Exercise, answer: Callable[..., Any], seed: int, random_inputs: int) -> Result:
    """Run ``answer`` on all cases; the first that differs ends it. Nothing that ``answer`` does is raised."""
    if is_open(answer):
        return _unanswered(exercise)
    if not callable(answer):
        name = exercise.function
        return Result(
            exercise, "differs", f"Pass the function itself, as in check({exercise.id!r}, {name}).", _yours(answer)
        )
    for number, case in enumerate(exercise.all_cases(seed, random_inputs)):
        found = _check_case(exercise, answer, case, number)
        if found is not None:  # a result that did not pass is false
            return found
    stated = len(exercise.cases)
    agrees = f"It agrees on {stated} examples and {random_inputs} random inputs." if exercise.inputs else "It is right."
    return Result(exercise, "passed", f"{agrees}{_points(exercise)}")


def _check_case(exercise: Exercise, answer: Callable[..., Any], case: tuple, number: int) -> Result | None:
    """None if the answer is right on this case. The reader's function gets copies."""
    stated = len(exercise.cases)
    which = f"example {number + 1} of {stated}" if number < stated else f"random input {number + 1 - stated}"
    on = f" on {which}" if exercise.inputs else ""
    given = tuple((name, show(value)) for name, value in zip(exercise.inputs, case, strict=True))
    expected = exercise.oracle(*case)
    goal = ("expected", show(expected))
    arguments = exercise.arguments(*deepcopy(case))
    try:
        with _time_limit(exercise.seconds):
            value = answer(*arguments)
    except NotImplementedError:
        return _unanswered(exercise)
    except _TooSlow:
        return Result(exercise, "too slow", f"No value within {exercise.seconds:g} s{on}.", given)
    except (Exception, SystemExit) as error:
        if "ellipsis" in show(error).lower():  # a hole was left in an expression
            return _unanswered(exercise)
        return Result(exercise, "raised", f"It stopped{on}.", (*given, ("yours", _where(error)), goal))
    if is_open(value):
        return _unanswered(exercise, value)
    try:
        with _time_limit(exercise.seconds):
            seen = exercise.observe(value, *case)
    except _TooSlow:
        return Result(exercise, "too slow", f"What it returned could not be run within {exercise.seconds:g} s.", given)
    except Exception as error:
        return Result(exercise, "differs", _sentence(on, ": ", str(error)), (*given, *_yours(value)))
    why = difference(seen, expected, exercise.tolerance)
    if why and seen is None and any(exercise.oracle(*one) is None for one in exercise.cases):
        why = "got None"  # which may be meant
    return None if why is None else Result(exercise, "differs", _sentence(on, ", ", why), (*given, *_yours(seen), goal))


def _points(exercise: Exercise) -> str:
    points = exercise.notes.points if exercise.notes else 0
    return f" {points} point{'s' if points > 1 else ''}." if points else ""


def _sentence(on: str, sign: str, words: str) -> str:
    """``words`` as a sentence that begins with the input they are about, if there is one."""
    words = f"{on.lstrip()}{sign}{words}" if on else words
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('?') else '.'}"


def _unanswered(exercise: Exercise, value: Any = ...) -> Result:
    """Names what is still open in a value of which something is filled in."""
    todo = f"Fill the hole in {exercise.signature} and run the cell again."
    if parts := open_parts(value):
        *more, last = map(str, parts)
        which = f"Parts {', '.join(more)} and {last}" if more else f"Part {last}"
        todo = f"{which} of what {exercise.function} returns still hold{'' if more else 's'} `...`."
    return Result(exercise, "not answered yet", todo)


def _yours(value: Any) -> tuple[tuple[str, str], ...]:
    return (("yours", show(value)),)


def _where(error: BaseException) -> str:
    """The error and the line it came from, if that is the reader's."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    mine = [frame for frame in frames if frame.line and not any(place in frame.filename for place in OTHERS)]
    return show(error) + (f"\n(line {mine[-1].lineno}: {mine[-1].line})" if mine else "")


OTHERS = ("site-packages", sysconfig.get_path("stdlib"), str(Path(__file__).parents[1]))
"""Places of code that is not the reader's."""


class _TooSlow(BaseException):
    """Not an ``Exception``, so that the reader's own ``except Exception`` lets it pass."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt after ``seconds`` where the system can: in the main thread, on Unix, if no such timer runs already."""
    can = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not can or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
