"""What a GPU gives, in under eight minutes: CUDA graphs, flex against dense, the batch curve.

    python -m tests.benchmarks.gpu --out docs/benchmarks
    python -m tests.benchmarks.gpu --dry-run            # the same steps, tiny, on a CPU

Qwen2.5-3B's shapes with random weights in bf16:
1. `ar` at batch 1, compiled and replayed as CUDA graphs: share of the memory bandwidth that a copy
   of the same memory reaches (wanted: at least 60 %).
2. A step of `ar` and of self-speculation over 1k ... 16k tokens of context, flex against dense.
3. Tokens/s of every decoder at 1 ... 128 rows, as the engine decodes by default.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch._dynamo.utils import counters

from decoders.registry import build_decoder
from harness.machine import hardware, software
from harness.models import default_device
from results.atomic import write_atomic
from sdlm.attention import Impl, default_impl
from tests.benchmarks.contenders import prompts, run_ours, shape_model
from tests.benchmarks.growth import time_step
from tests.benchmarks.roofline import StepShape, measure_machine, seconds_of, step_cost

PROMPT_TOKENS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything. Parts that begin after `stop_s` seconds are left out, and said."""

    shapes: str
    contexts: tuple[int, ...]
    batches: tuple[int, ...]
    new_tokens: int
    copied_bytes: int
    stop_s: float


FULL = Size(
    shapes="3b-shapes",
    contexts=(1024, 4096, 16_384),
    batches=(1, 8, 32, 128),
    new_tokens=64,
    copied_bytes=1 << 32,
    stop_s=400,
)
DRY = Size(
    shapes="small-shapes",
    contexts=(128, 256),
    batches=(1, 2),
    new_tokens=8,
    copied_bytes=1 << 20,
    stop_s=400,
)
SPECS = ("ar", "block-ar", "greedy-confidence(tau=0)", "self-speculative")


def copy_bandwidth(size: Size, device: torch.device) -> float:
    """Bytes/s that a copy reads and writes."""
    source = torch.zeros(size.copied_bytes // 2, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * source.nbytes / seconds_of(lambda: target.copy_(source), device)


def batch_1(size: Size, device: str) -> list[dict[str, Any]]:
    """`ar` at batch 1, eager and compiled, with the share of the copy's bandwidth."""
    model = shape_model(size.shapes, device, Impl.DENSE)
    bandwidth = copy_bandwidth(size, model.device)
    decoder = build_decoder("ar", default_block=4, mask_token_id=model.config.mask_token_id)
    rows: list[dict[str, Any]] = []
    for compiled in (False, True):
        if compiled:
            model.compile_forward()
        started_s = time.perf_counter()
        run_ours(model, decoder, prompts(1, PROMPT_TOKENS), 8)
        warmup_s = time.perf_counter() - started_s
        run = run_ours(model, decoder, prompts(1, PROMPT_TOKENS), size.new_tokens)
        step_s = run.decode_s / run.forwards
        moved = step_cost(model, StepShape(1, 1, 1, PROMPT_TOKENS)).moved_bytes
        rows.append(
            {
                "compiled": compiled,
                "warmup_s": warmup_s,
                "step_ms": 1e3 * step_s,
                "tokens_per_s": 1 / step_s,
                "bandwidth_share": moved / step_s / bandwidth,
                "graphs_skipped": counters["inductor"]["cudagraph_skips"],
            }
        )
    return rows


@torch.inference_mode()
def flex_against_dense(size: Size, device: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    model = shape_model(size.shapes, device, Impl.DENSE)
    machine = measure_machine(model.dtype, model.device)
    for spec in ("ar", "self-speculative"):
        for context in size.contexts:
            for impl in Impl:
                model.impl = impl
                point = time_step(model, machine, spec, 1, context)
                rows.append(
                    {"decoder": spec, "context": context, "attention": impl.value}
                    | {"step_ms": point.step_ms, "ideal_ms": point.ideal_ms}
                )
    return rows


def batch_curve(size: Size, device: str) -> list[dict[str, Any]]:
    """As the engine decodes by default: not compiled, flex on CUDA."""
    model = shape_model(size.shapes, device, default_impl(torch.device(device)))
    rows: list[dict[str, Any]] = []
    for batch in size.batches:
        for spec in SPECS:
            decoder = build_decoder(
                spec, default_block=4, mask_token_id=model.config.mask_token_id
            )
            texts = prompts(batch, PROMPT_TOKENS)
            run_ours(model, decoder, texts, 4)
            run = run_ours(model, decoder, texts, size.new_tokens)
            rows.append(
                {
                    "batch": batch,
                    "decoder": spec,
                    "step_ms": 1e3 * run.decode_s / run.forwards,
                    "tokens_per_forward": run.decoded / run.forwards,
                    "tokens_per_s": batch * size.new_tokens / run.seconds,
                }
            )
    return rows


PARTS: dict[str, Callable[[Size, str], list[dict[str, Any]]]] = {
    "batch 1, bytes against a copy's": batch_1,
    "flex against dense": flex_against_dense,
    "batch curve": batch_curve,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--out", type=Path, help="folder for gpu.md and gpu.json")
    arguments = parser.parse_args()
    size, device = (DRY, "cpu") if arguments.dry_run else (FULL, default_device())
    if not arguments.dry_run and device != "cuda":
        parser.error("no CUDA device here; give --dry-run to try the steps on a CPU")
    started_s = time.perf_counter()
    facts: dict[str, Any] = {"software": software(), "hardware": hardware(device)}
    text = f"# {facts['hardware'].get('gpu', 'dry run')}\n"
    for title, part in PARTS.items():
        if time.perf_counter() - started_s > size.stop_s:
            text += f"\n## {title}\n\nleft out: time was up\n"
            continue
        facts[title] = part(size, device)
        table = pd.DataFrame(facts[title]).to_markdown(index=False, floatfmt=".3g")
        text += f"\n## {title}\n\n{table}\n"
        if device == "cuda":
            torch.cuda.empty_cache()
        print(f"{title}: {time.perf_counter() - started_s:.0f} s", flush=True)
    print(text)
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        write_atomic(arguments.out / "gpu.json", json.dumps(facts, indent=2) + "\n")
        write_atomic(arguments.out / "gpu.md", text)


if __name__ == "__main__":
    main()
