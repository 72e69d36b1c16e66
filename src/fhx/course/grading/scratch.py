"""Folders that students' code may write to, and their end."""

import os
import subprocess
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

__all__ = ["Scratch", "remove"]

SECONDS = 120.0
"""For each step of a removal; what has not gone by then stays."""


class Scratch:
    """A new folder, which is removed in the end.

    Args:
        parent: where it is made; by default where the system has temporary folders.

    Attributes:
        path: of the folder.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="rc-", dir=parent))
        self._end = weakref.finalize(self, remove, self.path)

    def remove(self) -> None:
        """Remove it, as :func:`remove` does."""
        self._end()


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it; it is no error if something stays.

    ``shutil.rmtree`` ends at folders that are nested deeper than Python calls functions, and changes, before Python
    3.11.8, the rights of what a link leads to (CVE-2023-6597). ``rm`` and ``find`` know neither limit nor links. Only
    folders get other rights here, and each from the folder that it is in, since its path may be too long to be named.

    Args:
        folder: where no process writes any longer.
    """
    closed = ["-type", "d", "!", "-perm", "-700"]
    opened = ["find", str(folder), *closed, "-execdir", "chmod", "--", "u+rwx", "{}", ";"]
    removed = ["rm", "-rf", "--", str(folder)]
    for command in (removed, opened, removed):
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                cwd="/",
                env={"PATH": os.defpath},  # without a relative part, at which find would refuse to run a program
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
            if command is removed and done.returncode == 0:
                return
