"""What a summary row hides: accuracy by subject and level, and measures that a task brings along.

Both become further tables of a run, one row a line.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from results.records import SampleRecord
from results.statistics import wilson

MEAN_OVER_SUBJECTS = "mean over subjects"


class Place(NamedTuple):
    """Where an item belongs in its task; empty where the task has no such division."""

    subject: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """Accuracy of one decoder on a part of a task's items; samples that failed are left out.

    The row `mean over subjects` weighs each subject the same and has no interval; the summary's
    accuracy, the micro average, weighs each item the same.
    """

    task: str
    decoder: str
    batch_size: int
    part: str
    items: int
    accuracy: float
    accuracy_lo: float | None
    accuracy_hi: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """A task's own measure of all answers of one decoder, with the task's standard error."""

    task: str
    decoder: str
    batch_size: int
    metric: str
    items: int
    value: float
    stderr: float | None


def break_down(
    records: Iterable[SampleRecord], places: Mapping[tuple[str, str], Place]
) -> list[PartRow]:
    """Rows by subject, then by level, for tasks with more than one of them.

    places: (task, item id) -> where the item belongs.
    """
    groups: dict[tuple[str, str, int], list[tuple[Place, bool]]] = {}
    for record in records:
        if record.correct is not None:
            place = places[record.task, record.item_id]
            key = (record.task, record.decoder, record.batch_size)
            groups.setdefault(key, []).append((place, record.correct))
    rows: list[PartRow] = []
    for (task, decoder, batch_size), answers in groups.items():
        subjects = _parts([(place.subject, correct) for place, correct in answers])
        levels = _parts([(place.level, correct) for place, correct in answers])
        for kind, parts in (("subject", subjects), ("level", levels)):
            for name, verdicts in parts.items():
                lo, hi = wilson(sum(verdicts), len(verdicts))
                rows.append(
                    PartRow(
                        task=task,
                        decoder=decoder,
                        batch_size=batch_size,
                        part=f"{kind} {name}",
                        items=len(verdicts),
                        accuracy=fmean(verdicts),
                        accuracy_lo=lo,
                        accuracy_hi=hi,
                    )
                )
        if subjects:
            rows.append(
                PartRow(
                    task=task,
                    decoder=decoder,
                    batch_size=batch_size,
                    part=MEAN_OVER_SUBJECTS,
                    items=len(answers),
                    accuracy=fmean(fmean(verdicts) for verdicts in subjects.values()),
                    accuracy_lo=None,
                    accuracy_hi=None,
                )
            )
    return rows


def read_parts(path: Path) -> list[PartRow]:
    """The rows of a run's `tables/breakdown.csv`; none where there is no such file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_part(row) for row in csv.DictReader(file, strict=True)]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise ValueError(f"{path} is not a breakdown of this version: {error!r}") from None


def _part(row: Mapping[str, str]) -> PartRow:
    return PartRow(
        task=row["task"],
        decoder=row["decoder"],
        batch_size=int(row["batch_size"]),
        part=row["part"],
        items=int(row["items"]),
        accuracy=_share(row["accuracy"]),
        accuracy_lo=_share(row["accuracy_lo"]) if row["accuracy_lo"] else None,
        accuracy_hi=_share(row["accuracy_hi"]) if row["accuracy_hi"] else None,
    )


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text} is not within 0-1")
    return value


def _parts(answers: Iterable[tuple[str, bool]]) -> dict[str, list[bool]]:
    """Verdicts by part; nothing where there are fewer than two parts."""
    parts: dict[str, list[bool]] = {}
    for name, correct in answers:
        parts.setdefault(name, []).append(correct)
    # Levels are numbers, and 10 comes after 9.
    order = sorted(parts, key=lambda name: name.zfill(4) if name.isdigit() else name)
    return {name: parts[name] for name in order} if len(parts) > 1 else {}
