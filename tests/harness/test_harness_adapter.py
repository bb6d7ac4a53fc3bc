"""`--adapter` is the merged checkpoint that `export` writes."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from harness.lm_eval_model import SdlmLM
from sdlm.checkpoint import load_model, own_tensors
from sdlm.retrofit.adapter import save_adapter
from sdlm.retrofit.lora import add_lora
from sdlm.tokenizer import load_tokenizer
from tests.harness.tiny import OUR_OWN_ITEMS, harness, make_model, manifest, records, refused

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]


@pytest.fixture(scope="module")
def base(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An autoregressive model with the tokenizer of the tests' SDLM."""
    folder = tmp_path_factory.mktemp("adapters") / "base"
    shutil.copytree(model, folder)
    return make_model(folder, block_size=None, mask_token_id=None)


@pytest.fixture(scope="module")
def adapter(model: Path, base: Path) -> Path:
    """What makes an SDLM of it, as a retrofit writes it, with something in it."""
    folder = base.parent / "adapter"
    sdlm = load_model(model)
    words = load_tokenizer(model)
    mask_id = sdlm.config.mask_token_id
    assert mask_id is not None
    adapted = add_lora(sdlm, rank=2, alpha=4.0, new_token=mask_id, seed=0)
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05)
    save_adapter(
        own_tensors(adapted),
        adapted.config,
        folder,
        rank=2,
        alpha=4.0,
        new_token=mask_id,
        mask_token=words.convert_ids_to_tokens(mask_id),
        base="base",
        dtype=torch.float32,
    )
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def decoded(tmp_path: Path, *arguments: object) -> list[dict]:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": 1, "ids": [5, 6, 7]}\n{"id": 2, "ids": [30, 8]}\n')
    options = ("--input", source, "--max-new-tokens", 20, "--out", out)
    result = harness("decode", *arguments, *options, "--decoder", "self-speculative")
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "wall_s"} for row in rows]


def test_decoding_with_it_is_decoding_what_is_exported(base: Path, adapter: Path, tmp_path: Path):
    out = tmp_path / "merged"
    result = harness("export", "--model", base, "--adapter", adapter, "--out", out)
    assert result.exit_code == 0, result.output
    assert str(out / "model.safetensors") in result.stdout
    merged = decoded(tmp_path, "--model", out)
    assert decoded(tmp_path, "--model", base, "--adapter", adapter) == merged
    lm = SdlmLM(str(base), "block-ar", adapter=str(adapter))
    assert lm.loaded.model.config == load_model(out).config


def test_a_run_names_it_and_its_weights(base: Path, adapter: Path, tmp_path: Path):
    out = tmp_path / "run"
    options = ("--decoders", "ar,block-ar", "--data", "embedded", "--limit", 2, "--traces", 0)
    result = harness(
        *("run", "--model", base, "--adapter", adapter, "--max-new-tokens", 8),
        *(*options, "--out", out),
    )
    assert result.exit_code == 0, result.output
    config = manifest(out)["config"]
    assert config["model"] == f"{base}+{adapter}"
    assert {record.model for record in records(out).values()} == {config["model"]}
    plain = tmp_path / "plain"
    options = ("--decoders", "ar", *options[2:], "--max-new-tokens", 8)
    harness("run", "--model", base, *options, "--out", plain)
    assert manifest(plain)["config"]["model_sha256"] != config["model_sha256"]


def test_what_can_not_be_merged_is_refused(base: Path, adapter: Path, tmp_path: Path):
    export = ("export", "--model", base, "--adapter")
    refused(harness(*export, adapter, "--out", adapter), "exists already; give a new folder")
    refused(harness(*export, "nowhere", "--out", tmp_path / "new"), "'nowhere' is not a folder")
    refused(harness(*export, base, "--out", tmp_path / "new"), "holds no adapter")
    assert not (tmp_path / "new").exists()
    result = harness("run", "--model", base, "--adapter", base, "--out", tmp_path / "run")
    refused(result, "holds no adapter")
    assert not (tmp_path / "run").exists()
