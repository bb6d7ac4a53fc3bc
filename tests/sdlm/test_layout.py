"""The mask rule: every form of it against loops over single slots, and against its meaning."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_block_mask, create_mask

from decoders.protocol import Query, Rows
from decoders.windows import chain_query, pending_query, window_query
from sdlm.layout import (
    FLEX_BLOCK,
    Layout,
    causal_layout,
    dense_mask,
    flex_block_mask,
    flex_mod,
    padded_slots,
)
from tests.oracles import masks

ODD_LENGTHS = (1, 5, 127, 128, 129, 300)


def layout_of(
    start: list[list[int]],
    limit: list[list[int]],
    group: list[list[int]],
    offset: list[int],
    num_keys: int,
    causal_attn: bool,
) -> Layout:
    return Layout(
        start_BT=torch.tensor(start),
        limit_BT=torch.tensor(limit),
        group_BT=torch.tensor(group),
        offset_B=torch.tensor(offset),
        num_keys=num_keys,
        causal_attn=causal_attn,
    )


def by_rule(layout: Layout) -> torch.Tensor:
    rows = zip(
        layout.start_BT.tolist(),
        layout.limit_BT.tolist(),
        layout.group_BT.tolist(),
        layout.offset_B.tolist(),
        strict=True,
    )
    return torch.tensor([masks.rule(*row, layout.num_keys, layout.causal_attn) for row in rows])


def by_mask_mod(layout: Layout) -> torch.Tensor:
    """FlexAttention's mask function, evaluated everywhere."""
    B, T = layout.limit_BT.shape
    mod = flex_mod(layout)
    return create_mask(mod, B, None, padded_slots(T), layout.num_keys, device="cpu")[:, 0]


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Any layout at all, sensible or not: the forms must agree on what it means."""
    rows = draw(st.integers(1, 3))
    slots = draw(st.integers(1, 9))
    offset = draw(st.lists(st.integers(0, 6), min_size=rows, max_size=rows))
    num_keys = max(offset) + slots + draw(st.integers(0, 3))
    several = st.lists(st.integers(0, num_keys), min_size=slots, max_size=slots)
    groups = st.lists(st.integers(0, 3), min_size=slots, max_size=slots)
    return layout_of(
        [draw(several) for _ in range(rows)],
        [draw(several) for _ in range(rows)],
        [draw(groups) for _ in range(rows)],
        offset,
        num_keys,
        draw(st.booleans()),
    )


@given(layouts())
@settings(max_examples=60)
def test_dense_and_flex_masks_are_the_rule(layout: Layout):
    expected = by_rule(layout)
    T = layout.limit_BT.shape[1]
    assert torch.equal(dense_mask(layout), expected)
    flex = by_mask_mod(layout)
    assert torch.equal(flex[:, :T], expected)
    # Slots added to reach a power of two see key 0 alone.
    assert torch.equal(flex[:, T:, 0], torch.ones_like(flex[:, T:, 0]))
    assert not flex[:, T:, 1:].any()


def odd_layout(queries: int, keys: int, *, causal_attn: bool) -> Layout:
    """The last `queries` of `keys` slots: causal ones, then windows of seven, in two rows."""
    offset = keys - queries
    windows = [max(0, (slot - queries // 3) // 7) for slot in range(queries)]
    limits = [
        offset + slot + 1 if not window else offset + queries // 3
        for slot, window in enumerate(windows)
    ]
    short = max(0, offset - 3)
    return layout_of(
        [[0] * queries, [min(short, 2)] * queries],
        [limits, [max(1, limit - 3) for limit in limits]],
        [windows] * 2,
        [offset, short],
        keys,
        causal_attn,
    )


ODD_SHAPES = [(q, k) for q in ODD_LENGTHS for k in ODD_LENGTHS if q <= k]


@pytest.mark.parametrize(("queries", "keys"), ODD_SHAPES)
def test_odd_sizes(queries: int, keys: int):
    """Bit for bit at sizes around a block's, and no visible key outside the blocks visited."""
    causal_attn = keys % 2 == 0
    layout = odd_layout(queries, keys, causal_attn=causal_attn)
    expected = by_rule(layout)
    assert torch.equal(dense_mask(layout), expected)
    flex = by_mask_mod(layout)
    assert torch.equal(flex[:, :queries], expected)

    T = padded_slots(queries)
    evaluated = create_block_mask(flex_mod(layout), 2, None, T, keys, device="cpu")
    ours = flex_block_mask(layout)
    assert ours.seq_lengths == evaluated.seq_lengths == (T, keys)
    assert ours.to_dense().shape == evaluated.to_dense().shape
    visited = ours.to_dense().bool()
    assert not (evaluated.to_dense().bool() & ~visited).any()
    whole = visited.repeat_interleave(FLEX_BLOCK, -1).repeat_interleave(FLEX_BLOCK, -2)
    assert not (expected & ~whole[:, 0, :queries, :keys]).any()
    # No block is taken to be wholly visible: the rule is applied inside each.
    assert ours.full_kv_num_blocks is not None
    assert not ours.full_kv_num_blocks.any()


