"""What a model needs and what a machine can give at most, from bytes and FLOPs alone.

    python -m tests.benchmarks.sizing      # the tables of docs/scaling.md

Nothing is measured here. Models are Qwen2.5's shapes; a machine is its memory, its bandwidth and
its rate of dense bf16 products, as its maker gives them.
"""

import dataclasses
from typing import NamedTuple

import pandas as pd
import torch

from harness.batch_memory import cache_bytes
from sdlm.model import parameter_count
from tests.benchmarks.contenders import SHAPES
from tests.benchmarks.roofline import (
    Cost,
    Machine,
    StepShape,
    body_weights,
    cost_of,
)

CONTEXT = 1024
# Query slots and wanted logits of a step at D = 4, two tokens pending in confidence decoding.
STEPS = {"ar": (1, 1), "greedy-confidence": (6, 4), "self-speculative": (20, 16)}
BATCHES = (1, 32, 128)
# What weights and the rows' workspace leave of a GPU's memory for the cache.
CACHE_SHARE = 0.9


class Gpu(NamedTuple):
    memory_bytes: float
    machine: Machine


GPUS = {
    "A100 80 GB": Gpu(80e9, Machine(2.04e12, 312e12)),
    "H100 80 GB": Gpu(80e9, Machine(3.35e12, 989e12)),
    "H200 141 GB": Gpu(141e9, Machine(4.8e12, 989e12)),
}
MODELS = {
    "3B": SHAPES["3b-shapes"],
    "32B": dataclasses.replace(
        SHAPES["3b-shapes"],
        vocab_size=152_064,
        hidden_size=5120,
        intermediate_size=27_648,
        num_layers=64,
        num_heads=40,
        num_kv_heads=8,
        tie_embeddings=False,
    ),
}


def needs() -> pd.DataFrame:
    """Memory of each model, and the rows of CONTEXT tokens that a GPU's has room for."""
    rows = []
    for name, config in MODELS.items():
        a_token = cache_bytes(config, torch.bfloat16, 1)
        bf16 = 2 * parameter_count(config)
        head = config.hidden_size * config.vocab_size
        # The head is quantised too; a tied embedding stays beside it as it is.
        int8 = bf16 - body_weights(config) + (head if config.tie_embeddings else -head)
        fits = {
            gpu: _rows(CACHE_SHARE * spec.memory_bytes - bf16, a_token)
            for gpu, spec in GPUS.items()
        }
        rows.append(
            {
                "model": name,
                "weights, bf16": f"{bf16 / 1e9:.1f} GB",
                "int8": f"{int8 / 1e9:.1f} GB",
                "cache a token": f"{a_token / 1e3:.0f} kB",
                **fits,
            }
        )
    return pd.DataFrame(rows)


def _rows(free_bytes: float, a_token: int) -> str:
    rows = int(free_bytes / (CONTEXT * a_token))
    return f"{rows} rows" if rows > 0 else "no room"


def steps(gpu: str) -> pd.DataFrame:
    """The least milliseconds of a step on one GPU, and which of the two bounds it."""
    machine = GPUS[gpu].machine
    rows = []
    for name, config in MODELS.items():
        for decoder, (slots, wanted) in STEPS.items():
            row: dict[str, str] = {"model": name, "decoder": decoder}
            for batch in BATCHES:
                shape = StepShape(batch, batch * slots, batch * wanted, CONTEXT)
                cost: Cost = cost_of(config, torch.bfloat16, shape)
                row[f"batch {batch}"] = (
                    f"{1e3 * cost.ideal_s(machine):.2f} ms, {cost.bound(machine)}"
                )
            rows.append(row)
    return pd.DataFrame(rows)


def tables() -> str:
    return "\n\n".join(
        table.to_markdown(index=False, disable_numparse=True)
        for table in (needs(), steps("H100 80 GB"))
    )


if __name__ == "__main__":
    print(tables())
