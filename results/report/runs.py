"""Run folders as the report needs them: records and what the run itself wrote of them.

Numbers are those of `summary.json`, so that no report says anything else than its run. A summary,
breakdown or trace that is not of the samples, as a run leaves it that was killed while it went on,
is an error.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from results.breakdown import MEAN_OVER_SUBJECTS, PartRow, read_parts
from results.measured import measured, outcomes
from results.records import SampleRecord
from results.store import read_run
from results.summary import SummaryRow
from results.tables import read_summary
from results.traces import Trace, read_traces


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    name: str
    """Tells it from the other runs of the report."""
    folder: Path
    manifest: dict[str, Any]
    rows: list[SummaryRow]
    records: list[SampleRecord]
    parts: list[PartRow]
    """Accuracy by subject and level."""
    traces: list[Trace]
    references: dict[str, str] | None
    """Decoder -> the decoder whose ids it is compared with; None where the manifest is of before
    it said so."""
    warnings: list[str]
    """What the run itself says against its numbers."""


def read_reported_runs(folders: Sequence[Path]) -> list[ReportedRun]:
    """Runs in the order given. ValueError for a folder that is no finished run, or given twice."""
    places = [folder.resolve() for folder in folders]
    if twice := [path for index, path in enumerate(places) if path in places[:index]]:
        raise ValueError(f"{twice[0]} is given twice: give each run once")
    names = [place.name for place in places]
    return [
        _read(folder, place.name if names.count(place.name) == 1 else str(folder))
        for folder, place in zip(folders, places, strict=True)
    ]


def _read(folder: Path, name: str) -> ReportedRun:
    try:
        run = read_run(folder)
        rows = read_summary(folder)
        parts = read_parts(folder / "tables" / "breakdown.csv")
        traces = [
            trace
            for path in sorted((folder / "traces").glob("*.jsonl"))
            for trace in read_traces(path)
        ]
        _check_current(folder, rows, run.records)
        _check_parts(folder, parts, run.records)
        _check_traces(folder, traces, run.records)
        return ReportedRun(
            name=name,
            folder=folder,
            manifest=run.manifest,
            rows=rows,
            records=run.records,
            parts=parts,
            traces=traces,
            references=run.manifest.get("references"),
            warnings=run.manifest.get("warnings", []),
        )
    except OSError as error:
        raise ValueError(f"{folder} can't be read: {error}") from None


class _Place(NamedTuple):
    task: str
    source: str
    model: str
    decoder: str
    batch_size: int


def _check_current(
    folder: Path, rows: Sequence[SummaryRow], records: Sequence[SampleRecord]
) -> None:
    """What changes with each further sample, repeat or retry must be as the summary has it."""
    items: dict[_Place, dict[str, list[SampleRecord]]] = {}
    for each in records:
        place = _Place(each.task, each.source, each.model, each.decoder, each.batch_size)
        items.setdefault(place, {}).setdefault(each.item_id, []).append(each)
    if not items:
        raise ValueError(f"{folder} holds no samples: nothing was measured")
    by_place = {
        _Place(row.task, row.source, row.model, row.decoder, row.batch_size): row for row in rows
    }
    if (
        len(by_place) < len(rows)
        or by_place.keys() != items.keys()
        or not all(_says(by_place[place], found) for place, found in items.items())
    ):
        raise ValueError(_not_of_the_samples(folder, "summary.json"))


def _says(row: SummaryRow, items: Mapping[str, Sequence[SampleRecord]]) -> bool:
    """Whether a summary's row is of these records, going by their number and their times."""
    done = [found for each in items.values() if (found := measured(each)) is not None]
    seconds = math.fsum(item.compute_s for item in done)
    tokens_per_s = sum(len(item.ids) for item in done) / seconds if seconds else None
    if (row.items, row.failed) != (len(items), len(items) - len(done)):
        return False
    if row.tokens_per_s is None or tokens_per_s is None:
        return row.tokens_per_s is tokens_per_s
    return math.isclose(row.tokens_per_s, tokens_per_s, rel_tol=1e-9)


def _check_parts(folder: Path, parts: Iterable[PartRow], records: Iterable[SampleRecord]) -> None:
    """Each division of a task has every scored item in one of its parts."""
    scored = Counter(
        (each.task, each.decoder, each.batch_size)
        for each in outcomes(records)
        if each.correct is not None
    )
    found: Counter[tuple[tuple[str, str, int], str]] = Counter()
    for row in parts:
        kind = "mean" if row.part == MEAN_OVER_SUBJECTS else row.part.partition(" ")[0]
        found[(row.task, row.decoder, row.batch_size), kind] += row.items
    if any(scored[place] != items for (place, _), items in found.items()):
        raise ValueError(_not_of_the_samples(folder, "tables/breakdown.csv"))


def _check_traces(folder: Path, traces: Iterable[Trace], records: Iterable[SampleRecord]) -> None:
    samples = {(each.task, each.item_id, each.decoder) for each in records}
    for each in traces:
        if (each.task, each.item_id, each.decoder) not in samples:
            raise ValueError(
                f"{folder}/traces has one of {each.item_id} of {each.task} under {each.decoder},"
                " of which the run has no sample: remove the file"
            )


def _not_of_the_samples(folder: Path, file: str) -> str:
    return (
        f"{folder}/{file} is not of the samples in the folder: end the run with `harness run` …"
        f" --resume --out {folder}"
    )
