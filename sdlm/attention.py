"""Attention under the one mask rule, in two implementations of the same semantics.

`dense` is the readable specification: a boolean mask for scaled_dot_product_attention. `flex` is
FlexAttention with a block mask. The user chooses one; neither ever stands in for the other.

Shape suffixes: B rows, H query heads, K key/value heads, T query slots, S key slots, D head width.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from sdlm.layout import Layout, dense_mask, flex_block_mask, padded_slots

# Every (rows, slots, keys) shape is one compilation; slots are padded to powers of two to keep
# them few. Past torch's own default of 8 it would fall back to eager code without a word.
MAX_COMPILED_SHAPES = 512
# Up to so many query slots it pays to fold query heads; the mask grows by as much.
FOLDED_SLOTS = 8


class Impl(StrEnum):
    """How attention is computed; recorded in every run's manifest."""

    DENSE = "dense"
    FLEX = "flex"


def default_impl(device: torch.device) -> Impl:
    return Impl.FLEX if device.type == "cuda" else Impl.DENSE


def check_impl(impl: Impl, device: torch.device) -> None:
    """Raise ValueError if `impl` can't run here: flex on a CPU is compiled by a C++ compiler."""
    if impl is Impl.FLEX and device.type == "cpu":
        wanted = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++"]
        if not any(shutil.which(compiler) for compiler in wanted):
            raise ValueError(
                f"attention 'flex' on a CPU needs a C++ compiler, and none of {wanted} is on PATH;"
                " install one (for example g++) or use --attention dense"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """A layout made ready for one implementation; built once a forward, shared by all layers.

    The dense mask is bool [B, 1, T, S]; folded, it is [B, 1, R, S]: the slots of all query heads
    that share a key head, one head's below the other's. The block mask has its slots padded to a
    power of two.
    """

    impl: Impl
    dense_B1TS: Tensor | None = None
    folded_B1RS: Tensor | None = None
    block: BlockMask | None = None
    num_rows: int
    num_slots: int
    num_keys: int


def build_mask(layout: Layout, impl: Impl, heads_per_key: int = 1) -> Mask:
    """The layout's mask; `heads_per_key`: query heads that share a key head, to be folded."""
    B, T = layout.limit_BT.shape
    dense_B1TS = dense_mask(layout)[:, None] if impl is Impl.DENSE else None
    folded_B1RS = None
    few = T <= FOLDED_SLOTS and heads_per_key > 1
    if few and dense_B1TS is not None and dense_B1TS.device.type == "cpu":
        # One slot's mask serves all heads as it is.
        folded_B1RS = dense_B1TS.repeat(1, 1, heads_per_key, 1) if T > 1 else dense_B1TS
    block = flex_block_mask(layout) if impl is Impl.FLEX else None
    return Mask(
        impl=impl,
        dense_B1TS=dense_B1TS,
        folded_B1RS=folded_B1RS,
        block=block,
        num_rows=B,
        num_slots=T,
        num_keys=layout.num_keys,
    )


def attend(q_BHTD: Tensor, k_BKSD: Tensor, v_BKSD: Tensor, mask: Mask) -> Tensor:
    """Grouped-query attention; returns [B, H, T, D] in the dtype of `q`."""
    shape = (q_BHTD.shape[0], q_BHTD.shape[2], k_BKSD.shape[2])
    made_for = (mask.num_rows, mask.num_slots, mask.num_keys)
    # Broadcasting and padding would let some masks of another shape pass.
    if shape != made_for:
        raise ValueError(f"a mask for (rows, slots, keys) {made_for} can't serve {shape}")
    if mask.impl is Impl.DENSE:
        assert mask.dense_B1TS is not None, "build_mask makes the mask of its implementation"
        if q_BHTD.requires_grad and q_BHTD.device.type == "cpu":
            return _products(q_BHTD, k_BKSD, v_BKSD, mask.dense_B1TS)
        if mask.folded_B1RS is not None:
            return _folded(q_BHTD, k_BKSD, v_BKSD, mask.folded_B1RS)
        return F.scaled_dot_product_attention(
            q_BHTD, k_BKSD, v_BKSD, attn_mask=mask.dense_B1TS, enable_gqa=True
        )
    num_slots = q_BHTD.shape[2]
    # Contiguous, padded or not: other strides would be another compilation.
    q_BHTD = F.pad(q_BHTD, (0, 0, 0, padded_slots(num_slots) - num_slots)).contiguous()
    out_BHTD = _compiled_flex()(q_BHTD, k_BKSD, v_BKSD, block_mask=mask.block, enable_gqa=True)
    return out_BHTD[:, :, :num_slots]


def _folded(q_BHTD: Tensor, k_BKSD: Tensor, v_BKSD: Tensor, mask_B1RS: Tensor) -> Tensor:
    """Dense attention in which query heads that share a key head are slots of one head.

    A CPU reads each key head once then, not once a query head."""
    B, H, T, D = q_BHTD.shape
    K = k_BKSD.shape[1]
    q_BKRD = q_BHTD.reshape(B, K, H // K * T, D)
    out_BKRD = F.scaled_dot_product_attention(q_BKRD, k_BKSD, v_BKSD, attn_mask=mask_B1RS)
    return out_BKRD.view(B, H, T, D)


def _products(q_BHTD: Tensor, k_BKSD: Tensor, v_BKSD: Tensor, mask_B1TS: Tensor) -> Tensor:
    """Dense attention written out. Training on a CPU spends a third of its time in attention's
    backward pass, which in scaled_dot_product_attention takes two to three times as long there."""
    B, H, T, D = q_BHTD.shape
    K, S = k_BKSD.shape[1:3]
    hidden_B1TS = torch.zeros_like(mask_B1TS, dtype=v_BKSD.dtype)
    hidden_B1TS = hidden_B1TS.masked_fill(~mask_B1TS, float("-inf"))
    # Query heads that share a key head are rows of one product.
    q_NRD = (q_BHTD * D**-0.5).reshape(B * K, H // K * T, D)
    score_NRS = torch.bmm(q_NRD, k_BKSD.reshape(B * K, S, D).transpose(1, 2))
    score_BHTS = score_NRS.view(B, H, T, S) + hidden_B1TS
    weight_NRS = score_BHTS.softmax(dim=-1).to(v_BKSD.dtype).view(B * K, H // K * T, S)
    return torch.bmm(weight_NRS, v_BKSD.reshape(B * K, S, D)).view(B, H, T, D)


@cache
def _compiled_flex() -> Callable[..., Tensor]:
    torch._dynamo.config.recompile_limit = MAX_COMPILED_SHAPES
    torch._dynamo.config.accumulated_recompile_limit = MAX_COMPILED_SHAPES
    # fullgraph: past the limit it raises instead of falling back to eager code.
    return torch.compile(flex_attention, dynamic=False, fullgraph=True)
