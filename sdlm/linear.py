"""Linear layers for the few rows of a decoding step.

A decoding step multiplies 1 to some dozens of rows with every weight, which is bound by reading
the weights. In fp32 on a CPU, torch hands such products to a BLAS that is made for many rows: on
the machine where this was measured (two cores of an AMD EPYC, MKL) it packs the weight anew for
each and leaves most of the work to one thread. In bf16 oneDNN packs anew as well, unless the
weight was packed once (`Linear.pack`).

Shape suffixes: N rows, I inputs, O outputs, G shares of the outputs.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Up to so many rows it pays to have the rows on the right of the product.
SWAPPED_ROWS = 6
# Up to so many it pays to share the weight among the threads.
SHARED_ROWS = 64
# Fewer rows than this take longer from a packed weight than this many.
PACKED_ROWS = 4


class Linear(nn.Linear):
    """`torch.nn.Linear`; for few rows on a CPU the same sum by faster products."""

    packed: Tensor | None = None

    def pack(self) -> None:
        """Keep the weight only as oneDNN reads it, from now on: for inference in bf16 on a CPU.

        Does nothing elsewhere. A weight that another module holds too (a tied embedding) stays
        there as it was.
        """
        weight = self.weight
        if weight.device.type != "cpu" or weight.dtype != torch.bfloat16 or not _packs_bf16():
            return
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), PACKED_ROWS)
        del self.weight

    def forward(self, input: Tensor) -> Tensor:
        rows = input.numel() // self.in_features
        if self.packed is not None:
            input_NI = input.reshape(rows, self.in_features)
            if rows < PACKED_ROWS:
                input_NI = F.pad(input_NI, (0, 0, 0, PACKED_ROWS - rows))
            output_NO = torch.ops.mkldnn._linear_pointwise(
                input_NI, self.packed, self.bias, "none", [], ""
            )
            return output_NO[:rows].view(*input.shape[:-1], self.out_features)
        few = input.device.type == "cpu" and input.dtype == torch.float32 and rows <= SHARED_ROWS
        # Other kinds of weights (quantised ones) know their own products.
        if torch.is_grad_enabled() or not few or type(self.weight) is not nn.Parameter:
            return F.linear(input, self.weight, self.bias)
        product = _swapped if rows <= SWAPPED_ROWS else _shared
        output_NO = product(input.reshape(rows, self.in_features), self.weight)
        if self.bias is not None:
            output_NO += self.bias
        return output_NO.view(*input.shape[:-1], self.out_features)


def _packs_bf16() -> bool:
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def _swapped(input_NI: Tensor, weight_OI: Tensor) -> Tensor:
    rows = input_NI.shape[0]
    if rows == 1:
        # A product with one row goes to gemv, which leaves it to one thread. The result may lie in
        # every other place: whoever reads a few numbers only is as fast.
        return torch.mm(weight_OI, torch.cat((input_NI, input_NI)).t())[:, :1].t()
    return torch.mm(weight_OI, input_NI.t()).t().contiguous()


def _shared(input_NI: Tensor, weight_OI: Tensor) -> Tensor:
    outputs, inputs = weight_OI.shape
    shares = _shares(outputs)
    weight_GIO = weight_OI.view(shares, outputs // shares, inputs).transpose(1, 2)
    output_GNO = torch.bmm(input_NI.expand(shares, -1, -1), weight_GIO)
    return output_GNO.transpose(0, 1).reshape(-1, outputs)


# The compiler can't read the number of threads.
@torch.compiler.assume_constant_result
def _shares(outputs: int) -> int:
    """Equal shares, some for each thread; a prime number of outputs has one share."""
    threads = torch.get_num_threads()
    return next((n for n in range(2 * threads, 8 * threads) if outputs % n == 0), 1)
