"""`harness compare`: two run folders in, a verdict out, for people, machines and pull requests."""

import json
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.json_lines import check_target
from harness.terminal import print_fitting
from results import read_run
from results.gate import Rules, Verdict, as_json, judge, markdown, verdict_line
from results.gate.summary_text import cells, explanations, groups, header, remarks
from sdlm.whole_file import whole_file

# Columns of the table's second half, for a terminal too narrow for all; the decoder is in both.
_SPEED = range(1, 7)
_ANSWERS = range(7, 12)


def compare_runs(
    base: Path, new: Path, rules: Rules, *, markdown_target: str | None, as_data: bool
) -> bool:
    """Judge the runs in two folders and say so on standard output; whether all is well.

    markdown_target: a file for the Markdown too, or `-` for standard output, then alone.
    """
    if markdown_target == "-" and as_data:
        raise ValueError(
            "--markdown - and --json both go to standard output: give --markdown FILE"
        )
    if markdown_target is not None:
        check_target(markdown_target, "--markdown")
    if base.resolve() == new.resolve():
        raise ValueError(f"{base} is given twice: name the run to compare with, then the new one")
    verdict = judge(read_run(base), read_run(new), rules)
    if markdown_target == "-":
        print(markdown(verdict), end="")
    elif as_data:
        print(json.dumps(as_json(verdict), indent=2, allow_nan=False))
    else:
        print_verdict(verdict, Console())
    if markdown_target is not None and markdown_target != "-":
        with whole_file(Path(markdown_target)) as draft:
            draft.write_text(markdown(verdict), encoding="utf-8", errors="backslashreplace")
    return not verdict.failed


def print_verdict(verdict: Verdict, console: Console) -> None:
    """Tables, what they have no room for, what they mean, and the verdict where one looks last."""
    for title, rows in groups(verdict).items():
        lines = [cells(row) for row in rows]
        whole = _table(title, header(verdict), lines, range(1, len(header(verdict))))
        parts = [_table(title, header(verdict), lines, each) for each in (_SPEED, _ANSWERS)]
        print_fitting(console, whole, parts)
    for line in [*remarks(verdict), "", *explanations(verdict), ""]:
        console.print(escape(line), highlight=False, soft_wrap=True)
    console.print(escape(verdict_line(verdict)), highlight=False, soft_wrap=True, style="bold")


def _table(title: str, names: list[str], lines: list[tuple[str, ...]], columns: range) -> Table:
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(names[0], min_width=17, overflow="fold")
    for column in columns:
        table.add_column(
            names[column].replace(" (", "\n(").replace(", ", ",\n"),
            justify="right",
            no_wrap=column != columns[-1],
        )
    for line in lines:
        table.add_row(escape(line[0]), *(escape(line[column]) for column in columns))
    return table
