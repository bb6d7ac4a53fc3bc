"""The scripts do what they say, on shapes that take a moment."""

import json
import sys
from pathlib import Path

import pytest
import torch

from sdlm.allocator import keep_freed_memory
from sdlm.attention import Impl
from sdlm.checkpoint import save_model
from sdlm.tokenizer import train_tokenizer
from tests.benchmarks import engine_table, gpu, growth, same_decoder, training
from tests.benchmarks.contenders import shape_model
from tests.benchmarks.roofline import Machine, StepShape, body_weights, cost_of
from tests.sdlm.training_fakes import conversation, tiny_trainable

SMALL = ["--model", "small-shapes", "--dtype", "bfloat16"]


def run(module, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    module.main()


def test_engine_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    few = ["--batch-sizes", "1,2", "--new-tokens", 9, "--repeats", 1, "--out", tmp_path]
    run(engine_table, monkeypatch, *SMALL, *few, "--name", "small")
    found = json.loads((tmp_path / "small.json").read_text())
    names = [*engine_table.SPECS, "transformers generate"]
    lines = {(row["batch"], row["contender"]): row for row in found["rows"]}
    assert {(batch, name) for batch in (1, 2) for name in names} <= lines.keys()
    for (batch, name), row in lines.items():
        assert row["tokens_per_s"] > 0
        if name in engine_table.SPECS:
            assert row["roofline"] > 0
            assert row["decoded_per_s"] == pytest.approx(
                batch * row["tokens_per_forward"] / row["step_ms"] * 1e3
            )
    # Nine tokens are four of the prefill, and then four and one.
    assert lines[1, "greedy-confidence(tau=0)"]["tokens_per_forward"] == 2.5
    assert lines[1, "self-speculative"]["same_ids"] == 1
    assert "| self-speculative" in (tmp_path / "small.md").read_text()
    assert str(tmp_path) not in (tmp_path / "small.json").read_text()


@pytest.mark.slow
def test_the_gpu_script_s_dry_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run(gpu, monkeypatch, "--dry-run", "--out", tmp_path)
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert {row["compiled"] for row in found["batch 1, bytes against a copy's"]} == {False, True}
    assert {row["attention"] for row in found["flex against dense"]} == {"flex", "dense"}
    assert {row["batch"] for row in found["batch curve"]} == set(gpu.DRY.batches)


@pytest.mark.slow
def test_training_throughput(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same loss from both, and a rate for each of the three."""
    rows = [conversation(n) for n in range(20)]
    data, model, out = tmp_path / "data.jsonl", tmp_path / "model", tmp_path / "training.json"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    train_tokenizer([data.read_text()], 264, model)
    network = tiny_trainable(vocab_size=264, mask_token_id=3, eos_token_ids=(0, 2))
    save_model(network, model, torch.float32)
    few = ["--steps", 2, "--warm-up", 1, "--batch-tokens", 400, "--scratch", tmp_path]
    run(training, monkeypatch, "--model", model, "--data", data, "--out", out, *few)
    found = json.loads(out.read_text())
    assert [row["trainer"] for row in found["rows"]] == [
        "transformers, dense mask",
        "sdlm",
        "sdlm, compiled",
    ]
    assert all(row["slots_per_s"] > 0 for row in found["rows"])
    assert found["rows"][0]["ratio"] == 1
    theirs, ours = found["fp32_loss"].values()
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert str(tmp_path) not in out.read_text()


@torch.inference_mode()
def test_a_step_of_growth():
    model = shape_model("small-shapes", "cpu", Impl.DENSE)
    point = growth.time_step(model, Machine(1e9, 1e9), "self-speculative", 2, 128)
    # Two rows of 20 slots, 16 of them wanted, over 128 kept tokens.
    cost = cost_of(model.config, torch.bfloat16, StepShape(2, 40, 32, 128))
    assert point.ideal_ms == pytest.approx(1e3 * cost.ideal_s(Machine(1e9, 1e9)))
    assert point.step_ms > 0


def test_the_cost_of_a_step_by_hand():
    """Two layers of width 64: q, k, v of 4 + 2 + 2 heads of 16, o, and 3 x 64 x 128."""
    config = shape_model("small-shapes", "cpu", Impl.DENSE).config
    layer = 64 * (4 + 2 + 2) * 16 + 4 * 16 * 64 + 3 * 64 * 128
    assert body_weights(config) == 2 * layer
    head = 64 * 1000
    cost = cost_of(config, torch.bfloat16, StepShape(rows=3, slots=6, wanted=3, keys=10))
    assert cost.moved_bytes == 2 * (2 * layer + head) + 3 * 10 * (2 * 2 * 2 * 16) * 2
    assert cost.flops == 2 * (2 * layer * 6 + head * 3) + 4 * 2 * 4 * 16 * 6 * 10


def test_memory_that_is_kept_does_no_harm():
    for _ in range(2):
        keep_freed_memory()
        assert float(torch.ones(1 << 22).sum()) == 1 << 22


@pytest.mark.slow
def test_same_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """One decoder is itself under both names: same ids, and nothing that `compare` may find."""
    arguments = ("--runs", 2, "--limit", 3, "--out", tmp_path / "runs")
    run(same_decoder, monkeypatch, *arguments)
    first, second = json.loads((tmp_path / "runs" / "found.json").read_text())
    assert first["agreement"] == second["agreement"] == 1
    assert (first["gate"], second["gate"] in (0, 1)) == (None, True)
    assert all(each["lo"] <= each["speedup"] <= each["hi"] for each in (first, second))
    assert f"of {len((first, second))}" in capsys.readouterr().out
