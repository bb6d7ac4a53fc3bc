"""The training loss: mean cross-entropy over the labelled slots, and what each slot learns.

The head runs on labelled slots only. Shape suffixes: B rows, T slots, N labelled slots, C hidden
width, V vocabulary, D slots of a block.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from sdlm.model import SDLM
from sdlm.retrofit.training_rows import IGNORE, Batch


class Loss(NamedTuple):
    """The scalar to minimise, and per slot of a block the sums behind it.

    sums_3D: cross-entropy, right predictions, and labelled slots, by place in the block (detached,
        fp64, on the CPU).
    """

    total: Tensor
    sums_3D: Tensor


class Counts(NamedTuple):
    """What the means of an update are taken over: labelled slots, and labelled clean tokens."""

    labels: int
    clean: int


def count_labels(batches: Sequence[Batch]) -> Counts:
    return Counts(
        sum(int((batch.labels_BT != IGNORE).sum()) for batch in batches),
        sum(int((batch.next_labels_BT != IGNORE).sum()) for batch in batches),
    )


def training_loss(
    model: SDLM,
    batch: Batch,
    *,
    clean_weight: float = 0.0,
    bf16: bool = False,
    counts: Counts | None = None,
) -> Loss:
    """Mean loss over the labelled slots of the whole batch, not a mean of per-sample means.

    clean_weight: weight of the clean sequence's own next-token loss, added if above 0.
    counts: of all batches of the update that this one is a part of; the parts' losses then add up
        to the mean over the whole. A part without labels adds 0. None: the batch is the update.
    """
    num_labels, num_clean = count_labels([batch]) if counts is None else counts
    device_type = batch.ids_BT.device.type
    with torch.autocast(device_type, torch.bfloat16, enabled=bf16):
        x_BTC = model.hidden(batch.ids_BT, batch.positions_BT, batch.layout)
        labelled_BT = batch.labels_BT != IGNORE
        labels_N = batch.labels_BT[labelled_BT]
        logits_NV = model.head(x_BTC[labelled_BT]).float()
        loss_N = F.cross_entropy(logits_NV, labels_N, reduction="none")
        total = loss_N.sum() / num_labels
        if clean_weight > 0:
            clean_BT = batch.next_labels_BT != IGNORE
            clean_logits_NV = model.head(x_BTC[clean_BT]).float()
            clean_loss = F.cross_entropy(
                clean_logits_NV, batch.next_labels_BT[clean_BT], reduction="sum"
            )
            total = total + clean_weight * clean_loss / num_clean
    with torch.no_grad():
        right_N = logits_NV.argmax(-1) == labels_N
        values_3N = torch.stack([loss_N, right_N.float(), torch.ones_like(loss_N)])
        sums_3D = torch.zeros(3, batch.num_slots, dtype=torch.float64)
        # On the CPU, for not every device has fp64.
        sums_3D.index_add_(1, batch.slot_BT[labelled_BT].cpu(), values_3N.cpu().double())
    return Loss(total, sums_3D)
