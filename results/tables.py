"""Summary rows as files: `summary.json` for machines, `tables/` (CSV, Markdown, LaTeX) for all."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path

from results.atomic import write_atomic
from results.families import families, points_of
from results.number_text import UNDEFINED, number, p_value, percent, with_interval
from results.records import SCHEMA
from results.statistics import trade_off_area
from results.stored_json import parse_json
from results.summary import BASELINE, SummaryRow
from results.text_tables import csv_text, latex_table, markdown_line, one_line

SIGNIFICANT = 0.05
"""The level at which a table calls two accuracies different."""

MOST_SPEEDUP = 4.0
"""Where areas under trade-offs end; the same for all runs, so that they compare."""

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
- agreement: share of items with the same ids as the reference decoder. –: none to compare
  with, as where that decoder was not run.
- first token, latency: from admission to the first and to the last id; median and quantiles over
  items. ms/decode forward: median over items; in a batch, a row's share of the forward.
- accepted length: mean tokens kept by a decode forward that kept any; tables/accepted_lengths has
  the histogram.
- peak memory: of tensors on a GPU, the model among them.
- J/token: energy of the GPU, else of the processor packages, per generated token.
- noisy: share of samples during which other programs took more than 15 % of the cores.
- near ties, real divergences: items with other ids than the reference decoder's, by whether its
  two likeliest tokens were within rounding of each other where they part; tables/divergences has
  them.
- speedup over the baseline model: the same ratio to the tokens/s of the model that was measured as
  `ar(model=…)` in the same run; –: there was none.
- area under the trade-off: of the best accuracy at each speedup from 1 to {most:g}, over that of a
  decoder as accurate as `{baseline}` at all of them. 0: no faster; 1: as accurate up to {most:g}.
- paired: items that decoder and baseline both completed; what stands right of it is about those.
- difference: accuracy minus that of `{baseline}`, with its bootstrap interval over items.
- p: McNemar's exact test of that difference. p (Holm): adjusted for the number of decoders in the
  table, and what the finding goes by, at 5 %.
- detectable: the smallest difference such a test finds four times in five with these items; of
  smaller ones "no detectable difference" says nothing.
"""

COST_HEADER = (
    "decoder",
    "first token, ms",
    "latency p50, s",
    "p90",
    "p99",
    "ms/decode forward",
    "accepted length",
    "peak memory, MB",
    "J/token",
    "noisy",
    "near ties",
    "real divergences",
    "speedup over the baseline model (95 %)",
)

COMPARISON_HEADER = (
    "decoder",
    "paired",
    "difference, points (95 %)",
    "p",
    "p (Holm)",
    "detectable, points",
    "finding",
)


def write_summary(
    folder: Path,
    rows: Sequence[SummaryRow],
    baseline: str = BASELINE,
    warnings: Sequence[str] = (),
) -> list[Path]:
    """Write the four files of a run folder and return their paths. warnings: what a reader of the
    tables is told first."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    texts = {
        folder / "summary.json": summary_json(rows),
        folder / "tables" / "summary.csv": summary_csv(rows),
        folder / "tables" / "summary.md": summary_markdown(rows, baseline, warnings),
        folder / "tables" / "summary.tex": summary_latex(rows, baseline, warnings),
    }
    for path, text in texts.items():
        write_atomic(path, text)
    return [*texts]


def read_summary(folder: Path) -> list[SummaryRow]:
    """The rows of a run's `summary.json`."""
    path = folder / "summary.json"
    try:
        data = parse_json(path.read_bytes())
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r}, this version reads {SCHEMA}")
        return [SummaryRow.from_json(row) for row in data["rows"]]
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: a run writes it when it ends") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} is not a summary of this version: {error}") from None


def summary_json(rows: Sequence[SummaryRow]) -> str:
    data = {"schema": SCHEMA, "rows": [asdict(row) for row in rows]}
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def summary_csv(rows: Sequence[SummaryRow]) -> str:
    return csv_text([COLUMNS, *(asdict(row).values() for row in rows)])


def summary_markdown(
    rows: Sequence[SummaryRow], baseline: str = BASELINE, warnings: Sequence[str] = ()
) -> str:
    """One table per task, source, model and batch size, and what the columns mean."""
    parts = [f"> warning: {one_line(line)}" for line in warnings]
    for title, members in settings(rows):
        parts += [
            f"## {title}",
            _baseline_line(members, baseline),
            _table(HEADER, _RULE, [cells(row) for row in members]),
            *area_lines(members, baseline),
        ]
        compared = [comparison_cells(row) for row in members if row.paired_items]
        if compared:
            parts.append(_table(COMPARISON_HEADER, _COMPARISON_RULE, compared))
        parts.append(_table(COST_HEADER, _COST_RULE, [cost_cells(row) for row in members]))
    return "\n\n".join([*parts, _NOTES.format(baseline=baseline, most=MOST_SPEEDUP)])


