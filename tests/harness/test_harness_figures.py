"""`figures`: files, what could not be drawn, and mistakes in one line."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from results import SummaryRow, write_summary
from tests.harness.tiny import harness, refused


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two decoders, one with a block."""
    kinds = get_type_hints(SummaryRow)
    fields = {name: 0.5 if float in get_args(kind) else 0 for name, kind in kinds.items()}
    names = {"task": "mmlu", "source": "official", "model": "nano", "batch_size": 1}
    counts = {"items": 4, "failed": 0, "tokens_per_forward": 1.5}
    rows = [
        SummaryRow(**{**fields, **names, **counts, "decoder": decoder})  # pyright: ignore
        for decoder in ("ar", "entropy(tau=0.9,block=4)")
    ]
    folder = tmp_path / "run"
    folder.mkdir()
    manifest = {"schema": 1, "config": {"rows": asdict(rows[0])}, "invocations": []}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    write_summary(folder, rows)
    return folder


def test_files_are_listed_and_reasons_are_given(run: Path, tmp_path: Path):
    out = tmp_path / "new" / "figures"
    result = harness("figures", run, "--out", out, "--ablation", f"base={run}")
    assert result.exit_code == 0, result.output
    listed = [Path(line) for line in result.stdout.splitlines()]
    assert set(listed) == set(out.iterdir())
    assert {path.name for path in listed} >= {
        *("trade-off-mmlu-official-one-column.svg", "trade-off-mmlu-official-two-column.pdf"),
        *("tokens-per-forward.tex", "ablations-one-column.png"),
    }
    assert result.stderr.startswith("not drawn: table self-speculative")


def test_mistakes_are_one_line(run: Path, tmp_path: Path):
    out = ("--out", tmp_path / "out")
    refused(harness("figures", *out), "nothing to draw")
    refused(harness("figures", tmp_path, *out), "not a run folder")
    refused(harness("figures", run, *out, "--ablation", "x"), "NAME=RUN")
    twice = ("--ablation", f"x={run}")
    refused(harness("figures", run, *out, *twice, *twice), "'x' is given twice")
    refused(harness("figures", run, "--out", run / "summary.json"), "can't be written")
    assert not (tmp_path / "out").exists()
