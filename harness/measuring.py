"""Answers and their cost, from the same generations.

Decoders take turns item by item (chunk by chunk when batched), in an order that rotates, so that
whatever else the machine does hits them all alike. Each is warmed up before its first answer.
Scoring, storing and turning ids into text happen outside the timed region.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from decoders.generate import Completion, generate, needed_capacity
from decoders.protocol import Decoder
from decoders.trimming import Ending
from harness.answers import ending_of, text_of
from harness.planning import Plan, TaskItems
from results import RunStore, SampleKey, SampleRecord
from tasks import Item

# A chunk holds this many batches, so that finished rows are replaced while it runs.
BATCHES_PER_CHUNK = 4
WARMUP_TOKENS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One decoder's turn at one chunk of a task's items.

    capacity: cache slots a row, the same for all decoders and items of the task, and so for the
        warm-up too.
    """

    task: TaskItems
    spec: str
    decoder: Decoder
    numbers: tuple[int, ...]
    capacity: int


def work_list(plan: Plan) -> list[Work]:
    size = plan.config.batch_size
    step = 1 if size == 1 else size * BATCHES_PER_CHUNK
    specs = list(plan.decoders)
    work: list[Work] = []
    for task in plan.tasks:
        capacity = needed_capacity(
            plan.loaded.model,
            plan.decoders.values(),
            task.requests,
            plan.config.max_new_tokens[task.task.name],
        )
        for turn, first in enumerate(range(0, len(task.items), step)):
            numbers = tuple(range(first, min(first + step, len(task.items))))
            start = turn % len(specs)
            for spec in specs[start:] + specs[:start]:
                piece = Work(
                    task=task,
                    spec=spec,
                    decoder=plan.decoders[spec],
                    numbers=numbers,
                    capacity=capacity,
                )
                work.append(piece)
    return work


def measure(plan: Plan, store: RunStore, on_record: Callable[[SampleRecord], None]) -> None:
    """Do what is missing from the store, one record after the other."""
    warm: set[tuple[str, str]] = set()
    warmup_s: dict[str, float] = dict(store.manifest.get("warmup_s", {}))
    for work in work_list(plan):
        missing = [number for number in work.numbers if _key(plan, work, number) not in store]
        if not missing:
            continue
        name = work.task.task.name
        if (name, work.spec) not in warm:
            warm.add((name, work.spec))
            seconds = warm_up(plan, work)
            warmup_s[work.spec] = round(warmup_s.get(work.spec, 0.0) + seconds, 3)
            store.add_facts({"warmup_s": warmup_s})
        for record in _records(plan, work, missing):
            store.append(record)
            on_record(record)


def warm_up(plan: Plan, work: Work) -> float:
    """Decode a little of one batch, uncounted; seconds it took."""
    started_s = time.perf_counter()
    # Nothing but the budget ends these answers.
    ending = Ending(budget=min(WARMUP_TOKENS, _budget(plan, work)))
    # What raises here raises again for its samples, and is recorded there.
    with suppress(Exception):
        for _ in _answers(plan, work, work.numbers[: plan.config.batch_size], ending):
            pass
    return time.perf_counter() - started_s


def _records(plan: Plan, work: Work, numbers: Sequence[int]) -> Iterator[SampleRecord]:
    """A record for each item; what raises becomes a record of its error.

    Out of memory, a user's own decoder, a scorer: no class of errors below Exception covers them.
    """
    stop = getattr(work.task.task, "stop_strings", {}).get(work.task.source, ())
    ending = ending_of(plan.loaded, budget=_budget(plan, work), stop=stop)
    waiting = {work.task.requests[number].key: work.task.items[number] for number in numbers}
    try:
        for completion in _answers(plan, work, numbers, ending):
            item = waiting.pop(completion.key)
            try:
                record = _scored(plan, work, item, completion)
            except Exception as error:
                record = _failed(plan, work, item, error)
            yield record
    except Exception as error:
        for item in waiting.values():
            yield _failed(plan, work, item, error)


def _answers(
    plan: Plan, work: Work, numbers: Sequence[int], ending: Ending
) -> Iterator[Completion]:
    return generate(
        plan.loaded.model,
        work.decoder,
        [work.task.requests[number] for number in numbers],
        ending,
        batch_size=plan.config.batch_size,
        capacity=work.capacity,
    )


def _budget(plan: Plan, work: Work) -> int:
    return plan.config.max_new_tokens[work.task.task.name]


def _key(plan: Plan, work: Work, number: int) -> SampleKey:
    return SampleKey(
        work.task.task.name, work.task.items[number].id, work.spec, plan.config.batch_size
    )


def _identity(plan: Plan, work: Work, item: Item) -> dict[str, Any]:
    """What a record of any outcome says of its sample."""
    return {
        "task": work.task.task.name,
        "source": work.task.source,
        "model": plan.config.model,
        "item_id": item.id,
        "decoder": work.spec,
        "batch_size": plan.config.batch_size,
    }


def _scored(plan: Plan, work: Work, item: Item, completion: Completion) -> SampleRecord:
    text = text_of(plan.loaded, completion)
    score = work.task.task.score(item, text, completion.finish != "length")
    return SampleRecord(
        **_identity(plan, work, item),
        correct=score.correct,
        answer=score.answer,
        extracted_by=score.extracted_by,
        finished=score.finished,
        finish=completion.finish,
        text=text,
        ids=list(completion.ids),
        prompt_tokens=completion.prompt_tokens,
        kept=list(completion.kept),
        forwards={
            "prefill": completion.prefill_forwards,
            "decode": completion.decode_forwards,
        },
        query_slots=completion.query_slots,
        wall_s=completion.wall_s,
        compute_s=completion.compute_s,
        first_token_s=completion.first_token_s,
        details=dict(score.details),
    )


def _failed(plan: Plan, work: Work, item: Item, error: Exception) -> SampleRecord:
    return SampleRecord(**_identity(plan, work, item), error=f"{type(error).__name__}: {error}")
