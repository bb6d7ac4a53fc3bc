"""Which samples share a batch, in which order: a pure function of seed and epoch.

Nothing here has state, so a run continues from two integers (epoch, batch). Samples are shuffled,
cut into pools, sorted by length within a pool so that rows of a batch hardly differ, cut into
batches by a budget of slots, and the batches shuffled. Every sample's block starts are drawn from
a generator of their own, seeded by (seed, epoch, sample). Several processes plan the same batches
and each builds its share of every batch's rows.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import torch

from sdlm.attention import Impl
from sdlm.layout import FLEX_BLOCK
from sdlm.retrofit.cutting import cut_sample, kept_lengths
from sdlm.retrofit.samples import Samples
from sdlm.retrofit.training_rows import (
    IGNORE,
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


class Update(NamedTuple):
    """The batches of one update, the position after it, and the epochs done by then."""

    batches: list[Batch]
    position: Position
    epochs: float


class RowSource(Protocol):
    """Rows made of samples. lengths[i] is the length of row i; 0 leaves the sample out.

    num_cut: samples that are trained on without their end. no_room: why some are left out.
    """

    lengths: Ints
    num_cut: int
    no_room: str
    causal_attn: bool
    num_slots: int

    def row(self, index: int, rng: np.random.Generator) -> Row: ...


class BlockRows:
    """Rows of the training layout, with new block starts in every epoch."""

    no_room = "--max-length or --budget has no room for a block"

    def __init__(
        self, samples: Samples, spec: BlockSpec, *, assistant_only_loss: bool = False
    ) -> None:
        self.samples, self.spec = samples, spec
        self.assistant_only_loss = assistant_only_loss
        self.kept, num_candidates = kept_lengths(samples, spec)
        self.counts = num_blocks(self.kept, num_candidates, spec)
        self.lengths: Ints = np.where(
            self.counts > 0, self.kept + spec.block_size * self.counts, 0
        )
        cut = (self.kept < samples.lengths()) & (self.lengths > 0)
        self.num_cut = int(cut.sum())
        self.causal_attn = spec.causal_attn
        self.num_slots = spec.block_size

    def row(self, index: int, rng: np.random.Generator) -> Row:
        sample = cut_sample(self.samples[index], int(self.kept[index]))
        starts = draw_starts(sample.spans, int(self.counts[index]), rng)
        return block_row(sample, starts, self.spec, assistant_only_loss=self.assistant_only_loss)


class NextTokenRows:
    """Rows of plain next-token prediction, cut to `max_length`.

    With `assistant_only_loss` a sample of which no assistant turn is left is left out.
    """

    causal_attn = False
    num_slots = 1
    no_room = "--max-length has no room for an answer"

    def __init__(
        self, samples: Samples, max_length: int, *, assistant_only_loss: bool = False
    ) -> None:
        self.samples, self.assistant_only_loss = samples, assistant_only_loss
        self.lengths: Ints = np.minimum(samples.lengths(), max_length)
        if assistant_only_loss:
            first_starts = samples.spans[np.append(0, samples.span_ends[:-1]), 0]
            self.lengths[first_starts >= self.lengths - 1] = 0
        cut = (self.lengths < samples.lengths()) & (self.lengths > 0)
        self.num_cut = int(cut.sum())

    def row(self, index: int, rng: np.random.Generator) -> Row:
        sample = cut_sample(self.samples[index], int(self.lengths[index]))
        return next_token_row(sample, assistant_only_loss=self.assistant_only_loss)


class Batches:
    """Batches of a row source, from any position on.

    batch_tokens: slots of a batch, padding included. pack_length: samples are packed into rows of
    up to this length; 0 gives every sample a row of its own. impl: what computes attention; under
    flex, which is compiled for each shape, rows are padded to whole blocks. accumulation: batches
    of an update. rank, ranks: which of how many processes this is.
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
        impl: Impl = Impl.DENSE,
        accumulation: int = 1,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        self.source, self.batch_tokens, self.pack_length = source, batch_tokens, pack_length
        self.pad_id, self.seed, self.device = pad_id, seed, device
        self.multiple = FLEX_BLOCK if impl is Impl.FLEX else 1
        self.accumulation, self.rank, self.ranks = accumulation, rank, ranks
        longest = int(source.lengths.max(initial=0))
        if longest == 0:
            raise ValueError(f"every sample is left out: {source.no_room}")
        widest = self._padded(max(longest, pack_length))
        if batch_tokens < widest:
            raise ValueError(f"--batch-tokens is {batch_tokens}; the longest row takes {widest}")

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

    def _padded(self, length: int) -> int:
        return length + -length % self.multiple

    def _cut(self, rows: list[list[int]]) -> list[list[list[int]]]:
        batches: list[list[list[int]]] = [[]]
        for row in rows:
            # Rows come shortest first, so this one sets the width.
            width = self._padded(self._row_length(row))
            if (len(batches[-1]) + 1) * width > self.batch_tokens:
                batches.append([])
            batches[-1].append(row)
        return [batch for batch in batches if batch]

    def start_at(self, position: Position) -> Iterator[Update]:
        """Updates without end. An epoch's last has what is left of its batches."""
        epoch, first = position
        while True:
            plan = self.plan(epoch)
            for number in range(first, len(plan), self.accumulation):
                last = min(number + self.accumulation, len(plan))
                yield Update(
                    [self._build(rows, epoch) for rows in plan[number:last]],
                    Position(epoch, last),
                    epoch + last / len(plan),
                )
            epoch, first = epoch + 1, 0

    def _build(self, rows: list[list[int]], epoch: int) -> Batch:
        """This rank's rows of a batch; where there are none for it, one that nothing is learnt
        from, because all ranks must compute together."""
        mine = rows[self.rank :: self.ranks]
        if not mine:
            batch = self._collated(rows[:1], epoch)
            nothing_BT = torch.full_like(batch.labels_BT, IGNORE)
            return replace(batch, labels_BT=nothing_BT, next_labels_BT=nothing_BT, num_tokens=0)
        return self._collated(mine, epoch)

    def _collated(self, rows: list[list[int]], epoch: int) -> Batch:
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
            multiple=self.multiple,
            device=self.device,
        )
