"""Following a running sandbox from outside: its answers in order, and its limits.

Limits are of CPU time, not of the clock: on a busy machine a program takes longer, but it doesn't
use more. Time asleep counts apart, only while no process of the sandbox even wants the CPU.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tasks.sandbox_job import Ending, Job, Limits, SandboxError, Status
from tasks.sandbox_values import Answer, read_answer
from tasks.sandbox_watch import usage

POLL_S = 0.05
START_S = 60.0
PIPE_BYTES = 1 << 20
#: Processes of a sandbox that aren't the program's: the launcher and the namespace's first.
LAUNCHERS = 3
READY = b"ready"


class Process(NamedTuple):
    """A started sandbox: its process, and where the launcher's complaints are kept."""

    popen: subprocess.Popen[bytes]
    complaints: int


class Following:
    """One run, followed from outside: answers in order, and the limits."""

    def __init__(
        self,
        process: Process,
        job: Job,
        limits: Limits,
        accept: Callable[[Answer], str | None],
    ) -> None:
        assert process.popen.stdout is not None, "started with a pipe"
        self.process = process
        self.job = job
        self.limits = limits
        self.accept = accept
        self.pipe = process.popen.stdout.fileno()
        self.parts: list[bytes] = []
        self.received_bytes = self.seen_bytes = 0
        self.answered = self.seen_answered = -1
        self.call_began_cpu_s = 0.0
        self.idle_s = 0.0
        self.began = self.looked = time.monotonic()

    def follow(self) -> Ending:
        """Read answers until all are there, one is refused, or a limit is reached."""
        poller = select.poll()
        poller.register(self.pipe, select.POLLIN)
        while True:
            ready = poller.poll(POLL_S * 1000)
            ending = self._read() if ready else None
            now = time.monotonic()
            if ending is None and now - self.looked >= POLL_S:
                ending = self._look(now)
            if ending is not None:
                return ending

    def _read(self) -> Ending | None:
        chunk = os.read(self.pipe, PIPE_BYTES)
        if not chunk:
            if self.answered < 0:
                raise SandboxError(f"the sandbox did not start: {self._complaint()}")
            return self._ending("failed", "the program ended before it answered everything")
        self.received_bytes += len(chunk)
        if self.received_bytes > self.limits.output_bytes:
            return self._ending("failed", "too much output")
        first, *others = chunk.split(b"\n")
        self.parts.append(first)
        for part in others:
            ending = self._take(b"".join(self.parts))
            if ending is not None:
                return ending
            self.parts = [part]
        return None

    def _take(self, line: bytes) -> Ending | None:
        if self.answered < 0:
            if line != READY:
                raise SandboxError(f"the sandbox did not start: it said {line[:200]!r}")
            self.answered = 0
            return None if self.job.line_bytes else self._ending("done")
        if len(line) > self.job.line_bytes[self.answered]:
            return self._ending("failed", "an answer too long to be right")
        try:
            answer = read_answer(line)
        except ValueError:
            return self._ending("failed", "an unreadable answer")
        if answer.error is not None:
            return self._ending("failed", f"it raised {answer.error}")
        if answer.index != self.answered:
            return self._ending("failed", "answers out of order")
        refusal = self.accept(answer)
        if refusal is not None:
            return self._ending("failed", refusal)
        self.answered += 1
        return self._ending("done") if self.answered == len(self.job.line_bytes) else None

    def _look(self, now: float) -> Ending | None:
        """Compare what the sandbox uses with the limits."""
        passed_s = min(now - self.looked, 2 * POLL_S)
        self.looked = now
        if self.answered < 0:
            if now - self.began > START_S:
                raise SandboxError(f"the sandbox did not start within {START_S:.0f} s")
            return None
        used = usage(self.process.popen.pid)
        if self.answered != self.seen_answered:
            self.seen_answered = self.answered
            self.call_began_cpu_s = used.cpu_s
        # Waiting for its answers to be read is no sleep.
        if self.received_bytes == self.seen_bytes and not used.busy:
            self.idle_s += passed_s
        self.seen_bytes = self.received_bytes
        if used.processes > self.limits.processes + LAUNCHERS:
            return self._ending("failed", "too many processes")
        if used.resident_bytes > self.limits.memory_bytes:
            return self._ending("failed", "too much memory")
        if used.cpu_s - self.call_began_cpu_s > self.limits.call_cpu_s:
            return self._ending("timeout", "too much CPU time for one call")
        if used.cpu_s > self.limits.cpu_s:
            return self._ending("timeout", "too much CPU time")
        if self.idle_s > self.limits.idle_s:
            return self._ending("timeout", "asleep for too long")
        if now - self.began > self.limits.wall_s:
            return self._ending("timeout", "too long by the clock")
        return None

    def _ending(self, status: Status, reason: str = "") -> Ending:
        return Ending(status, reason, max(self.answered, 0))

    def _complaint(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self.process.popen.wait(timeout=START_S)
        text = os.pread(self.process.complaints, 2000, 0).decode(errors="replace").split("\n")
        lines = [line.strip() for line in text if line.strip()]
        return lines[-1] if lines else f"exit status {self.process.popen.returncode}"
