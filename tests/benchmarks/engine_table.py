"""One table of what the engine reaches: every decoder against Hugging Face and the roofline.

    python -m tests.benchmarks.engine_table --model nano --batch-sizes 1,8,32
    python -m tests.benchmarks.engine_table --model FOLDER --dtype bfloat16 --out docs/benchmarks

Models: nano, a folder or hub id, or `3b-shapes` (Qwen2.5-3B's shapes with random weights).
All contenders have the same weights and prompts and take turns in one process; medians are of the
repeats. Times run from prompt ids to the last id, prefill included; `roofline` is the least time
that decoding's bytes and FLOPs take at the rates measured at start, over the decoding time.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd
import torch

from decoders.protocol import Decoder
from decoders.registry import build_decoder
from harness.machine import hardware, software
from harness.models import default_device
from harness.run_config import Setup
from results.atomic import write_atomic
from sdlm.command_line import user_errors
from sdlm.model import SDLM
from tests.benchmarks.contenders import (
    BLOCK,
    Run,
    Theirs,
    folder_of,
    our_model,
    prompts,
    run_ours,
    step_shapes,
)
from tests.benchmarks.roofline import Machine, measure_machine, step_cost

# tau 0 keeps every slot, so it feeds the most slots that confidence decoding can.
SPECS = (
    "ar",
    "block-ar",
    "greedy-confidence(tau=0.9)",
    "greedy-confidence(tau=0)",
    "entropy(tau=0.9)",
    "self-speculative",
)
PROMPT_TOKENS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A contender at a batch size.

    decoded_per_s: tokens/s of the decoding forwards alone. speedup: that of `ar` at this batch
    size is 1; speedup_per_token: over its tokens per forward, 1 where a forward costs what `ar`'s
    does. over_batch_1: decoded_per_s against the same contender's at batch 1 (tokens_per_s, of
    others). same_ids: as the reference that owes the same ids, `block-ar` for self-speculation
    and transformers for `ar`.
    """

    batch: int
    contender: str
    tokens_per_s: float
    decoded_per_s: float | None = None
    step_ms: float | None = None
    tokens_per_forward: float | None = None
    speedup: float | None = None
    speedup_per_token: float | None = None
    over_transformers: float | None
    over_batch_1: float | None
    roofline: float | None = None
    bound: str | None = None
    same_ids: float | None


def measure(arguments: argparse.Namespace, scratch: Path) -> tuple[Machine, list[Line]]:
    device = default_device()
    folder = folder_of(arguments.model, scratch)
    model = our_model(
        arguments.model,
        folder,
        arguments.dtype,
        device=device,
        setup=Setup(compile=arguments.compile, quantize=arguments.quantize),
    )
    machine = measure_machine(model.dtype, model.device)
    theirs = None if arguments.ours_only else Theirs(folder, model.dtype, device)
    lines: list[Line] = []
    for batch in arguments.batch_sizes:
        runs = _take_turns(model, theirs, batch, arguments)
        lines += _lines(model, machine, batch, runs, lines, arguments)
        print(_shown(lines[-len(runs) :]), flush=True)
    return machine, lines


def _take_turns(
    model: SDLM, theirs: Theirs | None, batch: int, arguments: argparse.Namespace
) -> dict[str, list[Run]]:
    rows, count = prompts(batch, PROMPT_TOKENS), arguments.new_tokens
    calls: dict[str, Callable[[int], Run]] = {}
    for spec in arguments.decoders:
        decoder = _decoder(spec, model)
        calls[spec] = lambda tokens, decoder=decoder: run_ours(model, decoder, rows, tokens)
    if theirs is not None:
        # Its assisted modes take one prompt at a time.
        for mode in list(theirs.modes)[: None if batch == 1 else 1]:
            calls[mode] = lambda tokens, mode=mode: theirs.run(mode, rows, tokens)
    for call in calls.values():
        call(min(count, 8))
    runs: dict[str, list[Run]] = {name: [] for name in calls}
    for _ in range(arguments.repeats):
        for name, call in calls.items():
            runs[name].append(call(count))
    return runs


