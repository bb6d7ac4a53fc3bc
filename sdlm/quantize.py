"""int8 weights (`--quantize int8`): torchao's weight-only quantisation, one scale an output.

Every linear layer is quantised, the head too; a tied embedding keeps its own weights. What that
costs in accuracy and gains in speed is measured like any other option: it halves the bytes that a
step reads, but torch's CPU kernels for it are slower than bf16's for all but a row or two.
"""

from sdlm.linear import Linear
from sdlm.model import SDLM


def quantize_int8(model: SDLM) -> None:
    """Replace the model's weights, in place; ValueError if torchao is missing."""
    try:
        from torchao.quantization import Int8WeightOnlyConfig, quantize_
    except ImportError:
        raise ValueError(
            "int8 weights need torchao, which is not installed; install it: pip install"
            " 'sdlm-bench[quantize]'"
        ) from None
    quantize_(
        model, Int8WeightOnlyConfig(), filter_fn=lambda module, _: isinstance(module, Linear)
    )
