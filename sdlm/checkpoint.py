"""Hugging Face checkpoint folders, read and written through one table of names.

Reads `config.json` and `model.safetensors` (or the shards of `model.safetensors.index.json`) of
the Qwen2, Qwen3, Llama and Mistral families, and of the SDLM releases, which are Qwen2 with three
more fields. Strict both ways: a tensor that is missing, left over or of another shape is an error.
Never executes code from a checkpoint and never unpickles.
"""

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
from sdlm.model import SDLM, Llama3Scaling, ModelConfig, Rotary
from sdlm.whole_file import whole_file

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# model_type -> (qkv bias, qk norm); a config's own `attention_bias` overrides the first.
FAMILIES = {
    "qwen2": (True, False),
    "qwen3": (False, True),
    "llama": (False, False),
    "mistral": (False, False),
    "sdlm": (True, False),
}
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


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"{path} does not exist; a model folder holds config.json and *.safetensors"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} holds a {type(value).__name__}; a JSON object is expected")
    return value


def read_config(folder: Path) -> ModelConfig:
    """The model's shape and semantics from `config.json` and `generation_config.json`.

    Raises ValueError for a family, activation or position scaling that the model does not have,
    and for an SDLM whose block size or mask token is missing, or whose mask token collides with an
    end token.
    """
    raw = read_json(folder / "config.json")
    family = raw.get("model_type")
    if family not in FAMILIES:
        raise ValueError(
            f"{folder}/config.json has model_type {family!r}; known are {', '.join(FAMILIES)}"
        )
    if (activation := raw.get("hidden_act", "silu")) != "silu":
        raise ValueError(f"{folder}/config.json has hidden_act {activation!r}; only silu is known")
    if family == "sdlm" and raw.get("block_size") is None:
        raise ValueError(f"{folder}/config.json is an SDLM's and has no block_size")
    qkv_bias, qk_norm = FAMILIES[family]
    try:
        heads = raw["num_attention_heads"]
        return ModelConfig(
            family=family,
            vocab_size=raw["vocab_size"],
            hidden_size=raw["hidden_size"],
            intermediate_size=raw["intermediate_size"],
            num_layers=raw["num_hidden_layers"],
            num_heads=heads,
            num_kv_heads=raw.get("num_key_value_heads") or heads,
            head_dim=raw.get("head_dim") or raw["hidden_size"] // heads,
            rms_norm_eps=raw["rms_norm_eps"],
            rope_theta=_rope_field(raw, "rope_theta", 10000.0),
            rope_scaling=_rope_scaling(raw),
            max_context=_max_context(raw),
            qkv_bias=raw.get("attention_bias", qkv_bias),
            qk_norm=qk_norm,
            tie_embeddings=raw.get("tie_word_embeddings", False),
            block_size=raw.get("block_size"),
            mask_token_id=raw.get("text_mask_token_id"),
            causal_attn=raw.get("causal_attn", False),
            eos_token_ids=_eos_token_ids(raw, folder),
        )
    except KeyError as missing:
        raise ValueError(f"{folder}/config.json has no {missing.args[0]}") from None
    except ValueError as error:
        raise ValueError(f"{folder}/config.json: {error}") from None
    except (TypeError, ZeroDivisionError) as error:
        raise ValueError(f"{folder}/config.json has a field of the wrong type: {error}") from None


def _rope_field(raw: dict[str, Any], name: str, default: Any) -> Any:
    """A rotary setting, where transformers 4 (top level) or 5 (`rope_parameters`) writes it."""
    for place in (raw.get("rope_parameters") or {}, raw, raw.get("rope_scaling") or {}):
        if name in place:
            return place[name]
    return default


def _rope_scaling(raw: dict[str, Any]) -> Llama3Scaling | None:
    kind = _rope_field(raw, "rope_type", None) or _rope_field(raw, "type", "default")
    if kind == "default":
        return None
    if kind != "llama3":
        raise ValueError(f"rope scaling {kind!r} is not known; accepted are default and llama3")
    fields = (
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        "original_max_position_embeddings",
    )
    values = {name: _rope_field(raw, name, None) for name in fields}
    if missing := [name for name, value in values.items() if value is None]:
        raise ValueError(f"rope scaling llama3 has no {missing[0]}")
    return Llama3Scaling(**values)


