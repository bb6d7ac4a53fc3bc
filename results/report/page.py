"""`report.html`: one file that needs nothing else, neither network nor other files.

Style and scripts are package files and stand within the page. A content security policy allows
that one script alone, by its hash, and no connection at all, whatever an answer of a model holds;
every text is escaped by jinja2, by `Markup.format` or by `script_json`.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from results.atomic import write_atomic
from results.breakdown import MEAN_OVER_SUBJECTS, PartRow
from results.families import parse_spec, shared_options
from results.number_text import UNDEFINED, number
from results.report.accepted import accepted_tables
from results.report.charts import Figure, Series, batch_curves, series_of, sweeps, trade_offs
from results.report.heading import heading
from results.report.runs import ReportedRun
from results.report.samples import page_data, script_json
from results.report.svg import draw, swatch
from results.summary import BASELINE, SummaryRow
from results.tables import (
    COMPARISON_HEADER,
    COST_HEADER,
    HEADER,
    area_lines,
    cells,
    comparison_cells,
    cost_cells,
    notes,
    settings,
)

# In this order: the sample browser asks the trace viewer what it has.
_SCRIPTS = ("theme.js", "tables.js", "traces.js", "samples.js")


class Cell(NamedTuple):
    """A number and the interval that belongs to it, which is set smaller."""

    value: str
    interval: str


class Line(NamedTuple):
    """A row of a table and what it is filtered and found by."""

    run: str
    row: SummaryRow
    family: str
    decoder: str
    """Without the options that all decoders of the page share."""
    cells: list[Cell]


class SummaryTable(NamedTuple):
    """Some columns of the summary."""

    name: str
    title: str
    header: list[str]
    lines: list[Line]


class PartTable(NamedTuple):
    """Accuracy by subject or level: a line for each part, a column for each decoder."""

    run: str
    task: str
    batch_size: int
    kind: str
    decoders: list[str]
    lines: list[tuple[str, int, list[Cell]]]


def render_page(runs: Sequence[ReportedRun], baseline: str = BASELINE) -> str:
    """The whole page of one or several runs."""
    rows = [row for run in runs for row in run.rows]
    series = series_of(rows, baseline)
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shared = shared_options(rows)
    sources = [*dict.fromkeys(row.source for row in rows)]
    text = _template().render(
        headings=[heading(run, baseline) for run in runs],
        several=len(runs) > 1,
        models=[*dict.fromkeys(row.model for row in rows)],
        tasks=[*dict.fromkeys(row.task for row in rows)],
        families=[each.label for each in series],
        decoders=[*dict.fromkeys(row.decoder for row in rows)],
        sizes=[*dict.fromkeys(row.batch_size for row in rows)],
        tables=_summary_tables(
            runs, series, shared, baseline, {"source"} if len(sources) == 1 else set()
        ),
        sources=sources,
        heading_words=_heading_words,
        notes=notes(baseline),
        baseline=baseline,
        shared=shared,
        legend=[(swatch(each), each.label) for each in series],
        trade_offs=_drawn(trade_offs(runs, series, baseline), len(runs) > 1),
        areas=_areas(runs, baseline),
        sweeps=_drawn(sweeps(runs, series), len(runs) > 1),
        batches=_drawn(batch_curves(runs, series), len(runs) > 1),
        accepted=accepted_tables(runs),
        parts=_part_tables(runs),
        short={row.decoder: short_name(row.decoder, shared) for row in rows},
        data=Markup(script_json(page_data(runs))),
        style=Markup(_asset("style.css")),
        script=Markup(script),
        script_hash=digest,
    )
    # Names can hold what has no UTF-8, as file names may.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def write_page(runs: Sequence[ReportedRun], out: Path, baseline: str = BASELINE) -> Path:
    """`report.html` in a folder."""
    path = out / "report.html"
    write_atomic(path, render_page(runs, baseline))
    return path


def _drawn(figures: Sequence[Figure], several: bool) -> list[tuple[str, list[Markup]]]:
    return [
        (
            f"{figure.run}: {figure.title}" if several else figure.title,
            [draw(chart, figure.task) for chart in figure.charts],
        )
        for figure in figures
    ]


def _areas(runs: Sequence[ReportedRun], baseline: str) -> list[str]:
    return [
        f"{run.name}: {title}. {line}" if len(runs) > 1 else f"{title}. {line}"
        for run in runs
        for title, members in settings(run.rows)
        for line in area_lines(members, baseline)
    ]


def short_name(decoder: str, shared: dict[str, str]) -> str:
    return str(parse_spec(decoder).without(*shared)).replace("tau ", "τ\u00a0")


def _summary_tables(
    runs: Sequence[ReportedRun],
    series: Sequence[Series],
    shared: dict[str, str],
    baseline: str,
    said: set[str],
) -> list[SummaryTable]:
    """The tables of `summary.md`, each of all settings. said: columns that are said elsewhere."""
    family_of = {decoder: each.label for each in series for decoder in each.decoders}

    def table(
        name: str, title: str, header: Sequence[str], texts: Callable[[SummaryRow], Sequence[str]]
    ) -> SummaryTable:
        columns = [at for at, word in enumerate(header) if at and word not in said]
        lines = [
            Line(
                run=run.name,
                row=row,
                family=family_of[row.decoder],
                decoder=short_name(row.decoder, shared),
                cells=[_cell(texts(row)[at]) for at in columns],
            )
            for run in runs
            for row in run.rows
            if name != "comparison" or row.paired_items
        ]
        return SummaryTable(name, title, [header[at] for at in columns], lines)

    found = [
        table("summary", "Speed and accuracy", HEADER, cells),
        table("comparison", f"Accuracy against {baseline}", COMPARISON_HEADER, comparison_cells),
        table("cost", "Latency, memory, agreement", COST_HEADER, cost_cells),
    ]
    return [each for each in found if each.lines]


def _heading_words(name: str) -> Markup:
    """A column's name, which may break after a slash, but not before a unit or within `95 %`."""
    return Markup("/<wbr>").join(re.split(r"/(?=\w\w)", name.replace("95 %", "95\u00a0%")))


