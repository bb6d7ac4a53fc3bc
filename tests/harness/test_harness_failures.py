"""What goes wrong in the middle of a run: samples that raise, memory that is short, full disks."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import Result

from decoders.generate import generate
from harness.retrying import Broken, fewer, groups
from sdlm.command_line import out_of_memory
from tests.full_disk import files_of_at_most
from tests.harness.tiny import (
    OUR_OWN_ITEMS,
    harness,
    manifest,
    outcomes,
    records,
    refused,
    summary,
)

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

ITEMS = 10
LAST_LINE = re.compile(
    r"error: .* can't be written: .*; what it holds is whole: .*--resume --out "
)


def run(model: Path, out: Path, *more: object, batch_size: int = 4) -> Result:
    options = ["--limit", ITEMS, "--max-new-tokens", 5, "--decoders", "ar,block-ar"]
    return harness(
        "run", "--model", model, "--out", out, "--batch-size", batch_size, *options, *more
    )


@pytest.fixture(scope="module")
def undisturbed(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.running.trade_off_plot", lambda *_: None)
        assert run(model, folder).exit_code == 0
    return folder


def answers(folder: Path) -> dict[Any, Any]:
    """Without what tells how many rows there were."""
    found = outcomes(folder)
    for each in found.values():
        if each["details"] is not None:
            each["details"].pop("decoded_rows", None)
    return found


def decoded_rows(folder: Path) -> dict[Any, Any]:
    return {
        key: each.details["decoded_rows"]
        for key, each in records(folder).items()
        if each.details and "decoded_rows" in each.details
    }


# Samples that raise.


def spoil(patch: pytest.MonkeyPatch, culprit: str, decoder: str) -> None:
    """Have decoding raise in the place of one item's answer."""

    def spoilt(model: Any, chosen: Any, requests: Any, ending: Any, **options: Any) -> Any:
        for answer in generate(model, chosen, requests, ending, **options):
            if chosen.name == decoder and answer.key == culprit:
                raise TypeError("no such tensor")
            yield answer

    patch.setattr("harness.measuring.generate", spoilt)


