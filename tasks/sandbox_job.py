"""What a sandbox is asked to do, what it allows, and how that ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Status = Literal["done", "failed", "timeout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use."""

    #: CPU time of one call, and of all calls together with loading (of each process, too).
    call_cpu_s: float = 1.0
    cpu_s: float = 60.0
    #: Time in which no process of the sandbox wants the CPU, and time by the clock.
    idle_s: float = 5.0
    wall_s: float = 300.0
    memory_bytes: int = 2 << 30
    processes: int = 16
    open_files: int = 64
    file_bytes: int = 16 << 20
    output_bytes: int = 64 << 20

    def by_kernel(self) -> dict[str, int]:
        """The limits that the kernel holds each process to."""
        return {
            "AS": self.memory_bytes,
            "CPU": int(self.cpu_s) + 2,
            "NPROC": self.processes,
            "NOFILE": self.open_files,
            "FSIZE": self.file_bytes,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A program with the inputs to call it on; `inputs` is a JSON list of argument lists.

    There is an entry of `line_bytes` for each input: a longer answer is refused unread.
    """

    program: str
    entry_point: str
    inputs: str
    line_bytes: Sequence[int]


class Ending(NamedTuple):
    """How a job ended, after how many accepted answers; `done` if every one came."""

    status: Status
    reason: str
    accepted: int


class SandboxError(RuntimeError):
    """The sandbox itself did not start: no fault of the program."""
