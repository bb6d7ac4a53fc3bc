"""An item under one decoder as statistics see it, from the records of its repeats.

The item is the unit of every statistic: measuring it again makes its time better known, and adds
nothing to the number of items.
"""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from results.records import SampleKey, SampleRecord

NOISY_LOAD = 0.15
"""The share of the cores from which on a sample counts as disturbed by other programs."""


class Measured(NamedTuple):
    """An item that did not fail. Times and energy are medians over its quiet repeats, or over all
    where none was quiet; what was generated is the first repeat's."""

    correct: bool | None
    """None where answers were not scored."""
    ids: list[int]
    compute_s: float
    wall_s: float
    first_token_s: float
    decode_s: float | None
    """Its share of the decode forwards' time."""
    forwards: int
    accepted: list[int]
    """Tokens that each decode forward kept; 0 for one that only found the end."""
    generation_slots: int
    capped: bool
    unanswered: bool
    guessed: bool
    energy_j: float | None
    peak_memory_bytes: float | None
    fixed_length: int | None
    unstable: bool
    """Whether not all repeats gave the same ids."""


def other_load(record: SampleRecord) -> float | None:
    return None if record.machine is None else record.machine.get("other_load")


def is_noisy(record: SampleRecord) -> bool:
    """Whether other programs are known to have disturbed the sample."""
    load = other_load(record)
    return load is not None and load > NOISY_LOAD


def noisy_of(records: Iterable[SampleRecord]) -> tuple[int, int]:
    """How many samples other programs disturbed, and of how many that is known."""
    known = [is_noisy(record) for record in records if other_load(record) is not None]
    return sum(known), len(known)


def outcomes(records: Iterable[SampleRecord]) -> list[SampleRecord]:
    """One record for each item under each decoder: its first repeat, or a failed one where any
    failed, since such an item has failed."""
    items: dict[SampleKey, list[SampleRecord]] = {}
    for record in records:
        items.setdefault(record.key._replace(repeat=0), []).append(record)
    return [
        min(repeats, key=lambda each: (each.error is None, each.repeat))
        for repeats in items.values()
    ]


def measured(repeats: Sequence[SampleRecord]) -> Measured | None:
    """An item's records under one decoder -> what counts; None where any of them failed."""
    repeats = sorted(repeats, key=lambda record: record.repeat)
    if any(record.error is not None for record in repeats):
        return None
    record = repeats[0]
    assert record.ids is not None, "a record without error has all measurements"
    assert record.kept is not None, "a record without error has all measurements"
    assert record.forwards is not None, "a record without error has all measurements"
    assert record.query_slots is not None, "a record without error has all measurements"
    assert record.prompt_tokens is not None, "a record without error has all measurements"
    timed = [each for each in repeats if not is_noisy(each)] or repeats
    peaks = [peak for each in repeats if (peak := _fact(each, "peak_memory_bytes")) is not None]
    return Measured(
        correct=record.correct,
        ids=record.ids,
        compute_s=_known_median([each.compute_s for each in timed]),
        wall_s=_known_median([each.wall_s for each in timed]),
        first_token_s=_known_median([each.first_token_s for each in timed]),
        decode_s=_median([_decode_s(each) for each in timed]),
        # In however many chunks a prompt was fed, that was its one prefill.
        forwards=min(record.forwards["prefill"], 1) + record.forwards["decode"],
        accepted=record.kept[record.forwards["prefill"] :],
        generation_slots=record.query_slots - record.prompt_tokens,
        capped=record.finish == "length",
        unanswered=record.extracted_by == "none",
        guessed=record.extracted_by == "fallback",
        energy_j=_median([_fact(each, "energy_j") for each in timed]),
        peak_memory_bytes=max(peaks, default=None),
        fixed_length=record.fixed_length,
        unstable=any(each.ids != record.ids for each in repeats),
    )


def _decode_s(record: SampleRecord) -> float | None:
    if record.compute_s is None or record.prefill_s is None:
        return None
    # Sums of the same terms in another order may differ in the last digit.
    return max(0.0, record.compute_s - record.prefill_s)


def _fact(record: SampleRecord, name: str) -> float | None:
    return None if record.machine is None else record.machine.get(name)


def _known_median(values: Sequence[float | None]) -> float:
    found = _median(values)
    assert found is not None, "a record without error has all measurements"
    return found


def _median(values: Sequence[float | None]) -> float | None:
    """None where any is unknown: a median of some would be of other samples than the rest is."""
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None
