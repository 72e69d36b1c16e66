"""A student's function as the grader has it: called in the kernel, its value read here as data."""

import base64
import builtins
import hashlib
import json
import marshal
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

import numpy as np

from fhx.course.grading.kernel import Kernel
from fhx.course.grading.wire import WireError, dumps, loads
from fhx.exercises import Exercise
from fhx.exercises.record import Case
from fhx.exercises.show import show
from fhx.exercises.time_limit import TooSlowError, time_limit
from fhx.exercises.trial import OPEN, NoValueError, sentence

__all__ = ["Answer", "random_cases"]


class Answer:
    """A function in a kernel, as a caller for :func:`fhx.exercises.trial.try_case`.

    Args:
        exercise: the exercise.
        kernel: where the function is defined.
        slack: see :class:`fhx.course.grading.launcher.Limits`.
        name: of the function in the kernel; None if it is that of the exercise.
    """

    def __init__(self, exercise: Exercise, kernel: Kernel, slack: float, name: str | None = None) -> None:
        self.exercise, self.slack, self._kernel = exercise, slack, kernel
        self._name = exercise.function if name is None else name
        self._things: list[Any] = []
        self._only: dict[str, Any] | None = None

    def limit(self, seconds: float) -> AbstractContextManager[None]:
        return time_limit(seconds, "cpu")

    def call(self, arguments: Case) -> Any:
        """The value that the kernel sends, read as data.

        Raises:
            NoValueError: there is none, or it cannot be read.
            Lost: the kernel did not answer in time, or is gone.
            WireError: the arguments cannot be sent.
        """
        self._things = []
        reply = self._ask(self._name, arguments)
        if missing := _without_value(reply):
            raise missing
        try:
            with self.limit(READING):
                return loads(reply["value"], self._find)
        except TooSlowError:
            raise NoValueError("differs", "What it returned takes too long to read") from None
        except (WireError, KeyError, TypeError) as error:
            raise NoValueError("differs", f"What it returned cannot be read: {error}") from error

    def _ask(self, function: str | int, arguments: tuple[Any, ...]) -> dict[str, Any]:
        """The kernel's reply; a function without arguments is called once."""
        if not arguments and self._only is not None and isinstance(function, str):
            return self._only
        text = dumps(list(arguments), self._keep)
        formulas = {n: formula for n, thing in enumerate(self._things) if (formula := _formula(thing))}
        call = [function, text, formulas]
        reply = _record(self._kernel.ask("call", call, self.slack * self.exercise.seconds, self._tell))
        if not arguments and isinstance(function, str):
            self._only = reply
        return reply

    def _keep(self, value: Any) -> dict[str, Any]:
        """The kernel gets the number of anything that is not data."""
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
            reply = self._ask(number, arguments)
            if missing := _without_value(reply):
                why = sentence(missing.words)
                raise ValueError(f"the function in your answer gave no value on {show(arguments)}: {why}")
            try:
                return loads(reply["value"], self._find)
            except (WireError, KeyError, TypeError) as error:
                raise ValueError(f"what the function in your answer returned cannot be read: {error}") from error

        return function

    def _tell(self, prompt: str) -> str:
        """What a function among the arguments says to the kernel that calls it."""
        try:
            with self.limit(self.exercise.seconds):
                number, arguments, options = loads(prompt, self._find)
                function = self._find("call", number)
                value = function(*arguments, **options)
            return json.dumps({"value": dumps(value, self._keep)})
        except TooSlowError:
            return json.dumps({"error": "the function that you were given took too long"})
        except Exception as error:
            return json.dumps({"error": f"{type(error).__name__}: {str(error)[:500]}"})


def random_cases(exercise: Exercise, seed: str, count: int) -> Iterator[Case]:
    """Random cases that depend on the seed and on the exercise; none where there is nothing to vary."""
    if exercise.inputs:
        digest = hashlib.sha256(f"{seed} {exercise.id}".encode()).digest()
        generator = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        yield from (exercise.sample(generator) for _ in range(count))


READING = 10.0
"""Seconds in which a value is read."""


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
    """A reply as a record; an empty one for anything that is not one."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _without_value(reply: dict[str, Any]) -> NoValueError | None:
    """Why a reply has no value; None if it has one."""
    if isinstance(reply.get("value"), str):
        return None
    if reply.get("missing"):
        words = "The function is not there once its cell has run"
        return NoValueError("no name", words, name=str(reply["missing"]))
    if reply.get("open"):
        return NoValueError(OPEN, "The hole is not filled")
    if reply.get("memory"):
        return NoValueError("crashed", "It asked for more memory than there is")
    if "raised" in reply:
        name = str(reply.get("name") or "")
        return NoValueError(
            "no name" if name else "raised", "It stopped with an error", str(reply["raised"])[:3000], name
        )
    if "unfit" in reply:
        return NoValueError("differs", str(reply["unfit"])[:600])
    return NoValueError("unread", "Its value cannot be read")
