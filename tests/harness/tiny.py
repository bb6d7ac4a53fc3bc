"""A tiny random SDLM with a chat tokenizer, and the command line run on it in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

from harness.cli import app
from results import SampleKey, SampleRecord, read_run
from sdlm.checkpoint import hf_tensors, save_model
from sdlm.model import SDLM, ModelConfig

VOCAB = 320
MASK = 3
CONTEXT = 512
# Enough end tokens that some answers end before their budget.
EOS = (2, *range(20, VOCAB, 30))
TEXTS = [
    f"Ann has {n} apples and buys {n * 3} more, so she has {n} + {n * 3} = {n * 4}.\n#### {n * 4}"
    for n in range(200)
]
# Said of every official file but the published one.
OUR_OWN_ITEMS = pytest.mark.filterwarnings("ignore:.*not the published rows")
# Of `run --decoders all`, in the order of its table.
SPECS = (
    "ar",
    "block-ar(block=4)",
    *(f"greedy-confidence(tau={tau},rule=per-token,block=4)" for tau in (0.98, 0.9, 0.8, 0.6)),
    *(f"entropy(tau={tau},rule=per-token,block=4)" for tau in (0.98, 0.9, 0.8, 0.6)),
    "self-speculative(verify=window,block=4)",
)


def make_model(folder: Path, seed: int = 0, **changes: Any) -> Path:
    """Write a checkpoint whose windows are often right and sure: attention follows distance."""
    fields: dict[str, Any] = {
        "family": "qwen2",
        "vocab_size": VOCAB,
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_layers": 2,
        "num_heads": 4,
        "num_kv_heads": 2,
        "head_dim": 12,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "max_context": CONTEXT,
        "qkv_bias": True,
        "block_size": 4,
        "mask_token_id": MASK,
        "eos_token_ids": EOS,
    }
    model = SDLM(ModelConfig(**{**fields, **changes}))
    generator = torch.Generator().manual_seed(seed)
    spread = {"q_proj.b": 2.5, "k_proj.b": 2.5, "v_proj.b": 0.5, "embed": 0.75, "norm": 0.1}
    gain = {"q_proj.w": 0.6, "k_proj.w": 0.6, "o_proj.w": 3.0, "lm_head": 12.0}
    tensors = hf_tensors(dict(model.named_parameters()), model.config)
    with torch.no_grad():
        # Sorted by module, so that a bias is drawn right after its weight.
        stems = list(dict.fromkeys(name.rpartition(".")[0] for name in tensors))
        for name in sorted(tensors, key=lambda name: stems.index(name.rpartition(".")[0])):
            parameter = tensors[name]
            scale = next((value for part, value in spread.items() if part in name), None)
            if scale is None:
                scale = next((value for part, value in gain.items() if part in name), 1.0)
                scale /= parameter.shape[1] ** 0.5
            parameter.normal_(generator=generator).mul_(scale).add_("norm" in name)
    save_model(model, folder, torch.float32)
    return folder


def harness(*arguments: object, stdin: str | bytes = "") -> Result:
    """`python -m harness` with these arguments."""
    return CliRunner().invoke(app, [str(each) for each in arguments], input=stdin)


def refused(result: Result, *words: str) -> None:
    """The command ended in one line on stderr that says all of `words`, with exit code 2."""
    assert result.exit_code == 2, (result.exception, result.output)
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: "), line
    for word in words:
        assert word in line, (word, line)
    assert not result.stdout


def records(folder: Path) -> dict[SampleKey, SampleRecord]:
    return {record.key: record for record in read_run(folder).records}


def outcomes(folder: Path) -> dict[SampleKey, dict[str, Any]]:
    """Everything in a run's records but what a clock or another sensor said."""
    return {
        key: {
            name: value
            for name, value in record.to_json().items()
            if name[-2:] != "_s" and name != "machine"
        }
        for key, record in records(folder).items()
    }


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def summary(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "summary.json").read_text())["rows"]


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
