"""MATH-500: competition problems, answered in words and scored by mathematical equality.

Official items are asked without examples, under the generic system message, for step-by-step
reasoning and a boxed answer. Embedded items are the bare question, which is what the small
built-in model was trained on; its answers end in a box too.

The answer is found by `tasks.latex` and compared by math-verify (`tasks.equality`), whose rules
hold: order matters in a tuple and not in a list, `12\\%` equals 12 and 0.12, a half-open interval
is not an open one, `\\pm 2` is two values, and units don't count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tasks.embedded.math500 import eval_items
from tasks.embedded.problem import as_items
from tasks.equality import Equality, Verdict
from tasks.item import EMBEDDED_ITEMS, Item, Message, Score, Source
from tasks.latex import Found, find, tidy
from tasks.numbers import before_next_question
from tasks.published import MATH500_TEST
from tasks.sources import official_rows
from tasks.wording import boxed_prompt, wording_hash

PERCENT = re.compile(r"\s*\\?%$")


class Math500:
    """The task `math500`. embedded_items: how many generated problems there are."""

    name = "math500"
    sources: tuple[Source, ...] = ("embedded", "official")
    #: Embedded answers have at most about 235 characters.
    max_new_tokens: Mapping[Source, int] = MappingProxyType({"embedded": 256, "official": 2048})

    def __init__(self, *, embedded_items: int = EMBEDDED_ITEMS) -> None:
        self._embedded_items = embedded_items
        self._equality = Equality()

    def count(self, source: Source) -> int:
        """Number of items of a source."""
        return MATH500_TEST.count if source == "official" else self._embedded_items

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items of a source in their order."""
        if source == "official":
            return _official(data_dir)
        return as_items(self.name, eval_items(self._embedded_items))

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Extract the answer and compare it with the reference."""
        gold = tidy(item.gold)
        if not gold:
            raise ValueError(f"{item.id}: the reference answer {item.gold!r} is empty")
        found = find(before_next_question(text))
        if found.extracted_by == "fallback" and not finished:
            # The last formula of a text that was cut off is a step on the way, or the question's.
            found = Found(None, "none")
        answer = tidy(found.answer or "")
        verdict = self._compare(gold, answer) if answer else "different"
        return Score(
            correct=verdict == "equal",
            answer=found.answer,
            extracted_by=found.extracted_by,
            finished=finished,
            details={"comparison": verdict} if verdict == "too long" else {},
        )

    def _compare(self, gold: str, answer: str) -> Verdict:
        """`12\\%` is 12 as well as 0.12, and so it is with a minus, which math-verify misses."""
        bare = PERCENT.sub("", answer)
        if bare != answer:
            # What math-verify itself makes of the sign depends on the version of its parser.
            for reference, value in (
                (PERCENT.sub("", gold), bare),
                (gold, rf"\frac{{{bare}}}{{100}}"),
            ):
                if self._equality.compare(reference, value) == "equal":
                    return "equal"
        return self._equality.compare(gold, answer)

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording."""
        return wording_hash(prompt(source, "{problem}"))


def prompt(source: Source, problem: str) -> tuple[Message, ...]:
    """The chat turns that ask a problem."""
    if source == "embedded":
        return (Message(role="user", content=problem),)
    return boxed_prompt(problem)


def _official(data_dir: Path | None) -> list[Item]:
    """All problems in the order of the published file."""
    return [
        Item(
            id=f"math500/test/{number:04d}",
            messages=prompt("official", row.text("problem")),
            gold=row.text("answer"),
            subject=row.text("subject"),
            level=str(row.whole("level")),
        )
        for number, row in enumerate(official_rows(MATH500_TEST, data_dir))
    ]
