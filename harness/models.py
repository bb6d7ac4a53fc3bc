"""A model made ready to decode, with its tokenizer."""

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from harness.run_config import Attention, Dtype, Setup
from sdlm.allocator import keep_freed_memory
from sdlm.attention import Impl, default_impl
from sdlm.checkpoint import load_model
from sdlm.hf_config import DTYPES, checkpoint_dtype, read_config
from sdlm.model import SDLM
from sdlm.model_names import PACKAGED
from sdlm.tensor_parallel import open_parallel
from sdlm.tokenizer import check_mask_token, load_tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model ready to decode, or without weights to plan with. `tokenizer` is None where its
    folder has none."""

    name: str
    folder: Path
    model: SDLM
    tokenizer: PreTrainedTokenizerFast | None

    @property
    def eos_token_ids(self) -> frozenset[int]:
        return frozenset(self.model.config.eos_token_ids)


def resolve_dtype(name: str, folder: Path, dtype: Dtype) -> torch.dtype:
    """`auto` is the checkpoint's own; fp32 for nano, so that equal outputs are exactly equal."""
    if dtype != "auto":
        return DTYPES[dtype]
    return torch.float32 if name in PACKAGED else checkpoint_dtype(folder)


def open_model(
    name: str,
    folder: Path,
    *,
    dtype: Dtype,
    attention: Attention | None,
    device: str,
    need_tokenizer: bool,
    setup: Setup | None = None,
    weights: bool = True,
) -> LoadedModel:
    """Load the model `name` and its tokenizer from `folder`, where `find_model` has found it.

    Attention None is the device's default. Without `weights` the model is a shape that can't
    decode: whoever only plans what others do needs no memory. Raises ValueError for what is wrong
    with the folder, its weights or its mask token.
    """
    target = torch.device(device)
    impl = default_impl(target) if attention is None else Impl(attention)
    number_type = resolve_dtype(name, folder, dtype)
    if weights:
        model = _ready(folder, target, number_type, impl, setup or Setup())
    else:
        with torch.device("meta"):
            model = SDLM(read_config(folder), impl).to(number_type)
    # Without tokenizer.json, transformers makes a fast tokenizer of older files.
    names = ("tokenizer.json", "tokenizer_config.json")
    has_tokenizer = any((folder / name).exists() for name in names)
    tokenizer = load_tokenizer(folder) if has_tokenizer or need_tokenizer else None
    if tokenizer is not None:
        check_mask_token(tokenizer, model.config)
    return LoadedModel(name=name, folder=folder, model=model, tokenizer=tokenizer)


def _ready(
    folder: Path, device: torch.device, dtype: torch.dtype, impl: Impl, setup: Setup
) -> SDLM:
    """The model, laid out for inference; nothing is saved of it any more."""
    if setup.tensor_parallel > 1:
        ranks = setup.tensor_parallel
        model = open_parallel(folder, ranks, dtype=dtype, impl=impl, device_type=device.type)
        model.pack()
        return model
    model = load_model(folder, dtype=dtype, impl=impl, device=device)
    if setup.quantize == "int8":
        # Needs torchao, which not everybody has.
        from sdlm.quantize import quantize_int8

        quantize_int8(model)
    elif not setup.compile:
        model.pack()
    if setup.compile:
        model.compile_forward()
    if device.type == "cpu":
        # After loading, which leaves holes.
        keep_freed_memory()
    return model


def default_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
