"""Nothing goes from one kernel to the next: no call, no folder and no file on the disk that outlasts its world."""

from contextlib import closing

import pytest

from fhx.course.grading.kernel import Kernel
from fhx.course.grading.launcher import Launcher, Limits

pytestmark = pytest.mark.full

CALLS = """\
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
file, room = os.open("/usr/bin/env", os.O_RDONLY), ctypes.create_string_buffer(4096)

class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

def gives(name, *arguments):
    ctypes.set_errno(0)
    done = getattr(libc, name)(*arguments)
    return errno.errorcode.get(ctypes.get_errno() if done == -1 else done, "done")

part = ctypes.byref(Part(ctypes.addressof(room), 1))
RWF_NOWAIT, O_CREAT = 8, 0o100
"""
REFUSED = {
    "gives('shmget', 0, 4096, 0o1600)": "EPERM",
    "gives('semget', 4711, 1, 0o1600)": "EPERM",
    "gives('msgget', 4711, 0o1600)": "EPERM",
    "gives('mq_open', b'/kept', O_CREAT | os.O_RDWR, 0o600, None)": "EPERM",
    "gives('posix_fadvise', file, ctypes.c_long(0), ctypes.c_long(0), os.POSIX_FADV_DONTNEED)": "ENOSYS",
    "gives('preadv2', file, part, 1, ctypes.c_long(0), RWF_NOWAIT)": "ENOTSUP",  # the C library's word for ENOSYS
    "gives('mincore', ctypes.c_void_p(ctypes.addressof(room) & ~4095), ctypes.c_size_t(1), room)": "ENOSYS",
    "gives('readahead', file, ctypes.c_long(0), ctypes.c_size_t(4096))": "ENOSYS",
    "gives('syscall', 451, file, room, room, 0)": "ENOSYS",  # cachestat
    "gives('inotify_init1', 0)": "ENOSYS",
    "gives('fanotify_init', 0, 0)": "ENOSYS",
}
USUAL = """\
import os, shutil, subprocess
import matplotlib.pyplot as plt, numpy as np, torch
torch.save(torch.ones(3), "a.pt")
assert torch.load("a.pt").sum() == 3
np.save("b.npy", np.ones(3))
assert np.load("b.npy", mmap_mode="r").sum() == 3
plt.plot([1, 2])
plt.savefig("c.png")
shutil.copy("c.png", "d.png")
subprocess.run(["cp", "c.png", "e.png"], check=True)
assert os.preadv(os.open("c.png", os.O_RDONLY), [bytearray(4)], 0) == 4
"""
UNLINKED = """\
import os
os.chdir("/run/k")
kept = open("x", "wb")
os.unlink("x")
kept.write(bytes(2**20))
"""
EMPTY = """\
import os
assert "inputs" not in os.listdir({folder!r})
assert os.statvfs({folder!r}).f_flag & os.ST_RDONLY
"""


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """A folder that is shown but for what is hidden in it, and a folder in that which is hidden too."""
    data = tmp_path_factory.mktemp("data")
    data.chmod(0o755)
    folders = [data / "private", data / "private" / "deep"]
    for folder in folders:
        folder.mkdir()
        (folder / "inputs").touch()
    return folders


@pytest.fixture(scope="module")
def launcher(isolated, hidden):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FHX_DATA", str(hidden[0].parent))
        with Launcher(Limits(), hidden=hidden) as made:
            yield made


@pytest.fixture
def kernel(launcher):
    with closing(Kernel(launcher)) as made:
        yield made


def test_calls_that_pass_something_on_are_refused(kernel):
    assert kernel.run(CALLS, 10) is None
    for call, answer in REFUSED.items():
        assert kernel.run(f"assert {call} == {answer!r}, {call}", 10) is None, call


def test_files_are_read_and_written_as_ever(kernel):
    assert kernel.run(USUAL, 60) is None


@pytest.mark.parametrize("body", ["import os\nos.mkdir('/run/k/d')", UNLINKED])
def test_the_folder_of_the_sockets_takes_no_files(kernel, body):
    name, told = kernel.run(body, 10)
    assert (name, told.partition(":")[0]) == ("OSError", "[Errno 30] Read-only file system")


def test_what_hides_a_folder_keeps_nothing(hidden, kernel):
    for folder in hidden:
        assert kernel.run(EMPTY.format(folder=str(folder)), 10) is None
