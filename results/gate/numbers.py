"""What is measured of one row that two runs have: speeds, correctness, ids. Nothing is judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from results.bootstrap import Estimate, Timed
from results.comparison import Comparison, compare
from results.divergence import first_difference
from results.gate.pairing import RowKey, Rows, Sample, Samples
from results.gate.speed import ratio_over_time


class Change(NamedTuple):
    """Items whose ids differ; where the first of them, in the new run's order, does so first."""

    items: int
    item_id: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNumbers:
    """One row of both runs, on the items both completed. Ratios are new over base."""

    key: RowKey
    items: int
    newly_failed: int
    """Items that the base run completed and the new run failed."""
    base_tokens_per_s: float | None
    new_tokens_per_s: float | None
    speed: Estimate | None
    """Ratio of total tokens/s, with its 95 % interval over stretches of time."""
    over_baseline: Estimate | None
    """Ratio of the speedups over the baseline: what hits all decoders of a run alike cancels.
    None for the baseline itself, and where a run lacks it."""
    accuracy: Comparison | None
    """The new run's correctness against the base run's. None where nothing is scored."""
    changed: Change | None
    """None where all ids are the same."""


class _Pair(NamedTuple):
    base: Sample
    new: Sample


def numbers_of(key: RowKey, base: Rows, new: Rows, baseline: str) -> RowNumbers:
    """The row under `key`, which both runs have."""
    pairs = _pairs(base[key], new[key])
    sides = [*pairs.values()]
    scored = [
        (pair.new.correct, pair.base.correct)
        for pair in sides
        if pair.new.correct is not None and pair.base.correct is not None
    ]
    return RowNumbers(
        key=key,
        items=len(pairs),
        newly_failed=sum(
            sample is None and base[key].get(item) is not None for item, sample in new[key].items()
        ),
        base_tokens_per_s=_rate([pair.base for pair in sides]),
        new_tokens_per_s=_rate([pair.new for pair in sides]),
        speed=ratio_over_time(
            [_timed(pair.new for pair in sides)],
            [_timed(pair.base for pair in sides)],
            _orders(pairs, base[key]),
        ),
        over_baseline=_over_baseline(key, pairs, base, new, baseline),
        accuracy=compare(scored),
        changed=_changed(pairs),
    )


def _pairs(base: Samples, new: Samples) -> dict[str, _Pair]:
    """Items both completed, in the order of the new run."""
    return {
        item: _Pair(ours, theirs)
        for item, theirs in new.items()
        if theirs is not None and (ours := base.get(item)) is not None
    }


def _orders(pairs: Mapping[str, _Pair], base: Samples) -> list[list[int]]:
    """The order of the new run, which is that of the pairs, and of the base run."""
    numbers = {item: number for number, item in enumerate(pairs)}
    return [[*numbers.values()], [numbers[item] for item in base if item in numbers]]


def _timed(samples: Iterable[Sample]) -> list[Timed]:
    return [Timed(sample.tokens, sample.seconds) for sample in samples]


def _rate(samples: Sequence[Sample]) -> float | None:
    seconds = sum(sample.seconds for sample in samples)
    return sum(sample.tokens for sample in samples) / seconds if seconds else None


def _over_baseline(
    key: RowKey, pairs: Mapping[str, _Pair], base: Rows, new: Rows, baseline: str
) -> Estimate | None:
    """The ratio of speedups, on the items that all four measurements completed."""
    other = key._replace(decoder=baseline)
    if other == key or other not in base or other not in new:
        return None
    theirs = _pairs(base[other], new[other])
    pairs = {item: pair for item, pair in pairs.items() if item in theirs}
    return ratio_over_time(
        [_timed(pair.new for pair in pairs.values()), _timed(theirs[item].base for item in pairs)],
        [_timed(pair.base for pair in pairs.values()), _timed(theirs[item].new for item in pairs)],
        _orders(pairs, base[key]),
    )


def _changed(pairs: Mapping[str, _Pair]) -> Change | None:
    places = {item: place for item, pair in pairs.items() if (place := _parting(pair)) is not None}
    if not places:
        return None
    first = next(iter(places))
    return Change(len(places), first, places[first])


def _parting(pair: _Pair) -> int | None:
    """Position of the first id that differs, in the first repeat with one; None without."""
    for repeat in sorted(pair.base.answers.keys() & pair.new.answers.keys()):
        position = first_difference(pair.base.answers[repeat], pair.new.answers[repeat])
        if position is not None:
            return position
    return None
