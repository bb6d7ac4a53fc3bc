"""Answers and their cost, from the same generations.

A worker carries out shards under one plan. Each decoder is warmed up before its first answer at a
batch size. Scoring and turning ids into text happen outside the timed region, storing elsewhere.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from decoders.generate import Completion, generate, needed_capacity
from decoders.loop import PREFILL_SLOTS, padded_prompt
from decoders.trimming import Ending
from harness.answers import ending_of, text_of
from harness.planning import Plan, TaskItems
from harness.shards import Shard, Turn
from results import SampleRecord
from sdlm.attention import Impl
from sdlm.team import TeamLost
from tasks import Item

WARMUP_TOKENS = 16


class WarmUp(NamedTuple):
    """What a decoder's first forwards took, which no sample counts: compiling, first touches."""

    spec: str
    seconds: float


class Work(NamedTuple):
    """One decoder's turn at a shard. capacity: cache slots a row, the same for all decoders and
    items of the task, and so for the warm-up too."""

    task: TaskItems
    batch_size: int
    capacity: int
    turn: Turn


class Worker:
    """Carries out shards of one plan, and knows what is warm already."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tasks = {each.task.name: each for each in plan.tasks}
        self._capacities = {
            each.task.name: needed_capacity(
                plan.loaded.model, plan.decoders.values(), each.requests, each.budget
            )
            for each in plan.tasks
        }
        self._warm: set[tuple[str, str, int]] = set()

    def run(self, shard: Shard) -> Iterator[WarmUp | SampleRecord]:
        """A record for each sample of the shard, as it is made, and each warm-up on the way."""
        for turn in shard.turns:
            work = Work(
                self._tasks[shard.task], shard.batch_size, self._capacities[shard.task], turn
            )
            place = (shard.task, turn.spec, shard.batch_size)
            if place not in self._warm:
                self._warm.add(place)
                first = shard.numbers[: shard.batch_size]
                yield WarmUp(turn.spec, warm_up(self._plan, work, first))
            yield from _records(self._plan, work)


def warm_up(plan: Plan, work: Work, numbers: Sequence[int]) -> float:
    """Decode a little of one batch, uncounted; seconds it took."""
    started_s = time.perf_counter()
    # Nothing but the budget ends these answers.
    ending = Ending(budget=min(WARMUP_TOKENS, work.task.budget))
    try:
        for _ in _answers(plan, work, numbers, ending):
            pass
        if plan.loaded.model.impl is Impl.FLEX:
            _compile_prefills(plan, work)
    except TeamLost:
        raise
    except Exception:
        # What raises here raises again for its samples, and is recorded there.
        pass
    return time.perf_counter() - started_s


def _compile_prefills(plan: Plan, work: Work) -> None:
    """Run every shape that a prefill of the task's prompts may have: powers of two of rows, of
    prompts of each width."""
    decoder = plan.decoders[work.turn.spec]
    by_width = {
        padded_prompt(min(len(request.ids), PREFILL_SLOTS), decoder): request
        for request in work.task.requests
    }
    rests = (request for request in work.task.requests if len(request.ids) > PREFILL_SLOTS)
    for request in rests:
        rest = request.ids[(len(request.ids) - 1) // PREFILL_SLOTS * PREFILL_SLOTS :]
        by_width.setdefault(padded_prompt(len(rest), decoder), replace(request, ids=rest))
    for width, request in by_width.items():
        rows = 1
        while rows <= work.batch_size and (rows == 1 or rows * width <= PREFILL_SLOTS):
            group = [replace(request, key=str(row)) for row in range(rows)]
            for _ in generate(
                plan.loaded.model,
                decoder,
                group,
                Ending(budget=1),
                batch_size=work.batch_size,
                capacity=work.capacity,
            ):
                pass
            rows *= 2


def _records(plan: Plan, work: Work) -> Iterator[SampleRecord]:
    """A record for each item; what raises becomes a record of its error.

    Out of memory, a user's own decoder, a scorer: no class of errors below Exception covers them.
    """
    stop = getattr(work.task.task, "stop_strings", {}).get(work.task.source, ())
    ending = ending_of(plan.loaded, budget=work.task.budget, stop=stop)
    numbers = work.turn.numbers
    waiting = {work.task.requests[number].key: work.task.items[number] for number in numbers}
    try:
        for completion in _answers(plan, work, numbers, ending):
            item = waiting.pop(completion.key)
            try:
                record = _scored(plan, work, item, completion)
            except Exception as error:
                record = _failed(plan, work, item, error)
            yield record
    except TeamLost:
        # No sample's fault, and none after it can succeed: the run stops, to be resumed.
        raise
    except Exception as error:
        for item in waiting.values():
            yield _failed(plan, work, item, error)


def _answers(
    plan: Plan, work: Work, numbers: Sequence[int], ending: Ending
) -> Iterator[Completion]:
    return generate(
        plan.loaded.model,
        plan.decoders[work.turn.spec],
        [work.task.requests[number] for number in numbers],
        ending,
        batch_size=work.batch_size,
        order=plan.config.order,
        capacity=work.capacity,
    )


def _identity(plan: Plan, work: Work, item: Item) -> dict[str, Any]:
    """What a record of any outcome says of its sample."""
    return {
        "task": work.task.task.name,
        "source": work.task.source,
        "model": plan.config.model,
        "item_id": item.id,
        "decoder": work.turn.spec,
        "batch_size": work.batch_size,
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
