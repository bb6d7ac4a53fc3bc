"""Watching the processes of a sandbox from outside, by what the kernel says of them in /proc."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process: its parent, state letter, CPU time with reaped children's, and memory."""

    pid: int
    parent: int
    state: str
    cpu_s: float
    resident_bytes: int


class Usage(NamedTuple):
    """What all processes of a sandbox use together."""

    cpu_s: float
    resident_bytes: int
    processes: int
    busy: bool
    """Some process wants the CPU or the disk, whether or not it gets it."""


def read_process(pid: int) -> Process | None:
    """A process, or None where there is none (any more)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    cpu_s = sum(int(field) for field in fields[11:15]) / TICKS
    return Process(pid, int(fields[1]), fields[0], cpu_s, int(fields[21]) * PAGE_BYTES)


def family(pid: int) -> list[Process]:
    """A process with all its descendants, found in one look at the process table.

    Numbers are given in rising order, so descendants have higher ones, unless they have started
    over since; then all are looked at.
    """
    started_over = int(Path("/proc/loadavg").read_text().split()[-1]) < pid
    by_parent: dict[int, list[Process]] = {}
    found: list[Process] = []
    for name in os.listdir("/proc"):
        if not name.isdecimal() or (int(name) < pid and not started_over):
            continue
        process = read_process(int(name))
        if process is not None:
            by_parent.setdefault(process.parent, []).append(process)
            if process.pid == pid:
                found.append(process)
    for process in found:
        found.extend(by_parent.get(process.pid, []))
    return found


def usage(pid: int) -> Usage:
    """What a process and its descendants use."""
    members = family(pid)
    return Usage(
        sum(member.cpu_s for member in members),
        sum(member.resident_bytes for member in members),
        len(members),
        any(member.state in "RD" for member in members),
    )


def end(pid: int) -> None:
    """Kill the leader of a process group, the group, and all descendants wherever they hid."""
    members = family(pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    for member in members:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member.pid, signal.SIGKILL)
