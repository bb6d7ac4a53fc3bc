"""Facts for a run's manifest: software, hardware, where the code stood, and how much of the
machine other programs took."""

import os
import platform
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from results.measured import NOISY_LOAD

PACKAGES = ("sdlm-bench", "torch", "transformers", "tokenizers", "safetensors", "numpy", "ray")
CODE = ("decoders", "harness", "results", "sdlm", "tasks", "pyproject.toml")
SAMPLE_S = 0.3
_STAT = Path("/proc/stat")
# Of a core's line: user, nice, system, idle, iowait, irq, softirq, steal. Time that the host gave
# to other machines (steal) was taken by others as well.
_BUSY = (0, 1, 2, 5, 6, 7)
_PROCESSES = Path("/proc")
# Of a process's line, after its name: user and system time, its own and of its ended children.
_USED = slice(11, 15)


def software() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "git_commit": git_commit(),
    }


def hardware(device: str) -> dict[str, Any]:
    """The machine, and how much of it torch may use."""
    facts: dict[str, Any] = {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": len(usable_cores()),
        "threads": torch.get_num_threads(),
        "memory_bytes": memory_bytes(),
    }
    if device.startswith("cuda"):
        facts["gpu"] = torch.cuda.get_device_name(device)
        facts["cuda"] = torch.version.cuda
    return facts


def memory_bytes() -> int:
    """All the memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def usable_cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def invocation(arguments: list[str]) -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "arguments": arguments,
        "load_average": round(os.getloadavg()[0], 2),
    }


class LoadMeter:
    """How much of the usable cores others take, from when it is made.

    Two programs that each use all cores can slow each other tenfold. What this process and those
    that it has started do meanwhile doesn't count.
    """

    def __init__(self) -> None:
        self._began_s = time.perf_counter()
        self._busy_s, self._own_s = _busy_s(), _own_s()

    @property
    def ready(self) -> bool:
        """Whether `share` would not wait."""
        return time.perf_counter() - self._began_s >= SAMPLE_S

    def share(self) -> float | None:
        """The share, within 0-1, of the usable cores that others took; None where it can't be
        read. Waits until SAMPLE_S have passed."""
        time.sleep(max(0.0, self._began_s + SAMPLE_S - time.perf_counter()))
        busy_s, own_s = _busy_s(), _own_s()
        if busy_s is None or self._busy_s is None:
            return None
        whole_s = (time.perf_counter() - self._began_s) * len(usable_cores())
        others_s = (busy_s - self._busy_s) - (own_s - self._own_s)
        return round(min(1.0, max(0.0, others_s / whole_s)), 3)


def load_warning(share: float | None) -> str | None:
    """What to say of a share of the cores that is worth a word."""
    if share is None or share <= NOISY_LOAD:
        return None
    cores = len(usable_cores())
    return (
        f"other programs take {share * cores:.1f} of {cores} usable cores ({share:.0%}): times"
        " will suffer; end them, or measure later"
    )


def git_commit() -> str | None:
    """Commit of the code that runs, with `+` if it was changed since; None outside a checkout."""
    here = Path(__file__).resolve().parent
    try:
        # An installed copy can lie inside another project's checkout.
        if Path(_git(here, "rev-parse", "--show-toplevel")) != here.parent:
            return None
        commit = _git(here, "rev-parse", "HEAD")
        # Not of what users lay beside the packages: environments, data, figures.
        changed = _git(here.parent, "status", "--porcelain", "--", *CODE)
        return commit + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return names[0].strip() if names else platform.processor()


def _busy_s() -> float | None:
    """Seconds that the usable cores have been busy, by anyone; None where nobody says."""
    names = {f"cpu{core}" for core in usable_cores()}
    ticks = 0
    for line in _text(_STAT).splitlines():
        name, *counts = line.split()
        if name in names:
            ticks += sum(int(counts[place]) for place in _BUSY)
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else None


def _own_s() -> float:
    """Seconds of this process, its children that have ended, and all that live below it."""
    used = os.times()
    ticks = 0
    for process in _below("self"):
        # Behind its name, in brackets, which may hold anything.
        fields = _text(_PROCESSES / process / "stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[_USED]))
    ended_s = used.user + used.system + used.children_user + used.children_system
    return ended_s + ticks / os.sysconf("SC_CLK_TCK")


def _below(process: str) -> Iterator[str]:
    """The processes that one has started, and those that they have; none where nobody says."""
    for thread in (_PROCESSES / process / "task").glob("*/children"):
        for child in _text(thread).split():
            yield child
            yield from _below(child)


def _text(path: Path) -> str:
    """Nothing where there is no such file, as of a process that has just ended."""
    try:
        # A process's name may be any bytes.
        return path.read_text(errors="replace")
    except OSError:
        return ""
