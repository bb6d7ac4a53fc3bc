"""An update is the mean over its labels, however batches, ranks and adapters divide it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.optim import SGD

from sdlm.model import SDLM
from sdlm.retrofit.batches import Batches, BlockRows, Position
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.loop import train_step
from sdlm.retrofit.loss import count_labels, training_loss
from sdlm.retrofit.ranks import Ranks
from sdlm.retrofit.training_rows import Batch, collate
from tests.sdlm.test_retrofit_rows import SAMPLES, SPEC
from tests.sdlm.training_fakes import tiny_trainable

CONFIG = TrainConfig(max_steps=1, bf16=False, clean_weight=0.3, grad_clip=0.5)
ALONE = Ranks(device=torch.device("cpu"))


def rows() -> BlockRows:
    return BlockRows(SAMPLES, SPEC)


def batch_of(indices: list[int]) -> Batch:
    built = [rows().row(index, np.random.default_rng(index)) for index in indices]
    return collate(built, 0, num_slots=SPEC.block_size, causal_attn=False)


def updated(batches: list[Batch]) -> tuple[SDLM, torch.Tensor]:
    """Plain descent, so that weights differ as much as gradients do."""
    model = tiny_trainable()
    descent = [SGD(model.parameters())]
    sums = train_step(model, descent, batches, CONFIG, ranks=ALONE, lr=1.0, step=1)
    assert sums.tokens == sum(batch.num_tokens for batch in batches)
    return model, sums.sums_3D


def test_accumulated_batches_are_one_big_batch():
    """Batches of unlike sizes: a mean of their means would be another update."""
    parts = [[0, 1, 2, 3, 4, 5], [6], [7, 8]]
    several, their_sums = updated([batch_of(part) for part in parts])
    whole, sums = updated([batch_of([index for part in parts for index in part])])
    torch.testing.assert_close(their_sums / sums[2], sums / sums[2], rtol=0, atol=1e-6)
    for mine, expected in zip(several.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine, expected, rtol=0, atol=1e-6)


def test_parts_of_a_loss_add_up_to_the_whole():
    model = tiny_trainable()
    batches = [batch_of([0, 1]), batch_of([2])]
    counts = count_labels(batches)
    parts = [training_loss(model, one, clean_weight=0.3, counts=counts).total for one in batches]
    whole = training_loss(model, batch_of([0, 1, 2]), clean_weight=0.3).total
    torch.testing.assert_close(sum(parts), whole, rtol=0, atol=1e-6)


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_ranks_share_the_rows_of_one_process(ranks: int):
    def stream(rank: int, size: int):
        batches = Batches(
            rows(),
            batch_tokens=600,
            pack_length=0,
            pad_id=0,
            seed=0,
            device=torch.device("cpu"),
            accumulation=2,
            rank=rank,
            ranks=size,
        )
        return batches.start_at(Position(0, 0))

    model = tiny_trainable()
    shares, idle = [stream(rank, ranks) for rank in range(ranks)], 0
    for _, update in zip(range(6), stream(0, 1), strict=False):
        parts = [next(share) for share in shares]
        assert {part.position for part in parts} == {update.position}
        for number, whole in enumerate(update.batches):
            mine = [part.batches[number] for part in parts]
            assert sum(batch.num_tokens for batch in mine) == whole.num_tokens
            counts = count_labels([whole])
            assert count_labels(mine) == counts
            losses = [training_loss(model, batch, counts=counts).total for batch in mine]
            expected = training_loss(model, whole).total
            torch.testing.assert_close(sum(losses), expected, rtol=0, atol=1e-5)
            idle += sum(batch.num_tokens == 0 for batch in mine)
    assert (idle > 0) == (ranks == 7), "ranks without a row take part all the same"


def test_a_part_without_labels_adds_nothing():
    model, batch = tiny_trainable(), batch_of([0])
    nothing_BT = torch.full_like(batch.labels_BT, -100)
    idle = replace(batch, labels_BT=nothing_BT, next_labels_BT=nothing_BT)
    loss = training_loss(model, idle, clean_weight=0.3, counts=count_labels([batch]))
    loss.total.backward()
    assert loss.total.item() == 0
    assert not loss.sums_3D.any()
    assert all(p.grad is None or not p.grad.any() for p in model.parameters())
