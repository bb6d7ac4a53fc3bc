"""A killed run goes on to the same end; a run is never mixed with another one (cases.md, 18)."""

import json
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from results import RunStore
from tests.harness.conftest import Children, Finished
from tests.harness.tiny import (
    OUR_OWN_ITEMS,
    contents,
    harness,
    make_model,
    manifest,
    outcomes,
    records,
    refused,
    summary,
)

pytestmark = OUR_OWN_ITEMS
CLOCKS = (
    *("tokens_per_s", "speedup", "speedup_lo", "speedup_hi", "time_to_first_token_s"),
    *("latency_p50_s", "latency_p90_s", "latency_p99_s", "decode_forward_s"),
    *("peak_memory_bytes", "joules_per_token", "noisy_share", "unstable"),
)
OPTIONS: dict[str, object] = {"--limit": 4, "--max-new-tokens": 14}
AR_FILE = Path("samples/gsm8k/ar.jsonl")


def arguments(model: Path, out: Path, *more: object, **changed: object) -> list[object]:
    """The arguments of `finished`, into another folder and with changed options."""
    options = OPTIONS | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    flat = [part for pair in options.items() for part in pair]
    return ["run", "--model", model, "--out", out, *flat, *more]


@pytest.fixture
def copied(finished: Finished, tmp_path: Path) -> Path:
    """A finished run that may be changed."""
    shutil.copytree(finished.folder, tmp_path / "run")
    return tmp_path / "run"


def untimed(folder: Path) -> list[dict[str, object]]:
    return [
        {name: value for name, value in row.items() if name not in CLOCKS}
        for row in summary(folder)
    ]


