"""Who is timed: this project's decoders and the modes of Hugging Face `generate`, on one model."""

import dataclasses
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM

from decoders.generate import Request, generate
from decoders.protocol import Decoder
from decoders.trimming import Ending
from harness.models import open_model
from harness.run_config import Dtype, Setup
from sdlm.attention import Impl
from sdlm.checkpoint import save_model
from sdlm.model import SDLM, ModelConfig
from sdlm.model_names import model_folder
from tests.benchmarks.roofline import StepShape

BLOCK = 4
# Shapes with random weights, for what no laptop decodes well: Qwen2.5-3B's.
SHAPES = {
    "3b-shapes": ModelConfig(
        family="qwen2",
        vocab_size=151_936,
        hidden_size=2048,
        intermediate_size=11_008,
        num_layers=36,
        num_heads=16,
        num_kv_heads=2,
        head_dim=128,
        rms_norm_eps=1e-6,
        rope_theta=1e6,
        max_context=32_768,
        qkv_bias=True,
        tie_embeddings=True,
        block_size=BLOCK,
        mask_token_id=151_935,
    )
}
# For trying scripts out.
SHAPES["small-shapes"] = dataclasses.replace(
    SHAPES["3b-shapes"],
    vocab_size=1000,
    hidden_size=64,
    intermediate_size=128,
    num_layers=2,
    num_heads=4,
    head_dim=16,
    mask_token_id=999,
)


class Run(NamedTuple):
    """ids of every row; seconds in all. What only this project's loop tells: seconds of decoding
    forwards alone; forwards of the slowest row, and the tokens that it kept in them."""

    ids: list[tuple[int, ...]]
    seconds: float
    decode_s: float = 0.0
    forwards: int = 0
    decoded: int = 0


def shape_model(name: str, device: str, impl: Impl) -> SDLM:
    """A model of that shape in bf16, with random weights, made on the device itself."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            return SDLM(SHAPES[name], impl).eval().requires_grad_(False)
    finally:
        torch.set_default_dtype(torch.float32)


def folder_of(name: str, scratch: Path) -> Path:
    """The model's folder; shapes get one in `scratch`."""
    if name not in SHAPES:
        return model_folder(name)
    folder = scratch / name
    model = shape_model(name, "cpu", Impl.DENSE)
    save_model(model, folder, torch.bfloat16)
    return folder


def our_model(name: str, folder: Path, dtype: Dtype, *, device: str, setup: Setup) -> SDLM:
    """The model, as an SDLM: one that has no windows gets a mask token from the vocabulary's end.

    Its windows are not trained then: what they cost is right, what they answer is not.
    """
    model = open_model(
        name,
        folder,
        dtype=dtype,
        attention=None,
        device=device,
        need_tokenizer=False,
        setup=setup,
    ).model
    if model.config.block_size is None:
        last = model.config.vocab_size - 1
        model.config = dataclasses.replace(model.config, block_size=BLOCK, mask_token_id=last)
    return model


def prompts(rows: int, length: int) -> list[list[int]]:
    """Prompts without meaning, each row's its own."""
    return [[100 + (7 * row + 3 * slot) % 400 for slot in range(length)] for row in range(rows)]


def run_ours(model: SDLM, decoder: Decoder, rows: list[list[int]], new_tokens: int) -> Run:
    requests = [Request(key=str(row), ids=tuple(ids)) for row, ids in enumerate(rows)]
    decode_s = 0.0

    def add(forward: Any) -> None:
        nonlocal decode_s
        decode_s += forward.seconds if forward.kind == "decode" else 0.0

    started_s = time.perf_counter()
    done = list(
        generate(
            model,
            decoder,
            requests,
            Ending(budget=new_tokens),
            batch_size=len(rows),
            on_forward=add,
        )
    )
    seconds = time.perf_counter() - started_s
    by_key = {completion.key: completion for completion in done}
    ids = [by_key[request.key].ids for request in requests]
    slowest = max(done, key=lambda completion: completion.decode_forwards)
    decoded = sum(slowest.kept[slowest.prefill_forwards :])
    return Run(ids, seconds, decode_s, slowest.decode_forwards, decoded)


def step_shapes(
    model: SDLM, decoder: Decoder, rows: list[list[int]], new_tokens: int
) -> list[StepShape]:
    """The shapes of a run's decoding forwards, padding left out."""
    shapes: list[StepShape] = []

    def note(_: Any, arguments: tuple[Any, ...]) -> None:
        ids_BT, _, layout, _, wanted_BN = arguments
        keys = int(layout.offset_B.max()) + ids_BT.shape[1]
        shapes.append(StepShape(ids_BT.shape[0], 0, wanted_BN.numel(), keys))

    slots: list[tuple[str, int]] = []
    # A compiled forward calls no hook.
    compiled, model.compiled = model.compiled, None
    requests = [Request(key=str(row), ids=tuple(ids)) for row, ids in enumerate(rows)]
    hook = model.register_forward_pre_hook(note)
    try:
        ending = Ending(budget=new_tokens)
        for _ in generate(
            model,
            decoder,
            requests,
            ending,
            batch_size=len(rows),
            on_forward=lambda forward: slots.append((forward.kind, forward.query_slots)),
        ):
            pass
    finally:
        hook.remove()
        model.compiled = compiled
    return [
        shape._replace(slots=count)
        for shape, (kind, count) in zip(shapes, slots, strict=True)
        if kind == "decode"
    ]


class Theirs:
    """Hugging Face `generate` on the same weights: plain, prompt lookup, assisted."""

    def __init__(self, folder: Path, dtype: torch.dtype, device: str) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval().to(device)
        layers = self.model.config.num_hidden_layers
        # The assistant is the model's own first layers: no second model has the same tokenizer.
        self.modes: dict[str, dict[str, Any]] = {
            "transformers generate": {},
            "transformers prompt lookup": {"prompt_lookup_num_tokens": 10},
            "transformers assisted (early exit)": {"assistant_early_exit": max(1, layers // 4)},
        }

    def run(self, mode: str, rows: list[list[int]], new_tokens: int) -> Run:
        prompt = torch.tensor(rows, device=self.model.device)
        started_s = time.perf_counter()
        out = self.model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=new_tokens,
            min_new_tokens=new_tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            **self.modes[mode],
        )
        ids = [tuple(row) for row in out[:, prompt.shape[1] :].tolist()]
        seconds = time.perf_counter() - started_s
        return Run(ids, seconds)
