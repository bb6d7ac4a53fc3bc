"""The training loop and its commands: exact resume, what stops a run, bad settings."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch.optim import SGD

from sdlm.attention import Impl
from sdlm.checkpoint import build_model, load_model, own_tensors, save_model
from sdlm.hf_config import read_config
from sdlm.model import SDLM
from sdlm.pretrain import main as pretrain
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.adapter import FOLDER as ADAPTER
from sdlm.retrofit.base_model import load_base
from sdlm.retrofit.batches import Position
from sdlm.retrofit.config import OptimiserName, TrainConfig, learning_rate, run_fraction
from sdlm.retrofit.run_state import FILE_NAME, Progress, alone_in, load_state
from sdlm.tokenizer import add_special_token, load_tokenizer
from sdlm.whole_file import whole_file
from tests.fakes import tiny_config
from tests.sdlm.training_fakes import CONFIG, losses, run, tiny_trainable

# --- the loop


class Killed(Exception):
    pass


SETTINGS = {
    "plain": CONFIG,
    "accumulation": replace(CONFIG, grad_accumulation=3),
    "lora": replace(CONFIG, lora_rank=4, grad_accumulation=2),
    "muon": replace(CONFIG, optimiser="muon"),
    "packed": replace(CONFIG, pack_length=200, clean_weight=2.0),
    "compiled": replace(CONFIG, compile=True),
}


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        ("killed", "plain"),
        *(("signal", kind) for kind in SETTINGS if kind != "compiled"),
        pytest.param("signal", "compiled", marks=pytest.mark.slow),
    ],
)
def test_resuming_is_exact(tmp_path: Path, way: str, kind: str):
    config = SETTINGS[kind]
    whole, expected = run(tmp_path / "whole", config)

    def stop(progress: Progress) -> None:
        if progress.step == 4 and way == "signal":
            os.kill(os.getpid(), signal.SIGTERM)
        if progress.step == 4 and way == "killed":
            raise Killed

    out = tmp_path / "parts"
    if way == "killed":
        with pytest.raises(Killed):
            run(out, config, export=stop)
    else:
        outcome, _ = run(out, config, export=stop)
        assert (outcome.finished, outcome.steps) == (False, 4)
    # Steps after the checkpoint, logged and lost, are done again; a line may be cut short.
    with (out / "log.jsonl").open("a") as log:
        log.write('{"step": 6, "loss": 9}\n{"step": 9, "lo')
    # And what it was writing.
    (out / ADAPTER).mkdir()
    left = [half_written(out / FILE_NAME), half_written(out / ADAPTER / "adapter_config.json")]
    resumed, weights = run(out, config, resume=True)
    assert not any(draft.exists() for draft in left)
    assert (resumed.steps, resumed.tokens, resumed.finished) == (8, whole.tokens, True)
    assert losses(out) == losses(tmp_path / "whole")
    assert [line["step"] for line in losses(out)] == [3, 6, 8]
    for name, weight in weights.items():
        assert torch.equal(weight, expected[name]), name


def half_written(path: Path) -> Path:
    """What a process that was killed while it wrote the file has left."""
    with suppress(Killed), whole_file(path) as draft:
        left = draft.with_name(f"{draft.name[:-4]}x.tmp")
        left.touch()
        raise Killed
    return left


def test_a_finished_run_goes_on_to_a_later_limit(tmp_path: Path):
    run(tmp_path / "a", replace(CONFIG, schedule="constant", warmup=0.0, max_steps=3))
    outcome, weights = run(
        tmp_path / "a", replace(CONFIG, schedule="constant", warmup=0.0, max_steps=5), resume=True
    )
    _, expected = run(
        tmp_path / "b", replace(CONFIG, schedule="constant", warmup=0.0, max_steps=5)
    )
    assert outcome.steps == 5
    assert all(torch.equal(weights[name], expected[name]) for name in weights)


def test_a_finished_run_resumed_is_as_it_was(tmp_path: Path):
    """Here one that is over after its first step."""
    config = replace(CONFIG, max_steps=None, max_minutes=1e-9)
    first, expected = run(tmp_path / "run", config)
    again, weights = run(tmp_path / "run", config, resume=True)
    assert (first.finished, first.steps) == (again.finished, again.steps) == (True, 1)
    assert all(torch.equal(weights[name], expected[name]) for name in weights)


def test_what_is_resumed_lies_where_the_weights_do(tmp_path: Path):
    """Step counts too, which a fused optimiser wants there; "meta" is any device but the CPU."""
    run(tmp_path / "run", CONFIG)
    with torch.device("meta"):
        model = SDLM(tiny_config(tie_embeddings=True))
    optimiser = SGD(model.parameters())
    load_state(tmp_path / "run", model, [optimiser], CONFIG.fixed())
    filled = {(key, v.device.type) for one in optimiser.state.values() for key, v in one.items()}
    assert filled == {("step", "meta"), ("exp_avg", "meta"), ("exp_avg_sq", "meta")}


@pytest.mark.parametrize("accumulation", [1, 4])
def test_epochs_end_with_the_data(tmp_path: Path, accumulation: int):
    """Their last update takes what is left of the batches."""
    config = replace(CONFIG, max_steps=None, epochs=2, grad_accumulation=accumulation)
    positions: list[Position] = []
    outcome, _ = run(tmp_path / "run", config, export=lambda p: positions.append(p.position))
    batches = positions[-1].batch
    assert positions[-1].epoch == 1
    assert outcome.finished
    assert batches > 4
    assert outcome.steps == 2 * -(-batches // accumulation)
    for position in positions[:-1]:
        assert position.batch % accumulation == 0 or position.batch == batches


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_training_learns_and_logs_per_slot(tmp_path: Path, optimiser: OptimiserName):
    config = replace(CONFIG, max_steps=30, log_every=15, schedule="constant", optimiser=optimiser)
    run(tmp_path / "run", config)
    first, last = losses(tmp_path / "run")
    assert last["loss"] < first["loss"]
    assert len(last["loss_per_slot"]) == len(last["accuracy_per_slot"]) == 4


def test_a_bad_loss_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path):
    model = tiny_trainable()

    def poison(progress: Progress) -> None:
        if progress.step == 2:
            with torch.no_grad():
                model.norm.weight[0] = float("nan")

    with pytest.raises(ValueError, match="at step 3 the loss is nan"):
        run(tmp_path / "run", export=poison, model=model)
    outcome, weights = run(tmp_path / "run", resume=True)
    assert outcome.finished
    assert all(weight.isfinite().all() for weight in weights.values())


def test_weights_that_are_not_finite_are_never_saved(tmp_path: Path):
    """Loss and gradient of the step were."""
    ruinous = replace(CONFIG, lr=1e38, warmup=0.0, schedule="constant")
    with pytest.raises(ValueError, match="after step 1 a weight is not finite"):
        run(tmp_path / "run", ruinous)
    assert not (tmp_path / "run" / FILE_NAME).exists()


def test_one_training_a_folder(tmp_path: Path):
    refused = pytest.raises(ValueError, match="is in use by another training")
    with alone_in(tmp_path), refused, alone_in(tmp_path):
        pass
    with alone_in(tmp_path):
        pass


def test_what_can_not_be_resumed(tmp_path: Path):
    run(tmp_path / "run", replace(CONFIG, max_steps=1))
    with pytest.raises(ValueError, match=r"another run: lr was 0\.003 and is now 0\.1"):
        run(tmp_path / "run", replace(CONFIG, lr=0.1), resume=True)
    checkpoint, log = (tmp_path / "run" / name for name in (FILE_NAME, "log.jsonl"))
    log.write_text("[1]}\n")
    with pytest.raises(ValueError, match=r"log\.jsonl:1 is not a training log's line; move"):
        run(tmp_path / "run", resume=True)
    for other in ("my notes\n", '{"step": 1}\n{"step": 2\n{"step": 3}\n'):
        log.write_text(other)
        with pytest.raises(ValueError, match="is not a training log's line; move"):
            run(tmp_path / "run", resume=True)
        assert log.read_text() == other
    checkpoint.write_bytes(checkpoint.read_bytes()[:-10])
    with pytest.raises(ValueError, match="not a whole checkpoint"):
        run(tmp_path / "run", resume=True)
    save_file({"weight": torch.zeros(1)}, checkpoint)
    with pytest.raises(ValueError, match="is no run's checkpoint; choose another --out"):
        run(tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0.0, 0.0005), (0.05, 0.05), (0.1, 0.1), (0.55, 0.06), (1.0, 0.02), (1.2, 0.02)],
)
def test_learning_rate(fraction: float, expected: float):
    """Up to 0.1 over the first tenth, then half a cosine down to a fifth of that."""
    config = TrainConfig(lr=0.1, warmup=0.1, final_lr=0.2, max_steps=1)
    assert learning_rate(config, fraction) == pytest.approx(expected)
    constant = replace(config, schedule="constant")
    assert learning_rate(constant, max(fraction, 0.1)) == pytest.approx(0.1)


def test_progress_is_towards_the_nearest_limit():
    config = TrainConfig(max_steps=100, max_tokens=1000, max_minutes=10)
    early = {"epochs": 0.01, "steps": 10, "elapsed_s": 30}
    assert run_fraction(config, tokens=50, **early) == pytest.approx(0.1)
    assert run_fraction(config, tokens=500, **early) == pytest.approx(0.5)
    late = {"steps": 10, "tokens": 500, "elapsed_s": 540}
    assert run_fraction(config, epochs=0.01, **late) == pytest.approx(0.9)
    assert run_fraction(replace(config, epochs=2), epochs=1.9, **late) == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_steps": None}, "give at least one of --epochs, --max-steps"),
        ({"max_minutes": 0.0}, "--max-minutes is 0.0; it must be above 0"),
        ({"max_tokens": -3}, "--max-tokens is -3; it must be above 0"),
        ({"lr": 0.0}, "--lr is 0.0; it must be above 0"),
        ({"lr": math.nan}, "--lr is nan; it must be a finite number"),
        ({"max_minutes": math.inf}, "--max-minutes is inf; it must be a finite number"),
        ({"warmup": 1.0}, "--warmup is 1.0; it lies in 0…1"),
        ({"pack_length": -1}, "--pack-length is -1; it must not be negative"),
        ({"clean_weight": -1.0}, "--clean-loss-weight is -1.0; it must not be negative"),
        ({"seed": 2**63}, "--seed is 9223372036854775808; it must not be above"),
    ],
)
def test_bad_settings(changes: dict, message: str):
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **changes)


# --- the commands


def test_from_data_to_an_sdlm(home: Path, tmp_path: Path):
    config = TrainConfig(max_steps=3, batch_tokens=600, log_every=1)
    pretrain(
        config,
        home / "data.jsonl",
        home / "tokenizer",
        tmp_path / "ar",
        layers=2,
        hidden_size=32,
        heads=4,
        kv_heads=2,
        intermediate_size=48,
    )
    autoregressive = read_config(tmp_path / "ar")
    assert (autoregressive.block_size, autoregressive.eos_token_ids) == (None, (0, 2))
    ar, data = str(tmp_path / "ar"), home / "data.jsonl"
    retrofit(replace(config, clean_weight=0.5), ar, data, tmp_path / "d")
    model = load_model(tmp_path / "d")
    assert model.dtype == torch.bfloat16
    sdlm_fields = {"block_size": 4, "mask_token_id": 3}
    assert model.config == replace(autoregressive, **sdlm_fields)
    assert len(load_tokenizer(tmp_path / "d")) == 264
    settings = json.loads((tmp_path / "d" / "training.json").read_text())
    assert settings["totals"]["steps"] == 3
    assert (settings["base"], settings["data"], settings["seed"]) == ("ar", "data.jsonl", 0)
    assert json.loads((tmp_path / "d" / "generation_config.json").read_text())["eos_token_id"] == [
        0,
        2,
    ]

    # An SDLM is itself a base: here for longer blocks, and with another mask token.
    retrofit(
        config,
        str(tmp_path / "d"),
        home / "data.jsonl",
        tmp_path / "d8",
        block_size=8,
        causal_attn=True,
        shift=False,
        mask_token="<|hole|>",
    )
    wider = read_config(tmp_path / "d8")
    assert (wider.block_size, wider.mask_token_id, wider.vocab_size) == (8, 264, 265)
    assert wider.causal_attn


def test_a_new_mask_token_begins_as_the_mean(home: Path, tmp_path: Path):
    config = TrainConfig(max_steps=1, batch_tokens=600)
    pretrain(
        config, home / "data.jsonl", home / "tokenizer", tmp_path / "ar", layers=1, hidden_size=16,
        heads=2, kv_heads=1, intermediate_size=16,
    )  # fmt: skip
    base = load_model(tmp_path / "ar", dtype=torch.float32).embedding.weight
    shared = {"block_size": 4, "causal_attn": False, "shift": True, "end_id": 2}
    words = load_tokenizer(tmp_path / "ar")
    grown, new_token = load_base(
        tmp_path / "ar", words, mask_token="<|new|>", impl=Impl.DENSE, **shared
    )
    assert new_token == len(base) == 264
    assert torch.equal(grown.embedding.weight[:-1], base)
    torch.testing.assert_close(grown.embedding.weight[-1], base.mean(0))
    assert grown.head.weight is grown.embedding.weight
    assert all(p.requires_grad for p in grown.parameters())
    words = load_tokenizer(tmp_path / "ar")
    hole = add_special_token(words, "<|hole|>")
    sdlm = replace(grown.config, mask_token_id=hole)
    save_model(build_model(sdlm, own_tensors(grown), Impl.DENSE), tmp_path / "d", torch.float32)
    own = load_base(tmp_path / "d", words, mask_token=None, impl=Impl.DENSE, **shared)
    assert (own.model.config.mask_token_id, own.new_token) == (hole, None)
    assert torch.equal(own.model.embedding.weight, grown.embedding.weight)
    with pytest.raises(ValueError, match=r"text_mask_token_id 200 is .* an ordinary token"):
        load_base(
            tmp_path / "ar",
            load_tokenizer(tmp_path / "ar"),
            mask_token=words.convert_ids_to_tokens(200),
            impl=Impl.DENSE,
            **shared,
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "abacus"}, "--device abacus can't be used"),
        ({"device": "meta"}, "--device meta can't be used"),
        ({"device": "cuda:1", "fsdp": True}, "--device cuda:1 is one GPU, and --fsdp gives each"),
        ({"config": replace(CONFIG, compile=True)}, "two key/value heads or more"),
        ({"threads": -1}, "--threads is -1; it lies in 0…1024"),
        ({"attention": Impl.FLEX}, "'flex' can't be trained on a CPU"),
        ({"block_size": 1}, "block_size is 1"),
        ({"budget": 0.0}, "budget is 0.0; it must be a finite number above 0"),
        ({"budget": math.nan}, "budget is nan"),
        ({"max_length": 4}, "--max-length is 4; a sample with a block of 4 takes more"),
        ({"resume": True}, "there is no run to resume"),
    ],
)
def test_bad_options(home: Path, tmp_path: Path, options: dict, message: str):
    base = tmp_path / "base"
    shutil.copytree(home / "tokenizer", base)
    one_head = {"num_kv_heads": 1} if "config" in options else {}
    save_model(tiny_trainable(vocab_size=264, mask_token_id=3, **one_head), base, torch.float32)
    given = {"config": CONFIG} | options
    with pytest.raises(ValueError, match=message):
        retrofit(base=str(base), data=home / "data.jsonl", out=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_the_command_line_reports_errors_in_one_line(home: Path, tmp_path: Path):
    command = [sys.executable, "-m", "sdlm.retrofit", "--base", home / "tokenizer"]
    command += ["--data", home / "data.jsonl", "--out", tmp_path, "--max-steps", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "config.json does not exist" in done.stderr
