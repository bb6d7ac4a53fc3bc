"""What `harness report` writes: tables (Markdown, CSV, LaTeX), plots and the page.

For one run these are the files that the run itself writes, anew. For several, tables have all
runs, each under its name, and every run has its own plots.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from results.atomic import write_atomic
from results.plots import trade_off_plot
from results.report.charts import batch_curves, series_of, sweeps, trade_offs
from results.report.page import write_page
from results.report.pictures import draw_pictures
from results.report.runs import ReportedRun
from results.sample_files import file_name
from results.summary import BASELINE
from results.tables import COLUMNS, summary_latex, summary_markdown, write_summary
from results.text_tables import csv_text, one_line, write_rows


def write_report(runs: Sequence[ReportedRun], out: Path, baseline: str = BASELINE) -> list[Path]:
    """Everything into the folder `out`; returns the files."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        page = write_page(runs, out, baseline)
        if len(runs) == 1:
            tables = write_summary(out, runs[0].rows, baseline, runs[0].warnings)
        else:
            tables = _write_summaries(runs, out / "tables", baseline)
        tables += [
            path
            for run in runs
            for path in write_rows(out / "tables" / _named(runs, run, "breakdown"), run.parts)
        ]
        plots = _write_plots(runs, out / "plots", baseline)
    except OSError as error:
        raise ValueError(f"{out} can't be written: {error}; choose another --out") from None
    return [page, *tables, *plots]


def _write_plots(runs: Sequence[ReportedRun], folder: Path, baseline: str) -> list[Path]:
    """Accuracy over speed for each task of a run, and the page's other charts."""
    paths = [
        path
        for run in runs
        for task in dict.fromkeys(row.task for row in run.rows)
        for path in trade_off_plot(
            [row for row in run.rows if row.task == task],
            folder / _named(runs, run, file_name(task)),
            baseline,
        )
    ]
    series = series_of([row for run in runs for row in run.rows], baseline)
    by_name = {run.name: run for run in runs}
    figures = [
        *trade_offs(runs, series, baseline),
        *sweeps(runs, series),
        *batch_curves(runs, series),
    ]
    for figure in figures:
        # Drawn above, for all batch sizes at once.
        charts = [each for each in figure.charts if (each.x, each.y) != ("speedup", "accuracy")]
        if charts:
            name = _named(runs, by_name[figure.run], file_name(figure.name))
            paths += draw_pictures(figure, charts, folder / name)
    return paths


def _named(runs: Sequence[ReportedRun], run: ReportedRun, name: str) -> str:
    return name if len(runs) == 1 else f"{file_name(run.name)}-{name}"


def _write_summaries(runs: Sequence[ReportedRun], folder: Path, baseline: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "summary.md": "\n".join(
            f"# run {one_line(run.name)}\n\n{summary_markdown(run.rows, baseline, run.warnings)}"
            for run in runs
        ),
        "summary.csv": csv_text(
            [
                ["run", *COLUMNS],
                *([run.name, *asdict(row).values()] for run in runs for row in run.rows),
            ]
        ),
        "summary.tex": "\n".join(
            f"% run {one_line(run.name)}\n{summary_latex(run.rows, baseline, run.warnings)}"
            for run in runs
        ),
    }
    for name, text in texts.items():
        write_atomic(folder / name, text)
    return [folder / name for name in texts]
