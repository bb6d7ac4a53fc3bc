"""Overlong conversations: what is kept of them, and that the rest is counted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdlm.retrofit.batches import BlockRows, NextTokenRows
from sdlm.retrofit.cutting import cut_sample, kept_length
from sdlm.retrofit.samples import Sample, Samples
from sdlm.retrofit.training_rows import BlockSpec
from tests.fakes import TINY_MASK

SPEC = BlockSpec(block_size=4, mask_id=TINY_MASK, end_ids=(2,), max_length=100)


def conversation(*turns: tuple[int, int]) -> Sample:
    """Of each turn: tokens before the response, and in it. Then an end token and a line break."""
    spans, length = [], 0
    for before, response in turns:
        start = length + before - 1
        length += before + response + 2
        spans.append((start, length - 2))
    return Sample(np.arange(length), np.array(spans))


def samples_of(*samples: Sample) -> Samples:
    return Samples(
        ids=np.concatenate([sample.ids for sample in samples]).astype(np.int32),
        spans=np.concatenate([sample.spans for sample in samples]).astype(np.int32),
        id_ends=np.cumsum([len(sample.ids) for sample in samples]),
        span_ends=np.cumsum([len(sample.spans) for sample in samples]),
        sha256="",
    )


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        # Fits, but not with three times its response: a third of 100 - 19 is left for blocks.
        ([(20, 60)], 100 - 81 // 3),
        # Does not fit at all.
        ([(20, 600)], 100 - 81 // 3),
        # Shorter than that: all of it is kept.
        ([(20, 30)], 52),
        # The second turn would be too much, counted twice: the first and its end token.
        ([(5, 10), (20, 60)], 16),
        ([(5, 10), (5, 10), (20, 60)], 33),
        # Both turns; the blocks get what is left.
        ([(5, 10), (5, 30)], 54),
        # No room even for the prompt.
        ([(200, 10)], 100),
    ],
)
def test_what_is_kept(turns: list[tuple[int, int]], expected: int):
    assert kept_length(conversation(*turns), 100, 3.0) == expected


def test_a_cut_response_ends_where_something_is_left_to_predict():
    cut = cut_sample(conversation((20, 600)), 73)
    assert len(cut.ids) == 73
    assert cut.spans.tolist() == [[19, 72]]
    two = cut_sample(conversation((5, 10), (20, 60)), 16)
    assert two.spans.tolist() == [[4, 15]], "up to its end token, which is the last"


turns = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), min_size=1, max_size=4)


@given(st.lists(turns, min_size=1, max_size=4), st.integers(20, 200))
def test_rows_are_within_the_length(conversations: list[list[tuple[int, int]]], longest: int):
    samples = samples_of(*(conversation(*each) for each in conversations))
    spec = replace(SPEC, max_length=longest)
    rows = BlockRows(samples, spec)
    assert rows.lengths.max() <= longest
    whole = samples.lengths() + spec.budget * samples.num_candidates() <= longest
    assert (rows.kept[whole] == samples.lengths()[whole]).all(), "what fits is not cut"
    for index in np.flatnonzero(rows.lengths):
        row = rows.row(int(index), np.random.default_rng(0))
        assert len(row) == rows.lengths[index]
        kept = int(rows.kept[index])
        assert (row.labels[:kept] < 0).all()
        blocks = row.labels[kept:].reshape(-1, spec.block_size)
        assert (blocks[:, 0] >= 0).all(), "every block has something to learn"
    for source in (
        rows,
        NextTokenRows(samples, longest),
        NextTokenRows(samples, longest, assistant_only_loss=True),
    ):
        assert source.num_cut == cut_by_rows(source, samples)


def cut_by_rows(source: BlockRows | NextTokenRows, samples: Samples) -> int:
    """How many rows begin as their sample does and have not all of it."""
    num_cut = 0
    for index in np.flatnonzero(source.lengths):
        said = samples[int(index)].ids.tolist()
        row = source.row(int(index), np.random.default_rng(0))
        clean = row.ids[row.group == 0].tolist()
        assert clean == said[: len(clean)]
        num_cut += len(clean) < len(said)
    return num_cut


def test_pretraining_cuts_at_the_length():
    rows = NextTokenRows(samples_of(conversation((20, 60)), conversation((5, 5))), 50)
    assert rows.lengths.tolist() == [50, 12]
    assert rows.num_cut == 1


def test_a_sample_that_is_left_out_is_not_cut():
    samples = samples_of(conversation((60, 20)), conversation((5, 5)))
    rows = NextTokenRows(samples, 50, assistant_only_loss=True)
    assert rows.lengths.tolist() == [0, 12]
    assert rows.num_cut == 0
