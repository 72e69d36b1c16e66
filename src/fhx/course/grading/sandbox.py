"""Where a kernel runs: a few folders, no network, its own processes, and limits on what it uses."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

import psutil

from fhx.course.grading.launcher import GIB, Launcher, kill
from fhx.course.grading.scratch import remove

__all__ = ["Sandbox"]


class Sandbox:
    """The world of one kernel, with a folder that both sides see.

    Args:
        launcher: makes the kernel.
    """

    _numbers = count()

    def __init__(self, launcher: Launcher) -> None:
        self._launcher, self.limits = launcher, launcher.limits
        number = next(self._numbers)
        self.name, self._user = f"{number}", launcher.user(number)
        self.shared = launcher.shared / self.name
        self.shared.mkdir(mode=0o711)
        self._process: psutil.Process | None = None
        self._status: str | None = None

    @property
    def inside(self) -> str:
        """The name of the shared folder in there."""
        return "/run/k" if self._launcher.isolated else str(self.shared)

    def start(self) -> None:
        """Start a kernel by the connection file ``c.json`` in the shared folder."""
        if not self._launcher.isolated:
            (self.shared / "home").mkdir(mode=0o700)
        if self._user >= 0:
            for path in (self.shared, *self.shared.iterdir()):
                os.chown(path, self._user, self._user)
        self._process = self._launcher.launch(self.name, self._user)

    def shut(self) -> None:
        """Let it write no more files into the shared folder, once the kernel's sockets are in there."""
        if self._user >= 0:
            os.chown(self.shared, 0, 0)

    def ended(self) -> str | None:
        """Why it ended, None while it runs; it is ended here if it uses too much."""
        if self._process is None:
            return "its kernel ended" if self._status is None else f"its kernel ended (exit status {self._status})"
        try:
            self._status = self._launcher.ended()
        except OSError as error:
            self._status = str(error)
        if self._status is not None:
            self._process = None
            return self.ended()
        if (used := self._memory()) > self.limits.memory:
            self.close()
            return f"it used more than {self.limits.memory / GIB:g} GiB of memory ({used / GIB:.1f})"
        if _written(self.shared) > self.limits.disk:
            self.close()
            return "it wrote too many files"
        return None

    def seconds(self) -> float:
        """What its processes have computed until now."""
        return sum(_computed(process) for process in self._family())

    def log(self) -> str:
        """The end of what the kernel and its launcher said on their way."""
        try:
            with os.fdopen(os.open(self.shared / "log", os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                own = file.read(2**20)[-2_000:].decode("utf-8", "replace")
        except OSError:
            own = ""
        return own + self._launcher.log()

    def close(self) -> None:
        """End every process in there."""
        if self._process is not None:
            self._launcher.settle(self._end)  # of the first, which waits for the others, and then puts things in order
            self._process = None

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        remove(self.shared)

    def _end(self) -> None:
        """End the kernel and what it started, but not what puts things in order after them, which is root's."""
        others = self._family()[1:]
        if not self._launcher.isolated and self._user >= 0:
            others = [process for process in others if _is_of(process, self._user)]
        kill(others)

    def _family(self) -> list[psutil.Process]:
        """The process outside of the kernel's world, and all in there."""
        if self._process is None:
            return []
        with suppress(psutil.NoSuchProcess):
            return [self._process, *self._process.children(recursive=True)]
        return []

    def _memory(self) -> int:
        """Bytes that its processes hold; what they share counts once, if it matters."""
        family = self._family()[2 if self._launcher.isolated else 1 :]  # of the kernel, and from there
        held = sum(_held(process, "rss") for process in family)
        return held if held <= self.limits.memory or len(family) < 4 else sum(_held(one, "pss") for one in family)


def _written(folder: Path) -> int:
    """Bytes of the files in a folder, which may go while they are counted, and a page for each and for each folder."""
    total, todo = 0, [str(folder)]
    while todo:
        with suppress(OSError):
            for entry in os.scandir(todo.pop()):
                total += 4096
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def _held(process: psutil.Process, kind: str) -> int:
    try:
        return process.memory_info().rss if kind == "rss" else process.memory_full_info().pss
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        return 0 if kind == "rss" else _held(process, "rss")


def _is_of(process: psutil.Process, user: int) -> bool:
    try:
        return process.uids().real == user
    except psutil.NoSuchProcess:
        return False


def _computed(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:4])  # of the user and the system, and of children that have ended
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0.0
