"""Where an option stands, for training: the second half of answering a four-choice question.

A small model that knows the fact can fail to find it among the options. Half of the rows ask for
the options they get, the others leave the choice open. Options are taken from two subjects, so
that no set of them is one of the suite.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tasks.embedded.drills import Drill
from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.questions import answered, ask
from tasks.letters import LETTERS

OPEN_REQUEST = "Name options with their letters."
LISTED, OPEN = range(1, 3), range(2, 4)


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
        listed = rng.random() < 0.5
        wanted = rng.choices(options, k=rng.choice(LISTED if listed else OPEN))
        request = f"Find {', '.join(wanted)}." if listed else OPEN_REQUEST
        answers = [answered(f"It is {each}.", options, letters[each]) for each in wanted]
        yield Drill(ask(request, options), " ".join(answers))
