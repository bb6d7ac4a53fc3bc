"""The key-value cache: preallocated, ragged, one row a sequence.

A forward writes its keys and values behind each row's kept ones, in place. `commit` then says
how many of them are kept; the rest are overwritten by the next forward, so rejecting a draft or
dropping a window costs nothing. A committed slot is never written again.

Every layer has tensors of its own: compiled code writes to those in place, but copies a tensor
that holds all layers.

Shape suffixes: B rows, K key/value heads, T query slots, S key slots, D head width, N = B*K*T
new keys.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class KVPair(NamedTuple):
    """Keys and values that one layer attends to, each [B, K, S, D]."""

    k_BKSD: Tensor
    v_BKSD: Tensor


class KVCache:
    """Keys and values of `rows` sequences of at most `capacity` tokens each.

    k_BKSD, v_BKSD: keys and values of each layer.
    lengths_B: int64, kept tokens of each row.
    """

    def __init__(
        self,
        *,
        layers: int,
        rows: int,
        kv_heads: int,
        capacity: int,
        head_dim: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (rows, kv_heads, capacity, head_dim)
        empty = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(2 * layers)]
        self.k_BKSD, self.v_BKSD = empty[:layers], empty[layers:]
        self.lengths_B = torch.zeros(rows, dtype=torch.int64, device=device)
        head_BK = torch.arange(rows * kv_heads, device=device).view(rows, kv_heads)
        self.first_place_BK1 = head_BK[:, :, None] * capacity

    @property
    def rows(self) -> int:
        return self.k_BKSD[0].shape[0]

    @property
    def capacity(self) -> int:
        return self.k_BKSD[0].shape[2]

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.k_BKSD + self.v_BKSD)

    def view(self, start: int, stop: int) -> "KVCache":
        """Rows start..stop-1 of this cache, sharing its memory."""
        view = object.__new__(KVCache)
        view.k_BKSD = [layer[start:stop] for layer in self.k_BKSD]
        view.v_BKSD = [layer[start:stop] for layer in self.v_BKSD]
        view.lengths_B = self.lengths_B[start:stop]
        view.first_place_BK1 = self.first_place_BK1[: stop - start]
        return view

    def places(self, slots_BT: Tensor) -> Tensor:
        """Where `append` writes, the same in every layer: int64 [N].

        slots_BT: int64, lengths_B[b] + t.
        """
        return (self.first_place_BK1 + slots_BT[:, None]).flatten()

    def append(
        self, layer: int, k_BKTD: Tensor, v_BKTD: Tensor, places_N: Tensor, num_keys: int
    ) -> KVPair:
        """Write one layer's new keys and values; return those of the first `num_keys` slots."""
        k_BKSD, v_BKSD = self.k_BKSD[layer], self.v_BKSD[layer]
        width = k_BKSD.shape[-1]
        # Not scatter_, which on a CPU is far slower for many rows, in bf16 most of all.
        k_BKSD.view(-1, width).index_copy_(0, places_N, k_BKTD.reshape(-1, width))
        v_BKSD.view(-1, width).index_copy_(0, places_N, v_BKTD.reshape(-1, width))
        return KVPair(k_BKSD[:, :, :num_keys], v_BKSD[:, :, :num_keys])

    def commit(self, counts_B: Tensor) -> None:
        """Keep the first counts_B[b] slots that the last forward wrote to row b."""
        self.lengths_B += counts_B

    def reset(self, row: int) -> None:
        """Empty a row for the next sequence. Its old slots lie past every limit from now on, but
        what overflowed there would still spoil a sum: a weight of 0 times NaN is NaN."""
        self.lengths_B[row] = 0
        for layer in self.k_BKSD + self.v_BKSD:
            layer[row] = 0

    def move(self, source: int, target: int) -> None:
        """Copy a row over another, so that the rows in use stay contiguous."""
        for layer in self.k_BKSD + self.v_BKSD:
            layer[target] = layer[source]
        self.lengths_B[target] = self.lengths_B[source]
