"""Checkpoint folders: what of them counts, and what is wrong with those that can't be read."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from sdlm.attention import Impl
from sdlm.checkpoint import load_model, save_model
from sdlm.hf_config import read_config
from tests.fakes import edit_json, tiny_model


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A small SDLM, saved."""
    save_model(tiny_model(), tmp_path / "model", torch.float32)
    return tmp_path / "model"


def rewrite(folder: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors")


def refused(folder: Path, *words: str) -> None:
    """load_model raises a ValueError that names the folder and all of `words`."""
    with pytest.raises(ValueError, match=r"\S") as caught:
        load_model(folder)
    message = str(caught.value)
    for word in (str(folder), *words):
        assert word in message, message


DOWN = "model.layers.1.mlp.down_proj.weight"


def test_buffers_of_old_checkpoints_are_skipped(saved: Path):
    rewrite(
        saved,
        lambda state: state.update(
            {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)}
        ),
    )
    load_model(saved)


def test_end_tokens_are_the_generation_configs_where_it_has_them(saved: Path):
    edit_json(saved / "config.json", lambda raw: raw.update(eos_token_id=3))
    assert read_config(saved).eos_token_ids == (3,)
    (saved / "generation_config.json").write_text('{"eos_token_id": [4, 5]}')
    assert read_config(saved).eos_token_ids == (4, 5)
    (saved / "generation_config.json").write_text("{}")
    assert read_config(saved).eos_token_ids == (3,)
    edit_json(saved / "config.json", lambda raw: raw.pop("eos_token_id"))
    assert read_config(saved).eos_token_ids == ()


@pytest.mark.parametrize(
    ("fields", "context"),
    [
        ({"sliding_window": 100}, 100),
        ({"sliding_window": 100, "use_sliding_window": True}, 100),
        ({"sliding_window": 100, "use_sliding_window": False}, 1024),
        ({"sliding_window": 4096}, 1024),
    ],
)
def test_the_context_ends_where_a_sliding_window_would_matter(
    saved: Path, fields: dict[str, Any], context: int
):
    edit_json(saved / "config.json", lambda raw: raw.update(fields))
    assert read_config(saved).max_context == context


def test_a_mistral_config_without_a_sliding_window_means_transformers_default(saved: Path):
    def change(raw: dict[str, Any]) -> None:
        del raw["sliding_window"]
        raw |= {"model_type": "mistral", "attention_bias": False}
        raw["max_position_embeddings"] = 32768

    edit_json(saved / "config.json", change)
    theirs = transformers.AutoConfig.from_pretrained(saved)
    assert read_config(saved).max_context == theirs.sliding_window == 4096


def test_a_missing_tensor_is_named(saved: Path):
    rewrite(saved, lambda state: state.pop(DOWN))
    refused(saved, "missing", DOWN)


def test_an_unknown_tensor_is_named(saved: Path):
    rewrite(saved, lambda state: state.update({"model.extra.weight": torch.ones(2)}))
    refused(saved, "unknown", "model.extra.weight")


def test_a_layer_too_many_is_named(saved: Path):
    name = DOWN.replace("layers.1", "layers.2")
    rewrite(saved, lambda state: state.update({name: state[DOWN].clone()}))
    refused(saved, "unknown", name)


def test_a_misshapen_tensor_is_named_once_with_both_shapes(saved: Path):
    rewrite(saved, lambda state: state.update({DOWN: state[DOWN].T.contiguous()}))
    refused(saved, DOWN, "[96, 64]", "[64, 96]")
    with pytest.raises(ValueError, match=DOWN) as caught:
        load_model(saved)
    assert str(caught.value).count(DOWN) == 1


def test_many_problems_are_counted(saved: Path):
    rewrite(saved, lambda state: [state.pop(name) for name in list(state)[:9]])
    refused(saved, "and 5 more")


def test_a_bias_that_the_family_has_not_is_refused(saved: Path):
    name = "model.layers.0.self_attn.o_proj.bias"
    rewrite(saved, lambda state: state.update({name: torch.zeros(64)}))
    refused(saved, "unknown", name)


def test_no_folder(tmp_path: Path):
    refused(tmp_path / "nowhere", "config.json", "does not exist")


def test_no_weights(saved: Path):
    (saved / "model.safetensors").unlink()
    refused(saved, "model.safetensors", "does not exist")


def test_pickled_weights_are_not_read(saved: Path):
    (saved / "model.safetensors").rename(saved / "pytorch_model.bin")
    refused(saved, "safetensors")


