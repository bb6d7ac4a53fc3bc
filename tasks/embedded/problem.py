"""A generated problem, and the rule that keeps evaluation apart from training.

Every problem has a template (its whole ordered combination of family and phrases, without the
things filled in) and what it was filled with. A checksum of each assigns it to a split, so the two
splits can share neither, however many problems are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from tasks.item import Item, Message

Split = Literal["train", "eval"]

EVAL_ONE_IN = 8
EVAL_SEED = 20250929


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The turns that ask, and the worked answer that training teaches.

    template, filling: what decides the split. gold: the reference answer as the task's scorer
    reads it. subject, level: as in `tasks.item.Item`.
    """

    messages: tuple[Message, ...]
    answer: str
    gold: str
    template: str
    filling: str
    subject: str = ""
    level: str = ""


def in_eval(kind: Literal["template", "filling"], text: str) -> bool:
    """Whether a template, or what fills it, is set aside for evaluation."""
    return crc32(f"{kind}:{text}".encode()) % EVAL_ONE_IN == 0


def as_items(task: str, problems: Iterable[Problem]) -> list[Item]:
    """Evaluation problems as a task's items, numbered in their order."""
    return [
        Item(
            id=f"{task}/embedded/{number:04d}",
            messages=problem.messages,
            gold=problem.gold,
            subject=problem.subject,
            level=problem.level,
        )
        for number, problem in enumerate(problems)
    ]
