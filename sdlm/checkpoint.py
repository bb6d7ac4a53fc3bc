"""Hugging Face checkpoint folders, read and written through one table of names.

Reads `config.json` (see `sdlm.hf_config`) and `model.safetensors`, or the shards of
`model.safetensors.index.json`. Strict both ways: a tensor that is missing, left over or of another
shape is an error. Never executes code from a checkpoint and never unpickles.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sdlm.attention import Impl, check_impl
from sdlm.hf_config import checkpoint_dtype, config_json, read_config, read_json
from sdlm.linear import Linear
from sdlm.model import SDLM, ModelConfig, Rotary
from sdlm.model_names import HUB_FILES
from sdlm.whole_file import whole_file

# Ours -> Hugging Face's, below `blocks.N` and `model.layers.N` or at the top.
TOP_NAMES = {
    "embedding": "model.embed_tokens",
    "norm": "model.norm",
    "head": "lm_head",
}
# Several names: these tensors, one above the other, are one of ours.
LAYER_NAMES = {
    "attention_norm": ("input_layernorm",),
    "attention.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention.o_proj": ("self_attn.o_proj",),
    "attention.q_norm": ("self_attn.q_norm",),
    "attention.k_norm": ("self_attn.k_norm",),
    "mlp_norm": ("post_attention_layernorm",),
    "mlp.gate_up_proj": ("mlp.gate_proj", "mlp.up_proj"),
    "mlp.down_proj": ("mlp.down_proj",),
}
# Buffers that old checkpoints carry and no model reads.
IGNORED = re.compile(r"\.rotary_emb\.inv_freq$")


def hf_names(our_name: str) -> tuple[str, ...]:
    """The Hugging Face tensors that, one above the other, are the tensor `our_name` of `SDLM`."""
    stem, _, kind = our_name.rpartition(".")
    layer = re.fullmatch(r"blocks\.(\d+)\.(.+)", stem)
    if layer:
        return tuple(f"model.layers.{layer[1]}.{part}.{kind}" for part in LAYER_NAMES[layer[2]])
    return (f"{TOP_NAMES[stem]}.{kind}",)


def hf_tensors(tensors: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Tensors of `SDLM` (weights, gradients) under Hugging Face names, as views."""
    kv_width = config.num_kv_heads * config.head_dim
    split: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        names = hf_names(name)
        heights = [len(tensor) // len(names)] * len(names)
        if "qkv_proj" in name:
            heights = [len(tensor) - 2 * kv_width, kv_width, kv_width]
        split.update(zip(names, tensor.split(heights), strict=True))
    return split


def load_model(
    folder: Path,
    *,
    dtype: torch.dtype | None = None,
    impl: Impl = Impl.DENSE,
    device: torch.device | str = "cpu",
) -> SDLM:
    """The model in `folder`, in eval mode. `dtype` None keeps the checkpoint's own.

    Raises ValueError naming the folder and its first missing, unknown or misshapen tensors, and
    where `impl` can't run on `device`. A tied model's `lm_head.weight` is not read.
    """
    device = torch.device(device)
    check_impl(impl, device)
    config = read_config(folder)
    dtype = checkpoint_dtype(folder) if dtype is None else dtype
    ours = own_tensors(_empty_model(config, impl))
    theirs = _read_tensors(folder, hf_tensors(ours, config), dtype, device)
    state: dict[str, Tensor] = {}
    for name in ours:
        parts = [theirs.pop(part) for part in hf_names(name)]
        state[name] = parts[0] if len(parts) == 1 else torch.cat(parts)
    return build_model(config, state, impl).eval().requires_grad_(False)


def build_model(config: ModelConfig, tensors: dict[str, Tensor], impl: Impl) -> SDLM:
    """A model that holds these tensors (those that `own_tensors` names), not copies of them."""
    model = _empty_model(config, impl)
    tied = {"head.weight": tensors["embedding.weight"]} if config.tie_embeddings else {}
    model.load_state_dict(tensors | tied, strict=True, assign=True)
    if config.tie_embeddings:
        model.head.weight = model.embedding.weight
    # Computed, so it is in no checkpoint.
    model.rotary = Rotary(config).to(model.device)
    return model


def _empty_model(config: ModelConfig, impl: Impl) -> SDLM:
    with torch.device("meta"):
        return SDLM(config, impl)


def own_tensors(model: SDLM) -> dict[str, Tensor]:
    """A model's tensors, each once: a head tied to the embedding is left out."""
    if any(isinstance(module, Linear) and module.packed is not None for module in model.modules()):
        raise ValueError("this model's weights are packed for inference and can't be saved")
    tensors = model.state_dict()
    if model.config.tie_embeddings:
        del tensors["head.weight"]
    return tensors


def _read_tensors(
    folder: Path, wanted: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """The folder's tensors, which must have the names and shapes of those wanted."""
    tensors: dict[str, Tensor] = {}
    problems: list[str] = []
    missing = dict.fromkeys(wanted)
    for name, tensor in _tensors(folder):
        tied = name == "lm_head.weight" and name not in wanted
        if IGNORED.search(name) or tied:
            continue
        missing.pop(name, None)
        if name not in wanted:
            problems.append(f"unknown tensor {name}")
        elif tensor.shape != wanted[name].shape:
            problems.append(f"{name} is {list(tensor.shape)}, not {list(wanted[name].shape)}")
        else:
            # A copy: one tensor that stays in the mapped file would keep all of it in memory.
            tensors[name] = tensor.to(device=device, dtype=dtype, copy=True)
    problems += [f"missing tensor {name}" for name in missing]
    if problems:
        shown = "; ".join(problems[:4]) + (
            f"; and {len(problems) - 4} more" if len(problems) > 4 else ""
        )
        raise ValueError(f"{folder} does not hold the model that its config.json names: {shown}")
    return tensors


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold a folder's weights."""
    # In the order of transformers: a folder of shards may have been saved into since.
    names = ["model.safetensors"]
    index = folder / "model.safetensors.index.json"
    if index.exists() and not (folder / names[0]).exists():
        shards = read_json(index).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise ValueError(f"{index} has no weight_map, which names the tensors' files")
        names = sorted({str(name) for name in cast("dict[str, object]", shards).values()})
    for name in names:
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name} does not exist; weights are read from safetensors")
    return [folder / name for name in names]


def model_sha256(folder: Path) -> str:
    """One hash over everything that a model is made of, in the order of the files' names."""
    digest = hashlib.sha256()
    others = [pattern for pattern in HUB_FILES if not pattern.endswith(".safetensors")]
    paths = {path for pattern in others for path in folder.glob(pattern)}
    paths |= set(weight_files(folder))
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0")
        with path.open("rb") as file:
            while chunk := file.read(1 << 24):
                digest.update(chunk)
    return digest.hexdigest()


def _tensors(folder: Path) -> Iterator[tuple[str, Tensor]]:
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 - not a mapping
                    yield key, file.get_tensor(key)
        except SafetensorError as error:
            raise ValueError(f"{path} is not a whole safetensors file: {error}") from None


def save_model(model: SDLM, folder: Path, dtype: torch.dtype) -> None:
    """Write `config.json` and `model.safetensors` under Hugging Face names, each atomically."""
    save_weights(own_tensors(model), model.config, folder, dtype)


def save_weights(
    tensors: Mapping[str, Tensor], config: ModelConfig, folder: Path, dtype: torch.dtype
) -> None:
    """The same for a model's tensors (those that `own_tensors` names), wherever they lie."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {
        name: tensor.detach().to(device="cpu", dtype=dtype).contiguous()
        for name, tensor in hf_tensors(tensors, config).items()
    }
    write_tensors(folder / "model.safetensors", state, {"format": "pt"})
    with whole_file(folder / "config.json") as draft:
        draft.write_text(json.dumps(config_json(config, dtype), indent=2) + "\n")


def save_generation_config(config: ModelConfig, pad_token_id: Any, folder: Path) -> None:
    """Write `generation_config.json`: greedy, ended by the model's end tokens."""
    settings = {
        "eos_token_id": list(config.eos_token_ids),
        "pad_token_id": pad_token_id,
        "do_sample": False,
    }
    with whole_file(folder / "generation_config.json") as draft:
        draft.write_text(json.dumps(settings, indent=2) + "\n")


def with_mean_rows(weight_VC: Tensor, vocab_size: int) -> Tensor:
    """An embedding, or a head, with rows up to the vocabulary's size; new ones are the mean."""
    missing = vocab_size - weight_VC.shape[0]
    return torch.cat([weight_VC, weight_VC.mean(0).expand(missing, -1)])


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """A safetensors file, whole or not at all; OSError where it can't be written."""
    with whole_file(path) as draft:
        try:
            save_file(tensors, draft, metadata=metadata)
        except SafetensorError as error:  # what a full disk is to that library
            raise OSError(str(error)) from None
