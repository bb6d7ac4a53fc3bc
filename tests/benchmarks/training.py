"""Training throughput beside Hugging Face's classes, on the same batches of the training layout.

    python -m tests.benchmarks.training --model nano --data train.jsonl --steps 12

Theirs is the straightforward way: the model class of transformers, a dense additive mask, logits
of every slot. Ours runs the head on labelled slots only; with `--compile` its blocks are compiled.
Both train fp32 weights with AdamW under bf16 autocast, in turns, and report slots of the training
layout per second (padding left out), of which the prompt and answer tokens are a part. Before that
their losses on the first batch are compared in fp32.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from harness.machine import hardware, software
from results.atomic import write_atomic
from sdlm.allocator import keep_freed_memory
from sdlm.checkpoint import load_model
from sdlm.hf_config import read_config
from sdlm.layout import dense_mask
from sdlm.model_names import model_folder
from sdlm.retrofit.batches import Batches, BlockRows, Position
from sdlm.retrofit.loss import training_loss
from sdlm.retrofit.samples import load_samples
from sdlm.retrofit.training_rows import IGNORE, Batch, block_spec
from sdlm.tokenizer import load_tokenizer

LEARNING_RATE = 1e-4
BUDGET = 1.0
LossOf = Callable[[Batch, bool], Tensor]


class Trainer(NamedTuple):
    """Who trains: `loss` takes a batch and whether to autocast to bf16."""

    name: str
    model: nn.Module
    loss: LossOf
    optimiser: torch.optim.Optimizer

    def step(self, batch: Batch) -> float:
        """Seconds of one update."""
        started_s = time.perf_counter()
        self.loss(batch, True).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0).item()
        self.optimiser.step()
        self.optimiser.zero_grad()
        return time.perf_counter() - started_s


def ours(folder: Path, *, compiled: bool) -> Trainer:
    model = load_model(folder, dtype=torch.float32).train().requires_grad_()
    if compiled:
        model.compile_blocks()

    def loss(batch: Batch, bf16: bool) -> Tensor:
        return training_loss(model, batch, bf16=bf16).total

    name = "sdlm, compiled" if compiled else "sdlm"
    return Trainer(name, model, loss, _adamw(model))


def theirs(folder: Path) -> Trainer:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train()

    def loss(batch: Batch, bf16: bool) -> Tensor:
        visible_B1TS = dense_mask(batch.layout)[:, None]
        mask_B1TS = torch.zeros(visible_B1TS.shape).masked_fill_(~visible_B1TS, -torch.inf)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits_BTV = model(
                input_ids=batch.ids_BT,
                position_ids=batch.positions_BT,
                attention_mask=mask_B1TS,
                use_cache=False,
            ).logits
        logits_NV = logits_BTV.float().flatten(0, 1)
        return F.cross_entropy(logits_NV, batch.labels_BT.flatten(), ignore_index=IGNORE)

    return Trainer("transformers, dense mask", model, loss, _adamw(model))


def _adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, fused=True)


def training_batches(
    folder: Path, data: Path, scratch: Path, *, count: int, batch_tokens: int
) -> list[Batch]:
    """The first batches of a retrofit of that model on that data."""
    spec = block_spec(read_config(folder), budget=BUDGET)
    batches = Batches(
        BlockRows(load_samples(data, load_tokenizer(folder), scratch), spec),
        batch_tokens=batch_tokens,
        pack_length=0,
        pad_id=0,
        seed=0,
        device=torch.device("cpu"),
    )
    found: list[Batch] = []
    for update in batches.start_at(Position(0, 0)):
        found += update.batches
        if len(found) >= count:
            break
    return found[:count]


def measure(
    trainers: list[Trainer], batches: list[Batch], warm_up: int
) -> list[dict[str, object]]:
    """Slots per second of each, from the medians of steps taken in turns; the first is 1."""
    rates: dict[str, list[float]] = {trainer.name: [] for trainer in trainers}
    for number, batch in enumerate(batches):
        for trainer in trainers:
            seconds = trainer.step(batch)
            if number >= warm_up:
                rates[trainer.name].append(batch.num_tokens / seconds)
    base = median(rates[trainers[0].name])
    return [
        {"trainer": name, "slots_per_s": median(found), "ratio": median(found) / base}
        for name, found in rates.items()
    ]


def main() -> None:
    """Print the table, and write it as JSON with `--out`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="nano")
    parser.add_argument("--data", type=Path, required=True, help="JSONL, as for sdlm.retrofit")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--warm-up", type=int, default=4, help="steps before those that count")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--scratch", type=Path, default=Path("runs/bench"))
    parser.add_argument("--out", type=Path, help="a JSON file")
    args = parser.parse_args()
    keep_freed_memory()
    folder = model_folder(args.model)
    batches = training_batches(
        folder,
        args.data,
        args.scratch,
        count=args.warm_up + args.steps,
        batch_tokens=args.batch_tokens,
    )
    trainers = [theirs(folder), ours(folder, compiled=False), ours(folder, compiled=True)]
    with torch.no_grad():
        losses = {trainer.name: float(trainer.loss(batches[0], False)) for trainer in trainers[:2]}
    rows = measure(trainers, batches, args.warm_up)
    for row in rows:
        print(f"{row['trainer']:28} {row['slots_per_s']:>8.0f} slots/s  {row['ratio']:.2f} x")
    print(f"first loss in fp32: {losses}", file=sys.stderr)
    if args.out is not None:
        found = {"rows": rows, "fp32_loss": losses, "model": folder.name}
        text = json.dumps(found | {"hardware": hardware("cpu"), "software": software()}, indent=2)
        write_atomic(args.out, text + "\n")


if __name__ == "__main__":
    main()
