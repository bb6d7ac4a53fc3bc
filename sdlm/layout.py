"""The one mask rule, held once as data.

Every query slot t of row b carries three integers. It sees key slot s iff

    start[b,t] <= s < limit[b,t]                                  (prefix part)
    or group[b,t] > 0 and key s, fed by this forward, has the same group
       (own window; with `causal_attn` only at or before t)

A kept token at cache slot c has limit c+1 and group 0; a window slot after n kept tokens has
limit n-1 and a group of its own (arXiv 2509.24007, equation 5). `start` is 0 but for samples that
share a training row. Prefill, autoregression, confidence decoding, self-speculation and the
training rows all are instances of this rule; from it come a dense mask (`dense_mask`) and
FlexAttention's mask function and block mask (`flex_mod`, `flex_block_mask`).

Shape suffixes: B rows, T query slots of this forward, S key slots (cache slots before this
forward's own, then its own).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

FLEX_BLOCK = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The mask of one forward.

    start_BT, limit_BT, group_BT: int64. Query slot t of row b lies at key slot offset_B[b] + t.
    A padding slot has limit 1 and group 0: it attends to something finite, and nothing reads it.
    num_keys: S, the number of key slots that this forward reads, at least max(offset_B) + T.
    """

    start_BT: Tensor
    limit_BT: Tensor
    group_BT: Tensor
    offset_B: Tensor
    num_keys: int
    causal_attn: bool

    def key_groups(self) -> Tensor:
        """Group of every key slot, int64 [B, S]: 0 for keys that this forward did not feed."""
        B, T = self.group_BT.shape
        slots_BT = self.offset_B[:, None] + torch.arange(T, device=self.group_BT.device)
        empty_BS = self.group_BT.new_zeros(B, self.num_keys)
        return empty_BS.scatter(1, slots_BT, self.group_BT)


def causal_layout(num_rows: int, num_slots: int, device: torch.device | str = "cpu") -> Layout:
    """Plain causal attention over whole sequences: uncached autoregression, pre-training."""
    limit_BT = torch.arange(1, num_slots + 1, device=device).repeat(num_rows, 1)
    zeros_BT = torch.zeros_like(limit_BT)
    return Layout(
        start_BT=zeros_BT,
        limit_BT=limit_BT,
        group_BT=zeros_BT,
        offset_B=zeros_BT[:, 0],
        num_keys=num_slots,
        causal_attn=False,
    )


def dense_mask(layout: Layout) -> Tensor:
    """The rule as a boolean mask [B, T, S]: True where query t may attend to key s."""
    device = layout.limit_BT.device
    key_S = torch.arange(layout.num_keys, device=device)
    prefix_BTS = (key_S >= layout.start_BT[..., None]) & (key_S < layout.limit_BT[..., None])
    group_BT1 = layout.group_BT[..., None]
    own_BTS = (group_BT1 > 0) & (group_BT1 == layout.key_groups()[:, None])
    if layout.causal_attn:
        slot_T = torch.arange(layout.limit_BT.shape[1], device=device)
        slot_BT1 = (layout.offset_B[:, None] + slot_T)[..., None]
        own_BTS &= key_S <= slot_BT1
    return prefix_BTS | own_BTS


def padded_slots(num_slots: int) -> int:
    """Query slots of a flex forward: a power of two, so that few shapes are compiled."""
    return 1 << (num_slots - 1).bit_length()


MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def flex_mod(layout: Layout) -> MaskMod:
    """The rule as a FlexAttention `mask_mod(b, h, q_idx, kv_idx)`, for `padded_slots(T)` slots."""
    T = layout.limit_BT.shape[1]
    extra = padded_slots(T) - T
    start_BT = F.pad(layout.start_BT, (0, extra))
    limit_BT = F.pad(layout.limit_BT, (0, extra), value=1)
    group_BT = F.pad(layout.group_BT, (0, extra))
    offset_B, key_group_BS, causal_attn = layout.offset_B, layout.key_groups(), layout.causal_attn

    def sdlm_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        prefix = (start_BT[b, q_idx] <= kv_idx) & (kv_idx < limit_BT[b, q_idx])
        own = (group_BT[b, q_idx] > 0) & (group_BT[b, q_idx] == key_group_BS[b, kv_idx])
        if causal_attn:
            own = own & (kv_idx <= offset_B[b] + q_idx)
        return prefix | own

    return sdlm_mask


def flex_block_mask(layout: Layout) -> BlockMask:
    """A BlockMask from per-row block counts, in O(rows x blocks), never evaluating the rule.

    Every row visits the key blocks up to its own last slot, and the rule is applied inside each.
    For `padded_slots(T)` query slots.
    """
    B, T = layout.limit_BT.shape[0], padded_slots(layout.limit_BT.shape[1])
    device = layout.limit_BT.device
    num_q_blocks = -(-T // FLEX_BLOCK)
    num_k_blocks = -(-layout.num_keys // FLEX_BLOCK)
    last_slot_B = (layout.offset_B + T).clamp(max=layout.num_keys)
    counts_B = ((last_slot_B + FLEX_BLOCK - 1) // FLEX_BLOCK).to(torch.int32)
    counts_B1Q = counts_B[:, None, None].expand(B, 1, num_q_blocks).contiguous()
    indices_N = torch.arange(num_k_blocks, dtype=torch.int32, device=device)
    indices_B1QN = indices_N.expand(B, 1, num_q_blocks, num_k_blocks).contiguous()
    return BlockMask.from_kv_blocks(
        counts_B1Q,
        indices_B1QN,
        # No block is marked full, but the CPU kernel does not compile without lists of its own.
        torch.zeros_like(counts_B1Q),
        torch.zeros_like(indices_B1QN),
        BLOCK_SIZE=FLEX_BLOCK,
        mask_mod=flex_mod(layout),
        seq_lengths=(T, layout.num_keys),
    )
