"""Adapters merged into their base are what peft makes of them, and faults are told in one line."""

import json
from pathlib import Path

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from sdlm.attention import Impl
from sdlm.checkpoint import load_model, own_tensors, save_model
from sdlm.hf_config import read_config
from sdlm.merging import merge_adapter, merged_folder
from sdlm.model_names import adapter_folder
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.config import TrainConfig
from sdlm.tokenizer import load_tokenizer, save_tokenizer
from tests.sdlm.training_fakes import tiny_trainable

QWEN3 = {"family": "qwen3", "qkv_bias": False, "qk_norm": True, "tie_embeddings": False}
TRAIN = TrainConfig(max_steps=3, batch_tokens=600, lr=1e-2, lora_rank=2, lora_alpha=8.0)


def make_base(home: Path, folder: Path, dtype: torch.dtype = torch.float32, **changes) -> Path:
    shape = {"vocab_size": 264, "eos_token_ids": (2,), **changes}
    save_model(tiny_trainable(block_size=None, mask_token_id=None, **shape), folder, dtype)
    save_tokenizer(load_tokenizer(home / "tokenizer"), folder)
    return folder


def make_adapter(base: Path, out: Path, **settings) -> Path:
    """An adapter of peft's own making, with something in it."""
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    torch.manual_seed(0)
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=3, lora_alpha=5, **settings)
    adapted = peft.get_peft_model(model, config)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name or "trainable_tokens" in name:
                parameter.add_(0.1 * torch.randn_like(parameter))
    adapted.save_pretrained(out)
    return out


def merged_by_peft(base: Path, adapter: Path, vocab_size: int) -> dict[str, torch.Tensor]:
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    model.resize_token_embeddings(vocab_size, mean_resizing=False)
    return peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload().state_dict()


def assert_same(folder: Path, expected: dict[str, torch.Tensor], changed: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    found = model.state_dict()
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        torch.testing.assert_close(tensor, expected[name], rtol=0, atol=1e-6, msg=name)
    before = own_tensors(load_model(changed))
    after = own_tensors(load_model(folder))
    assert any(not torch.equal(after[name][: len(t)], t) for name, t in before.items())


@pytest.mark.parametrize("changes", [{"tie_embeddings": True}, {"tie_embeddings": False}, QWEN3])
@pytest.mark.parametrize("mask", ["<|new|>", "<|mask|>"])
def test_what_retrofit_wrote_makes_what_retrofit_made(
    home: Path, tmp_path: Path, changes: dict, mask: str
):
    """The mask token is new to the vocabulary, which grows, or was in it and never trained."""
    base, out = make_base(home, tmp_path / "base", **changes), tmp_path / "out"
    retrofit(TRAIN, str(base), home / "data.jsonl", out, mask_token=mask)
    merge_adapter(base, out / "adapter", tmp_path / "merged")
    assert read_config(tmp_path / "merged") == read_config(out)
    assert read_config(out).vocab_size == (265 if mask == "<|new|>" else 264)
    assert_same(
        tmp_path / "merged",
        merged_by_peft(base, out / "adapter", read_config(out).vocab_size),
        base,
    )
    # The base is fp32 here, what training saves is bf16.
    ours, theirs = own_tensors(load_model(tmp_path / "merged")), own_tensors(load_model(out))
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor.bfloat16(), theirs[name], rtol=2**-7, atol=1e-6)
    words = load_tokenizer(tmp_path / "merged")
    assert words.get_vocab() == load_tokenizer(out).get_vocab()
    block = load_model(tmp_path / "merged", impl=Impl.DENSE).config
    assert (block.block_size, words.convert_ids_to_tokens(block.mask_token_id)) == (4, mask)


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": ["q_proj", "v_proj"]},
        {"target_modules": "all-linear", "use_rslora": True},
        {"target_modules": ["down_proj"], "trainable_token_indices": {"embed_tokens": [5, 9]}},
    ],
)
def test_any_plain_lora_of_pefts_own(home: Path, tmp_path: Path, settings: dict):
    base = make_base(home, tmp_path / "base", tie_embeddings=False)
    adapter = make_adapter(base, tmp_path / "adapter", **settings)
    merge_adapter(base, adapter, tmp_path / "merged")
    assert read_config(tmp_path / "merged") == read_config(base)
    assert_same(tmp_path / "merged", merged_by_peft(base, adapter, 264), base)


def test_the_bases_dtype_is_kept(home: Path, tmp_path: Path):
    base = make_base(home, tmp_path / "base", torch.bfloat16)
    adapter = make_adapter(base, tmp_path / "adapter", target_modules=["o_proj"])
    merge_adapter(base, adapter, tmp_path / "merged")
    assert load_model(tmp_path / "merged").dtype == torch.bfloat16
    expected = merged_by_peft(base, adapter, 264)
    for name, tensor in load_file(tmp_path / "merged" / "model.safetensors").items():
        torch.testing.assert_close(tensor, expected[name].bfloat16(), rtol=2**-8, atol=0)


