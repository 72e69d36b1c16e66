"""The kernel's side: it calls a student's functions with what the grader sends, and sends back what they return.

It runs where the student's code runs. Whatever that code does to it can only spoil the student's own answers, since
right values and comparisons are in another process.
"""

import base64
import builtins
import json
import marshal
import math
import sys
import traceback
import types
from collections.abc import Callable, Hashable
from typing import Any

from fhx.course.grading.wire import NO_DATA, WireError, dumps, loads
from fhx.course.grading.wire_types import write_atom

__all__ = ["Callee", "main"]

FILES = ("ipykernel_", "<ipython-input")
LONGEST = 2_000


class _Reply:
    """Shown as the text itself, whatever the display hooks are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text}


class _Thing:
    """An object of the grader that is not data."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        return f"<an object that the function got, number {self._number}>"


class _Remote(_Thing):
    """A function of the grader: a call asks it for the value."""

    def __init__(self, number: int, callee: "Callee") -> None:
        super().__init__(number)
        self._callee = callee

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._callee.ask([self._number, list(arguments), options])


class Callee:
    """What the grader talks to in a kernel, which holds it as ``kernel.callee``.

    Args:
        kernel: the kernel of ``ipykernel``.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._formulas: dict[int, Callable[..., Any]] = {}  # of the grader: only arithmetic, and computed here
        self._kept: list[Callable[..., Any]] = []  # in the answers of this exercise; the grader knows them by number

    def call(self, name: str | int, arguments: str, formulas: dict[int, dict[str, Any]]) -> _Reply:
        """Call a function of the notebook, or one that an answer held, and say what came of it.

        Args:
            name: the function's name, or its number.
            arguments: a text of the wire.
            formulas: functions among the arguments that can be computed here, by number.
        """
        self._formulas = {number: _formula(data) for number, data in formulas.items()}
        try:
            return _Reply(json.dumps(self._called(name, arguments)))
        except MemoryError:
            return _Reply('{"memory": true}')

    def ask(self, question: list[Any]) -> Any:
        """The value of a function of the grader, asked for by its number, arguments and options."""
        answer = json.loads(self._kernel.raw_input(dumps(question, self._keep)))
        if "error" in answer:
            raise ValueError(answer["error"])
        return loads(answer["value"], self._find)

    def _called(self, name: str | int, arguments: str) -> dict[str, Any]:
        try:
            values = loads(arguments, self._find)
        except WireError as error:
            return {"broken": str(error)}
        function = self._kept[name] if isinstance(name, int) else self._kernel.shell.user_ns.get(name)
        if function is None:
            return {"missing": name}
        if function is ...:
            return {"open": True}
        if not callable(function):
            return {"unfit": f"there is a {name}, but it is not a function"}
        builtins.input = _nobody
        try:
            value = function(*values)
        except NotImplementedError:
            return {"open": True}
        except MemoryError:
            return {"memory": True}
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            return _raised(error)
        try:
            return {"value": dumps(value, self._keep)}
        except WireError as error:
            return {"unfit": f"what it returns cannot be read: {error}"}
        except (Exception, SystemExit) as error:
            return {"unfit": f"what it returns cannot be read ({type(error).__name__})"}

    def _keep(self, value: Any) -> dict[str, Any]:
        if isinstance(value, _Thing):
            return {"t": "call" if isinstance(value, _Remote) else "thing", "n": value._number}
        if callable(value):
            self._kept.append(value)
            return {"t": "function", "n": len(self._kept) - 1}
        if isinstance(value, Hashable):
            return write_atom(value)
        raise WireError(NO_DATA.format(type(value).__name__))

    def _find(self, tag: str, number: int) -> Any:
        if number in self._formulas:
            return self._formulas[number]
        return _Remote(number, self) if tag == "call" else _Thing(number)


def _nobody(prompt: object = "") -> str:
    raise EOFError("input() waits for a person, and nobody is there when answers are graded")


def _formula(data: dict[str, Any]) -> Callable[..., Any]:
    """A function from its byte code, which the grader has sent."""
    code = marshal.loads(base64.b64decode(data["code"]))
    names = {name: getattr(math, name) for name in code.co_names if hasattr(math, name)}
    cells = tuple(types.CellType(data["cells"][name]) for name in code.co_freevars)
    return types.FunctionType(code, {"__builtins__": builtins, **names}, "<lambda>", None, cells)


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


def main(connection: str, ready: Callable[[], None]) -> None:
    """Become a kernel.

    Args:
        connection: the connection file.
        ready: called when all of the kernel is there, and before it listens.
    """
    sys.path.insert(0, "")  # for modules that a notebook writes
    sys.argv = ["kernel"]
    from ipykernel.kernelapp import IPKernelApp

    options = ["HistoryManager.enabled=False", "InteractiveShell.colors=NoColor", "InteractiveShell.banner1="]
    options += ["IPKernelApp.outstream_class=fhx.course.grading.silent.Silent"]
    options += ["IPKernelApp.capture_fd_output=False"]
    app = IPKernelApp.instance()
    app.initialize(["-f", connection, "--quiet", *(f"--{option}" for option in options)])
    app.kernel.callee = Callee(app.kernel)
    ready()
    app.start()
