"""The command lines that start a sandbox: `bwrap` (bubblewrap) or `unshare` (util-linux).

Both show the program the system's libraries and the interpreter's folders, read-only, four
harmless devices and one small throw-away folder. Not shown: homes, the working folder, /etc,
/proc, /sys, /run, /tmp. Both make mount, PID, network, IPC and host name namespaces.

Started as root, the program becomes a powerless user of the machine, a different one for each
sandbox, since the kernel counts processes per user and never limits root's. Started as anyone
else, a user namespace does that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple

from tasks.sandbox_syscalls import syscall_filter

Method = Literal["bwrap", "unshare", "none"]

BOX = "/box"
BOX_BYTES = 64 << 20
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/etc/ld.so.cache")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": BOX,
    "TMPDIR": BOX,
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
#: No site start-up files (`-S`), no user folder (`-s`), no script folder on the path (`-P`).
FLAGS = ("-S", "-s", "-P")
FIRST_USER, USERS = 60_000, 4_000
_turn = count(os.getpid() * 16)


class View(NamedTuple):
    """The part of the machine's files that a program sees."""

    folders: list[str]
    links: list[tuple[str, str]]


def view() -> View:
    """System libraries, the interpreter's folders and its installed packages."""
    folders: list[str] = []
    links: list[tuple[str, str]] = []
    paths = sysconfig.get_paths()
    own = [sys.base_prefix, sys.prefix, sys.base_exec_prefix, paths["purelib"], paths["platlib"]]
    for path in (*SYSTEM, *own, str(Path(interpreter()).parent)):
        if os.path.islink(path) and path in SYSTEM:
            links.append((path, os.readlink(path)))
        elif os.path.exists(path) and not any(
            Path(path).is_relative_to(folder) for folder in folders
        ):
            folders.append(path)
    return View(folders, links)


def interpreter() -> str:
    """The real file of this interpreter, behind a virtual environment's link."""
    return os.path.realpath(sys.executable)


def package_folders() -> list[str]:
    """Where installed packages lie."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"]]))


@cache
def source_of(name: Literal["sandbox_inside.py", "sandbox_runner.py"]) -> str:
    """The source of a script that runs inside."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def user_of_sandbox(method: Method) -> int | None:
    """The user that root's next sandbox becomes, or None where a user namespace does."""
    if method == "none" or os.geteuid() != 0 or not _has_user(FIRST_USER + USERS):
        return None
    return FIRST_USER + next(_turn) % USERS


def _has_user(number: int) -> bool:
    """Whether this process's user namespace knows a user."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = [[int(field) for field in line.split()] for line in lines]
    return any(first <= number < first + length for first, _, length in ranges)


def runner_command() -> list[str]:
    """The command that runs a program, without a sandbox around it."""
    return [interpreter(), *FLAGS, "-c", source_of("sandbox_runner.py")]


def unshare_command(changes_user: bool) -> list[str]:
    """The runner in namespaces made with `unshare`."""
    shown = view()
    plan = {
        "folders": shown.folders,
        "links": shown.links,
        "devices": DEVICES,
        "box": BOX,
        "box_bytes": BOX_BYTES,
        "changes_user": changes_user,
        "filter": (syscall_filter() or b"").hex(),
        "command": runner_command(),
    }
    options = ["--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
    user = [] if changes_user else ["--user", "--map-root-user"]
    inside = [interpreter(), *FLAGS, "-c", source_of("sandbox_inside.py"), json.dumps(plan)]
    return [_found("unshare"), *options, *user, "--", *inside]


def bwrap_command(changes_user: bool, filter_descriptor: int | None) -> list[str]:
    """The runner in namespaces made with bubblewrap."""
    shown = view()
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if changes_user:
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user"]
    for parent in _parents([*shown.folders, *DEVICES]):
        options += ["--dir", parent]
    for folder in shown.folders:
        options += ["--ro-bind", folder, folder]
    for link, target in shown.links:
        options += ["--symlink", target, link]
    for device in DEVICES:
        options += ["--dev-bind", device, device]
    options += _box_options(_found("bwrap"))
    options += ["--remount-ro", "/", "--chdir", BOX]
    if filter_descriptor is not None:
        options += ["--seccomp", str(filter_descriptor)]
    return [_found("bwrap"), *options, "--", *runner_command()]


def _parents(paths: list[str]) -> list[str]:
    """The folders above, outermost first; left to itself, bwrap makes them for root alone."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(above - {"/"})


@cache
def _box_options(bwrap: str) -> tuple[str, ...]:
    """The throw-away folder. A bwrap that cannot limit its size gets one that is read-only."""
    told = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    if "--size" in told.stdout + told.stderr:
        return ("--perms", "0777", "--size", str(BOX_BYTES), "--tmpfs", BOX)
    return ("--dir", BOX)


def _found(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise ValueError(f"{name} is not installed")
    return path
