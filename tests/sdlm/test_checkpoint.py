"""Checkpoint folders: what transformers writes is read, what is written transformers reads."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel
from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm

from decoders.ar import Autoregressive
from decoders.generate import Request, generate
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.checkpoint import (
    checkpoint_dtype,
    hf_name,
    load_model,
    our_name,
    read_config,
    save_model,
)
from sdlm.layout import causal_layout
from sdlm.model import SDLM, RMSNorm
from tests.fakes import tiny_config, tiny_model
from tests.oracles.agreement import assert_same_ids

# Both sides compute the same sums in fp32, in another order.
TOLERANCE = 2e-5
END = 5
PROMPT = [3, 17, 40, 2, 2, 61, 9]
SHAPE = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,
    "eos_token_id": END,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


class Family(NamedTuple):
    name: str
    extra: dict[str, Any]


FAMILIES = [
    pytest.param(Family("Qwen2", {}), id="qwen2"),
    pytest.param(Family("Qwen2", {"tie_word_embeddings": True}), id="qwen2-tied"),
    pytest.param(Family("Qwen3", {"head_dim": 24}), id="qwen3"),
    pytest.param(Family("Qwen3", {"head_dim": 8, "tie_word_embeddings": True}), id="qwen3-tied"),
    pytest.param(Family("Llama", {}), id="llama"),
    pytest.param(Family("Llama", {"rope_parameters": LLAMA3}), id="llama3"),
    pytest.param(Family("Mistral", {"sliding_window": None, "head_dim": 12}), id="mistral"),
]


def make(family: Family) -> PreTrainedModel:
    """A random model of a family, biases and norms included."""
    config = getattr(transformers, f"{family.name}Config")(**SHAPE, **family.extra)
    torch.manual_seed(0)
    model = getattr(transformers, f"{family.name}ForCausalLM")(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                centre = 0.0 if name.endswith("bias") else 1.0
                parameter.normal_(centre, 0.2)
    return model


def logits(model: SDLM, ids: list[int]) -> torch.Tensor:
    positions = torch.arange(len(ids))[None]
    with torch.inference_mode():
        return model(torch.tensor([ids]), positions, causal_layout(1, len(ids)))[0]


def hf_logits(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].float()


def edit(
    folder: Path, change: Callable[[dict[str, Any]], None], name: str = "config.json"
) -> None:
    raw = json.loads((folder / name).read_text())
    change(raw)
    (folder / name).write_text(json.dumps(raw))


def as_transformers_4_writes_it(raw: dict[str, Any]) -> None:
    rope = raw.pop("rope_parameters")
    raw["rope_theta"] = rope.pop("rope_theta")
    raw["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    raw["torch_dtype"] = raw.pop("dtype")


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_greedy_ids_are_those_of_transformers(family: Family, tmp_path: Path):
    theirs = make(family)
    theirs.save_pretrained(tmp_path)
    raw = json.loads((tmp_path / "config.json").read_text())
    assert {"rope_parameters", "dtype"} <= raw.keys()
    ours = load_model(tmp_path)
    assert ours.config.eos_token_ids == (END,)
    # Past the 64 positions that llama3 scaling starts from.
    long = [(7 * i) % 96 for i in range(100)]
    expected = hf_logits(theirs, long)
    assert expected.std() > 0.5
    torch.testing.assert_close(logits(ours, long), expected, rtol=0, atol=TOLERANCE)

    edit(tmp_path, as_transformers_4_writes_it)
    assert read_config(tmp_path) == ours.config

    wanted = theirs.generate(torch.tensor([PROMPT]), do_sample=False, max_new_tokens=24)
    wanted = [token for token in wanted[0, len(PROMPT) :].tolist() if token != END]
    ending = Ending(budget=24, eos_token_ids=frozenset(ours.config.eos_token_ids))
    request = Request(key="", ids=tuple(PROMPT))
    (got,) = generate(ours, Autoregressive(), [request], ending)
    tops = hf_logits(theirs, PROMPT + wanted)[len(PROMPT) - 1 :].topk(2).values
    assert_same_ids(got.ids, wanted, lambda i: float(tops[i, 0] - tops[i, 1]))


def test_sharded_weights(tmp_path: Path):
    theirs = make(Family("Qwen2", {}))
    theirs.save_pretrained(tmp_path, max_shard_size="60KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 3
    torch.testing.assert_close(
        logits(load_model(tmp_path), PROMPT), hf_logits(theirs, PROMPT), rtol=0, atol=TOLERANCE
    )


@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_checkpoints_dtype_is_honoured(dtype: torch.dtype, key: str, tmp_path: Path):
    theirs = make(Family("Qwen2", {})).to(dtype)
    theirs.save_pretrained(tmp_path)
    edit(tmp_path, lambda raw: raw.update({key: raw.pop("dtype")}))
    assert checkpoint_dtype(tmp_path) == dtype
    ours = load_model(tmp_path)
    assert {tensor.dtype for tensor in ours.parameters()} == {dtype}
    assert ours.rotary.inverse.dtype == torch.float32
    got, expected = logits(ours, PROMPT), hf_logits(theirs, PROMPT)
    assert got.dtype == torch.float32
    scale = float(expected.abs().max())
    # Both round at the same places; what they sum in between is ordered differently.
    torch.testing.assert_close(got, expected, rtol=0, atol=8 * torch.finfo(dtype).eps * scale)
    assert load_model(tmp_path, dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_norms_round_where_transformers_does(dtype: torch.dtype):
    """Bit for bit: statistics in fp32, the result rounded before the weight is applied."""
    theirs = Qwen2RMSNorm(64, eps=1e-6).to(dtype)
    ours = RMSNorm(64, 1e-6).to(dtype)
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(64, generator=generator).to(dtype)
    x = torch.randn(200, 64, generator=generator).to(dtype) * 30
    with torch.inference_mode():
        for norm in (theirs, ours):
            norm.weight.copy_(weight)
        assert torch.equal(ours(x), theirs(x))


def test_without_a_dtype_it_is_fp32(tmp_path: Path):
    save_model(tiny_model(), tmp_path, torch.float32)
    edit(tmp_path, lambda raw: raw.pop("torch_dtype"))
    assert checkpoint_dtype(tmp_path) == torch.float32


@pytest.mark.parametrize("impl", Impl)
@pytest.mark.parametrize("tied", [False, True])
def test_a_saved_model_is_read_back_the_same(tied: bool, impl: Impl, tmp_path: Path):
    config = tiny_config(tie_embeddings=tied, causal_attn=tied, eos_token_ids=(1, 2))
    torch.manual_seed(0)
    model = SDLM(config)
    save_model(model, tmp_path, torch.float32)
    again = load_model(tmp_path, impl=impl)
    assert again.config == config
    assert again.impl is impl
    assert not again.training
    assert not any(parameter.requires_grad for parameter in again.parameters())
    assert (again.head.weight is again.embedding.weight) == tied
    assert again.state_dict().keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    stored = load_file(tmp_path / "model.safetensors")
    assert ("lm_head.weight" in stored) == (not tied)
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        assert file.metadata() == {"format": "pt"}


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_opens_what_is_saved(family: Family, tmp_path: Path):
    make(family).save_pretrained(tmp_path / "theirs")
    ours = load_model(tmp_path / "theirs")
    save_model(ours, tmp_path / "ours", torch.float32)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "ours").eval()
    assert type(again).__name__ == f"{family.name}ForCausalLM"
    assert getattr(again.config, "sliding_window", None) is None
    long = [(7 * i) % 96 for i in range(100)]
    torch.testing.assert_close(hf_logits(again, long), logits(ours, long), rtol=0, atol=TOLERANCE)
    assert load_model(tmp_path / "ours").config == ours.config


def test_an_sdlm_keeps_its_fields_for_others_to_read(tmp_path: Path):
    save_model(tiny_model(causal_attn=True), tmp_path, torch.bfloat16)
    raw = json.loads((tmp_path / "config.json").read_text())
    assert raw["model_type"] == "qwen2"
    assert (raw["block_size"], raw["causal_attn"], raw["text_mask_token_id"]) == (4, True, 47)
    assert raw["torch_dtype"] == "bfloat16"
    assert transformers.AutoConfig.from_pretrained(tmp_path).block_size == 4


def test_tensor_names_map_both_ways():
    model = SDLM(tiny_config(qk_norm=True))
    ours = list(model.state_dict())
    assert [our_name(hf_name(name)) for name in ours] == ours
    assert len({hf_name(name) for name in ours}) == len(ours)
    with pytest.raises(KeyError):
        our_name("model.layers.0.self_attn.rotary.weight")


def test_buffers_of_old_checkpoints_are_skipped(saved: Path):
    rewrite(
        saved,
        lambda state: state.update(
            {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)}
        ),
    )
    load_model(saved)


def test_end_tokens_are_the_generation_configs_where_it_has_them(saved: Path):
    edit(saved, lambda raw: raw.update(eos_token_id=3))
    assert read_config(saved).eos_token_ids == (3,)
    (saved / "generation_config.json").write_text('{"eos_token_id": [4, 5]}')
    assert read_config(saved).eos_token_ids == (4, 5)
    (saved / "generation_config.json").write_text("{}")
    assert read_config(saved).eos_token_ids == (3,)
    edit(saved, lambda raw: raw.pop("eos_token_id"))
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
    edit(saved, lambda raw: raw.update(fields))
    assert read_config(saved).max_context == context


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
        ({"block_size": 1}, ["block_size", "1", "at least 2"]),
        ({"text_mask_token_id": 48}, ["text_mask_token_id", "48", "vocabulary"]),
        ({"text_mask_token_id": -1}, ["text_mask_token_id", "-1", "vocabulary"]),
        ({"eos_token_id": [1, 47]}, ["text_mask_token_id", "47", "end token"]),
        ({"num_key_value_heads": 3}, ["4", "3", "heads"]),
    ],
)
def test_a_config_that_the_model_can_not_follow(
    saved: Path, fields: dict[str, Any], words: list[str]
):
    def change(raw: dict[str, Any]) -> None:
        for key, value in fields.items():
            raw.pop(key, None) if value is None else raw.update({key: value})

    edit(saved, change)
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
