"""Filling a skeleton: names, objects and numbers go into the open slots of a wording."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from tasks.embedded.grammar import Slot
from tasks.embedded.lexicon import BOYS, GIRLS, TIMES, WORDS, plural, tidy
from tasks.embedded.products import by_tens
from tasks.embedded.story import Family, Move

PRONOUNS = {
    True: {"S": "she", "S's": "her", "o": "her", "his": "her"},
    False: {"S": "he", "S's": "his", "o": "him", "his": "his"},
}
EVERYBODY = (*GIRLS, *BOYS)
MAX_PERSONS = 7
WORD_LIMIT = 12


@cache
def options(text: str) -> tuple[str, ...]:
    """The fillers of a comma-separated list."""
    return tuple(item.strip() for item in text.split(","))


def given_numbers(tokens: list[str | Slot], solved: list[dict[str, int]]) -> tuple[int, ...]:
    """The numbers of a question in the order in which they are read."""
    return tuple(
        solved[token.step][token.name]
        for token in tokens
        if isinstance(token, Slot) and token.step >= 0 and token.name in solved[token.step]
    )


def _pool(family: Family) -> tuple[str, ...]:
    """What stands for the people of a comparison: names, or adjectives such as colors."""
    return options(family.slots["persons"]) if "persons" in family.slots else EVERYBODY


@dataclass(slots=True)
class Filling:
    """Names, nouns and numbers of one problem."""

    words: dict[str, str]
    persons: list[str]
    girl: bool
    moves: list[Move]
    solved: list[dict[str, int]]
    value: int

    @classmethod
    def draw(
        cls, rng: random.Random, family: Family, moves: list[Move], solved: list[dict[str, int]]
    ) -> Filling:
        """Fillers for every slot a family may use."""
        girl = rng.random() < 0.5
        own, other = (GIRLS, BOYS) if girl else (BOYS, GIRLS)
        first, second = rng.sample(other, 2)
        words = {"S": own[int(rng.random() * len(own))], "F": first, "G": second}
        nouns = options(family.nouns)
        words["item"], words["other"] = rng.sample(nouns if len(nouns) > 1 else nouns * 2, 2)
        for slot, text in family.slots.items():
            fillers = options(text)
            words[slot] = fillers[int(rng.random() * len(fillers))]
        if "verb" in words:
            words["do"], words["did"] = words["verb"].split("/")
        persons: list[str] = []
        if family.static:
            persons = rng.sample(_pool(family), MAX_PERSONS)
        last = max(k for k, move in enumerate(moves) if move.calcs)
        value = solved[last][f"r{len(moves[last].calcs)}"]
        return cls(words, persons, girl, moves, solved, value)

    def text(self, tokens: list[str | Slot]) -> str:
        """The tokens as tidy text."""
        parts = [token if isinstance(token, str) else self.slot(token) for token in tokens]
        return tidy("".join(parts)).strip()

    def slot(self, slot: Slot) -> str:
        """The text of one open slot."""
        name, form = slot.name, slot.form
        if name in ("S", "S's", "o", "his", "N"):
            return self._person(name, form)
        if name == "items":
            return plural(self.words["item"])
        if name[0] == "=":
            return self._equation(slot.step, int(name[1:]), form)
        if name in self.words:
            return plural(self.words[name]) if form == "s" else self.words[name]
        if name[0] in "PQL" and (len(name) == 1 or name[1:].isdigit()):
            return self.persons[self._index(name, slot.step)]
        return self._number(slot)

    def _person(self, name: str, form: str) -> str:
        if form == "pronoun" or name == "his":
            return PRONOUNS[self.girl][name]
        return self.words["S"] + ("'s" if name == "S's" else "")

    def _index(self, name: str, step: int) -> int:
        if name[1:]:
            return int(name[1:])
        if name == "L":
            return len(self.moves) - 2
        return step - 1 if name == "Q" else step

    def _number(self, slot: Slot) -> str:
        name = slot.name
        if name == "value":
            return str(self.value)
        env = self.solved[slot.step]
        value = int(name[1:]) if name[1:].isdigit() and name[0] == "." else env[name.lstrip(".")]
        form = slot.form
        if form == "x":
            return TIMES[value]
        if form == "word" and value <= WORD_LIMIT:
            return WORDS[value]
        if form == "$":
            return f"${value}"
        return f"{value} dollars" if form == "dollars" else str(value)

    def _equation(self, step: int, index: int, form: str) -> str:
        calc, env = self.moves[step].calcs[index - 1], self.solved[step]
        x, y = (int(side) if side.isdigit() else env[side] for side in (calc.x, calc.y))
        if "x" in form:
            x, y = y, x
        sign = "x" if "~" in form else calc.op
        steps = by_tens(x, y) if calc.op == "*" else ""
        value = env[f"r{index}"]
        if form.startswith("$"):
            return f"{x} {sign} {y} = {steps}${value}"
        tail = " dollars" if form.startswith("dollars") else ""
        return f"{x} {sign} {y} = {steps}{value}{tail}"
