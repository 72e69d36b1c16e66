"""A process that grades one submission after the other, and the handle by which another process holds it.

It speaks JSON: a line in is a task or the path of a submission, a line out the marks. If it dies, whoever holds it
knows which submission it was at, and starts another one.
"""

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from fhx.course.grading.sandbox import Limits

__all__ = ["Worker", "main"]

MEMORY = 6 * 2**30
"""Bytes that this process may hold, whatever a kernel sends; the kernels have limits of their own."""
IDLE = 60
"""Seconds without a submission after which a process ends: on a cluster nobody says that there are no more."""


class Worker:
    """A grading process, started when it is first needed.

    Args:
        task: a :class:`fhx.course.grading.marks.Task` as a record.
        seconds: how long a submission may take in all, whatever happens.
    """

    def __init__(self, task: dict[str, Any], seconds: float) -> None:
        self._task, self._seconds = task, seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def grade(self, path: Path) -> list[dict[str, Any]] | str:
        """The marks of a submission; or, if the process died or did not end, what it said last."""
        with tempfile.TemporaryDirectory(prefix="rc-", ignore_cleanup_errors=True) as folder:
            try:
                process = self._started()
                process.stdin.write(json.dumps([str(path), folder]).encode() + b"\n")
                line = self._line(process, time.monotonic() + self._seconds)
            except OSError as error:
                line = None
                self._note(str(error))
            except BaseException:  # this process is told to end
                self.close()
                raise
            if line is None:
                words = self._last_words()
                self.close()
                return words
        return json.loads(line)

    def close(self) -> None:
        """End it, and with it every kernel that it has."""
        if self._process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._said.close()
        self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                # -P: the present folder may be one of submissions, and no module is imported from it
                [sys.executable, "-P", "-m", "fhx.course.grading.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
            self._process.stdin.write(json.dumps(self._task).encode() + b"\n")
        return self._process

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
        """The next line that it writes; None if there is none."""
        parts: list[bytes] = []
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([process.stdout], [], [], left)[0]:
                break
            if not (part := os.read(process.stdout.fileno(), 2**16)):
                return None
            parts.append(part)
            if part.endswith(b"\n"):
                return b"".join(parts)
        self._note(f"no marks within {self._seconds:g} s")
        return None

    def _note(self, words: str) -> None:
        self._said.write(f"{words}\n".encode())
        self._said.flush()

    def _last_words(self) -> str:
        end = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, end - 3000))
        return self._said.read().decode("utf-8", "replace")


def main() -> None:
    """Read a task and then paths, and write the marks of each."""
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but marks goes out
    from fhx.course.grading.judge import grade_file
    from fhx.course.grading.marks import Task

    record = json.loads(sys.stdin.buffer.readline())
    task = Task(**record | {"limits": Limits(**record["limits"])})
    while line := _line_in_time():
        path, tempfile.tempdir = json.loads(line)  # the folder goes with whoever holds this process, if this one dies
        marks = [asdict(mark) for mark in grade_file(Path(path), task)]
        out.write(json.dumps(marks).encode() + b"\n")
        out.flush()


def _line_in_time() -> bytes:
    """The next line; without one, the process is ended by its alarm."""
    signal.alarm(IDLE)
    line = sys.stdin.buffer.readline()
    signal.alarm(0)
    return line


def _die_with_parent() -> None:
    """End when the process that holds this one ends, and with it the kernels; on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


if __name__ == "__main__":
    main()
