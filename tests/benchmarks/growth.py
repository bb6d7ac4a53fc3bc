"""How a step's cost grows with context and with rows, and what memory it takes.

    python -m tests.benchmarks.growth --model nano --out docs/benchmarks

Steps of every decoder at contexts of 128 ... 8,192 tokens (one row) and at 1 ... 64 rows (256
tokens), as a table and a plot, each with the slope that bytes and FLOPs explain; and, in processes
of their own, the peak memory of each decoder's batches against weights + cache + workspace.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import torch

from decoders.generate import Request, needed_capacity
from decoders.protocol import Rows
from decoders.registry import build_decoder
from harness.batch_memory import cache_bytes, fixed_bytes, step_bytes
from harness.machine import hardware, software
from harness.models import default_device
from harness.run_config import Dtype, Setup
from results.atomic import write_atomic
from sdlm.layout import Layout
from sdlm.linear import Linear
from sdlm.model import SDLM
from sdlm.model_names import model_folder
from tests.benchmarks.contenders import our_model, prompts, run_ours
from tests.benchmarks.roofline import Machine, StepShape, measure_machine, seconds_of, step_cost

CONTEXTS = (128, 256, 512, 1024, 2048, 4096, 8192)
ROWS = (1, 2, 4, 8, 16, 32, 64)
CONTEXT_OF_ROWS = 256
SPECS = ("ar", "greedy-confidence(tau=0.9)", "self-speculative")
# Tokens pending in a step of confidence decoding, about what a trained model keeps.
PENDING = 2
BUDGET = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One step: median milliseconds, and the least that its bytes and FLOPs take."""

    decoder: str
    rows: int
    context: int
    step_ms: float
    ideal_ms: float


def decoding_step(model: SDLM, spec: str, rows: int, context: int) -> Callable[[], StepShape]:
    """A decoding step over a cache filled with `context` tokens a row, which can be done again and
    again: nothing is kept."""
    decoder = build_decoder(spec, default_block=4, mask_token_id=model.config.mask_token_id)
    cache = model.new_cache(rows, context + 256)
    cache.lengths_B[:] = context
    zeros_BK = torch.full((rows, decoder.keeps_most), 100, device=model.device)
    state = Rows(
        pending_BP=zeros_BK[:, :PENDING],
        num_pending_B=torch.full((rows,), min(PENDING, decoder.keeps_most), device=model.device),
        cached_B=cache.lengths_B,
        draft_BD=zeros_BK,
        prefill=False,
    )

    def step() -> StepShape:
        query = decoder.propose(state)
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=cache.lengths_B,
            num_keys=cache.capacity if model.static_shapes else context + query.ids_BT.shape[1],
            causal_attn=model.config.causal_attn,
        )
        logits = model.decode(query.ids_BT, query.positions_BT, layout, cache, query.wanted_BN)
        decoder.accept(state, logits).count_B.tolist()
        return StepShape(rows, int(query.num_slots_B.sum()), query.wanted_BN.numel(), context)

    return step


def time_step(model: SDLM, machine: Machine, spec: str, rows: int, context: int) -> Point:
    step = decoding_step(model, spec, rows, context)
    seconds = seconds_of(step, model.device, repeats=9)
    ideal_s = step_cost(model, step()).ideal_s(machine)
    return Point(
        decoder=spec, rows=rows, context=context, step_ms=1e3 * seconds, ideal_ms=1e3 * ideal_s
    )


@torch.inference_mode()
def measure(model: SDLM, machine: Machine) -> list[Point]:
    cases = [(1, context) for context in CONTEXTS] + [(rows, CONTEXT_OF_ROWS) for rows in ROWS]
    return [time_step(model, machine, spec, *case) for spec in SPECS for case in cases]


