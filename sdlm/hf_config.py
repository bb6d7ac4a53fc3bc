"""A model's shape and semantics in Hugging Face's `config.json`, read and written.

Of the Qwen2, Qwen3, Llama and Mistral families, and of the SDLM releases, which are Qwen2 with
three more fields; as transformers 4 writes it and as 5 does.
"""

import json
from pathlib import Path
from typing import Any

import torch

from sdlm.model import Llama3Scaling, ModelConfig

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# model_type -> (qkv bias, qk norm); a config's own `attention_bias` overrides the first.
FAMILIES = {
    "qwen2": (True, False),
    "qwen3": (False, True),
    "llama": (False, False),
    "mistral": (False, False),
    "sdlm": (True, False),
}


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(
            f"{path} does not exist; a model folder holds config.json and *.safetensors"
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
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
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(
            f"{folder}/config.json has model_type {family!r}; known are {', '.join(FAMILIES)}"
        )
    if (activation := raw.get("hidden_act", "silu")) != "silu":
        raise ValueError(f"{folder}/config.json has hidden_act {activation!r}; only silu is known")
    if family == "sdlm" and raw.get("block_size") is None:
        raise ValueError(f"{folder}/config.json is an SDLM's and has no block_size")
    qkv_bias, qk_norm = FAMILIES[family]
    if family not in ("qwen2", "sdlm") and raw.get("attention_bias"):
        raise ValueError(
            f"{folder}/config.json has attention_bias, which in the family {family} is a bias of"
            " the output projection too; that is not supported"
        )
    for name in ("attention_bias", "tie_word_embeddings", "causal_attn", "shift"):
        if not isinstance(raw.get(name, False), bool):
            raise ValueError(f"{folder}/config.json: {name} is {raw[name]!r}; it is true or false")
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
            shift=raw.get("shift", True),
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
    if wrong := [name for name, value in values.items() if not _is_positive(value)]:
        raise ValueError(f"rope scaling: {wrong[0]} is {values[wrong[0]]!r}, no positive number")
    return Llama3Scaling(**values)


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < 2**63


def _max_context(raw: dict[str, Any]) -> int:
    """A sliding window is not applied, so the context ends where it would begin to matter."""
    context = raw["max_position_embeddings"]
    # Absent, it is 4,096 to transformers in this family, and none in the others.
    window = raw.get("sliding_window", 4096 if raw["model_type"] == "mistral" else None)
    in_force = window is not None and raw.get("use_sliding_window", True)
    return min(context, window) if in_force else context


def _eos_token_ids(raw: dict[str, Any], folder: Path) -> tuple[int, ...]:
    """End tokens; a generation config, where present, is the authority, as in transformers."""
    path = folder / "generation_config.json"
    ids = read_json(path).get("eos_token_id") if path.exists() else None
    ids = raw.get("eos_token_id") if ids is None else ids
    listed = ids if isinstance(ids, list) else [] if ids is None else [ids]
    if wrong := [token for token in listed if type(token) is not int]:
        raise ValueError(f"eos_token_id has {wrong[0]!r}; end tokens are integers")
    return tuple(listed)


def checkpoint_dtype(folder: Path) -> torch.dtype:
    """`torch_dtype` (transformers 4) or `dtype` (5) of the config; fp32 where it has neither."""
    raw = read_json(folder / "config.json")
    name = str(raw.get("torch_dtype") or raw.get("dtype") or "float32").removeprefix("torch.")
    if name not in DTYPES:
        raise ValueError(f"{folder}/config.json has dtype {name!r}; known are {', '.join(DTYPES)}")
    return DTYPES[name]


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
        if not config.shift:
            # Not of the released code, whose models all shift.
            raw["shift"] = False
    return raw
