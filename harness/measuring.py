"""Answers and their cost, from the same generations.

A worker carries out shards under one plan. Each decoder is warmed up before its first answer at a
batch size. Scoring and turning ids into text happen outside the timed region, storing elsewhere.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from decoders.generate import Completion, generate
from decoders.loop import PREFILL_SLOTS, padded_prompt
from decoders.trimming import Ending
from harness.answers import ending_of, text_of
from harness.overhead import Stopwatch
from harness.planning import Plan, TaskItems
from harness.retrying import ROWS, Broken, Halved, broken, described, fewer, groups
from harness.shards import Shard, Turn
from harness.watching import Watch
from results import SampleRecord
from sdlm.attention import Impl
from sdlm.team import TeamLost
from tasks import Item, Score

WARMUP_TOKENS = 16


class WarmUp(NamedTuple):
    """What a decoder's first forwards took, which no sample counts: compiling, first touches."""

    spec: str
    seconds: float


class Scoring(NamedTuple):
    """What making records of a turn's answers took, of which decoding is no part."""

    seconds: float


# (item id, text, whether something but the budget ended it) -> what its task says of it.
Scores = dict[tuple[str, str, bool], Score]


class Work(NamedTuple):
    """One decoder's turn at a shard, for the `repeat`-th time. rows: decoded at once, fewer than
    the batch size where that has failed. capacity: cache slots a row, for the warm-up too."""

    task: TaskItems
    batch_size: int
    rows: int
    repeat: int
    capacity: int
    turn: Turn


class Worker:
    """Carries out shards of one plan, and knows what is warm already.

    alone: whether no other process of this run works on this machine.
    """

    def __init__(self, plan: Plan, *, alone: bool = True) -> None:
        self._plan = plan
        # Several processes share such a model: what one of them uses says nothing.
        shared = plan.config.tensor_parallel > 1
        self._watch = None if shared else Watch(plan.config.device, alone=alone)
        self._tasks = {each.task.name: each for each in plan.tasks}
        self._capacities = {each.task.name: plan.capacity_of(each) for each in plan.tasks}
        self._aside = Stopwatch()
        # Of the shard at hand: what decoders answer alike is judged once, for programs take long.
        self._scores: Scores = {}
        # (task, spec, rows), and (task, spec, batch size) -> the rows that memory has room for.
        self._warm: set[tuple[str, str, int]] = set()
        self._rows: dict[tuple[str, str, int], int] = {}

    def run(self, shard: Shard) -> Iterator[WarmUp | Scoring | Halved | SampleRecord]:
        """A record for each sample of the shard, as it is made, and what else is worth telling."""
        self._scores.clear()
        for turn in shard.turns:
            place = (shard.task, turn.spec, shard.batch_size)
            work = Work(
                self._tasks[shard.task],
                shard.batch_size,
                self._rows.get(place, shard.batch_size),
                shard.repeat,
                self._capacities[shard.task],
                turn,
            )
            yield from self._warmed(work, shard.numbers)
            yield from self._turn(work)
            yield Scoring(self._aside.take())

    def _warmed(self, work: Work, numbers: Sequence[int]) -> Iterator[WarmUp]:
        key = (work.task.task.name, work.turn.spec, work.rows)
        if key not in self._warm:
            self._warm.add(key)
            yield WarmUp(work.turn.spec, warm_up(self._plan, work, numbers[: work.rows]))

    def _turn(self, work: Work) -> Iterator[WarmUp | Halved | SampleRecord]:
        """A record for each item of the turn. A group that breaks is tried again in fewer rows,
        down to one, where what raises becomes a record of its error."""
        waiting = groups(work.turn.numbers, work.rows)
        while waiting:
            work = work._replace(turn=work.turn._replace(numbers=waiting.pop(0)))
            found = yield from _records(self._plan, work, self._watch, self._aside, self._scores)
            if found is None:
                continue
            if work.rows == 1:
                for number in found.numbers:
                    yield _failed(self._plan, work, work.task.items[number], found.reason)
                continue
            work = work._replace(rows=fewer(work.rows, found))
            if found.memory:
                name, spec, size = work.task.task.name, work.turn.spec, work.batch_size
                self._rows[name, spec, size] = work.rows
                yield Halved(name, spec, size, work.rows)
            yield from self._warmed(work, found.numbers)
            waiting = groups(found.numbers, work.rows)


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
        while rows <= work.rows and (rows == 1 or rows * width <= PREFILL_SLOTS):
            group = [replace(request, key=str(row)) for row in range(rows)]
            for _ in generate(
                plan.model_of(work.turn.spec).model,
                decoder,
                group,
                Ending(budget=1),
                batch_size=work.rows,
                capacity=work.capacity,
            ):
                pass
            rows *= 2


