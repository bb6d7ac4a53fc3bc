"""How much of an overlong conversation is trained on.

A sample needs room for its text and for its blocks, `budget` times its responses. Where both
together exceed the longest row, as in the released code (arXiv 2509.24007):

1. Only leading turns are kept that, with each response counted twice, are within the length; the
   first one always.
2. If text and blocks still exceed it, the text ends where a third of the length after the last
   response's start remains for blocks.
"""

from typing import NamedTuple

import numpy as np

from sdlm.retrofit.samples import Sample, Samples
from sdlm.retrofit.training_rows import BlockSpec, Ints


class Kept(NamedTuple):
    """Per sample: tokens that are kept of it, and places among them where a block may start."""

    lengths: Ints
    num_candidates: Ints


def kept_lengths(samples: Samples, spec: BlockSpec) -> Kept:
    lengths, num_candidates = samples.lengths(), samples.num_candidates()
    overlong = np.flatnonzero(lengths + spec.budget * num_candidates > spec.max_length)
    for index in overlong:
        sample = samples[int(index)]
        lengths[index] = kept_length(sample, spec.max_length, spec.budget)
        spans = cut_sample(sample, int(lengths[index])).spans
        num_candidates[index] = (spans[:, 1] - spans[:, 0]).sum()
    return Kept(lengths, num_candidates)


def kept_length(sample: Sample, max_length: int, budget: float) -> int:
    """Tokens to keep of a sample that is overlong. It may be all: then blocks get what is left."""
    responses = np.cumsum(sample.spans[:, 1] - sample.spans[:, 0])
    # A turn ends with its end token, which its span excludes.
    twice = sample.spans[:, 1] + 1 + responses
    turns = max(1, int((twice <= max_length).sum()))
    length = len(sample.ids) if turns == len(sample.spans) else int(sample.spans[turns - 1, 1] + 1)
    if length + budget * responses[turns - 1] > max_length:
        last_start = int(sample.spans[turns - 1, 0])
        length = min(length, max_length - max(max_length - last_start, 0) // 3)
    return length


def cut_sample(sample: Sample, length: int) -> Sample:
    """The first `length` tokens; blocks start where at least one more token is left to predict."""
    if length == len(sample.ids):
        return sample
    spans = np.minimum(sample.spans, length - 1)
    return Sample(sample.ids[:length], spans[spans[:, 0] < spans[:, 1]])
