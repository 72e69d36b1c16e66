"""A limit on how long code may run that others have written."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

__all__ = ["TooSlowError", "time_limit"]

AGAIN = 0.5
"""Seconds, at most, after which what was passed over is raised again."""


class TooSlowError(BaseException):
    """The time is up. Not an ``Exception``, so that an ``except Exception`` in the code does not catch it."""


@contextmanager
def time_limit(seconds: float, clock: Literal["wall", "cpu"] = "wall") -> Iterator[None]:
    """Raise a :class:`TooSlowError` after that many seconds, where the system can: on Unix, in the main thread.

    Limits can be nested: an outer one stands still while an inner one runs. What is raised where Python passes
    exceptions over, as in a ``__del__`` or while garbage is collected, is raised again soon (``AGAIN``). What is
    too late is a :class:`TooSlowError` in any case: also if C code makes another error of it, or nothing does.

    Args:
        seconds: the limit.
        clock: whether it counts the time that passes, or the time that this process computes.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (signal.ITIMER_REAL, signal.SIGALRM) if clock == "wall" else (signal.ITIMER_PROF, signal.SIGPROF)

    is_late = False
    unraisable = sys.unraisablehook

    def stop(*_: Any) -> None:
        nonlocal is_late
        is_late = True
        raise TooSlowError

    def pass_over(what: "sys.UnraisableHookArgs") -> None:
        if not isinstance(what.exc_value, TooSlowError):
            unraisable(what)

    handler = signal.signal(number, stop)
    sys.unraisablehook = pass_over
    left = signal.setitimer(timer, seconds, min(seconds, AGAIN))
    try:
        yield
    except Exception as error:
        if is_late:
            raise TooSlowError from error
        raise
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, handler)
        signal.setitimer(timer, *left)
        sys.unraisablehook = unraisable
    if is_late:
        raise TooSlowError
