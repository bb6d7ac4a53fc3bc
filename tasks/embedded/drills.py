"""Bare sums for training: many calculations a row, in the sizes that the stories have.

A story spends a hundred tokens on two or three calculations, so a small model sees few of them.
No sum of two numbers that is set aside for evaluation appears here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tasks.embedded.gsm8k import in_eval, largest_number, numbers_text
from tasks.embedded.story import EASY_FACTORS, result

OPENINGS = ("Compute", "Calculate", "Work out", "Evaluate", "Find")
ANY_LARGEST = 999


class Drill(NamedTuple):
    """A row of sums: the question lists them, the answer works them out line by line."""

    question: str
    answer: str


def drills(seed: int) -> Iterator[Drill]:
    """Endless rows of four to eight sums, the same for the same seed."""
    rng = random.Random(f"drills/{seed}")
    while True:
        sums = [_sum(rng) for _ in range(rng.randint(4, 8))]
        asked = ", ".join(f"{x} {op} {y}" for x, op, y in sums)
        lines = [f"{x} {op} {y} = {result(op, x, y)}" for x, op, y in sums]
        yield Drill(f"{rng.choice(OPENINGS)} {asked}.", "\n".join(lines))


def _sum(rng: random.Random) -> tuple[int, str, int]:
    while True:
        largest = min(largest_number(rng), ANY_LARGEST)
        op = rng.choice("++--*/")
        x, y = _operands(rng, op, largest)
        value = result(op, x, y)
        if 2 <= value <= largest and not in_eval("numbers", numbers_text((x, y))):
            return x, op, y


def _operands(rng: random.Random, op: str, largest: int) -> tuple[int, int]:
    if op in "+-":
        return rng.randint(2, largest), rng.randint(2, largest)
    factor = rng.choice(EASY_FACTORS)
    other = rng.randint(2, max(2, largest // factor))
    if op == "/":
        return factor * other, factor
    return (factor, other) if rng.random() < 0.5 else (other, factor)