def _max_context(raw: dict[str, Any]) -> int:
    """A sliding window is not applied, so the context ends where it would begin to matter."""
    context = raw["max_position_embeddings"]
    window = raw.get("sliding_window")
    in_force = window is not None and raw.get("use_sliding_window", True)
    return min(context, window) if in_force else context


def _eos_token_ids(raw: dict[str, Any], folder: Path) -> tuple[int, ...]:
    """End tokens; a generation config, where present, is the authority, as in transformers."""
    path = folder / "generation_config.json"
    ids = read_json(path).get("eos_token_id") if path.exists() else None
    ids = raw.get("eos_token_id") if ids is None else ids
    return tuple(ids) if isinstance(ids, list) else () if ids is None else (ids,)


def checkpoint_dtype(folder: Path) -> torch.dtype:
    """`torch_dtype` (transformers 4) or `dtype` (5) of the config; fp32 where it has neither."""
    raw = read_json(folder / "config.json")
    name = str(raw.get("torch_dtype") or raw.get("dtype") or "float32").removeprefix("torch.")
    if name not in DTYPES:
        raise ValueError(f"{folder}/config.json has dtype {name!r}; known are {', '.join(DTYPES)}")
    return DTYPES[name]


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
            tensors[name] = tensor.to(device=device, dtype=dtype)
    problems += [f"missing tensor {name}" for name in missing]
    if problems:
        shown = "; ".join(problems[:4]) + (
            f"; and {len(problems) - 4} more" if len(problems) > 4 else ""
        )
        raise ValueError(f"{folder} does not hold the model that its config.json names: {shown}")
    return tensors


def _tensors(folder: Path) -> Iterator[tuple[str, Tensor]]:
    # In the order of transformers: a folder of shards may have been saved into since.
    names = ["model.safetensors"]
    index = folder / "model.safetensors.index.json"
    if index.exists() and not (folder / names[0]).exists():
        shards = read_json(index).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise ValueError(f"{index} has no weight_map, which names the tensors' files")
        names = sorted({str(name) for name in cast("dict[str, object]", shards).values()})
    for name in names:
        if not (folder / name).exists():
            raise ValueError(f"{folder / name} does not exist; weights are read from safetensors")
        try:
            with safe_open(folder / name, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 - not a mapping
                    yield key, file.get_tensor(key)
        except SafetensorError as error:
            raise ValueError(f"{folder / name} is not a whole safetensors file: {error}") from None


def config_json(config: ModelConfig, dtype: torch.dtype) -> dict[str, Any]:
    """A model's Hugging Face `config.json`; transformers and the released SDLM code read it."""
    family = "qwen2" if config.family == "sdlm" else config.family
    raw: dict[str, Any] = {
        "architectures": [f"{family.capitalize()}ForCausalLM"],
        "model_type": family,
        "hidden_act": "silu",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "max_position_embeddings": config.max_context,
        "attention_bias": config.qkv_bias,
        # Absent, it would be 4,096 to some families' readers; `max_context` lies within it.
        "sliding_window": None,
        "tie_word_embeddings": config.tie_embeddings,
        "eos_token_id": list(config.eos_token_ids),
        "torch_dtype": str(dtype).removeprefix("torch."),
    }
    if config.rope_scaling is not None:
        scaling = config.rope_scaling
        raw["rope_scaling"] = {"rope_type": "llama3"} | {
            name: getattr(scaling, name) for name in scaling.__dataclass_fields__
        }
    if config.block_size is not None:
        raw |= {
            "block_size": config.block_size,
            "causal_attn": config.causal_attn,
            "text_mask_token_id": config.mask_token_id,
        }
    return raw


def save_model(model: SDLM, folder: Path, dtype: torch.dtype) -> None:
    """Write `config.json` and `model.safetensors` under Hugging Face names, each atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {
        name: tensor.detach().to(device="cpu", dtype=dtype).contiguous()
        for name, tensor in hf_tensors(own_tensors(model), model.config).items()
    }
    with whole_file(folder / "model.safetensors") as draft:
        save_file(state, draft, metadata={"format": "pt"})
    with whole_file(folder / "config.json") as draft:
        draft.write_text(json.dumps(config_json(model.config, dtype), indent=2) + "\n")
