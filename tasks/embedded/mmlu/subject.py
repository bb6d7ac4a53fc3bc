"""What a subject is: facts as pairs, and the wordings that ask for either half of a pair.

Wordings are written with alternatives, `[What|Which city] is the capital of {x}?`, and each
expanded wording is a template of its own: the held-out ones are new combinations of words that
training has met apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from tasks.embedded.problem import Split, in_eval

ALTERNATIVES = re.compile(r"\[([^\]]*)\]")
ARTICLE = re.compile(r"\b([Aa]) \{([xy])\}")


class Fact(NamedTuple):
    """One pair of a subject: the entity (x) and its value (y)."""

    entity: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """One way round to ask: forward shows {x} and wants {y}, backward the reverse.

    says: the sentence that states the fact. What was asked for comes last, so that the sentence
    up to there follows from the question alone.
    """

    questions: tuple[str, ...]
    says: str


class Wording(NamedTuple):
    """A question to be filled, and its direction."""

    forward: bool
    text: str
    template: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A table of facts that is asked about.

    topic: what its facts are, in the plural, for training texts. rule: whether the facts follow
    from a rule. unseen: whether evaluation asks only for facts that training never states, which
    a rule with enough instances allows. near: wrong options come from so many places on either
    side of the fact in the table (0: from the whole table).
    """

    name: str
    topic: str
    facts: tuple[Fact, ...]
    forward: Direction
    backward: Direction | None = None
    rule: bool = False
    unseen: bool = False
    near: int = 0

    @cached_property
    def wordings(self) -> dict[Split, tuple[Wording, ...]]:
        """The wordings of each split."""
        every: dict[Split, list[Wording]] = {"train": [], "eval": []}
        for forward, direction in ((True, self.forward), (False, self.backward)):
            for text in expand(direction.questions) if direction else ():
                template = f"{self.name}/{'forward' if forward else 'backward'}: {text}"
                split = "eval" if in_eval("template", template) else "train"
                every[split].append(Wording(forward, text, template))
        return {split: tuple(wordings) for split, wordings in every.items()}

    @cached_property
    def askable(self) -> dict[Split, tuple[int, ...]]:
        """The places in the table of the facts that a split may ask for."""
        places = range(len(self.facts))
        if not self.unseen:
            return {"train": tuple(places), "eval": tuple(places)}
        held_out = {n for n in places if in_eval("filling", self.instance(self.facts[n]))}
        return {
            "train": tuple(n for n in places if n not in held_out),
            "eval": tuple(sorted(held_out)),
        }

    @cached_property
    def one_to_one(self) -> bool:
        """Whether a value belongs to one entity only."""
        return len({fact.value for fact in self.facts}) == len(self.facts)

    @cached_property
    def _wrong(self) -> dict[tuple[int, bool], tuple[str, ...]]:
        return {
            (place, forward): self._others(place, forward)
            for place in range(len(self.facts))
            for forward in (True, False)
        }

    def _others(self, place: int, forward: bool) -> tuple[str, ...]:
        value = self.facts[place].value
        window = self.facts
        if self.near:
            window = self.facts[max(0, place - self.near) : place + self.near + 1]
        return tuple(dict.fromkeys(fact[forward] for fact in window if fact.value != value))

    def wrong(self, place: int, forward: bool) -> tuple[str, ...]:
        """The options that are wrong for a fact, each once, in the order of the table."""
        return self._wrong[place, forward]

    def instance(self, fact: Fact) -> str:
        """The text whose checksum holds out a fact as such."""
        return f"{self.name}: {fact.entity}"

    def sentence(self, fact: Fact, forward: bool) -> str:
        """The sentence that states a fact."""
        direction = self.forward if forward else self.backward
        assert direction is not None, f"{self.name} is not asked this way round"
        return fill(direction.says, fact)


def expand(wordings: Iterable[str]) -> list[str]:
    """Every combination of the alternatives in square brackets."""
    expanded: list[str] = []
    for wording in wordings:
        parts = ALTERNATIVES.split(wording)
        choices = [part.split("|") if n % 2 else [part] for n, part in enumerate(parts)]
        expanded += ["".join(combination) for combination in product(*choices)]
    return expanded


def fill(text: str, fact: Fact) -> str:
    """A question or sentence about a fact, with "an" where due and a capital at the start."""
    words = {"x": fact.entity, "y": fact.value}

    def with_article(found: re.Match[str]) -> str:
        word = words[found[2]]
        return f"{found[1]}{'n' if word[0] in 'aeiou' else ''} {word}"

    filled = ARTICLE.sub(with_article, text).format_map(words)
    return filled[0].upper() + filled[1:]


def facts(table: str) -> tuple[Fact, ...]:
    """Facts written as `France: Paris, Japan: Tokyo`."""
    rows = (row.partition(":") for row in " ".join(table.split()).strip(" ,").split(","))
    return tuple(Fact(entity.strip(), value.strip()) for entity, _, value in rows)


def grouped(table: str) -> tuple[Fact, ...]:
    """Facts of many entities to a value, written as `birds: owl, eagle; fish: trout`."""
    groups = [group.partition(":") for group in " ".join(table.split()).strip(" ;").split(";")]
    return tuple(
        Fact(entity.strip(), value.strip())
        for value, _, entities in groups
        for entity in entities.split(",")
    )
