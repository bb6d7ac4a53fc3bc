"""Bare sums for training: many calculations a row, in the sizes that the stories have.

A story spends a hundred tokens on two or three calculations, so a small model sees few of them.
Half of the rows ask for the sums they get, the others leave the choice open, which is denser.
Additions and subtractions, which have the most different operands, make up four fifths.
No pair of operands, in their order, that is set aside for evaluation appears here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tasks.embedded.gsm8k import in_eval, largest_number, numbers_text
from tasks.embedded.story import EASY_FACTORS, result

OPENINGS = ("Compute", "Calculate", "Work out", "Evaluate", "Find")
OPEN_REQUESTS = ("Do some sums.", "Practice arithmetic.", "Write a list of calculations.")


class Drill(NamedTuple):
    """A row for training that is no problem of a task: many small answers in one."""

    question: str
    answer: str


def drills(seed: int) -> Iterator[Drill]:
    """Endless rows, the same for the same seed."""
    rng = random.Random(f"drills/{seed}")
    while True:
        listed = rng.random() < 0.5
        sums = [_sum(rng) for _ in range(rng.randint(4, 8) if listed else rng.randint(8, 14))]
        asked = ", ".join(f"{x} {op} {y}" for x, op, y in sums)
        question = f"{rng.choice(OPENINGS)} {asked}." if listed else rng.choice(OPEN_REQUESTS)
        lines = [f"{x} {op} {y} = {result(op, x, y)}" for x, op, y in sums]
        yield Drill(question, "\n".join(lines))


def _sum(rng: random.Random) -> tuple[int, str, int]:
    while True:
        largest = largest_number(rng)
        op = rng.choice("++++----*/")
        x, y = _operands(rng, op, largest)
        value = result(op, x, y)
        if (
            2 <= value <= largest
            and max(x, y) <= largest
            and not in_eval("numbers", numbers_text((x, y)))
        ):
            return x, op, y


def _operands(rng: random.Random, op: str, largest: int) -> tuple[int, int]:
    if op in "+-":
        return rng.randint(2, largest), rng.randint(2, largest)
    factor = rng.choice(EASY_FACTORS)
    other = rng.randint(2, max(2, largest // factor))
    if op == "/":
        return factor * other, factor
    return (factor, other) if rng.random() < 0.5 else (other, factor)