def test_a_config_that_is_not_json(saved: Path):
    (saved / "config.json").write_text("{")
    refused(saved, "config.json", "not JSON")
    (saved / "config.json").write_text("[1]")
    refused(saved, "config.json", "list")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model_type": "gpt2"}, ["model_type", "gpt2", "qwen2, qwen3, llama, mistral"]),
        ({"model_type": None}, ["model_type", "None"]),
        ({"hidden_act": "gelu"}, ["hidden_act", "gelu"]),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, ["yarn", "llama3"]),
        ({"rope_scaling": {"type": "linear", "factor": 4.0}}, ["linear"]),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 4.0}}, ["low_freq_factor"]),
        ({"torch_dtype": "int8"}, ["dtype", "int8", "bfloat16"]),
        ({"vocab_size": None}, ["vocab_size"]),
        ({"num_hidden_layers": None}, ["num_hidden_layers"]),
        ({"text_mask_token_id": None}, ["text_mask_token_id"]),
        ({"block_size": None}, ["block_size"]),
        ({"block_size": None, "text_mask_token_id": None, "model_type": "sdlm"}, ["block_size"]),
        ({"block_size": 1}, ["block_size", "1", "at least 2"]),
        ({"text_mask_token_id": 48}, ["text_mask_token_id", "48", "vocabulary"]),
        ({"text_mask_token_id": -1}, ["text_mask_token_id", "-1", "vocabulary"]),
        ({"eos_token_id": [1, 47]}, ["text_mask_token_id", "47", "end token"]),
        ({"num_key_value_heads": 3}, ["4", "3", "heads"]),
        ({"num_key_value_heads": -2}, ["num_kv_heads", "-2", "at least 1"]),
        ({"hidden_size": "48"}, ["hidden_size", "'48'", "integer"]),
        ({"num_attention_heads": 4.0}, ["num_heads", "4.0", "integer"]),
        ({"vocab_size": -1}, ["vocab_size", "-1", "at least 1"]),
        ({"head_dim": 7}, ["head_dim", "7", "even"]),
        ({"rope_theta": "x"}, ["rope_theta", "'x'", "positive"]),
        ({"rms_norm_eps": 0}, ["rms_norm_eps", "0", "positive"]),
        ({"rms_norm_eps": [1]}, ["rms_norm_eps", "[1]", "positive"]),
        ({"rope_theta": 10**400}, ["rope_theta", "positive"]),
        ({"vocab_size": 2**62}, ["vocab_size"]),
        ({"model_type": []}, ["model_type", "[]"]),
        ({"block_size": 4.0}, ["block_size", "4.0"]),
        ({"text_mask_token_id": 3.0}, ["text_mask_token_id", "3.0"]),
        ({"eos_token_id": "2"}, ["eos_token_id", "'2'", "integers"]),
        ({"eos_token_id": [[1]]}, ["eos_token_id", "[1]", "integers"]),
        ({"causal_attn": "false"}, ["causal_attn", "'false'"]),
        ({"tie_word_embeddings": "no"}, ["tie_word_embeddings", "'no'"]),
        ({"model_type": "llama", "attention_bias": True}, ["attention_bias", "llama"]),
    ],
)
def test_a_config_that_the_model_can_not_follow(
    saved: Path, fields: dict[str, Any], words: list[str]
):
    def change(raw: dict[str, Any]) -> None:
        for key, value in fields.items():
            raw.pop(key, None) if value is None else raw.update({key: value})

    edit_json(saved / "config.json", change)
    refused(saved, *words)


def test_a_mask_token_that_the_generation_config_ends_with(saved: Path):
    (saved / "generation_config.json").write_text('{"eos_token_id": 47}')
    refused(saved, "text_mask_token_id", "47", "end token")


def test_weights_cut_short(saved: Path):
    whole = (saved / "model.safetensors").read_bytes()
    for length in (0, 4, 100, len(whole) - 1):
        (saved / "model.safetensors").write_bytes(whole[:length])
        refused(saved, "model.safetensors")


@pytest.fixture
def sharded(saved: Path) -> Path:
    """The same in two shards."""
    state = load_file(saved / "model.safetensors")
    names = sorted(state)
    index = {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        shard = f"model-0000{number}-of-00002.safetensors"
        save_file({name: state[name] for name in part}, saved / shard)
        index |= dict.fromkeys(part, shard)
    (saved / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (saved / "model.safetensors").unlink()
    return saved


def test_a_shard_that_is_missing_is_named(sharded: Path):
    load_model(sharded)
    (sharded / "model-00002-of-00002.safetensors").unlink()
    refused(sharded, "model-00002-of-00002.safetensors", "does not exist")


def test_an_index_without_a_weight_map(sharded: Path):
    (sharded / "model.safetensors.index.json").write_text('{"metadata": {}}')
    refused(sharded, "model.safetensors.index.json", "weight_map")


def test_a_shard_cut_short_is_named(sharded: Path):
    shard = sharded / "model-00001-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:-8])
    refused(sharded, shard.name, "not a whole safetensors file")


def test_flex_without_a_compiler_is_refused_first(saved: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ValueError, match="compiler"):
        load_model(saved, impl=Impl.FLEX)


def test_saving_leaves_the_old_folder_whole_until_the_end(
    saved: Path, monkeypatch: pytest.MonkeyPatch
):
    """A save that is interrupted while it writes leaves what was there."""

    def broken(state: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    before = (saved / "model.safetensors").read_bytes()
    monkeypatch.setattr("sdlm.checkpoint.save_file", broken)
    with pytest.raises(OSError, match="disk full"):
        save_model(tiny_model(1), saved, torch.float32)
    assert (saved / "model.safetensors").read_bytes() == before
    load_model(saved)
