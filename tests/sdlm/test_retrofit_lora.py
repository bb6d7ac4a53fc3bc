"""LoRA: what is trained, and that adapter and merged folder are the same model to transformers."""

import json
from dataclasses import replace
from pathlib import Path

import peft
import pytest
import torch
import transformers
from safetensors import safe_open

from sdlm.attention import Impl
from sdlm.checkpoint import own_tensors, save_model, save_weights
from sdlm.hf_config import read_config
from sdlm.layout import causal_layout
from sdlm.merging import merge_adapter
from sdlm.model import SDLM
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.adapter import save_adapter
from sdlm.retrofit.base_model import load_base
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.lora import add_lora, merge_lora
from sdlm.tokenizer import load_tokenizer, save_tokenizer
from tests.sdlm.training_fakes import CONFIG, run, tiny_trainable

RANK, ALPHA = 3, 12.0
QWEN3 = {"family": "qwen3", "qkv_bias": False, "qk_norm": True, "tie_embeddings": False}
LORA = replace(CONFIG, lora_rank=RANK, lora_alpha=ALPHA, bf16=False)


def autoregressive(**changes: object) -> SDLM:
    return tiny_trainable(block_size=None, mask_token_id=None, **changes)


def disturbed(model: SDLM) -> SDLM:
    """Adapters begin at nothing; give them something, as training does."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                noise = torch.randn(parameter.shape, generator=generator)
                parameter.add_(0.05 * noise)
    return model


def logits(model: SDLM, ids_BT: torch.Tensor) -> torch.Tensor:
    positions_BT = torch.arange(ids_BT.shape[1]).expand_as(ids_BT)
    with torch.no_grad():
        return model(ids_BT, positions_BT, causal_layout(*ids_BT.shape))


IDS = torch.tensor([[5, 7, 47, 9, 11], [1, 47, 47, 3, 2]])


@pytest.mark.parametrize("tied", [True, False])
def test_new_adapters_change_nothing(tied: bool):
    plain = tiny_trainable(tie_embeddings=tied)
    adapted = add_lora(
        tiny_trainable(tie_embeddings=tied), rank=RANK, alpha=ALPHA, new_token=47, seed=0
    )
    torch.testing.assert_close(logits(adapted, IDS), logits(plain, IDS), rtol=0, atol=1e-6)


@pytest.mark.parametrize("tied", [True, False])
def test_merged_weights_are_the_adapted_model(tied: bool):
    model = tiny_trainable(tie_embeddings=tied)
    disturbed(add_lora(model, rank=RANK, alpha=ALPHA, new_token=47, seed=0))
    merged = tiny_trainable(tie_embeddings=tied)
    tensors = merge_lora(own_tensors(model), model.config, ALPHA / RANK, 47)
    assert tensors.keys() == own_tensors(merged).keys()
    before = logits(merged, IDS)
    with torch.no_grad():
        for name, tensor in own_tensors(merged).items():
            tensor.copy_(tensors[name])
    assert (logits(merged, IDS) - before).abs().max() > 0.01
    torch.testing.assert_close(logits(model, IDS), logits(merged, IDS), rtol=0, atol=1e-5)


def test_only_adapters_and_the_new_row_are_trained_and_kept(tmp_path: Path):
    model = tiny_trainable()
    frozen = {name: tensor.clone() for name, tensor in own_tensors(model).items()}
    _, trained = run(tmp_path / "run", LORA, model=model)
    for name, tensor in frozen.items():
        assert torch.equal(trained[name], tensor), name
    fresh = add_lora(tiny_trainable(), rank=RANK, alpha=ALPHA, new_token=47, seed=0)
    names = {name for name, p in fresh.named_parameters() if p.requires_grad}
    assert {name.rpartition(".")[2] for name in names} == {"lora_a", "lora_b", "row"}
    for name, parameter in fresh.named_parameters():
        assert (name not in names) or not torch.equal(trained[name], parameter), name
    with safe_open(tmp_path / "run" / "checkpoint.safetensors", framework="pt") as file:
        kept = {key for key in file.keys() if key.startswith("model.")}  # noqa: SIM118
    assert kept == {f"model.{name}" for name in names}


@pytest.mark.parametrize(
    ("changes", "mask"),
    [
        ({"tie_embeddings": True}, "<|new|>"),
        ({"tie_embeddings": False}, "<|new|>"),
        ({"tie_embeddings": True}, "<|mask|>"),
        (QWEN3, "<|mask|>"),
    ],
)
def test_peft_loads_the_adapter_on_the_transformers_model(
    home: Path, tmp_path: Path, changes: dict, mask: str
):
    """The mask token is new to the vocabulary, or was in it and never trained."""
    base = tmp_path / "base"
    save_model(autoregressive(vocab_size=264, eos_token_ids=(2,), **changes), base, torch.float32)
    words = load_tokenizer(home / "tokenizer")
    model, new_token = load_base(
        base,
        words,
        mask_token=mask,
        block_size=4,
        causal_attn=False,
        shift=True,
        end_id=2,
        impl=Impl.DENSE,
    )
    assert new_token == (264 if mask == "<|new|>" else 3)
    disturbed(add_lora(model, rank=RANK, alpha=ALPHA, new_token=new_token, seed=0))
    tensors, config = own_tensors(model), model.config
    save_adapter(
        tensors,
        config,
        tmp_path / "adapter",
        rank=RANK,
        alpha=ALPHA,
        new_token=new_token,
        mask_token=mask,
        base="base",
        dtype=torch.float32,
    )
    merged_tensors = merge_lora(tensors, config, ALPHA / RANK, new_token)
    save_weights(merged_tensors, config, tmp_path / "merged", torch.float32)

    ids = torch.tensor([[5, 7, new_token, 9, 11]])
    theirs = transformers.AutoModelForCausalLM.from_pretrained(base).eval()
    theirs.resize_token_embeddings(config.vocab_size, mean_resizing=False)
    adapted = peft.PeftModel.from_pretrained(theirs, str(tmp_path / "adapter")).eval()
    merged = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "merged").eval()
    with torch.no_grad():
        expected = merged(ids).logits
        torch.testing.assert_close(adapted(ids).logits, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(logits(model, ids), expected, rtol=0, atol=1e-5)


def test_a_mask_past_the_tokenizer_is_no_added_token(home: Path, tmp_path: Path):
    """As in a released SDLM whose vocabulary is wider than its tokenizer."""
    base, out = tmp_path / "base", tmp_path / "out"
    config = {"vocab_size": 272, "mask_token_id": 270, "eos_token_ids": (2,)}
    save_model(tiny_trainable(**config), base, torch.float32)
    save_tokenizer(load_tokenizer(home / "tokenizer"), base)
    train = TrainConfig(max_steps=1, batch_tokens=600, lora_rank=2)
    retrofit(train, str(base), home / "data.jsonl", out)
    assert json.loads((out / "adapter" / "added_tokens.json").read_text()) == {}
    merge_adapter(base, out / "adapter", tmp_path / "merged")
    assert read_config(tmp_path / "merged") == read_config(out) == read_config(base)


def test_the_command_saves_both(home: Path, tmp_path: Path):
    base = tmp_path / "base"
    save_model(autoregressive(vocab_size=264, eos_token_ids=(2,)), base, torch.float32)
    save_tokenizer(load_tokenizer(home / "tokenizer"), base)
    out = tmp_path / "out"
    config = TrainConfig(max_steps=3, batch_tokens=600, lr=1e-2, lora_rank=2, lora_alpha=8.0)
    retrofit(config, str(base), home / "data.jsonl", out)
    settings = json.loads((out / "adapter" / "adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "base"
    assert (settings["r"], settings["lora_alpha"]) == (2, 8.0)
    assert settings["trainable_token_indices"] == {"embed_tokens": [3]}
    projections = ["down", "gate", "k", "o", "q", "up", "v"]
    assert settings["target_modules"] == [f"{name}_proj" for name in projections]
    theirs = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    adapted = peft.PeftModel.from_pretrained(theirs, str(out / "adapter")).merge_and_unload()
    merged = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.bfloat16)
    for name, tensor in merged.state_dict().items():
        expected = adapted.state_dict()[name]
        torch.testing.assert_close(tensor.float(), expected, rtol=2**-8, atol=1e-6)
    with pytest.raises(ValueError, match="lora_rank was 2 and is now 4"):
        retrofit(replace(config, lora_rank=4), str(base), home / "data.jsonl", out, resume=True)
