"""The table of several trainings: means over tasks, their interval, what can not be compared."""

import json
import sys
from pathlib import Path

import pytest

from results.statistics import wilson
from tests.benchmarks.trainings import Evaluated, main, markdown, table


def run_folder(folder: Path, accuracies: dict[str, float], items: int = 100) -> Path:
    folder.mkdir()
    rows = [
        {
            "task": task,
            "source": "embedded",
            "decoder": "ar",
            "items": items,
            "accuracy": accuracy,
            "accuracy_lo": wilson(round(accuracy * items), items).lo,
            "accuracy_hi": wilson(round(accuracy * items), items).hi,
            "tokens_per_forward": 1 + accuracy,
        }
        for task, accuracy in accuracies.items()
    ]
    (folder / "summary.json").write_text(json.dumps({"schema": 1, "rows": rows}))
    return folder


def test_means_and_their_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    runs = [
        Evaluated("1000", run_folder(tmp_path / "a", {"x": 0.5, "y": 0.9})),
        Evaluated("3000", run_folder(tmp_path / "b", {"x": 1.0, "y": 1.0})),
    ]
    found = table(runs)
    first, second = found.to_dict("records")
    # Wilson's intervals are 0.4038…0.5962 and 0.8256…0.9448.
    assert (first["accuracy"], first["tokens_per_forward"]) == (
        pytest.approx(0.7),
        pytest.approx(1.7),
    )
    below, above = (0.0962**2 + 0.0744**2) ** 0.5 / 2, (0.0962**2 + 0.0448**2) ** 0.5 / 2
    assert first["accuracy_lo"] == pytest.approx(0.7 - below, abs=1e-4)
    assert first["accuracy_hi"] == pytest.approx(0.7 + above, abs=1e-4)
    # All right: each interval begins at 0.9630, and the mean of two is surer than one.
    assert second["accuracy_lo"] == pytest.approx(1 - 0.0370 / 2**0.5, abs=1e-4)
    assert second["accuracy_hi"] == 1.0
    assert "| 1000 | `ar` | 70.0 (63.9–75.3) | 1.70 | 50.0 | 90.0 |" in markdown(found)
    named = [f"{name}={run}" for name, run in runs]
    options = ["--stem", str(tmp_path / "curve-0.1"), "--axis", "slots"]
    monkeypatch.setattr(sys, "argv", ["trainings", *named, *options])
    main()
    assert capsys.readouterr().out == (tmp_path / "curve-0.1.md").read_text() == markdown(found)
    suffixes = {path.suffix for path in tmp_path.glob("curve-0.1.*")}
    assert suffixes == {".md", ".csv", ".svg", ".png"}
    monkeypatch.setattr(sys, "argv", ["trainings", "1000", *options])
    with pytest.raises(SystemExit):
        main()
    assert "got '1000'; a training is given as NAME=RUN FOLDER" in capsys.readouterr().err


def test_runs_of_other_items_are_not_compared(tmp_path: Path):
    runs = [
        Evaluated("1", run_folder(tmp_path / "a", {"x": 0.5})),
        Evaluated("2", run_folder(tmp_path / "b", {"x": 0.5}, items=50)),
    ]
    with pytest.raises(ValueError, match="differ in tasks or items"):
        table(runs)
