"""`compare`: verdicts as text, JSON and Markdown, exit codes, and mistakes in one line."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from results import RunStore, StoredRun
from tests.harness.conftest import Finished
from tests.harness.tiny import harness, refused
from tests.results.fake_clock import BASELINE, DECODER, Moods, fake_run

STILL = Moods(jitter=0.01)


def write(run: StoredRun, folder: Path) -> Path:
    manifest = {**run.manifest}
    (invocation,) = manifest.pop("invocations")
    config = manifest.pop("config")
    del manifest["schema"]
    with RunStore.create(folder, config, invocation=invocation, facts=manifest) as store:
        for record in run.records:
            store.append(record)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(fake_run(0, items=20, moods=STILL), tmp_path_factory.mktemp("runs") / "base")


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(fake_run(1, items=20, moods=STILL), tmp_path_factory.mktemp("runs") / "same")


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = fake_run(2, items=20, moods=STILL, slower={DECODER: 0.2})
    return write(run, tmp_path_factory.mktemp("runs") / "slow")


def test_alike_runs_pass(base: Path, same: Path):
    result = harness("compare", base, same)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[-1] == "ok: no detectable loss of speed or accuracy, same ids"
    assert "gsm8k: embedded items, batch size 1" in lines[0]
    for word in (BASELINE, DECODER, "no detectable difference", "over ar", "git_commit: 1234567"):
        assert word in result.stdout


def test_a_slowdown_is_a_regression(base: Path, slow: Path, tmp_path: Path):
    out = tmp_path / "comment.md"
    result = harness("compare", base, slow, "--markdown", out)
    assert result.exit_code == 1, result.output
    assert result.stdout.splitlines()[-1] == "regression: slower in 1 of 2 rows"
    assert out.read_text().startswith("**regression: slower in 1 of 2 rows**")
    assert harness("compare", base, slow, "--tolerance", 0.3).exit_code == 0
    turned = harness("compare", slow, base)
    assert turned.exit_code == 0
    assert turned.stdout.splitlines()[-1].endswith("better: faster in 1 of 2 rows")


def test_for_machines_and_for_pull_requests(base: Path, slow: Path, tmp_path: Path):
    result = harness("compare", base, slow, "--json", "--markdown", tmp_path / "comment.md")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["verdict"] == "regression"
    assert [row["problems"] for row in data["rows"]] == [[], ["slower"]]
    shown = harness("compare", base, slow, "--markdown", "-")
    assert shown.exit_code == 1
    assert shown.stdout == (tmp_path / "comment.md").read_text()


def test_markdown_touches_no_other_file(base: Path, same: Path, tmp_path: Path):
    draft, target, link = (tmp_path / name for name in ("c.md.tmp", "target", "c.md"))
    draft.write_text("mine")
    link.symlink_to(target)
    assert harness("compare", base, same, "--markdown", link).exit_code == 0
    assert draft.read_text() == "mine"
    assert link.readlink() == target
    assert target.read_text().startswith("**ok: ")


def test_a_changed_id_is_a_regression(base: Path, tmp_path: Path):
    run = fake_run(1, items=20, moods=STILL, slower={DECODER: -0.3})
    first = run.records[0]
    records = [replace(first, ids=[7, *(first.ids or [])[1:]]), *run.records[1:]]
    new = write(replace(run, records=records), tmp_path / "new")
    result = harness("compare", base, new)
    assert result.exit_code == 1
    assert "ids changed in 1 of 2 rows; better: faster in 1 of 2 rows" in result.stdout
    assert "1 (0 at 0)" in result.stdout


def test_a_narrow_terminal_gets_two_halves(
    base: Path, same: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = harness("compare", base, same).stdout
    assert shown.count("batch size 1") >= 2


def test_mistakes_are_one_line(base: Path, same: Path, tmp_path: Path):
    refused(harness("compare", base, tmp_path), "not a run folder")
    refused(harness("compare", base, base), "is given twice")
    refused(harness("compare", base, same, "--tolerance", 5), "--tolerance is 5.0", "below 1")
    refused(harness("compare", base, same, "--allow-different", "x"), "'x'; known are model, ")
    refused(harness("compare", base, same, "--allow-different", ","), "--allow-different is empty")
    both = ("--json", "--markdown", "-")
    refused(harness("compare", base, same, *both), "both go to standard output")
    out = ("--markdown", tmp_path / "no" / "file.md")
    refused(harness("compare", base, same, *out), "--markdown ", "its folder does not exist")


def test_unlike_runs_are_refused_unless_allowed(base: Path, tmp_path: Path):
    run = fake_run(1, items=18, moods=STILL)
    new = write(run, tmp_path / "new")
    words = ("limit (20, then 18)", "items (", "20, then 18, 18 of them in both")
    refused(harness("compare", base, new), *words, "--allow-different limit,items")
    result = harness("compare", base, new, "--allow-different", "limit,items")
    assert result.exit_code == 0, result.output
    assert "20, then 18, 18 of them in both" in result.stdout


def test_a_real_run_compares_with_its_copy(finished: Finished, tmp_path: Path):
    (tmp_path / "copy").mkdir()
    for path in [finished.folder / "manifest.json", *finished.folder.glob("samples/*/*.jsonl")]:
        target = tmp_path / "copy" / path.relative_to(finished.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    result = harness("compare", finished.folder, tmp_path / "copy")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].startswith("ok: no detectable loss")
