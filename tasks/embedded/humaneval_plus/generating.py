"""Endless problems of a split, and the fixed ones of the evaluation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import cache

from tasks.embedded.humaneval_plus import (
    arithmetic,
    choices,
    compositions,
    conditions,
    dictionaries,
    dictionary_picks,
    dictionary_queries,
    formulas,
    list_orders,
    list_walks,
    lists,
    loop_lists,
    loop_totals,
    loops,
    text,
    text_codes,
)
from tasks.embedded.humaneval_plus.family import Family
from tasks.embedded.humaneval_plus.writing import Function, Sketch, fill, sketch, varies, write
from tasks.embedded.problem import EVAL_SEED, Problem, Split, in_eval
from tasks.item import EMBEDDED_ITEMS

FAMILIES: Mapping[str, tuple[Family, ...]] = {
    "arithmetic": (*arithmetic.FAMILIES, *formulas.FAMILIES),
    "compositions": compositions.FAMILIES,
    "conditions": (*conditions.FAMILIES, *choices.FAMILIES),
    "dictionaries": (
        *dictionaries.FAMILIES,
        *dictionary_queries.FAMILIES,
        *dictionary_picks.FAMILIES,
    ),
    "lists": (*lists.FAMILIES, *list_walks.FAMILIES, *list_orders.FAMILIES),
    "loops": (*loops.FAMILIES, *loop_lists.FAMILIES, *loop_totals.FAMILIES),
    "text": (*text.FAMILIES, *text_codes.FAMILIES),
}
DRAWS_PER_SKETCH = 80
DRAWS_PER_FAMILY = 60


def problems(split: Split, seed: int) -> Iterator[Problem]:
    """Endless problems of a split, the same for the same seed on every machine."""
    rng = random.Random(f"humaneval_plus/{split}/{seed}")
    pool = [
        (subject, family)
        for subject, families in FAMILIES.items()
        for family in families
        for _ in range(family.weight)
    ]
    while True:
        subject, family = pool[int(rng.random() * len(pool))]
        # A family with few wordings may have none in a split; then another one is drawn.
        for _ in range(DRAWS_PER_FAMILY):
            problem = _draw(rng, family, split, subject)
            if problem is not None:
                yield problem
                break


@cache
def eval_items(n: int = EMBEDDED_ITEMS) -> tuple[Problem, ...]:
    """The fixed evaluation problems; none asks twice, and no result is the same for all inputs."""
    found: dict[str, Problem] = {}
    for problem in problems("eval", EVAL_SEED):
        if varies(problem):
            found.setdefault(problem.messages[0].content, problem)
        if len(found) == n:
            break
    return tuple(found.values())


def _draw(rng: random.Random, family: Family, split: Split, subject: str) -> Problem | None:
    drawn = sketch(rng, family)
    if in_eval("template", drawn.template) != (split == "eval"):
        return None
    function = _filled(rng, drawn, split)
    return function and write(rng, drawn, function, subject)


def _filled(rng: random.Random, drawn: Sketch, split: Split) -> Function | None:
    for _ in range(DRAWS_PER_SKETCH):
        function = fill(rng, drawn)
        if in_eval("filling", function.filling) == (split == "eval"):
            return function
    return None
