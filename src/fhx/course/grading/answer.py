"""A student's function as the grader has it: called in the kernel, compared here."""

import base64
import builtins
import hashlib
import json
import marshal
import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from fhx.course.grading.kernel import Kernel
from fhx.course.grading.wire import WireError, dumps, loads
from fhx.exercises import Exercise, difference
from fhx.exercises.compare import is_open
from fhx.exercises.record import Case
from fhx.exercises.show import show

__all__ = ["Answer", "Outcome", "random_cases"]


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        status: ``ok``, ``wrong``, ``raised``, ``timeout``, ``crashed``, ``not attempted``, ``unread`` if the kernel
            said nothing that can be read, or ``no name`` if a name of the notebook was missing.
        message: one sentence, for who may see the case.
        lines: (name, text) pairs on it: the input, yours, expected.
        name: the one that was missing.
    """

    status: str
    message: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    name: str = ""


class Answer:
    """A function in a kernel, as an answer to an exercise.

    Args:
        exercise: the exercise.
        kernel: where the function is defined.
        slack: see :class:`fhx.course.grading.sandbox.Limits`.
    """

    def __init__(self, exercise: Exercise, kernel: Kernel, slack: float) -> None:
        self.exercise, self._kernel, self._slack = exercise, kernel, slack
        self._things: list[Any] = []
        self._only: dict[str, Any] | None = None

    def try_case(self, case: Case) -> Outcome:
        """Call it on a case, and compare what it returns with what is right.

        Raises:
            Lost: the kernel did not answer in time, or is gone.
            Exception: the oracle failed, or the case cannot be sent.
        """
        exercise = self.exercise
        try:
            with _time_limit(PATIENCE * exercise.seconds):
                expected = exercise.oracle(*deepcopy(case))
                arguments = exercise.arguments(*deepcopy(case))
        except _TooSlow as error:
            raise RuntimeError("the oracle takes too long") from error
        given = tuple((name, show(value)) for name, value in zip(exercise.inputs, case, strict=True))
        self._things = []
        reply = self._call(exercise.function, arguments)
        if found := _said(reply, given):
            return found
        try:
            with _time_limit(READING):
                value = loads(reply["value"], self._find)
        except _TooSlow:
            return Outcome("wrong", "What it returned takes too long to be read.", given)
        except (WireError, KeyError, TypeError) as error:
            return Outcome("wrong", f"What it returned cannot be read: {error}.", given)
        if is_open(value):
            return Outcome("not attempted", "The hole is not filled.")
        try:
            with _time_limit(self._slack * exercise.seconds):
                seen = exercise.observe(value, *deepcopy(case))
        except _TooSlow:
            return Outcome("timeout", f"What it returned could not be run within {exercise.seconds:g} s.", given)
        except Exception as error:  # it says what is wrong with the answer, or the answer broke it
            return Outcome("wrong", _sentence(str(error)), (*given, ("yours", show(value))))
        why = difference(seen, expected, exercise.tolerance)
        if why is None:
            return Outcome("ok")
        return Outcome("wrong", _sentence(why), (*given, ("yours", show(seen)), ("expected", show(expected))))

    def _call(self, function: str | int, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The kernel's reply; a function without arguments is called once."""
        if not arguments and self._only is not None and isinstance(function, str):
            return self._only
        text = dumps(list(arguments), self._keep)
        formulas = {n: formula for n, thing in enumerate(self._things) if (formula := _formula(thing))}
        call = [function, text, formulas]
        reply = _record(self._kernel.ask("call", call, self._slack * self.exercise.seconds, self._tell))
        if not arguments and isinstance(function, str):
            self._only = reply
        return reply

    def _keep(self, value: Any) -> dict[str, Any]:
        """The kernel gets the number of what is no data."""
        self._things.append(value)
        return {"t": "call" if callable(value) else "thing", "n": len(self._things) - 1}

    def _find(self, tag: str, number: int) -> Any:
        if tag == "function":
            return self._proxy(number)
        if not 0 <= number < len(self._things):
            raise WireError("it holds an object that was not given")
        return self._things[number]

    def _proxy(self, number: int) -> Callable[..., Any]:
        """A function in the student's value: a call asks the kernel."""

        def function(*arguments: Any) -> Any:
            reply = self._call(number, arguments)
            if found := _said(reply, ()):
                raise ValueError(f"the function in your answer gave no value on {show(arguments)}: {found.message}")
            try:
                return loads(reply["value"], self._find)
            except (WireError, KeyError, TypeError) as error:
                raise ValueError(f"what the function in your answer returned cannot be read: {error}") from error

        return function

    def _tell(self, prompt: str) -> str:
        """What a function among the arguments says to the kernel that calls it."""
        try:
            with _time_limit(self.exercise.seconds):
                number, arguments, options = loads(prompt, self._find)
                function = self._find("call", number)
                value = function(*arguments, **options)
            return json.dumps({"value": dumps(value, self._keep)})
        except _TooSlow:
            return json.dumps({"error": "the function that you were given took too long"})
        except Exception as error:
            return json.dumps({"error": f"{type(error).__name__}: {str(error)[:500]}"})


def random_cases(exercise: Exercise, seed: int, count: int) -> Iterator[Case]:
    """Random cases that depend on the seed and on the exercise; none where there is nothing to vary."""
    if exercise.inputs:
        digest = hashlib.sha256(f"{seed} {exercise.id}".encode()).digest()
        generator = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        yield from (exercise.sample(generator) for _ in range(count))


READING = 10.0
"""Seconds in which a value is read."""
PATIENCE = 30
"""How many times the time of an answer an oracle may take."""


def _formula(thing: Any) -> dict[str, Any] | None:
    """The byte code of a function that only computes with numbers: asking for each value would take too long."""
    if not isinstance(thing, FunctionType) or thing.__defaults__ or thing.__kwdefaults__:
        return None
    cells = {
        name: cell.cell_contents for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
    }
    known = (getattr(math, name, None) or getattr(builtins, name, None) for name in thing.__code__.co_names)
    used = (thing.__globals__.get(name) or getattr(builtins, name, None) for name in thing.__code__.co_names)
    plain = all(type(value) in (int, float) for value in cells.values())
    if not plain or any(a is None or a is not b for a, b in zip(known, used, strict=True)):
        return None
    return {"code": base64.b64encode(marshal.dumps(thing.__code__)).decode(), "cells": cells}


def _record(text: str | None) -> dict[str, Any]:
    """A reply as a record; an empty one for what is none."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _said(reply: dict[str, Any], given: tuple[tuple[str, str], ...]) -> Outcome | None:
    """What a reply without a value says."""
    if isinstance(reply.get("value"), str):
        return None
    if reply.get("missing"):
        return Outcome("no name", "The function is not there once its cell has run.", name=str(reply["missing"]))
    if reply.get("open"):
        return Outcome("not attempted", "The hole is not filled.")
    if reply.get("memory"):
        return Outcome("crashed", "It asked for more memory than there is.", given)
    if "raised" in reply:
        lines, name = (*given, ("yours", str(reply["raised"])[:3000])), str(reply.get("name") or "")
        return Outcome("no name" if name else "raised", "It stopped with an error.", lines, name)
    if "unfit" in reply:
        return Outcome("wrong", _sentence(str(reply["unfit"])[:600]), given)
    return Outcome("unread", "Its value cannot be read.", given)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('?', '.')) else '.'}"


class _TooSlow(BaseException):
    """Not an ``Exception``, so that nothing in between takes it for one."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt after so many seconds of computing; in the main thread only."""

    def stop(*_: Any) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    old, _ = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, old)
        signal.signal(signal.SIGPROF, before)
