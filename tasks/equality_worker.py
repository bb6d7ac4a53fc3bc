# math_verify has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
"""The process that compares two pieces of LaTeX with math-verify; started by `tasks.equality`.

One JSON object a line comes in (`gold`, `answer`), one goes out (`equal`). A comparison may be a
tower of powers that no signal handler interrupts, so the processor time of each is limited by a
timer whose signal ends the process, and memory by a limit on the address space.
Run as `python -P equality_worker.py SECONDS BYTES`; this folder must not be on the import path,
where its `numbers.py` would stand in front of the standard library's.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from typing import Any

from math_verify import LatexExtractionConfig, parse, verify

# Only the box is read: math-verify's plain-number search would find 12 in "not 12".
BOX_ONLY = [LatexExtractionConfig(boxed_match_priority=0, try_extract_without_anchor=False)]


def read(latex: str) -> list[Any]:
    """What math-verify makes of an answer: its expression, where it has one, and its text."""
    return parse(f"\\boxed{{{latex}}}", extraction_config=BOX_ONLY, parsing_timeout=0)


def equal(gold: str, answer: str) -> bool:
    """Whether an answer equals the reference."""
    return verify(read(gold), read(answer), timeout_seconds=None)


def main() -> None:
    limit_s, limit_bytes = float(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Sent to all processes of a job, it is for the one that asks, which is answered until it goes.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    logging.disable()
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    equal("\\frac{1}{2}", "0.5")  # The first comparison builds the parser's tables.
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        pair = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            verdict = equal(pair["gold"], pair["answer"])
        except (MemoryError, RecursionError):
            verdict = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps({"equal": verdict}), file=replies, flush=True)


if __name__ == "__main__":
    main()
