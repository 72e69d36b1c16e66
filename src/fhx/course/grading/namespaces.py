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
from fhx._version import shipped
from fhx.course import grading

__all__ = ["HOME", "SCRATCH", "bubble", "isolation_problem", "mounted_inside", "mounts"]

HOME = "/home/student"
SETTINGS = Path("/proc/sys")
"""Of the kernel."""
SCRATCH = ("/tmp", HOME, "/dev/shm")
"""Folders that can be written to."""
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
MORE = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
SHARED = (
    *("inside.py", "forking.py", "copies.py", "sweeping.py", "silent.py"),
    *("wire.py", "wire_plain.py", "wire_tensors.py", "wire_types.py"),
)
"""The modules of this folder that the kernel has."""


def bubble(folder: Path, disk: int, environment: dict[str, str], hidden: Sequence[Path]) -> list[str]:
    """The words before a command that runs it in namespaces of its own.

    Args:
        folder: a temporary one; its ``k`` is seen in there as ``/run/k``, and stubs are made in it.
        disk: bytes of each folder that can be written to.
        environment: all variables.
        hidden: folders that must not be seen.
    """
    words = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--hostname", "kernel", "--clearenv"]
    words += [*_rights(), "--proc", "/proc", "--dev", "/dev"]
    for place in SCRATCH:
        words += ["--perms", "1777", "--size", str(disk), "--tmpfs", place]
    shown = mounts()
    parents = {parent for path in (*shown, Path("/run/k")) for parent in path.parents} - {Path("/"), Path("/tmp")}
    for parent in sorted(parents):
        words += ["--perms", "0755", "--dir", str(parent)]
    for path in shown:
        words += ["--ro-bind", str(path), str(path)]
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    covered = [str(path) for path in hidden if any(mount in path.parents for mount in shown)]
    for place in covered:
        words += ["--tmpfs", place]
    for path, stub in zip((_package() / "exercises", _package() / "course"), _stubs(folder), strict=True):
        words += ["--ro-bind", str(stub), str(path)]
    for fonts in _fonts():
        for place in (f"{HOME}/.cache", f"{HOME}/.cache/matplotlib"):
            words += ["--perms", "0777", "--dir", place]
        words += ["--ro-bind", str(fonts), f"{HOME}/.cache/matplotlib/{fonts.name}"]
    words += ["--bind", str(folder / "k"), "/run/k", "--chdir", HOME]
    for place in (*covered, "/dev", "/"):  # where one kernel could leave something for the next
        words += ["--remount-ro", place]
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


def mounts() -> list[Path]:
    """What Python and the package need, each under its name and where that leads; none inside another."""
    names: list[str | Path] = [
        "/usr",
        *MORE,
        sys.prefix,
        sys.base_prefix,
        _package(),
        shipped(),
        os.environ.get("FHX_DATA") or "/usr",
    ]
    names += [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    places = {place for name in names for place in (Path(os.path.abspath(name)), Path(name).resolve())}
    found: list[Path] = []
    for place in sorted(place for place in places if place.exists()):
        if not any(other in place.parents for other in found):
            found.append(place)
    return found


def mounted_inside(places: Sequence[str]) -> tuple[str, ...]:
    """Of what Python and the package need, the folders that lie inside of some places."""
    return tuple(str(path) for path in mounts() if any(Path(place) in path.parents for place in places))


def _fonts() -> Iterator[Path]:
    """The list of fonts that matplotlib has made, which takes a second."""
    import matplotlib  # slow to import, and for this only

    yield from Path(matplotlib.get_cachedir()).glob("fontlist-*.json")


def _rights() -> list[str]:
    """Those of the launcher, which makes namespaces for each kernel; as root it makes each another user too."""
    if os.getuid() == 0:
        return ["--cap-drop", "ALL", *_granted("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP")]
    return ["--unshare-user", "--uid", "1000", "--gid", "1000", *_granted("SYS_ADMIN", "SETPCAP")]


def _granted(*names: str) -> list[str]:
    return [word for name in names for word in ("--cap-add", f"CAP_{name}")]


def isolation_problem() -> str | None:
    """Why no sandbox can be made here, and what helps; None if it can."""
    if sys.platform != "linux":
        return "it takes Linux; on Windows work inside WSL, on a Mac in a virtual machine"
    if shutil.which("bwrap") is None:
        return "bubblewrap is missing; install Debian's or Fedora's package 'bubblewrap'"
    words = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", *_rights(), "--ro-bind", "/", "/"]
    words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", "4096", "--tmpfs", "/dev/shm", "--"]
    code = "import sys; from fhx.course.grading.forking import world_problem; sys.exit(world_problem() or 0)"
    try:
        done = subprocess.run(
            [*words, sys.executable, "-P", "-c", code], cwd="/", capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run ({error})"
    if done.returncode == 0:
        return None
    said = done.stderr.strip()
    return f"bubblewrap cannot make its namespaces ({said[-300:]}); {_what_helps()}"


def _what_helps() -> str:
    """What to run, for the reasons that are known."""
    switches = {
        "kernel/apparmor_restrict_unprivileged_userns": ("1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
        "user/max_user_namespaces": ("0", "user.max_user_namespaces=10000"),
    }
    if os.getuid() != 0:
        for name, (closed, setting) in switches.items():
            path = SETTINGS / name
            if path.exists() and path.read_text().strip() == closed:
                return f"this system does not let users make them until the next start after: sudo sysctl -w {setting}"
    return "in a container, start it with --privileged, or on the host itself work outside of containers"
