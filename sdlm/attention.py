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

    The dense mask is bool [B, 1, T, S]. The block mask has its slots padded to a power of two.
    """

    impl: Impl
    dense_B1TS: Tensor | None = None
    block: BlockMask | None = None
    num_rows: int
    num_slots: int
    num_keys: int


def build_mask(layout: Layout, impl: Impl) -> Mask:
    B, T = layout.limit_BT.shape
    dense_B1TS = dense_mask(layout)[:, None] if impl is Impl.DENSE else None
    block = flex_block_mask(layout) if impl is Impl.FLEX else None
    return Mask(
        impl=impl,
        dense_B1TS=dense_B1TS,
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
        return F.scaled_dot_product_attention(
            q_BHTD, k_BKSD, v_BKSD, attn_mask=mask.dense_B1TS, enable_gqa=True
        )
    num_slots = q_BHTD.shape[2]
    q_BHTD = F.pad(q_BHTD, (0, 0, 0, padded_slots(num_slots) - num_slots))
    out_BHTD = _compiled_flex()(q_BHTD, k_BKSD, v_BKSD, block_mask=mask.block, enable_gqa=True)
    return out_BHTD[:, :, :num_slots]


@cache
def _compiled_flex() -> Callable[..., Tensor]:
    torch._dynamo.config.recompile_limit = MAX_COMPILED_SHAPES
    torch._dynamo.config.accumulated_recompile_limit = MAX_COMPILED_SHAPES
    # fullgraph: past the limit it raises instead of falling back to eager code.
    return torch.compile(flex_attention, dynamic=False, fullgraph=True)
