"""Decoding a model that was trained with `--no-shift`, for the paper's ablation.

python -m harness run --model DIR --decoders 'ar,tests.benchmarks.unshifted:Unshifted(tau=0.9)'
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from decoders.confidence import GreedyConfidence
from decoders.protocol import Query, Rows
from decoders.windows import window_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshifted(GreedyConfidence):
    """Greedy confidence where slot k of `[x_{n-1}, M, ..., M]` predicts its own token x_{n-1+k}.

    Slot 0 is given and predicts nothing, so a window of D slots answers for D - 1 tokens.
    """

    name: ClassVar[str] = "unshifted"
    shift: ClassVar[bool] = False

    @property
    def keeps_most(self) -> int:
        return self.block - 1

    @property
    def reference(self) -> str:
        return "ar"

    def propose(self, rows: Rows) -> Query:
        query = window_query(rows, self.block, self.mask_token_id)
        return replace(query, wanted_BN=query.wanted_BN[:, 1:])
