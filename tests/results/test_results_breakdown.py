"""Accuracy by subject and level, against counting by hand, and the tables they become."""

import csv
from pathlib import Path

import pytest
from results_fakes import failed, record

from results.breakdown import MetricRow, Place, break_down, read_parts
from results.statistics import wilson
from results.text_tables import write_rows

PLACES = {
    ("gsm8k", "0"): Place("algebra", "2"),
    ("gsm8k", "1"): Place("algebra", "10"),
    ("gsm8k", "2"): Place("algebra", "10"),
    ("gsm8k", "3"): Place("logic", "2"),
    ("gsm8k", "4"): Place("logic", "2"),
}


def test_parts_are_counted_and_subjects_averaged():
    records = [record(str(n), correct=n in (0, 1, 3)) for n in range(4)] + [failed("4")]
    rows = {row.part: row for row in break_down(records, PLACES)}
    assert list(rows) == [
        "subject algebra",
        "subject logic",
        "level 2",
        "level 10",
        "mean over subjects",
    ]
    algebra = rows["subject algebra"]
    assert (algebra.items, algebra.accuracy) == (3, pytest.approx(2 / 3))
    assert (algebra.accuracy_lo, algebra.accuracy_hi) == tuple(wilson(2, 3))
    assert (rows["subject logic"].items, rows["subject logic"].accuracy) == (1, 1.0)
    assert (rows["level 2"].items, rows["level 2"].accuracy) == (2, 1.0)
    assert (rows["level 10"].items, rows["level 10"].accuracy) == (2, 0.5)
    mean = rows["mean over subjects"]
    # The micro average would be 3/4.
    assert (mean.items, mean.accuracy) == (4, pytest.approx((2 / 3 + 1) / 2))
    assert mean.accuracy_lo is None


def test_decoders_and_batch_sizes_are_kept_apart():
    records = [
        record(item, decoder, batch_size=size, correct=decoder == "ar")
        for item in ("0", "3")
        for decoder in ("ar", "entropy")
        for size in (1, 4)
    ]
    found = {
        (row.decoder, row.batch_size): row.accuracy
        for row in break_down(records, PLACES)
        if row.part == "subject logic"
    }
    assert found == {("ar", 1): 1, ("ar", 4): 1, ("entropy", 1): 0, ("entropy", 4): 0}


def test_a_task_without_parts_has_no_rows(tmp_path: Path):
    places = {("gsm8k", "0"): Place("", ""), ("gsm8k", "1"): Place("", "")}
    rows = break_down([record("0"), record("1")], places)
    assert rows == []
    assert write_rows(tmp_path / "breakdown", rows) == []
    assert not list(tmp_path.iterdir())


def test_tables_hold_the_rows(tmp_path: Path):
    rows = [
        MetricRow(
            task="lm_eval:x", decoder="ar", batch_size=1, metric="f1,none", items=3, value=value,
            stderr=stderr,
        )
        for value, stderr in ((1 / 3, 0.25), (0.5, None))
    ]  # fmt: skip
    written = write_rows(tmp_path / "metrics", rows)
    assert written == [tmp_path / f"metrics.{kind}" for kind in ("md", "csv", "tex")]
    with written[1].open() as file:
        first, second = csv.DictReader(file)
    assert (float(first["value"]), first["stderr"]) == (1 / 3, "0.25")
    assert second["stderr"] == ""
    assert "| lm_eval:x | ar | 1 | f1,none | 3 | 0.3333 | 0.25 |" in written[0].read_text()
    assert r"lm\_eval:x & ar & 1 & f1,none & 3 & 0.3333 & 0.25 \\" in written[2].read_text()


def test_parts_are_read_as_they_were_written(tmp_path: Path):
    rows = break_down([record(str(n), correct=n in (0, 1, 3)) for n in range(4)], PLACES)
    write_rows(tmp_path / "breakdown", rows)
    assert read_parts(tmp_path / "breakdown.csv") == rows
    assert read_parts(tmp_path / "missing.csv") == []
    (tmp_path / "bad.csv").write_text("task,part\nx,y\n")
    with pytest.raises(ValueError, match=r"bad.csv is not a breakdown"):
        read_parts(tmp_path / "bad.csv")
