"""Both attention implementations against a plain fp64 softmax, and what they refuse."""

import math
import shutil

import pytest
import torch
from torch import Tensor

from sdlm.attention import Impl, attend, build_mask, check_impl, default_impl
from sdlm.layout import Layout
from tests.oracles import masks

HEADS, KV_HEADS, WIDTH = 4, 2, 16
TOLERANCE = 1e-5


def layout_of(rows: int, slots: int, keys: int, causal_attn: bool = False) -> Layout:
    """Row b's slots end b keys before the last: causal ones, then a window."""
    offset = torch.arange(keys - slots, keys - slots - rows, -1).clamp(min=0)
    slot = torch.arange(slots)
    in_window = slot > slots // 2
    limit = offset[:, None] + torch.where(in_window, slots // 2, slot + 1)
    return Layout(
        start_BT=torch.zeros_like(limit),
        limit_BT=limit,
        group_BT=in_window.long().expand(rows, -1),
        offset_B=offset,
        num_keys=keys,
        causal_attn=causal_attn,
    )


def heads(rows: int, count: int, slots: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, count, slots, WIDTH, generator=generator) * 2


def by_definition(q: Tensor, k: Tensor, v: Tensor, layout: Layout) -> Tensor:
    out = torch.empty(q.shape, dtype=torch.float64)
    for b in range(q.shape[0]):
        row = (layout.start_BT[b], layout.limit_BT[b], layout.group_BT[b])
        mask = torch.tensor(
            masks.rule(
                *(part.tolist() for part in row),
                int(layout.offset_B[b]),
                layout.num_keys,
                layout.causal_attn,
            )
        )
        for h in range(HEADS):
            keys, values = (x[b, h // (HEADS // KV_HEADS)].double() for x in (k, v))
            scores = q[b, h].double() @ keys.T / math.sqrt(WIDTH)
            out[b, h] = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ values
    return out


# Each shape costs a compilation; decoding with 256 keys compiles the first of them anyway.
FEW_SHAPES = [(1, 5, 256), (2, 129, 300)]
MORE_SHAPES = [
    (1, 1, 1),
    (1, 1, 129),
    (1, 5, 5),
    (2, 127, 127),
    (1, 128, 128),
    (3, 5, 300),
    (1, 300, 300),
]


@pytest.mark.parametrize(
    ("rows", "slots", "keys"),
    FEW_SHAPES + [pytest.param(*shape, marks=pytest.mark.slow) for shape in MORE_SHAPES],
)
@torch.inference_mode()
def test_dense_and_flex_are_softmax_attention(rows: int, slots: int, keys: int):
    causal_attn = slots == 5
    layout = layout_of(rows, slots, keys, causal_attn)
    q = heads(rows, HEADS, slots, 0)
    k, v = heads(rows, KV_HEADS, keys, 1), heads(rows, KV_HEADS, keys, 2)
    exact = by_definition(q, k, v, layout)
    for impl in Impl:
        out = attend(q, k, v, build_mask(layout, impl, q.dtype, q.shape[1] // k.shape[1]))
        assert out.shape == q.shape
        torch.testing.assert_close(out.double(), exact, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("impl", Impl)
@pytest.mark.parametrize(
    "made_for",
    [
        pytest.param((1, 1, 256), id="one slot, which broadcasting would spread over all"),
        pytest.param((1, 7, 256), id="other slots, padded to the same power of two"),
        pytest.param((1, 4, 256), id="fewer slots"),
        pytest.param((1, 5, 255), id="fewer keys"),
        pytest.param((1, 5, 300), id="more keys"),
        pytest.param((2, 5, 256), id="other rows"),
    ],
)
def test_a_mask_made_for_another_shape_is_refused(impl: Impl, made_for: tuple[int, int, int]):
    mask = build_mask(layout_of(*made_for), impl, torch.float32)
    q, k = heads(1, HEADS, 5, 0), heads(1, KV_HEADS, 256, 1)
    with pytest.raises(ValueError, match=r"can't serve \(1, 5, 256\)"):
        attend(q, k, k, mask)


def test_a_mask_for_one_row_is_refused_for_three():
    mask = build_mask(layout_of(1, 5, 256), Impl.DENSE, torch.float32)
    with pytest.raises(ValueError, match=r"\(1, 5, 256\) can't serve \(3, 5, 256\)"):
        attend(heads(3, HEADS, 5, 0), heads(3, KV_HEADS, 256, 1), heads(3, KV_HEADS, 256, 2), mask)


def test_flex_is_the_default_on_cuda_alone():
    assert default_impl(torch.device("cuda")) is Impl.FLEX
    assert default_impl(torch.device("cpu")) is Impl.DENSE


def test_flex_on_a_cpu_needs_a_compiler(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ValueError, match=r"C\+\+ compiler.*g\+\+"):
        check_impl(Impl.FLEX, torch.device("cpu"))
    check_impl(Impl.FLEX, torch.device("cuda"))
    check_impl(Impl.DENSE, torch.device("cpu"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ValueError, match="no-such-compiler"):
        check_impl(Impl.FLEX, torch.device("cpu"))


def test_a_compiler_named_by_the_environment_will_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "mine" else None)
    monkeypatch.setenv("CXX", "mine")
    check_impl(Impl.FLEX, torch.device("cpu"))
