"""Which samples share a batch, in which order: a pure function of seed and epoch.

Nothing here has state, so a run continues from two integers (epoch, batch). Samples are shuffled,
cut into pools, sorted by length within a pool so that rows of a batch hardly differ, cut into
batches by a budget of slots, and the batches shuffled. Every sample's block starts are drawn from
a generator of their own, seeded by (seed, epoch, sample).
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
import torch

from sdlm.retrofit.samples import Samples
from sdlm.retrofit.training_rows import (
    Batch,
    BlockSpec,
    Ints,
    Row,
    block_row,
    collate,
    draw_starts,
    next_token_row,
    num_blocks,
    pack,
)

POOL = 4096


class Position(NamedTuple):
    """The next batch to train on."""

    epoch: int
    batch: int


class RowSource(Protocol):
    """Rows made of samples. lengths[i] is the length of row i; 0 leaves the sample out."""

    lengths: Ints
    causal_attn: bool
    num_slots: int

    def row(self, index: int, rng: np.random.Generator) -> Row: ...


class BlockRows:
    """Rows of the training layout, with new block starts in every epoch."""

    def __init__(self, samples: Samples, spec: BlockSpec) -> None:
        self.samples, self.spec = samples, spec
        self.counts = num_blocks(samples.lengths(), samples.num_candidates(), spec)
        whole = samples.lengths() + spec.block_size * self.counts
        self.lengths: Ints = np.where(self.counts > 0, whole, 0)
        self.causal_attn = spec.causal_attn
        self.num_slots = spec.block_size

    def row(self, index: int, rng: np.random.Generator) -> Row:
        sample = self.samples[index]
        return block_row(
            sample, draw_starts(sample.spans, int(self.counts[index]), rng), self.spec
        )


class NextTokenRows:
    """Rows of plain next-token prediction, cut to `max_length`."""

    causal_attn = False
    num_slots = 1

    def __init__(self, samples: Samples, max_length: int) -> None:
        self.samples, self.max_length = samples, max_length
        self.lengths: Ints = np.minimum(samples.lengths(), max_length)

    def row(self, index: int, rng: np.random.Generator) -> Row:
        return next_token_row(self.samples[index].ids[: self.max_length])


class Batches:
    """Batches of a row source, from any position on.

    batch_tokens: slots of a batch, padding included. pack_length: samples are packed into rows of
    up to this length; 0 gives every sample a row of its own.
    """

    def __init__(
        self,
        source: RowSource,
        *,
        batch_tokens: int,
        pack_length: int,
        pad_id: int,
        seed: int,
        device: torch.device,
    ) -> None:
        self.source, self.batch_tokens, self.pack_length = source, batch_tokens, pack_length
        self.pad_id, self.seed, self.device = pad_id, seed, device
        longest = int(source.lengths.max(initial=0))
        if longest == 0:
            raise ValueError("no sample leaves room for a block; raise --max-length")
        if batch_tokens < max(longest, pack_length):
            raise ValueError(
                f"--batch-tokens is {batch_tokens}; the longest row takes"
                f" {max(longest, pack_length)}"
            )

    def plan(self, epoch: int) -> list[list[list[int]]]:
        """Batches of an epoch: a batch is a list of rows, a row a list of samples."""
        rng = np.random.default_rng([self.seed, epoch])
        kept = np.flatnonzero(self.source.lengths > 0)
        order = rng.permutation(kept)
        batches: list[list[list[int]]] = []
        for first in range(0, len(order), POOL):
            rows = self._rows(order[first : first + POOL])
            batches += self._cut(rows)
        return [batches[number] for number in rng.permutation(len(batches))]

    def _rows(self, pool: Ints) -> list[list[int]]:
        """Rows of a pool, shortest first."""
        if self.pack_length == 0:
            return [[int(i)] for i in pool[np.argsort(self.source.lengths[pool], kind="stable")]]
        rows: list[list[int]] = []
        free = 0
        for index in pool:
            length = int(self.source.lengths[index])
            if length > free:
                rows.append([])
                free = max(self.pack_length, length)
            rows[-1].append(int(index))
            free -= length
        return sorted(rows, key=self._row_length)

    def _row_length(self, row: list[int]) -> int:
        return int(self.source.lengths[row].sum())

    def _cut(self, rows: list[list[int]]) -> list[list[list[int]]]:
        batches: list[list[list[int]]] = [[]]
        for row in rows:
            # Rows come shortest first, so this one sets the width.
            if (len(batches[-1]) + 1) * self._row_length(row) > self.batch_tokens:
                batches.append([])
            batches[-1].append(row)
        return [batch for batch in batches if batch]

    def start_at(self, position: Position) -> Iterator[tuple[Batch, Position]]:
        """Batches without end, each with the position of the one after it."""
        epoch, first = position
        while True:
            plan = self.plan(epoch)
            for number in range(first, len(plan)):
                yield self._build(plan[number], epoch), Position(epoch, number + 1)
            epoch, first = epoch + 1, 0

    def _build(self, rows: list[list[int]], epoch: int) -> Batch:
        built = [
            pack(
                [
                    self.source.row(index, np.random.default_rng([self.seed, epoch, index]))
                    for index in row
                ]
            )
            for row in rows
        ]
        return collate(
            built,
            self.pad_id,
            num_slots=self.source.num_slots,
            causal_attn=self.source.causal_attn,
            device=self.device,
        )
