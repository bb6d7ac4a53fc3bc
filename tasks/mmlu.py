"""MMLU: four-choice questions of 57 subjects, answered with a letter.

Each official question is asked after the five development questions of its subject, as chat turns
under the generic system message; every question names its subject. Embedded items have five
examples of their subject too, in the shorter words that the small built-in model was trained on,
without a system message. The letter is read by `tasks.letters`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tasks.embedded.mmlu import eval_items
from tasks.embedded.mmlu.questions import answered
from tasks.embedded.mmlu.questions import ask as ask_embedded
from tasks.embedded.problem import as_items
from tasks.item import EMBEDDED_ITEMS, Item, Message, Score, Source
from tasks.letters import LETTERS, NONE, choose
from tasks.published import MMLU_DEV, MMLU_TEST
from tasks.sources import Row, official_rows
from tasks.wording import SYSTEM, wording_hash

SHOTS = 5


class Mmlu:
    """The task `mmlu`. embedded_items: how many generated problems there are."""

    name = "mmlu"
    sources: tuple[Source, ...] = ("embedded", "official")
    #: Embedded answers are the options, a sentence and the letter: up to 70 tokens of nano.
    max_new_tokens: Mapping[Source, int] = MappingProxyType({"embedded": 96, "official": 2048})

    def __init__(self, *, embedded_items: int = EMBEDDED_ITEMS) -> None:
        self._embedded_items = embedded_items

    def count(self, source: Source) -> int:
        """Number of items of a source."""
        return MMLU_TEST.count if source == "official" else self._embedded_items

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items of a source in their order."""
        if source == "official":
            return _official(data_dir)
        return as_items(self.name, eval_items(self._embedded_items))

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Read the chosen letter and compare it with the reference."""
        if item.gold not in tuple(LETTERS):
            raise ValueError(
                f"{item.id}: the reference answer {item.gold!r} is none of A, B, C, D"
            )
        choice = choose(text)
        if choice.extracted_by == "fallback" and not finished:
            choice = NONE
        return Score(
            correct=choice.letter == item.gold,
            answer=choice.letter,
            extracted_by=choice.extracted_by,
            finished=finished,
        )

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording."""
        options = ["{a}", "{b}", "{c}", "{d}"]
        if source == "embedded":
            question = ask_embedded("{question}", options)
            shown = answered("{fact}", options, "{letter}")
            system, example = [], Message(role="assistant", content=shown)
        else:
            question = ask("{subject}", "{question}", options)
            system, example = [Message(role="system", content=SYSTEM)], answer("{letter}")
        turn = Message(role="user", content=question)
        return wording_hash([*system, *[turn, example] * SHOTS, turn])


def ask(subject: str, question: str, choices: Sequence[str]) -> str:
    """The words of one question."""
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=True)]
    hint = (
        f"Here is a multiple-choice question on {subject.replace('_', ' ')} with one right option."
        " Reply with its letter: A, B, C or D."
    )
    return "\n".join([hint, f"Question: {question}", *options, "Answer:"])


def answer(letter: str) -> Message:
    """The turn that answers an example."""
    return Message(role="assistant", content=letter)


def _official(data_dir: Path | None) -> list[Item]:
    """All questions in the order of the published file."""
    rows = official_rows(MMLU_TEST, data_dir)
    examples = _examples(official_rows(MMLU_DEV, data_dir))
    items: list[Item] = []
    for number, row in enumerate(rows):
        subject = row.text("subject")
        if len(examples[subject]) != 2 * SHOTS:
            raise ValueError(
                f"{MMLU_DEV.name} has {len(examples[subject]) // 2} questions of {subject},"
                f" which {row.place} needs; expected {SHOTS}"
            )
        items.append(
            Item(
                id=f"mmlu/test/{number:05d}",
                messages=(
                    Message(role="system", content=SYSTEM),
                    *examples[subject],
                    Message(role="user", content=_question(row)),
                ),
                gold=_gold(row),
                subject=subject,
            )
        )
    return items


def _examples(rows: Sequence[Row]) -> Mapping[str, list[Message]]:
    """The first five development questions of each subject, as turns."""
    turns: defaultdict[str, list[Message]] = defaultdict(list)
    for row in rows:
        of_subject = turns[row.text("subject")]
        if len(of_subject) < 2 * SHOTS:
            of_subject += [Message(role="user", content=_question(row)), answer(_gold(row))]
    return turns


def _question(row: Row) -> str:
    return ask(row.text("subject"), row.text("question"), row.texts("choices", len(LETTERS)))


def _gold(row: Row) -> str:
    number = row.whole("answer")
    if not 0 <= number < len(LETTERS):
        raise ValueError(f"{row.place}: expected 0, 1, 2 or 3 in the field 'answer', got {number}")
    return LETTERS[number]
