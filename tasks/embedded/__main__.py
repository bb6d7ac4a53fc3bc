"""Writing generated problems as chat rows for training.

python -m tasks.embedded --task gsm8k --split train --drills 0.3 --count 300000 --seed 0 --out FILE
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

from tasks.embedded.drills import Drill, drills
from tasks.embedded.gsm8k import Problem, problems

PROGRESS_EVERY = 10_000


def row(problem: Problem | Drill) -> str:
    """One JSON line: a question and its answer as chat messages, and what decided the split."""
    record: dict[str, object] = {
        "messages": [
            {"role": "user", "content": problem.question},
            {"role": "assistant", "content": problem.answer},
        ]
    }
    if isinstance(problem, Problem):
        record |= {"template": problem.template, "numbers": list(problem.numbers)}
    return json.dumps(record, ensure_ascii=False)


def rows(split: str, seed: int, drill_share: float) -> Iterator[Problem | Drill]:
    """Problems without end, with bare sums strewn in."""
    rng = random.Random(f"rows/{seed}")
    stories, sums = problems("eval" if split == "eval" else "train", seed), drills(seed)
    while True:
        yield next(sums if rng.random() < drill_share else stories)


def write(out: TextIO, source: Iterator[Problem | Drill], count: int) -> None:
    """Write `count` rows, with progress on stderr."""
    started = time.perf_counter()
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
    parser.add_argument("--drills", type=float, default=0.0, help="share of rows of bare sums")
    args = parser.parse_args(argv)
    if args.count < 1:
        parser.error(f"--count must be at least 1, got {args.count}")
    if not 0 <= args.drills < 1 or (args.drills and args.split == "eval"):
        parser.error(f"--drills is a share from 0 to below 1, of training rows; got {args.drills}")
    part = args.out.with_name(f"{args.out.name}.part{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as out:
            write(out, rows(args.split, args.seed, args.drills), args.count)
        part.replace(args.out)
    finally:
        part.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
