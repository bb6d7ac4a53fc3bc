"""The processes that hold the other shares of a model, and the orders that lead them.

Before each forward the driving process says through a pipe what comes (`Hidden`, `Head`), or what
becomes of a cache (`NewCache`, `Reset`, `Move`), and sends the tensors by broadcast; a follower
does the same with its own share. Kept lengths stay with the driver: a forward brings what it needs
of them.

A pipe closes when the process at its other end dies, so a follower that waits for its next order
ends with its driver. In the middle of a forward gloo notices that at once; nccl only after
`TIMEOUT`, when it ends the process.
"""

import signal
import sys
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh

from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.checkpoint import load_model
from sdlm.layout import Layout
from sdlm.model import SDLM
from sdlm.tensor_shares import shared_head, take_share

# Longer than a kernel may compile on one rank while another waits for it.
TIMEOUT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """What a rank needs to take its place. `store`: the file through which the ranks meet."""

    folder: Path
    ranks: int
    dtype: torch.dtype | None
    impl: Impl
    device_type: str
    threads: int
    store: Path


@dataclass(frozen=True, slots=True)
class NewCache:
    """Make cache `number`; of the others only those in `live` are still used."""

    number: int
    rows: int
    capacity: int
    live: frozenset[int]


@dataclass(frozen=True, slots=True)
class Reset:
    """`KVCache.reset` of cache `number`."""

    number: int
    row: int


@dataclass(frozen=True, slots=True)
class Move:
    """`KVCache.move` of cache `number`."""

    number: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Place:
    """The rows of a cache from `first` on."""

    number: int
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """`SDLM.hidden` of `rows` x `slots`; what `in_one` makes of its tensors is broadcast."""

    rows: int
    slots: int
    num_keys: int
    causal_attn: bool
    place: Place | None


@dataclass(frozen=True, slots=True)
class Head:
    """`shared_head` of an input of this shape."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """`SDLM.pack`."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more will come."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A follower's answer: it has come as far as the driver waits for."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A follower's answer: why it ends."""

    reason: str


def take_seat(seat: Seat, rank: int) -> SDLM:
    """Join the ranks, and read this one's share of the model.

    Each rank reads the whole checkpoint into the machine's memory for that, and lets go of it.
    """
    backend, device = "gloo", torch.device("cpu")
    if seat.device_type != "cpu":
        # gloo too: weights are cut on the CPU.
        backend, device = "cpu:gloo,cuda:nccl", torch.device(seat.device_type, rank)
        torch.cuda.set_device(device)
    dist.init_process_group(
        backend,
        init_method=seat.store.as_uri(),
        rank=rank,
        world_size=seat.ranks,
        timeout=TIMEOUT,
    )
    model = load_model(seat.folder, dtype=seat.dtype)
    model.impl = seat.impl
    return take_share(model, init_device_mesh("cpu", (seat.ranks,)), device)


def follow(seat: Seat, rank: int, connection: Connection) -> None:
    """The whole life of a follower process. What ends it early is told to the driver."""
    # An interrupt from the keyboard reaches every process; the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(seat.threads)
    try:
        connection.send(Joined())
        model = take_seat(seat, rank)
        connection.send(Joined())
        _serve(model, connection, seat.ranks)
    except Exception as error:
        try:
            connection.send(Failed(f"{type(error).__name__}: {error}"))
        except OSError:
            print(f"tensor-parallel rank {rank} ends: its driver is gone", file=sys.stderr)
        sys.exit(1)


@torch.inference_mode()
def _serve(model: SDLM, connection: Connection, ranks: int) -> None:
    caches: dict[int, KVCache] = {}
    while True:
        match connection.recv():
            case NewCache(number, rows, capacity, live):
                caches = {known: cache for known, cache in caches.items() if known in live}
                caches[number] = model.new_cache(rows, capacity)
            case Reset(number, row):
                caches[number].reset(row)
            case Move(number, source, target):
                caches[number].move(source, target)
            case Hidden() as order:
                _hidden(model, order, caches)
            case Head(shape):
                empty = torch.empty(shape, dtype=model.dtype, device=model.device)
                shared_head(model.head, empty, ranks)
            case Pack():
                model.pack()
            case Stop():
                dist.destroy_process_group()
                return
            case other:
                raise TypeError(f"unknown order {other!r}")


def in_one(ids_BT: Tensor, positions_BT: Tensor, layout: Layout) -> Tensor:
    """A forward's tensors as one, int64 [B, 5 T + 1], for one broadcast."""
    mask = (layout.start_BT, layout.limit_BT, layout.group_BT, layout.offset_B[:, None])
    return torch.cat((ids_BT, positions_BT, *mask), dim=1)


def _hidden(model: SDLM, order: Hidden, caches: dict[int, KVCache]) -> None:
    B, T = order.rows, order.slots
    all_BN = torch.empty(B, 5 * T + 1, dtype=torch.int64, device=model.device)
    dist.broadcast(all_BN, src=0)
    # Compiled attention takes other strides for another shape.
    parts = [part.contiguous() for part in all_BN.split([T, T, T, T, T, 1], dim=1)]
    ids_BT, positions_BT, start_BT, limit_BT, group_BT, offset_B1 = parts
    layout = Layout(
        start_BT=start_BT,
        limit_BT=limit_BT,
        group_BT=group_BT,
        offset_B=offset_B1[:, 0],
        num_keys=order.num_keys,
        causal_attn=order.causal_attn,
    )
    place = order.place
    cache = None if place is None else caches[place.number].view(place.first, place.first + B)
    model.hidden(ids_BT, positions_BT, layout, cache)
