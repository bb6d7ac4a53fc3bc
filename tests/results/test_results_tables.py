"""Tables: nothing lost for machines, nothing hidden from people."""

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from results_fakes import REFERENCES, SPECS, failed, realistic_run, record

from results.summary import summarise
from results.tables import (
    COLUMNS,
    COMPARISON_HEADER,
    COST_HEADER,
    HEADER,
    comparison_cells,
    read_summary,
    summary_markdown,
    write_summary,
)


def test_summary_files_hold_the_rows(tmp_path: Path):
    rows = summarise([*realistic_run(items=12), failed("x")], REFERENCES, "ar")
    paths = write_summary(tmp_path, rows)
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        *("summary.json", "tables/summary.csv", "tables/summary.md", "tables/summary.tex")
    ]
    assert read_summary(tmp_path) == rows
    data = json.loads(paths[0].read_text())
    assert data == {"schema": 1, "rows": [asdict(row) for row in rows]}
    with paths[1].open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert tuple(cells[0]) == COLUMNS
    for cell, row in zip(cells, rows, strict=True):
        shown = {name: "" if value is None else str(value) for name, value in asdict(row).items()}
        assert cell == shown


def test_markdown_shows_each_setting_with_its_baseline():
    records = [
        record("1", tokens=10, compute_s=0.1),
        record("2", tokens=10, compute_s=0.1, correct=False),
        failed("3"),
        record("1", SPECS[1], tokens=10, compute_s=0.05),
        record("2", SPECS[1], tokens=10, compute_s=0.05),
        record("1", SPECS[1], task="mmlu", batch_size=8, source="official"),
    ]
    text = summary_markdown(summarise(records, REFERENCES, "ar"))
    assert "## gsm8k: embedded items, model nano, batch size 1" in text
    assert "Baseline `ar`: 100.0 tokens/s." in text
    assert "## mmlu: official items, model nano, batch size 8" in text
    assert "The baseline `ar` has no timing here, so there are no speedups." in text
    line = next(line for line in text.splitlines() if line.startswith("| `ar` | 3 |"))
    assert line == (
        "| `ar` | 3 | embedded | 50.0 (9.5–90.5) | 100.0 | 1.00 (1.00–1.00) | 1.00 | 0.90 "
        "| 0.0 % | 0.0 % | 0.0 % | 1 | – |"
    )
    assert "| 200.0 | 2.00 (2.00–2.00) |" in text


def test_thresholds_have_an_area_under_their_trade_off():
    """Twice as fast at the baseline's accuracy, then three times at half of it: 1.5 of 3."""
    times = {"ar": 0.6, SPECS[3]: 0.3, SPECS[4]: 0.2, "entropy(tau=0.9)": 0.3}
    records = [
        record(item, spec, compute_s=time, correct=(item, spec) != ("2", SPECS[4]))
        for spec, time in times.items()
        for item in "12"
    ]
    line = "greedy-confidence (rule per-token, block 4) 0.500 (2 thresholds)"
    rows = summarise(records, REFERENCES, "ar")
    assert f"\n\nArea under the trade-off: {line}.\n\n" in summary_markdown(rows)
    assert "Area" not in summary_markdown(rows[1:])


def test_markdown_tables_are_regular():
    odd = "my.pkg:Class(sep=|)"
    text = summary_markdown(summarise([record(), record("0", odd)], {}, "ar"))
    widths = {
        line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")
    }
    assert widths == {len(header) + 1 for header in (HEADER, COMPARISON_HEADER, COST_HEADER)}


def test_one_sample_of_164_is_no_detectable_difference():
    other = SPECS[1]
    samples = [
        record(str(i), spec, correct=spec == "ar" or i > 0)
        for spec in ("ar", other)
        for i in range(164)
    ]
    unlike = [record("extra"), record("only here", other, correct=False), failed("1x", other)]
    row = summarise([*samples, *unlike], REFERENCES, "ar")[1]
    assert row.paired_items == 164
    assert row.difference_lo is not None
    assert row.difference_hi is not None
    assert row.difference_lo < 0 < row.difference_hi
    text = summary_markdown([row])
    (line,) = (line for line in text.splitlines() if line.endswith("| no detectable difference |"))
    assert line == (
        f"| `{other}` | 164 | -0.6 (-2.4 to +1.2) | 1.000 | 1.000 | 4.8 "
        "| no detectable difference |"
    )


def test_a_difference_is_called_by_its_adjusted_p_value():
    samples = [
        record(str(i), spec, correct=i < right)
        for spec, right in (("ar", 20), (SPECS[1], 13), (SPECS[2], 30), (SPECS[3], 0))
        for i in range(30)
    ]
    rows = summarise(samples, REFERENCES, "ar")
    assert [comparison_cells(row)[3:5] for row in rows] == [
        ("–", "–"),
        ("0.016", "0.016"),
        ("0.002", "0.004"),
        ("<0.001", "<0.001"),
    ]
    assert [comparison_cells(row)[-1] for row in rows] == [
        *("–", "less accurate", "more accurate", "less accurate")
    ]
    # Of four such tests the same p-value is none.
    assert comparison_cells(replace(rows[1], p_holm=0.0625))[-1] == "no detectable difference"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not exist: a run writes it when it ends"),
        ("{", "not a summary of this version"),
        ('{"schema": 2, "rows": []}', "schema 2, this version reads 1"),
        ('{"schema": 1, "rows": [{"task": "gsm8k"}]}', "not a summary of this version"),
    ],
)
def test_an_unreadable_summary_says_why(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / "summary.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_summary(tmp_path)
