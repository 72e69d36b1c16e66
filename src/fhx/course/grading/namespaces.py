"""The namespaces of a sandbox, which bubblewrap makes: what is mounted there, and where.

Only what Python and the package need is there, read-only, and over the exercises and the grader lie stubs.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import fhx
from fhx.course import grading

__all__ = ["HOME", "bubble", "isolation_problem"]

HOME = "/home/student"
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
MORE = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
SHARED = ("inside.py", "silent.py", "wire.py", "wire_plain.py", "wire_types.py")
"""The modules of this folder that the kernel has."""


def bubble(
    folder: Path, uid: int, disk: int, environment: dict[str, str], hidden: Sequence[Path], refusals: int | None = None
) -> list[str]:
    """The words before a command that runs it in namespaces of its own.

    Args:
        folder: a temporary one; its ``k`` is seen in there as ``/run/k``, and stubs are made in it.
        uid: the user that the command becomes, by itself, from root; -1 if we are not root.
        disk: bytes of each folder that can be written to.
        environment: all variables.
        hidden: folders that must not be seen.
        refusals: an open file with the system calls that are refused.
    """
    words = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--hostname", "kernel", "--clearenv"]
    if uid >= 0:
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in ("/tmp", HOME, "/dev/shm"):
        words += ["--perms", "1777", "--size", str(disk), "--tmpfs", place]
    mounts = _mounts()
    parents = {parent for path in (*mounts, Path("/run/k")) for parent in path.parents} - {Path("/"), Path("/tmp")}
    for parent in sorted(parents):
        words += ["--perms", "0755", "--dir", str(parent)]
    for path in mounts:
        words += ["--ro-bind", str(path), str(path)]
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for path in hidden:
        if any(mount in path.parents for mount in mounts):
            words += ["--tmpfs", str(path)]
    for path, stub in zip((_package() / "exercises", _package() / "course"), _stubs(folder), strict=True):
        words += ["--ro-bind", str(stub), str(path)]
    for fonts in _fonts():
        for place in (f"{HOME}/.cache", f"{HOME}/.cache/matplotlib"):
            words += ["--perms", "0777", "--dir", place]
        words += ["--ro-bind", str(fonts), f"{HOME}/.cache/matplotlib/{fonts.name}"]
    words += ["--bind", str(folder / "k"), "/run/k", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    words += [] if refusals is None else ["--seccomp", str(refusals)]
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return [*words, "--"]


def _stubs(folder: Path) -> tuple[Path, Path]:
    """Folders to lie over the exercises and over the grader."""
    here, exercises, course = Path(grading.__file__).parent, folder / "exercises", folder / "course"
    if not exercises.exists():
        exercises.mkdir(mode=0o755)
        (course / "grading").mkdir(mode=0o755, parents=True)
        shutil.copy(here / "stub.py", exercises / "__init__.py")
        for path in (course / "__init__.py", course / "grading" / "__init__.py"):
            path.touch()
        for name in SHARED:
            shutil.copy(here / name, course / "grading" / name)
    return exercises, course


def _package() -> Path:
    return Path(os.path.abspath(fhx.__file__)).parent


def _mounts() -> list[Path]:
    """What Python and the package need, each under its name and where that leads; none inside another."""
    names: list[str | Path] = [
        "/usr",
        *MORE,
        sys.prefix,
        sys.base_prefix,
        _package(),
        os.environ.get("FHX_DATA") or "/usr",
    ]
    names += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    places = {place for name in names for place in (Path(os.path.abspath(name)), Path(name).resolve())}
    found: list[Path] = []
    for place in sorted(place for place in places if place.exists()):
        if not any(other in place.parents for other in found):
            found.append(place)
    return found


def _fonts() -> Iterator[Path]:
    """The list of fonts that matplotlib has made, which takes a second."""
    import matplotlib  # slow to import, and for this only

    yield from Path(matplotlib.get_cachedir()).glob("fontlist-*.json")


def isolation_problem() -> str | None:
    """Why no sandbox can be made here; None if it can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing (Debian's and Fedora's package 'bubblewrap')"
    words = ["bwrap", "--unshare-pid", "--unshare-net", *([] if os.getuid() == 0 else ["--unshare-user"])]
    words += [
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--perms",
        "1777",
        "--size",
        "4096",
        "--tmpfs",
        "/tmp",
        "--",
        "true",
    ]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run ({error})"
    return None if done.returncode == 0 else f"bubblewrap cannot make its namespaces ({done.stderr.strip()[:300]})"
