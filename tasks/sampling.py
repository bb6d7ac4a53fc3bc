"""Drawing a seeded subset of items that is spread over subjects and levels.

Items are ordered by subject and level, at random within each, and every (N/n)-th is taken from a
random start. So each item has the same chance, and each subject, and each level within a subject,
gets its proportional share rounded up or down. The first n items would not do: official files are
sorted by subject.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tasks.item import Item


def limit(items: Sequence[Item], n: int, seed: int) -> list[Item]:
    """A seeded, spread sample of n items without replacement, in their original order."""
    if n < 0:
        raise ValueError(f"the number of items must not be negative, got {n}")
    if n >= len(items):
        return list(items)
    if n == 0:
        return []
    dice = random.Random(seed)
    ordered = sorted(
        range(len(items)), key=lambda k: (items[k].subject, items[k].level, dice.random())
    )
    # Whole numbers, so that no rounding moves a place: start lies in 0 … N-1, steps are N/n.
    start = dice.randrange(len(items))
    chosen = (ordered[(k * len(items) + start) // n] for k in range(n))
    return [items[k] for k in sorted(chosen)]
