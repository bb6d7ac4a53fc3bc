"""The kernel calls that no test program needs, refused by a filter (seccomp, classic BPF).

A second wall behind the namespaces: no tracing, no namespaces or mounts of its own, no memory that
outlives its process, and no sockets but Unix ones (a machine's virtual sockets, for one, do not
heed network namespaces).
"""

from __future__ import annotations

import platform
import struct
from typing import NamedTuple

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
NUMBER_AT, MACHINE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
NEW_NAMESPACES = 0x7E020000
UNIX_SOCKETS = 1
#: Calls from 424 on have one number on all machines.
NEWER = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "memfd_secret": 447,
}
CLONE3 = 435


class Machine(NamedTuple):
    """A machine's mark in the filter's view, its numbers, and the first foreign number."""

    mark: int
    clone: int
    socket: int
    refused: tuple[int, ...]
    foreign_from: int | None


#: shmget shmat semget msgget clone ptrace pivot_root chroot mount umount2 swapon swapoff reboot
#: init_module delete_module mq_open kexec_load add_key request_key keyctl unshare
#: perf_event_open name_to_handle_at open_by_handle_at setns process_vm_readv process_vm_writev
#: kcmp finit_module memfd_create kexec_file_load bpf userfaultfd, in this order of x86_64.
MACHINES = {
    "x86_64": Machine(
        mark=0xC000003E,
        clone=56,
        socket=41,
        refused=(
            *(29, 30, 64, 68, 101, 155, 161, 165, 166, 167, 168, 169, 175, 176, 240, 246, 248),
            *(249, 250, 272, 298, 303, 304, 308, 310, 311, 312, 313, 319, 320, 321, 323),
        ),
        foreign_from=0x40000000,
    ),
    "aarch64": Machine(
        mark=0xC00000B7,
        clone=220,
        socket=198,
        refused=(
            *(194, 196, 190, 186, 117, 41, 51, 40, 39, 224, 225, 142, 105, 106, 180, 104, 217),
            *(218, 219, 97, 241, 264, 265, 268, 270, 271, 272, 273, 279, 294, 280, 282),
        ),
        foreign_from=None,
    ),
}


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(number: int, error: int = EPERM) -> bytes:
    return _step(EQUAL, number, 0, 1) + _step(RETURN, REFUSE | error)


def syscall_filter(machine: str | None = None) -> bytes | None:
    """The filter for a machine (this one by default), or None where its numbers are unknown."""
    known = MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    steps = [
        _step(LOAD, MACHINE_AT),
        _step(EQUAL, known.mark, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_AT),
    ]
    if known.foreign_from is not None:
        steps += [_step(AT_LEAST, known.foreign_from, 0, 1), _step(RETURN, KILL)]
    steps += [_refuse(number) for number in (*known.refused, *NEWER.values())]
    steps += [
        _refuse(CLONE3, ENOSYS),
        _step(EQUAL, known.clone, 0, 3),
        _step(LOAD, FIRST_ARGUMENT_AT),
        _step(ANY_BIT, NEW_NAMESPACES, 0, 5),
        _step(RETURN, REFUSE | EPERM),
        _step(EQUAL, known.socket, 0, 3),
        _step(LOAD, FIRST_ARGUMENT_AT),
        _step(EQUAL, UNIX_SOCKETS, 1, 0),
        _step(RETURN, REFUSE | EPERM),
        _step(RETURN, ALLOW),
    ]
    return b"".join(steps)