def summary_latex(
    rows: Sequence[SummaryRow], baseline: str = BASELINE, warnings: Sequence[str] = ()
) -> str:
    """The tables of `summary_markdown`, for the package booktabs; what is said is a comment."""
    tables = [f"% warning: {one_line(line)}" for line in warnings]
    for title, members in settings(rows):
        said = [title, _baseline_line(members, baseline), *area_lines(members, baseline)]
        tables.append(latex_table(HEADER, [[cells(row) for row in members]], said))
        compared = [comparison_cells(row) for row in members if row.paired_items]
        if compared:
            tables.append(latex_table(COMPARISON_HEADER, [compared], [title]))
        tables.append(latex_table(COST_HEADER, [[cost_cells(row) for row in members]], [title]))
    return "\n".join([*tables, *(f"% {note}" for note in notes(baseline))]) + "\n"


def notes(baseline: str) -> list[str]:
    """What each column means, a line for each of them."""
    lines = _NOTES.format(baseline=baseline, most=MOST_SPEEDUP).replace("\n  ", " ").splitlines()
    return [line.removeprefix("- ") for line in lines]


def settings(rows: Sequence[SummaryRow]) -> Iterator[tuple[str, list[SummaryRow]]]:
    """What a table is of, and its rows."""
    for (task, source, model, batch_size), group in groupby(
        rows, key=lambda row: (row.task, row.source, row.model, row.batch_size)
    ):
        title = f"{task}: {source} items, model {model}, batch size {batch_size}"
        yield one_line(title), [*group]


_RULE = "|---|" + "---:|" + "---|" + "---:|" * (len(HEADER) - 3)
_COST_RULE = "|---|" + "---:|" * (len(COST_HEADER) - 1)
_COMPARISON_RULE = "|---|" + "---:|" * (len(COMPARISON_HEADER) - 2) + "---|"


def _baseline_line(rows: Sequence[SummaryRow], baseline: str) -> str:
    found = [row.tokens_per_s for row in rows if row.decoder == baseline]
    if not found or found[0] is None:
        return f"The baseline `{baseline}` has no timing here, so there are no speedups."
    return f"Baseline `{baseline}`: {number(found[0], 1)} tokens/s."


def area_lines(rows: Sequence[SummaryRow], baseline: str) -> list[str]:
    """The area under the trade-off of each decoder that ran at several thresholds in a setting."""
    accuracy = next((row.accuracy for row in rows if row.decoder == baseline), None)
    found: list[str] = []
    for label, members in families(rows):
        points = [(point.x, point.accuracy) for point in points_of(members, "speedup")]
        if accuracy and len(points) > 1:
            area = trade_off_area(points, accuracy, max_speedup=MOST_SPEEDUP)
            found.append(f"{one_line(label)} {number(area, 3)} ({len(points)} thresholds)")
    return [f"Area under the trade-off: {', '.join(found)}."] if found else []


def _table(header: Sequence[str], rule: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [markdown_line([f"`{decoder}`", *others]) for decoder, *others in rows]
    return "\n".join([markdown_line(header), rule, *lines])


def cells(row: SummaryRow) -> tuple[str, ...]:
    """A row as text under `HEADER`; an undefined number is a dash."""
    return (
        row.decoder,
        str(row.items),
        row.source,
        with_interval(row.accuracy, row.accuracy_lo, row.accuracy_hi, digits=1, scale=100),
        number(row.tokens_per_s, 1),
        with_interval(row.speedup, row.speedup_lo, row.speedup_hi, digits=2),
        number(row.tokens_per_forward, 2),
        number(row.query_slots_per_token, 2),
        percent(row.cap_share),
        percent(row.guessed_share),
        percent(row.no_answer_share),
        str(row.failed),
        percent(row.agreement),
    )


def comparison_cells(row: SummaryRow) -> tuple[str, ...]:
    """A row's comparison with the baseline as text under `COMPARISON_HEADER`."""
    return (
        row.decoder,
        number(row.paired_items),
        with_interval(
            row.difference, row.difference_lo, row.difference_hi, digits=1, scale=100, sign="+"
        ),
        p_value(row.p_value),
        p_value(row.p_holm),
        number(row.detectable, 1, scale=100),
        _finding(row),
    )


def cost_cells(row: SummaryRow) -> tuple[str, ...]:
    """What a row's answers cost, as text under `COST_HEADER`."""
    return (
        row.decoder,
        number(row.time_to_first_token_s, 1, scale=1000),
        number(row.latency_p50_s, 3),
        number(row.latency_p90_s, 3),
        number(row.latency_p99_s, 3),
        number(row.decode_forward_s, 2, scale=1000),
        number(row.accepted_length, 2),
        number(row.peak_memory_bytes, scale=1e-6),
        number(row.joules_per_token, 3),
        percent(row.noisy_share),
        number(row.near_ties),
        number(row.real_divergences),
        with_interval(
            row.baseline_model_speedup,
            row.baseline_model_speedup_lo,
            row.baseline_model_speedup_hi,
            digits=2,
        ),
    )


def _finding(row: SummaryRow) -> str:
    if row.difference is None or row.p_holm is None:
        return UNDEFINED
    if row.p_holm >= SIGNIFICANT:
        return "no detectable difference"
    return "more accurate" if row.difference > 0 else "less accurate"
