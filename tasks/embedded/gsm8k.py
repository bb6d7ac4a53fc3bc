"""Word problems in the shape of GSM8K: a story, sums worked in sentences, a last line `#### N`.

A skeleton (family, moves, every phrase) is drawn first, then numbers, then names and objects. The
training and evaluation splits share neither a skeleton nor a tuple of numbers: each is assigned
by a checksum of its own.

    for problem in itertools.islice(problems("train", seed=0), 3): print(problem.question)
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal
from zlib import crc32

from tasks.embedded import (
    stories_collecting,
    stories_compare,
    stories_crowds,
    stories_earning,
    stories_farming,
    stories_growing,
    stories_measures,
    stories_progress,
    stories_scores,
    stories_spending,
    stories_stock,
    stories_treats,
)
from tasks.embedded.filling import Filling, given_numbers
from tasks.embedded.problem import EVAL_ONE_IN, EVAL_SEED, Problem, Split
from tasks.embedded.story import Family, Move, solve
from tasks.embedded.wording import Skeleton, compose
from tasks.item import EMBEDDED_ITEMS, Message

FAMILIES: tuple[Family, ...] = (
    *stories_collecting.FAMILIES,
    *stories_growing.FAMILIES,
    *stories_treats.FAMILIES,
    *stories_spending.FAMILIES,
    *stories_earning.FAMILIES,
    *stories_progress.FAMILIES,
    *stories_scores.FAMILIES,
    *stories_measures.FAMILIES,
    *stories_farming.FAMILIES,
    *stories_crowds.FAMILIES,
    *stories_stock.FAMILIES,
    *stories_compare.FAMILIES,
)
STEP_WEIGHTS = (15, 35, 28, 15, 7)
ENDING_SHARE = 0.55
MAX_CHARS = 1100
# The largest number of a problem, and how often: small ones mostly, as in GSM8K itself.
LARGEST_NUMBERS = (20, 50, 99, 999)
LARGEST_WEIGHTS = (25, 35, 25, 15)
DRAWS_PER_SKELETON = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class WordProblem:
    """A question with its worked answer; `template` and `numbers` decide its split."""

    question: str
    answer: str
    gold: str
    template: str
    numbers: tuple[int, ...]
    steps: int

    def as_problem(self) -> Problem:
        """The same as the other tasks' generators write it."""
        return Problem(
            messages=(Message(role="user", content=self.question),),
            answer=self.answer,
            gold=self.gold,
            template=self.template,
            filling=numbers_text(self.numbers),
            level=str(self.steps),
        )


def in_eval(kind: Literal["template", "numbers"], text: str) -> bool:
    """Whether a skeleton or a tuple of numbers (as text) is set aside for evaluation."""
    salted = text if kind == "template" else "numbers:" + text
    return crc32(salted.encode()) % EVAL_ONE_IN == 0


def numbers_text(numbers: tuple[int, ...]) -> str:
    """The text that is hashed for a tuple of numbers."""
    return " ".join(map(str, numbers))


def problems(split: Split, seed: int) -> Iterator[WordProblem]:
    """Endless problems of a split, the same for the same seed on every machine."""
    rng = random.Random(f"gsm8k/{split}/{seed}")
    while True:
        # Kept until they are met, or the hard ones among them would be rare.
        steps = rng.choices(range(1, 6), STEP_WEIGHTS)[0]
        largest = largest_number(rng)
        problem = None
        while problem is None:
            skeleton, family = _skeleton(rng, steps)
            if in_eval("template", skeleton.template) == (split == "eval"):
                problem = _fill(rng, skeleton, family, split, largest)
        yield problem


@cache
def eval_items(n: int = EMBEDDED_ITEMS) -> tuple[WordProblem, ...]:
    """The fixed evaluation problems."""
    return tuple(islice(problems("eval", EVAL_SEED), n))


def _skeleton(rng: random.Random, steps: int) -> tuple[Skeleton, Family]:
    while True:
        family = FAMILIES[int(rng.random() * len(FAMILIES))]
        moves = _plot(rng, family, steps)
        if moves is not None:
            return compose(rng, family, moves), family


def _plot(rng: random.Random, family: Family, steps: int) -> list[Move] | None:
    """An opening, different moves and perhaps an ending with `steps` sums in all."""
    opening = family.openings[int(rng.random() * len(family.openings))]
    ending = None
    if rng.random() < ENDING_SHARE:
        ending = family.endings[int(rng.random() * len(family.endings))]
    left = steps - len(opening.calcs) - (len(ending.calcs) if ending else 0)
    pool = list(family.moves)
    rng.shuffle(pool)
    if family.static:
        pool = pool + pool[:1]
    chosen: list[Move] = []
    for item in pool:
        if left and len(item.calcs) <= left:
            chosen.append(item)
            left -= len(item.calcs)
    moves = [opening, *chosen]
    if left != 0 or (len(moves) == 1 and not ending and not opening.calcs):
        return None
    if ending is None:
        return moves
    return [*moves, ending] if ending.need in (0, len(moves)) else None


def largest_number(rng: random.Random) -> int:
    """A limit for the numbers of one problem."""
    return rng.choices(LARGEST_NUMBERS, LARGEST_WEIGHTS)[0]


def _fill(
    rng: random.Random, skeleton: Skeleton, family: Family, split: Split, largest: int
) -> WordProblem | None:
    for _ in range(DRAWS_PER_SKELETON):
        solved = solve(rng, skeleton.moves, family.hi, largest, skeleton.noise)
        if solved is None:
            continue
        numbers = given_numbers(skeleton.question, solved)
        if in_eval("numbers", numbers_text(numbers)) == (split == "eval"):
            break
    else:
        return None
    filling = Filling.draw(rng, family, skeleton.moves, solved)
    question, answer = filling.text(skeleton.question), filling.text(skeleton.answer)
    if len(question) + len(answer) > MAX_CHARS:
        return None
    return WordProblem(
        question=question,
        answer=answer,
        gold=str(filling.value),
        template=skeleton.template,
        numbers=numbers,
        steps=sum(len(move.calcs) for move in skeleton.moves),
    )
