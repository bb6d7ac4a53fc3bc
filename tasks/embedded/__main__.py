"""Writing generated problems as chat rows for training.

python -m tasks.embedded --mix gsm8k=4,math500=2,mmlu=1,sums=1 --count 300000 --seed 0 --out FILE
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TextIO

from tasks.embedded import gsm8k, humaneval_plus, math500, mmlu
from tasks.embedded.drills import Drill, drills
from tasks.embedded.problem import Problem, Split
from tasks.part_file import check_target, part_file

PROGRESS_EVERY = 10_000
Source = Callable[[Split, int], Iterator[Problem | Drill]]
#: What rows can be made of: the four tasks, and three kinds for training only.
SOURCES: Mapping[str, Source] = {
    "gsm8k": lambda split, seed: (story.as_problem() for story in gsm8k.problems(split, seed)),
    "math500": math500.problems,
    "humaneval_plus": humaneval_plus.problems,
    "mmlu": mmlu.problems,
    "facts": lambda _, seed: mmlu.statements(seed),
    "letters": lambda _, seed: mmlu.lookups(seed),
    "sums": lambda _, seed: drills(seed),
}
TRAINING_ONLY = ("facts", "letters", "sums")


def row(name: str, problem: Problem | Drill) -> str:
    """One JSON line: chat messages, the last one the answer, and what decided the split."""
    decided: dict[str, str] = {}
    if isinstance(problem, Problem):
        turns = [{"role": turn.role, "content": turn.content} for turn in problem.messages]
        decided = {"template": problem.template, "filling": problem.filling}
    else:
        turns = [{"role": "user", "content": problem.question}]
    turns.append({"role": "assistant", "content": problem.answer})
    return json.dumps({"task": name, "messages": turns} | decided, ensure_ascii=False)


def rows(split: Split, seed: int, mix: Mapping[str, float]) -> Iterator[str]:
    """Rows without end, each of a kind drawn with the weights of `mix`."""
    rng = random.Random(f"rows/{seed}")
    sources = {name: SOURCES[name](split, seed) for name in mix}
    while True:
        (name,) = rng.choices(list(mix), list(mix.values()))
        yield row(name, next(sources[name]))


def write(out: TextIO, source: Iterator[str], count: int) -> None:
    """Write `count` rows, with progress on stderr."""
    started = time.perf_counter()
    for done, line in enumerate(islice(source, count), 1):
        out.write(line + "\n")
        if done % PROGRESS_EVERY == 0 or done == count:
            rate = done / (time.perf_counter() - started)
            left = (count - done) / rate
            print(f"{done:,} of {count:,} ({rate:,.0f}/s, {left:.0f} s left)", file=sys.stderr)


def parse_mix(text: str) -> dict[str, float]:
    """`gsm8k=4,mmlu=1` as weights; a name alone has weight 1. ValueError if it is no mix."""
    mix: dict[str, float] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        if name not in SOURCES or name in mix:
            raise ValueError(
                f"--mix {text!r}: got {name!r}; each of {', '.join(SOURCES)} may stand once"
            )
        try:
            mix[name] = float(weight) if equals else 1.0
        except ValueError:
            mix[name] = 0.0
        if not 0 < mix[name] < float("inf"):
            raise ValueError(f"--mix {text!r}: the weight of {name} must be a number above 0")
    return mix


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and write the file whole or not at all."""
    parser = argparse.ArgumentParser(prog="python -m tasks.embedded", description=__doc__)
    parser.add_argument("--mix", default="gsm8k", help=f"weights of {', '.join(SOURCES)}")
    parser.add_argument("--split", choices=("train", "eval"), default="train")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    if args.count < 1:
        parser.error(f"--count must be at least 1, got {args.count}")
    try:
        mix = parse_mix(args.mix)
        check_target("--out", args.out)
    except ValueError as error:
        parser.error(str(error))
    if args.split == "eval" and not mix.keys().isdisjoint(TRAINING_ONLY):
        parser.error(f"{', '.join(TRAINING_ONLY)} are for training only; got --split eval")
    try:
        with part_file(args.out) as part, part.open("w", encoding="utf-8") as out:
            write(out, rows(args.split, args.seed, mix), args.count)
    except OSError as error:
        parser.error(f"--out {args.out} can't be written: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
