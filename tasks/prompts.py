"""Prompts for distillation: training questions in the words in which the test sets are asked.

    python -m tasks.prompts --mix gsm8k=6,math500=2,humaneval_plus=2 --count 6000 --out FILE

`gsm8k` has the published training split, each question once, in an order drawn by the seed;
`math500` and `humaneval_plus` have generated questions of the embedded training split. A row is a
conversation with the reference answer; `harness self-distil` puts a model's own in its place.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tasks import gsm8k, humaneval_plus, math500
from tasks.embedded import humaneval_plus as functions
from tasks.embedded import math500 as mathematics
from tasks.part_file import check_target
from tasks.published import GSM8K_TRAIN
from tasks.row_files import chat_row, mixed, parse_mix, write_rows
from tasks.sources import official_rows

Rows = Callable[[int, Path | None], Iterator[str]]


def _gsm8k(seed: int, data_dir: Path | None) -> Iterator[str]:
    rows = official_rows(GSM8K_TRAIN, data_dir)
    random.Random(f"prompts/{seed}").shuffle(rows)
    for row in rows:
        yield chat_row("gsm8k", gsm8k.prompt("official", row.text("question")), row.text("answer"))


def _math500(seed: int, _: Path | None) -> Iterator[str]:
    for problem in mathematics.problems("train", seed):
        turns = math500.prompt("official", problem.messages[-1].content)
        yield chat_row("math500", turns, problem.answer)


def _humaneval_plus(seed: int, _: Path | None) -> Iterator[str]:
    for problem in functions.problems("train", seed):
        turns = humaneval_plus.prompt("official", problem.messages[-1].content)
        yield chat_row("humaneval_plus", turns, problem.answer)


SOURCES: Mapping[str, Rows] = {
    "gsm8k": _gsm8k,
    "math500": _math500,
    "humaneval_plus": _humaneval_plus,
}


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and write the file whole or not at all."""
    parser = argparse.ArgumentParser(prog="python -m tasks.prompts", description=__doc__)
    parser.add_argument("--mix", default="gsm8k", help=f"weights of {', '.join(SOURCES)}")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-dir", type=Path, help="folder of the official data")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    try:
        if args.count < 1:
            raise ValueError(f"--count must be at least 1, got {args.count}")
        mix = parse_mix(args.mix, SOURCES)
        check_target("--out", args.out)
        sources = {name: SOURCES[name](args.seed, args.data_dir) for name in mix}
        done = write_rows(args.out, mixed(sources, mix, args.seed), args.count)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"--out {args.out} can't be written: {error.strerror}")
    if done < args.count:
        print(f"{done:,} rows written: gsm8k/train has no more questions", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
