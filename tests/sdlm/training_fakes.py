"""Small training runs: conversations about sums, a tiny model, and the loop without a command."""

import json
from collections.abc import Callable
from pathlib import Path

import torch

from sdlm.model import SDLM
from sdlm.pretrain import initialise
from sdlm.retrofit.batches import Batches, BlockRows
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.loop import Outcome, train
from sdlm.retrofit.lora import add_lora
from sdlm.retrofit.ranks import Ranks
from sdlm.retrofit.run_state import Progress
from sdlm.retrofit.training_rows import BlockSpec
from tests.fakes import TINY_MASK, tiny_config
from tests.sdlm.test_retrofit_rows import SAMPLES

CONFIG = TrainConfig(
    lr=3e-3, max_steps=8, batch_tokens=400, log_every=3, checkpoint_minutes=0.0, bf16=True
)
SPEC = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=(2,))


def conversation(n: int) -> dict:
    return {
        "messages": [
            {"role": "user", "content": f"What is {n} + {n}?"},
            {"role": "assistant", "content": f"{n} + {n} = {2 * n}.\n#### {2 * n}"},
        ]
    }


def tiny_trainable(**changes: object) -> SDLM:
    model = SDLM(tiny_config(**{"tie_embeddings": True, **changes}))
    initialise(model, 5)
    return model


def run(
    out: Path,
    config: TrainConfig = CONFIG,
    *,
    resume: bool = False,
    export: Callable[[Progress], None] = lambda progress: None,
    model: SDLM | None = None,
) -> tuple[Outcome, dict[str, torch.Tensor]]:
    model = tiny_trainable() if model is None else model
    if config.lora_rank:
        add_lora(
            model,
            rank=config.lora_rank,
            alpha=config.lora_alpha,
            new_token=TINY_MASK,
            seed=config.seed,
        )
    batches = Batches(
        BlockRows(SAMPLES, SPEC),
        batch_tokens=config.batch_tokens,
        pack_length=config.pack_length,
        pad_id=0,
        seed=config.seed,
        device=torch.device("cpu"),
        accumulation=config.grad_accumulation,
    )
    out.mkdir(exist_ok=True)
    ranks = Ranks(device=torch.device("cpu"))
    outcome = train(
        model, batches, config, out, ranks=ranks, facts={}, resume=resume, export=export
    )
    return outcome, {name: p.detach().clone() for name, p in model.named_parameters()}


def losses(out: Path) -> list[dict]:
    """The log without what depends on the clock."""
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return [{k: v for k, v in x.items() if k not in ("tokens_per_s", "elapsed_s")} for x in lines]
