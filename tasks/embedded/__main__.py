"""Writing generated problems as chat rows for training.

python -m tasks.embedded --mix gsm8k=4,math500=2,mmlu=1,sums=1 --count 300000 --seed 0 --out FILE
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tasks.embedded import gsm8k, humaneval_plus, math500, mmlu
from tasks.embedded.drills import Drill, drills
from tasks.embedded.problem import Problem, Split
from tasks.item import Message
from tasks.part_file import check_target
from tasks.row_files import chat_row, mixed, parse_mix, write_rows

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
    """One line of a kind."""
    if isinstance(problem, Problem):
        decided = {"template": problem.template, "filling": problem.filling}
        return chat_row(name, problem.messages, problem.answer, decided)
    return chat_row(name, [Message(role="user", content=problem.question)], problem.answer)


def rows(split: Split, seed: int, mix: Mapping[str, float]) -> Iterator[str]:
    """Rows without end, each of a kind drawn with the weights of `mix`."""

    def lines(name: str) -> Iterator[str]:
        return (row(name, problem) for problem in SOURCES[name](split, seed))

    return mixed({name: lines(name) for name in mix}, mix, seed)


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
        mix = parse_mix(args.mix, SOURCES)
        check_target("--out", args.out)
    except ValueError as error:
        parser.error(str(error))
    if args.split == "eval" and not mix.keys().isdisjoint(TRAINING_ONLY):
        parser.error(f"{', '.join(TRAINING_ONLY)} are for training only; got --split eval")
    try:
        write_rows(args.out, rows(args.split, args.seed, mix), args.count)
    except OSError as error:
        parser.error(f"--out {args.out} can't be written: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