def memory(name: str, dtype: Dtype, spec: str, rows: int) -> dict[str, float]:
    """Peak memory of decoding `rows` rows, and what it should be; for a fresh process.

    The peak is that of decoding: what loading takes for a moment is not in it.
    """
    before = _status_bytes("VmRSS")
    model = our_model(name, model_folder(name), dtype, device="cpu", setup=Setup())
    decoder = build_decoder(spec, default_block=4, mask_token_id=model.config.mask_token_id)
    texts = prompts(rows, CONTEXT_OF_ROWS)
    requests = [Request(key=str(row), ids=tuple(ids)) for row, ids in enumerate(texts)]
    Path("/proc/self/clear_refs").write_text("5")
    run_ours(model, decoder, texts, BUDGET)
    capacity = needed_capacity(model, [decoder], requests, BUDGET)
    step = rows * step_bytes(model, decoder.max_slots, capacity)
    parts = {
        "weights": weight_bytes(model),
        "cache": rows * cache_bytes(model.config, model.dtype, capacity),
        "workspace": fixed_bytes(model, capacity) + step,
    }
    peak = _status_bytes("VmHWM") - before
    return {"rows": rows, "peak": peak, **parts, "ratio": peak / sum(parts.values())}


def weight_bytes(model: SDLM) -> int:
    """What all weights take in memory, as they lie there now."""
    packed = [m for m in model.modules() if isinstance(m, Linear) and m.packed is not None]
    laid_out = sum(m.in_features * m.out_features for m in packed)
    plain = sum(parameter.nbytes for parameter in model.parameters())
    return plain + model.dtype.itemsize * laid_out


def _status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return 1024 * int(line.split()[1])


def memory_apart(name: str, dtype: str, spec: str, rows: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.growth", "--model", name, "--dtype", dtype]
    command += ["--memory-of", spec, "--memory-rows", str(rows)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"decoder": spec, **json.loads(out.stdout.splitlines()[-1])}


def plot(points: list[Point], path: Path) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, of_rows in zip(axes, (False, True), strict=True):
        for spec in SPECS:
            shown = [
                point
                for point in points
                if point.decoder == spec
                and ((point.context == CONTEXT_OF_ROWS) if of_rows else (point.rows == 1))
            ]
            x = [point.rows if of_rows else point.context for point in shown]
            (line,) = axis.plot(x, [point.step_ms for point in shown], marker="o", label=spec)
            ideal = [point.ideal_ms for point in shown]
            axis.plot(x, ideal, color=line.get_color(), linestyle=":", linewidth=1)
        axis.set(xscale="log", yscale="log", ylabel="ms a step (dotted: bytes and FLOPs)")
        axis.set_xlabel("rows" if of_rows else "context, tokens")
        axis.legend(fontsize="small")
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="nano")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--out", type=Path, help="folder for NAME.md, NAME.svg and NAME.json")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    parser.add_argument("--memory-rows", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    of = (arguments.model, arguments.dtype)
    if arguments.memory_of is not None:
        print(json.dumps(memory(*of, arguments.memory_of, arguments.memory_rows)))
        return
    memories = [memory_apart(*of, spec, rows) for spec in SPECS for rows in (1, 8, 32)]
    folder = model_folder(arguments.model)
    model = our_model(
        arguments.model, folder, arguments.dtype, device=default_device(), setup=Setup()
    )
    machine = measure_machine(model.dtype, model.device)
    points = measure(model, machine)
    steps = pd.DataFrame([asdict(point) for point in points])
    peaks = pd.DataFrame(memories)
    print(steps.to_string(index=False), peaks.to_string(index=False), sep="\n\n")
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        name = f"growth-{Path(arguments.model).name}-{arguments.dtype}"
        plot(points, arguments.out / f"{name}.svg")
        facts = {"software": software(), "hardware": hardware(default_device())}
        rows = {"steps": [asdict(point) for point in points], "memory": memories}
        write_atomic(
            arguments.out / f"{name}.json",
            json.dumps(facts | machine._asdict() | rows, indent=2) + "\n",
        )
        write_atomic(
            arguments.out / f"{name}.md",
            f"# {name}\n\n![step times]({name}.svg)\n\n"
            + steps.to_markdown(index=False, floatfmt=".2f")
            + "\n\nPeak memory in bytes, and over weights + cache + workspace:\n\n"
            + peaks.to_markdown(index=False, floatfmt=".2f")
            + "\n",
        )


if __name__ == "__main__":
    main()