def _lines(
    model: SDLM,
    machine: Machine,
    batch: int,
    runs: dict[str, list[Run]],
    before: list[Line],
    arguments: argparse.Namespace,
) -> list[Line]:
    tokens = batch * arguments.new_tokens
    rates = {
        name: tokens / statistics.median(run.seconds for run in of_name)
        for name, of_name in runs.items()
    }
    decode_s = {
        name: statistics.median(run.decode_s for run in of_name) for name, of_name in runs.items()
    }
    first = {
        line.contender: line.decoded_per_s or line.tokens_per_s
        for line in before
        if line.batch == 1
    }
    owed = {"self-speculative": "block-ar", "ar": "transformers generate"}
    lines: list[Line] = []
    for name, of_name in runs.items():
        run = of_name[-1]
        reference = runs.get(owed.get(name, ""))
        line = Line(
            batch=batch,
            contender=name,
            tokens_per_s=rates[name],
            over_transformers=_ratio(rates[name], rates.get("transformers generate")),
            over_batch_1=_ratio(rates[name], first.get(name)),
            same_ids=reference and _same(run, reference[-1]),
        )
        if name in arguments.decoders:
            per_forward = run.decoded / run.forwards
            step_s = decode_s[name] / run.forwards
            baseline = runs["ar"][-1].decoded / decode_s["ar"] if "ar" in runs else None
            speedup = _ratio(run.decoded / decode_s[name], baseline)
            shapes = step_shapes(
                model,
                _decoder(name, model),
                prompts(batch, PROMPT_TOKENS),
                arguments.new_tokens,
            )
            costs = [step_cost(model, shape) for shape in shapes]
            decoded_per_s = batch * run.decoded / decode_s[name]
            line = replace(
                line,
                decoded_per_s=decoded_per_s,
                over_batch_1=_ratio(decoded_per_s, first.get(name)),
                step_ms=1e3 * step_s,
                tokens_per_forward=per_forward,
                speedup=speedup,
                speedup_per_token=speedup and speedup / per_forward,
                roofline=statistics.fmean(cost.ideal_s(machine) for cost in costs) / step_s,
                bound=costs[-1].bound(machine),
            )
        lines.append(line)
    return lines


def _decoder(spec: str, model: SDLM) -> Decoder:
    block = model.config.block_size
    assert block is not None, "our_model gives every model windows"
    return build_decoder(spec, default_block=block, mask_token_id=model.config.mask_token_id)


def _ratio(mine: float, other: float | None) -> float | None:
    return None if other is None else mine / other


def _same(run: Run, reference: Run) -> float:
    pairs = list(zip(run.ids, reference.ids, strict=True))
    return sum(mine == other for mine, other in pairs) / len(pairs)


def _shown(lines: list[Line]) -> str:
    frame = pd.DataFrame([asdict(line) for line in lines])
    return frame.to_string(index=False, float_format=lambda value: f"{value:.2f}", na_rep="-")


def write(
    folder: Path, name: str, machine: Machine, lines: list[Line], arguments: argparse.Namespace
) -> None:
    """NAME.md, the table with what it was made with, and NAME.json, all of it."""
    asked = {key: str(value) for key, value in vars(arguments).items() if key != "out"}
    # Where a folder lies is nobody else's matter.
    asked["model"] = Path(arguments.model).name
    facts = {
        "arguments": asked,
        "software": software(),
        "hardware": hardware(default_device()),
        "bandwidth_bytes_per_s": machine.bandwidth,
        "product_flops_per_s": machine.rate,
    }
    folder.mkdir(parents=True, exist_ok=True)
    rows = [asdict(line) for line in lines]
    write_atomic(folder / f"{name}.json", json.dumps(facts | {"rows": rows}, indent=2) + "\n")
    shown = [{key: "" if value is None else value for key, value in row.items()} for row in rows]
    table = pd.DataFrame(shown).to_markdown(index=False, floatfmt=".2f")
    head = (
        f"# {name}\n\n{facts['hardware']['cpu']}, {torch.get_num_threads()} threads,"
        f" {arguments.dtype}: weights stream at {machine.bandwidth / 1e9:.1f} GB/s, products run"
        f" at {machine.rate / 1e9:.0f} GFLOP/s. Medians of {arguments.repeats} interleaved runs of"
        f" {PROMPT_TOKENS} + {arguments.new_tokens} tokens.\n\n"
    )
    write_atomic(folder / f"{name}.md", head + table + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="nano")
    parser.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--batch-sizes", default="1,8,32", type=_numbers)
    parser.add_argument("--decoders", default=";".join(SPECS), help="specs separated by ;")
    parser.add_argument("--new-tokens", default=64, type=_number, help="at least 9: two windows")
    parser.add_argument("--repeats", default=5, type=_number)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--quantize", default="none", choices=("none", "int8"))
    parser.add_argument("--ours-only", action="store_true", help="no Hugging Face")
    parser.add_argument("--out", type=Path, help="folder for NAME.md and NAME.json")
    parser.add_argument("--name", help="default: the model and dtype")
    arguments = parser.parse_args()
    arguments.decoders = arguments.decoders.split(";")
    if arguments.new_tokens < 2 * BLOCK + 1:
        parser.error(f"--new-tokens is {arguments.new_tokens}; give at least {2 * BLOCK + 1}")
    with user_errors(), tempfile.TemporaryDirectory() as scratch:
        machine, lines = measure(arguments, Path(scratch))
    print(f"{machine.bandwidth / 1e9:.1f} GB/s, {machine.rate / 1e9:.0f} GFLOP/s")
    if arguments.out is not None:
        default = f"{Path(arguments.model).name}-{arguments.dtype}"
        write(arguments.out, arguments.name or default, machine, lines, arguments)


def _numbers(text: str) -> list[int]:
    return [_number(part) for part in text.split(",")]


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


if __name__ == "__main__":
    main()
