"""One model over several processes: tensor parallelism for what is beyond one GPU, or one core.

    model = open_parallel(folder, ranks=2, device_type="cuda")

starts a process for each rank but this one, and returns this one's share (`sdlm.tensor_shares`),
which behaves as the whole model: `decoders.generate` drives it like any other, and what it asks of
the model or its cache the other ranks do with their shares (`sdlm.followers`). Logits are the
whole's but for the order in which sums are rounded. One such model can be open in a process.
"""

import itertools
import weakref
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from sdlm.attention import Impl, check_impl
from sdlm.cache import KVCache
from sdlm.followers import Head, Hidden, Move, NewCache, Pack, Place, Reset, Seat, in_one
from sdlm.hf_config import read_config
from sdlm.layout import Layout
from sdlm.linear import Linear
from sdlm.model import SDLM, ModelConfig
from sdlm.team import Team, gather_team
from sdlm.tensor_shares import check_ranks, head_is_shared, shared_head


def open_parallel(
    folder: Path,
    ranks: int,
    *,
    dtype: torch.dtype | None = None,
    impl: Impl = Impl.DENSE,
    device_type: str = "cpu",
) -> "TensorParallel":
    """The model in `folder` over this process and `ranks - 1` new ones; `close` ends them.

    dtype: None keeps the checkpoint's own. device_type: "cuda", rank r on GPU r, or "cpu", where
        the ranks divide this process's threads.
    Raises ValueError for ranks that can't share the model evenly, GPUs that are missing, an `impl`
    that can't run and whatever is wrong with the folder; TeamLost where a rank fails to start.
    """
    check_ranks(read_config(folder), ranks)
    check_impl(impl, torch.device(device_type))
    if device_type != "cpu" and torch.cuda.device_count() < ranks:
        raise ValueError(f"{ranks} ranks need a GPU each; there are {torch.cuda.device_count()}")
    if dist.is_initialized():
        raise ValueError(
            "this process already belongs to a process group (torchrun, or another tensor-parallel"
            " model, which must be closed first)"
        )
    seat = Seat(
        folder=folder,
        ranks=ranks,
        dtype=dtype,
        impl=impl,
        device_type=device_type,
        threads=torch.get_num_threads(),
        store=Path(),
    )
    share, team = gather_team(seat)
    return TensorParallel(read_config(folder), share, team).eval()


class TensorParallel(SDLM):
    """The driving rank's share, which behaves as the whole model.

    config: the whole model's. Parameters and cache are one share's. After an error in a forward
    the other ranks are gone and every further call is a TeamLost.
    """

    def __init__(self, config: ModelConfig, share: SDLM, team: Team) -> None:
        with torch.device("meta"):
            super().__init__(share.config, share.impl)
        self.config = config
        self.embedding, self.blocks = share.embedding, share.blocks
        self.norm, self.rotary = share.norm, share.rotary
        shared = head_is_shared(config, team.ranks)
        self.head = DrivenHead(share.head, team) if shared else share.head
        self.team = team
        self.caches: weakref.WeakValueDictionary[int, DrivenCache] = weakref.WeakValueDictionary()
        self.numbers = itertools.count()
        # Also when the process ends, or nobody holds the model any more.
        self.end = weakref.finalize(self, team.end)

    def close(self) -> None:
        """End the other ranks' processes; a second call does nothing."""
        self.end()

    def compile_forward(self) -> None:
        raise ValueError("a tensor-parallel model can't be compiled; leave out one of the two")

    def pack(self) -> None:
        self.team.tell(Pack())
        super().pack()

    def new_cache(self, rows: int, capacity: int) -> KVCache:
        number = next(self.numbers)
        self.team.tell(NewCache(number, rows, capacity, frozenset(self.caches)))
        share = super().new_cache(rows, capacity)
        cache = self.caches[number] = DrivenCache(share, self.team, Place(number, 0), None)
        return cache

    def hidden(
        self, ids_BT: Tensor, positions_BT: Tensor, layout: Layout, cache: KVCache | None = None
    ) -> Tensor:
        assert cache is None or isinstance(cache, DrivenCache), "a cache is this model's own"
        rows, slots = ids_BT.shape
        order = Hidden(
            rows=rows,
            slots=slots,
            num_keys=layout.num_keys,
            causal_attn=layout.causal_attn,
            place=None if cache is None else cache.place,
        )
        with self.team.together(order):
            dist.broadcast(in_one(ids_BT, positions_BT, layout), src=0)
            return super().hidden(ids_BT, positions_BT, layout, cache)


class DrivenHead(Linear):
    """The driving rank's columns of the head, which gives the logits of all."""

    def __init__(self, share: Linear, team: Team) -> None:
        super().__init__(share.in_features, share.out_features, bias=False, device="meta")
        self.weight = share.weight
        self.team = team

    def forward(self, input: Tensor) -> Tensor:
        input = input.contiguous()
        with self.team.together(Head(tuple(input.shape))):
            logits = shared_head(self, input, self.team.ranks)
        assert logits is not None, "the driver is rank 0"
        return logits


class DrivenCache(KVCache):
    """The driving rank's share of a cache; the followers' are emptied and moved with it.

    whole: the cache of which this is a view, which must not be dropped before it.
    """

    def __init__(
        self, share: KVCache, team: Team, place: Place, whole: "DrivenCache | None"
    ) -> None:
        # Its tensors, whichever they are.
        vars(self).update(vars(share))
        self.team, self.place, self.whole = team, place, whole

    def view(self, start: int, stop: int) -> "DrivenCache":
        place = Place(self.place.number, self.place.first + start)
        return DrivenCache(super().view(start, stop), self.team, place, self)

    def reset(self, row: int) -> None:
        self.team.tell(Reset(self.place.number, self.place.first + row))
        super().reset(row)

    def move(self, source: int, target: int) -> None:
        first = self.place.first
        self.team.tell(Move(self.place.number, first + source, first + target))
        super().move(source, target)
