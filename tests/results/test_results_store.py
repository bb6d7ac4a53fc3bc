"""The run folder: what is acknowledged stays, nothing doubles, nothing mixes."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_fakes import SPECS, failed, record

from results.atomic import drafted
from results.records import SampleRecord
from results.sample_files import append_record, file_name, read_samples, samples_path
from results.store import RunStore, read_run
from tests.full_disk import files_of_at_most

CONFIG: dict[str, Any] = {"tasks": ["gsm8k"], "seed": 0, "engine": {"name": "local", "workers": 2}}


def run_of(folder: Path, *records: SampleRecord) -> Path:
    with RunStore.create(folder, CONFIG) as store:
        for each in records:
            store.append(each)
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


def test_what_is_appended_is_read_back(tmp_path: Path):
    originals = [record("1"), record("1", SPECS[2]), record("1", batch_size=8), failed("2")]
    run = read_run(run_of(tmp_path / "new" / "run", *originals))
    assert {each.key: each for each in run.records} == {each.key: each for each in originals}
    assert run.manifest["config"] == CONFIG
    assert run.manifest["schema"] == 1


def test_resume_does_exactly_what_is_missing(tmp_path: Path):
    keys = [record(str(item)).key for item in range(100)]
    run_of(tmp_path, *(record(str(item)) for item in range(36)), failed("36"))
    path = samples_path(tmp_path, "gsm8k", "ar")
    path.write_bytes(path.read_bytes()[:-5])
    config = json.loads(json.dumps(CONFIG))
    with RunStore.create(tmp_path, config, resume=True, invocation={"argv": ["again"]}) as store:
        missing = [key for key in keys if key not in store]
        assert len(missing) == 64  # the truncated 37th is done again
        for key in missing:
            store.append(record(key.item_id))
    run = read_run(tmp_path)
    assert sorted(each.key for each in run.records) == sorted(keys)
    first, second = run.manifest["invocations"]
    assert first == {"samples_before": 0}
    # The failed one is done, and not completed.
    assert second == {"argv": ["again"], "samples_before": 36}


def test_a_failed_sample_is_done(tmp_path: Path):
    run_of(tmp_path, failed("1"))
    with RunStore.create(tmp_path, CONFIG, resume=True) as store:
        assert failed("1").key in store


def test_failed_samples_are_done_again_where_that_is_asked(tmp_path: Path):
    run_of(tmp_path, failed("1"), record("2"), failed("3"))
    keys = [record(item).key for item in "123"]
    for _ in range(2):
        with RunStore.create(tmp_path, CONFIG, resume=True, retry_failed=True) as store:
            assert [key in store for key in keys] == [False, True, False]
            with pytest.raises(ValueError, match="already has a record"):
                store.append(record("2"))
            store.append(failed("3", error="again"))
            assert [key in store for key in keys] == [False, True, True]
            with pytest.raises(ValueError, match="already has a record"):
                store.append(record("3"))
        # Item 1 was not reached: its failure stands.
        found = {each.item_id: each.error for each in read_run(tmp_path).records}
        assert found == {"1": "boom", "2": None, "3": "again"}
    with RunStore.create(tmp_path, CONFIG, resume=True, retry_failed=True) as store:
        store.append(record("1"))
        store.append(record("3"))
        in_order = [each.item_id for each in store.records]
    assert {each.key: each for each in read_run(tmp_path).records} == {
        record(item).key: record(item) for item in "123"
    }
    # Those done again were measured last.
    assert [each.item_id for each in read_run(tmp_path).records] == in_order == ["2", "1", "3"]
    assert samples_path(tmp_path, "gsm8k", "ar").read_bytes().count(b"\n") == 7
    with RunStore.create(tmp_path, CONFIG, resume=True, retry_failed=True) as store:
        assert all(key in store for key in keys)


def test_a_completed_sample_is_followed_by_none(tmp_path: Path):
    path = samples_path(run_of(tmp_path, record("1")), "gsm8k", "ar")
    append_record(path, failed("1"))
    with pytest.raises(ValueError, match="twice"):
        read_run(tmp_path)


def test_a_key_is_taken_once(tmp_path: Path):
    with RunStore.create(tmp_path, CONFIG) as store:
        store.append(record("1"))
        with pytest.raises(ValueError, match="already has a record"):
            store.append(failed("1"))
    assert len(read_run(tmp_path).records) == 1


def test_a_line_cut_anywhere_costs_that_line_only(tmp_path: Path):
    path = tmp_path / "samples" / "gsm8k" / "ar.jsonl"
    for item in "123":
        append_record(path, record(item))
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        found = read_samples(path)
        assert [each.item_id for each in found.records] == ["1", "2"]
        assert found.whole_bytes == start
    path.write_bytes(whole[: start + 20] + b"\n")  # a power cut can leave a whole but broken line
    assert read_samples(path).whole_bytes == start


def test_opening_cuts_the_unfinished_line_off_the_file(tmp_path: Path):
    path = samples_path(run_of(tmp_path, record("1"), record("2")), "gsm8k", "ar")
    whole = path.read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    path.write_bytes(whole[:-1])
    assert len(read_run(tmp_path).records) == 1
    assert path.read_bytes() == whole[:-1], "reading changes nothing"
    with RunStore.create(tmp_path, CONFIG, resume=True) as store:
        assert path.read_bytes() == first
        store.append(record("2"))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("resume", [True, False])
def test_damage_inside_a_file_is_an_error_with_its_place(tmp_path: Path, resume: bool):
    path = samples_path(run_of(tmp_path, *map(record, "123")), "gsm8k", "ar")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:40] + b"\n" + lines[2])
    with pytest.raises(ValueError, match=r"ar\.jsonl, line 2: not valid JSON"):
        read_run(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"line 2|--resume"):
        RunStore.create(tmp_path, CONFIG, resume=resume)
    assert contents(tmp_path) == before


def test_an_edited_line_is_not_trusted(tmp_path: Path):
    path = samples_path(run_of(tmp_path, *map(record, "12")), "gsm8k", "ar")
    path.write_bytes(path.read_bytes().replace(b'"correct": true', b'"correct": false', 1))
    with pytest.raises(ValueError, match=r"line 1: checksum .* was changed"):
        read_run(tmp_path)


def test_a_doubled_or_misplaced_line_is_refused(tmp_path: Path):
    path = samples_path(run_of(tmp_path, record("1")), "gsm8k", "ar")
    line = path.read_bytes()
    path.write_bytes(line * 2)
    with pytest.raises(ValueError, match="twice"):
        read_run(tmp_path)
    path.write_bytes(line)
    path.rename(path.with_name("block-ar.jsonl"))
    with pytest.raises(ValueError, match="belongs elsewhere"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed = 0, not 1"),
        ({"seed": False}, "seed = 0, not false"),
        ({"tasks": ["mmlu"]}, r'tasks = \["gsm8k"\], not \["mmlu"\]'),
        ({"engine": {"name": "ray", "workers": 2}}, 'engine.name = "local", not "ray"'),
        ({"engine": {"name": "local"}}, r"engine.workers = 2, not \(absent\)"),
        ({"extra": 1}, r"extra = \(absent\), not 1"),
    ],
)
@pytest.mark.parametrize("resume", [True, False])
def test_another_config_is_refused_by_its_first_difference(
    tmp_path: Path, change: dict[str, Any], message: str, resume: bool
):
    before = contents(run_of(tmp_path, record("1")))
    with pytest.raises(ValueError, match=message):
        RunStore.create(tmp_path, {**CONFIG, **change}, resume=resume)
    assert contents(tmp_path) == before


def test_an_existing_run_needs_resume(tmp_path: Path):
    before = contents(run_of(tmp_path))
    with pytest.raises(ValueError, match="use --resume or another --out"):
        RunStore.create(tmp_path, CONFIG)
    assert contents(tmp_path) == before


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("…")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"not empty and not a run \(it holds thesis.tex\)"):
        RunStore.create(tmp_path, CONFIG, resume=True)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match="not a run folder"):
        read_run(tmp_path)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        RunStore.create(tmp_path / "file", CONFIG)
    with pytest.raises(ValueError, match="choose another --out"):
        RunStore.create(tmp_path / "file" / "run", CONFIG)
    with pytest.raises(ValueError, match="choose another --out"):
        RunStore.create(Path("/proc/run"), CONFIG)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not valid JSON"), ("[]", "not a run's manifest"), ("{}", "not a run's manifest")],
)
def test_a_broken_manifest_is_refused(tmp_path: Path, text: str, message: str):
    run_of(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        RunStore.create(tmp_path, CONFIG, resume=True)


def test_a_later_schema_is_refused(tmp_path: Path):
    path = run_of(tmp_path) / "manifest.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(ValueError, match="schema 2, this version reads 1"):
        read_run(tmp_path)


def test_facts_are_kept_and_cannot_replace_the_config(tmp_path: Path):
    with RunStore.create(tmp_path, CONFIG, facts={"git": "abc"}) as store:
        store.add_facts({"threads": 2})
        with pytest.raises(ValueError, match="'config' is reserved"):
            store.add_facts({"config": {}})
        assert read_run(tmp_path).manifest == store.manifest
    assert store.manifest["git"] == "abc"
    assert store.manifest["threads"] == 2


def test_one_writer_at_a_time(tmp_path: Path):
    with RunStore.create(tmp_path, CONFIG):
        before = contents(tmp_path)
        with pytest.raises(ValueError, match="in use by another process"):
            RunStore.create(tmp_path, CONFIG, resume=True)
        assert contents(tmp_path) == before
    RunStore.create(tmp_path, CONFIG, resume=True).close()


def test_a_kill_before_the_first_manifest_leaves_a_usable_folder(tmp_path: Path):
    (tmp_path / ".lock").touch()
    (tmp_path / "manifest.json.tmp").write_text('{"sch')
    run_of(tmp_path, record("1"))
    assert len(read_run(tmp_path).records) == 1


@pytest.mark.parametrize("room", [0, 1, 200])
def test_a_failed_write_leaves_no_half_line(tmp_path: Path, room: int):
    path = samples_path(run_of(tmp_path, record("1"), record("2")), "gsm8k", "ar")
    whole = path.read_bytes()
    with RunStore.create(tmp_path, CONFIG, resume=True) as store:
        wrong = rf"{tmp_path} can't be written: .*; what it holds is whole: .*--resume --out"
        with files_of_at_most(len(whole) + room), pytest.raises(OSError, match=wrong):
            store.append(record("3"))
        assert path.read_bytes() == whole
        assert len(store.records) == 2
        store.append(record("3"))
    assert len(read_run(tmp_path).records) == 3


def test_a_manifest_that_can_t_be_written_stays_what_it_was(tmp_path: Path):
    with RunStore.create(tmp_path, CONFIG) as store:
        before = contents(tmp_path)
        with files_of_at_most(100), pytest.raises(OSError, match="can't be written"):
            store.add_facts({"long": "x" * 200})
        assert contents(tmp_path) == before


def test_samples_are_synced_now_and_then_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    synced: list[str] = []
    monkeypatch.setattr("results.store.sync_file", lambda path: synced.append(path.name))
    clock_s = 0.0
    monkeypatch.setattr("results.store.time.monotonic", lambda: clock_s)
    with RunStore.create(tmp_path, CONFIG) as store:
        store.append(record("1"))
        store.append(record("1", SPECS[1]))
        assert synced == []
        clock_s = 6.0
        store.append(record("2"))
        assert sorted(synced) == ["ar.jsonl", "block-ar(block=4).jsonl"]
        store.append(record("3"))
        assert len(synced) == 2
    assert synced[2:] == ["ar.jsonl"]


def test_an_error_of_syncing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = RunStore.create(tmp_path, CONFIG)
    store.append(record("1"))
    monkeypatch.setattr(os, "fsync", _no_space)
    with pytest.raises(OSError, match="can't be written: No space"):
        store.close()
    monkeypatch.undo()
    RunStore.create(tmp_path, CONFIG, resume=True).close()


def _no_space(_: int) -> None:
    raise OSError("No space left on device")


@pytest.mark.parametrize("seed", range(3))
def test_no_kill_loses_or_doubles_a_record(tmp_path: Path, seed: int):
    rng = random.Random(seed)
    acknowledged: set[str] = set()
    for _ in range(2):
        acknowledged |= _write_until_killed(tmp_path / "run", rng.uniform(0.0, 0.15))
        stored = [f"{each.item_id} {each.decoder}" for each in read_run(tmp_path / "run").records]
        assert acknowledged <= set(stored)
        assert len(stored) == len(set(stored))
    assert acknowledged
    with RunStore.create(tmp_path / "run", {"seed": 0}, resume=True) as store:
        assert len(store.manifest["invocations"]) == 3


def _write_until_killed(folder: Path, delay: float) -> set[str]:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here.parent.parent), str(here)])
    with subprocess.Popen(
        [sys.executable, str(here / "kill_target.py"), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        seen = [process.stdout.readline()]
        time.sleep(delay)
        process.kill()
        seen += process.stdout.readlines()
    return {line.rstrip("\n") for line in seen if line.endswith("\n")}


def test_a_draft_replaces_its_file_or_is_gone(tmp_path: Path):
    path = tmp_path / "plot.png"
    path.write_text("old")

    def interrupted() -> None:
        with drafted(path) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["plot.png"]
    with drafted(path) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["plot.png"]


@given(st.lists(st.text(min_size=1, max_size=300), min_size=2, max_size=2, unique=True))
def test_file_names_are_safe_and_never_meet(names: list[str]):
    first, second = map(file_name, names)
    assert first != second
    for name in (first, second):
        assert len(name.encode()) <= 200
        assert "/" not in name
        assert not name.startswith(".")


def test_file_names_stay_readable():
    assert file_name(SPECS[2]) == SPECS[2]
    assert file_name("lm_eval:foo") == "lm_eval%3Afoo"
    assert file_name("..") == "%2E."
