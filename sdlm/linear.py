"""Linear layers for the few rows of a decoding step, on a CPU.

A decoding step multiplies 1 to some hundred rows with every weight, which for few rows is bound by
reading the weights. torch hands such products to libraries made for many rows, which lay the
weight out anew for each product, in fp32 by one thread. Laid out once, as oneDNN reads it, the
same weight is read at the speed of memory.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PACKED_DTYPES = (torch.float32, torch.bfloat16)
# The layout is chosen for so many rows, and serves fewer and more as well as any.
LAYOUT_ROWS = 32
# A weight of so many numbers is read so fast that what a call costs decides.
SMALL_WEIGHT = 1 << 19
# Large weights: fewer rows than this take longer than this many.
LEAST_ROWS = 4
# Small fp32 weights: up to so many rows a plain product costs less than calling oneDNN.
SWAPPED_ROWS = 6


class Linear(nn.Linear):
    """`torch.nn.Linear`; once packed, the same sum by faster products."""

    packed: Tensor | None = None
    small: bool = False
    swaps: bool = False

    def pack(self) -> None:
        """Keep the weight as oneDNN reads it, from now on: for inference on a CPU.

        Only a small fp32 weight is kept plain as well. Does nothing on other devices. A weight
        that another module holds too (a tied embedding) stays there as it was.
        """
        weight = self.weight.detach()
        if weight.device.type != "cpu" or not _packs(weight.dtype):
            return
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight, LAYOUT_ROWS)
        self.swap()
        if not self.swaps:
            del self.weight

    def swap(self) -> None:
        """Use plain products in another order where they are faster: few rows, small weights."""
        self.small = self.weight.numel() <= SMALL_WEIGHT
        fp32 = type(self.weight) is nn.Parameter and self.weight.dtype == torch.float32
        self.swaps = self.small and fp32 and self.weight.device.type == "cpu"

    def forward(self, input: Tensor) -> Tensor:
        rows = input.numel() // self.in_features
        if self.swaps and rows <= SWAPPED_ROWS:
            output_NO = _swapped(input.reshape(rows, self.in_features), self.weight)
            if self.bias is not None:
                output_NO += self.bias
        elif self.packed is None:
            return F.linear(input, self.weight, self.bias)
        else:
            input_NI = input.reshape(rows, self.in_features)
            if rows < LEAST_ROWS and not self.small:
                input_NI = F.pad(input_NI, (0, 0, 0, LEAST_ROWS - rows))
            output_NO = torch.ops.mkldnn._linear_pointwise(
                input_NI, self.packed, self.bias, "none", [], ""
            )[:rows]
        return output_NO.view(*input.shape[:-1], self.out_features)


def _swapped(input_NI: Tensor, weight_OI: Tensor) -> Tensor:
    """The product with the weight on its left, which MKL shares among threads for few rows."""
    rows = input_NI.shape[0]
    if rows == 1:
        # A product with one row goes to gemv, which leaves it to one thread. The result may lie in
        # every other place: whoever reads a few numbers only is as fast.
        return torch.mm(weight_OI, torch.cat((input_NI, input_NI)).t())[:, :1].t()
    return torch.mm(weight_OI, input_NI.t()).t().contiguous()


def _packs(dtype: torch.dtype) -> bool:
    if not torch.backends.mkldnn.is_available() or dtype not in PACKED_DTYPES:
        return False
    return dtype != torch.bfloat16 or torch.ops.mkldnn._is_mkldnn_bf16_supported()
