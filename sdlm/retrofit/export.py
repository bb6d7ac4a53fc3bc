"""A trained model as an ordinary Hugging Face folder, with the record of how it came about."""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from sdlm.checkpoint import save_model
from sdlm.model import SDLM
from sdlm.retrofit.run_state import Progress
from sdlm.tokenizer import PreTrainedTokenizerFast, save_tokenizer
from sdlm.whole_file import whole_file


def export_model(
    model: SDLM,
    tokenizer: PreTrainedTokenizerFast,
    out: Path,
    progress: Progress,
    record: dict[str, Any],
) -> None:
    """Write weights in bf16, configs, tokenizer and `training.json` (record, versions, totals)."""
    save_model(model, out, torch.bfloat16)
    save_tokenizer(tokenizer, out)
    eos = list(model.config.eos_token_ids)
    _write_json(
        out / "generation_config.json",
        {"eos_token_id": eos, "pad_token_id": tokenizer.pad_token_id, "do_sample": False},
    )
    _write_json(
        out / "training.json",
        record
        | {
            "versions": {
                "python": platform.python_version(),
                "torch": torch.__version__,
                "transformers": version("transformers"),
            },
            "threads": torch.get_num_threads(),
            "totals": {
                "steps": progress.step,
                "tokens": progress.tokens,
                "epochs": progress.position.epoch,
                "elapsed_s": round(progress.elapsed_s, 1),
            },
        },
    )


def command_line() -> list[str]:
    """What was typed; of absolute paths only the last part, they mean nothing elsewhere."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    module = spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).stem
    words = [Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]
    return ["python", "-m", module, *words]


def _write_json(path: Path, value: dict[str, Any]) -> None:
    with whole_file(path) as draft:
        draft.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
