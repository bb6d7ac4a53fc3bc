"""A run's work in pieces: which items under which decoders, at which batch size, in which order.

Decoders take turns item by item (chunk by chunk when batched) in an order that rotates, and so do
batch sizes, so that whatever else the machine does hits them all alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from harness.planning import Plan, TaskItems
from results import RunStore, SampleKey
from results.measured import is_noisy

T = TypeVar("T")

# A chunk holds this many batches, so that finished rows are replaced while it runs.
BATCHES_PER_CHUNK = 4


class Turn(NamedTuple):
    """A decoder, and the numbers of the items that it has to answer."""

    spec: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One chunk of a task's items at one batch size, under all decoders.

    One worker does it in one go, so both sides of a speedup are measured by the same process.
    repeat: which measurement of its samples this is. numbers: the whole chunk. turns: what is left
    to do of it, in the order of the turns.
    """

    task: str
    batch_size: int
    repeat: int
    numbers: tuple[int, ...]
    turns: tuple[Turn, ...]

    @property
    def samples(self) -> int:
        return sum(len(turn.numbers) for turn in self.turns)


def all_shards(plan: Plan) -> list[Shard]:
    """Each task's, all of them once before any is repeated, so that a slow stretch can't hit a
    sample's every measurement."""
    return [
        shard
        for task in plan.tasks
        for repeat in range(plan.config.repeats)
        for shard in _in_rotation(plan, task, repeat)
    ]


def what_is_left(plan: Plan, shard: Shard, store: RunStore) -> Shard | None:
    """The shard without the samples that the store has; None where it has all."""
    items = next(each.items for each in plan.tasks if each.task.name == shard.task)
    turns: list[Turn] = []
    for spec, numbers in shard.turns:
        left = tuple(
            number
            for number in numbers
            if SampleKey(shard.task, items[number].id, spec, shard.batch_size, shard.repeat)
            not in store
        )
        if left:
            turns.append(Turn(spec, left))
    return replace(shard, turns=tuple(turns)) if turns else None


def at_rest(shard: Shard, left: Shard | None) -> bool:
    """Whether each turn of the shard is done or not begun, going by what is left of it."""
    return left is None or all(turn in shard.turns for turn in left.turns)


def noisy_shards(plan: Plan, store: RunStore, repeat: int) -> list[Shard]:
    """The chunks in which other programs disturbed every measurement of some sample, to be
    measured once more as this repeat: under all decoders, since they are compared."""
    settled = {
        record.key._replace(repeat=0)
        for record in store.records
        if record.repeat < repeat and not is_noisy(record)
    }
    items = {each.task.name: each.items for each in plan.tasks}
    again = [
        replace(shard, repeat=repeat)
        for task in plan.tasks
        for shard in _in_rotation(plan, task, repeat)
        if any(
            SampleKey(shard.task, items[shard.task][number].id, spec, shard.batch_size)
            not in settled
            for spec, numbers in shard.turns
            for number in numbers
        )
    ]
    return [left for shard in again if (left := what_is_left(plan, shard, store))]


def _in_rotation(plan: Plan, task: TaskItems, repeat: int) -> Iterator[Shard]:
    """Every chunk of every batch size, by its first item, so that all sizes get on at one pace.
    Of chunks with the same first item, another size comes first each time, and so does another
    decoder of a chunk that is repeated."""
    starts: dict[int, list[Shard]] = {}
    for size in plan.config.batch_sizes:
        for shard in _chunks(plan, task, size, repeat):
            starts.setdefault(shard.numbers[0], []).append(shard)
    rounds = repeat
    for first in sorted(starts):
        group = starts[first]
        yield from _rotated(group, rounds)
        rounds += len(group) > 1


def _chunks(plan: Plan, task: TaskItems, size: int, repeat: int) -> Iterator[Shard]:
    step = 1 if size == 1 else size * BATCHES_PER_CHUNK
    for chunk, first in enumerate(range(0, len(task.items), step)):
        numbers = tuple(range(first, min(first + step, len(task.items))))
        yield Shard(
            task=task.task.name,
            batch_size=size,
            repeat=repeat,
            numbers=numbers,
            turns=tuple(
                Turn(spec, numbers) for spec in _rotated([*plan.decoders], chunk + repeat)
            ),
        )


def _rotated(things: list[T], turn: int) -> list[T]:
    start = turn % len(things)
    return things[start:] + things[:start]
