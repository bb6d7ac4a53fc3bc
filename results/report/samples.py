"""What the page's sample browser and trace viewer read: answers and traces as compact JSON.

Equal texts are stored once. A page must stay small enough to open at once, so of a large run it
holds some items, evenly from all tasks, with every decoder's answer; the page says how many.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, TypeVar

from results.measured import outcomes
from results.records import SampleRecord
from results.report.runs import ReportedRun
from results.traces import Trace

SAMPLE_BYTES = 3_000_000
TRACE_BYTES = 1_200_000

_T = TypeVar("_T")
Verdict = Literal[-1, 0, 1]
"""No, yes; -1: not known."""


@dataclass(slots=True)
class _Strings:
    """Texts by number, each once, and what they take up."""

    numbers: dict[str, int] = field(default_factory=dict[str, int])
    bytes: int = 0

    def number(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self.numbers:
            self.numbers[text] = len(self.numbers)
            self.bytes += len(script_json(text).encode()) + 1
        return self.numbers[text]


def page_data(runs: Sequence[ReportedRun]) -> dict[str, Any]:
    """All that the page's scripts need. `samples` has a line for each answer; its columns are
    those of `_sample`, with texts as numbers into `strings`."""
    strings = _Strings()
    groups = [_by_item(_in_order(run)) for run in runs]
    differing = [_differing(run) for run in runs]
    items = _in_turn(
        [
            [(number, records) for records in of_task]
            for number, tasks in enumerate(groups)
            for of_task in tasks
        ]
    )
    samples: list[list[int]] = []
    shown = 0
    for number, records in items:
        if strings.bytes + 48 * len(samples) > SAMPLE_BYTES:
            break
        shown += 1
        differs = differing[number]
        samples += [_sample(number, record, strings.number, differs(record)) for record in records]
    return {
        "runs": [run.name for run in runs],
        "strings": [*strings.numbers],
        "samples": samples,
        "shown": shown,
        "items": sum(len(of_task) for tasks in groups for of_task in tasks),
        **_traces(runs),
    }


def script_json(data: object) -> str:
    """JSON that can stand within a script element, whatever text it holds: nothing in it can end
    the element, or start a comment or another one."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(_ESCAPED.get(sign, sign) for sign in text) if _SPECIAL & {*text} else text


# Surrogates have no UTF-8; the others end scripts or, to older readers, lines.
_ESCAPED = {
    chr(code): f"\\u{code:04x}"
    for code in (ord("<"), ord(">"), ord("&"), 0x2028, 0x2029, *range(0xD800, 0xE000))
}
_SPECIAL = frozenset(_ESCAPED)


def _in_order(run: ReportedRun) -> list[SampleRecord]:
    """What came of every item: tasks and decoders as in the summary, items by name, so that the
    order does not tell how often a run was interrupted."""
    tasks = [*dict.fromkeys(row.task for row in run.rows)]
    places = [(row.task, row.batch_size, row.decoder) for row in run.rows]
    order = {place: number for number, place in enumerate(places)}
    return sorted(
        outcomes(run.records),
        key=lambda record: (
            tasks.index(record.task),
            record.item_id,
            order[record.task, record.batch_size, record.decoder],
        ),
    )


def _by_item(records: Iterable[SampleRecord]) -> list[list[list[SampleRecord]]]:
    """For each task, for each item, the records."""
    tasks: dict[str, dict[str, list[SampleRecord]]] = {}
    for record in records:
        tasks.setdefault(record.task, {}).setdefault(record.item_id, []).append(record)
    return [[*items.values()] for items in tasks.values()]


def _in_turn(lists: Sequence[Sequence[_T]]) -> list[_T]:
    """One of each list, then the second of each, and so on."""
    return [each for turn in zip_longest(*lists) for each in turn if each is not None]


def _differing(run: ReportedRun) -> Callable[[SampleRecord], Verdict]:
    """Whether a record's ids differ from its reference decoder's on the same item of the run."""
    if run.references is None:
        return lambda _: -1
    references = run.references
    answers = {record.key: record.ids for record in outcomes(run.records)}

    def differs(record: SampleRecord) -> Verdict:
        reference = references.get(record.decoder, "")
        theirs = answers.get(record.key._replace(decoder=reference))
        if record.ids is None or theirs is None:
            return -1
        return 1 if record.ids != theirs else 0

    return differs


def _sample(
    run: int, record: SampleRecord, number: Callable[[str | None], int], differs: Verdict
) -> list[int]:
    return [
        run,
        number(record.task),
        number(record.item_id),
        number(record.decoder),
        record.batch_size,
        -1 if record.correct is None else int(record.correct),
        differs,
        number(record.text if record.error is None else record.error),
        number(record.answer),
        number(record.extracted_by),
        number("failed" if record.error is not None else record.finish),
        -1 if record.ids is None else len(record.ids),
        -1 if record.forwards is None else record.forwards["prefill"] + record.forwards["decode"],
    ]


def _traces(runs: Sequence[ReportedRun]) -> dict[str, Any]:
    """Items in turn over runs and tasks while there is room, each with all its decoders."""
    lists: list[list[list[dict[str, Any]]]] = []
    for number, run in enumerate(runs):
        groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for trace in run.traces:
            of_task = groups.setdefault(trace.task, {})
            of_task.setdefault(trace.item_id, []).append(_trace(number, trace))
        lists += [[*items.values()] for items in groups.values()]
    shown: list[dict[str, Any]] = []
    size = 0
    for traces in _in_turn(lists):
        size += len(script_json(traces).encode())
        if shown and size > TRACE_BYTES:
            break
        shown += traces
    return {"traces": shown, "traced": sum(len(run.traces) for run in runs)}


def _trace(run: int, trace: Trace) -> dict[str, Any]:
    """A step is [is prefill, kept, texts, confidences in thousandths]."""
    return {
        "run": run,
        "task": trace.task,
        "item": trace.item_id,
        "decoder": trace.decoder,
        "prompt": trace.prompt,
        "steps": [
            [
                int(step.kind == "prefill"),
                step.kept,
                [each.text for each in step.proposed],
                [round(1000 * each.confidence) for each in step.proposed],
            ]
            for step in trace.steps
        ],
    }