def assert_same_end(folder: Path, undisturbed: Path) -> None:
    assert outcomes(folder) == outcomes(undisturbed)
    lines = [
        line
        for path in (folder / "samples").rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(lines) == len(outcomes(folder))
    assert untimed(folder) == untimed(undisturbed)
    assert not list(folder.rglob("*.tmp"))
    for path in undisturbed.rglob("*"):
        assert (folder / path.relative_to(undisturbed)).exists(), path
    assert manifest(folder)["config"] == manifest(undisturbed)["config"]
    assert manifest(folder)["warmup_s"].keys() == manifest(undisturbed)["warmup_s"].keys()


# Killed.

FEWER = {"limit": 6, "decoders": "ar,greedy-confidence(tau=0.6),self-speculative"}


@pytest.fixture(scope="module")
def undisturbed(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    result = harness(*arguments(model, folder, **FEWER))
    assert result.exit_code == 0, result.output
    return folder


def kill_and_resume(
    children: Children, undisturbed: Path, model: Path, folder: Path, seed: int
) -> None:
    """Kill at the first sample, at random ones, and after the last; then let it end."""
    total = len(outcomes(undisturbed))
    rng = random.Random(seed)
    moments = [1, *sorted(rng.sample(range(2, total), 2)), total]
    command = arguments(model, folder, "--resume", **FEWER)
    for number, moment in enumerate(moments):
        before = outcomes(folder) if folder.exists() else {}
        ended = children.run(*command, watched=folder, kill_at=moment)
        assert ended.status == -signal.SIGKILL, ended.output
        kept = outcomes(folder)
        assert before.items() <= kept.items()
        assert kept.items() <= outcomes(undisturbed).items()
        if number == 1:
            # What a kill in the middle of a write would leave.
            torn = folder / AR_FILE
            torn.write_bytes(torn.read_bytes()[: -rng.randrange(2, 40)])
    ended = children.run(*command)
    assert ended.status == 0, ended.output
    assert_same_end(folder, undisturbed)
    invocations = manifest(folder)["invocations"]
    assert len(invocations) == len(moments) + 1
    assert all({"started", "hardware", "software"} <= each.keys() for each in invocations)


def test_a_killed_run_ends_like_an_undisturbed_one(
    children: Children, undisturbed: Path, model: Path, tmp_path: Path
):
    kill_and_resume(children, undisturbed, model, tmp_path / "run", seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_more_killed_runs(
    children: Children, undisturbed: Path, model: Path, tmp_path: Path, seed: int
):
    kill_and_resume(children, undisturbed, model, tmp_path / "run", seed)


@pytest.mark.slow
def test_fifty_kills_lose_double_and_change_nothing(
    children: Children, model: Path, tmp_path: Path
):
    """At random moments, those of planning, warming up, writing and summarising among them."""
    whole, folder = tmp_path / "whole", tmp_path / "run"
    many = FEWER | {"limit": 34}
    assert harness(*arguments(model, whole, **many)).exit_code == 0
    expected, rng, kills = outcomes(whole), random.Random(50), 0
    command = arguments(model, folder, "--resume", **many)
    while kills < 50:
        before = outcomes(folder) if (folder / "manifest.json").exists() else {}
        # From the start on, or some samples later, and from the last sample on once all are there.
        moment = min(len(before) + rng.randrange(0, 5), len(expected))
        delay_s = rng.uniform(0, 1.5 if moment == len(before) else 0.05)
        ended = children.run(*command, watched=folder, kill_at=moment, delay_s=delay_s)
        assert ended.status in (-signal.SIGKILL, 0), ended.output
        kills += ended.status != 0
        kept = outcomes(folder) if (folder / "manifest.json").exists() else {}
        assert before.items() <= kept.items() <= expected.items()
    assert children.run(*command).status == 0
    assert_same_end(folder, whole)


@pytest.mark.usefixtures("unplotted")
def test_killed_after_37_of_100(children: Children, model: Path, tmp_path: Path):
    """cases.md, 18: the 37th is cut off in the middle; 64 samples are missing, and are done."""
    folder, whole = tmp_path / "run", tmp_path / "whole"
    changed = {"limit": 100, "max_new_tokens": 2, "decoders": "ar"}
    ended = children.run(*arguments(model, folder, **changed), watched=folder, kill_at=37)
    assert ended.status == -signal.SIGKILL, ended.output
    path = folder / AR_FILE
    lines = path.read_bytes().splitlines(keepends=True)[:37]
    path.write_bytes(b"".join(lines)[:-9])
    assert len(records(folder)) == 36
    result = harness(*arguments(model, folder, "--resume", **changed))
    assert result.exit_code == 0, result.output
    again = path.read_bytes().splitlines(keepends=True)
    assert again[:36] == lines[:36]
    assert len(again) == len(outcomes(folder)) == 100
    assert harness(*arguments(model, whole, **changed)).exit_code == 0
    assert outcomes(folder) == outcomes(whole)
    assert summary(folder)[0]["accuracy"] == summary(whole)[0]["accuracy"]
    first, second = manifest(folder)["invocations"]
    assert (first["samples_before"], second["samples_before"]) == (0, 36)


@pytest.mark.parametrize(
    "name", ["summary.json", "tables/summary.csv", "plots/gsm8k.svg", "manifest.json.tmp"]
)
def test_what_a_kill_at_the_end_leaves_is_completed(
    model: Path, finished: Finished, copied: Path, name: str
):
    """The samples are all there, the rest is missing in part."""
    path = copied / name
    path.unlink() if path.exists() else path.write_text("{")
    result = harness(*arguments(model, copied, "--resume"))
    assert result.exit_code == 0, result.output
    assert_same_end(copied, finished.folder)


@pytest.mark.usefixtures("unplotted")
def test_a_folder_that_a_kill_left_without_a_manifest_is_taken(model: Path, tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").touch()
    (tmp_path / "run" / "manifest.json.tmp").write_text("{")
    changed = {"limit": 1, "decoders": "ar", "max_new_tokens": 2}
    assert harness(*arguments(model, tmp_path / "run", **changed)).exit_code == 0
    assert len(records(tmp_path / "run")) == 1


# Resumed.


@pytest.mark.usefixtures("unplotted")
def test_exactly_what_is_missing_is_done_again(
    model: Path, finished: Finished, copied: Path, monkeypatch: pytest.MonkeyPatch
):
    """Lines taken out anywhere, one torn off; whole records are neither done again nor moved."""
    paths = sorted((copied / "samples").rglob("*.jsonl"))
    kept: dict[Path, bytes] = {}
    missing = 0
    for number, path in enumerate(paths):
        lines = path.read_bytes().splitlines(keepends=True)
        gone = {number % 4} if number % 3 else set()
        rest = b"".join(line for place, line in enumerate(lines) if place not in gone)
        missing += len(gone)
        if number == 1:
            rest += lines[1][:25]
        path.write_bytes(rest)
        kept[path] = rest if number != 1 else rest[:-25]
    done: list[object] = []
    append = RunStore.append
    monkeypatch.setattr(
        RunStore, "append", lambda self, record: (done.append(record.key), append(self, record))
    )
    before = contents(copied)
    assert harness(*arguments(model, copied, "--resume")).exit_code == 0
    assert len(done) == missing
    assert missing == 7
    assert_same_end(copied, finished.folder)
    for path, start in kept.items():
        assert path.read_bytes().startswith(start)
    assert before.keys() == contents(copied).keys()
    first, second = manifest(copied)["invocations"]
    assert first == manifest(finished.folder)["invocations"][0]
    assert second["arguments"] is not None


def test_a_complete_run_is_only_summarised_again(
    model: Path, copied: Path, monkeypatch: pytest.MonkeyPatch
):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("nothing is missing")

    monkeypatch.setattr("harness.measuring.generate", never)
    before = contents(copied)
    assert harness(*arguments(model, copied, "--resume")).exit_code == 0
    after = contents(copied)
    changed = {path.name for path in before if before[path] != after[path]}
    # Which both list the invocations.
    assert changed == {"manifest.json", "report.html"}


@pytest.mark.usefixtures("unplotted")
def test_times_of_unlike_machines_are_not_mixed_in_silence(model: Path, copied: Path):
    """The run was begun with seven threads on another processor."""
    path = copied / "manifest.json"
    raw = json.loads(path.read_text())
    (first,) = raw["invocations"]
    threads, first["threads"], first["hardware"]["cpu"] = first["threads"], 7, "Z80"
    path.write_text(json.dumps(raw))
    # Only read again, its times are all of one machine.
    result = harness(*arguments(model, copied, "--resume"))
    assert "times of unlike machines" not in result.stderr
    lines = (copied / AR_FILE).read_text().splitlines(keepends=True)
    (copied / AR_FILE).write_text("".join(lines[:-1]))
    result = harness(*arguments(model, copied, "--resume"))
    assert result.exit_code == 0, result.output
    told = f"times of unlike machines are mixed: threads 7 and {threads}, cpu Z80 and "
    assert told in result.stderr
    assert told in (copied / "tables" / "summary.md").read_text()


# Not mixed.


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"limit": 5}, "limit = 4, not 5"),
        ({"seed": 1}, "seed = 0, not 1"),
        ({"batch_size": 2}, "batch_sizes = [1], not [2]"),
        ({"batch_sizes": "1,2"}, "batch_sizes = "),
        ({"order": "longest-first"}, 'order = "given", not "longest-first"'),
        ({"max_new_tokens": 15}, "max_new_tokens.gsm8k = 14, not 15"),
        ({"dtype": "bfloat16"}, 'dtype = "float32", not "bfloat16"'),
        ({"decoders": "ar"}, "decoders = "),
        ({"tau": "0.98,0.9,0.8,0.61"}, "tau=0.61"),
        ({"block": 8}, "decoders = "),
    ],
)
def test_another_setting_is_refused(
    model: Path, finished: Finished, changed: dict[str, object], key: str
):
    before = contents(finished.folder)
    result = harness(*arguments(model, finished.folder, "--resume", **changed))
    refused(result, str(finished.folder), key, "--out")
    assert contents(finished.folder) == before


