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
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["Job", "main", "world_problem"]

LOADED = (
    *("matplotlib.pyplot", "networkx", "numpy", "scipy.cluster.hierarchy", "scipy.linalg", "scipy.stats", "torch"),
    *("fhx.cells", "fhx.compile", "fhx.dynamics", "fhx.exact", "fhx.machines", "fhx.stability", "fhx.tasks"),
    *("fhx.figures", "fhx.course.grading.inside", "fhx.course.grading.silent"),
    *("ipykernel.ipkernel", "ipykernel.kernelapp"),
)
"""What notebooks import, and what a kernel needs."""

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x08000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 22, 38, 24
SECCOMP_MODE_FILTER, CAPABILITY_VERSION_3, LAST_CAPABILITY = 2, 0x20080522, 63
SIGKILL = 9
EVERYBODYS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")
"""Folders that every user may write to."""


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
            _never_return(lambda job=job: _first(job))
        print("begun", file=answers)
        status = os.waitpid(child, 0)[1]
        print(f"ended {os.waitstatus_to_exitcode(status)}", file=answers)


def _never_return(act: Any) -> None:
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


def _first(job: Job) -> int:
    """A world for the kernel, made by a process that stays outside of it and waits."""
    _end_with_parent()
    os.closerange(3, 4096)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    if not job.isolated:
        os.setsid()
        status = _waited(lambda: _become(job, f"{job.shared}/{job.folder}"))
        if job.uid >= 0:
            _sweep(job.uid)
        return status
    _make_world(job.scratch, job.size, (f"{job.shared}/{job.folder}", job.shared), job.kept)
    return _waited(lambda: _init(job))


def _waited(act: Callable[[], Any]) -> int:
    """The exit status of a copy of this process that does something."""
    child = os.fork()
    if not child:
        _never_return(act)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF


def _end_with_parent() -> None:
    if sys.platform == "linux":
        _call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def _sweep(uid: int) -> None:
    """End all processes of a user at once, and remove the user's files in folders that are everybody's."""

    def kill() -> None:
        os.setgid(uid)
        os.setuid(uid)
        os.kill(-1, SIGKILL)  # all but this one

    _waited(kill)
    for place in filter(os.path.isdir, EVERYBODYS):
        subprocess.run(["find", place, "-xdev", "-user", str(uid), "-delete"], stderr=subprocess.DEVNULL)


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


def _init(job: Job) -> int:
    """The first process of the kernel's world: with it everything in there ends."""
    _end_with_parent()
    try:
        _call("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    except OSError:  # refused in some containers; what is there shows processes outside of this world, and goes
        _call("mount", b"tmpfs", b"/proc", b"tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, b"mode=555")
    kernel = os.fork()
    if not kernel:
        _never_return(lambda: _become(job, job.shared))
    while True:
        child, status = os.wait()
        if child == kernel:
            return os.waitstatus_to_exitcode(status) & 0xFF


def _become(job: Job, folder: str) -> None:
    """Give up all rights, and be a kernel."""
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
    log = os.open(f"{folder}/log", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.dup2(log, 2)
    os.close(log)
    if job.refusals:
        _refuse(base64.b64decode(job.refusals))
    import fhx.course.grading.inside as inside  # loaded long ago

    inside.main(f"{folder}/c.json")


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
    child = os.fork()
    if not child:
        _never_return(lambda: _make_world(("/dev/shm",), 4096))
    return None if os.waitpid(child, 0)[1] == 0 else "no namespaces inside of namespaces"
