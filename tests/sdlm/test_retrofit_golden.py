"""The released code's training batches: same layout, mask, logits, loss and gradients.

It gives every sample a row of its own; ours must come to the same when samples share one.
"""

import random
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from sdlm.checkpoint import hf_tensors, load_model
from sdlm.layout import dense_mask
from sdlm.retrofit.loss import training_loss
from sdlm.retrofit.samples import Sample
from sdlm.retrofit.training_rows import (
    IGNORE,
    Batch,
    BlockSpec,
    Row,
    block_row,
    candidates,
    collate,
    num_blocks,
    pack,
)
from tests import golden

CASES = ("t0-multi-turn", "t1-padded-batch", "t2-every-position", "t3-flipped-attn")
EOS, PAD = 501, 502
ALL = [(model, case) for model in golden.MODELS for case in CASES]


class Recorded(NamedTuple):
    info: dict[str, Any]
    tensors: dict[str, Tensor]
    spec: BlockSpec


def recorded(model: str, case: str) -> Recorded:
    info = next(c for c in golden.read(model, "train.json")["cases"] if c["id"] == case)
    named = golden.tensors(model, "train.safetensors").items()
    mine = {k.removeprefix(f"{case}."): v for k, v in named if k.startswith(f"{case}.")}
    spec = BlockSpec(
        block_size=info["D"], mask_id=golden.MASK, end_ids=(EOS,), causal_attn=info["causal_attn"]
    )
    return Recorded(info, mine, spec)


def our_rows(case: Recorded) -> list[Row]:
    rows = []
    for number, sample in enumerate(case.info["samples"]):
        ids = case.tensors["input_ids"][number, : sample["x0_len"]].numpy()
        spans = np.array(sample["response_intervals"])
        rows.append(block_row(Sample(ids, spans), np.array(sample["block_starts"]), case.spec))
    return rows


def batch_of(rows: list[Row], spec: BlockSpec) -> Batch:
    return collate(rows, PAD, num_slots=spec.block_size, causal_attn=spec.causal_attn)


def our_batch(case: Recorded) -> Batch:
    return batch_of(our_rows(case), case.spec)


def with_recorded_labels(case: Recorded) -> list[Row]:
    labels_BT = aligned(case.tensors["labels"]).numpy()
    return [
        replace(row, labels=labels_BT[number, : len(row)])
        for number, row in enumerate(our_rows(case))
    ]


def aligned(labels_BT: Tensor) -> Tensor:
    """Recorded labels stand one slot after the one that predicts them."""
    return torch.nn.functional.pad(labels_BT[:, 1:], (0, 1), value=IGNORE)


@pytest.mark.parametrize(("model", "case_id"), ALL)
def test_layout(model: str, case_id: str):
    case = recorded(model, case_id)
    batch = our_batch(case)
    assert torch.equal(batch.ids_BT, case.tensors["input_ids"])
    assert torch.equal(batch.positions_BT, case.tensors["position_ids"])
    assert torch.equal(batch.next_labels_BT == IGNORE, _not_clean(case))
    expected = aligned(case.tensors["labels"])
    not_pad = case.tensors["not_pad"]
    for row, last in enumerate(not_pad.sum(1) - 1):
        # The released code loses this one label, the last block's last.
        assert expected[row, last] == IGNORE
        expected[row, last] = batch.labels_BT[row, last]
    assert torch.equal(batch.labels_BT, expected)
    mask = dense_mask(batch.layout)
    assert torch.equal(mask[not_pad], case.tensors["visible"][not_pad])


def _not_clean(case: Recorded) -> Tensor:
    """Slots after which no token of the clean sequence comes."""
    slots = torch.arange(case.tensors["input_ids"].shape[1])
    lengths = torch.tensor([sample["x0_len"] for sample in case.info["samples"]])
    return slots >= lengths[:, None] - 1


@pytest.mark.parametrize(("model", "case_id"), ALL)
def test_number_and_choice_of_blocks(model: str, case_id: str):
    for sample in recorded(model, case_id).info["samples"]:
        spec = recorded(model, case_id).spec
        spec = replace(spec, budget=sample["expected_mask_repeat_times"])
        places = candidates(np.array(sample["response_intervals"]))
        count = num_blocks(np.array([sample["x0_len"]]), np.array([len(places)]), spec)[0]
        assert count == min(sample["requested_blocks"], len(places))
        draw = random.Random(sample["python_random_seed"]).sample(places.tolist(), int(count))
        assert sorted(draw) == sample["block_starts"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("model", "case_id"), ALL)
def test_loss_and_gradients(model: str, case_id: str, packed: bool):
    case = recorded(model, case_id)
    rows = with_recorded_labels(case)
    batch = batch_of([pack(rows)] if packed else rows, case.spec)
    network = load_model(golden.folder() / model).requires_grad_(True)
    loss = training_loss(network, batch)
    assert loss.total.item() == pytest.approx(case.info["loss"], abs=1e-5)
    loss_D, _, count_D = loss.sums_3D
    assert count_D.sum() == case.info["n_loss_tokens"]
    by_place = (loss_D / count_D)[: len(case.info["loss_by_window_position"])]
    assert by_place.tolist() == pytest.approx(case.info["loss_by_window_position"], abs=1e-5)

    loss.total.backward()
    gradients = hf_tensors({n: p.grad for n, p in network.named_parameters()}, network.config)
    norms = {name: gradient.norm().item() for name, gradient in gradients.items()}
    assert norms == pytest.approx(case.info["grad_norms"], rel=1e-4)
    total = torch.nn.utils.get_total_norm([p.grad for p in network.parameters()]).item()
    assert total == pytest.approx(case.info["grad_norm_total"], rel=1e-4)

    if "logits" in case.tensors:
        with torch.no_grad():
            logits = network(batch.ids_BT, batch.positions_BT, batch.layout)
        kept = case.tensors["not_pad"]
        ours = logits[0] if packed else logits[kept]
        torch.testing.assert_close(ours, case.tensors["logits"][kept], rtol=0, atol=1e-4)


@pytest.mark.parametrize("model", golden.MODELS)
def test_all_samples_in_one_row(model: str):
    """The loss is the mean over all labels of the cases that share a block's visibility."""
    cases = [recorded(model, case_id) for case_id in CASES[:3]]
    rows = [row for case in cases for row in with_recorded_labels(case)]
    counts = [case.info["n_loss_tokens"] for case in cases]
    network = load_model(golden.folder() / model)
    loss = training_loss(network, batch_of([pack(rows)], cases[0].spec))
    mean = sum(n * case.info["loss"] for n, case in zip(counts, cases, strict=True)) / sum(counts)
    assert loss.total.item() == pytest.approx(mean, abs=1e-5)