def test_keys_past_a_rows_last_slot_are_not_visited():
    layout = odd_layout(5, 300, causal_attn=False)
    far = layout_of([[0]] * 2, [[1], [299]], [[0]] * 2, [0, 298], 300, False)
    assert flex_block_mask(far).kv_num_blocks[:, 0, 0].tolist() == [1, 3]
    assert flex_block_mask(layout).kv_num_blocks[:, 0, 0].tolist() == [3, 3]


def rows(cached: list[int], pending: list[int], drafts: int = 1) -> Rows:
    """Rows with the given numbers of tokens."""
    return Rows(
        pending_BP=torch.ones(len(cached), max(pending), dtype=torch.int64),
        num_pending_B=torch.tensor(pending),
        cached_B=torch.tensor(cached),
        draft_BD=torch.ones(len(cached), drafts, dtype=torch.int64),
        prefill=False,
    )


def visible(query: Query, cached: list[int], causal_attn: bool) -> torch.Tensor:
    T = query.limit_BT.shape[1]
    layout = Layout(
        start_BT=torch.zeros_like(query.limit_BT),
        limit_BT=query.limit_BT,
        group_BT=query.group_BT,
        offset_B=torch.tensor(cached),
        num_keys=max(cached) + T,
        causal_attn=causal_attn,
    )
    return dense_mask(layout)


def check_meaning(
    query: Query, cached: list[int], fed: list[list[masks.Slot | None]], causal_attn: bool
) -> None:
    """fed: what each slot of each row is; None is padding, which nothing may see."""
    got = visible(query, cached, causal_attn)
    for b, slots in enumerate(fed):
        keys = [*masks.kept(0, cached[b]), *slots]
        keys += [None] * (got.shape[2] - len(keys))
        for t, slot in enumerate(slots):
            if slot is None:
                assert got[b, t].any(), "a padding slot attends to something finite"
                continue
            assert query.positions_BT[b, t] == slot.position
            expected = [key is not None and masks.sees(slot, key, causal_attn) for key in keys]
            assert got[b, t].tolist() == expected


@st.composite
def ragged(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Cached and pending tokens of one to three rows."""
    count = draw(st.integers(1, 3))
    cached = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    pending = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    return cached, pending


@given(ragged(), st.integers(2, 5), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_windows_see_what_they_should(
    lengths: tuple[list[int], list[int]], block: int, causal_attn: bool, causal_too: bool
):
    cached, pending = lengths
    state = rows(cached, pending)
    query = window_query(state, block, 7, causal_too=causal_too)
    fed = []
    for before, new in zip(cached, pending, strict=True):
        padding = [None] * (max(pending) - new)
        n = before + new
        fed.append([*masks.kept(before, n), *padding, *masks.window(n, block)])
    check_meaning(query, cached, fed, causal_attn)
    width = query.ids_BT.shape[1]
    for b, new in enumerate(pending):
        wanted = list(range(width - block, width)) + [new - 1] * causal_too
        assert query.wanted_BN[b].tolist() == wanted
        assert query.ids_BT[b, -block:].tolist() == [1] + [7] * (block - 1)
        assert query.num_slots_B[b] == new + block


@given(ragged())
@settings(max_examples=30)
def test_pending_tokens_are_causal(lengths: tuple[list[int], list[int]]):
    cached, pending = lengths
    query = pending_query(rows(cached, pending))
    fed = [
        [*masks.kept(before, before + new), *[None] * (max(pending) - new)]
        for before, new in zip(cached, pending, strict=True)
    ]
    check_meaning(query, cached, fed, False)
    assert query.wanted_BN[:, 0].tolist() == [new - 1 for new in pending]
    assert query.num_slots_B.tolist() == pending


@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=3),
    st.integers(2, 5),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40)
def test_draft_chains_see_what_they_should(
    cached: list[int], block: int, causal_attn: bool, causal_too: bool
):
    query = chain_query(
        rows(cached, [1] * len(cached), block), block, block, 7, causal_too=causal_too
    )
    fed = []
    for n in cached:
        slots = masks.kept(n, n + block)
        for drafted in range(1, block + 1):
            slots += masks.window(n + drafted, block)
        fed.append(slots)
    check_meaning(query, cached, fed, causal_attn)
    wanted = list(range(block, block + block**2)) + list(range(block)) * causal_too
    assert query.wanted_BN.tolist() == [wanted] * len(cached)
    assert query.num_slots_B.tolist() == [block + block**2] * len(cached)


def test_plain_causal_layout():
    expected = torch.ones(5, 5, dtype=torch.bool).tril()
    assert torch.equal(dense_mask(causal_layout(2, 5)), expected.expand(2, 5, 5))


@pytest.mark.parametrize(("slots", "padded"), [(1, 1), (2, 2), (3, 4), (5, 8), (128, 128)])
def test_slots_are_padded_to_powers_of_two(slots: int, padded: int):
    assert padded_slots(slots) == padded
