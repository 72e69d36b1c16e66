"""A process that grades one submission after another, and the handle by which another process holds it.

It speaks JSON: a line in is a task, or the path of a submission and whose it is; a line out is the marks. If it dies,
whoever holds it knows which submission it was grading, and starts another one.
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
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from fhx.course.grading.scratch import Scratch

__all__ = ["Worker", "main"]

MEMORY = 6 * 2**30
"""Bytes that this process may hold, whatever a kernel sends; the kernels have limits of their own."""


@dataclass(frozen=True)
class _Running:
    """A grading process, with the ends of its pipes, the file of what it says, and the folder for what it writes."""

    process: subprocess.Popen[bytes]
    tasks: IO[bytes]
    marks: IO[bytes]
    said: IO[bytes]
    scratch: Scratch

    def tell(self, record: Any) -> None:
        self.tasks.write(json.dumps(record).encode() + b"\n")

    def line(self, seconds: float) -> bytes:
        """The next line that it writes."""
        parts, deadline = bytearray(), time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and select.select([self.marks], [], [], left)[0]:
            if not (part := os.read(self.marks.fileno(), 2**16)):
                raise EOFError("it ended")
            parts += part
            if part.endswith(b"\n"):
                return bytes(parts)
        raise TimeoutError(f"no marks within {seconds:g} s")

    def last_words(self) -> str:
        self.said.seek(max(0, self.said.seek(0, os.SEEK_END) - 3000))
        return self.said.read().decode("utf-8", "replace")

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Worker:
    """A grading process, started when it is first needed.

    Args:
        task: a :class:`fhx.course.grading.marks.Task` as a record.
        seconds: how long a submission may take in all, whatever happens.
    """

    def __init__(self, task: dict[str, Any], seconds: float) -> None:
        self._task, self._seconds = task, seconds
        self._running: _Running | None = None
        self._starting, self._is_stopped = threading.Lock(), False

    def grade(self, path: Path, student: str = "") -> list[dict[str, Any]] | str:
        """The marks of a submission; or, if the process died or did not end, what it said last.

        Args:
            path: of the notebook.
            student: whose variants of the exercises count; empty for the exercises themselves.
        """
        try:
            running = self._started()
            running.tell([str(path.absolute()), student])
            return json.loads(running.line(self._seconds))
        except (OSError, EOFError) as error:
            words = f"{self._running.last_words() if self._running else ''}{error}\n"
            self.close()
            return words
        except BaseException:  # this process is told to end
            self.close()
            raise

    def stop(self) -> None:
        """End the process for good, while another thread may wait for its marks."""
        with self._starting:
            self._is_stopped = True
            if self._running is not None:
                self._running.kill()

    def close(self) -> None:
        """End the process, and with it every kernel that it has."""
        if self._running is None:
            return
        self._running.kill()
        self._running.process.wait()
        for file in (self._running.tasks, self._running.marks, self._running.said):
            file.close()
        self._running.scratch.remove()
        self._running = None

    def _started(self) -> _Running:
        if self._running is not None and self._running.process.poll() is not None:
            self.close()
        with self._starting:
            if self._is_stopped:
                raise OSError("it was stopped")
            if self._running is None:
                self._running = _start()
                self._running.tell([self._task, str(self._running.scratch.path)])
            return self._running


def _start() -> _Running:
    said = tempfile.TemporaryFile()  # noqa: SIM115
    scratch = Scratch()
    if os.getuid() == 0:
        scratch.path.chmod(0o711)
    process = subprocess.Popen(
        # the present folder may be one of submissions: no module, and no settings, are taken from there
        [sys.executable, "-P", "-m", "fhx.course.grading.worker"],
        cwd=scratch.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        bufsize=0,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return _Running(process, process.stdin, process.stdout, said, scratch)


def main() -> None:
    """Read a task and then paths, and write the marks of each."""
    _die_with_parent()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but marks goes out
    # what these import must not write to the pipe of marks
    from fhx.course.grading.judge import grade_file
    from fhx.course.grading.marks import Task

    record, scratch = json.loads(sys.stdin.buffer.readline())
    task = Task.of(record)
    with task.launcher(Path(scratch)) as launcher:  # that folder goes with whoever holds this process, if this one dies
        while line := sys.stdin.buffer.readline():
            path, student = json.loads(line)
            marks = [asdict(mark) for mark in grade_file(Path(path), replace(task, student=student), launcher)]
            out.write(json.dumps(marks).encode() + b"\n")
            out.flush()


def _die_with_parent() -> None:
    """End when the thread that started this process ends, and with it the kernels; on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


if __name__ == "__main__":
    main()
