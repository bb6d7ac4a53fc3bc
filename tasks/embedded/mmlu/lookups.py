"""Where an option stands, for training: the second half of answering a four-choice question.

A question of the suite spends fifty tokens on one letter, and a small model that knows the fact
can fail to find it among the options; a row here asks for up to four. Options are taken from two
subjects, so that no set of them is one of the suite.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tasks.embedded.drills import Drill
from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.questions import answered, ask
from tasks.letters import LETTERS

ASKED_WEIGHTS = (1, 2, 3, 4)


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
        count = rng.choices(range(1, len(options) + 1), ASKED_WEIGHTS)[0]
        wanted = rng.sample(options, count)
        letters = dict(zip(options, LETTERS, strict=True))
        answers = [answered(f"It is {option}.", letters[option]) for option in wanted]
        yield Drill(ask(f"Find {', '.join(wanted)}.", options), " ".join(answers))
