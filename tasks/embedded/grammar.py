"""A small phrase grammar: `[a|b|c]` chooses, `{slot}` stays open, `<a>` is an amount of money.

A grammar string is compiled once. Expanding it draws every choice and leaves a list of tokens
(literal text or open slots) together with the choices made, so that a wording has an identity
before any name or number is filled in.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
CONTROL = re.compile(r"([\[\]|]|\{[^}]*\})")
MONEY = re.compile(r"<(\w+)>")


class Slot(NamedTuple):
    """An open place in a wording: `name` and how to print it; `step` owns number slots."""

    name: str
    form: str = ""
    step: int = -1


class Choice(NamedTuple):
    """One of several sequences."""

    options: tuple[tuple[Node, ...], ...]


Node = str | Slot | Choice
Token = str | Slot


@dataclass(slots=True)
class Wording:
    """Tokens chosen so far, the choices that led there, and who has been named already."""

    rng: random.Random
    tokens: list[Token] = field(default_factory=list[Token])
    choices: list[str] = field(default_factory=list[str])
    named: bool = False
    words: bool = False

    def pick(self, n: int) -> int:
        """A recorded uniform choice among n."""
        k = int(self.rng.random() * n)
        self.choices.append(DIGITS[k])
        return k

    def chance(self, share: float) -> bool:
        """A recorded yes/no choice."""
        yes = self.rng.random() < share
        self.choices.append("1" if yes else "0")
        return yes

    def weighted(self, weights: tuple[int, ...]) -> int:
        """A recorded choice with integer weights."""
        mark = self.rng.random() * sum(weights)
        k = 0
        while mark >= weights[k]:
            mark -= weights[k]
            k += 1
        self.choices.append(DIGITS[k])
        return k

    def say(self, text: str, step: int = -1) -> None:
        """Append an expansion of the grammar string `text`; its numbers belong to `step`."""
        self._expand(parse(text), step)

    def _expand(self, nodes: tuple[Node, ...], step: int) -> None:
        for node in nodes:
            if isinstance(node, str):
                self.tokens.append(node)
            elif isinstance(node, Slot):
                self.tokens.append(self._slot(node, step))
            else:
                self._expand(node.options[self.pick(len(node.options))], step)

    def _slot(self, slot: Slot, step: int) -> Slot:
        if slot.name in MENTIONS:
            again = self.named and self.chance(0.6)
            self.named = True
            return Slot(slot.name, "pronoun" if again else "name")
        if slot.name == "N":
            self.named = True
        if slot.name[0] in "PQL":
            return Slot(slot.name, slot.form, step)
        if len(slot.name) == 1 and slot.name in "abcd":
            form = slot.form
            if not form and self.words and self.chance(0.3):
                form = "word"
            return Slot(slot.name, form, step)
        return slot


MENTIONS = frozenset({"S", "S's", "o"})


def _branches(text: str) -> bool:
    """Whether there is a `|` outside all brackets."""
    depth = 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "|" and depth == 0:
            return True
    return False


@cache
def parse(text: str) -> tuple[Node, ...]:
    """Compile a grammar string; unbalanced brackets are a mistake in the source text."""
    text = MONEY.sub(r"[${\1:n}|${\1:n}|${\1:n}|{\1:n} dollars]", text)
    if _branches(text):
        text = f"[{text}]"
    stack: list[list[list[Node]]] = [[[]]]
    for part in CONTROL.split(text):
        if part == "[":
            stack.append([[]])
        elif part == "|" and len(stack) > 1:
            stack[-1].append([])
        elif part == "]":
            options = stack.pop()
            assert stack, f"unbalanced brackets in {text!r}"
            stack[-1][-1].append(Choice(tuple(tuple(option) for option in options)))
        elif part.startswith("{"):
            name, _, form = part[1:-1].partition(":")
            stack[-1][-1].append(Slot(name, form))
        elif part:
            stack[-1][-1].append(part)
    assert len(stack) == 1, f"unbalanced brackets in {text!r}"
    return tuple(stack[0][0])
