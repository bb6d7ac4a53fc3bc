"""The rows that figures are drawn from: run folders read, and mix-ups refused.

A row is of one model, task, source, batch size and decoder; two runs may not both have it, or a
figure would show two measurements of one thing as one curve.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from results.families import families, tau
from results.store import stored_config
from results.summary import SummaryRow
from results.tables import read_summary


class Ablation(NamedTuple):
    """A name and, for each task of its run, the row that stands for it."""

    name: str
    rows: list[SummaryRow]


def rows_of_runs(folders: Sequence[Path]) -> list[SummaryRow]:
    """The rows of several runs, in the order given."""
    origins: dict[tuple[str, ...], Path] = {}
    rows: list[SummaryRow] = []
    if twice := [path for index, path in enumerate(folders) if path in folders[:index]]:
        raise ValueError(f"{twice[0]} is given twice")
    for folder in folders:
        for row in _rows_of_run(folder):
            key = (row.model, row.task, row.source, str(row.batch_size), row.decoder)
            if key in origins:
                raise ValueError(
                    f"{origins[key]} and {folder} both have {row.decoder} of {row.model} on "
                    f"{row.task} ({row.source}, batch size {row.batch_size}): give one of them"
                )
            origins[key] = folder
            rows.append(row)
    return rows


def ablations(wishes: Sequence[str]) -> list[Ablation]:
    """NAME=RUN, each with its own name, as rows."""
    found: dict[str, Ablation] = {}
    for wish in wishes:
        name, equals, folder = wish.partition("=")
        name = name.strip()
        if not (name and equals and folder):
            raise ValueError(f"--ablation {wish!r} is malformed: give NAME=RUN")
        if name in found:
            raise ValueError(f"--ablation {name!r} is given twice: names must differ")
        found[name] = Ablation(name, _representatives(_rows_of_run(Path(folder))))
    return [*found.values()]


def _rows_of_run(folder: Path) -> list[SummaryRow]:
    if not stored_config(folder):
        raise ValueError(f"{folder} is not a run folder: it has no manifest.json")
    return read_summary(folder)


def _representatives(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """For each task, the row of the smallest batch size and, as in the paper's ablations, of the
    highest threshold; the first family with thresholds is it, or the last of all families."""
    chosen: list[SummaryRow] = []
    for task in dict.fromkeys(row.task for row in rows):
        of_task = [row for row in rows if row.task == task]
        smallest = min(row.batch_size for row in of_task)
        members = [
            family.rows for family in families([r for r in of_task if r.batch_size == smallest])
        ]
        with_tau = [each for each in members if tau(each[-1]) is not None]
        chosen.append((with_tau or members[::-1])[0][-1])
    return chosen
