"""The training layout as data (arXiv 2509.24007, section 3.3).

A sample becomes its clean sequence x_0..x_{L-1}, then blocks `[x_s, M, …, M]` of D slots at drawn
starts s, at positions s..s+D-1. Slot j of a block predicts x_{s+j+1} (with `shift`), and its label
stands on that very slot. Under the one mask rule of `sdlm.layout` a clean token c has limit c+1
and group 0; a block slot has limit s, so that it sees x_0..x_{s-1} and not the clean copy of x_s,
and its block's number as group. Several samples may share a row; then all slots count from the
row's beginning and `start` hides the samples before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdlm.layout import Layout
from sdlm.model import ModelConfig
from sdlm.retrofit.samples import Sample

IGNORE = -100
PAD_POSITION = 1
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSpec:
    """How blocks are laid out.

    budget: how often each response token is a target, on average.
    max_length: slots that a sample and its blocks may take together.
    end_ids: tokens that end a turn; a block has no labels after the first.
    shift: slot j predicts the token after it (the SDLM); without, its own token, which for slot 0
        is given and has no label (an ablation of the paper).
    """

    block_size: int
    mask_id: int
    end_ids: tuple[int, ...]
    budget: float = 3.0
    max_length: int = 2048
    shift: bool = True
    causal_attn: bool = False

    def __post_init__(self) -> None:
        if self.block_size < 2:
            raise ValueError(f"block size is {self.block_size}; a block has at least 2 slots")
        if not 0 < self.budget < math.inf:
            raise ValueError(f"budget is {self.budget}; it must be a finite number above 0")
        if self.max_length <= self.block_size:
            raise ValueError(
                f"--max-length is {self.max_length}; a sample with a block of {self.block_size}"
                " takes more"
            )


def block_spec(config: ModelConfig, *, budget: float, max_length: int = 2048) -> BlockSpec:
    """How blocks are laid out for a model; ValueError where it is no SDLM."""
    if config.block_size is None or config.mask_token_id is None:
        raise ValueError("the model is no SDLM: its config has no block_size")
    return BlockSpec(
        block_size=config.block_size,
        mask_id=config.mask_token_id,
        end_ids=config.eos_token_ids,
        budget=budget,
        max_length=max_length,
        shift=config.shift,
        causal_attn=config.causal_attn,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One training row; every field is int64 [T].

    labels: what the slot predicts, or IGNORE. slot: its place 0..D-1 in its block, -1 for clean
    tokens. next_labels: the token after a clean token, for the optional next-token loss.
    start, limit, group: see `sdlm.layout`.
    """

    ids: Ints
    positions: Ints
    labels: Ints
    next_labels: Ints
    slot: Ints
    start: Ints
    limit: Ints
    group: Ints

    def __len__(self) -> int:
        return len(self.ids)


def candidates(spans: Ints) -> Ints:
    """Every place where a block may start, in order."""
    return np.concatenate([np.arange(start, end) for start, end in spans])


def num_blocks(length: Ints, num_candidates: Ints, spec: BlockSpec) -> Ints:
    """floor(min(room, budget * R) / D), at most one block a candidate; for arrays of samples."""
    room = np.maximum(spec.max_length - length, 0)
    wanted = np.minimum(room, spec.budget * num_candidates) // spec.block_size
    return np.minimum(wanted.astype(np.int64), num_candidates)


def draw_starts(spans: Ints, count: int, rng: np.random.Generator) -> Ints:
    """`count` different candidates, sorted."""
    return np.sort(rng.choice(candidates(spans), size=count, replace=False))


def block_row(
    sample: Sample, starts: Ints, spec: BlockSpec, *, assistant_only_loss: bool = False
) -> Row:
    """The clean sequence followed by a block at every start."""
    length, width = len(sample.ids), spec.block_size
    offsets = starts[:, None] + np.arange(width)
    block_ids = np.full(offsets.shape, spec.mask_id)
    block_ids[:, 0] = sample.ids[starts]
    clean = np.arange(length)
    return Row(
        ids=np.concatenate([sample.ids, block_ids.ravel()]),
        positions=np.concatenate([clean, offsets.ravel()]),
        labels=np.concatenate(
            [np.full(length, IGNORE), _block_labels(sample.ids, offsets, spec).ravel()]
        ),
        next_labels=np.concatenate(
            [_next(sample, assistant_only_loss), np.full(offsets.size, IGNORE)]
        ),
        slot=np.concatenate([np.full(length, -1), np.tile(np.arange(width), len(starts))]),
        start=np.zeros(length + offsets.size, dtype=np.int64),
        limit=np.concatenate([clean + 1, np.repeat(starts, width)]),
        group=np.concatenate(
            [np.zeros(length, dtype=np.int64), np.repeat(np.arange(1, len(starts) + 1), width)]
        ),
    )


