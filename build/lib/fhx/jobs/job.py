"""One job: what is sent to a worker, what comes back, and the exception for one that fails."""

import pickle
import textwrap
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

_lock = threading.Lock()


class JobFailedError(RuntimeError):
    """A job ended without a result. The message names it, and ``__cause__`` is the exception it raised, if any."""


class Outcome(NamedTuple):
    """How a job ended: with a result, or with an exception."""

    result: Any = None
    error: Exception | None = None


def failure_of(arguments: Sequence[object], index: int, error: Exception | None) -> JobFailedError:
    """The exception for a job that raised an error or, where that is None, whose workers died."""
    name = f"job {index + 1} of {len(arguments)}, {textwrap.shorten(repr(arguments[index]), 200)}"
    why = f"{type(error).__name__}: {error}" if error else "each worker that started it died"
    failure = JobFailedError(f"{name}: {why}")
    failure.__cause__ = error
    return failure


def pickled(function: Callable[[T], object], arguments: Sequence[T]) -> list[bytes]:
    """The jobs as :func:`execute` takes them."""
    jobs = []
    for index, argument in enumerate(arguments):
        try:
            jobs.append(pickle.dumps((function, argument)))
        except Exception as error:
            raise failure_of(arguments, index, error) from error
    return jobs


def execute(job: bytes) -> bytes:
    """Run a job in a worker, never two at once in a process; :func:`unpickled` reads the answer."""
    try:
        function, argument = pickle.loads(job)
        with _lock:
            return pickle.dumps(Outcome(function(argument)))
    except Exception as error:
        return _pickled_error(error)


def unpickled(answer: bytes) -> Outcome:
    """How a job ended."""
    try:
        return pickle.loads(answer)
    except Exception as error:
        return Outcome(error=error)


def _pickled_error(error: Exception) -> bytes:
    """An exception with its traceback as a note; only its words if it cannot be rebuilt on the other side."""
    note = "".join(traceback.format_exception(error))
    error.add_note(note)
    try:
        answer = pickle.dumps(Outcome(error=error))
        pickle.loads(answer)
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(note)
        answer = pickle.dumps(Outcome(error=error))
    return answer
