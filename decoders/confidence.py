"""Confidence decoding: keep the longest prefix of the window that the model is sure of.

`greedy-confidence` is sure by the chosen token's probability, `entropy` by the distribution's
entropy (arXiv 2509.24007, section 3.2, equations 7-9).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from decoders.acceptance import Rule, check_rule, confident_prefix
from decoders.protocol import Accepted, Query, Rows
from decoders.sampling import Chosen, Sampling, choose, entropy_score, probability, row_slices
from decoders.windows import window_query


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyConfidence(Sampling):
    name: ClassVar[str] = "greedy-confidence"
    needs_windows: ClassVar[bool] = True
    promises_equal: ClassVar[bool] = False
    score: ClassVar[Callable[[Chosen], Tensor]] = staticmethod(probability)

    mask_token_id: int
    tau: float = 0.98
    rule: Rule = "per-token"
    block: int

    def __post_init__(self) -> None:
        check_rule(self.tau, self.rule)
        # A dataclass with slots is made anew, and `super()` knows only the first.
        Sampling.__post_init__(self)

    @property
    def keeps_most(self) -> int:
        return self.block

    @property
    def max_slots(self) -> int:
        return 2 * self.block

    @property
    def reference(self) -> str:
        return f"block-ar(block={self.block})"

    def propose(self, rows: Rows) -> Query:
        return window_query(rows, self.block, self.mask_token_id)

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        ids, scores = [], []
        for some in row_slices(logits_BNV):
            chosen = choose(logits_BNV[some], self, rows.generators[some])
            ids.append(chosen.ids_BN)
            scores.append(type(self).score(chosen))
        scores_BK = torch.cat(scores)
        count_B = confident_prefix(scores_BK, self.tau, self.rule)
        return Accepted(
            ids_BK=torch.cat(ids),
            count_B=count_B,
            commit_B=rows.num_pending_B,
            num_pending_B=count_B,
            draft_BD=rows.draft_BD,
            scores_BK=scores_BK,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entropy(GreedyConfidence):
    name: ClassVar[str] = "entropy"
    score: ClassVar[Callable[[Chosen], Tensor]] = staticmethod(entropy_score)
