"""Where an option stands, for training: the second half of answering a four-choice question.

A small model that knows the fact can fail to find it among the options. A row asks for one to
three of its options. They are taken from two subjects, and the suite's are of one; so a set of
them is one of the suite only where both subjects have all four, as two about countries may.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tasks.embedded.drills import Drill
from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.questions import answered, ask
from tasks.letters import LETTERS

WANTED = range(1, 4)


def lookups(seed: int) -> Iterator[Drill]:
    """Endless rows, the same for the same seed on every machine."""
    rng = random.Random(f"mmlu/lookups/{seed}")
    words = [sorted({half for fact in subject.facts for half in fact}) for subject in SUBJECTS]
    while True:
        first, second = rng.sample(words, 2)
        options = rng.sample(first, 2) + rng.sample(second, 2)
        if len(set(options)) < len(options):
            continue
        rng.shuffle(options)
        letters = dict(zip(options, LETTERS, strict=True))
        wanted = rng.choices(options, k=rng.choice(WANTED))
        answers = [answered(f"It is {each}.", options, letters[each]) for each in wanted]
        yield Drill(ask(f"Find {', '.join(wanted)}.", options), " ".join(answers))
