"""Plain autoregression: pending tokens only, one token a step. The baseline of every speedup."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from decoders.protocol import Accepted, Query, Rows
from decoders.sampling import Sampling, choose, greedy_ids
from decoders.windows import pending_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoregressive(Sampling):
    name: ClassVar[str] = "ar"
    needs_windows: ClassVar[bool] = False
    block: ClassVar[int] = 1
    keeps_most: ClassVar[int] = 1
    max_slots: ClassVar[int] = 1
    reference: ClassVar[str] = "ar"

    @property
    def promises_equal(self) -> bool:
        return self.temperature == 0

    def propose(self, rows: Rows) -> Query:
        return pending_query(rows)

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        if self.temperature > 0:
            ids_B1 = choose(logits_BNV, self, rows.generators).ids_BN
        else:
            # No filter changes which logit is the largest, so the baseline pays for no softmax.
            ids_B1 = greedy_ids(logits_BNV)
        one_B = torch.ones_like(rows.num_pending_B)
        return Accepted(
            ids_BK=ids_B1,
            count_B=one_B,
            commit_B=rows.num_pending_B,
            num_pending_B=one_B,
            draft_BD=rows.draft_BD,
        )
