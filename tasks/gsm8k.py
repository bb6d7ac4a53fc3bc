"""GSM8K: grade-school word problems, answered in words and scored by exact numeric equality.

Official items are asked without examples, under the generic system message, for step-by-step
reasoning and a boxed answer. Embedded items are the bare question, which is what the small
built-in model was trained on; its answers end in a line `#### N`.

Numbers are read and compared exactly by `tasks.numbers`, without math-verify, whose comparison
rounds to six places. A box that holds an expression instead of one number (`2 \\times 9`) has no
number to read off, and is compared by math-verify.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tasks.boxes import last_box
from tasks.embedded.gsm8k import eval_items
from tasks.embedded.problem import as_items
from tasks.equality import Equality
from tasks.item import EMBEDDED_ITEMS, Item, Message, Score, Source
from tasks.latex import tidy
from tasks.numbers import (
    FRACTION,
    Found,
    before_next_question,
    extract,
    numbers_in,
    parse_number,
    plain,
)
from tasks.published import GSM8K_TEST
from tasks.sources import official_rows
from tasks.wording import boxed_prompt, wording_hash

OFFICIAL_COUNT = GSM8K_TEST.count
GOLD_MARKER = "####"
THOUSANDS = re.compile(r"(?<=\d)(?:,|\{,\})(?=\d{3}(?!\d))")
#: What doesn't make a number in a box a part of an expression: fractions, words, emphasis.
HARMLESS = re.compile(FRACTION + r"|\\(?:text|textbf|mathrm|mathbf|mbox|quad|qquad)\b|\*\*")
OPERATION = re.compile(r"\\[A-Za-z]|[*^_+×·÷√]|\d!|\d\s*[xyzn]\b")


class Gsm8k:
    """The task `gsm8k`. embedded_items: how many generated problems there are."""

    name = "gsm8k"
    sources: tuple[Source, ...] = ("embedded", "official")
    #: Embedded answers have at most about 230 tokens of nano.
    max_new_tokens: Mapping[Source, int] = MappingProxyType({"embedded": 352, "official": 2048})

    def __init__(self, *, embedded_items: int = EMBEDDED_ITEMS) -> None:
        self._embedded_items = embedded_items
        self._equality = Equality()

    def count(self, source: Source) -> int:
        """Number of items of a source."""
        return OFFICIAL_COUNT if source == "official" else self._embedded_items

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items of a source in their order."""
        if source == "official":
            return _official(data_dir)
        stories = eval_items(self._embedded_items)
        return as_items(self.name, (story.as_problem() for story in stories))

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Extract the answer's number and compare it with the reference, exactly."""
        gold = parse_number(item.gold)
        if gold is None:
            raise ValueError(f"{item.id}: the reference answer {item.gold!r} is not a number")
        text = before_next_question(text)
        box = last_box(text)
        if box is not None and is_expression(box):
            return Score(
                correct=self._equality.compare(str(gold), THOUSANDS.sub("", tidy(box))) == "equal",
                answer=box.strip(),
                extracted_by="boxed",
                finished=finished,
            )
        found = extract(text)
        if found.extracted_by == "fallback" and not finished:
            # The last number of a text that was cut off is a step on the way.
            found = Found(None, None, "none")
        return Score(
            correct=found.value is not None and found.value == gold,
            answer=found.answer,
            extracted_by=found.extracted_by,
            finished=finished,
        )

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording."""
        return wording_hash(prompt(source, "{question}"))


def prompt(source: Source, question: str) -> tuple[Message, ...]:
    """The chat turns that ask a question."""
    if source == "embedded":
        return (Message(role="user", content=question),)
    return boxed_prompt(question)


def is_expression(box: str) -> bool:
    """Whether a box holds more than one number with its unit, such as `2 \\times 9` or `3^2`."""
    value = plain(box.rpartition("=")[2])
    numbers = numbers_in(value)
    if not numbers:
        return False
    return len(numbers) > 1 or OPERATION.search(HARMLESS.sub("", value)) is not None


def _official(data_dir: Path | None) -> list[Item]:
    items: list[Item] = []
    for number, row in enumerate(official_rows(GSM8K_TEST, data_dir)):
        _, marker, gold = row.text("answer").rpartition(GOLD_MARKER)
        gold = gold.strip().replace(",", "")
        if not marker or parse_number(gold) is None:
            raise ValueError(f"{row.place}: expected a number after {GOLD_MARKER}")
        items.append(
            Item(
                id=f"gsm8k/test/{number:04d}",
                messages=prompt("official", row.text("question")),
                gold=gold,
            )
        )
    return items
