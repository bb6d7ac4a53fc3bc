"""Checkpoints: what transformers writes is read alike, and what is saved here it reads alike."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import PreTrainedModel
from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm

from decoders.ar import Autoregressive
from decoders.generate import Request, generate
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.checkpoint import hf_names, hf_tensors, load_model, save_model
from sdlm.hf_config import checkpoint_dtype, read_config
from sdlm.layout import causal_layout
from sdlm.model import SDLM, RMSNorm
from tests.fakes import edit_json, tiny_config, tiny_model
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

    edit_json(tmp_path / "config.json", as_transformers_4_writes_it)
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
    edit_json(tmp_path / "config.json", lambda raw: raw.update({key: raw.pop("dtype")}))
    assert checkpoint_dtype(tmp_path) == dtype
    ours = load_model(tmp_path)
    assert {tensor.dtype for tensor in ours.parameters()} == {dtype}
    assert ours.rotary.inverse.dtype == torch.float32
    got, expected = logits(ours, PROMPT), hf_logits(theirs, PROMPT)
    assert got.dtype == dtype
    scale = float(expected.abs().max())
    # Both round at the same places; what they sum in between is ordered differently.
    atol = 8 * torch.finfo(dtype).eps * scale
    torch.testing.assert_close(got.float(), expected, rtol=0, atol=atol)
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
    edit_json(tmp_path / "config.json", lambda raw: raw.pop("torch_dtype"))
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


def test_every_row_of_every_tensor_has_one_hugging_face_name():
    model = SDLM(tiny_config(qk_norm=True, qkv_bias=True))
    ours = model.state_dict()
    parts = hf_tensors(ours, model.config)
    for name, tensor in ours.items():
        assert torch.equal(torch.cat([parts.pop(part) for part in hf_names(name)]), tensor)
    assert not parts
    with pytest.raises(KeyError):
        hf_names("blocks.0.attention.rotary.weight")


def test_what_is_saved_into_a_folder_of_shards_is_what_it_holds(tmp_path: Path):
    theirs = make(FAMILIES[0].values[0])
    theirs.save_pretrained(tmp_path, max_shard_size="20KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    model = load_model(tmp_path)
    for parameter in model.parameters():
        parameter.zero_()
    save_model(model, tmp_path, torch.float32)
    assert not any(parameter.any() for parameter in load_model(tmp_path).parameters())
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert not any(parameter.any() for parameter in again.parameters())
