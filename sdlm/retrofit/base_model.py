"""The model that a retrofit starts from: its weights, and a mask token of its own.

A tokenizer that has no mask token gets one; its embedding starts as the mean of all others, and
the embedding grows where the vocabulary has no unused row left.
"""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch

from sdlm.attention import Impl
from sdlm.checkpoint import build_model, load_model, own_tensors, with_mean_rows
from sdlm.model import SDLM, ModelConfig
from sdlm.tokenizer import (
    MASK,
    PreTrainedTokenizerFast,
    add_special_token,
    check_mask_token,
)


class Base(NamedTuple):
    """A trainable model; new_token: its mask token, where the base was not trained with it."""

    model: SDLM
    new_token: int | None


def load_base(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    *,
    mask_token: str | None,
    block_size: int,
    causal_attn: bool,
    shift: bool,
    end_id: int,
    impl: Impl,
) -> Base:
    """The model in `folder` as a trainable fp32 SDLM; adds the mask token where it is missing.

    mask_token: its text; None is an SDLM's own, and `MASK` for any other model.
    """
    base = load_model(folder, dtype=torch.float32)
    check_vocabulary(tokenizer, base.config, folder)
    known, mask_id = True, base.config.mask_token_id
    if mask_token is not None or mask_id is None:
        mask_token = MASK if mask_token is None else mask_token
        known = mask_token in tokenizer.get_vocab()
        mask_id = add_special_token(tokenizer, mask_token)
    config = replace(
        base.config,
        vocab_size=max(base.config.vocab_size, mask_id + 1),
        block_size=block_size,
        mask_token_id=mask_id,
        causal_attn=causal_attn,
        shift=shift,
        eos_token_ids=tuple(sorted({*base.config.eos_token_ids, end_id})),
    )
    check_mask_token(tokenizer, config)
    new_token = None if base.config.mask_token_id == mask_id else mask_id
    tensors = own_tensors(base)
    del base
    for name in tensors.keys() & {"embedding.weight", "head.weight"}:
        mean_C = tensors[name].mean(0)
        tensors[name] = with_mean_rows(tensors[name], config.vocab_size)
        if not known:
            tensors[name][mask_id] = mean_C
    return Base(build_model(config, tensors, impl), new_token)


def check_vocabulary(
    tokenizer: PreTrainedTokenizerFast, config: ModelConfig, folder: Path
) -> None:
    """Raise ValueError where a text can have tokens that the model does not."""
    if len(tokenizer) > config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(tokenizer)} tokens and the model in {folder} only"
            f" {config.vocab_size}; they don't belong together"
        )
