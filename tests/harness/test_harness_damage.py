"""What is not of a run, and what a run can't do, ends in one line; nothing of it is measured."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.retrying import MOST_SAID, described
from harness.terminal import as_a_line, print_summary, progress_bar
from results.sample_files import append_record, read_samples, samples_path
from results.summary import summarise
from results.traces import traces_path
from tests.harness.conftest import ROOT, Finished
from tests.harness.tiny import CONTEXT, OUR_OWN_ITEMS, harness, refused
from tests.results.results_fakes import record

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]


@pytest.fixture
def run(finished: Finished, tmp_path: Path) -> Path:
    return shutil.copytree(finished.folder, tmp_path / "run")


def resume(model: Path, folder: Path, *more: object):
    options = ["--limit", 4, "--max-new-tokens", 14, "--resume", "--out", folder]
    return harness("run", "--model", model, *options, *more)


@pytest.mark.parametrize(
    "changes",
    [
        {"decoder": "another"},
        {"item_id": "another"},
        {"model": "another", "repeat": 1},
        {"batch_size": 7},
        {"task": "math500"},
        {"fixed_length": 14, "repeat": 1, "correct": None, "extracted_by": None, "answer": None},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_samples_of_another_run_are_refused(model: Path, run: Path, changes: dict[str, Any]):
    (own,) = run.glob("samples/*/ar.jsonl")
    foreign = replace(read_samples(own).records[0], **changes)
    path = samples_path(run, foreign.task, foreign.decoder)
    append_record(path, foreign)
    refused(resume(model, run), str(path), "no sample of this run", "move the file away")


def test_traces_that_are_in_the_way_are_named(model: Path, run: Path):
    path = traces_path(run, "gsm8k")
    path.unlink()
    path.mkdir()
    result = resume(model, run)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"error: {run} can't be written: Is a direc")
    assert f"--resume --out {run}" in result.stderr.splitlines()[-1]


def test_a_fixed_length_has_room(model: Path, tmp_path: Path):
    options = ("--model", model, "--limit", 1, "--out", tmp_path / "run", "--decoders")
    result = harness("run", *options, "ar", "--fixed-length", CONTEXT)
    refused(result, f"--fixed-length is {CONTEXT}, but prompt ", "leaves room for ", "at most ")
    room = int(result.stderr.split()[-1])
    result = harness("run", *options, "ar,block-ar", "--fixed-length", room)
    assert result.exit_code == 0, result.output
    for path in (tmp_path / "run").glob("samples/*/*.jsonl"):
        assert [len(each.ids or ()) for each in read_samples(path).records] == [room]


def test_repeats_are_not_without_end(model: Path, tmp_path: Path):
    options = ("--model", model, "--out", tmp_path / "run", "--repeats", 10**9)
    refused(harness("run", *options), "--repeats is 1,000,000,000", "at most 1,000")
    options = ("--model", model, "--out", tmp_path / "run", "--embedded-items", 10**9)
    refused(harness("run", *options), "--embedded-items is 1,000,000,000", "at most 1,000,000")


def test_a_comment_that_cannot_be_written_is_named(
    run: Path, finished: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sdlm.whole_file.os.replace", full)
    result = harness("compare", finished.folder, run, "--markdown", tmp_path / "c.md")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'c.md'} can't be written: ")


def test_brackets_in_a_name_are_no_markup(capsys: pytest.CaptureFixture[str]):
    rows = summarise([record("0", "ar(model=a[/b])", model="m[/red]")], {}, "ar")
    print_summary(rows, Console())
    assert "model a[/b]" in capsys.readouterr().out
    with progress_bar("decoding", total=1, done=0) as advance:
        advance("ar(model=a[/b])")
    assert "[/b]" in capsys.readouterr().err


def test_an_error_is_one_line_that_steers_no_terminal():
    assert as_a_line("boom\n\x1b[31mred\x07 \ud800") == "boom [31mred"
    assert len(as_a_line("x" * 3_000_000)) < 500
    assert len(described(RuntimeError("x" * 3_000_000))) == MOST_SAID
    assert described(RuntimeError("boom")) == "RuntimeError: boom"


def test_a_folder_s_name_need_not_be_text(run: Path, tmp_path: Path):
    """The names of its files are printed, and standard output is strict by itself."""
    folder = run.rename(tmp_path / "r\udcffun")
    command = [sys.executable, "-m", "harness", "report", folder]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "r\\udcffun/report.html" in ended.stdout
