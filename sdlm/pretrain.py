"""Train a small autoregressive model from scratch, to be retrofitted afterwards.

Qwen2-shaped (bias on q, k and v, tied head). The loss is next-token prediction over whole
conversations, end tokens included, or over the assistant's turns alone.

    python -m sdlm.pretrain --data train.jsonl --tokenizer DIR --out DIR --max-minutes 60
"""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from sdlm.checkpoint import load_model, model_sha256
from sdlm.command_line import run_command
from sdlm.model import SDLM, ModelConfig
from sdlm.model_names import model_folder, public_name
from sdlm.retrofit.base_model import Base
from sdlm.retrofit.batches import NextTokenRows
from sdlm.retrofit.command import (
    Data,
    Device,
    Fsdp,
    MaxLength,
    Out,
    Resume,
    Threads,
    check_compile,
    run_training,
    set_up,
    with_train_options,
)
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.samples import chat_format, load_samples
from sdlm.tokenizer import PreTrainedTokenizerFast, end_token_ids, load_tokenizer

INIT_STD = 0.02
MAX_CONTEXT = 2048


def initialise(model: SDLM, seed: int) -> None:
    """Normal weights, zero biases; projections into the residual stream scaled by its depth."""
    generator = torch.Generator().manual_seed(seed)
    residual_std = INIT_STD / math.sqrt(2 * model.config.num_layers)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("norm.weight"):
                parameter.fill_(1.0)
            elif name.endswith("bias"):
                parameter.zero_()
            else:
                residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                std = residual_std if residual else INIT_STD
                parameter.normal_(0.0, std, generator=generator)


def model_config(
    tokenizer: PreTrainedTokenizerFast,
    *,
    layers: int,
    hidden_size: int,
    heads: int,
    kv_heads: int,
    intermediate_size: int,
) -> ModelConfig:
    if heads < 1 or hidden_size % (2 * heads):
        raise ValueError(f"--hidden-size {hidden_size} is no multiple of twice --heads {heads}")
    ends = {chat_format(tokenizer).end_id} | end_token_ids(tokenizer)
    return ModelConfig(
        family="qwen2",
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_dim=hidden_size // heads,
        rms_norm_eps=1e-6,
        rope_theta=10000.0,
        max_context=MAX_CONTEXT,
        qkv_bias=True,
        tie_embeddings=True,
        eos_token_ids=tuple(sorted(ends)),
    )


def main(
    config: TrainConfig,
    data: Data,
    tokenizer: Annotated[Path, typer.Option(help="folder of the tokenizer")],
    out: Out,
    base: Annotated[
        str | None, typer.Option(help="go on from this model of the same shape, not from scratch")
    ] = None,
    layers: Annotated[int, typer.Option(help="transformer blocks")] = 6,
    hidden_size: Annotated[int, typer.Option(help="width of the residual stream")] = 384,
    heads: Annotated[int, typer.Option(help="attention heads")] = 6,
    kv_heads: Annotated[int, typer.Option(help="key/value heads")] = 2,
    intermediate_size: Annotated[int, typer.Option(help="width of the MLP")] = 1024,
    max_length: MaxLength = MAX_CONTEXT,
    threads: Threads = 0,
    resume: Resume = False,
    device: Device = "cpu",
    fsdp: Fsdp = False,
) -> None:
    """Pretrain a Qwen2-shaped model on conversations."""
    if config.lora_rank and base is None:
        raise ValueError("--lora-rank adapts a model that is trained already; give its --base")
    if not 2 <= max_length <= MAX_CONTEXT:
        raise ValueError(f"--max-length is {max_length}; it lies in 2…{MAX_CONTEXT}")
    with set_up(out, resume=resume, threads=threads, device=device, fsdp=fsdp) as ranks:
        words = load_tokenizer(tokenizer)
        shape = model_config(
            words,
            layers=layers,
            hidden_size=hidden_size,
            heads=heads,
            kv_heads=kv_heads,
            intermediate_size=intermediate_size,
        )
        if config.compile:
            check_compile(shape, ranks.device)
        with ranks.first_before_others():
            samples = load_samples(data, words, out)
        model = SDLM(shape)
        initialise(model, config.seed)
        sizes = [layers, hidden_size, heads, kv_heads, intermediate_size, len(words)]
        facts: dict[str, Any] = {"shape": sizes, "max_length": max_length}
        if base is not None:
            with ranks.first_before_others():
                folder = model_folder(base)
            fill(model, folder)
            facts |= {"base": public_name(base), "base_sha256": model_sha256(folder)}
        run_training(
            Base(model, None),
            NextTokenRows(samples, max_length, assistant_only_loss=config.assistant_only_loss),
            samples,
            words,
            config,
            out,
            ranks=ranks,
            facts=facts,
            record={"data": data.name},
            resume=resume,
        )


def fill(model: SDLM, folder: Path) -> None:
    """Give a model the weights in a folder, which must hold one of the same shape."""
    weights = load_model(folder, dtype=torch.float32)
    theirs, ours = asdict(weights.config), asdict(model.config)
    differing = [f"{k} is {theirs[k]} and not {ours[k]}" for k in ours if theirs[k] != ours[k]]
    if differing:
        raise ValueError(
            f"--base {folder} is another model than the options ask for: {'; '.join(differing)}"
        )
    model.load_state_dict(weights.state_dict(), strict=True)


#: There is no clean sequence beside blocks here, whose loss could have a weight.
LEFT_OUT = ("clean_weight",)

if __name__ == "__main__":
    run_command(with_train_options(main, leave_out=LEFT_OUT))