def _cell(text: str) -> Cell:
    value, bracket, interval = text.partition(" (")
    return Cell(value, bracket.strip() + interval)


def _part_tables(runs: Sequence[ReportedRun]) -> list[PartTable]:
    return [
        _part_table(run.name, task, batch_size, kind, [*group])
        for run in runs
        for (task, batch_size, kind), group in groupby(
            sorted(run.parts, key=_part_place), key=_part_place
        )
    ]


def _part_place(row: PartRow) -> tuple[str, int, str]:
    kind = "subject" if row.part == MEAN_OVER_SUBJECTS else row.part.partition(" ")[0]
    return (row.task, row.batch_size, kind)


def _part_table(
    run: str, task: str, batch_size: int, kind: str, rows: Sequence[PartRow]
) -> PartTable:
    by_place = {(row.part, row.decoder): row for row in rows}
    decoders = [*dict.fromkeys(row.decoder for row in rows)]
    parts = [*dict.fromkeys(row.part for row in rows)]
    return PartTable(
        run=run,
        task=task,
        batch_size=batch_size,
        kind=kind,
        decoders=decoders,
        lines=[
            (
                part.removeprefix(f"{kind} "),
                max(row.items for row in rows if row.part == part),
                [_accuracy(by_place.get((part, decoder))) for decoder in decoders],
            )
            for part in parts
        ],
    )


def _accuracy(row: PartRow | None) -> Cell:
    if row is None:
        return Cell(UNDEFINED, "")
    ends = (row.accuracy_lo, row.accuracy_hi)
    interval = "–".join(number(end, scale=100) for end in ends if end is not None)
    return Cell(number(row.accuracy, 1, scale=100), interval and f"({interval})")


@cache
def _asset(name: str) -> str:
    return (files("results.report") / "assets" / name).read_text(encoding="utf-8")


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.jinja"))