def test_a_merged_folder_is_made_once(home: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = make_base(home, tmp_path / "base")
    adapter = make_adapter(base, tmp_path / "adapter", target_modules=["o_proj"])
    folder = merged_folder(base, adapter)
    (folder / "made.once").touch()
    assert merged_folder(base, adapter) == folder
    assert (folder / "made.once").exists()
    tensors = load_file(adapter / "adapter_model.safetensors")
    save_file(
        {name: 2 * tensor for name, tensor in tensors.items()},
        adapter / "adapter_model.safetensors",
    )
    other = merged_folder(base, adapter)
    assert other != folder
    assert {path.name for path in other.parent.iterdir()} == {folder.name, other.name}


def rewrite(adapter: Path, **settings) -> None:
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"use_dora": True}, "use_dora True; only plain LoRA"),
        ({"peft_type": "IA3"}, "peft_type 'IA3'; only plain LoRA"),
        ({"modules_to_save": ["lm_head"]}, "only plain LoRA"),
        ({"rank_pattern": {"q_proj": 1}}, "only plain LoRA"),
        ({"peft_type": None}, "peft_type None; only plain LoRA"),
        ({"init_lora_weights": "pissa"}, "'pissa'; only plain LoRA"),
        ({"r": 2}, "of rank 2, which is"),
        ({"r": 0}, "r 0, no positive number"),
        ({"lora_alpha": "x"}, "lora_alpha 'x', no positive number"),
    ],
)
def test_other_adapters_are_refused(home: Path, tmp_path: Path, settings: dict, message: str):
    base = make_base(home, tmp_path / "base")
    adapter = make_adapter(base, tmp_path / "adapter", target_modules=["o_proj"])
    rewrite(adapter, **settings)
    with pytest.raises(ValueError, match=message):
        merge_adapter(base, adapter, tmp_path / "merged")


def test_rows_are_of_tokens_that_there_are(home: Path, tmp_path: Path):
    """A negative number would be counted from the end."""
    base = make_base(home, tmp_path / "base")
    adapter = make_adapter(
        base,
        tmp_path / "adapter",
        target_modules=["o_proj"],
        trainable_token_indices={"embed_tokens": [3]},
    )
    merge_adapter(base, adapter, tmp_path / "merged")
    for token in (-1, 264):
        rewrite(adapter, trainable_token_indices={"embed_tokens": [token]})
        with pytest.raises(ValueError, match=rf"rows of \S+ for tokens \[{token}\]"):
            merge_adapter(base, adapter, tmp_path / f"merged{token}")


def test_an_adapter_of_another_base_is_refused(home: Path, tmp_path: Path):
    base = make_base(home, tmp_path / "base", tie_embeddings=False)
    wide = make_base(home, tmp_path / "wide", tie_embeddings=False, intermediate_size=48)
    adapter = make_adapter(wide, tmp_path / "adapter", target_modules=["down_proj"])
    with pytest.raises(ValueError, match=r"down_proj.* belongs to another base"):
        merge_adapter(base, adapter, tmp_path / "merged")
    deep = make_base(home, tmp_path / "deep", tie_embeddings=False, num_layers=3)
    adapter = make_adapter(deep, tmp_path / "more", target_modules=["o_proj"])
    with pytest.raises(ValueError, match=r"o_proj\S+, which has no place in the base, and 1 more"):
        merge_adapter(base, adapter, tmp_path / "merged")
    out = tmp_path / "out"
    retrofit(TRAIN, str(base), home / "data.jsonl", out, mask_token="<|new|>")
    with pytest.raises(ValueError, match="a model of another shape than"):
        merge_adapter(wide, out / "adapter", tmp_path / "merged")
    (out / "adapter" / "added_tokens.json").write_text('{"<|new|>": 17}')
    with pytest.raises(ValueError, match=r"token 17 .* which is 264 .* another base"):
        merge_adapter(base, out / "adapter", tmp_path / "merged")


def test_folders_without_an_adapter(home: Path, tmp_path: Path):
    base = make_base(home, tmp_path / "base")
    with pytest.raises(ValueError, match="holds no adapter: it has no adapter_config"):
        merge_adapter(base, base, tmp_path / "merged")
    adapter = make_adapter(base, tmp_path / "adapter", target_modules=["o_proj"])
    (adapter / "adapter_model.safetensors").write_bytes(b"x")
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        merge_adapter(base, adapter, tmp_path / "merged")
    (adapter / "adapter_model.safetensors").unlink()
    with pytest.raises(ValueError, match="adapters are read from safetensors"):
        merge_adapter(base, adapter, tmp_path / "merged")
    with pytest.raises(ValueError, match="adapter 'nowhere' is not a folder; give a folder with"):
        adapter_folder("nowhere")
