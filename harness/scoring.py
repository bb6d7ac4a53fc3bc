"""`harness score`: stored answers of any engine in, verdicts out, as JSON lines; no model needed.

All input is checked before the first answer is scored.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.json_lines import Line, naming_line, read_objects
from tasks import Item, Score, Source, Task
from tasks.letters import LETTERS

INPUT_SHAPE = '{"id": ..., "text": "..."} or {"id": ..., "gold": ..., "text": "..."}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An input line: its own id, the item it answers, its text, whether it was cut off."""

    id: str | int
    item: Item
    text: str
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An answer with its verdict."""

    answer: Answer
    score: Score

    def row(self) -> dict[str, Any]:
        """The output line: the verdict's fields in their order, then the task's own details."""
        fields = asdict(self.score)
        details = fields.pop("details")
        return {"id": self.answer.id} | fields | details


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """An input line, read and not yet tied to an item. gold: None when it names an item."""

    number: int
    id: str | int
    gold: str | None
    text: str
    finished: bool


def read_answers(
    lines: Sequence[str], shown: str, task: Task, data_dir: Path | None
) -> list[Answer]:
    """The answers of JSON lines; `shown` names where they are from.

    Items are read only when a line names one, and official ones only when it isn't an embedded
    one. Raises ValueError naming the line of the first fault.
    """
    read: list[_Line] = []
    for line in read_objects(lines, shown, INPUT_SHAPE):
        with naming_line(shown, line.number):
            read.append(_line(line, task))
    if not read:
        raise ValueError(f"{shown} holds no answer; give lines of {INPUT_SHAPE}")
    items = _named_items([line for line in read if line.gold is None], task, data_dir)
    answers: list[Answer] = []
    numbers: dict[str, int] = {}
    for line in read:
        with naming_line(shown, line.number):
            item_id = _item_id(line, task)
            if item_id in numbers:
                raise ValueError(f"{item_id} was answered in line {numbers[item_id]} already")
            answers.append(_answer(line, items, task))
        numbers[item_id] = line.number
    return answers


def score_answers(
    task: Task, answers: Sequence[Answer], advance: Callable[[str], None]
) -> list[Scored]:
    """A verdict for each answer, in order; `advance` is called after each.

    A task that judges many answers side by side has a method `score_all` for it.
    """
    work = [(answer.item, answer.text, answer.finished) for answer in answers]
    together = getattr(task, "score_all", None)
    scores: Iterable[Score] = (
        itertools.starmap(task.score, work) if together is None else together(work)
    )
    scored: list[Scored] = []
    for answer, score in zip(answers, scores, strict=True):
        scored.append(Scored(answer=answer, score=score))
        advance(str(answer.id))
    return scored


def _line(line: Line, task: Task) -> _Line:
    row = line.fields
    text, finish = row.get("text"), row.get("finish")
    if text is None and row.get("error"):
        # What `harness decode` writes of an answer that failed: none, and not finished.
        text, finish = "", "length"
    if not isinstance(text, str):
        raise ValueError(f"text is {text!r:.80}; it must be a string")
    if not isinstance(finish, str | None):
        raise ValueError(f'finish is {finish!r:.80}; it must be a string, "length" if cut off')
    return _Line(
        number=line.number,
        id=_writable(line.id) if isinstance(line.id, str) else line.id,
        gold=_gold(row["gold"], task) if "gold" in row else None,
        text=_writable(text),
        finished=finish != "length",
    )


def _writable(text: str) -> str:
    """JSON can spell half a surrogate pair, which no file can hold; it becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _gold(value: object, task: Task) -> str:
    """The reference answer of a line; for mmlu a letter, or its number from 0."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"gold is {value!r:.80}; it must be a string or a number")
    if task.name != "mmlu":
        return _writable(value) if isinstance(value, str) else str(value)
    if isinstance(value, int) and 0 <= value < len(LETTERS):
        return LETTERS[value]
    letter = str(value).strip().strip("().").upper()
    if letter not in tuple(LETTERS):
        raise ValueError(f"gold is {value!r:.80}; it must be A, B, C, D or 0, 1, 2, 3")
    return letter


def _named_items(lines: Sequence[_Line], task: Task, data_dir: Path | None) -> dict[str, Item]:
    """The items that lines name, by id; sources are read in turn until none is missing."""
    missing = {_item_id(line, task) for line in lines}
    items: dict[str, Item] = {}
    order: list[Source] = sorted(task.sources, key=lambda source: source != "embedded")
    for source in order:
        if missing:
            of_source = {item.id: item for item in task.items(source, data_dir)}
            items |= {name: of_source[name] for name in missing & of_source.keys()}
            missing -= of_source.keys()
    return items


def _item_id(line: _Line, task: Task) -> str:
    """A task may know its items by other names as well, and then has a method `item_id`."""
    known_as = getattr(task, "item_id", str)
    return known_as(str(line.id))


def _answer(line: _Line, items: dict[str, Item], task: Task) -> Answer:
    if line.gold is None:
        item = items.get(_item_id(line, task))
        if item is None:
            raise ValueError(f"unknown id {line.id!r:.80}: {task.name} has no such item")
    else:
        item = Item(id=str(line.id), messages=(), gold=line.gold)
        # A gold that can't be one is found here, and not halfway through.
        task.score(item, "", True)
    return Answer(id=line.id, item=item, text=line.text, finished=line.finished)
