"""Writing generated problems as chat rows for training.

python -m tasks.embedded --task gsm8k --split train --count 300000 --seed 0 --out FILE
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TextIO

from tasks.embedded.gsm8k import Problem, problems

PROGRESS_EVERY = 10_000


def row(problem: Problem) -> str:
    """One JSON line: a question and its answer as chat messages, and what decided the split."""
    messages = [
        {"role": "user", "content": problem.question},
        {"role": "assistant", "content": problem.answer},
    ]
    record = {
        "messages": messages,
        "template": problem.template,
        "numbers": list(problem.numbers),
    }
    return json.dumps(record, ensure_ascii=False)


def write(out: TextIO, split: str, count: int, seed: int) -> None:
    """Write `count` problems, with progress on stderr."""
    started = time.perf_counter()
    source = problems("eval" if split == "eval" else "train", seed)
    for done, problem in enumerate(islice(source, count), 1):
        out.write(row(problem) + "\n")
        if done % PROGRESS_EVERY == 0 or done == count:
            rate = done / (time.perf_counter() - started)
            left = (count - done) / rate
            print(f"{done:,} of {count:,} ({rate:,.0f}/s, {left:.0f} s left)", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and write the file whole or not at all."""
    parser = argparse.ArgumentParser(prog="python -m tasks.embedded", description=__doc__)
    parser.add_argument("--task", choices=("gsm8k",), default="gsm8k")
    parser.add_argument("--split", choices=("train", "eval"), default="train")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    if args.count < 1:
        parser.error(f"--count must be at least 1, got {args.count}")
    part = args.out.with_name(f"{args.out.name}.part{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as out:
            write(out, args.split, args.count, args.seed)
        part.replace(args.out)
    finally:
        part.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
