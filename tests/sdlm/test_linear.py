"""The products of `Linear` against the definition in fp64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sdlm.linear import PACKED_ROWS, SHARED_ROWS, SWAPPED_ROWS, Linear
from sdlm.model import SDLM
from tests.fakes import tiny_config
from tests.oracles.model import fp32_tolerance

BORDERS = {1, 2, SWAPPED_ROWS, SWAPPED_ROWS + 1, SHARED_ROWS, SHARED_ROWS + 1}


@given(
    rows=st.sampled_from(sorted(BORDERS)) | st.integers(1, 2 * SHARED_ROWS),
    inputs=st.integers(1, 40),
    outputs=st.integers(1, 40),
    bias=st.booleans(),
)
def test_the_sum_by_definition(rows: int, inputs: int, outputs: int, bias: bool):
    torch.manual_seed(rows)
    layer = Linear(inputs, outputs, bias=bias)
    x_NI = torch.randn(rows, inputs)
    weight_OI, bias_O = (
        layer.weight.detach(),
        layer.bias.detach() if bias else torch.zeros(outputs),
    )
    exact_NO = x_NI.double() @ weight_OI.double().T + bias_O.double()
    with torch.inference_mode():
        out_NO = layer(x_NI)
        assert torch.equal(layer(x_NI[None])[0], out_NO)
    torch.testing.assert_close(out_NO.double(), exact_NO, rtol=0, atol=fp32_tolerance(exact_NO))


@pytest.mark.parametrize("rows", sorted(BORDERS))
def test_a_view_is_read_as_it_stands_and_no_input_is_changed(rows: int):
    layer = Linear(6, 8)
    wide = torch.randn(rows, 2, 12)
    kept = wide.clone()
    narrow = wide[:, 1, ::2]
    with torch.inference_mode():
        torch.testing.assert_close(layer(narrow), layer(narrow.contiguous()))
    assert torch.equal(wide, kept)


def test_training_is_torch_s_own_layer():
    ours, plain = Linear(5, 7), torch.nn.Linear(5, 7)
    plain.load_state_dict(ours.state_dict())
    x_NI = torch.randn(3, 5)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(ours(x_NI), plain(x_NI))


packs = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="this CPU packs no bf16 weights"
)


@packs
@given(
    rows=st.integers(1, 2 * PACKED_ROWS) | st.sampled_from([20, 64, 300]),
    inputs=st.integers(1, 70),
    outputs=st.integers(1, 70),
    bias=st.booleans(),
)
def test_a_packed_weight_gives_the_same_sum(rows: int, inputs: int, outputs: int, bias: bool):
    torch.manual_seed(rows)
    layer = Linear(inputs, outputs, bias=bias).to(torch.bfloat16)
    x_NI = torch.randn(rows, inputs, dtype=torch.bfloat16)
    exact_NO = x_NI.double() @ layer.weight.detach().double().T
    exact_NO += layer.bias.detach().double() if bias else 0
    layer.pack()
    assert not list(layer.parameters())[bias:]
    with torch.inference_mode():
        out_NO = layer(x_NI)
        assert torch.equal(layer(x_NI[None])[0], out_NO)
    # Products are summed in fp32 and rounded once.
    torch.testing.assert_close(out_NO.double(), exact_NO, rtol=2**-8, atol=1e-5)


@packs
def test_packing_leaves_a_tied_embedding_alone():
    model = SDLM(tiny_config(tie_embeddings=True)).to(torch.bfloat16)
    embedding = model.embedding.weight.detach().clone()
    model.pack()
    assert torch.equal(model.embedding.weight, embedding)
    assert model.head.packed is not None


def test_fp32_weights_are_not_packed():
    layer = Linear(5, 7)
    layer.pack()
    assert layer.packed is None
