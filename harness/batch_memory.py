"""The batch size that memory has room for: `--batch-size auto`.

    rows = (0.8 * available memory - fixed workspace) / cost of a row

Available memory is what the machine, the control groups of this process and, on CUDA, the GPU
still give once the weights are loaded. The fixed workspace is what doesn't grow with the rows:

- buffers of libraries, compiled code, and logits in fp32, of which there is one slice at a time;
- a prefill, which feeds PREFILL_SLOTS slots and a window for each of its rows.

A row costs its cache (keys and values of every layer, at the capacity that the widest decoder
needs for the longest prompt and the whole budget) and its share of the widest step:

- the activations of one layer: the residual stream and its norms, queries, keys and values, the
  feed-forward's halves, about twice each;
- the attention mask, as truth values and as numbers to add, for each query head of a key head;
- the logits of the slots that a step may want.

The fifth that is left over is for what this doesn't count: fragments, records, other programs.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from decoders.generate import Request, needed_capacity
from decoders.loop import PREFILL_SLOTS
from decoders.protocol import Decoder
from decoders.sampling import CPU_SLICE_LOGITS, SLICE_LOGITS
from harness.machine import memory_bytes
from sdlm.model import SDLM, ModelConfig, parameter_count

SHARE = 0.8
# On a CPU as `tests.benchmarks.growth` found it. On CUDA cuBLAS holds tens of MB, graphs more.
LIBRARY_BYTES, CUDA_LIBRARY_BYTES = 12 * 2**20, 128 * 2**20
# Logits as numbers, as probabilities, and once more for what is made of these.
SLICE_COPIES = 3
MOST_ROWS = 128
MEMINFO = Path("/proc/meminfo")
GROUPS, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


class Prompts(NamedTuple):
    """What a task asks, and the budget of an answer."""

    requests: Sequence[Request]
    budget: int


def auto_batch_size(
    model: SDLM, decoders: Iterable[Decoder], tasks: Sequence[Prompts], sharing: int = 1
) -> int:
    """Rows for the most demanding task: at most its memory's, MOST_ROWS, or the items there are.

    sharing: how many processes like this one, each with the model, share the memory; the others
        need not have loaded it yet.
    """
    decoders = list(decoders)
    row = max(row_bytes(model, decoders, task) for task in tasks)
    available = available_bytes(model.device)
    if sharing > 1:
        weights = weight_bytes(model)
        available = (available + weights) // sharing - weights
    longest = [needed_capacity(model, decoders, task.requests, task.budget) for task in tasks]
    rows = int((SHARE * available - fixed_bytes(model, max(longest))) // row)
    if rows < 1:
        raise ValueError(
            f"--batch-size auto: {available / 1e9:.1f} GB of memory have no room for a row of"
            f" {row / 1e9:.2f} GB; free some, lower --max-new-tokens, or give a number"
        )
    return min(rows, MOST_ROWS, max(len(task.requests) for task in tasks))


def row_bytes(model: SDLM, decoders: Sequence[Decoder], task: Prompts) -> int:
    """What a row may cost under any of the decoders; the module says how that is made up."""
    capacity = needed_capacity(model, decoders, task.requests, task.budget)
    slots = max(decoder.max_slots for decoder in decoders)
    return cache_bytes(model.config, model.dtype, capacity) + step_bytes(model, slots, capacity)


def cache_bytes(config: ModelConfig, dtype: torch.dtype, capacity: int) -> int:
    """Keys and values of one row."""
    width = config.num_kv_heads * config.head_dim * dtype.itemsize
    return 2 * config.num_layers * capacity * width


def step_bytes(model: SDLM, slots: int, capacity: int) -> int:
    """A row's share of a step's workspace, if every one of its slots' logits may be wanted."""
    logits = slots * model.config.vocab_size * model.dtype.itemsize
    return layer_bytes(model, slots, capacity) + logits


def layer_bytes(model: SDLM, slots: int, capacity: int) -> int:
    """Activations and mask of `slots` slots."""
    config, width = model.config, model.dtype.itemsize
    heads = config.num_heads + 2 * config.num_kv_heads
    channels = 4 * config.hidden_size + 2 * heads * config.head_dim + 3 * config.intermediate_size
    mask = slots * capacity * (1 + width * config.num_heads // config.num_kv_heads)
    return slots * channels * width + mask


def fixed_bytes(model: SDLM, capacity: int) -> int:
    """The workspace that rows don't add to; a prefill's logits are no more than a step's."""
    prefill = layer_bytes(model, 2 * PREFILL_SLOTS, capacity)
    if model.device.type == "cpu":
        return LIBRARY_BYTES + SLICE_COPIES * 4 * CPU_SLICE_LOGITS + prefill
    return CUDA_LIBRARY_BYTES + SLICE_COPIES * 4 * SLICE_LOGITS + prefill


def weight_bytes(model: SDLM) -> int:
    """Of a model that is loaded and laid out, worked out from its shape."""
    config = model.config
    head = config.hidden_size * config.vocab_size if config.tie_embeddings else 0
    # A tied head is laid out beside the embedding.
    return model.dtype.itemsize * (parameter_count(config) + head)


def available_bytes(device: torch.device) -> int:
    """Memory that can still be had on `device`, in this process's control groups."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        # What torch holds and doesn't use is free to us as well.
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return min([_machine_bytes(), *_group_bytes()])


def _machine_bytes() -> int:
    try:
        text = MEMINFO.read_text()
    except OSError:
        return memory_bytes()
    (line,) = (line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return 1024 * int(line.split()[1])


def _group_bytes() -> Iterator[int]:
    """What each control group that this process is in, of either version, still allows."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds == "":
            top, names = GROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in kinds.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            top = GROUPS / "memory"
        else:
            continue
        group = top / path.lstrip("/")
        # In a container the group's own path may not be there, and its parents are.
        while group.is_relative_to(top):
            yield from _allowance(group, *names)
            group = group.parent


def _allowance(group: Path, limit: str, usage: str, inactive: str) -> Iterator[int]:
    try:
        most = (group / limit).read_text().strip()
        used = int((group / usage).read_text())
        stat = (group / "memory.stat").read_text()
    except OSError:
        return
    # File pages that nobody uses are given up before anything else.
    pages = dict(line.split() for line in stat.splitlines())
    if most != "max":
        yield max(0, int(most) - used + int(pages.get(inactive, 0)))
