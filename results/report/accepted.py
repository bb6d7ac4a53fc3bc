"""Accepted lengths as a table of bars: how many tokens decode forwards kept, and where."""

from collections.abc import Sequence
from typing import NamedTuple

from results.costs import PARTS, AcceptedRow, accepted_lengths
from results.number_text import number
from results.report.runs import ReportedRun

MOST_LENGTHS = 16
"""Longer ones share the last column."""


class Bar(NamedTuple):
    """A cell: a bar as high as `share` of it, and what it says."""

    share: float
    text: str


class AcceptedLine(NamedTuple):
    decoder: str
    lengths: list[Bar]
    """Share of the decode forwards that kept 1, 2, … tokens."""
    mean: str
    quarters: list[Bar]
    """Mean tokens kept, by quarter of the answer."""


class AcceptedTable(NamedTuple):
    run: str
    task: str
    batch_size: int
    lengths: list[str]
    quarters: list[str]
    lines: list[AcceptedLine]


def accepted_tables(runs: Sequence[ReportedRun]) -> list[AcceptedTable]:
    """A table for each run, task and batch size; decoders that kept nothing are left out."""
    tables: list[AcceptedTable] = []
    for run in runs:
        rows = accepted_lengths(run.records)
        for task, batch_size in dict.fromkeys((row.task, row.batch_size) for row in run.rows):
            members = [r for r in rows if (r.task, r.batch_size) == (task, batch_size)]
            if not members:
                continue
            longest = max(row.length for row in members)
            shown = min(longest, MOST_LENGTHS)
            names = [str(length) for length in range(1, shown + 1)]
            if longest > shown:
                names[-1] += "+"
            tables.append(
                AcceptedTable(
                    run=run.name,
                    task=task,
                    batch_size=batch_size,
                    lengths=names,
                    quarters=[*PARTS[1:]],
                    lines=[
                        _line(decoder, [r for r in members if r.decoder == decoder], shown)
                        for decoder in dict.fromkeys(row.decoder for row in run.rows)
                        if any(row.decoder == decoder for row in members)
                    ],
                )
            )
    return tables


def _line(decoder: str, rows: Sequence[AcceptedRow], shown: int) -> AcceptedLine:
    shares = [0.0] * shown
    for row in rows:
        if row.part == PARTS[0]:
            shares[min(row.length, shown) - 1] += row.share
    means = {part: _mean([row for row in rows if row.part == part]) for part in PARTS}
    overall, *quarters = means.values()
    return AcceptedLine(
        decoder=decoder,
        lengths=[Bar(share, f"{100 * share:.0f}" if share else "") for share in shares],
        mean=number(overall, 2),
        quarters=[Bar((mean or 0.0) / shown, number(mean, 2)) for mean in quarters],
    )


def _mean(rows: Sequence[AcceptedRow]) -> float | None:
    forwards = sum(row.forwards for row in rows)
    return sum(row.length * row.forwards for row in rows) / forwards if forwards else None
