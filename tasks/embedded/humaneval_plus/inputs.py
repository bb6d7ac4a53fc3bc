"""Arguments to call the functions with: typical ones, edges, and values near the constants.

A function that compares with 7 is told from one that compares with 8, or that takes `>` for `>=`,
by arguments that hold 6, 7 and 8. So what is drawn mixes a problem's constants with other values.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tasks.embedded.humaneval_plus.family import Arg, Constant

BASE_CALLS = 4
PLUS_CALLS = 12
MAX_DRAWS = 60
#: Kinds of a first argument that takes the constants' values one by one, and how many at most.
EXACT = ("int", "natural", "positive", "score")
MOST_EXACT = 7
LOWEST, HIGHEST = -12, 30
LETTERS = "aabcdeeefghiilmnoorsttuvy"
VOCABULARY = (
    "apple", "river", "stone", "level", "tree", "moon", "banana", "kayak", "letter", "ox",
    "cat", "tac", "on", "no", "evening", "summer", "a", "noon", "garden", "seed", "all",
)  # fmt: skip


class Near(NamedTuple):
    """What a problem's constants suggest to try."""

    numbers: list[int]
    texts: list[str]


Draw = Callable[[random.Random, Near], object]


class Kind(NamedTuple):
    """A kind of argument: its type as a hint, its edges, and how another value is drawn."""

    hint: str
    edges: tuple[object, ...]
    draw: Draw


def near(constants: Sequence[Constant]) -> Near:
    """Numbers at and around the constants, products of two of them, and the words among them."""
    numbers = [value for value in constants if isinstance(value, int)]
    products = [one * two for one, two in pairwise(numbers)]
    return Near(
        [value + step for value in numbers for step in (0, 0, -1, 1)] + products * 2,
        [value for value in constants if isinstance(value, str) and value.isalpha()],
    )


def _pick(rng: random.Random, values: Sequence[object]) -> object:
    return values[int(rng.random() * len(values))]


def _number(rng: random.Random, close: Near) -> int:
    if close.numbers and rng.random() < 0.35:
        return close.numbers[int(rng.random() * len(close.numbers))]
    return LOWEST + int(rng.random() * (HIGHEST - LOWEST + 1))


def _numbers(rng: random.Random, close: Near) -> list[int]:
    values = [_number(rng, close) for _ in range(1 + int(rng.random() * 8))]
    return values + values[:2] if rng.random() < 0.3 else values


def _natural(rng: random.Random, close: Near) -> int:
    if rng.random() < 0.3:
        return int(rng.random() * 1000)
    return abs(_number(rng, close))


def _positive(rng: random.Random, close: Near) -> int:
    return 1 + _natural(rng, close)


def _small(rng: random.Random, close: Near) -> int:
    return int(rng.random() * 13)


def _score(rng: random.Random, close: Near) -> int:
    return abs(_number(rng, close)) % 101


def _side(rng: random.Random, close: Near) -> int:
    return 3 + int(rng.random() * 3)


def _two_numbers(rng: random.Random, close: Near) -> list[int]:
    """Numbers of which at least two differ."""
    return [*_numbers(rng, close), 31]


def _word(rng: random.Random, close: Near) -> str:
    if rng.random() < 0.3:
        return str(_pick(rng, VOCABULARY))
    letters = [str(_pick(rng, LETTERS)) for _ in range(1 + int(rng.random() * 8))]
    if close.texts:
        letters += [text[0] for text in close.texts if rng.random() < 0.7] * 2
        rng.shuffle(letters)
    if rng.random() < 0.3:
        letters += letters[::-1]
    return "".join(letters)


def _words(rng: random.Random, close: Near) -> list[str]:
    words = [_word(rng, close) for _ in range(1 + int(rng.random() * 5))]
    for text in close.texts:
        words[0] = str(_pick(rng, (text + words[0], words[0] + text, words[0])))
    return words + words[:1] if rng.random() < 0.4 else words


def _sentence(rng: random.Random, close: Near) -> str:
    return " ".join(_words(rng, close))


def _counts(rng: random.Random, close: Near) -> dict[str, int]:
    return {word: _number(rng, close) for word in _words(rng, close)}


LISTS: tuple[object, ...] = (
    [0],
    [5],
    [3, 3, 3],
    [-4, -1, -7],
    [2, 9, 4, 9, 2],
    [1, 2, 3, 4, 5, 6],
)
WORD_LISTS: tuple[object, ...] = (["a"], ["noon", "noon"], ["ox", "a", "ox", "tree"])
PHRASES: tuple[object, ...] = ("a", "noon on noon", "the moon and the tree")
DICTS: tuple[object, ...] = ({"a": 0}, {"a": 5, "b": 5}, {"ox": -3, "tree": 12, "a": 4})
KINDS: Mapping[str, Kind] = {
    "int": Kind("int", (0, 1, -1, -8, 100), _number),
    "natural": Kind("int", (0, 1, 2, 10, 121, 999), _natural),
    "positive": Kind("int", (1, 2, 3, 12, 97), _positive),
    "small": Kind("int", (0, 1, 2, 3), _small),
    "score": Kind("int", (0, 1, 100), _score),
    "side": Kind("int", (3, 4, 5), _side),
    "ints": Kind("list[int]", ([], *LISTS), _numbers),
    "some ints": Kind("list[int]", LISTS, _numbers),
    "two ints": Kind("list[int]", ([4, 7], [9, 9, 1], [-2, -5, -2]), _two_numbers),
    "word": Kind("str", ("", "a", "noon", "zzz"), _word),
    "sentence": Kind("str", ("", *PHRASES), _sentence),
    "words": Kind("list[str]", ([], *WORD_LISTS), _words),
    "some words": Kind("list[str]", WORD_LISTS, _words),
    "counts": Kind("dict[str, int]", ({}, *DICTS), _counts),
    "some counts": Kind("dict[str, int]", DICTS, _counts),
}


def calls(
    rng: random.Random, args: Sequence[Arg], constants: Sequence[Constant]
) -> tuple[list[list[object]], list[list[object]]]:
    """The base calls, typical ones, and the further ones, edges first; no call comes twice."""
    close = near(constants)
    kinds = [KINDS[arg.kind] for arg in args]
    base: list[list[object]] = []
    plus: list[list[object]] = []
    seen: set[str] = set()
    for place in range(max(len(kind.edges) for kind in kinds)):
        call = [kind.edges[place % len(kind.edges)] for kind in kinds]
        _add(plus, call, seen)
    if args[0].kind in EXACT:
        for value in [value for value in dict.fromkeys(close.numbers) if value > 0][:MOST_EXACT]:
            _add(plus, [value, *(kind.draw(rng, close) for kind in kinds[1:])], seen)
    for _ in range(MAX_DRAWS):
        call = [kind.draw(rng, close) for kind in kinds]
        _add(base if len(base) < BASE_CALLS else plus, call, seen)
        if len(base) == BASE_CALLS and len(plus) >= PLUS_CALLS:
            break
    return base, plus


def _add(found: list[list[object]], call: list[object], seen: set[str]) -> None:
    text = json.dumps(call)
    if text not in seen:
        seen.add(text)
        found.append(call)
