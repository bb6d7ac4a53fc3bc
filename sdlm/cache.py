"""The key-value cache: preallocated, ragged, one row a sequence.

A forward writes its keys and values behind each row's kept ones, in place. `commit` then says
how many of them are kept; the rest are overwritten by the next forward, so rejecting a draft or
dropping a window costs nothing. A committed slot is never written again.

Shape suffixes: L layers, B rows, K key/value heads, T query slots, S key slots, D head width.
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
        shape = (layers, rows, kv_heads, capacity, head_dim)
        self.k_LBKSD = torch.zeros(shape, dtype=dtype, device=device)
        self.v_LBKSD = torch.zeros(shape, dtype=dtype, device=device)
        self.lengths_B = torch.zeros(rows, dtype=torch.int64, device=device)
        self.row_B1 = torch.arange(rows, device=device)[:, None]

    @property
    def rows(self) -> int:
        return self.k_LBKSD.shape[1]

    @property
    def capacity(self) -> int:
        return self.k_LBKSD.shape[3]

    @property
    def nbytes(self) -> int:
        return self.k_LBKSD.nbytes + self.v_LBKSD.nbytes

    def view(self, start: int, stop: int) -> "KVCache":
        """Rows start..stop-1 of this cache, sharing its memory."""
        view = object.__new__(KVCache)
        view.k_LBKSD = self.k_LBKSD[:, start:stop]
        view.v_LBKSD = self.v_LBKSD[:, start:stop]
        view.lengths_B = self.lengths_B[start:stop]
        view.row_B1 = self.row_B1[: stop - start]
        return view

    def append(
        self, layer: int, k_BKTD: Tensor, v_BKTD: Tensor, slots_BT: Tensor, num_keys: int
    ) -> KVPair:
        """Write one layer's new keys and values at `slots_BT`; return the first `num_keys` slots.

        slots_BT: int64 [B, T], lengths_B[b] + t.
        """
        k_BKSD, v_BKSD = self.k_LBKSD[layer], self.v_LBKSD[layer]
        # Not scatter_, which on a CPU is far slower for many rows, in bf16 most of all.
        place = (self.row_B1, slots_BT)
        k_BKSD.transpose(1, 2).index_put_(place, k_BKTD.transpose(1, 2))
        v_BKSD.transpose(1, 2).index_put_(place, v_BKTD.transpose(1, 2))
        return KVPair(k_BKSD[:, :, :num_keys], v_BKSD[:, :, :num_keys])

    def commit(self, counts_B: Tensor) -> None:
        """Keep the first counts_B[b] slots that the last forward wrote to row b."""
        self.lengths_B += counts_B

    def reset(self, row: int) -> None:
        """Empty a row for the next sequence. Its old slots lie past every limit from now on, but
        what overflowed there would still spoil a sum: a weight of 0 times NaN is NaN."""
        self.lengths_B[row] = 0
        self.k_LBKSD[:, row] = 0
        self.v_LBKSD[:, row] = 0

    def move(self, source: int, target: int) -> None:
        """Copy a row over another, so that the rows in use stay contiguous."""
        self.k_LBKSD[:, target] = self.k_LBKSD[:, source]
        self.v_LBKSD[:, target] = self.v_LBKSD[:, source]
        self.lengths_B[target] = self.lengths_B[source]
