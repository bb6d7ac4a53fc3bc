"""A LoRA as peft's own folder: `adapter_config.json` and `adapter_model.safetensors`.

`sdlm.merging` reads it back, and any other; so does peft:

base = AutoModelForCausalLM.from_pretrained(BASE)
base.resize_token_embeddings(N)  # where the mask token made the vocabulary grow
model = PeftModel.from_pretrained(base, "OUT/adapter")
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sdlm.checkpoint import write_tensors
from sdlm.hf_config import config_json
from sdlm.model import ModelConfig
from sdlm.peft_names import LORA_A, LORA_B, PREFIX, ROWS
from sdlm.retrofit.lora import lora_pairs, new_rows
from sdlm.whole_file import whole_file

#: Where a run's folder has it.
FOLDER = "adapter"


def save_adapter(
    tensors: Mapping[str, Tensor],
    config: ModelConfig,
    folder: Path,
    *,
    rank: int,
    alpha: float,
    new_token: int | None,
    mask_token: str | None,
    base: str,
    dtype: torch.dtype,
) -> None:
    """Write the adapters among a model's tensors; the arguments are those of `add_lora`.

    mask_token: its text, None for a model without. It and the model's config tell `sdlm.merging`
    what peft has no place for.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pairs, rows = lora_pairs(tensors, config), new_rows(tensors, config)
    named: dict[str, Tensor] = {}
    for name, (a_RI, b_OR) in pairs.items():
        named[PREFIX + name + LORA_A] = a_RI
        named[PREFIX + name + LORA_B] = b_OR
    for name, row_C in rows.items():
        named[PREFIX + name + ROWS] = row_C[None]
    contiguous = {
        name: tensor.detach().to(device="cpu", dtype=dtype).contiguous()
        for name, tensor in named.items()
    }
    write_tensors(folder / "adapter_model.safetensors", contiguous, {"format": "pt"})
    settings: dict[str, Any] = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted({name.rpartition(".")[2] for name in pairs}),
        "inference_mode": True,
    }
    if new_token is not None:
        # A tied head follows its embedding.
        settings["trainable_token_indices"] = {
            name.rpartition(".")[2]: [new_token] for name in rows
        }
    for name, content in (
        ("config.json", config_json(config, dtype)),
        ("added_tokens.json", {} if mask_token is None else {mask_token: config.mask_token_id}),
        ("adapter_config.json", settings),
    ):
        with whole_file(folder / name) as draft:
            draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
