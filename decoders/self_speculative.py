"""Self-speculation: the model drafts with its window and verifies the draft in the next forward.

One forward feeds the draft as a causal chain y_1 ... y_D and a window opened at each y_k. With
`verify=window`, slot 0 of window k says what follows y_k, and the output equals `block-ar`'s;
with `verify=causal` the chain's own logits say it, and the output equals `ar`'s. The chain's first
`a` keys and values are the kept tokens' own, so nothing is fed twice, and window `a` is the next
draft.
D + D*D query slots a step (the released code feeds D*D + D*(D-1)/2 and the kept tokens again).

Where many rows make every slot cost, `slot_budget` shortens the chain to the first K draft tokens,
K + K*D slots a row, so that all rows together feed no more than so many, or one link each: the ids
stay the same, but how many steps a row takes then depends on how many rows there are.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor

from decoders.acceptance import verified_prefix
from decoders.protocol import Accepted, Query, Rows, Step
from decoders.sampling import greedy_ids
from decoders.windows import chain_query, window_query

Verify = Literal["window", "causal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfSpeculative:
    name: ClassVar[str] = "self-speculative"
    needs_windows: ClassVar[bool] = True
    samples_with: ClassVar[None] = None
    promises_equal: ClassVar[bool] = True

    mask_token_id: int
    verify: Verify = "window"
    slot_budget: int = 0
    block: int

    def __post_init__(self) -> None:
        if self.verify not in get_args(Verify):
            choices = ", ".join(get_args(Verify))
            raise ValueError(f"verify is {self.verify!r}; it must be one of {choices}")
        if self.slot_budget < 0:
            raise ValueError(
                f"slot_budget is {self.slot_budget}; it must be 0 (off) or a number of query slots"
            )

    @property
    def keeps_most(self) -> int:
        return self.block

    @property
    def max_slots(self) -> int:
        return self.block + self.block**2

    @property
    def reference(self) -> str:
        return "ar" if self.verify == "causal" else f"block-ar(block={self.block})"

    def propose(self, rows: Rows) -> Query:
        causal = self.verify == "causal"
        if rows.prefill:
            return window_query(rows, self.block, self.mask_token_id, causal_too=causal)
        length = self.chain_length(rows)
        return chain_query(rows, self.mask_token_id, length, causal_too=causal)

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        choice_BN = greedy_ids(logits_BNV)
        zero_B = torch.zeros_like(rows.cached_B)
        if rows.prefill:
            return Accepted(
                ids_BK=rows.draft_BD,
                count_B=zero_B,
                commit_B=rows.num_pending_B,
                num_pending_B=zero_B,
                draft_BD=self._draft(choice_BN[:, : self.block], choice_BN[:, self.block :]),
            )
        B, D = rows.draft_BD.shape
        K = self.chain_length(rows)
        windows_BKD = choice_BN[:, : K * D].view(B, K, D)
        causal_BK = choice_BN[:, K * D :]
        answers_BK = causal_BK if self.verify == "causal" else windows_BKD[:, :, 0]
        count_B = verified_prefix(rows.draft_BD[:, :K], answers_BK)
        last_B = count_B - 1
        row_B = torch.arange(B, device=last_B.device)
        causal_B1 = causal_BK[row_B, last_B, None] if self.verify == "causal" else causal_BK
        return Accepted(
            ids_BK=rows.draft_BD,
            count_B=count_B,
            commit_B=count_B,
            num_pending_B=zero_B,
            draft_BD=self._draft(windows_BKD[row_B, last_B], causal_B1),
        )

    def draft_scores(self, step: Step) -> Tensor:
        """The model's probability of each token of the draft that a step ends with, fp32 [B, D],
        in the logits that it was drawn from."""
        logits_BNV, B, D = step.logits_BNV, *step.accepted.draft_BD.shape
        K = 1 if step.state.prefill else self.chain_length(step.state)
        last_B = (step.accepted.count_B - 1).clamp(min=0)
        slot_BD = last_B[:, None] * D + torch.arange(D, device=last_B.device)
        if self.verify == "causal":
            # Its first token is the causal answer; a prefill has one, a chain one a link.
            slot_BD[:, 0] = K * D + last_B
        row_B1 = torch.arange(B, device=last_B.device)[:, None]
        probs_BDV = logits_BNV[row_B1, slot_BD].float().softmax(dim=-1)
        return probs_BDV.gather(-1, step.accepted.draft_BD[..., None])[..., 0]

    def chain_length(self, rows: Rows) -> int:
        """K: all of the draft, or what the slot budget allows, at least 1."""
        if self.slot_budget == 0:
            return self.block
        a_row = self.slot_budget // rows.cached_B.shape[0]
        return min(self.block, max(1, a_row // (1 + self.block)))

    def _draft(self, window_BD: Tensor, causal_B1: Tensor) -> Tensor:
        """A window's choices; under `verify=causal` its first token is the causal answer."""
        if self.verify == "window":
            return window_BD
        return torch.cat((causal_B1, window_BD[:, 1:]), dim=1)
