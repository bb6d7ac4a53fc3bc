"""Answers as models write them, right and wrong ones, made from official items with a seed.

Each has a `kind`: how it is written. Whether it is right is part of its making, so every judge of
answers can be held against it, ours and others'.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """An answer: its item's place, how it is written, its text, whether it is right."""

    place: int
    kind: str
    text: str
    right: bool


NUMBER_KINDS = {
    "marker": "{work}\n#### {n}",
    "marker and money": "{work}\n#### ${n}.00",
    "marker and run-on": "{work}\n#### {n}\n\nQuestion: Ann has 3 pens and buys 4. How many?",
    "box": "{work}\nSo the answer is $\\boxed{{{n}}}$.",
    "box and unit": "{work}\n\\[ \\boxed{{{n} \\text{{ dollars}}}} \\]",
    "box and later words": "{work}\n\\boxed{{{n}}}\nThis took 2 steps.",
    "two boxes": "{work} First \\boxed{{7}}. Finally \\boxed{{{n}}}.",
    "box and expression": "{work}\n\\boxed{{{n} \\times 1}}",
    "prose": "{work} Therefore the total is {n}.",
    "prose and step": "{work} The total is {n} (see step 2)",
    "bold": "{work}\n\n**{n}**",
    "decimals": "{work} It comes to {n}.00",
    "cut off": "{work} So we have {n} - ",
}
FORMULA_KINDS = {
    "box": "We get\n\\[ \\boxed{{{a}}} \\]",
    "box in words": "Hence the answer is $\\boxed{{{a}}}$. I hope this helps.",
    "two boxes": "A first guess is $\\boxed{{7}}$, but it is $\\boxed{{{a}}}$.",
    "final answer": "Final Answer: The final answer is ${a}$. I hope it is correct.",
    "last formula": "Working through all the cases leaves only ${a}$.",
    "brackets": "So the value is\n\\[ {a} \\]",
    "box cut off": "So the answer is $\\boxed{{{a}",
    "cut off": "First we note that the problem is symmetric, so",
}


def number_answers(golds: list[str], count: int, seed: int) -> list[Made]:
    """Answers to items whose reference is a whole number."""
    dice = random.Random(seed)
    made: list[Made] = []
    kinds = list(NUMBER_KINDS)
    for index in range(count):
        place = dice.randrange(len(golds))
        right = dice.random() < 0.6
        number = int(golds[place]) + (0 if right else dice.choice([-10, -1, 1, 2, 100]))
        kind = kinds[index % len(kinds)]
        written = f"{number:,}" if dice.random() < 0.5 else str(number)
        text = NUMBER_KINDS[kind].format(work="We add 3 and 4 first.", n=written)
        made.append(Made(place=place, kind=kind, text=text, right=right))
    return made


def formula_answers(golds: list[str], count: int, seed: int) -> list[Made]:
    """Answers to items whose reference is a formula; a wrong one is another item's reference."""
    dice = random.Random(seed)
    made: list[Made] = []
    kinds = list(FORMULA_KINDS)
    for index in range(count):
        place = dice.randrange(len(golds))
        kind = kinds[index % len(kinds)]
        right = dice.random() < 0.6
        others = [gold for gold in golds if gold != golds[place]]
        answer = golds[place] if right else dice.choice(others)
        text = FORMULA_KINDS[kind].format(a=answer)
        made.append(Made(place=place, kind=kind, text=text, right=right and "cut" not in kind))
    return made
