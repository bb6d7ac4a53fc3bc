"""Mathematical equality of an answer and the reference, by math-verify in a process of its own.

Answers come from models and can be anything, a tower of powers too, on which symbolic algebra
never ends and takes all memory. So comparisons run in a process that is started once, is killed
when one of them uses more than `LIMIT_S` of processor time (a busy machine fails no answer) or
`WALL_S` of time on the clock, and is then started anew. Such an answer counts as not equal, with
a warning that says so. math-verify itself is imported only there.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
import warnings
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Literal

Verdict = Literal["equal", "different", "too long"]

LIMIT_S = 2.0
WALL_S = 10.0
#: Importing the libraries takes a second, more on a busy machine.
START_S = 120.0
MEMORY_BYTES = 2 * 2**30
#: The longest official reference answer has 53 characters.
MAX_CHARACTERS = 1000
WORKER = Path(__file__).with_name("equality_worker.py")


class Equality:
    """Compares pairs; holds the process. Safe to use from several threads and after a fork."""

    def __init__(self, limit_s: float = LIMIT_S, wall_s: float = WALL_S) -> None:
        self._limit_s = limit_s
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def compare(self, gold: str, answer: str) -> Verdict:
        """Whether `answer` equals `gold`; both are LaTeX without dollar signs around."""
        if " ".join(gold.split()) == " ".join(answer.split()):
            return "equal"
        if len(answer) > MAX_CHARACTERS:
            return "different"
        with self._lock:
            process = self._running()
            reply = self._ask(process, json.dumps({"gold": gold, "answer": answer}))
            if reply is None:
                _end(process)
                self._process = None
        if reply is None:
            warnings.warn(
                f"comparing {answer:.60} with {gold:.60} took more than {self._limit_s:g} s of"
                " processor time or too much memory; the answer counts as wrong",
                stacklevel=2,
            )
            return "too long"
        return "equal" if json.loads(reply)["equal"] else "different"

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none of ours that lives."""
        if self._process is not None and self._owner == os.getpid():
            if self._process.poll() is None:
                return self._process
            _end(self._process)
        command = [sys.executable, "-P", str(WORKER), str(self._limit_s), str(MEMORY_BYTES)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            # An interrupt from the keyboard is ours alone: it must not cost an answer its verdict.
            start_new_session=True,
        )
        self._process, self._owner = process, os.getpid()
        weakref.finalize(self, _end_own, process, self._owner)
        if _line(process, START_S) is None:
            _end(process)
            assert process.stderr is not None, "stderr is a pipe"
            said = process.stderr.read().decode(errors="replace").strip().splitlines()
            raise ValueError(
                "the comparing process did not start"
                f" ({said[-1] if said else 'no message'}); is math-verify installed?"
            )
        return process

    def _ask(self, process: subprocess.Popen[bytes], line: str) -> bytes | None:
        """The reply to one line; None when the process ended or did not answer in time."""
        assert process.stdin is not None, "stdin is a pipe"
        try:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None
        return _line(process, self._wall_s)


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """The next line a process writes within some time, or None."""
    assert process.stdout is not None, "stdout is a pipe"
    deadline_s = time.monotonic() + seconds
    got = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not got.endswith(b"\n"):
            if not selector.select(max(0.0, deadline_s - time.monotonic())):
                return None
            chunk = os.read(process.stdout.fileno(), 4096)
            if not chunk:
                return None
            got += chunk
    return got


def _end_own(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process where it was started; a fork's copy of it must outlive the fork."""
    if owner == os.getpid():
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and reap it."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
