"""System calls that a kernel in a sandbox is refused: new namespaces, and memory that belongs to no process.

bubblewrap takes the list as a program for the kernel's packet filter (``man 2 seccomp``). A refused call fails with
EPERM, and ``clone3``, whose arguments a filter cannot see, with ENOSYS, upon which the C library takes ``clone``.
"""

import errno
import platform
import struct

__all__ = ["refusals"]

NUMBERS = {
    "x86_64": {
        **{"shmget": 29, "clone": 56, "ptrace": 101, "mount": 165, "add_key": 248, "keyctl": 250, "unshare": 272},
        **{"setns": 308, "memfd_create": 319, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "clone3": 435},
    },
    "aarch64": {
        **{"mount": 40, "unshare": 97, "ptrace": 117, "shmget": 194, "add_key": 217, "keyctl": 219, "clone": 220},
        **{"setns": 268, "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425, "clone3": 435},
    },
}
"""Of the calls, by the machine's architecture."""
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NEW_USER = 0x10000000
OTHER_ABI = 0x40000000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Places in what a filter sees of a call."""


def refusals(machine: str | None = None) -> bytes | None:
    """The filter as bubblewrap reads it; None for an architecture whose numbers are not known here.

    Args:
        machine: the architecture; this machine's if it is left out.
    """
    machine = platform.machine() if machine is None else machine
    if machine not in NUMBERS:
        return None
    numbers = dict(NUMBERS[machine])
    clone, clone3 = numbers.pop("clone"), numbers.pop("clone3")
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, ARCHITECTURES[machine]), (RETURN, 0, 0, KILL)]
    program += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OTHER_ABI), (RETURN, 0, 0, FAIL | errno.ENOSYS)]
    for number in numbers.values():
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL | errno.EPERM)]
    program += [(EQUAL, 0, 1, clone3), (RETURN, 0, 0, FAIL | errno.ENOSYS)]
    program += [(EQUAL, 0, 3, clone), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NEW_USER)]
    program += [(RETURN, 0, 0, FAIL | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
