"""Batch sizes: several in one run, and the one that memory has room for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from decoders.ar import Autoregressive
from decoders.generate import Request, needed_capacity
from decoders.self_speculative import SelfSpeculative
from harness import batch_memory
from harness.asking import parse_batch_sizes
from harness.batch_memory import Prompts, auto_batch_size, available_bytes, cache_bytes, row_bytes
from harness.terminal import print_summary
from results import RunStore, SampleRecord, read_summary
from sdlm.model import SDLM
from tests.fakes import tiny_model
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

SPECS = ("ar", "block-ar(block=4)", "self-speculative(verify=window,block=4)")
OPTIONS = ["--decoders", "ar,block-ar,self-speculative", "--max-new-tokens", 9]


def run(model: Path, out: Path, *more: object, limit: int = 20) -> Any:
    return harness("run", "--model", model, "--out", out, "--limit", limit, *OPTIONS, *more)


@pytest.fixture(scope="module")
def curve(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three decoders on 20 items at three batch sizes; not to be changed."""
    folder = tmp_path_factory.mktemp("curve") / "run"
    result = run(model, folder, "--batch-sizes", "1,2, 4,2")
    assert result.exit_code == 0, result.output
    return folder


# Several.


def test_every_batch_size_answers_every_item(curve: Path):
    assert manifest(curve)["config"]["batch_sizes"] == [1, 2, 4]
    found = outcomes(curve)
    items = {key.item_id for key in found}
    assert len(items) == 20
    assert {(key.decoder, key.batch_size, key.item_id) for key in found} == {
        (spec, size, item) for spec in SPECS for size in (1, 2, 4) for item in items
    }
    for key, sample in found.items():
        assert sample | {"batch_size": 1} == found[key._replace(batch_size=1)]


def test_rows_and_speedups_are_of_one_batch_size(curve: Path):
    rows = summary(curve)
    assert [(row["batch_size"], row["decoder"]) for row in rows] == [
        (size, spec) for size in (1, 2, 4) for spec in SPECS
    ]
    samples = records(curve).values()

    def rate(spec: str, size: int) -> float:
        own = [each for each in samples if (each.decoder, each.batch_size) == (spec, size)]
        assert len(own) == 20
        tokens = sum(len(each.ids or ()) for each in own)
        return tokens / sum(each.compute_s or 0.0 for each in own)

    for row in rows:
        size = row["batch_size"]
        assert row["tokens_per_s"] == pytest.approx(rate(row["decoder"], size))
        expected = rate(row["decoder"], size) / rate("ar", size)
        assert row["speedup"] == pytest.approx(expected)


def test_tables_for_people_have_one_part_a_size(curve: Path, tmp_path: Path):
    text = (curve / "tables" / "summary.md").read_text()
    with (tmp_path / "shown").open("w") as file:
        print_summary(read_summary(curve), Console(file=file, width=200))
    shown = (tmp_path / "shown").read_text()
    for size in (1, 2, 4):
        assert text.count(f"batch size {size}\n") == 1
        assert shown.count(f"batch size {size}, block 4") == 1


