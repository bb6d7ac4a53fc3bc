"""int8 weights: near the model's own, smaller, and honest where torchao is missing."""

import sys

import pytest
import torch

from sdlm.checkpoint import load_model
from sdlm.layout import causal_layout
from sdlm.linear import Linear
from sdlm.model_names import model_folder
from sdlm.quantize import quantize_int8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.inference_mode()
def test_logits_stay_near_and_linear_weights_shrink(dtype: torch.dtype):
    exact = load_model(model_folder("nano"), dtype=dtype)
    model = load_model(model_folder("nano"), dtype=dtype)
    quantize_int8(model)
    for layer in model.modules():
        if isinstance(layer, Linear):
            assert layer.weight.qdata.dtype == torch.int8
    # The head is tied to the embedding, which is no product and stays.
    assert torch.equal(model.embedding.weight, exact.embedding.weight)
    for rows in (1, 40):
        ids_BT = torch.arange(100, 100 + rows)[None]
        inputs = (ids_BT, ids_BT - 100, causal_layout(1, rows))
        got, wanted = model(*inputs).float(), exact(*inputs).float()
        difference = float((got - wanted).norm() / wanted.norm())
        assert 0 < difference < 0.02


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torchao.quantization", None)
    model = load_model(model_folder("nano"), dtype=torch.float32)
    with pytest.raises(ValueError, match=r"need torchao.*sdlm-bench\[quantize\]"):
        quantize_int8(model)
