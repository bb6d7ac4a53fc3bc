"""Tables: nothing lost for machines, nothing hidden from people."""

import csv
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from results_fakes import REFERENCES, SPECS, failed, realistic_run, record

from results.summary import summarise
from results.tables import COLUMNS, read_summary, summary_markdown, write_summary


def test_summary_files_hold_the_rows(tmp_path: Path):
    rows = summarise([*realistic_run(items=12), failed("x")], REFERENCES, "ar")
    paths = write_summary(tmp_path, rows)
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        *("summary.json", "tables/summary.csv", "tables/summary.md")
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


def test_markdown_tables_are_regular():
    odd = "my.pkg:Class(sep=|)"
    text = summary_markdown(summarise([record(), record("1", odd)], {}, "ar"))
    widths = {
        line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")
    }
    assert widths == {14}


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
