"""One token a step from the first slot of a window: what self-speculation must reproduce."""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from decoders.protocol import Accepted, Query, Rows
from decoders.sampling import greedy_ids
from decoders.windows import window_query


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockAutoregressive:
    name: ClassVar[str] = "block-ar"
    needs_windows: ClassVar[bool] = True
    keeps_most: ClassVar[int] = 1
    samples_with: ClassVar[None] = None
    promises_equal: ClassVar[bool] = True

    mask_token_id: int
    block: int

    @property
    def max_slots(self) -> int:
        return 1 + self.block

    @property
    def reference(self) -> str:
        return f"block-ar(block={self.block})"

    def propose(self, rows: Rows) -> Query:
        query = window_query(rows, self.block, self.mask_token_id)
        return replace(query, wanted_BN=query.wanted_BN[:, :1])

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        one_B = torch.ones_like(rows.num_pending_B)
        return Accepted(
            ids_BK=greedy_ids(logits_BNV),
            count_B=one_B,
            commit_B=rows.num_pending_B,
            num_pending_B=one_B,
            draft_BD=rows.draft_BD,
        )