def edit_json(name: str, key: str, value: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        raw = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(raw | {key: value}))

    return edit


def edit_template(folder: Path) -> None:
    path = folder / "chat_template.jinja"
    path.write_text(path.read_text().replace("assistant", "model"))


@pytest.mark.usefixtures("unplotted")
@pytest.mark.parametrize(
    "edit",
    [
        lambda folder: make_model(folder, seed=7),
        edit_json("config.json", "eos_token_id", [2]),
        edit_json("config.json", "rope_theta", 20000.0),
        edit_json("tokenizer_config.json", "clean_up_tokenization_spaces", True),
        edit_template,
    ],
    ids=["weights", "end tokens", "position encoding", "tokenizer", "chat template"],
)
def test_a_changed_model_is_refused(model: Path, tmp_path: Path, edit: Callable[[Path], None]):
    """Its folder is the same, its answers are not."""
    shutil.copytree(model, tmp_path / "model")
    changed = {"limit": 1, "decoders": "ar", "max_new_tokens": 2}
    command = arguments(tmp_path / "model", tmp_path / "run", **changed)
    assert harness(*command).exit_code == 0
    before = contents(tmp_path / "run")
    edit(tmp_path / "model")
    refused(harness(*command, "--resume"), "model_sha256 = ")
    assert contents(tmp_path / "run") == before


def test_the_same_run_is_not_begun_twice(model: Path, finished: Finished):
    before = contents(finished.folder)
    # Refused before the model is read, which takes minutes where it is a large one.
    refused(harness(*arguments("some/model", finished.folder)), "already holds a run", "--resume")
    assert contents(finished.folder) == before


def test_a_run_in_progress_is_left_alone(model: Path, copied: Path):
    config = manifest(copied)["config"]
    with RunStore.create(copied, config, resume=True):
        before = contents(copied)
        refused(harness(*arguments(model, copied, "--resume")), "in use by another process")
        assert contents(copied) == before


def rescored(line: str) -> str:
    return line.replace('"correct": false', '"correct": true', 1)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda lines: [rescored(lines[0]), *lines[1:]], ["line 1", "changed"]),
        (lambda lines: [lines[0], lines[1][:50], *lines[2:]], ["line 2", "JSON"]),
        (lambda lines: [*lines, lines[1]], ["twice"]),
        (lambda lines: [line.replace('"ar"', '"br"') for line in lines], ["line 1"]),
        (lambda lines: [*lines, "[]"], ["line 5"]),
    ],
    ids=["rescored", "broken", "doubled", "renamed", "foreign"],
)
def test_edited_samples_are_refused(
    model: Path, copied: Path, edit: Callable[[list[str]], list[str]], words: list[str]
):
    path = copied / AR_FILE
    path.write_text("\n".join(edit(path.read_text().splitlines())) + "\n")
    before = contents(copied)
    refused(harness(*arguments(model, copied, "--resume")), str(AR_FILE), *words)
    assert contents(copied) == before


def test_resume_needs_a_folder(model: Path):
    refused(harness("run", "--model", model, "--resume"), "--resume", "--out")
