"""What a kind of problem is made of: wordings with choices, and a way to draw and work one.

A wording is text with choices `[Find|Compute]` and places `<e>`. Choices and the letters for the
unknowns make the template; numbers, drawn afterwards, fill the places. The worked steps may name
letters too, so a solution speaks of the unknown as its question does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
#: A sentence that asks and, its first words being chosen freely, still ends in a full stop.
ASKING = re.compile(r"(?:(?<=^)|(?<=[.?] ))([^.?]*\b(?:[Ww]hat|[Hh]ow)\b[^.?]*)\.")
PLACE = re.compile(r"<(\w+)>")

ALGEBRA = "Algebra"
PREALGEBRA = "Prealgebra"
INTERMEDIATE = "Intermediate Algebra"
PRECALCULUS = "Precalculus"
NUMBERS = "Number Theory"
GEOMETRY = "Geometry"
COUNTING = "Counting & Probability"

#: Letters an unknown goes by.
UNKNOWN: Mapping[str, str] = {"x": "x y t n a w"}
#: Letters for a function and its argument.
FUNCTION: Mapping[str, str] = {"f": "f g h p", "x": "x t n"}
#: Letters for two unknowns, of which the question asks both.
PAIR: Mapping[str, str] = {"xy": "xy ab mn pq uv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A problem with its numbers: what fills the question's places, the steps, the answer."""

    given: Mapping[str, str]
    steps: tuple[str, ...]
    gold: str
    filling: str


@dataclass(frozen=True, slots=True)
class Family:
    """Problems that are worked in the same way.

    level: 1 to 5 as in MATH, by the number of steps. letters: the choices for each letter
    that the wordings or the steps name.
    """

    key: str
    subject: str
    level: int
    asks: tuple[str, ...]
    work: Callable[[random.Random], Work]
    letters: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A question without its numbers. template: all choices that led to it, in order."""

    text: str
    letters: Mapping[str, str]
    template: str


def pick(rng: random.Random, options: Sequence[T]) -> T:
    """One of some options, by a method that no version of Python will change."""
    return options[int(rng.random() * len(options))]


def whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high, both included, never 0 or ±1 when the range spans 0.

    A coefficient of 0 or 1 would call for another way of writing.
    """
    while True:
        number = low + int(rng.random() * (high - low + 1))
        if low >= 0 or abs(number) > 1:
            return number


def worked(numbers: Sequence[int | str], gold: int | str, *steps: str, **given: str | int) -> Work:
    """A `Work` from the numbers that were drawn, the answer, the steps and the places."""
    return Work(
        given={name: str(value) for name, value in given.items()},
        steps=steps,
        gold=str(gold),
        filling=" ".join(map(str, numbers)),
    )


def wording(rng: random.Random, family: Family) -> Wording:
    """A question of a family, still without numbers."""
    index = int(rng.random() * len(family.asks))
    made = [family.key, str(index)]

    def choose(found: re.Match[str]) -> str:
        options = found[1].split("|")
        number = int(rng.random() * len(options))
        made.append(str(number))
        return options[number]

    text = ASKING.sub(r"\1?", CHOICE.sub(choose, family.asks[index]))
    letters: dict[str, str] = {}
    for place, choices in family.letters.items():
        chosen = pick(rng, choices.split())
        made.append(chosen)
        letters |= dict(zip(place, chosen, strict=True))
    return Wording(text=text, letters=letters, template="/".join(made))


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with its places filled."""
    return PLACE.sub(lambda found: values[found[1]], text)
