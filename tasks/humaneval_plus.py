"""HumanEval+: Python functions to complete, judged by running them on evalplus's inputs.

Official items are asked without examples, under the generic system message: a request to complete
the code, then the signature with its docstring. Embedded items are the bare code, which is what
the small built-in model was trained on; it answers with a function's body in a fence, and its
inputs are generated. The answer becomes a program (`tasks.programs`) that runs only inside a
sandbox (`tasks.sandbox`) and is right if its outputs are (`tasks.evalplus_rules`).

A score's details say `base` (HumanEval's own inputs passed) and `plus` (evalplus's further inputs
passed); `correct` is both, which is what HumanEval+ counts. Details go on with `base_status` and
`plus_status` (`passed`, `failed`, `timeout`), the reasons, and `retried`: a timeout came twice,
or went away at the second try.

An item's reference answer is everything that judging needs, as JSON: the reference solution, the
inputs and the tolerance. So any part of the items can be scored, in any process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from tasks.embedded.humaneval_plus import eval_items
from tasks.embedded.problem import as_items
from tasks.item import EMBEDDED_ITEMS, Item, Message, Score, Source
from tasks.judging import Judge, Problem, Verdicts
from tasks.programs import Program, assemble
from tasks.published import HUMANEVAL_PLUS
from tasks.sandbox import Sandbox, find_sandbox
from tasks.sources import Row, official_rows
from tasks.wording import SYSTEM, wording_hash

INSTRUCTION = "Complete this Python code:"
TEXT_FIELDS = ("prompt", "entry_point", "canonical_solution")


class HumanEvalPlus:
    """The task `humaneval_plus`.

    `unsafe_execution` lets programs run without containment where no sandbox works; a sandbox
    that works is used all the same. `sandbox` names one to use, `workers` the size of the pool,
    `embedded_items` how many generated problems there are.
    """

    name = "humaneval_plus"
    sources: tuple[Source, ...] = ("embedded", "official")
    max_new_tokens: Mapping[Source, int] = MappingProxyType({"embedded": 256, "official": 512})

    def __init__(
        self,
        *,
        unsafe_execution: bool = False,
        sandbox: Sandbox | None = None,
        workers: int | None = None,
        embedded_items: int = EMBEDDED_ITEMS,
    ) -> None:
        self._embedded_items = embedded_items
        self._unsafe_execution = unsafe_execution
        self._sandbox = sandbox
        self._workers = workers
        self._judge: Judge | None = None

    def count(self, source: Source) -> int:
        """Number of items of a source."""
        return HUMANEVAL_PLUS.count if source == "official" else self._embedded_items

    def items(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """All items of a source in their order; an error where no sandbox works."""
        items = self.questions(source, data_dir)
        # Here, and not at the first answer: that would be after the decoding.
        self._ready_judge()
        return items

    def questions(self, source: Source, data_dir: Path | None = None) -> list[Item]:
        """The same items for who won't score answers to them, which takes no sandbox."""
        if source == "official":
            return [_item(row) for row in official_rows(HUMANEVAL_PLUS, data_dir)]
        return as_items(self.name, eval_items(self._embedded_items))

    def item_id(self, name: str) -> str:
        """The id of an item that evalplus names `HumanEval/42`; any other name as it is."""
        number = name.removeprefix("HumanEval/")
        return _id(int(number)) if number != name and number.isdecimal() else name

    def score(self, item: Item, text: str, finished: bool) -> Score:
        """Assemble the program of one answer and judge it."""
        (score,) = self.score_all([(item, text, finished)])
        return score

    def score_all(self, answers: Iterable[tuple[Item, str, bool]]) -> Iterator[Score]:
        """The scores of many answers, in their order, judged side by side by the pool."""
        programs: list[tuple[Program, bool]] = []
        work: list[tuple[Problem, str | None]] = []
        for item, text, finished in answers:
            problem = read_problem(item)
            program = assemble(problem.prompt, problem.entry_point, text)
            programs.append((program, finished))
            work.append((problem, program.source))
        verdicts = self._ready_judge().judge(work)
        for (program, finished), verdict in zip(programs, verdicts, strict=True):
            yield _score(program, finished, verdict)

    def template_hash(self, source: Source) -> str:
        """The sha256 of the prompt's wording."""
        return wording_hash(prompt(source, "{code}"))

    def _ready_judge(self) -> Judge:
        if self._judge is None:
            sandbox = self._sandbox or find_sandbox(self._unsafe_execution)
            self._judge = Judge(sandbox, self._workers)
        return self._judge


def prompt(source: Source, code: str) -> tuple[Message, ...]:
    """The chat turns that ask for a function's completion."""
    if source == "embedded":
        return (Message(role="user", content=code),)
    return (
        Message(role="system", content=SYSTEM),
        Message(role="user", content=f"{INSTRUCTION}\n{code}"),
    )


def read_problem(item: Item) -> Problem:
    """What an item's reference answer holds."""
    try:
        gold: dict[str, Any] = json.loads(item.gold)
        return Problem(id=item.id, key=item.gold, **gold)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{item.id}: the reference answer is no HumanEval+ problem") from error


def _item(row: Row) -> Item:
    number = row.text("task_id").rpartition("/")[2]
    if not number.isdecimal():
        raise ValueError(f"{row.place}: expected a task_id such as HumanEval/0")
    gold = {name: row.text(name) for name in TEXT_FIELDS} | {
        "base_input": _inputs(row, "base_input"),
        "plus_input": _inputs(row, "plus_input"),
        "atol": _tolerance(row),
    }
    return Item(
        id=_id(int(number)),
        messages=prompt("official", row.text("prompt")),
        gold=json.dumps(gold),
    )


def _id(number: int) -> str:
    return f"humaneval_plus/test/{number:04d}"


def _inputs(row: Row, name: str) -> list[object]:
    """The field `name`, which must be a list of argument lists."""
    value = row.record.get(name)
    calls = cast("list[object]", value) if isinstance(value, list) else []
    if not calls or not all(isinstance(arguments, list) for arguments in calls):
        raise ValueError(f"{row.place}: expected lists of arguments in the field {name!r}")
    return calls


def _tolerance(row: Row) -> float:
    value = row.record.get("atol")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{row.place}: expected a number in the field 'atol'")
    return value


def _score(program: Program, finished: bool, verdicts: Verdicts) -> Score:
    base, plus = verdicts
    details: dict[str, bool | str] = {
        "base": base.status == "passed",
        "plus": plus.status == "passed",
        "base_status": base.status,
        "plus_status": plus.status,
        "reason": base.reason or plus.reason,
        "retried": base.retried or plus.retried,
    }
    return Score(
        correct=base.status == plus.status == "passed",
        answer=program.source,
        extracted_by=program.extracted_by,
        finished=finished,
        details=details,
    )
