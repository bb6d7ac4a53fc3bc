"""Two processes under torchrun learn what one does, and either goes on with the other's run."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sdlm.checkpoint import load_model, save_model
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.config import OptimiserName, TrainConfig
from sdlm.retrofit.ranks import open_ranks
from sdlm.tokenizer import load_tokenizer, save_tokenizer
from tests.sdlm.training_fakes import losses, tiny_trainable

# Rows of 90 to 126 slots: batches have two or one, and one leaves a rank without.
CONFIG = TrainConfig(
    max_steps=6, batch_tokens=220, log_every=1, bf16=False, schedule="constant", warmup=0.0
)
OPTIONS = "--batch-tokens 220 --log-every 1 --no-bf16 --schedule constant --warmup 0"


@pytest.fixture
def base(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    model = tiny_trainable(vocab_size=264, block_size=None, mask_token_id=None)
    save_model(model, folder, torch.float32)
    save_tokenizer(load_tokenizer(home / "tokenizer"), folder)
    return folder


def by_two(base: Path, data: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "sdlm.retrofit", "--fsdp", *OPTIONS.split()]
    command += ["--base", str(base), "--data", str(data), "--out", str(out), *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


# Muon orthogonalises in bf16, which makes more of the gradients' last bits.
@pytest.mark.parametrize(
    ("way", "rank", "near"), [("adamw", 0, 1e-5), ("adamw", 2, 1e-5), ("muon", 0, 1e-4)]
)
def test_two_processes_are_one(
    home: Path, base: Path, tmp_path: Path, way: OptimiserName, rank: int, near: float
):
    """And a run of two goes on as one: their checkpoints are the same."""
    data, alone, both = home / "data.jsonl", tmp_path / "alone", tmp_path / "both"
    config = replace(CONFIG, optimiser=way, lora_rank=rank)
    retrofit(config, str(base), data, alone)
    expected = losses(alone)

    more = ("--optimiser", way, "--lora-rank", str(rank))
    done = by_two(base, data, both, "--max-steps", "4", *more)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("step 4") == 1, "one of them speaks"
    assert flat(losses(both)) == [pytest.approx(line, abs=near) for line in flat(expected[:4])]
    assert json.loads((both / "training.json").read_text())["ranks"] == 2

    retrofit(config, str(base), data, both, resume=True)
    assert flat(losses(both)) == [pytest.approx(line, abs=near) for line in flat(expected)]
    mine, theirs = (dict(load_model(out).named_parameters()) for out in (both, alone))
    for name, parameter in mine.items():
        torch.testing.assert_close(parameter, theirs[name], rtol=2**-7, atol=10 * near)


def flat(lines: list[dict]) -> list[dict]:
    """Lists of a line as numbers of their own, which pytest.approx can compare."""
    return [
        {
            f"{name}{place}": number
            for name, value in line.items()
            for place, number in enumerate(value if isinstance(value, list) else [value])
        }
        for line in lines
    ]


def test_torchrun_and_fsdp_belong_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RANK", raising=False)
    cpu = torch.device("cpu")
    with pytest.raises(ValueError, match="torchrun --nproc-per-node"), open_ranks(cpu, fsdp=True):
        pass
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="2 processes; add --fsdp"), open_ranks(cpu, fsdp=False):
        pass
