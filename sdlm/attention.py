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
# On a CPU heads are folded for up to so many query slots and rows (in bf16 one slot may have any
# number of rows), and products are written out up to so many slots.
FOLDED_SLOTS, FOLDED_ROWS = 8, 4
WRITTEN_OUT_SLOTS = 64


class Impl(StrEnum):
    """How attention is computed; recorded in every run's manifest."""

    DENSE = "dense"
    FLEX = "flex"


def default_impl(device: torch.device) -> Impl:
    return Impl.FLEX if device.type == "cuda" else Impl.DENSE


def check_impl(impl: Impl, device: torch.device) -> None:
    """Raise ValueError if `impl` can't run here: flex on a CPU is compiled by a C++ compiler."""
    if impl is Impl.FLEX:
        check_compiler("attention 'flex'", device, "use --attention dense")


def check_compiler(what: str, device: torch.device, instead: str) -> None:
    """Raise ValueError where `what` is to be compiled for a CPU and there is no C++ compiler."""
    wanted = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++"]
    if device.type == "cpu" and not any(shutil.which(compiler) for compiler in wanted):
        raise ValueError(
            f"{what} on a CPU needs a C++ compiler, and none of {wanted} is on PATH; install one"
            f" (for example g++) or {instead}"
        )


class Dense(StrEnum):
    """How dense attention is computed: the same sums, each the fastest for some shapes.

    FUSED: one call of scaled_dot_product_attention.
    FOLDED: on a CPU, query heads that share a key head are slots of one head, so that each key
    head is read once, not once a query head.
    PRODUCTS: on a CPU, softmax attention written out. Training spends a third of its time in
    attention's backward pass, which in scaled_dot_product_attention takes two to three times as
    long there; for the slots of self-speculation it is up to twice as fast in bf16.
    """

    FUSED = "fused"
    FOLDED = "folded"
    PRODUCTS = "products"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """A layout made ready for one implementation; built once a forward, shared by all layers.

    hidden_B1RS: what dense attention adds to the scores, 0 or -inf. R is T, or, folded, the slots
        of all query heads that share a key head, one head's below the other's.
    block: FlexAttention's mask; its slots are padded to a power of two.
    """

    dense: Dense | None = None
    hidden_B1RS: Tensor | None = None
    block: BlockMask | None = None
    num_rows: int
    num_slots: int
    num_keys: int


def build_mask(layout: Layout, impl: Impl, dtype: torch.dtype, heads_per_key: int = 1) -> Mask:
    """The layout's mask for queries in `dtype`; `heads_per_key`: those that share a key head."""
    B, T = layout.limit_BT.shape
    hidden_B1RS, dense, block = None, None, None
    if impl is Impl.FLEX:
        block = flex_block_mask(layout)
    else:
        dense = _dense_form(B, T, heads_per_key, dtype, layout.limit_BT.device)
        seen_B1TS = dense_mask(layout)[:, None]
        hidden_B1RS = torch.zeros_like(seen_B1TS, dtype=dtype).masked_fill_(~seen_B1TS, -torch.inf)
        # One slot's mask serves all heads as it is.
        if dense is Dense.FOLDED and T > 1:
            hidden_B1RS = hidden_B1RS.repeat(1, 1, heads_per_key, 1)
    return Mask(
        dense=dense,
        hidden_B1RS=hidden_B1RS,
        block=block,
        num_rows=B,
        num_slots=T,
        num_keys=layout.num_keys,
    )


def _dense_form(
    num_rows: int, num_slots: int, heads_per_key: int, dtype: torch.dtype, device: torch.device
) -> Dense:
    if device.type != "cpu":
        return Dense.FUSED
    if torch.is_grad_enabled():
        return Dense.PRODUCTS
    one_each = num_slots == 1 and dtype != torch.float32
    if num_slots <= FOLDED_SLOTS and (one_each or num_rows <= FOLDED_ROWS):
        return Dense.FOLDED if heads_per_key > 1 else Dense.FUSED
    return Dense.PRODUCTS if num_slots <= WRITTEN_OUT_SLOTS else Dense.FUSED


def attend(q_BHTD: Tensor, k_BKSD: Tensor, v_BKSD: Tensor, mask: Mask) -> Tensor:
    """Grouped-query attention; returns [B, H, T, D] in the dtype of `q`."""
    shape = (q_BHTD.shape[0], q_BHTD.shape[2], k_BKSD.shape[2])
    made_for = (mask.num_rows, mask.num_slots, mask.num_keys)
    # Broadcasting and padding would let some masks of another shape pass.
    if shape != made_for:
        raise ValueError(f"a mask for (rows, slots, keys) {made_for} can't serve {shape}")
    if mask.dense is not None and mask.hidden_B1RS is not None:
        return _dense(q_BHTD, k_BKSD, v_BKSD, mask.hidden_B1RS, mask.dense)
    num_slots = q_BHTD.shape[2]
    # Contiguous, padded or not: other strides would be another compilation.
    q_BHTD = F.pad(q_BHTD, (0, 0, 0, padded_slots(num_slots) - num_slots)).contiguous()
    out_BHTD = _compiled_flex()(q_BHTD, k_BKSD, v_BKSD, block_mask=mask.block, enable_gqa=True)
    return out_BHTD[:, :, :num_slots]


def _dense(
    q_BHTD: Tensor, k_BKSD: Tensor, v_BKSD: Tensor, hidden_B1RS: Tensor, dense: Dense
) -> Tensor:
    B, H, T, D = q_BHTD.shape
    K, S = k_BKSD.shape[1:3]
    if dense is Dense.FOLDED:
        q_BKRD = q_BHTD.reshape(B, K, H // K * T, D)
        out_BKRD = F.scaled_dot_product_attention(q_BKRD, k_BKSD, v_BKSD, attn_mask=hidden_B1RS)
        return out_BKRD.view(B, H, T, D)
    if dense is Dense.PRODUCTS:
        # Query heads that share a key head are rows of one product.
        q_NRD = (q_BHTD * D**-0.5).reshape(B * K, H // K * T, D)
        score_NRS = torch.bmm(q_NRD, k_BKSD.reshape(B * K, S, D).transpose(1, 2))
        score_BHTS = score_NRS.view(B, H, T, S) + hidden_B1RS.to(score_NRS.dtype)
        weight_NRS = score_BHTS.softmax(dim=-1).to(v_BKSD.dtype).view(B * K, H // K * T, S)
        return torch.bmm(weight_NRS, v_BKSD.reshape(B * K, S, D)).view(B, H, T, D)
    return F.scaled_dot_product_attention(
        q_BHTD, k_BKSD, v_BKSD, attn_mask=hidden_B1RS, enable_gqa=True
    )


@cache
def _compiled_flex() -> Callable[..., Tensor]:
    _raise_limits()
    # fullgraph: past the limit it raises instead of falling back to eager code.
    return torch.compile(flex_attention, dynamic=False, fullgraph=True)


def ready_to_compile(device: torch.device) -> None:
    """Raise ValueError where a model can't be compiled; to be called before it is."""
    check_compiler("--compile", device, "leave it out")
    _raise_limits()


def _raise_limits() -> None:
    """Let torch compile as many shapes as there are decoders and batches."""
    torch._dynamo.config.recompile_limit = MAX_COMPILED_SHAPES
    torch._dynamo.config.accumulated_recompile_limit = MAX_COMPILED_SHAPES
