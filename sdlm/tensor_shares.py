"""One rank's share of a model: 1/N of the heads, of the feed-forward width and of the head.

The weights are cut by torch's tensor-parallel plan: `qkv_proj`, `gate_up_proj` and the head
column-wise (each rank makes some of the outputs), `o_proj` and `down_proj` row-wise (each rank
sums over some of the inputs, and a hook adds the sums up). What comes out is an ordinary `SDLM` of
plain tensors. Under DTensor's own dispatch a small product took twenty times as long (some 1 ms
more, torch 2.13, one core), and `sdlm.linear` could not use its faster ones.

Embedding, norms and positions are whole on every rank, and so is a head whose vocabulary the ranks
don't divide.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    RowwiseParallel,
    parallelize_module,
)

from sdlm.linear import Linear
from sdlm.model import MLP, SDLM, Attention, ModelConfig, Rotary


def check_ranks(config: ModelConfig, ranks: int) -> None:
    """Raise ValueError unless `ranks` can share the model's heads and widths evenly."""
    sizes = (config.num_heads, config.num_kv_heads, config.intermediate_size)
    accepted = [
        n for n in range(1, config.num_kv_heads + 1) if not any(size % n for size in sizes)
    ]
    if ranks not in accepted:
        raise ValueError(
            f"{ranks} ranks can't share {sizes[0]} query heads, {sizes[1]} key/value heads and a"
            f" feed-forward width of {sizes[2]} evenly; accepted are"
            f" {', '.join(map(str, accepted))}"
        )


def share_config(config: ModelConfig, ranks: int) -> ModelConfig:
    """The shape of one rank's share; its head aside, which `SDLM` makes as wide as the whole."""
    return replace(
        config,
        num_heads=config.num_heads // ranks,
        num_kv_heads=config.num_kv_heads // ranks,
        intermediate_size=config.intermediate_size // ranks,
    )


def head_is_shared(config: ModelConfig, ranks: int) -> bool:
    return config.vocab_size % ranks == 0


def take_share(model: SDLM, mesh: DeviceMesh, device: torch.device) -> SDLM:
    """This rank's share of a whole model on the CPU, on `device`; the model is used up.

    mesh: the ranks, all on the CPU, so that the device never holds more than its share.
    """
    config, ranks = model.config, mesh.size()
    _sort_by_rank(model, ranks)
    # Every rank has read the whole checkpoint: nothing is sent.
    parallelize_module(model, mesh, _plan(config, ranks), src_data_rank=None)
    with torch.device("meta"):
        share = SDLM(share_config(config, ranks), model.impl)
        if head_is_shared(config, ranks):
            share.head = Linear(config.hidden_size, config.vocab_size // ranks, bias=False)
    tensors = {name: _local(tensor).to(device) for name, tensor in model.state_dict().items()}
    share.load_state_dict(tensors, strict=True, assign=True)
    share.rotary = Rotary(config).to(device)
    for module in share.modules():
        if isinstance(module, Attention):
            module.o_proj.register_forward_hook(_add_up)
        elif isinstance(module, MLP):
            module.down_proj.register_forward_hook(_add_up)
    return share.eval().requires_grad_(False)


def _plan(config: ModelConfig, ranks: int) -> dict[str, ParallelStyle]:
    plan: dict[str, ParallelStyle] = {
        "blocks.*.attention.qkv_proj": ColwiseParallel(),
        "blocks.*.attention.o_proj": RowwiseParallel(),
        "blocks.*.mlp.gate_up_proj": ColwiseParallel(),
        "blocks.*.mlp.down_proj": RowwiseParallel(),
    }
    if head_is_shared(config, ranks):
        plan["head"] = ColwiseParallel()
    return plan


def _sort_by_rank(model: SDLM, ranks: int) -> None:
    """Reorder the fused weights, so that a rank's contiguous share is fused in the same way."""
    config = model.config
    widths = (config.num_heads, config.num_kv_heads, config.num_kv_heads)
    qkv_heights = [heads * config.head_dim for heads in widths]
    for module in model.modules():
        if isinstance(module, Attention):
            _sort_rows(module.qkv_proj, qkv_heights, ranks)
        elif isinstance(module, MLP):
            _sort_rows(module.gate_up_proj, [config.intermediate_size] * 2, ranks)


def _sort_rows(module: Linear, heights: Sequence[int], ranks: int) -> None:
    """Rows [q; k; v] of `heights` become [q0; k0; v0; q1; k1; v1; ...], of weight and bias."""
    for name, parameter in list(module.named_parameters()):
        parts = [part.chunk(ranks) for part in parameter.detach().split(list(heights))]
        rows = torch.cat([chunk for of_rank in zip(*parts, strict=True) for chunk in of_rank])
        module.register_parameter(name, nn.Parameter(rows, requires_grad=False))


def _local(tensor: Tensor) -> Tensor:
    # A copy: a view would keep the whole weight in memory.
    return tensor.to_local().clone() if isinstance(tensor, DTensor) else tensor


def _add_up(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
    """The hook of a row-wise product: each rank has the sum over its own inputs."""
    # gloo adds what lies in memory side by side, which need not be the output alone.
    output = output.contiguous()
    dist.all_reduce(output)
    return output


def shared_head(head: Linear, input: Tensor, ranks: int) -> Tensor | None:
    """Logits [..., V] on rank 0, None elsewhere; a collective call of all ranks.

    input: [..., C]; what rank 0 gives is sent to the others, whose own is overwritten.
    """
    dist.broadcast(input, src=0)
    columns = Linear.forward(head, input)
    if dist.get_rank():
        dist.gather(columns, dst=0)
        return None
    parts = [torch.empty_like(columns) for _ in range(ranks)]
    dist.gather(columns, parts, dst=0)
    return torch.cat(parts, dim=-1)
