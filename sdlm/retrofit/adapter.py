"""A LoRA as peft's own folder: `adapter_config.json` and `adapter_model.safetensors`.

base = AutoModelForCausalLM.from_pretrained(BASE)
base.resize_token_embeddings(N)  # where the mask token made the vocabulary grow
model = PeftModel.from_pretrained(base, "OUT/adapter")
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from sdlm.checkpoint import write_tensors
from sdlm.model import ModelConfig
from sdlm.retrofit.lora import lora_pairs, new_rows
from sdlm.whole_file import whole_file

# peft's model holds the transformers model under this name.
PREFIX = "base_model.model"


def save_adapter(
    tensors: Mapping[str, Tensor],
    config: ModelConfig,
    folder: Path,
    *,
    rank: int,
    alpha: float,
    new_token: int | None,
    base: str,
) -> None:
    """Write the adapters among a model's tensors; the arguments are those of `add_lora`."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs, rows = lora_pairs(tensors, config), new_rows(tensors, config)
    named: dict[str, Tensor] = {}
    for name, (a_RI, b_OR) in pairs.items():
        named[f"{PREFIX}.{name}.lora_A.weight"] = a_RI
        named[f"{PREFIX}.{name}.lora_B.weight"] = b_OR
    for name, row_C in rows.items():
        named[f"{PREFIX}.{name}.token_adapter.trainable_tokens_delta"] = row_C[None]
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
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
    with whole_file(folder / "adapter_config.json") as draft:
        draft.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