def test_sizes_and_decoders_take_turns(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[tuple[int, str]] = []
    append = RunStore.append

    def watched(self: RunStore, record: SampleRecord) -> None:
        seen.append((record.batch_size, record.decoder))
        append(self, record)

    monkeypatch.setattr(RunStore, "append", watched)
    assert run(model, tmp_path / "run", "--batch-sizes", "1,2").exit_code == 0
    turns = [turn for place, turn in enumerate(seen) if seen[place - 1] != turn or place == 0]
    a, b, c = SPECS
    by_turn = [(a, b, c), (b, c, a), (c, a, b)]
    # Chunks of 2 rows begin at items 0, 8 and 16. Each time another size goes first.
    chunks = [(1, 0), (2, 0), *((1, item) for item in range(1, 8))]
    chunks += [(2, 1), (1, 8), *((1, item) for item in range(9, 16)), (1, 16), (2, 2)]
    chunks += [(1, item) for item in range(17, 20)]
    assert turns == [(size, spec) for size, turn in chunks for spec in by_turn[turn % 3]]


def test_what_is_missing_at_one_size_is_done_at_that_size(
    model: Path, curve: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "run"
    for path in (path for path in curve.rglob("*") if path.is_file()):
        copy = folder / path.relative_to(curve)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    file = folder / "samples" / "gsm8k" / "ar.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    gone = [line for line in lines if json.loads(line)["batch_size"] == 2][3:5]
    file.write_text("".join(line for line in lines if line not in gone))
    done: list[tuple[str, int]] = []
    append = RunStore.append
    monkeypatch.setattr(
        RunStore,
        "append",
        lambda self, record: (
            done.append((record.decoder, record.batch_size)),
            append(self, record),
        ),
    )
    assert run(model, folder, "--batch-sizes", "1,2,4", "--resume").exit_code == 0
    assert done == [("ar", 2)] * 2
    assert outcomes(folder) == outcomes(curve)


def test_longest_first_changes_no_answer(model: Path, curve: Path, tmp_path: Path):
    result = run(model, tmp_path / "run", "--batch-sizes", "4", "--order", "longest-first")
    assert result.exit_code == 0, result.output
    assert manifest(tmp_path / "run")["config"]["order"] == "longest-first"
    expected = {key: sample for key, sample in outcomes(curve).items() if key.batch_size == 4}
    assert outcomes(tmp_path / "run") == expected


# From memory.


def prompts(*lengths: int, budget: int = 100) -> Prompts:
    requests = [Request(key=str(number), ids=(1,) * n) for number, n in enumerate(lengths)]
    return Prompts(requests, budget)


def test_a_row_costs_its_cache_and_more():
    model = tiny_model()
    decoders = [Autoregressive(), SelfSpeculative(mask_token_id=5, block=8)]
    task = prompts(30, 400)
    capacity = needed_capacity(model, decoders, task.requests, task.budget)
    cache = model.new_cache(1, capacity).nbytes
    assert cache_bytes(model.config, model.dtype, capacity) == cache
    assert row_bytes(model, decoders, task) > cache
    assert row_bytes(model, decoders[:1], task) < row_bytes(model, decoders, task)
    assert row_bytes(model, decoders, prompts(30, 700)) > row_bytes(model, decoders, task)


def test_memory_decides_and_no_more_than_there_are_items(monkeypatch: pytest.MonkeyPatch):
    model, decoders = tiny_model(), [Autoregressive()]
    many, few = prompts(*[50] * 300), prompts(*[50] * 7)
    row = row_bytes(model, decoders, many)
    capacity = needed_capacity(model, decoders, many.requests, many.budget)
    fixed = batch_memory.fixed_bytes(model, capacity)

    def found(available: float, *tasks: Prompts, sharing: int = 1) -> int:
        monkeypatch.setattr(batch_memory, "available_bytes", lambda _: int(available))
        return auto_batch_size(model, decoders, tasks, sharing)

    room = (fixed + 40.5 * row) / 0.8
    assert found(room, many) == 40
    assert found(room, few) == 7
    assert found(room, few, many) == 40
    assert found(100 * room, many) == batch_memory.MOST_ROWS
    weights = sum(each.nbytes for each in model.parameters())
    assert found(3 * (room + weights) - weights + 3, many, sharing=3) == 40
    with pytest.raises(ValueError, match=r"--batch-size auto: .* GB of memory have no room"):
        found(fixed, many)


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Control groups of our own, and a machine with 8 GB to give."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    8000000 kB\n")
    monkeypatch.setattr(batch_memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(batch_memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(batch_memory, "OWN_GROUPS", tmp_path / "own")

    def make(own: str, **files: dict[str, object]) -> None:
        (tmp_path / "own").write_text(own)
        for name, values in files.items():
            folder = tmp_path / "groups" / name.replace("__", "/").strip("/")
            folder.mkdir(parents=True, exist_ok=True)
            for file, value in values.items():
                (folder / file).write_text(f"{value}\n")

    return make


CPU = torch.device("cpu")


def v2(most: object, used: int, inactive: int) -> dict[str, object]:
    return {
        "memory.max": most,
        "memory.current": used,
        "memory.stat": f"anon 5\ninactive_file {inactive}",
    }


def test_available_memory_is_the_least_that_anyone_allows(groups: Callable[..., None]):
    groups("")
    assert available_bytes(CPU) == 8_000_000 * 1024
    groups("0::/a/b\n", a=v2(5_000_000, 2_000_000, 300_000), a__b=v2("max", 1_000_000, 0))
    assert available_bytes(CPU) == 3_300_000
    groups("0::/a/b\n", a__b=v2(2_000_000, 1_000_000, 0))
    assert available_bytes(CPU) == 1_000_000
    groups("0::/a/b\n", a__b=v2(2_000_000, 3_000_000, 0))
    assert available_bytes(CPU) == 0
    # Of a container's own group only the top is to be seen.
    groups("0::/elsewhere/c\n", **{"": v2(7_000_000, 0, 0)})
    assert available_bytes(CPU) == 7_000_000


def test_the_older_control_groups_count_too(groups: Callable[..., None]):
    old: dict[str, object] = {
        "memory.limit_in_bytes": 4_000_000,
        "memory.usage_in_bytes": 1_500_000,
        "memory.stat": "cache 9\ntotal_inactive_file 500000",
    }
    groups("4:memory:/a\n1:cpu:/b\n0::/\n", memory__a=old)
    assert available_bytes(CPU) == 3_000_000


def test_auto_is_found_once_and_recorded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "run"
    result = run(model, out, "--batch-size", "auto", limit=6)
    assert result.exit_code == 0, result.output
    assert "batch size 6: what memory has room for" in result.stderr
    assert manifest(out)["config"]["batch_sizes"] == [6]
    # Less memory is free when the run goes on.
    monkeypatch.setattr(batch_memory, "MOST_ROWS", 2)
    assert run(model, out, "--batch-size", "auto", "--resume", limit=6).exit_code == 0
    assert {key.batch_size for key in records(out)} == {6}
    refused(run(model, out, "--batch-size", 2, "--resume", limit=6), "batch_sizes = [6], not [2]")


def test_auto_that_finds_no_room_is_one_line(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(batch_memory, "available_bytes", lambda _: 10**6)
    refused(run(model, tmp_path / "run", "--batch-size", "auto"), "auto", "no room", "number")
    assert not (tmp_path / "run").exists()


# What is asked for.


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--batch-size", "2", "--batch-sizes", "1"], ["--batch-size 2", "--batch-sizes 1"]),
        (["--batch-size", "auto", "--batch-sizes", "1"], ["--batch-size auto", "give one"]),
        (["--batch-size", "many"], ["--batch-size has 'many'", "auto"]),
        (["--batch-size", ""], ["--batch-size has ''", "auto"]),
        (["--batch-size", "0"], ["--batch-size is 0", "at least 1"]),
        (["--batch-sizes", "1,0"], ["--batch-sizes is 0", "at least 1"]),
        (["--batch-sizes", "1,auto"], ["--batch-sizes has 'auto'", "whole numbers"]),
        (["--batch-sizes", "1,2.5"], ["--batch-sizes has '2.5'"]),
        (["--batch-sizes", ","], ["--batch-sizes is empty"]),
    ],
)
def test_wrong_batch_sizes(model: Path, tmp_path: Path, more: list[str], words: list[str]):
    refused(run(model, tmp_path / "run", *more), *words)
    assert not (tmp_path / "run").exists()


def test_batch_sizes_as_they_are_meant():
    assert parse_batch_sizes(None, None) == (1,)
    assert parse_batch_sizes("8", None) == (8,)
    assert parse_batch_sizes("auto", None) == "auto"
    assert parse_batch_sizes(None, "32, 1,8,1") == (32, 1, 8)


# What is done to the model.


def test_compiling_and_quantising_are_asked_for_once_and_recorded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done: list[str] = []
    monkeypatch.setattr(SDLM, "compile_forward", lambda _: done.append("compiled"))
    monkeypatch.setattr("sdlm.quantize.quantize_int8", lambda _: done.append("quantised"))
    options = ["--compile", "--quantize", "int8"]
    assert run(model, tmp_path / "run", *options, limit=2).exit_code == 0
    assert done == ["quantised", "compiled"]
    config = manifest(tmp_path / "run")["config"]
    assert (config["compile"], config["quantize"]) == (True, "int8")
    refused(run(model, tmp_path / "run", "--resume", limit=2), "compile = true, not false")
    done.clear()
    line = '{"id": 1, "ids": [5, 6]}'
    few = ["--decoder", "ar", "--input", "-", "--max-new-tokens", 2]
    result = harness("decode", "--model", model, *few, *options, stdin=line)
    assert result.exit_code == 0, result.output
    assert done == ["quantised", "compiled"]


def test_processes_that_share_a_model_say_the_same(model: Path, tmp_path: Path):
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    assert run(model, alone, limit=2).exit_code == 0
    result = run(model, shared, "--tensor-parallel", 2, limit=2)
    assert result.exit_code == 0, result.output
    assert manifest(shared)["config"]["tensor_parallel"] == 2
    assert outcomes(shared) == outcomes(alone)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tensor-parallel", 0], "must be at least 1"),
        (["--tensor-parallel", 2, "--compile"], "--compile don't go together"),
        (["--tensor-parallel", 2, "--quantize", "int8"], "--quantize don't go together"),
        (["--tensor-parallel", 2, "--engine", "ray"], "--engine ray don't go together"),
        (["--tensor-parallel", 3], "3 ranks can't share"),
    ],
)
def test_what_can_t_share_a_model(model: Path, tmp_path: Path, options: list[object], words: str):
    refused(run(model, tmp_path / "run", *options), words)
    assert not (tmp_path / "run").exists()
