"""Users that nobody else is, for students' code that root has to run."""

import os
import sys
from pathlib import Path

from fhx.course.grading.namespaces import mounts
from fhx.course.grading.syscalls import refusals

__all__ = ["guard_problem", "guard_user", "spare_user"]

KERNELS = 500
"""Users of a grader, before it begins again with the first."""
MAP = Path("/proc/self/uid_map")


def spare_user(number: int = 0) -> int:
    """The number of a user that is nobody, and of no other grader on this machine.

    Args:
        number: another one gives another user.
    """
    wide = 1_000_000_000 + os.getpid() * KERNELS + number % KERNELS
    return wide if _is_known(wide) else 20_000 + (os.getpid() * KERNELS + number) % 40_000


def guard_user() -> int:
    """The number of a user that is none of those, and ends what they leave running: nothing runs as that user."""
    wide = 3_500_000_000 + os.getpid()
    return wide if _is_known(wide) else 18_000 + os.getpid() % 2_000


def _is_known(user: int) -> bool:
    """Whether there can be such a user here; in some containers there are 65,536."""
    try:
        rows = [list(map(int, line.split())) for line in MAP.read_text("utf-8").splitlines()]
    except OSError:
        return False
    return any(first <= user < first + count for first, _, count in rows)


def guard_problem() -> str | None:
    """Why students' code cannot run as a user of its own and without network; None if it can."""
    if sys.platform != "linux":
        return "it takes Linux"
    if os.getuid() != 0:
        return "it takes root"
    if refusals(network=False) is None:
        return "the system calls of this processor are not known here"
    if found := next(filter(_is_closed, mounts()), None):
        return f"Python and the package must be readable to every user, and {found} is not; install them in /opt"
    return None


def _is_closed(path: Path) -> bool:
    """Whether other users cannot read what is there."""
    wanted = 0o5 if path.is_dir() else 0o4
    return path.stat().st_mode & wanted != wanted or any(not parent.stat().st_mode & 0o1 for parent in path.parents)
