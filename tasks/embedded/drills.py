"""Bare sums for training: many calculations a row, in the sizes that the problems have.

A problem spends a hundred tokens on two or three calculations, so a small model sees few of them.
A row asks for the sums that it gets: operands of a model's own choice are noise in its loss.
Two thirds of the rows are of the stories of gsm8k; additions and subtractions, which have the most
different operands, make up four fifths of them. The others are of math500, with signs, in LaTeX.
No pair of operands, in their order, that is set aside for evaluation appears here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tasks.embedded import problem
from tasks.embedded.gsm8k import in_eval, largest_number, numbers_text
from tasks.embedded.math500.notation import divided, multiplied, wrap
from tasks.embedded.products import by_tens
from tasks.embedded.story import EASY_FACTORS, result

OPENINGS = ("Compute", "Calculate", "Work out", "Evaluate", "Find")


class Drill(NamedTuple):
    """A row for training that is no problem of a task: many small answers in one."""

    question: str
    answer: str


def drills(seed: int) -> Iterator[Drill]:
    """Endless rows, the same for the same seed."""
    rng = random.Random(f"drills/{seed}")
    while True:
        signed = rng.random() < 1 / 3
        lines = [_signed_line(rng) if signed else _line(rng) for _ in range(rng.randint(4, 12))]
        dollar = "$" if signed else ""
        asked = ", ".join(line.partition(" =")[0] + dollar for line in lines)
        yield Drill(f"{rng.choice(OPENINGS)} {asked}.", "\n".join(lines))


def _line(rng: random.Random) -> str:
    x, op, y = _sum(rng)
    steps = by_tens(x, y) if op == "*" else ""
    return f"{x} {op} {y} = {steps}{result(op, x, y)}"


def _signed_line(rng: random.Random) -> str:
    """A sum in LaTeX whose operands may be negative."""
    while True:
        op = rng.choice("++--*/")
        largest = 12 if op in "*/" else 60
        x, y = (rng.choice((1, -1, 1)) * rng.randint(2, largest) for _ in range(2))
        if op == "/":
            x *= y
        if not problem.in_eval("filling", f"{x} {y}"):
            break
    if op in "*/":
        return f"${multiplied(x, y) if op == '*' else divided(x, y)}$"
    return f"${x} {op} {wrap(y)} = {x + y if op == '+' else x - y}$"


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
