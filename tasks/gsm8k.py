"""GSM8K: grade-school word problems, answered in words and scored by exact numeric equality.

Official items are asked without examples, under the generic system message, for step-by-step
reasoning and a boxed answer. Embedded items are the bare question, which is what the small
built-in model was trained on; its answers end in a line `#### N`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tasks.embedded.gsm8k import eval_items
from tasks.item import Item, Message, Score, Source
from tasks.numbers import extract, parse_number
from tasks.sources import official_file, read_rows

OFFICIAL_COUNT = 1319
EMBEDDED_COUNT = 200
SYSTEM = "You are a helpful assistant."
INSTRUCTION = (
    "Think through the problem one step at a time, and write your final answer inside \\boxed{}."
)
OFFICIAL_PROMPT = "{question}\n" + INSTRUCTION.replace("{}", "{{}}")
EMBEDDED_PROMPT = "{question}"
GOLD_MARKER = "####"


class Gsm8k:
    """The task `gsm8k`."""

    name = "gsm8k"
    sources: tuple[Source, ...] = ("embedded", "official")
    #: Embedded answers have at most about 165 tokens of three characters.
    max_new_tokens: Mapping[Source, int] = MappingProxyType({"embedded": 256, "official": 2048})

    def count(self, source: Source) -> int:
        """Number of items of a source."""
        return OFFICIAL_COUNT if source == "official" else EMBEDDED_COUNT

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items of a source in their order."""
        if source == "official":
            return _official(data_dir)
        return [
            Item(
                id=f"gsm8k/embedded/{number:04d}",
                messages=prompt(source, problem.question),
                gold=problem.gold,
                level=str(problem.steps),
            )
            for number, problem in enumerate(eval_items(EMBEDDED_COUNT))
        ]

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Extract the answer's number and compare it with the reference, exactly."""
        found = extract(text)
        gold = parse_number(item.gold)
        if gold is None:
            raise ValueError(f"{item.id}: the reference answer {item.gold!r} is not a number")
        return Score(
            correct=found.value is not None and found.value == gold,
            answer=found.answer,
            extracted_by=found.extracted_by,
            finished=finished,
        )

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording."""
        wording = [f"{turn.role}: {turn.content}" for turn in prompt(source, "{question}")]
        return hashlib.sha256("\n".join(wording).encode()).hexdigest()


def prompt(source: Source, question: str) -> tuple[Message, ...]:
    """The chat turns that ask a question."""
    if source == "embedded":
        return (Message(role="user", content=EMBEDDED_PROMPT.format(question=question)),)
    return (
        Message(role="system", content=SYSTEM),
        Message(role="user", content=OFFICIAL_PROMPT.format(question=question)),
    )


def _official(data_dir: Path | None) -> list[Item]:
    path = official_file(data_dir, "gsm8k/test.jsonl")
    rows = read_rows(path, ("question", "answer"), OFFICIAL_COUNT)
    items: list[Item] = []
    for number, row in enumerate(rows):
        _, marker, gold = row["answer"].rpartition(GOLD_MARKER)
        gold = gold.strip().replace(",", "")
        if not marker or parse_number(gold) is None:
            raise ValueError(f"{path}, item {number}: expected a number after {GOLD_MARKER}")
        items.append(
            Item(
                id=f"gsm8k/test/{number:04d}",
                messages=prompt("official", row["question"]),
                gold=gold,
            )
        )
    return items
