"""Retrofit: train an autoregressive model into a Sequential Diffusion Language Model.

python -m sdlm.retrofit --base DIR --data train.jsonl --out DIR --block-size 4 --max-minutes 60

docs/retrofit.md has the options, the data's format and what is saved.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sdlm.attention import Impl
from sdlm.checkpoint import model_sha256
from sdlm.command_line import run_command
from sdlm.model_names import model_folder, public_name
from sdlm.retrofit.base_model import load_base
from sdlm.retrofit.batches import BlockRows
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
from sdlm.retrofit.samples import chat_format, check_mask_is_new, load_samples
from sdlm.retrofit.training_rows import BlockSpec, block_spec
from sdlm.tokenizer import MASK, load_tokenizer


def main(
    config: TrainConfig,
    base: Annotated[str, typer.Option(help="nano-ar, nano, a model's folder, or a hub id")],
    data: Data,
    out: Out,
    block_size: Annotated[int, typer.Option(help="slots of a block")] = 4,
    budget: Annotated[float, typer.Option(help="times each response token is a target")] = 3.0,
    shift: Annotated[bool, typer.Option(help="a slot predicts the token after it")] = True,
    causal_attn: Annotated[
        bool, typer.Option("--causal-attn", help="a slot sees only its block's slots before it")
    ] = False,
    mask_token: Annotated[
        str | None,
        typer.Option(help=f"text of the mask; else an SDLM's own, or {MASK}, added if missing"),
    ] = None,
    attention: Annotated[Impl, typer.Option(help="flex can be trained on CUDA only")] = Impl.DENSE,
    max_length: MaxLength = 2048,
    threads: Threads = 0,
    resume: Resume = False,
    device: Device = "cpu",
    fsdp: Fsdp = False,
) -> None:
    """Train an autoregressive model to predict blocks of tokens at once."""
    with set_up(out, resume=resume, threads=threads, device=device, fsdp=fsdp) as ranks:
        if attention is Impl.FLEX and ranks.device.type == "cpu":
            raise ValueError("attention 'flex' can't be trained on a CPU; use --attention dense")
        with ranks.first_before_others():
            folder = model_folder(base)
        words = load_tokenizer(folder)
        loaded = load_base(
            folder,
            words,
            mask_token=mask_token,
            block_size=block_size,
            causal_attn=causal_attn,
            shift=shift,
            end_id=chat_format(words).end_id,
            impl=attention,
        )
        if config.compile:
            check_compile(loaded.model.config, ranks.device)
        spec = block_spec(loaded.model.config, budget=budget, max_length=max_length)
        with ranks.first_before_others():
            samples = load_samples(data, words, out)
        check_mask_is_new(samples, spec.mask_id, data)
        rows = BlockRows(samples, spec, assistant_only_loss=config.assistant_only_loss)
        check_context(rows, loaded.model.config.max_context)
        run_training(
            loaded,
            rows,
            samples,
            words,
            config,
            out,
            ranks=ranks,
            facts=to_share(base, folder, attention, spec),
            record={"data": data.name},
            resume=resume,
        )


def to_share(base: str, folder: Path, attention: Impl, spec: BlockSpec) -> dict[str, Any]:
    """What a resumed run must share: attention too, for flex pads rows, and batches are made up by
    their width."""
    return {
        "base": public_name(base),
        "base_sha256": model_sha256(folder),
        "attention": attention.value,
        **asdict(spec),
        "end_ids": list(spec.end_ids),
    }


def check_context(rows: BlockRows, max_context: int) -> None:
    """Raise ValueError where a text is longer than the positions that the model knows."""
    longest = int(rows.kept[rows.lengths > 0].max(initial=0))
    if longest > max_context:
        raise ValueError(
            f"the longest sample has {longest} tokens and the model's context only {max_context};"
            f" add --max-length {max_context}"
        )


if __name__ == "__main__":
    run_command(with_train_options(main))
