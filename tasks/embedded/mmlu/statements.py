"""The facts told without options: single ones, and rows of several in one answer.

A model of a few million weights has to memorise hundreds of facts; a row states up to eight for
the tokens of one question. Nothing here has the words or options of a question of the suite, and
no fact that a rule holds out for evaluation is told.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tasks.embedded.mmlu.catalog import SUBJECTS
from tasks.embedded.mmlu.subject import Fact, Subject
from tasks.embedded.problem import Problem, in_eval
from tasks.item import Message

ROW_SHARE = 0.6
ROW_LENGTHS = range(4, 9)
#: Filled with the topic, the words asked about, and the beginning of the sentence that answers.
SINGLE = (
    "Complete the sentence: {start} ...",
    "Finish this: {start} ...",
    "How does this go on: {start} ...",
    "Tell me about {topic}: {asked}.",
    "From the list of {topic}: {asked}.",
    "Remind me of {topic}: what goes with {asked}?",
)
ROWS = (
    "Go through {topic}: {asked}.",
    "Recite {topic}, one after another: {asked}.",
    "Give me {topic} in one row: {asked}.",
    "A table of {topic}, please, for {asked}.",
)


def statements(seed: int) -> Iterator[Problem]:
    """Endless training texts that tell the facts, the same for the same seed on every machine."""
    rng = random.Random(f"mmlu/statements/{seed}")
    while True:
        for subject in rng.sample(SUBJECTS, len(SUBJECTS)):
            told = None
            while told is None:
                told = _row(rng, subject) if rng.random() < ROW_SHARE else _single(rng, subject)
            yield told


def _single(rng: random.Random, subject: Subject) -> Problem | None:
    fact = subject.facts[rng.choice(subject.askable["train"])]
    forward = _direction(rng, subject)
    sentence = subject.sentence(fact, forward)
    wanted, shown = fact[forward], fact[not forward]
    start = sentence.removesuffix(f" {wanted}.")
    template = rng.choice(SINGLE)
    asked = template.format(topic=subject.topic, asked=shown, start=start)
    return _told(subject, template, [fact], asked, sentence, wanted)


def _row(rng: random.Random, subject: Subject) -> Problem | None:
    places = rng.sample(subject.askable["train"], rng.choice(ROW_LENGTHS))
    row = [subject.facts[place] for place in places]
    forward = _direction(rng, subject)
    template = rng.choice(ROWS)
    shown = ", ".join(fact[not forward] for fact in row)
    asked = template.format(topic=subject.topic, asked=shown)
    if rng.random() < 0.5:
        answer = " ".join(subject.sentence(fact, forward) for fact in row)
    else:
        answer = "; ".join(f"{fact[not forward]}: {fact[forward]}" for fact in row) + "."
    return _told(subject, template, row, asked, answer, row[-1][forward])


def _direction(rng: random.Random, subject: Subject) -> bool:
    """Whether forward: always where a value has several entities, as it can't tell which."""
    return subject.backward is None or not subject.one_to_one or rng.random() < 0.5


def _told(
    subject: Subject, template: str, row: list[Fact], asked: str, answer: str, gold: str
) -> Problem | None:
    """The problem; None where its template or filling belongs to evaluation."""
    template = f"{subject.name}/told: {template}"
    filling = f"{subject.name}: {', '.join(fact.entity for fact in row)}"
    if in_eval("template", template) or in_eval("filling", filling):
        return None
    return Problem(
        messages=(Message(role="user", content=asked),),
        answer=answer,
        gold=gold,
        template=template,
        filling=filling,
        subject=subject.name,
        level="2" if subject.rule else "1",
    )