def _records(
    plan: Plan, work: Work, watch: Watch | None, aside: Stopwatch, scores: Scores
) -> Generator[SampleRecord, None, Broken | None]:
    """A record for each item, until decoding raises; returns what is left then. A scorer that
    raises costs its own sample.

    Out of memory, a user's own decoder, a scorer: no class of errors below Exception covers them.
    """
    ending = ending_for(plan, work.task, work.turn.spec)
    numbers = work.turn.numbers
    waiting = {work.task.requests[number].key: number for number in numbers}
    try:
        if watch is not None:
            watch.begin()
        for completion in _answers(plan, work, numbers, ending):
            with aside:
                machine = None if watch is None else watch.facts()
                item = work.task.items[waiting.pop(completion.key)]
                try:
                    record = _scored(plan, work, item, completion, machine, scores)
                except Exception as error:
                    record = _failed(plan, work, item, described(error))
            yield record
            if watch is not None:
                with aside:
                    watch.begin()
    except TeamLost:
        # No sample's fault, and none after it can succeed: the run stops, to be resumed.
        raise
    except Exception as error:
        return broken(error, [*waiting.values()])
    return None


def ending_for(plan: Plan, task: TaskItems, spec: str) -> Ending:
    """What ends a decoder's answers to a task: the budget alone where all are to be of one
    length."""
    if plan.config.fixed_length is not None:
        return Ending(budget=task.budget)
    stop = getattr(task.task, "stop_strings", {}).get(task.source, ())
    return ending_of(plan.model_of(spec), budget=task.budget, stop=stop)


def _answers(
    plan: Plan, work: Work, numbers: Sequence[int], ending: Ending
) -> Iterator[Completion]:
    return generate(
        plan.model_of(work.turn.spec).model,
        plan.decoders[work.turn.spec],
        [work.task.requests[number] for number in numbers],
        ending,
        batch_size=work.rows,
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
        "repeat": work.repeat,
        "fixed_length": plan.config.fixed_length,
    }


def _scored(
    plan: Plan,
    work: Work,
    item: Item,
    completion: Completion,
    machine: dict[str, float] | None,
    scores: Scores,
) -> SampleRecord:
    text = text_of(plan.model_of(work.turn.spec), completion)
    finished = completion.finish != "length"
    # Its times are not those of the batch size then, and a table has to say so.
    rows: dict[str, Any] = {ROWS: work.rows} if work.rows < work.batch_size else {}
    verdict: dict[str, Any] = {"details": rows}
    if plan.config.fixed_length is None:
        answer = (item.id, text, finished)
        if answer not in scores:
            scores[answer] = work.task.task.score(item, text, finished)
        score = scores[answer]
        finished = score.finished
        verdict = {
            "correct": score.correct,
            "answer": score.answer,
            "extracted_by": score.extracted_by,
            "details": {**score.details, **rows},
        }
    return SampleRecord(
        **_identity(plan, work, item),
        **verdict,
        finished=finished,
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
        prefill_s=completion.prefill_s,
        first_token_s=completion.first_token_s,
        machine=machine,
    )


def _failed(plan: Plan, work: Work, item: Item, reason: str) -> SampleRecord:
    return SampleRecord(**_identity(plan, work, item), error=reason)
