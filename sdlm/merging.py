"""A LoRA adapter in peft's format added to its base, as an ordinary checkpoint folder.

Accepted is plain LoRA (arXiv 2106.09685), with whole rows of the embedding and the head
(`trainable_token_indices`); anything else that peft can hold is an error, never left out. An
adapter that `sdlm.retrofit` wrote also carries `config.json` of the model that it makes, and
`added_tokens.json` with its mask token; any other leaves the base what it is.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from sdlm.checkpoint import (
    hf_tensors,
    load_model,
    model_sha256,
    own_tensors,
    save_generation_config,
    save_weights,
    with_mean_rows,
)
from sdlm.hf_config import checkpoint_dtype, read_config, read_json
from sdlm.model import ModelConfig
from sdlm.model_names import ADAPTER_FILES, adapter_folder, model_folder
from sdlm.peft_names import LORA_A, LORA_B, PREFIX, ROWS
from sdlm.tokenizer import add_special_token, check_mask_token, load_tokenizer, save_tokenizer

# What an adapter may change of its base's config.
CHANGEABLE = ("vocab_size", "block_size", "mask_token_id", "causal_attn", "shift", "eos_token_ids")
# What peft adds to plain LoRA, and the values that mean that it does not.
PLAIN: dict[str, tuple[Any, ...]] = {
    "peft_type": ("LORA",),
    # The other ways to begin change the base's weights too.
    "init_lora_weights": (True, False, "gaussian", "eva", None),
    "use_qalora": (False, None),
    "alora_invocation_tokens": (None,),
    "target_parameters": ([], None),
    "bias": ("none", None),
    "use_dora": (False, None),
    "fan_in_fan_out": (False, None),
    "lora_bias": (False, None),
    "rank_pattern": ({}, None),
    "alpha_pattern": ({}, None),
    "modules_to_save": ([], None),
    "layer_replication": ([], None),
}


def merge_adapter(base: Path, adapter: Path, out: Path) -> None:
    """Write the model in `base` with the adapter in `adapter` merged into it, to the folder `out`.

    Weights keep the base's dtype; the sums are made in fp32. Raises ValueError naming the adapter
    and what is wrong with it: no adapter, of another kind, or of another base.
    """
    settings = _settings(adapter)
    base_config = read_config(base)
    config = _merged_config(base_config, adapter, base)
    tokenizer = load_tokenizer(base)
    added = adapter / "added_tokens.json"
    for token, token_id in (read_json(added) if added.exists() else {}).items():
        if (found := add_special_token(tokenizer, token)) != token_id:
            raise ValueError(
                f"{adapter} has token {token_id} for {token!r}, which is {found} in the tokenizer"
                f" of {base}; it belongs to another base"
            )
    check_mask_token(tokenizer, config)
    dtype = checkpoint_dtype(base)
    tensors = own_tensors(load_model(base, dtype=dtype))
    for name in tensors.keys() & {"embedding.weight", "head.weight"}:
        tensors[name] = with_mean_rows(tensors[name], config.vocab_size)
    _add(hf_tensors(tensors, config), _adapter_tensors(adapter), settings, adapter)
    save_weights(tensors, config, out, dtype)
    save_generation_config(config, tokenizer.pad_token_id, out)
    save_tokenizer(tokenizer, out)


def find_model(name: str) -> Path:
    """The folder of the model that `name` names, merged for `MODEL+ADAPTER`."""
    model, plus, adapter = name.rpartition("+")
    if not plus or Path(name).is_dir():
        return model_folder(name)
    return merged_folder(model_folder(model), adapter_folder(adapter))


def merged_folder(base: Path, adapter: Path) -> Path:
    """The merged model's folder, made once and kept in the cache (`XDG_CACHE_HOME`, else
    `~/.cache`) under a hash of both."""
    digest = hashlib.sha256(model_sha256(base).encode())
    for name in sorted(path.name for pattern in ADAPTER_FILES for path in adapter.glob(pattern)):
        digest.update(name.encode() + b"\0" + (adapter / name).read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sdlm-bench"
    folder = cache / f"{digest.hexdigest()[:24]}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=cache))
    try:
        merge_adapter(base, adapter, draft)
        try:
            draft.rename(folder)
        except OSError:
            # Another process was faster.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _settings(adapter: Path) -> dict[str, Any]:
    if not (adapter / "adapter_config.json").exists():
        raise ValueError(f"{adapter} holds no adapter: it has no adapter_config.json")
    settings = read_json(adapter / "adapter_config.json")
    for name, plain in PLAIN.items():
        if (found := settings.get(name)) not in plain:
            raise ValueError(f"{adapter} has {name} {found!r}; only plain LoRA can be merged")
    for name in ("r", "lora_alpha"):
        value = settings.get(name)
        if not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{adapter} has {name} {value!r}, no positive number")
    return settings


def _merged_config(base_config: ModelConfig, adapter: Path, base: Path) -> ModelConfig:
    if not (adapter / "config.json").exists():
        return base_config
    config = read_config(adapter)
    kept = {name: getattr(base_config, name) for name in CHANGEABLE}
    # The released SDLM's own family is Qwen2 with other fields.
    if replace(config, family="", **kept) != replace(base_config, family=""):
        raise ValueError(f"{adapter} was made for a model of another shape than {base}")
    if config.vocab_size < base_config.vocab_size:
        raise ValueError(
            f"{adapter} is for {config.vocab_size} tokens, and {base} has"
            f" {base_config.vocab_size}; it belongs to another base"
        )
    return config


def _adapter_tensors(adapter: Path) -> dict[str, Tensor]:
    path = adapter / "adapter_model.safetensors"
    if not path.exists():
        raise ValueError(f"{path} does not exist; adapters are read from safetensors")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}") from None


def _add(
    weights: Mapping[str, Tensor],
    found: dict[str, Tensor],
    settings: Mapping[str, Any],
    adapter: Path,
) -> None:
    """Add what was found to the weights, in place; all of it must have a place."""
    rank = settings["r"]
    scale = settings["lora_alpha"] / (rank**0.5 if settings.get("use_rslora") else rank)
    for name, weight in weights.items():
        module = PREFIX + name.removesuffix(".weight")
        pair = module + LORA_A, module + LORA_B
        if found.keys() >= {*pair}:
            a_RI, b_OR = (found.pop(key).float() for key in pair)
            if (len(b_OR), a_RI.shape[1]) != weight.shape or {len(a_RI), b_OR.shape[1]} != {rank}:
                raise ValueError(
                    f"{adapter} has {list(b_OR.shape)} times {list(a_RI.shape)} for {name}, of"
                    f" rank {rank}, which is {list(weight.shape)}; it belongs to another base"
                )
            weight += scale * (b_OR @ a_RI)
        if module + ROWS in found:
            rows, ids = found.pop(module + ROWS), _token_ids(settings, name, adapter)
            fits = rows.shape == (len(ids), weight.shape[1])
            if not (fits and min(ids) >= 0 and max(ids) < len(weight)):
                raise ValueError(
                    f"{adapter} has {list(rows.shape)} rows of {name} for tokens {ids}, and it is"
                    f" {list(weight.shape)}; it belongs to another base"
                )
            weight[ids] = rows.to(weight.dtype)
    if found:
        raise ValueError(
            f"{adapter} holds {next(iter(found))}, which has no place in the base"
            + (f", and {len(found) - 1} more" if len(found) > 1 else "")
        )


def _token_ids(settings: Mapping[str, Any], name: str, adapter: Path) -> list[int]:
    """The tokens whose rows of the tensor `name` were trained."""
    given = settings.get("trainable_token_indices")
    ids = given.get(name.split(".")[-2]) if isinstance(given, dict) else given
    if not isinstance(ids, list) or not ids or not all(type(each) is int for each in ids):
        raise ValueError(f"{adapter} has rows for {name} and no trainable_token_indices for them")
    return ids