def _block_labels(ids: Ints, offsets: Ints, spec: BlockSpec) -> Ints:
    targets = offsets + 1 if spec.shift else offsets
    inside = targets < len(ids)
    labels = np.where(inside, ids[np.minimum(targets, len(ids) - 1)], IGNORE)
    ends = np.isin(labels, spec.end_ids)
    past_end = (np.cumsum(ends, axis=1) - ends) > 0
    labels = np.where(past_end, IGNORE, labels)
    if not spec.shift:
        labels[:, 0] = IGNORE
    return labels


def next_token_row(sample: Sample, *, assistant_only_loss: bool = False) -> Row:
    """Plain causal next-token prediction over a whole sample, or over its assistant turns."""
    length = len(sample.ids)
    zeros = np.zeros(length, dtype=np.int64)
    return Row(
        ids=sample.ids,
        positions=np.arange(length),
        labels=_next(sample, assistant_only_loss),
        next_labels=np.full(length, IGNORE),
        slot=zeros,
        start=zeros,
        limit=np.arange(1, length + 1),
        group=zeros,
    )


def _next(sample: Sample, assistant_only: bool) -> Ints:
    following = np.append(sample.ids[1:], IGNORE)
    if not assistant_only:
        return following
    # A block may start wherever a token of an assistant's comes next.
    places = candidates(sample.spans)
    labels = np.full_like(following, IGNORE)
    labels[places] = following[places]
    return labels


def pack(rows: Sequence[Row]) -> Row:
    """Put samples one behind the other in one row; none sees another."""
    offset = last_group = 0
    moved: list[Row] = []
    for row in rows:
        moved.append(
            Row(
                ids=row.ids,
                positions=row.positions,
                labels=row.labels,
                next_labels=row.next_labels,
                slot=row.slot,
                start=row.start + offset,
                limit=row.limit + offset,
                group=np.where(row.group > 0, row.group + last_group, 0),
            )
        )
        offset += len(row)
        last_group = max(last_group, int(moved[-1].group.max()))
    names = [field.name for field in fields(Row)]
    return Row(**{name: np.concatenate([getattr(row, name) for row in moved]) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows padded to one length; tensors are int64 [B, T], as in `Row`.

    num_slots: D, places in a block. num_tokens: slots that are not padding.
    """

    ids_BT: Tensor
    positions_BT: Tensor
    labels_BT: Tensor
    next_labels_BT: Tensor
    slot_BT: Tensor
    layout: Layout
    num_slots: int
    num_tokens: int


def collate(
    rows: Sequence[Row],
    pad_id: int,
    *,
    num_slots: int,
    causal_attn: bool,
    multiple: int = 1,
    device: torch.device | str = "cpu",
) -> Batch:
    """Pad rows at the end, to a multiple of so many slots. A padding slot has limit 1, group 0 and
    no label."""
    width = max(len(row) for row in rows)
    width += -width % multiple

    def padded(name: str, value: int) -> Tensor:
        out = np.full((len(rows), width), value, dtype=np.int64)
        for number, row in enumerate(rows):
            out[number, : len(row)] = getattr(row, name)
        return torch.from_numpy(out).to(device)

    start_BT = padded("start", 0)
    return Batch(
        ids_BT=padded("ids", pad_id),
        positions_BT=padded("positions", PAD_POSITION),
        labels_BT=padded("labels", IGNORE),
        next_labels_BT=padded("next_labels", IGNORE),
        slot_BT=padded("slot", -1),
        layout=Layout(
            start_BT=start_BT,
            limit_BT=padded("limit", 1),
            group_BT=padded("group", 0),
            offset_B=torch.zeros_like(start_BT[:, 0]),
            num_keys=width,
            causal_attn=causal_attn,
        ),
        num_slots=num_slots,
        num_tokens=sum(len(row) for row in rows),
    )
