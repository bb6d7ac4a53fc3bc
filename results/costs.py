"""What answers cost, beyond tokens per second: latency, forwards, accepted lengths, memory,
energy. docs/measuring.md defines each column."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import NamedTuple

import numpy as np

from results.measured import Measured, measured
from results.records import SampleRecord

PARTS = ("whole", "quarter 1", "quarter 2", "quarter 3", "quarter 4")


class Costs(NamedTuple):
    """The columns of a summary row about cost; seconds, bytes and joules. None: not known."""

    time_to_first_token_s: float | None
    latency_p50_s: float | None
    latency_p90_s: float | None
    latency_p99_s: float | None
    decode_forward_s: float | None
    accepted_length: float | None
    peak_memory_bytes: float | None
    joules_per_token: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRow:
    """How many decode forwards kept `length` tokens, of those in one part of the answers.

    part: `whole`, or the quarter of its answer in which the first token kept stands. share: of the
    forwards of that part.
    """

    task: str
    model: str
    decoder: str
    batch_size: int
    part: str
    length: int
    forwards: int
    share: float


def costs(items: Sequence[Measured]) -> Costs:
    """Over items that did not fail."""
    if not items:
        return Costs(*[None] * len(Costs._fields))
    latencies_s = np.quantile([item.wall_s for item in items], (0.5, 0.9, 0.99)).tolist()
    accepted = [length for item in items for length in item.accepted if length]
    forward_s = [
        item.decode_s / len(item.accepted)
        for item in items
        if item.decode_s is not None and item.accepted
    ]
    energy_j = [item.energy_j for item in items if item.energy_j is not None]
    tokens = sum(len(item.ids) for item in items)
    peaks = [item.peak_memory_bytes for item in items if item.peak_memory_bytes is not None]
    return Costs(
        time_to_first_token_s=median(item.first_token_s for item in items),
        latency_p50_s=latencies_s[0],
        latency_p90_s=latencies_s[1],
        latency_p99_s=latencies_s[2],
        decode_forward_s=median(forward_s) if forward_s else None,
        accepted_length=sum(accepted) / len(accepted) if accepted else None,
        peak_memory_bytes=max(peaks, default=None),
        # Some items' energy over all items' tokens would be too little.
        joules_per_token=math.fsum(energy_j) / tokens
        if tokens and len(energy_j) == len(items)
        else None,
    )


def accepted_lengths(records: Iterable[SampleRecord]) -> list[AcceptedRow]:
    """The histogram for each task, model, decoder and batch size, whole and by quarter of the
    answer; forwards that kept nothing only found the end, and are left out."""
    groups: dict[tuple[str, str, str, int], dict[str, list[SampleRecord]]] = {}
    for record in records:
        place = (record.task, record.model, record.decoder, record.batch_size)
        groups.setdefault(place, {}).setdefault(record.item_id, []).append(record)
    return [
        AcceptedRow(
            task=task,
            model=model,
            decoder=decoder,
            batch_size=batch_size,
            part=part,
            length=length,
            forwards=lengths.count(length),
            share=lengths.count(length) / len(lengths),
        )
        for (task, model, decoder, batch_size), items in groups.items()
        for part, lengths in _by_part(items.values()).items()
        for length in sorted(set(lengths))
    ]


def _by_part(items: Iterable[Sequence[SampleRecord]]) -> dict[str, list[int]]:
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    for repeats in items:
        item = measured(repeats)
        if item is None:
            continue
        tokens = len(item.ids)
        before = tokens - sum(item.accepted)
        starts = accumulate(item.accepted, initial=before)
        for start, length in zip(starts, item.accepted, strict=False):
            if length:
                parts["whole"].append(length)
                parts[PARTS[1 + 4 * start // tokens]].append(length)
    return parts
