"""Running generated programs, which are hostile: contained, limited, and never trusted.

A job is a program, the name of its entry point and a list of inputs. The program runs in a
sandbox of its own (`sandbox_command.py`) and sends outputs back as data (`sandbox_runner.py`).
Whoever asked gets each output as a plain value and decides about it out here; what the
program should have answered is never told to it, so there is no verdict it could write.

Limits are of CPU time, so that a busy machine fails no program (`sandbox_follow.py`).

Not covered: faults of the kernel itself, and what a program learns from timing. Memory is limited
per process by the kernel, and over all processes by a look every twentieth of a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass

from tasks.sandbox_command import (
    ENVIRONMENT,
    Method,
    bwrap_command,
    package_folders,
    runner_command,
    unshare_command,
    user_of_sandbox,
)
from tasks.sandbox_follow import PIPE_BYTES, Following, Process
from tasks.sandbox_job import Ending, Job, Limits, SandboxError
from tasks.sandbox_syscalls import syscall_filter
from tasks.sandbox_values import Answer
from tasks.sandbox_watch import end

METHODS: tuple[Method, ...] = ("bwrap", "unshare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """A way to run programs that is known to work here."""

    method: Method

    def run(self, job: Job, limits: Limits, accept: Callable[[Answer], str | None]) -> Ending:
        """Run a job; `accept` gets each answer and says what is wrong with it, or None.

        The first answer that is refused ends the job, and so does an error of the program.
        """
        with self._started(job, limits) as process:
            return Following(process, job, limits, accept).follow()

    @contextlib.contextmanager
    def _started(self, job: Job, limits: Limits) -> Generator[Process]:
        uid = user_of_sandbox(self.method)
        settings = {
            "program": job.program,
            "entry_point": job.entry_point,
            "uid": uid,
            "limits": limits.by_kernel(),
            "path": package_folders(),
        }
        with contextlib.ExitStack() as stack:
            payload = _memory_file(stack, f"{json.dumps(settings)}\n{job.inputs}\n".encode())
            complaints = _memory_file(stack, b"")
            steps = syscall_filter()
            kept = () if steps is None else (_memory_file(stack, steps),)
            folder = stack.enter_context(_throw_away(self.method))
            popen = subprocess.Popen(
                self._command(uid is not None, *kept),
                stdin=payload,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=ENVIRONMENT | {"HOME": folder, "TMPDIR": folder} if folder else ENVIRONMENT,
                cwd=folder or "/",
                pipesize=PIPE_BYTES,
                pass_fds=kept,
                start_new_session=True,
            )
            try:
                yield Process(popen, complaints)
            finally:
                _finish(popen)

    def _command(self, changes_user: bool, filter_descriptor: int | None = None) -> list[str]:
        if self.method == "bwrap":
            return bwrap_command(changes_user, filter_descriptor)
        if self.method == "unshare":
            return unshare_command(changes_user)
        return runner_command()


@contextlib.contextmanager
def _throw_away(method: Method) -> Generator[str | None]:
    """A folder of the machine for a program without a sandbox; the others bring their own."""
    if method != "none":
        yield None
        return
    folder = tempfile.mkdtemp()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _memory_file(stack: contextlib.ExitStack, content: bytes) -> int:
    descriptor = os.memfd_create("sandbox")
    stack.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _finish(popen: subprocess.Popen[bytes]) -> None:
    """End every process of a sandbox, and leave none behind."""
    if popen.returncode is None:
        end(popen.pid)
    popen.wait()
    if popen.stdout is not None:
        popen.stdout.close()


PROBE = Job(
    program="def double(n): return 2 * n", entry_point="double", inputs="[[21]]", line_bytes=[99]
)


def find_sandbox(unsafe_execution: bool = False, methods: tuple[Method, ...] = METHODS) -> Sandbox:
    """The first way to contain programs that works here, tried out on a small program.

    Without one this is an error, unless `unsafe_execution` asks for no containment at all.
    """
    faults: list[str] = []
    for method in methods:
        sandbox = Sandbox(method=method)
        try:
            ending = sandbox.run(PROBE, Limits(), _check_probe)
        except (SandboxError, ValueError, OSError) as error:
            faults.append(f"{method}: {error}")
            continue
        if ending.status == "done":
            return sandbox
        faults.append(f"{method}: {ending.reason}")
    if unsafe_execution:
        return Sandbox(method="none")
    raise ValueError(
        f"no sandbox for generated programs works here ({'; '.join(faults)}): install bubblewrap,"
        " allow user namespaces, or ask for --unsafe-execution in a machine you can lose"
    )


def _check_probe(answer: Answer) -> str | None:
    return None if answer.output().value == 42 else f"2 x 21 came out as {answer.told!r}"
