"""Summary rows as files: `summary.json` for machines, `tables/` (CSV, Markdown) for people."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path

from results.atomic import write_atomic
from results.records import SCHEMA
from results.summary import SummaryRow

SIGNIFICANT = 0.05
"""The level at which a table calls two accuracies different."""

COLUMNS = tuple(field.name for field in fields(SummaryRow))

HEADER: tuple[str, ...] = (
    "decoder",
    "items",
    "source",
    "accuracy, % (95 %)",
    "tokens/s",
    "speedup (95 %)",
    "tokens/forward",
    "slots/token",
    "capped",
    "guessed",
    "no answer",
    "failed",
    "agreement",
)

_NOTES = """\
- accuracy: correct over items that did not fail, with its Wilson interval.
- tokens/s: generated tokens (no prompt, no padding, nothing past the end) over compute time.
- speedup: total tokens/s over those of `{baseline}`, on items both completed; bootstrap interval.
- tokens/forward: generated tokens per forward, a prefill (in chunks or whole) counted as one.
- slots/token: query slots fed per generated token, those of the prompt left out.
- capped: share cut off by the token budget. guessed: share whose answer was guessed from the text
  (extracted by fallback), not declared in it. no answer: share without an answer to extract.
- failed: items with an error; they are in no other column but items.
- agreement: share of items with the same ids as the reference decoder. –: undefined.
- paired: items that decoder and baseline both completed; what stands right of it is about those.
- difference: accuracy minus that of `{baseline}`, with its bootstrap interval over items.
- p: McNemar's exact test of that difference. p (Holm): adjusted for the number of decoders in the
  table, and what the finding goes by, at 5 %.
- detectable: the smallest difference such a test finds four times in five with these items; of
  smaller ones "no detectable difference" says nothing.
"""

COMPARISON_HEADER = (
    "decoder",
    "paired",
    "difference, points (95 %)",
    "p",
    "p (Holm)",
    "detectable, points",
    "finding",
)


def write_summary(folder: Path, rows: Sequence[SummaryRow], baseline: str = "ar") -> list[Path]:
    """Write the three files of a run folder and return their paths."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    texts = {
        folder / "summary.json": summary_json(rows),
        folder / "tables" / "summary.csv": summary_csv(rows),
        folder / "tables" / "summary.md": summary_markdown(rows, baseline),
    }
    for path, text in texts.items():
        write_atomic(path, text)
    return [*texts]


def read_summary(folder: Path) -> list[SummaryRow]:
    """The rows of a run's `summary.json`."""
    path = folder / "summary.json"
    try:
        data = json.loads(path.read_bytes())
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r}, this version reads {SCHEMA}")
        return [SummaryRow(**row) for row in data["rows"]]
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: a run writes it when it ends") from None
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is not a summary of this version: {error}") from None


def summary_json(rows: Sequence[SummaryRow]) -> str:
    data = {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def summary_csv(rows: Sequence[SummaryRow]) -> str:
    """Full precision; an undefined number is an empty cell."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return file.getvalue()


def summary_markdown(rows: Sequence[SummaryRow], baseline: str = "ar") -> str:
    """One table per task, source, model and batch size, and what the columns mean."""
    parts: list[str] = []
    for (task, source, model, batch_size), group in groupby(
        rows, key=lambda row: (row.task, row.source, row.model, row.batch_size)
    ):
        members = [*group]
        parts += [
            f"## {task}: {source} items, model {model}, batch size {batch_size}",
            _baseline_line(members, baseline),
            _table(HEADER, _RULE, [cells(row) for row in members]),
        ]
        compared = [comparison_cells(row) for row in members if row.paired_items]
        if compared:
            parts.append(_table(COMPARISON_HEADER, _COMPARISON_RULE, compared))
    return "\n\n".join([*parts, _NOTES.format(baseline=baseline)])


_RULE = "|---|" + "---:|" + "---|" + "---:|" * (len(HEADER) - 3)
_COMPARISON_RULE = "|---|" + "---:|" * (len(COMPARISON_HEADER) - 2) + "---|"


def _baseline_line(rows: Sequence[SummaryRow], baseline: str) -> str:
    found = [row.tokens_per_s for row in rows if row.decoder == baseline]
    if not found or found[0] is None:
        return f"The baseline `{baseline}` has no timing here, so there are no speedups."
    return f"Baseline `{baseline}`: {_number(found[0], 1)} tokens/s."


def _table(header: Sequence[str], rule: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [_line([f"`{decoder}`", *others]) for decoder, *others in rows]
    return "\n".join([_line(header), rule, *lines])


def cells(row: SummaryRow) -> tuple[str, ...]:
    """A row as text under `HEADER`; an undefined number is a dash."""
    return (
        row.decoder,
        str(row.items),
        row.source,
        _with_interval(row.accuracy, row.accuracy_lo, row.accuracy_hi, scale=100, digits=1),
        _number(row.tokens_per_s, 1),
        _with_interval(row.speedup, row.speedup_lo, row.speedup_hi, scale=1, digits=2),
        _number(row.tokens_per_forward, 2),
        _number(row.query_slots_per_token, 2),
        _percent(row.cap_share),
        _percent(row.guessed_share),
        _percent(row.no_answer_share),
        str(row.failed),
        _percent(row.agreement),
    )


def comparison_cells(row: SummaryRow) -> tuple[str, ...]:
    """A row's comparison with the baseline as text under `COMPARISON_HEADER`."""
    return (
        row.decoder,
        "–" if row.paired_items is None else str(row.paired_items),
        _with_interval(
            row.difference, row.difference_lo, row.difference_hi, scale=100, digits=1, sign="+"
        ),
        _p_value(row.p_value),
        _p_value(row.p_holm),
        _number(None if row.detectable is None else 100 * row.detectable, 1),
        _finding(row),
    )


def _finding(row: SummaryRow) -> str:
    if row.difference is None or row.p_holm is None:
        return "–"
    if row.p_holm >= SIGNIFICANT:
        return "no detectable difference"
    return "more accurate" if row.difference > 0 else "less accurate"


def _p_value(value: float | None) -> str:
    if value is None:
        return "–"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _number(value: float | None, digits: int, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _with_interval(
    value: float | None,
    lo: float | None,
    hi: float | None,
    *,
    scale: float,
    digits: int,
    sign: str = "",
) -> str:
    if value is None:
        return "–"
    shown = _number(value * scale, digits, sign)
    if lo is None or hi is None:
        return shown
    between = " to " if sign else "–"
    return f"{shown} ({between.join(_number(end * scale, digits, sign) for end in (lo, hi))})"
