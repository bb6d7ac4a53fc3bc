"""The training layout against its definition, packing, and the choice of block starts."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention.flex_attention import create_mask

from sdlm.attention import Impl
from sdlm.layout import FLEX_BLOCK, dense_mask, flex_block_mask, flex_mod, padded_slots
from sdlm.retrofit.batches import Batches, BlockRows, NextTokenRows, Position
from sdlm.retrofit.loss import training_loss
from sdlm.retrofit.samples import Sample, Samples
from sdlm.retrofit.training_rows import (
    IGNORE,
    BlockSpec,
    Row,
    block_row,
    candidates,
    collate,
    draw_starts,
    next_token_row,
    num_blocks,
    pack,
)
from tests.fakes import TINY_MASK, tiny_model
from tests.oracles import training_layout as oracle

ENDS = (2, 3)
NO_SPANS = np.zeros((0, 2), dtype=np.int64)


@st.composite
def sources(draw: st.DrawFn) -> oracle.Source:
    """A short sample, rich in end tokens, with blocks anywhere but on its last token."""
    ids = draw(st.lists(st.integers(0, 12), min_size=2, max_size=20))
    places = st.integers(0, len(ids) - 2)
    starts = draw(st.lists(places, unique=True, min_size=1, max_size=6))
    return oracle.Source(ids, sorted(starts))


specs = st.builds(
    BlockSpec,
    block_size=st.integers(2, 6),
    mask_id=st.just(TINY_MASK),
    end_ids=st.just(ENDS),
    shift=st.booleans(),
    causal_attn=st.booleans(),
)


def rows_of(samples: list[oracle.Source], spec: BlockSpec) -> list[Row]:
    return [
        block_row(Sample(np.array(s.ids), NO_SPANS), np.array(s.starts), spec) for s in samples
    ]


@given(st.lists(sources(), min_size=1, max_size=3), specs, st.integers(0, 5))
def test_layout_is_its_definition(samples: list[oracle.Source], spec: BlockSpec, padding: int):
    wanted = oracle.slots_of(samples, spec.block_size, spec.mask_id, ENDS, spec.shift)
    row = pack(rows_of(samples, spec))
    assert row.ids.tolist() == [slot.token for slot in wanted]
    assert row.positions.tolist() == [slot.position for slot in wanted]
    assert row.labels.tolist() == [slot.label for slot in wanted]
    assert row.slot.tolist() == [slot.place for slot in wanted]
    longer = next_token_row(Sample(np.zeros(len(row) + padding, dtype=np.int64), NO_SPANS))
    batch = collate([row, longer], 0, num_slots=spec.block_size, causal_attn=spec.causal_attn)
    mask = dense_mask(batch.layout)[0]
    size = len(wanted)
    assert mask[:size, :size].tolist() == oracle.visible(wanted, spec.causal_attn)
    assert not mask[:size, size:].any(), "nothing sees padding"
    assert mask[size:].any(-1).all(), "padding sees something finite"
    assert (batch.labels_BT[0, size:] == IGNORE).all()


@settings(max_examples=200)
@given(st.lists(st.lists(sources(), min_size=1, max_size=3), min_size=1, max_size=3), specs)
def test_flex_and_dense_masks_are_equal(rows: list[list[oracle.Source]], spec: BlockSpec):
    """Of packed rows, padded to the longest."""
    packed = [pack(rows_of(samples, spec)) for samples in rows]
    batch = collate(packed, 0, num_slots=spec.block_size, causal_attn=spec.causal_attn)
    layout, width = batch.layout, batch.ids_BT.shape[1]
    slots = padded_slots(width)
    flex = create_mask(flex_mod(layout), len(rows), None, slots, width, device="cpu")[:, 0]
    assert torch.equal(flex[:, :width], dense_mask(layout))
    # Nothing that the rule shows is in a block of keys that is left out.
    visited = flex_block_mask(layout).to_dense()[:, 0].bool()
    visited = visited.repeat_interleave(FLEX_BLOCK, 1).repeat_interleave(FLEX_BLOCK, 2)
    assert not (flex & ~visited[:, :slots, :width]).any()


@given(st.lists(sources(), min_size=2, max_size=4), specs)
def test_packed_loss_is_unpacked_loss(samples: list[oracle.Source], spec: BlockSpec):
    model = tiny_model()
    rows = rows_of(samples, spec)
    one_row, many_rows = (
        collate(rows_, 0, num_slots=spec.block_size, causal_attn=spec.causal_attn)
        for rows_ in ([pack(rows)], rows)
    )
    packed = training_loss(model, one_row, clean_weight=0.5)
    apart = training_loss(model, many_rows, clean_weight=0.5)
    torch.testing.assert_close(packed, apart, rtol=1e-5, atol=1e-5)


def test_padding_to_whole_blocks_changes_no_loss():
    spec = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=ENDS)
    rows = rows_of([oracle.Source([*range(5, 25)], [1, 8]), oracle.Source([5, 6, 7], [0])], spec)
    plain, padded = (
        collate(rows, 0, num_slots=4, causal_attn=False, multiple=multiple)
        for multiple in (1, FLEX_BLOCK)
    )
    assert (plain.ids_BT.shape, padded.ids_BT.shape) == ((2, 28), (2, FLEX_BLOCK))
    assert padded.layout.num_keys == FLEX_BLOCK
    assert padded.num_tokens == plain.num_tokens == 28 + 7
    losses = [training_loss(tiny_model(), each, clean_weight=0.5) for each in (plain, padded)]
    torch.testing.assert_close(*losses, rtol=1e-5, atol=1e-5)


def test_next_token_rows_predict_the_next_token():
    rows = [next_token_row(Sample(np.array(ids), NO_SPANS)) for ids in ([5, 6, 7, 8], [5, 6])]
    row = pack(rows)
    assert row.labels.tolist() == [6, 7, 8, IGNORE, 6, IGNORE]
    assert row.positions.tolist() == [0, 1, 2, 3, 0, 1]
    mask = dense_mask(collate([row], 0, num_slots=1, causal_attn=False).layout)[0]
    expected = torch.block_diag(torch.ones(4, 4), torch.ones(2, 2)).tril().bool()
    assert torch.equal(mask, expected)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=3),
    st.integers(2, 40),
)
def test_assistant_only_loss_labels_what_the_assistant_said(
    turns: list[tuple[int, int]], max_length: int
):
    """Each turn is so many tokens of the user's and so many of the assistant's, numbered from 100
    on, so that a label says which it is."""
    said, spans, length = [], [], 0
    for prompt, response in turns:
        spans.append((length + prompt - 1, length + prompt + response - 1))
        said += range(100 + length + prompt, 100 + length + prompt + response)
        length += prompt + response
    ids = np.arange(100, 100 + length)
    samples = Samples(
        ids=ids.astype(np.int32),
        spans=np.array(spans, dtype=np.int32),
        id_ends=np.array([length]),
        span_ends=np.array([len(spans)]),
        sha256="",
    )
    wanted = [token for token in said if token < 100 + max_length]
    rows = NextTokenRows(samples, max_length, assistant_only_loss=True)
    assert (rows.lengths[0] > 0) == bool(wanted)
    if wanted:
        row = rows.row(0, np.random.default_rng(0))
        assert row.labels[row.labels != IGNORE].tolist() == wanted
        assert (row.labels == np.where(row.labels != IGNORE, row.ids + 1, IGNORE)).all()
    spec = BlockSpec(block_size=2, mask_id=TINY_MASK, end_ids=ENDS)
    blocks = block_row(samples[0], np.array([spans[0][0]]), spec, assistant_only_loss=True)
    assert blocks.next_labels[blocks.next_labels != IGNORE].tolist() == said


def test_clean_loss_is_added_with_its_weight():
    spec = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=ENDS)
    source = oracle.Source([5, 6, 7, 8, 9, 10], [1, 3])
    blocks = collate(rows_of([source], spec), 0, num_slots=4, causal_attn=False)
    row = next_token_row(Sample(np.array(source.ids), NO_SPANS))
    clean = collate([row], 0, num_slots=1, causal_attn=False)
    model = tiny_model()
    alone, both = (training_loss(model, blocks, clean_weight=w).total for w in (0.0, 0.25))
    expected = alone + 0.25 * training_loss(model, clean).total
    torch.testing.assert_close(both, expected, rtol=1e-5, atol=1e-5)


def flat(lengths: list[int], spans: list[tuple[int, int]]) -> Samples:
    rng = np.random.default_rng(0)
    return Samples(
        ids=rng.integers(4, TINY_MASK, sum(lengths)).astype(np.int32),
        spans=np.array(spans, dtype=np.int32),
        id_ends=np.cumsum(lengths),
        span_ends=np.arange(1, len(lengths) + 1),
        sha256="",
    )


@pytest.mark.parametrize(
    ("length", "response", "expected"),
    [(30, 20, 15), (50, 20, 12), (50, 1, 0), (50, 2, 1), (90, 20, 2), (97, 20, 0), (300, 20, 0)],
)
def test_number_of_blocks(length: int, response: int, expected: int):
    """floor(min(room, 3 * response) / 4), with 100 slots in all."""
    spec = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=ENDS, max_length=100)
    assert num_blocks(np.array([length]), np.array([response]), spec).tolist() == [expected]


def test_never_more_blocks_than_candidates():
    spec = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=ENDS, budget=40.0)
    assert num_blocks(np.array([30]), np.array([7]), spec).tolist() == [7]


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_starts_are_sorted_distinct_candidates(count: int, seed: int):
    spans = np.array([[3, 10], [20, 25]])
    starts = draw_starts(spans, count, np.random.default_rng(seed)).tolist()
    assert starts == sorted(set(starts))
    assert len(starts) == count
    assert set(starts) <= set(candidates(spans).tolist()) == {*range(3, 10), *range(20, 25)}


LENGTHS = np.random.default_rng(1).integers(6, 40, 200).tolist()
SAMPLES = flat(LENGTHS, [(n // 2, n - 1) for n in LENGTHS])
SPEC = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=ENDS)


def batches(
    pack_length: int = 0, seed: int = 0, batch_tokens: int = 600, impl: Impl = Impl.DENSE
) -> Batches:
    return Batches(
        BlockRows(SAMPLES, SPEC),
        batch_tokens=batch_tokens,
        pack_length=pack_length,
        pad_id=0,
        seed=seed,
        device=torch.device("cpu"),
        impl=impl,
    )


@pytest.mark.parametrize("pack_length", [0, 150])
def test_an_epoch_has_every_sample_once_within_the_budget(pack_length: int):
    made = batches(pack_length)
    seen = [i for batch in made.plan(0) for row in batch for i in row]
    assert sorted(seen) == np.flatnonzero(made.source.lengths).tolist()
    assert made.plan(0) == made.plan(0) != made.plan(1)
    assert made.plan(0) != batches(pack_length, seed=1).plan(0)
    stream = made.start_at(Position(0, 0))
    drawn = [next(stream).batches[0] for _ in made.plan(0)]
    assert max(batch.ids_BT.numel() for batch in drawn) <= 600
    slots = sum(batch.ids_BT.numel() for batch in drawn)
    assert sum(batch.num_tokens for batch in drawn) > 0.8 * slots, "little padding"


@pytest.mark.parametrize("pack_length", [0, 150])
def test_flex_has_few_shapes_within_the_budget(pack_length: int):
    made = batches(pack_length, impl=Impl.FLEX)
    seen = [i for batch in made.plan(0) for row in batch for i in row]
    assert sorted(seen) == np.flatnonzero(made.source.lengths).tolist()
    stream = made.start_at(Position(0, 0))
    shapes = {tuple(next(stream).batches[0].ids_BT.shape) for _ in made.plan(0)}
    # As many rows as fit, fewer before wider rows and at the end.
    assert shapes <= {(rows, 128) for rows in (1, 2, 3, 4)} | {(1, 256), (2, 256)}


def test_batches_go_on_from_any_position():
    stream = batches().start_at(Position(0, 0))
    for _ in range(len(batches().plan(0)) + 2):
        position = next(stream).position
    (expected,) = next(stream).batches
    (got,) = next(batches().start_at(position)).batches
    assert position.epoch == 1
    for name in ("ids_BT", "positions_BT", "labels_BT", "slot_BT"):
        assert torch.equal(getattr(got, name), getattr(expected, name))
    for field in fields(got.layout):
        mine, theirs = (getattr(batch.layout, field.name) for batch in (got, expected))
        assert torch.equal(mine, theirs) if isinstance(mine, torch.Tensor) else mine == theirs


def test_bad_settings_are_errors():
    with pytest.raises(ValueError, match="block size is 1"):
        replace(SPEC, block_size=1)
    with pytest.raises(ValueError, match="--batch-tokens is 30; the longest row takes"):
        batches(batch_tokens=30)
    with pytest.raises(ValueError, match="--batch-tokens is 200; the longest row takes 256"):
        batches(pack_length=150, batch_tokens=200, impl=Impl.FLEX)
    full = BlockRows(SAMPLES, replace(SPEC, max_length=6))
    none = NextTokenRows(SAMPLES, 3, assistant_only_loss=True)
    for source, why in ((full, "or --budget has no room for a block"), (none, "for an answer")):
        with pytest.raises(ValueError, match=f"every sample is left out: --max-length .*{why}"):
            Batches(
                source, batch_tokens=9, pack_length=0, pad_id=0, seed=0, device=torch.device("cpu")
            )
    assert NextTokenRows(SAMPLES, 10).lengths.max() == 10
