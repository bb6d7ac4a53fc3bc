"""The processes of one training run: `torchrun --nproc-per-node N -m sdlm.retrofit … --fsdp`.

Each holds a share of every weight, its gradient and its optimiser state (FSDP2, `fully_shard`),
and computes its share of every batch's rows. Weights of a block are gathered while it computes.
What one rank knows, such as the time or that it was told to stop, all are told, so that all do the
same. A run without --fsdp is one rank, which none of this concerns.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

from sdlm.model import SDLM

# The others wait while the first tokenises the data.
LONGEST_WAIT = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """This process among those of the run. mesh: None without FSDP, for then it is alone."""

    device: torch.device
    rank: int = 0
    size: int = 1
    mesh: DeviceMesh | None = None

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def place(self, model: SDLM) -> SDLM:
        """The model on this rank's device, or this rank's share of it."""
        if self.mesh is None:
            return model.to(self.device)
        for block in model.blocks:
            fully_shard(block, mesh=self.mesh)
        fully_shard(model, mesh=self.mesh)
        # The loss calls `hidden`, not the model: gathering must be tied to that.
        register_fsdp_forward_method(model, "hidden")
        return model

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all ranks, on each."""
        if self.mesh is None:
            return values
        values = values.to(self.device)
        dist.all_reduce(values)
        return values.cpu()

    def of_first(self, value: float) -> float:
        """The first rank's value, on each."""
        mine = torch.tensor([value if self.is_first else 0.0], dtype=torch.float64)
        return self.sum(mine).item()

    def any(self, flag: bool) -> bool:
        return self.sum(torch.tensor([float(flag)])).item() > 0

    def gather(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Whole tensors on the first rank, in its main memory; nothing on the others."""
        if self.mesh is None:
            return dict(tensors)
        whole: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
            if self.is_first:
                whole[name] = full.cpu()
        return whole

    @contextmanager
    def first_before_others(self) -> Generator[None]:
        """For what the first leaves in a file and the others then read."""
        if self.mesh is not None and not self.is_first:
            try:
                dist.barrier()
            except RuntimeError:
                # The first has gone, and has said why.
                raise SystemExit(1) from None
        yield
        if self.mesh is not None and self.is_first:
            dist.barrier()


def share_like(whole: Tensor, parameter: Tensor) -> Tensor:
    """The share of a whole tensor that lies where the parameter's does."""
    if isinstance(parameter, DTensor):
        # Every rank has read the whole, so none needs to send it.
        return distribute_tensor(
            whole.to(parameter.device),
            parameter.device_mesh,
            parameter.placements,
            src_data_rank=None,
        )
    return whole.to(parameter.device)


def device_of_rank(name: str, *, fsdp: bool) -> torch.device:
    """The device that `name` stands for: under --fsdp each process has a GPU of its own."""
    device = torch.device(name)
    if not fsdp or device.type != "cuda":
        return device
    if device.index is not None:
        raise ValueError(
            f"--device {name} is one GPU, and --fsdp gives each process its own; "
            "give --device cuda"
        )
    own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(own)
    return own


@contextmanager
def open_ranks(device: torch.device, *, fsdp: bool) -> Generator[Ranks]:
    """Join the other processes that torchrun has started; ValueError where the two disagree."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if not fsdp:
        if size > 1:
            raise ValueError(f"torchrun has started {size} processes; add --fsdp")
        yield Ranks(device=device)
        return
    if "RANK" not in os.environ:
        raise ValueError(
            "--fsdp divides a model among processes that torchrun starts: torchrun"
            " --nproc-per-node N -m sdlm.retrofit …"
        )
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=LONGEST_WAIT)
    try:
        mesh = init_device_mesh(device.type, (size,))
        yield Ranks(device=device, rank=dist.get_rank(), size=size, mesh=mesh)
    finally:
        dist.destroy_process_group()
