"""The process that kernels are copies of, as the grader holds it; what it does in there is in ``forking.py``.

Root becomes a user that nobody else is before the student's code begins, unless nothing is to keep it apart.
"""

import base64
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from fhx.course import grading
from fhx.course.grading.forking import Job
from fhx.course.grading.namespaces import HOME, SCRATCH, bubble, mounted_inside
from fhx.course.grading.scratch import Scratch
from fhx.course.grading.syscalls import refusals
from fhx.course.grading.users import guard_problem, guard_user, spare_user

__all__ = ["GIB", "NAMESPACES", "NOTHING", "USER", "Launcher", "Limits", "NoKernelError", "kill"]

GIB = 2**30
NAMESPACES, USER, NOTHING = "namespaces", "user", "nothing"
"""What keeps a kernel apart: namespaces, or for root another user without network; or nothing but its limits."""
ENVIRONMENT = {
    "HOME": HOME,
    "USER": "student",
    "LOGNAME": "student",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TQDM_DISABLE": "1",
    "FHX_DEVICE": "cpu",
}


SETTLED = 30.0
"""Seconds until a kernel has ended that was told to."""
STARTED = """
from fhx.course.grading.forking import main
main()
"""
STUBBED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("fhx.exercises", sys.argv[1], submodule_search_locations=[])
sys.modules["fhx.exercises"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["fhx.exercises"])
"""
"""Without namespaces nothing can lie over the exercises, and the stub is only their module."""


class NoKernelError(RuntimeError):
    """No kernel could be started, which is not a student's fault."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use.

    Attributes:
        memory: bytes, of all its processes together.
        cpu: seconds of a kernel and its children, each.
        file: bytes of each file that it writes.
        disk: bytes of all of them.
        processes: and threads, at a time.
        startup: seconds until a kernel answers.
        cell: seconds of a cell.
        slack: a call may take this many times the exercise's limit, since the machine is shared.
        total: seconds of a submission.
    """

    memory: int = 4 * GIB
    cpu: int = 300
    file: int = 64 * 2**20
    disk: int = 256 * 2**20
    processes: int = 64
    startup: float = 120.0
    cell: float = 60.0
    slack: float = 2.0
    total: float = 600.0


class Launcher:
    """The process that kernels are copies of; it is started when the first is needed, and again if it is gone.

    Args:
        limits: of each kernel.
        isolation: what keeps kernels apart.
        hidden: folders that no kernel must see, wherever they are.
        scratch: where its temporary folder is made; by default where the system has them.
    """

    def __init__(
        self, limits: Limits, isolation: str = NAMESPACES, hidden: Sequence[Path] = (), scratch: Path | None = None
    ) -> None:
        self.limits, self.isolated = limits, isolation == NAMESPACES
        self._has_users = os.getuid() == 0 and isolation != NOTHING
        if isolation == USER and (problem := guard_problem()):
            raise NoKernelError(f"students' code cannot become another user here: {problem}")
        self._hidden = [Path(path).resolve() for path in hidden]
        self._scratch = Scratch(scratch)
        self.folder = self._scratch.path
        self.shared = self.folder / "k"
        self.shared.mkdir(mode=0o711)
        if self._has_users:
            self.folder.chmod(0o711)
        self._outer: subprocess.Popen[bytes] | None = None
        self._inner: psutil.Process | None = None
        self._said = bytearray()

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._scratch.remove()

    def ready(self) -> None:
        """Start it, if it does not run.

        Raises:
            NoKernelError: it does not start.
        """
        if self._outer is None or self._outer.poll() is not None:
            self._start()

    def user(self, number: int) -> int:
        """The user that a kernel becomes; -1 for none. In namespaces it is always the same: nobody else is there."""
        return spare_user(0 if self.isolated else number) if self._has_users else -1

    def launch(self, name: str, user: int) -> psutil.Process:
        """Make a kernel whose folder, with its connection file ``c.json``, is that one in the shared one.

        Args:
            name: of the folder; without namespaces there is a folder ``home`` in it.
            user: that it becomes.

        Returns:
            The process that is outside of the kernel's world and ends with it.

        Raises:
            NoKernelError: none starts.
        """
        self.ready()
        limits = {"CPU": self.limits.cpu, "FSIZE": self.limits.file, "CORE": 0, "NOFILE": 256}
        limits |= {"DATA": self.limits.memory, "AS": self.limits.memory + 16 * GIB}
        if self.isolated or user >= 0:
            limits["NPROC"] = self.limits.processes
        job = Job(
            folder=name,
            shared="/run/k" if self.isolated else str(self.shared),
            home=HOME if self.isolated else f"{self.shared}/{name}/home",
            scratch=SCRATCH if self.isolated else (),
            kept=mounted_inside(SCRATCH) if self.isolated else (),
            size=self.limits.disk,
            uid=user,
            guard=guard_user() if user >= 0 else -1,
            limits=limits,
            refusals=base64.b64encode(self._refusals()).decode(),
            isolated=self.isolated,
        )
        assert self._outer is not None
        assert self._outer.stdin is not None
        assert self._inner is not None
        try:
            self._outer.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
            self._expect("begun")
            (kernel,) = self._inner.children()
        except (OSError, ValueError, psutil.NoSuchProcess) as error:
            raise NoKernelError(f"no kernel started: {error or 'it ended at once'}\n{self.log()}") from error
        return kernel

    def _refusals(self) -> bytes:
        if not self.isolated and not self._has_users:
            return b""
        return refusals(network=self.isolated) or b""

    def ended(self) -> str | None:
        """The exit status of the kernel, once it has ended with everything in its world."""
        with suppress(TimeoutError):
            return self._line(0.0).removeprefix("ended ")
        return None

    def settle(self, end: Callable[[], None]) -> None:
        """Have the kernel ended, again and again until it is; if that lasts, the launcher ends too.

        Args:
            end: ends the processes that the kernel has.
        """
        deadline = time.monotonic() + SETTLED
        try:
            while True:
                end()
                try:
                    return self._expect("ended", 0.2)
                except TimeoutError:
                    if time.monotonic() > deadline:
                        raise
        except OSError:
            self._stop()

    def log(self) -> str:
        """The end of what it said on its way."""
        path = self.folder / "log"
        return path.read_bytes()[-2_000:].decode("utf-8", "replace") if path.exists() else ""

    def _start(self) -> None:
        self._stop()
        code = ("" if self.isolated else STUBBED) + STARTED
        command = [sys.executable, "-P", "-c", code, str(Path(grading.__file__).with_name("stub.py"))]
        own = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        environment = ENVIRONMENT | ({} if self.isolated else {**own, "HOME": str(self.folder)})
        if data := os.environ.get("FHX_DATA"):
            environment["FHX_DATA"] = os.path.abspath(data)
        if self.isolated:
            command = [*bubble(self.folder, self.limits.disk, environment, self._hidden), *command]
        with (self.folder / "log").open("wb") as log:
            self._outer = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                start_new_session=True,
            )
        try:
            self._expect("ready", self.limits.startup)
            outer = psutil.Process(self._outer.pid)
            self._inner = (outer.children(recursive=True) or [outer])[-1]
        except (OSError, psutil.NoSuchProcess) as error:
            self._stop()
            raise NoKernelError(f"no kernel started: {error}\n{self.log()}") from error

    def _expect(self, word: str, seconds: float = 30.0) -> None:
        line = self._line(seconds)
        if not line.startswith(word):
            raise OSError(f"expected {word!r}, got {line!r}")

    def _line(self, seconds: float) -> str:
        """The next line that it says.

        Raises:
            TimeoutError: there is none in time.
            OSError: it is gone.
        """
        assert self._outer is not None
        assert self._outer.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._said:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._outer.stdout], [], [], left)[0]:
                raise TimeoutError(f"nothing within {seconds:g} s")
            if not (part := os.read(self._outer.stdout.fileno(), 2**12)):
                raise OSError("it is gone")
            self._said += part
        line, _, rest = self._said.partition(b"\n")
        self._said = bytearray(rest)
        return line.decode("utf-8", "replace")

    def _stop(self) -> None:
        if self._outer is None:
            return
        with suppress(psutil.NoSuchProcess):
            kill([*psutil.Process(self._outer.pid).children(recursive=True)])
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._outer.pid, signal.SIGKILL)
        self._outer.wait()
        for pipe in (self._outer.stdin, self._outer.stdout):
            if pipe is not None:
                pipe.close()
        self._outer, self._inner, self._said = None, None, bytearray()


def kill(family: Sequence[psutil.Process]) -> None:
    """End processes, those inside others first."""
    for process in reversed(family):
        with suppress(psutil.NoSuchProcess):
            process.kill()