def test_only_the_culprit_of_a_batch_fails(
    model: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    culprit = [*dict.fromkeys(key.item_id for key in records(undisturbed))][6]
    spoil(monkeypatch, culprit, "block-ar")
    result = run(model, folder)
    assert result.exit_code == 1, result.output
    failed = {key: each.error for key, each in records(folder).items() if each.error}
    assert {(key.item_id, key.decoder) for key in failed} == {(culprit, "block-ar(block=4)")}
    assert set(failed.values()) == {"TypeError: no such tensor"}
    expected = {key: each for key, each in answers(undisturbed).items() if key not in failed}
    assert {key: each for key, each in answers(folder).items() if key not in failed} == expected
    # Those that were done when it raised keep their times; the others' are of one row.
    alone = decoded_rows(folder)
    assert set(alone.values()) == {1}
    assert 0 < len(alone) < ITEMS
    assert {key.decoder for key in alone} == {"block-ar(block=4)"}


def test_times_of_smaller_batches_are_told(
    model: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    spoil(monkeypatch, next(iter(records(undisturbed))).item_id, "ar")
    result = run(model, folder)
    samples = len(decoded_rows(folder))
    assert samples
    assert manifest(folder)["fewer_rows"] == [
        {"task": "gsm8k", "decoder": "ar", "batch_size": 4, "samples": samples}
    ]
    line = f"warning: gsm8k: {samples} samples of ar were decoded in fewer rows"
    assert line in result.stderr
    assert (folder / "tables" / "summary.md").read_text().startswith(f"> {line}")
    assert "warning" not in (undisturbed / "tables" / "summary.md").read_text()
    assert manifest(undisturbed)["fewer_rows"] == []


def test_failed_samples_are_tried_again_when_asked(
    model: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    culprit = next(iter(records(undisturbed))).item_id
    with monkeypatch.context() as patch:
        spoil(patch, culprit, "ar")
        assert run(model, folder, batch_size=1).exit_code == 1
    assert run(model, folder, "--resume", batch_size=1).exit_code == 1
    before = outcomes(folder)
    result = run(model, folder, "--resume", "--retry-failed", batch_size=1)
    assert result.exit_code == 0, result.output
    after = outcomes(folder)
    changed = {key for key in before if before[key] != after[key]}
    assert {(key.item_id, key.decoder) for key in changed} == {(culprit, "ar")}
    expected = {key._replace(batch_size=1): each for key, each in outcomes(undisturbed).items()}
    assert after == {key: each | {"batch_size": 1} for key, each in expected.items()}
    assert all(row["failed"] == 0 for row in summary(folder))


# Memory that is short.

SHORT: list[Callable[[], Exception]] = [
    lambda: torch.OutOfMemoryError("CUDA out of memory"),
    lambda: RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    MemoryError,
]


def test_what_is_out_of_memory():
    with pytest.raises(RuntimeError) as found:
        torch.empty(2**48, dtype=torch.uint8)
    assert out_of_memory(found.value)
    assert all(out_of_memory(make()) for make in SHORT)
    assert not out_of_memory(RuntimeError("shapes don't match"))
    assert not out_of_memory(OSError(12, "Cannot allocate memory"))


@pytest.mark.parametrize(
    ("rows", "left", "memory", "expected"),
    [(32, 128, True, 16), (32, 5, True, 2), (3, 9, True, 1), (2, 1, True, 1), (8, 9, False, 1)],
)
def test_how_many_rows_are_tried_next(rows: int, left: int, memory: bool, expected: int):
    assert fewer(rows, Broken("why", memory, tuple(range(left)))) == expected


def test_one_row_is_one_item_at_a_time():
    assert groups((3, 5, 6), 2) == [(3, 5, 6)]
    assert groups((3, 5, 6), 1) == [(3,), (5,), (6,)]


def shorten(patch: pytest.MonkeyPatch, most: int, make: Callable[[], Exception]) -> list[int]:
    """Memory for so many rows of `block-ar`; returns the rows of each of its calls."""
    calls: list[int] = []

    def short(model: Any, chosen: Any, requests: Any, ending: Any, **options: Any) -> Any:
        rows = options["batch_size"]
        if chosen.name == "block-ar":
            calls.append(rows)
            if min(rows, len(requests)) > most:
                raise make()
        return generate(model, chosen, requests, ending, **options)

    patch.setattr("harness.measuring.generate", short)
    return calls


@pytest.mark.parametrize("make", SHORT, ids=["accelerator", "processor", "python"])
def test_a_batch_without_room_is_halved_and_says_so(
    model: Path,
    undisturbed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], Exception],
):
    folder = tmp_path / "run"
    calls = shorten(monkeypatch, 1, make)
    # Two chunks of eight and two items.
    result = run(model, folder, batch_size=2)
    assert result.exit_code == 0, result.output
    # Warm-up and samples at two rows, then at one: each item alone, and the second chunk at once.
    assert calls == [2, 2, 1, *[1] * 8, *[1] * 2]
    told = [line for line in result.stderr.splitlines() if "no room for batches of 2" in line]
    assert len(told) == 1
    assert "block-ar(block=4); from here on 1 rows" in told[0]
    expected = {key._replace(batch_size=2): each for key, each in answers(undisturbed).items()}
    assert answers(folder) == {key: each | {"batch_size": 2} for key, each in expected.items()}
    assert set(decoded_rows(folder).values()) == {1}
    assert len(decoded_rows(folder)) == ITEMS


def test_halving_goes_as_far_as_it_must(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls = shorten(monkeypatch, 2, SHORT[0])
    result = run(model, tmp_path / "run", batch_size=8)
    assert result.exit_code == 0, result.output
    assert calls == [8, 8, 4, 4, 2, 2]
    assert set(decoded_rows(tmp_path / "run").values()) == {2}
    assert [row["failed"] for row in summary(tmp_path / "run")] == [0, 0]


def test_no_room_for_one_row_is_a_failure(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shorten(monkeypatch, 0, SHORT[0])
    result = run(model, tmp_path / "run")
    assert result.exit_code == 1, result.output
    rows = {row["decoder"]: row["failed"] for row in summary(tmp_path / "run")}
    assert rows == {"ar": 0, "block-ar(block=4)": ITEMS}
    errors = {each.error for each in records(tmp_path / "run").values()}
    assert errors == {None, "OutOfMemoryError: CUDA out of memory"}


@pytest.mark.parametrize("make", SHORT, ids=["accelerator", "processor", "python"])
def test_no_room_for_the_model_is_one_line(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], Exception]
):
    def short(*_: object, **__: object) -> None:
        raise make()

    monkeypatch.setattr("harness.models.load_model", short)
    refused(run(model, tmp_path / "run"), "error: out of memory (", "a smaller model")
    assert not (tmp_path / "run").exists()


# Disks that are full.


def stopped_in_one_line(result: Result, folder: Path) -> None:
    assert result.exit_code == 2, (result.exception, result.output)
    last = result.stderr.splitlines()[-1]
    assert LAST_LINE.match(last), last
    assert last.endswith(f"--resume --out {folder}")
    assert "Traceback" not in result.output
    assert not list(folder.rglob("*.tmp"))


def test_samples_that_find_no_room_stop_the_run_intact(
    model: Path, undisturbed: Path, tmp_path: Path
):
    folder = tmp_path / "run"
    options = ["--limit", 60]
    with files_of_at_most(16_000):
        stopped_in_one_line(run(model, folder, *options), folder)
    kept = outcomes(folder)
    assert 0 < len(kept) < 120
    result = run(model, folder, *options, "--resume")
    assert result.exit_code == 0, result.output
    assert len(records(folder)) == 120
    assert kept.items() <= outcomes(folder).items()


def test_tables_that_find_no_room_stop_the_run_intact(
    model: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("results.tables.write_atomic", full)
        result = run(model, folder)
    stopped_in_one_line(result, folder)
    assert "No space left on device" in result.stderr
    assert outcomes(folder) == outcomes(undisturbed)
    assert run(model, folder, "--resume").exit_code == 0
    assert len(summary(folder)) == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_full_and_then_read_only(model: Path, small_disk: Path):
    folder = small_disk / "run"
    options = ["--limit", 120]
    stopped_in_one_line(run(model, folder, *options), folder)
    kept = outcomes(folder)
    assert 0 < len(kept) < 240
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused(run(model, folder, *options, "--resume"), str(folder), "Read-only", "--out")
    assert outcomes(folder) == kept
    subprocess.run(["mount", "-o", "remount,rw,size=4m", str(small_disk)], check=True)
    assert run(model, folder, *options, "--resume").exit_code == 0
    assert len(records(folder)) == 240
    assert kept.items() <= outcomes(folder).items()
