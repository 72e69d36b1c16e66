"""The process in a sandbox that has everything loaded, and makes kernels: each is a copy of it in a world of its own.

No student's code runs in this process. A kernel gets namespaces that end with it, so that nothing is left for the next
one: no process, no file, no memory. It gives up all rights before it becomes a kernel.
"""

import base64
import ctypes
import gc
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from fhx.course.grading.copies import never_return, waited
from fhx.course.grading.sweeping import sweep

__all__ = ["Job", "main", "world_problem"]

LOADED = (
    *("matplotlib.pyplot", "networkx", "numpy", "scipy.cluster.hierarchy", "scipy.linalg", "torch"),
    *("fhx.cells", "fhx.compile", "fhx.dynamics", "fhx.exact", "fhx.machines", "fhx.stability", "fhx.tasks"),
    *("fhx.figures", "fhx.course.grading.inside", "fhx.course.grading.silent", "fhx.course.grading.wire_tensors"),
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.debugger", "tornado.platform.asyncio"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect", "IPython.extensions.storemagic"),
)
"""What notebooks import, and what a kernel needs, also what it would import only when it starts."""

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 22, 38, 24
SECCOMP_MODE_FILTER, CAPABILITY_VERSION_3, LAST_CAPABILITY = 2, 0x20080522, 63
SOCKETS, BOUND = 5, 10.0
"""Of a kernel, and seconds until they are there."""


@dataclass(frozen=True)
class Job:
    """What a kernel is started with.

    Attributes:
        folder: the name of its folder in the shared one.
        shared: the shared folder, as it is seen in here; the kernel sees its own in its place.
        home: where it starts.
        scratch: folders that it may write to, each empty.
        size: bytes of each.
        kept: folders inside of these that are seen nevertheless, where Python or the package lies there.
        uid: the user that it becomes; -1 to stay. Without namespaces, whatever that user leaves is removed.
        guard: the user that ends that user's processes.
        limits: the largest value of each resource, by the end of its name, such as ``AS``.
        refusals: the program of system calls that are refused, to base 64; none if empty.
        isolated: whether in namespaces.
    """

    folder: str
    shared: str
    home: str
    scratch: tuple[str, ...]
    size: int
    kept: tuple[str, ...]
    uid: int
    guard: int
    limits: dict[str, int]
    refusals: str
    isolated: bool


def main() -> None:
    """Load everything, say so, and then make a kernel for each line that comes, one after the other."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for module in LOADED:
        import_module(module)
    gc.collect()
    gc.freeze()  # what is loaded is not looked at again, and so stays shared between this process and its copies
    print("ready", file=answers)
    for line in sys.stdin:
        job = Job(**json.loads(line))
        sys.stdout.flush()
        child = os.fork()
        if not child:
            never_return(partial(_first, job))
        print("begun", file=answers)
        status = os.waitpid(child, 0)[1]
        print(f"ended {os.waitstatus_to_exitcode(status)}", file=answers)


def _first(job: Job) -> int:
    """A world for the kernel, made by a process that stays outside of it and waits."""
    _end_with_parent()
    os.closerange(3, 4096)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    folder = f"{job.shared}/{job.folder}"
    place = os.open(folder, os.O_RDONLY if sys.platform != "linux" else os.O_PATH)  # to write to when it is read-only
    if not job.isolated:
        os.setsid()
        status = waited(lambda: _become(job, folder, place, lambda: None))
        if job.uid >= 0:
            sweep(job.uid, job.guard)
        return status
    _make_world(job.scratch, job.size, (folder, job.shared), job.kept)
    return waited(lambda: _init(job, place))


def _end_with_parent() -> None:
    if sys.platform == "linux":
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _make_world(
    scratch: Sequence[str], size: int, shared: tuple[str, str] | None = None, kept: Sequence[str] = ()
) -> None:
    """Namespaces with empty folders but for what is kept in them, and with one folder in the place of another."""
    _call("unshare", CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    open_ = {path: os.open(path, os.O_PATH) for path in kept}
    if shared is not None:
        _call("mount", *map(os.fsencode, shared), None, MS_BIND, None)
    for place in scratch:
        _call("mount", b"tmpfs", place.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, f"size={size},mode=1777".encode())
    for path, folder in open_.items():  # with all that is mounted over parts of it, and as read-only as it was
        os.makedirs(path)
        _call("mount", f"/proc/self/fd/{folder}".encode(), os.fsencode(path), None, MS_BIND | MS_REC, None)
        os.close(folder)


def _init(job: Job, place: int) -> int:
    """The first process of the kernel's world: with it everything in there ends.

    Once the kernel has made its sockets, the folder that it shares with the grader becomes read-only: students' code
    can write only where its world has an end, and a size.
    """
    _end_with_parent()
    try:
        _call("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    except OSError:  # refused in some containers; what is there shows processes outside of this world, and goes
        _call("mount", b"tmpfs", b"/proc", b"tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, b"mode=555")
    ours, theirs = socket.socketpair()

    def ready() -> None:
        _wait_for_sockets(job.shared)
        theirs.sendall(b"?")
        if not theirs.recv(1):
            raise OSError(f"{job.shared} does not become read-only")
        theirs.close()

    kernel = os.fork()
    if not kernel:
        ours.close()
        never_return(lambda: _become(job, job.shared, place, ready))
    theirs.close()
    os.close(place)
    if ours.recv(1):
        _seal(job.shared)
        ours.sendall(b"!")
    ours.close()
    while True:
        child, status = os.wait()
        if child == kernel:
            return os.waitstatus_to_exitcode(status) & 0xFF


def _wait_for_sockets(folder: str) -> None:
    """That of the heartbeat is made by a thread."""
    deadline = time.monotonic() + BOUND
    while sum(name.startswith("s-") for name in os.listdir(folder)) < SOCKETS:
        if time.monotonic() > deadline:
            raise OSError("a kernel has made too few sockets")
        time.sleep(0.002)


def _seal(folder: str) -> None:
    """Make what is mounted there read-only, in this world."""
    kept = os.statvfs(folder).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _call("mount", None, os.fsencode(folder), None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, None)


def _become(job: Job, folder: str, place: int, ready: Callable[[], None]) -> None:
    """Give up all rights, and be a kernel.

    Args:
        job: what it is started with.
        folder: its own.
        place: the same as an open file.
        ready: called before it listens.
    """
    _end_with_parent()
    os.environ["HOME"] = job.home
    os.chdir(job.home)  # the folder of this name in the new world
    for name, most in job.limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    if job.isolated or job.uid >= 0:
        _give_up(job.uid)
        _end_with_parent()  # which another user has to ask for again
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=place)
    os.dup2(log, 2)
    os.close(log)
    os.close(place)
    if job.refusals:
        _refuse(base64.b64decode(job.refusals))
    import fhx.course.grading.inside as inside  # loaded long ago

    inside.main(f"{folder}/c.json", ready)


def _give_up(uid: int) -> None:
    """No capability is left, now or after starting another program."""
    for capability in range(LAST_CAPABILITY + 1):
        if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            break
    if uid >= 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _call("capset", header, none)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _refuse(program: bytes) -> None:
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    filtered = _Program(len(program) // 8, program)
    _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filtered), 0, 0)


def _call(name: str, *arguments: Any) -> None:
    """A function of the C library.

    Raises:
        OSError: it failed.
    """
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def world_problem() -> str | None:
    """Why no world can be made inside of namespaces; None if one can."""

    def make() -> None:
        _make_world(("/dev/shm",), 4096)
        _seal("/dev/shm")

    return None if waited(make) == 0 else "no namespaces inside of namespaces"
