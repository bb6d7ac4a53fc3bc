"""The products of a packed `Linear` against the definition in fp64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sdlm.checkpoint import save_model
from sdlm.linear import LEAST_ROWS, PACKED_DTYPES, SMALL_WEIGHT, SWAPPED_ROWS, Linear, _packs
from sdlm.model import SDLM
from tests.fakes import tiny_config

BORDERS = {1, LEAST_ROWS - 1, LEAST_ROWS, SWAPPED_ROWS, SWAPPED_ROWS + 1, 64, 300}
# Products are summed in fp32 and rounded once to the dtype.
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2**-7}

packs = [
    pytest.param(dtype, marks=pytest.mark.skipif(not _packs(dtype), reason="oneDNN packs no such"))
    for dtype in PACKED_DTYPES
]


def check(layer: Linear, rows: int) -> None:
    dtype = layer.weight.dtype
    x_NI = torch.randn(rows, layer.in_features, dtype=dtype)
    exact_NO = x_NI.double() @ layer.weight.detach().double().T
    if layer.bias is not None:
        exact_NO += layer.bias.detach().double()
    layer.pack()
    assert layer.packed is not None
    with torch.inference_mode():
        out_NO = layer(x_NI)
        assert torch.equal(layer(x_NI[None])[0], out_NO)
    scale = float(exact_NO.abs().max())
    torch.testing.assert_close(
        out_NO.double(), exact_NO, rtol=0, atol=TOLERANCE[dtype] * max(scale, 1)
    )


@pytest.mark.parametrize("dtype", packs)
@given(
    rows=st.sampled_from(sorted(BORDERS)) | st.integers(1, 80),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 70),
    bias=st.booleans(),
)
def test_the_sum_by_definition(
    dtype: torch.dtype, rows: int, inputs: int, outputs: int, bias: bool
):
    torch.manual_seed(rows)
    check(Linear(inputs, outputs, bias=bias).to(dtype), rows)


@pytest.mark.parametrize("dtype", packs)
@pytest.mark.parametrize("rows", sorted(BORDERS))
def test_a_large_weight_is_held_once(dtype: torch.dtype, rows: int):
    layer = Linear(1024, SMALL_WEIGHT // 1024 + 1).to(dtype)
    check(layer, rows)
    assert [name for name, _ in layer.named_parameters()] == ["bias"]


@pytest.mark.parametrize("rows", sorted(BORDERS))
def test_a_view_is_read_as_it_stands_and_no_input_is_changed(rows: int):
    layer = Linear(6, 8)
    layer.pack()
    wide = torch.randn(rows, 2, 12)
    kept = wide.clone()
    narrow = wide[:, 1, ::2]
    with torch.inference_mode():
        torch.testing.assert_close(layer(narrow), layer(narrow.contiguous()))
    assert torch.equal(wide, kept)


def test_what_is_not_packed_is_torch_s_own_layer():
    ours, plain = Linear(5, 7), torch.nn.Linear(5, 7)
    plain.load_state_dict(ours.state_dict())
    x_NI = torch.randn(3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(ours(x_NI), plain(x_NI))


@pytest.mark.parametrize("dtype", packs)
@pytest.mark.parametrize("tied", [False, True])
def test_a_packed_model_keeps_its_embedding_and_is_not_saved(dtype, tied: bool, tmp_path):
    model = SDLM(tiny_config(tie_embeddings=tied)).to(dtype).requires_grad_(False)
    embedding = model.embedding.weight.clone()
    linear = [module for module in model.modules() if isinstance(module, Linear)]
    model.pack()
    assert torch.equal(model.embedding.weight, embedding)
    assert all(layer.packed is not None for layer in linear)
    # Small fp32 weights are kept plain as well.
    plain = [layer for layer in linear if hasattr(layer, "weight")]
    assert plain == (linear if dtype == torch.float32 else [])
    with pytest.raises(ValueError, match="packed for inference and can't be saved"):
        save_model(model, tmp_path, dtype)
    assert not list(tmp_path.iterdir())
