"""A limit on how long code may run that others have written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

__all__ = ["TooSlowError", "time_limit"]


class TooSlowError(BaseException):
    """The time is up. Not an ``Exception``, so that an ``except Exception`` in the code does not catch it."""


@contextmanager
def time_limit(seconds: float, clock: Literal["wall", "cpu"] = "wall") -> Iterator[None]:
    """Raise a :class:`TooSlowError` after that many seconds, where the system can: on Unix, in the main thread.

    Limits can be nested: an outer one stands still while an inner one runs. What is raised where Python passes
    exceptions over, as in a ``__del__`` or while garbage is collected, is raised again after as long again.

    Args:
        seconds: the limit.
        clock: whether it counts the time that passes, or the time that this process computes.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    timer, number = (signal.ITIMER_REAL, signal.SIGALRM) if clock == "wall" else (signal.ITIMER_PROF, signal.SIGPROF)

    def stop(*_: Any) -> None:
        raise TooSlowError

    handler = signal.signal(number, stop)
    left = signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, handler)
        signal.setitimer(timer, *left)
