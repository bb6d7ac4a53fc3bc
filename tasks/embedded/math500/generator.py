"""Draws problems of all families, and keeps the two splits apart.

for problem in itertools.islice(problems("train", seed=0), 3): print(problem.answer)
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from tasks.embedded.math500 import (
    chances,
    coordinates,
    counting,
    divisors,
    equations,
    functions,
    geometry,
    precalculus,
    quadratics,
    ratios,
    residues,
    sequences,
    sums,
)
from tasks.embedded.math500.family import Family, fill, pick, wording
from tasks.embedded.problem import EVAL_SEED, Problem, Split, in_eval
from tasks.item import EMBEDDED_ITEMS, Message

FAMILIES: tuple[Family, ...] = (
    *sums.FAMILIES,
    *ratios.FAMILIES,
    *equations.FAMILIES,
    *functions.FAMILIES,
    *quadratics.FAMILIES,
    *sequences.FAMILIES,
    *divisors.FAMILIES,
    *residues.FAMILIES,
    *geometry.FAMILIES,
    *coordinates.FAMILIES,
    *counting.FAMILIES,
    *chances.FAMILIES,
    *precalculus.FAMILIES,
)
LEVEL_WEIGHTS = (20, 25, 25, 18, 12)
BY_LEVEL = tuple(
    tuple(family for family in FAMILIES if family.level == level) for level in range(1, 6)
)


def problems(split: Split, seed: int) -> Iterator[Problem]:
    """Endless problems of a split, the same for the same seed on every machine."""
    rng = random.Random(f"math500/{split}/{seed}")
    while True:
        yield _problem(rng, pick(rng, rng.choices(BY_LEVEL, LEVEL_WEIGHTS)[0]), split)


@cache
def eval_items(n: int = EMBEDDED_ITEMS) -> tuple[Problem, ...]:
    """The fixed evaluation problems, all with different questions."""
    different: dict[str, Problem] = {}
    for problem in problems("eval", EVAL_SEED):
        different.setdefault(problem.messages[0].content, problem)
        if len(different) == n:
            break
    return tuple(different.values())


def _problem(rng: random.Random, family: Family, split: Split) -> Problem:
    """A problem of a family; wording and numbers are each redrawn until they are of the split."""
    held_out = split == "eval"
    question = wording(rng, family)
    while in_eval("template", question.template) != held_out:
        question = wording(rng, family)
    work = family.work(rng)
    while in_eval("filling", work.filling) != held_out:
        work = family.work(rng)
    gold = fill(work.gold, question.letters)
    steps = [fill(step, question.letters) for step in work.steps]
    # What fills a place may itself name a letter.
    text = fill(fill(question.text, {**work.given, **question.letters}), question.letters)
    return Problem(
        messages=(Message(role="user", content=text),),
        answer=" ".join([*steps, rf"The answer is $\boxed{{{gold}}}$."]),
        gold=gold,
        template=question.template,
        filling=work.filling,
        subject=family.subject,
        level=str(family.level),
    )
