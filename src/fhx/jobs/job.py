"""One job: what is sent to a worker, what comes back, and the exception for one that fails."""

import pickle
import textwrap
import threading
import traceback
from collections.abc import Callable
from typing import Any

_lock = threading.Lock()


class JobFailed(RuntimeError):
    """A job did not end with a result. The message names it, and ``__cause__`` is what it raised, if it did."""


def failed(arguments: list, index: int, error: Exception | None) -> JobFailed:
    """The exception for a job that raised an error, or, where that is None, whose workers died."""
    name = f"job {index + 1} of {len(arguments)}, {textwrap.shorten(repr(arguments[index]), 200)}"
    why = f"{type(error).__name__}: {error}" if error else "the workers that began it died, one after the other"
    failure = JobFailed(f"{name}: {why}")
    failure.__cause__ = error
    return failure


def pickled(function: Callable, arguments: list) -> list[bytes]:
    """The jobs as :func:`do` takes them."""
    jobs = []
    for index, argument in enumerate(arguments):
        try:
            jobs.append(pickle.dumps((function, argument)))
        except Exception as error:
            raise failed(arguments, index, error) from error
    return jobs


def do(job: bytes) -> bytes:
    """Do a job where a worker is; :func:`read` reads what comes back. Never two at once in a process."""
    try:
        function, argument = pickle.loads(job)
        with _lock:
            return pickle.dumps((True, function(argument)))
    except Exception as error:
        return _told(error)


def _told(error: Exception) -> bytes:
    """An exception with its traceback as a note; by its words only if it cannot be had on the other side."""
    note = "".join(traceback.format_exception(error))
    error.add_note(note)
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(note)
        answer = pickle.dumps((False, error))
    return answer


def read(answer: bytes) -> tuple[bool, Any]:
    """Whether a job ended with a result, and the result or the exception."""
    try:
        return pickle.loads(answer)
    except Exception as error:
        return False, error
