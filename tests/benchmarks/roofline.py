"""What this machine can do, and what a decoding step must do at least: the roofline of a step.

Bytes: every weight once, and the kept keys and values of every row. FLOPs: two for each weight and
query slot (the head only for slots whose logits are wanted), and four for each query slot, key
and head component. A step takes at least the longer of bytes / bandwidth and FLOPs / rate.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from harness.batch_memory import cache_bytes
from sdlm.linear import Linear
from sdlm.model import SDLM, ModelConfig

# More than any cache holds.
STREAMED_BYTES = 1 << 29
WIDTH, WIDE = 1024, 8192
PRODUCT_ROWS = 4096


class Machine(NamedTuple):
    """bandwidth: bytes/s of weights through a matrix-vector product. rate: FLOP/s of a product."""

    bandwidth: float
    rate: float


class StepShape(NamedTuple):
    """One forward: rows, query slots of all rows, of those wanted, and keys a row."""

    rows: int
    slots: int
    wanted: int
    keys: int


class Cost(NamedTuple):
    moved_bytes: int
    flops: int

    def ideal_s(self, machine: Machine) -> float:
        return max(self.moved_bytes / machine.bandwidth, self.flops / machine.rate)

    def bound(self, machine: Machine) -> str:
        by_bytes = self.moved_bytes / machine.bandwidth >= self.flops / machine.rate
        return "bytes" if by_bytes else "FLOPs"


@torch.inference_mode()
def measure_machine(dtype: torch.dtype, device: torch.device) -> Machine:
    """The best that torch's and this project's own layers reach, in `dtype`."""
    count = STREAMED_BYTES // (WIDTH * WIDE * dtype.itemsize)
    rates = [_bandwidth(layer, count, dtype, device) for layer in (torch.nn.Linear, Linear)]
    a = torch.randn(PRODUCT_ROWS, 2 * WIDTH, device=device, dtype=dtype)
    layer = torch.nn.Linear(2 * WIDTH, PRODUCT_ROWS, bias=False, device=device, dtype=dtype)
    seconds = seconds_of(lambda: layer(a), device)
    return Machine(max(rates), 2 * PRODUCT_ROWS * a.numel() / seconds)


def _bandwidth(
    kind: type[torch.nn.Linear], count: int, dtype: torch.dtype, device: torch.device
) -> float:
    layers = [kind(WIDTH, WIDE, bias=False, device=device, dtype=dtype) for _ in range(count)]
    for layer in layers:
        if isinstance(layer, Linear):
            layer.pack()
    x = torch.randn(1, WIDTH, device=device, dtype=dtype)

    def stream() -> None:
        for layer in layers:
            layer(x)

    return count * WIDTH * WIDE * dtype.itemsize / seconds_of(stream, device)


def seconds_of(work: Callable[[], object], device: torch.device, repeats: int = 7) -> float:
    times: list[float] = []
    for _ in range(repeats + 1):
        started_s = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started_s)
    return statistics.median(times[1:])


def body_weights(config: ModelConfig) -> int:
    """Weights that every query slot is multiplied with: all but embedding and head."""
    heads = config.num_heads + 2 * config.num_kv_heads
    attention = config.hidden_size * config.head_dim * (heads + config.num_heads)
    return config.num_layers * (attention + 3 * config.hidden_size * config.intermediate_size)


def step_cost(model: SDLM, shape: StepShape) -> Cost:
    return cost_of(model.config, model.dtype, shape)


def cost_of(config: ModelConfig, dtype: torch.dtype, shape: StepShape) -> Cost:
    body, head = body_weights(config), config.hidden_size * config.vocab_size
    kept = shape.rows * cache_bytes(config, dtype, shape.keys)
    attention = 4 * config.num_layers * config.num_heads * config.head_dim
    return Cost(
        moved_bytes=(body + head) * dtype.itemsize + kept,
        flops=2 * (body * shape.slots + head * shape.wanted)
        + attention * shape.slots * shape.keys,
    )
