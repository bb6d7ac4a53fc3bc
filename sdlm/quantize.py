"""int8 weights (`--quantize int8`): torchao's weight-only quantisation, one scale an output.

Every linear layer is quantised, the head too; a tied embedding keeps its own weights. What that
costs in accuracy and gains in speed is measured like any other option: it halves the bytes that a
step reads, but the kernels are other ones too.
"""

import logging

from sdlm.linear import Linear
from sdlm.model import SDLM


def quantize_int8(model: SDLM) -> None:
    """Replace the model's weights, in place; ValueError if torchao is missing."""
    # On import torchao warns of libraries for GPUs that are not there, and of its own future.
    logging.disable(logging.WARNING)
    try:
        from torchao.quantization import Int8WeightOnlyConfig, quantize_
    except ImportError:
        raise ValueError(
            "int8 weights need torchao, which is not installed; install it: pip install"
            " 'sdlm-bench[quantize]'"
        ) from None
    finally:
        logging.disable(logging.NOTSET)
    quantize_(
        model, Int8WeightOnlyConfig(), filter_fn=lambda module, _: isinstance(module, Linear)
    )
