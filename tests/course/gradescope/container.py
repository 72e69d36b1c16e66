"""A folder laid out as Gradescope's containers are, in which root has what Docker leaves of its rights."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

KEPT = (
    *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP"),
    *("NET_BIND_SERVICE", "NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"),
)
"""Docker's default capabilities: no namespaces can be made with them."""
PACKAGES = sysconfig.get_path("purelib")
FOLDERS = ("autograder", "opt", "tmp")


class Container:
    """A container, whose folders stay from one command to the next.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in FOLDERS:
            (folder / name).mkdir()
        (folder / "tmp").chmod(0o1777)
        for name in ("source", "submission", "results"):
            (folder / "autograder" / name).mkdir()
        (folder / "opt" / "packages").mkdir()
        for path in Path(PACKAGES).iterdir():
            if "fhx" not in path.name:
                (folder / "opt" / "packages" / path.name).symlink_to(path)

    @property
    def autograder(self) -> Path:
        return self._folder / "autograder"

    def unpack(self, archive: Path) -> None:
        """Do with an archive what Gradescope does, except to run it."""
        with zipfile.ZipFile(archive) as source:
            for entry in source.infolist():
                path = Path(source.extract(entry, self.autograder / "source"))
                path.chmod(entry.external_attr >> 16 & 0o777)
        shutil.copy(self.autograder / "source" / "run_autograder", self.autograder)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in ``/autograder``, without network, with this Python on the path.

        Its packages, but for the one under test, are in ``/opt/packages``, where Python and pip find them.
        """
        words = ["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--clearenv"]
        words += ["--cap-drop", "ALL", *(word for name in KEPT for word in ("--cap-add", f"CAP_{name}"))]
        for place in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"):
            if os.path.islink(place):
                words += ["--symlink", os.readlink(place), place]
            elif os.path.isdir(place):
                words += ["--ro-bind", place, place]
        words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"]
        for name in FOLDERS:
            words += ["--bind", str(self._folder / name), f"/{name}"]
        for place in map(Path, {sys.base_prefix, PACKAGES} - {"/usr"}):
            for parent in reversed(place.parents[:-1]):
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", str(place), str(place)]
        environment = {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "PYTHONPATH": "/opt/packages", "HOME": "/root"}
        environment |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        for name, value in environment.items():
            words += ["--setenv", name, value]
        words += ["--chdir", "/autograder", "--", *command]
        return subprocess.run(words, capture_output=True, text=True, timeout=600)
