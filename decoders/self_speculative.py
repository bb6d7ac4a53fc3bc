"""Self-speculation: the model drafts with its window and verifies the draft in the next forward.

One forward feeds the draft as a causal chain y_1 ... y_D and a window opened at each y_k. With
`verify=window`, slot 0 of window k says what follows y_k, and the output equals `block-ar`'s;
with `verify=causal` the chain's own logits say it, and the output equals `ar`'s. The chain's first
`a` keys and values are the kept tokens' own, so nothing is fed twice, and window `a` is the next
draft.
D + D*D query slots a step (the released code feeds D*D + D*(D-1)/2 and the kept tokens again).

Where slots cost more than a longer draft gains, the chain may be cut to the first K draft tokens,
K + K*D slots; the ids stay the same. With `draft_tau` a draft ends before its first token whose
probability is not above that. With `slot_budget` all rows together feed no more than so many
slots, or one link each: how many steps a row takes then depends on how many rows there are.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor

from decoders.acceptance import confident_prefix, verified_prefix
from decoders.protocol import NO_TOKEN, Accepted, Query, Rows, Step
from decoders.sampling import greedy_ids, row_slices
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
    draft_tau: float = 0.0
    slot_budget: int = 0
    block: int

    def __post_init__(self) -> None:
        if self.verify not in get_args(Verify):
            choices = ", ".join(get_args(Verify))
            raise ValueError(f"verify is {self.verify!r}; it must be one of {choices}")
        if not 0 <= self.draft_tau <= 1:
            raise ValueError(f"draft_tau is {self.draft_tau}; it must lie in 0...1")
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
        return chain_query(rows, length, self.block, self.mask_token_id, causal_too=causal)

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        choice_BN = greedy_ids(logits_BNV)
        count_B = zero_B = torch.zeros_like(rows.cached_B)
        if not rows.prefill:
            K = self.chain_length(rows)
            links_BK, causal_BK = choice_BN[:, : K * self.block], choice_BN[:, K * self.block :]
            answers_BK = causal_BK if self.verify == "causal" else links_BK[:, :: self.block]
            count_B = verified_prefix(rows.draft_BD[:, :K], answers_BK)
        slot_BD = self._draft_slots(rows, count_B)
        draft_BD = choice_BN.gather(1, slot_BD)
        if self.draft_tau > 0:
            scores_BD = _probabilities(logits_BNV, slot_BD, draft_BD)
            length_B = confident_prefix(scores_BD, self.draft_tau, "per-token")
            slot_D = torch.arange(self.block, device=length_B.device)
            draft_BD = draft_BD.where(slot_D < length_B[:, None], NO_TOKEN)
        return Accepted(
            ids_BK=rows.draft_BD,
            count_B=count_B,
            commit_B=rows.num_pending_B if rows.prefill else count_B,
            num_pending_B=zero_B,
            draft_BD=draft_BD,
        )

    def draft_scores(self, step: Step) -> Tensor:
        """The model's probability of each token of the draft that a step ends with, fp32 [B, D],
        in the logits that it was drawn from; past the draft's end of no meaning."""
        slot_BD = self._draft_slots(step.state, step.accepted.count_B)
        return _probabilities(step.logits_BNV, slot_BD, step.accepted.draft_BD.clamp(min=0))

    def chain_length(self, rows: Rows) -> int:
        """K: the longest draft, or what the slot budget allows of it, at least 1."""
        length = rows.draft_BD.shape[1]
        if self.slot_budget == 0:
            return length
        a_row = self.slot_budget // rows.cached_B.shape[0]
        return min(length, max(1, a_row // (1 + self.block)))

    def _draft_slots(self, rows: Rows, count_B: Tensor) -> Tensor:
        """Which of the wanted slots the next draft is read from: the window of the last token
        kept, and under `verify=causal` first that token's causal slot. int64 [B, D]."""
        last_B1 = (count_B[:, None] - 1).clamp(min=0)
        slot_BD = last_B1 * self.block + torch.arange(self.block, device=count_B.device)
        if self.verify == "causal":
            # After those of the windows: a prefill has one, a chain one a link.
            num_windows = 1 if rows.prefill else self.chain_length(rows)
            slot_BD[:, :1] = num_windows * self.block + last_B1
        return slot_BD


def _probabilities(logits_BNV: Tensor, slot_BD: Tensor, ids_BD: Tensor) -> Tensor:
    """The probability of each id in its slot, fp32 [B, D]."""
    found = []
    for some in row_slices(logits_BNV):
        logits_bDV = logits_BNV[some].take_along_dim(slot_BD[some, :, None], dim=1).float()
        found.append(logits_bDV.softmax(dim=-1).gather(-1, ids_BD[some, :, None])[..., 0])
    return torch.cat(found)
