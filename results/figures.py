"""Paper-style figures and tables of runs, in both widths of a paper's columns.

What can't be drawn for want of rows is said with its reason, and the others are drawn.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from results.ablation_figure import ablation_figure
from results.drawing import PRINT_STYLE, Width, save_figure, style
from results.families import block, lacking, points_of
from results.figure_rows import Ablation
from results.paper_tables import self_speculative_table, tokens_per_forward_table
from results.summary import SummaryRow
from results.text_tables import TextTable, write_table
from results.trade_off_figure import trade_off_figure

_KINDS = ("svg", "pdf", "png")
_WIDTHS: tuple[Width, ...] = get_args(Width)


class Written(NamedTuple):
    paths: list[Path]
    not_drawn: list[str]
    """A figure or table, and why."""


def write_figures(rows: Sequence[SummaryRow], ablations: Sequence[Ablation], out: Path) -> Written:
    """All that the rows allow, to files of a folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with style(PRINT_STYLE):
            return _write(rows, ablations, out)
    except OSError as error:
        raise ValueError(f"--out {out} can't be written: {error}") from None


def _write(rows: Sequence[SummaryRow], ablations: Sequence[Ablation], out: Path) -> Written:
    written = Written([], [])
    several = len({row.batch_size for row in rows}) > 1
    for setting in dict.fromkeys(map(_setting, rows)):
        task, source, batch_size = setting
        of_setting = [row for row in rows if _setting(row) == setting]
        place = f"trade-off of {task} ({source} items, batch size {batch_size})"
        if not any(block(point.row) for point in points_of(of_setting, "tokens_per_forward")):
            written.not_drawn.append(
                f"{place}: no decoder with a block size has accuracy and tokens per forward"
            )
            continue
        undefined = lacking(of_setting, lambda row: f"{row.decoder} of {row.model}")
        written.not_drawn.extend(f"{place}, {line}" for line in undefined)
        name = f"trade-off-{re.sub(r'[^A-Za-z0-9._-]', '_', task)}-{source}"
        stem = out / (f"{name}-batch-{batch_size}" if several else name)
        for width in _WIDTHS:
            figure = trade_off_figure(of_setting, width)
            written.paths.extend(save_figure(figure, _wide(stem, width), _KINDS))
    if rows:
        _write_table(tokens_per_forward_table(rows), out / "tokens-per-forward", written)
        _write_table(self_speculative_table(rows), out / "self-speculative", written)
    if ablations:
        for width in _WIDTHS:
            figure = ablation_figure(ablations, width)
            written.paths.extend(save_figure(figure, _wide(out / "ablations", width), _KINDS))
        written.not_drawn.extend(_missing_bars(ablations))
    return written


def _missing_bars(ablations: Sequence[Ablation]) -> list[str]:
    measured = {each.name: {(row.task, row.source) for row in each.rows} for each in ablations}
    groups = {group for found in measured.values() for group in found}
    missing = [
        f"bar of {name} on {task} ({source} items): its run has no such items"
        for task, source in sorted(groups)
        for name, found in measured.items()
        if (task, source) not in found
    ]
    return missing + [
        f"bar of {each.name} on {row.task} ({row.source} items): no {words}"
        for each in ablations
        for row in each.rows
        for words, value in (
            ("accuracy", row.accuracy),
            ("tokens per forward", row.tokens_per_forward),
        )
        if value is None
    ]


def _setting(row: SummaryRow) -> tuple[str, str, int]:
    return (row.task, row.source, row.batch_size)


def _wide(stem: Path, width: Width) -> Path:
    return stem.with_name(f"{stem.name}-{width}")


def _write_table(table: TextTable | None, stem: Path, written: Written) -> None:
    if table is None:
        written.not_drawn.append(f"table {stem.name}: no run has rows of such decoders")
    else:
        written.paths.extend(write_table(table, stem))
