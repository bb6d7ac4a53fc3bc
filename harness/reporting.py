"""`harness report`: tables, plots and the page of runs that have ended."""

from collections.abc import Sequence
from pathlib import Path

from results.report.files import write_report
from results.report.runs import read_reported_runs


def report_runs(folders: Sequence[Path], out: Path | None) -> list[Path]:
    """Write into `out`, or the only run's own folder; returns the files, the page first."""
    if out is None and len(folders) > 1:
        raise ValueError("several runs make one report: name a folder for it with --out")
    target = folders[0] if out is None else out
    is_own = len(folders) == 1 and target.resolve() == folders[0].resolve()
    if not is_own and (target / "manifest.json").exists():
        raise ValueError(f"--out {target} is a run folder and has its own report: name another")
    return write_report(read_reported_runs(folders), target)
