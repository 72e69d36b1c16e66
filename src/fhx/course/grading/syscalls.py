"""System calls that a kernel is refused, among them those by which one could pass something on to the next.

These are memory and queues that belong to no process, and what says which pages of files the system holds,
and lets them go; then new namespaces, and where told network. The list is a program for the kernel's packet filter
(``man 2 seccomp``). A refused call fails with EPERM; or with ENOSYS, upon which programs do without it: the C library
takes ``clone`` for ``clone3``, whose arguments a filter cannot see.

libseccomp would write the program, but its binding cannot be relied on: Debian's serves the system's Python alone, and
those on PyPI need a library that neither bubblewrap nor a slim container brings; without it nothing would be refused.
The names below are those of the kernel's headers.
"""

import errno
import platform
import struct
from dataclasses import dataclass

__all__ = ["refusals"]

BPF_LD_W_ABS = 0x20
"""Load the word at the place ``k`` of what a filter sees of a call."""
BPF_JEQ, BPF_JGE, BPF_JSET = 0x15, 0x35, 0x45
"""Jump by ``jt`` or ``jf`` instructions: is the word ``k``; is it at least ``k``; has it a bit of ``k``?"""
BPF_RET = 0x06
NR, ARCH, ARGS_0 = 0, 4, 16
"""Places in ``struct seccomp_data``: the call's number, the architecture, and the first argument."""
SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
X32_SYSCALL_BIT = 0x40000000
CLONE_NEWUSER = 0x10000000
AF_UNIX = 1


@dataclass(frozen=True)
class Machine:
    """An architecture.

    Attributes:
        audit_arch: its ``AUDIT_ARCH``.
        clone: the number of ``clone``.
        clone3: the number of ``clone3``.
        socket: the number of ``socket``.
        refused: the numbers of the calls that are refused whatever their arguments.
        absent: the same, of those that seem not to be there.
    """

    audit_arch: int
    clone: int
    clone3: int
    socket: int
    refused: dict[str, int]
    absent: dict[str, int]


MACHINES = {
    "x86_64": Machine(
        audit_arch=0xC000003E,
        clone=56,
        clone3=435,
        socket=41,
        refused={
            **{"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240},
            **{
                "ptrace": 101,
                "mount": 165,
                "add_key": 248,
                "request_key": 249,
                "keyctl": 250,
                "unshare": 272,
            },
            **{"setns": 308, "memfd_create": 319, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425},
        },
        absent={
            **{"mincore": 27, "readahead": 187, "io_setup": 206, "fadvise64": 221, "preadv2": 327, "pwritev2": 328},
            **{"cachestat": 451, "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300},
        },
    ),
    "aarch64": Machine(
        audit_arch=0xC00000B7,
        clone=220,
        clone3=435,
        socket=198,
        refused={
            **{"mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194},
            **{
                "mount": 40,
                "unshare": 97,
                "ptrace": 117,
                "add_key": 217,
                "request_key": 218,
                "keyctl": 219,
            },
            **{"setns": 268, "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425},
        },
        absent={
            **{"io_setup": 0, "readahead": 213, "fadvise64": 223, "mincore": 232, "preadv2": 286, "pwritev2": 287},
            **{"cachestat": 451, "inotify_init1": 26, "fanotify_init": 262},
        },
    ),
}
"""By the names that ``platform.machine()`` has for them."""


def refusals(name: str | None = None, network: bool = True) -> bytes | None:
    """The filter as bubblewrap reads it; None for an architecture whose numbers are not known here.

    Args:
        name: of the architecture; by default this machine's.
        network: whether sockets are allowed that are not of this machine alone. Others fail with EOPNOTSUPP, which
            ZeroMQ takes as an answer; upon EPERM it would end the process.
    """
    machine = MACHINES.get(platform.machine() if name is None else name)
    if machine is None:
        return None
    denied, absent = SECCOMP_RET_ERRNO | errno.EPERM, SECCOMP_RET_ERRNO | errno.ENOSYS
    program = [  # (code, jt, jf, k), as in struct sock_filter
        (BPF_LD_W_ABS, 0, 0, ARCH),
        (BPF_JEQ, 1, 0, machine.audit_arch),
        (BPF_RET, 0, 0, SECCOMP_RET_KILL_PROCESS),
        (BPF_LD_W_ABS, 0, 0, NR),
        (BPF_JGE, 0, 1, X32_SYSCALL_BIT),
        (BPF_RET, 0, 0, absent),
    ]
    for number in machine.refused.values():
        program += [(BPF_JEQ, 0, 1, number), (BPF_RET, 0, 0, denied)]
    for number in machine.absent.values():
        program += [(BPF_JEQ, 0, 1, number), (BPF_RET, 0, 0, absent)]
    if not network:
        program += [
            (BPF_JEQ, 0, 4, machine.socket),
            (BPF_LD_W_ABS, 0, 0, ARGS_0),
            (BPF_JEQ, 1, 0, AF_UNIX),
            (BPF_RET, 0, 0, SECCOMP_RET_ERRNO | errno.EOPNOTSUPP),
            (BPF_RET, 0, 0, SECCOMP_RET_ALLOW),
        ]
    program += [
        (BPF_JEQ, 0, 1, machine.clone3),
        (BPF_RET, 0, 0, absent),
        (BPF_JEQ, 0, 3, machine.clone),
        (BPF_LD_W_ABS, 0, 0, ARGS_0),
        (BPF_JSET, 0, 1, CLONE_NEWUSER),
        (BPF_RET, 0, 0, denied),
        (BPF_RET, 0, 0, SECCOMP_RET_ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
