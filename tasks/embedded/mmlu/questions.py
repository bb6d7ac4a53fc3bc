"""Four-choice questions in the shape of MMLU, asked after up to five examples of their subject.

A wording is drawn from those of the split, then a fact with three wrong options. Facts are shared:
training states all of them, and evaluation asks for them in wordings and with sets of options that
training never shows. Where a rule has enough instances, the instance itself is held out instead.
Examples are always training questions, so no text of an evaluation question occurs anywhere else.

    for problem in itertools.islice(problems("train", seed=0), 3): print(problem.messages)
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.subject import Subject, fill
from tasks.embedded.problem import EVAL_SEED, Problem, Split, in_eval
from tasks.item import EMBEDDED_ITEMS, Message
from tasks.letters import LETTERS

SHOTS = 5
#: How often training shows 0, 1, .. 5 examples: tokens go further without, and evaluation has 5.
SHOT_WEIGHTS = (35, 20, 15, 10, 10, 10)


class Asked(NamedTuple):
    """One question with its answer; place: of its fact in the subject's table."""

    place: int
    question: str
    answer: str
    letter: str
    template: str
    filling: str


def problems(split: Split, seed: int) -> Iterator[Problem]:
    """Endless problems of a split, the same for the same seed on every machine."""
    rng = random.Random(f"mmlu/{split}/{seed}")
    while True:
        # Subjects take turns in a new order each round, so even a short run has them all.
        for subject in rng.sample(SUBJECTS, len(SUBJECTS)):
            shots = SHOTS
            if split == "train":
                shots = rng.choices(range(SHOTS + 1), SHOT_WEIGHTS)[0]
            yield _problem(rng, subject, split, shots)


@cache
def eval_items(n: int = EMBEDDED_ITEMS) -> tuple[Problem, ...]:
    """The fixed evaluation problems."""
    return tuple(islice(problems("eval", EVAL_SEED), n))


def ask(question: str, options: list[str]) -> str:
    """The words of one question."""
    lines = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True)]
    return "\n".join([f"Question: {question}", *lines, "Answer:"])


def answered(sentence: str, options: list[str], letter: str) -> str:
    """The words of one answer: the options, the sentence that ends on the right one, the letter.

    The options come with the letter behind, so that a model that has named one finds the letter
    where it saw that option last: a small one can look up what followed, but not what came before.
    """
    read = ", ".join(f"{option} {each}" for each, option in zip(LETTERS, options, strict=True))
    return f"{read}. {sentence.removesuffix('.')} {letter}. The answer is {letter}."


def _problem(rng: random.Random, subject: Subject, split: Split, shots: int) -> Problem:
    asked = _draw(rng, subject, split, set())
    used = {asked.place}
    messages: list[Message] = []
    for _ in range(shots):
        shot = _draw(rng, subject, "train", used)
        used.add(shot.place)
        messages.append(Message(role="user", content=shot.question))
        messages.append(Message(role="assistant", content=shot.answer))
    messages.append(Message(role="user", content=asked.question))
    return Problem(
        messages=tuple(messages),
        answer=asked.answer,
        gold=asked.letter,
        template=asked.template,
        filling=asked.filling,
        subject=subject.name,
        level="2" if subject.rule else "1",
    )


def _draw(rng: random.Random, subject: Subject, split: Split, used: set[int]) -> Asked:
    """A question of a split about a fact that is not used yet."""
    wordings = subject.wordings[split]
    wording = wordings[int(rng.random() * len(wordings))]
    places = subject.askable[split]
    while True:
        place = places[int(rng.random() * len(places))]
        if place in used:
            continue
        fact = subject.facts[place]
        options = rng.sample(subject.wrong(place, wording.forward), 3)
        filling = subject.instance(fact)
        right = fact[wording.forward]
        if not subject.unseen:
            # Sorted: another order of the same options is no other question.
            filling = " | ".join([filling, *sorted([*options, right])])
        if in_eval("filling", filling) == (split == "eval"):
            break
    position = int(rng.random() * len(LETTERS))
    options.insert(position, right)
    letter = LETTERS[position]
    return Asked(
        place=place,
        question=ask(fill(wording.text, fact), options),
        answer=answered(subject.sentence(fact, wording.forward), options, letter),
        letter=letter,
        template=wording.template,
        filling=filling,
    )
