"""The first process of a sandbox made with `unshare`: builds its file system, then runs the rest.

It is process 1 of namespaces of its own. It sees to it that only the listed folders exist, read
only, with one small throw-away folder, gives up what root may do, and starts the runner as a
child under the call filter. It stays behind as the parent that reaps what the program leaves; its
end is the end of every process in the sandbox. Standard library only: the source is handed to a
bare interpreter, with one argument, the plan as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

NOSUID, NODEV, NOEXEC, BIND, MOVE_NOTHING, RECURSIVE = 2, 4, 8, 4096, 0, 16384
SET_READ_ONLY, SET_NOSUID, SET_NODEV, AT_RECURSIVE, AT_CWD = 1, 2, 4, 0x8000, -100
MOUNT_SETATTR = 442
DETACH = 2
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 4, 22, 24, 38
FILTER_MODE = 2
CAPABILITIES = 64
KEPT_BY_ROOT = (6, 7)
#: Any folder would do that exists and is listed in no plan: the new file system grows here.
GROUND = "/proc"

libc = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """`struct mount_attr`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


class Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def mount_tmpfs(target: str, options: str) -> None:
    flags = NOSUID | NODEV
    check(libc.mount(b"tmpfs", target.encode(), b"tmpfs", flags, options.encode()), target)


def seal(target: str, recursive: bool) -> None:
    """Make a mount read-only, with the mounts below it."""
    wanted = Attributes(SET_READ_ONLY | SET_NOSUID | SET_NODEV, 0, 0, 0)
    where = AT_RECURSIVE if recursive else 0
    size = ctypes.sizeof(wanted)
    path = target.encode()
    check(libc.syscall(MOUNT_SETATTR, AT_CWD, path, where, ctypes.byref(wanted), size), target)


def bind(source: str) -> str:
    """Show a file or folder of the machine at the same place of the new file system."""
    target = GROUND + source
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    check(libc.mount(source.encode(), target.encode(), None, BIND | RECURSIVE, None), source)
    return target


def build(plan: dict[str, Any]) -> None:
    """The new file system, and nothing of the old one."""
    mount_tmpfs(GROUND, "size=1m,mode=0755")
    for source in plan["folders"]:
        seal(bind(source), recursive=True)
    for link, target in plan["links"]:
        os.symlink(target, GROUND + link)
    for device in plan["devices"]:
        bind(device)
    box = GROUND + plan["box"]
    os.makedirs(box, exist_ok=True)
    mount_tmpfs(box, f"size={plan['box_bytes']},nr_inodes=4096,mode=0777")
    os.chdir(GROUND)
    check(libc.pivot_root(b".", b"."), "pivot_root")
    check(libc.umount2(b".", DETACH), "umount")
    os.chdir("/")
    seal("/", recursive=False)
    os.chdir(plan["box"])


def give_up(kept: tuple[int, ...], steps: bytes) -> None:
    """Lose all powers but those kept, across the coming exec, and take on the call filter."""
    for capability in range(CAPABILITIES):
        if capability not in kept:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if steps:
        program = Program(len(steps) // 8, steps)
        check(libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program)), "seccomp")


def main() -> None:
    plan = json.loads(sys.argv[1])
    build(plan)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    child = os.fork()
    if child == 0:
        give_up(KEPT_BY_ROOT if plan["changes_user"] else (), bytes.fromhex(plan["filter"]))
        os.execv(plan["command"][0], plan["command"])
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    while os.wait()[0] != child:
        pass


if __name__ == "__main__":
    main()
