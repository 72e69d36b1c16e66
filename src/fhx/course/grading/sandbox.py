"""Where a kernel runs: a few folders, no network, its own processes, and limits on what it uses.

Root becomes a user that nobody else is before the student's code begins.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from fhx.course import grading
from fhx.course.grading.namespaces import HOME, bubble
from fhx.course.grading.syscalls import refusals

__all__ = ["Limits", "Sandbox"]

GIB = 2**30
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


STARTED = """
import json, sys
from fhx.course.grading.inside import main
main(*json.loads(sys.argv[1]))
"""
STUBBED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("fhx.exercises", sys.argv[2], submodule_search_locations=[])
sys.modules["fhx.exercises"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["fhx.exercises"])
"""
"""Without namespaces nothing can lie over the exercises, and the stub is only their module."""


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


class Sandbox:
    """A process in a world of its own, with a folder that both sides see.

    Args:
        limits: what it may use.
        isolated: whether in namespaces; if not, it is a process like any other, with the limits.
        hidden: folders that it must not see, wherever they are.
        scratch: where its temporary folder is made; by default where the system has them.
    """

    def __init__(
        self, limits: Limits, isolated: bool = True, hidden: Sequence[Path] = (), scratch: Path | None = None
    ) -> None:
        self.limits, self.isolated = limits, isolated
        self._hidden = [Path(path).resolve() for path in hidden]
        self._temporary = tempfile.TemporaryDirectory(prefix="rc-", dir=scratch, ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.shared = self.folder / "k"
        self.shared.mkdir()
        self._uid = 900_000_000 + os.getpid() if os.getuid() == 0 and isolated else -1
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def inside(self) -> str:
        """The name of the shared folder in there."""
        return "/run/k" if self.isolated else str(self.shared)

    def start(self, connection: str) -> None:
        """Start a kernel whose connection file is that one in the shared folder."""
        if self._uid >= 0:
            self.folder.chmod(0o711)
            for path in (self.shared, *self.shared.iterdir()):
                os.chown(path, self._uid, self._uid)
        limits = {"CPU": self.limits.cpu, "FSIZE": self.limits.file, "CORE": 0, "NOFILE": 256}
        limits |= {"DATA": self.limits.memory, "AS": self.limits.memory + 16 * GIB}
        if self.isolated:
            limits["NPROC"] = self.limits.processes
        job = json.dumps([f"{self.inside}/{connection}", self._uid, limits])
        code = ("" if self.isolated else STUBBED) + STARTED
        command = [sys.executable, "-P", "-c", code, job, str(Path(grading.__file__).with_name("stub.py"))]
        environment = ENVIRONMENT | ({} if self.isolated else {"HOME": str(self.folder), "PATH": os.environ["PATH"]})
        if data := os.environ.get("FHX_DATA"):
            environment["FHX_DATA"] = os.path.abspath(data)
        with (self.folder / "log").open("wb") as log, tempfile.TemporaryFile(dir=self.folder) as calls:
            calls.write(refusals() or b"")
            calls.seek(0)
            passed = [calls.fileno()] if self.isolated and refusals() else []
            if self.isolated:
                around = bubble(self.folder, self._uid, self.limits.disk, environment, self._hidden, *passed)
                command = [*around, *command]
            self._process = subprocess.Popen(
                command,
                pass_fds=passed,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def shut(self) -> None:
        """Let it write no more files into the shared folder, once the kernel's sockets are in there."""
        if self._uid >= 0:
            os.chown(self.shared, 0, 0)

    def ended(self) -> str | None:
        """Why it ended, None while it runs; it is ended here if it uses too much."""
        if self._process is None:
            return "it was not started"
        if self._process.poll() is not None:
            return f"its kernel ended (exit status {self._process.returncode})"
        if (used := self._memory()) > self.limits.memory:
            self.close()
            return f"it used more than {self.limits.memory / GIB:g} GiB of memory ({used / GIB:.1f})"
        if _written(self.shared) > self.limits.disk:
            self.close()
            return "it wrote too many files"
        return None

    def seconds(self) -> float:
        """What its processes have computed until now."""
        return sum(_computed(process) for process in self._family(and_itself=True))

    def log(self) -> str:
        """The end of what the process said on its way."""
        path = self.folder / "log"
        return path.read_bytes()[-2_000:].decode("utf-8", "replace") if path.exists() else ""

    def close(self) -> None:
        """End every process in there."""
        if self._process is None:
            return
        for process in self._family(and_itself=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._temporary.cleanup()

    def _family(self, and_itself: bool = False) -> list[psutil.Process]:
        """The processes in there; the one that was started is not in there if it made the namespaces."""
        if self._process is None:
            return []
        try:
            first = psutil.Process(self._process.pid)
            return first.children(recursive=True) + ([] if self.isolated and not and_itself else [first])
        except psutil.NoSuchProcess:
            return []

    def _memory(self) -> int:
        """Bytes that its processes hold; what they share counts once, if it matters."""
        family = self._family()
        held = sum(_held(process, "rss") for process in family)
        return held if held <= self.limits.memory or len(family) < 4 else sum(_held(one, "pss") for one in family)


def _written(folder: Path) -> int:
    """Bytes of the files in a folder, which may go while they are counted, and a page for each and for each folder."""
    total = 0
    for place, folders, names in os.walk(folder):
        total += 4096 * len(folders)
        for name in names:
            with suppress(OSError):
                total += 4096 + os.lstat(os.path.join(place, name)).st_size
    return total


def _held(process: psutil.Process, kind: str) -> int:
    try:
        return process.memory_info().rss if kind == "rss" else process.memory_full_info().pss
    except psutil.NoSuchProcess:
        return 0
    except psutil.AccessDenied:
        return 0 if kind == "rss" else _held(process, "rss")


def _computed(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:4])  # of the user and the system, and of children that have ended
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0.0
