"""Copies of this process that do one thing, and end."""

import os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["never_return", "waited"]


def never_return(act: Callable[[], Any]) -> None:
    """Run to the end in a copy of this process, which must not go on with what the original was doing."""
    status = 70
    try:
        status = act() or 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        import traceback  # for this only

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def waited(act: Callable[[], Any]) -> int:
    """The exit status of a copy of this process that does something."""
    child = os.fork()
    if not child:
        never_return(act)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF
