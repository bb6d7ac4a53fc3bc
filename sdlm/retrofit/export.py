"""A trained model as an ordinary Hugging Face folder, with the record of how it came about."""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sdlm.checkpoint import own_tensors, save_generation_config, save_weights
from sdlm.model import SDLM
from sdlm.retrofit.adapter import FOLDER, save_adapter
from sdlm.retrofit.lora import merge_lora, rounded_lora
from sdlm.retrofit.ranks import Ranks
from sdlm.retrofit.run_log import LOG_NAME, read_log
from sdlm.retrofit.run_state import Progress
from sdlm.tokenizer import PreTrainedTokenizerFast, mask_text, save_tokenizer
from sdlm.whole_file import whole_file


class Lora(NamedTuple):
    """Adapters that a model has; new_token: see `lora.add_lora`. base: the model without them."""

    rank: int
    alpha: float
    new_token: int | None
    base: str


def export_model(
    model: SDLM,
    tokenizer: PreTrainedTokenizerFast,
    out: Path,
    progress: Progress,
    record: dict[str, Any],
    *,
    ranks: Ranks,
    lora: Lora | None,
) -> None:
    """Write weights in bf16, configs, tokenizer, `training.json` (record, versions, totals), the
    loss plot, and adapters a second time as such. All ranks call it; the first writes."""
    tensors = ranks.gather(own_tensors(model))
    if not ranks.is_first:
        return
    config = model.config
    if lora is not None:
        # Rounded before both, so that merged weights are those that the adapter makes.
        tensors = rounded_lora(tensors, torch.bfloat16)
        save_adapter(
            tensors,
            config,
            out / FOLDER,
            rank=lora.rank,
            alpha=lora.alpha,
            new_token=lora.new_token,
            mask_token=mask_text(tokenizer, config),
            base=lora.base,
            dtype=torch.bfloat16,
        )
        tensors = merge_lora(tensors, config, lora.alpha / lora.rank, lora.new_token)
    save_weights(tensors, config, out, torch.bfloat16)
    save_tokenizer(tokenizer, out)
    save_generation_config(config, tokenizer.pad_token_id, out)
    _write_json(out / "training.json", record | _circumstances(progress, ranks))
    _plot_losses(out)


def _circumstances(progress: Progress, ranks: Ranks) -> dict[str, Any]:
    return {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": version("transformers"),
        },
        "threads": torch.get_num_threads(),
        "ranks": ranks.size,
        "totals": {
            "steps": progress.step,
            "tokens": progress.tokens,
            "epochs": round(progress.epochs, 4),
            "elapsed_s": round(progress.elapsed_s, 1),
        },
    }


def _plot_losses(out: Path) -> None:
    """`loss.png` and `loss.svg`, once there is something to draw."""
    log = out / LOG_NAME
    if log.exists() and log.stat().st_size:
        # matplotlib takes a second to load.
        from sdlm.retrofit.loss_plot import loss_plot

        loss_plot(read_log(log), out.resolve().name, out / "loss")


def command_line() -> list[str]:
    """What was typed; of absolute paths only the last part, they mean nothing elsewhere."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    module = spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).stem
    return ["python", "-m", module, *map(_without_folder, sys.argv[1:])]


def _without_folder(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{option}{equals}{Path(value).name if value.startswith('/') else value}"


def _write_json(path: Path, value: dict[str, Any]) -> None:
    with whole_file(path) as draft:
        draft.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
