"""Each row of two runs judged: slower, less accurate, other ids, samples that now fail, or none of
these; and what got better."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from results.bootstrap import Estimate
from results.gate.likeness import ITEMS, WORK, Difference, check_alike, differences
from results.gate.numbers import RowNumbers, numbers_of
from results.gate.pairing import RowKey, rows_of
from results.gate.speed import least_found
from results.measured import noisy_of
from results.number_text import UNDEFINED
from results.statistics import holm
from results.store import StoredRun
from results.summary import BASELINE
from results.tables import SIGNIFICANT

Problem = Literal["slower", "less accurate", "ids changed", "failing"]
Improvement = Literal["faster", "more accurate"]

DEFAULT_TOLERANCE = 0.05

# What may differ while ids are still promised: names, which samples there are, and who decodes
# them beside which others.
_NOT_ABOUT_IDS = {
    *("model", "decoders", "tasks", "limit", "seed", "batch_sizes", "order", "repeats"),
    *(ITEMS, *WORK),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """tolerance: the share of speed that the state of a machine may cost between two runs, which
    no interval within them sees. strict_ids: changed ids fail even where none are promised.
    allow_different: names of what may differ between the runs. baseline: the decoder that tells
    a slow machine from a slow decoder."""

    tolerance: float = DEFAULT_TOLERANCE
    strict_ids: bool = False
    allow_different: tuple[str, ...] = ()
    baseline: str = BASELINE

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < 1:
            raise ValueError(
                f"--tolerance is {self.tolerance}; it is a share of the speed, at least 0 and"
                " below 1"
            )

    @property
    def floor(self) -> float:
        """The ratio of speeds below which a row is slower; above its inverse it is faster."""
        return 1 - self.tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class RowVerdict:
    """One row's numbers and what follows from them."""

    numbers: RowNumbers
    p_holm: float | None
    """McNemar's p-value, adjusted for the number of rows. None where nothing is scored."""
    least_found: float | None
    """The ratio of speeds from which a slowdown would be found four times in five."""
    problems: tuple[Problem, ...]
    improvements: tuple[Improvement, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Two runs compared. software: what differs of it, and the commits in any case.
    ids_promised: whether equal ids are, whatever the rules ask for. noisy: of the base and of the
    new run, how many samples other programs disturbed, and of how many that is known."""

    base: str
    new: str
    rules: Rules
    rows: tuple[RowVerdict, ...]
    only_in_base: tuple[RowKey, ...]
    only_in_new: tuple[RowKey, ...]
    allowed: tuple[Difference, ...]
    software: Mapping[str, tuple[str, str]]
    ids_promised: bool
    noisy: tuple[tuple[int, int], tuple[int, int]]

    @property
    def failed(self) -> bool:
        return any(row.problems for row in self.rows)


def judge(base: StoredRun, new: StoredRun, rules: Rules) -> Verdict:
    """What became of each row that both runs have. Raises ValueError where the runs differ in more
    than `rules` allow, or share nothing."""
    ours, theirs = rows_of(base), rows_of(new)
    found = differences(base, new, ours, theirs)
    check_alike(found, rules.allow_different, base)
    shared = [key for key in theirs if key in ours and ours[key].keys() & theirs[key]]
    if not shared:
        raise ValueError(
            f"{base.folder} and {new.folder} have no item under one decoder in common"
        )
    promised = _promises_ids(base, found)
    rows = [numbers_of(key, ours, theirs, rules.baseline) for key in shared]
    if not any(row.items or row.newly_failed for row in rows):
        raise ValueError(
            f"{base.folder} and {new.folder} have no item that both completed: there is nothing to"
            " judge; --resume --retry-failed does failed samples again"
        )
    adjusted = iter(holm([row.accuracy.p_value for row in rows if row.accuracy]))
    return Verdict(
        base=str(base.folder),
        new=str(new.folder),
        rules=rules,
        rows=tuple(
            _judged(row, next(adjusted) if row.accuracy else None, rules, promised=promised)
            for row in rows
        ),
        only_in_base=tuple(key for key in ours if key not in shared),
        only_in_new=tuple(key for key in theirs if key not in shared),
        allowed=tuple(found),
        software=_software(base.manifest, new.manifest),
        ids_promised=promised,
        noisy=(noisy_of(base.records), noisy_of(new.records)),
    )


def _promises_ids(base: StoredRun, found: Sequence[Difference]) -> bool:
    """In float32 the same weights give the same ids for the same prompts, sampled ones included,
    as they are drawn by seed and item. In fewer bits rounding decides more often than it may, and
    other hardware rounds in other ways."""
    about_ids = [each for each in found if each.name not in _NOT_ABOUT_IDS]
    return base.manifest["config"].get("dtype") == "float32" and not about_ids


def _judged(row: RowNumbers, p_holm: float | None, rules: Rules, *, promised: bool) -> RowVerdict:
    problems: list[Problem] = []
    improvements: list[Improvement] = []
    slower = _below(row.speed, row.over_baseline, rules.floor)
    if slower:
        problems.append("slower")
    elif _below(_inverse(row.speed), _inverse(row.over_baseline), rules.floor):
        improvements.append("faster")
    if row.accuracy and p_holm is not None and p_holm < SIGNIFICANT:
        if row.accuracy.difference.value < 0:
            problems.append("less accurate")
        else:
            improvements.append("more accurate")
    if row.changed and (promised or rules.strict_ids):
        problems.append("ids changed")
    if row.newly_failed:
        problems.append("failing")
    return RowVerdict(
        numbers=row,
        p_holm=p_holm,
        least_found=least_found(row.speed, rules.floor, row.items) if row.speed else None,
        problems=tuple(problems),
        improvements=tuple(improvements),
        notes=tuple(_notes(row, rules, slower=slower, promised=promised)),
    )


def _below(speed: Estimate | None, over_baseline: Estimate | None, floor: float) -> bool:
    """The interval lies below the floor. Or that of the ratio of speedups does, in which the
    machine's state cancels, and it is the decoder that changed: its ratio is further from 1 than
    the baseline's."""
    if speed is None or speed.hi is None:
        return False
    if over_baseline is None or over_baseline.hi is None or over_baseline.hi >= floor:
        return speed.hi < floor
    baseline_speed = speed.value / over_baseline.value
    return speed.hi < floor or abs(math.log(speed.value)) > abs(math.log(baseline_speed))


def _inverse(ratio: Estimate | None) -> Estimate | None:
    if ratio is None or ratio.lo is None or ratio.hi is None:
        return None
    return Estimate(1 / ratio.value, 1 / ratio.hi, 1 / ratio.lo)


def _notes(row: RowNumbers, rules: Rules, *, slower: bool, promised: bool) -> list[str]:
    """What a number alone would let one misread."""
    notes: list[str] = []
    relative = row.over_baseline
    if not row.items:
        notes.append("nothing judged: no item that both runs completed")
    elif row.speed is None or row.speed.hi is None:
        notes.append("speed not judged: fewer than two items, or no tokens")
    if relative is not None and relative.hi is not None:
        if slower and relative.value >= rules.floor:
            notes.append(
                f"{rules.baseline} is about as much slower: the machine, or what all decoders"
                " share"
            )
        elif not slower and relative.hi < rules.floor:
            notes.append(
                f"less of a speedup, but not slower itself: {rules.baseline} or the machine got"
                " faster"
            )
    if row.changed and not promised:
        notes.append("ids changed where equality is not promised")
    return notes


def _software(base: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    ours, theirs = (_flat(manifest.get("software", {})) for manifest in (base, new))
    return {
        name: (ours.get(name, UNDEFINED), theirs.get(name, UNDEFINED))
        for name in dict.fromkeys(["git_commit", *ours, *theirs])
        if name == "git_commit" or ours.get(name) != theirs.get(name)
    }


def _flat(software: Mapping[str, Any]) -> dict[str, str]:
    plain = {**software, **software.get("packages", {})}
    return {
        name: str(value)
        for name, value in plain.items()
        if name != "packages" and value is not None
    }
