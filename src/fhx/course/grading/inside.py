"""The kernel's side: it calls a student's functions with what the grader sends, and sends back what they return.

It runs where the student's code runs. Whatever that code does to it can only spoil the student's own answers, since
right values and comparisons are in another process.
"""

import base64
import builtins
import json
import marshal
import math
import os
import resource
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

from fhx.course.grading.wire import WireError, dumps, loads

__all__ = ["call", "fresh", "main"]

FILES = ("ipykernel_", "<ipython-input")
LONGEST = 2_000
MODULE = ("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtin__", "__builtins__")
_FORMULAS: dict[int, Callable[..., Any]] = {}
"""Functions of the grader that are only arithmetic, and are computed here."""
_KEPT: list[Callable[..., Any]] = []
"""Functions in the answers of this exercise; the grader knows them by number."""


class _Reply:
    """Shown as the text itself, whatever the display hooks are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text}


class _Thing:
    """An object of the grader that is no data."""

    def __init__(self, number: int, text: str = "") -> None:
        self._number, self._text = number, text

    def __repr__(self) -> str:
        return f"<an object that the function got, number {self._number}>"


class _Remote(_Thing):
    """A function of the grader: a call asks it for the value."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        question = dumps([self._number, list(arguments), options], _keep)
        answer = json.loads(_kernel().raw_input(question))
        if "error" in answer:
            raise ValueError(answer["error"])
        return loads(answer["value"], _find)


def _kernel() -> Any:
    from IPython import get_ipython

    return get_ipython().kernel


def _keep(value: Any) -> dict[str, Any]:
    if isinstance(value, _Thing):
        return {"t": "call" if isinstance(value, _Remote) else "thing", "n": value._number}
    if callable(value):
        _KEPT.append(value)
        return {"t": "function", "n": len(_KEPT) - 1}
    raise WireError(f"it holds an object of type {type(value).__name__}, which is no number, text, list or the like")


def _find(tag: str, number: int) -> Any:
    if number in _FORMULAS:
        return _FORMULAS[number]
    return _Remote(number) if tag == "call" else _Thing(number)


def _formula(data: dict[str, Any]) -> Callable[..., Any]:
    """A function from its byte code, which the grader has sent."""
    code = marshal.loads(base64.b64decode(data["code"]))
    names = {name: getattr(math, name) for name in code.co_names if hasattr(math, name)}
    cells = tuple(types.CellType(data["cells"][name]) for name in code.co_freevars)
    return types.FunctionType(code, {"__builtins__": builtins, **names}, "<lambda>", None, cells)


def fresh(text: str) -> _Reply:
    """Forget all names, and repeat a text of the wire, which shows that what is here still works.

    IPython's own ``reset`` forgets them too, in a quarter of a second.
    """
    from IPython import get_ipython

    shell = get_ipython()
    kept = {name: value for name, value in shell.user_ns.items() if name in MODULE}
    shell.user_ns.clear()
    shell.user_ns.update(kept)
    shell.init_user_ns()
    _KEPT.clear()
    return _Reply(dumps(loads(text)))


def call(name: str | int, arguments: str, formulas: dict[int, dict[str, Any]]) -> _Reply:
    """Call a function of the notebook, or one that an answer held, and say what came of it.

    Args:
        name: of the function, or its number.
        arguments: a text of the wire.
        formulas: functions among the arguments that can be computed here, by number.
    """
    _FORMULAS.clear()
    _FORMULAS.update({number: _formula(data) for number, data in formulas.items()})
    try:
        return _Reply(json.dumps(_called(name, arguments)))
    except MemoryError:
        return _Reply('{"memory": true}')


def _called(name: str | int, arguments: str) -> dict[str, Any]:
    try:
        values = loads(arguments, _find)
    except WireError as error:
        return {"broken": str(error)}
    function = _KEPT[name] if isinstance(name, int) else _names().get(name)
    if function is None:
        return {"missing": name}
    if function is ...:
        return {"open": True}
    if not callable(function):
        return {"unfit": f"there is a {name}, and it is no function"}
    try:
        value = function(*values)
    except NotImplementedError:
        return {"open": True}
    except MemoryError:
        return {"memory": True}
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        return _raised(error)
    try:
        return {"value": dumps(value, _keep)}
    except WireError as error:
        return {"unfit": f"what it returns cannot be read: {error}"}
    except (Exception, SystemExit) as error:
        return {"unfit": f"what it returns cannot be read ({type(error).__name__})"}


def _raised(error: BaseException) -> dict[str, Any]:
    kind = type(error).__name__
    try:
        text = str(error)[:LONGEST]
    except Exception:
        text = ""
    mine = [
        frame for frame in traceback.extract_tb(error.__traceback__) if any(name in frame.filename for name in FILES)
    ]
    where = f"\n(line {mine[-1].lineno}: {mine[-1].line})" if mine and mine[-1].line else ""
    name = error.name if isinstance(error, NameError) else None
    return {"raised": f"{kind}: {text}{where}", "name": name, "open": "ellipsis" in text.lower()}


def _names() -> dict[str, Any]:
    from IPython import get_ipython

    return get_ipython().user_ns


def main(connection: str, uid: int, limits: dict[str, int]) -> None:
    """Become a kernel with less rights.

    Args:
        connection: the connection file.
        uid: the user to become; -1 to stay.
        limits: the largest value of each resource, by the end of its name, such as ``AS``.
    """
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    if uid >= 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    sys.argv = ["kernel"]
    from ipykernel.kernelapp import IPKernelApp

    options = ["HistoryManager.enabled=False", "InteractiveShell.colors=NoColor", "InteractiveShell.banner1="]
    options += ["IPKernelApp.outstream_class=fhx.course.grading.silent.Silent"]
    options += ["IPKernelApp.capture_fd_output=False"]
    IPKernelApp.launch_instance(["-f", connection, "--quiet", *(f"--{option}" for option in options)])
