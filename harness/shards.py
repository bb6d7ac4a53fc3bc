"""A run's work in pieces: which items under which decoders, at which batch size, in which order.

Decoders take turns item by item (chunk by chunk when batched) in an order that rotates, and so do
batch sizes, so that whatever else the machine does hits them all alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from harness.planning import Plan, TaskItems
from results import RunStore, SampleKey

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
    numbers: the whole chunk. turns: what is left to do of it, in the order of the turns.
    """

    task: str
    batch_size: int
    numbers: tuple[int, ...]
    turns: tuple[Turn, ...]

    @property
    def samples(self) -> int:
        return sum(len(turn.numbers) for turn in self.turns)


def all_shards(plan: Plan) -> list[Shard]:
    return [shard for task in plan.tasks for shard in _in_rotation(plan, task)]


def what_is_left(plan: Plan, shard: Shard, store: RunStore) -> Shard | None:
    """The shard without the samples that the store has; None where it has all."""
    items = next(each.items for each in plan.tasks if each.task.name == shard.task)
    turns: list[Turn] = []
    for spec, numbers in shard.turns:
        left = tuple(
            number
            for number in numbers
            if SampleKey(shard.task, items[number].id, spec, shard.batch_size) not in store
        )
        if left:
            turns.append(Turn(spec, left))
    return replace(shard, turns=tuple(turns)) if turns else None


def _in_rotation(plan: Plan, task: TaskItems) -> Iterator[Shard]:
    """Every chunk of every batch size, by its first item, so that all sizes get on at one pace.
    Of chunks with the same first item, another size comes first each time."""
    starts: dict[int, list[Shard]] = {}
    for size in plan.config.batch_sizes:
        for shard in _chunks(plan, task, size):
            starts.setdefault(shard.numbers[0], []).append(shard)
    rounds = 0
    for first in sorted(starts):
        group = starts[first]
        yield from _rotated(group, rounds)
        rounds += len(group) > 1


def _chunks(plan: Plan, task: TaskItems, size: int) -> Iterator[Shard]:
    step = 1 if size == 1 else size * BATCHES_PER_CHUNK
    for chunk, first in enumerate(range(0, len(task.items), step)):
        numbers = tuple(range(first, min(first + step, len(task.items))))
        yield Shard(
            task=task.task.name,
            batch_size=size,
            numbers=numbers,
            turns=tuple(Turn(spec, numbers) for spec in _rotated([*plan.decoders], chunk)),
        )


def _rotated(things: list[T], turn: int) -> list[T]:
    start = turn % len(things)
    return things[start:] + things[:start]
