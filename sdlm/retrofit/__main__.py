"""Retrofit: train an autoregressive model into a Sequential Diffusion Language Model.

python -m sdlm.retrofit --base DIR --data train.jsonl --out DIR --block-size 4 --max-minutes 60

docs/retrofit.md has the options, the data's format and what is saved.
"""

from typing import Annotated, Any

import typer

from sdlm.attention import Impl
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
    run_training,
    set_up,
    with_train_options,
)
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.samples import chat_format, load_samples
from sdlm.retrofit.training_rows import BlockSpec
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
    mask_token: Annotated[str, typer.Option(help="added to a tokenizer without it")] = MASK,
    attention: Annotated[Impl, typer.Option(help="flex can be trained on CUDA only")] = Impl.DENSE,
    max_length: MaxLength = 2048,
    threads: Threads = 0,
    resume: Resume = False,
    device: Device = "cpu",
    fsdp: Fsdp = False,
) -> None:
    """Train an autoregressive model to predict blocks of tokens at once."""
    with set_up(threads, device, fsdp=fsdp) as ranks:
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
            end_id=chat_format(words).end_id,
            impl=attention,
        )
        with ranks.first_before_others():
            samples = load_samples(data, words, out)
        model_config = loaded.model.config
        assert model_config.mask_token_id is not None, "load_base sets it"
        layout: dict[str, Any] = {
            "block_size": block_size,
            "budget": budget,
            "max_length": max_length,
            "shift": shift,
            "causal_attn": causal_attn,
        }
        mask_id, end_ids = model_config.mask_token_id, model_config.eos_token_ids
        run_training(
            loaded,
            BlockRows(samples, BlockSpec(mask_id=mask_id, end_ids=end_ids, **layout)),
            samples,
            words,
            config,
            out,
            ranks=ranks,
            facts={"base": public_name(base)} | layout,
            record={"data": data.name},
            resume=resume,
        )


if __name__ == "__main__":
    run_command(with_train_options(main))
