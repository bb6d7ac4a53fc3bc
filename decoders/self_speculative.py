"""Self-speculation: the model drafts with its window and verifies the draft in the next forward.

One forward feeds the draft as a causal chain y_1 ... y_D and a window opened at each y_k. With
`verify=window`, slot 0 of window k says what follows y_k, and the output equals `block-ar`'s;
with `verify=causal` the chain's own logits say it, and the output equals `ar`'s. The chain's first
`a` keys and values are the kept tokens' own, so nothing is fed twice, and window `a` is the next
draft.
D + D*D query slots a step (the released code feeds D*D + D*(D-1)/2 and the kept tokens again).
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor

from decoders.acceptance import verified_prefix
from decoders.protocol import Accepted, Query, Rows
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
    block: int

    def __post_init__(self) -> None:
        if self.verify not in get_args(Verify):
            choices = ", ".join(get_args(Verify))
            raise ValueError(f"verify is {self.verify!r}; it must be one of {choices}")

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
        return chain_query(rows, self.mask_token_id, causal_too=causal)

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
        windows_BDD = choice_BN[:, : D * D].view(B, D, D)
        causal_BD = choice_BN[:, D * D :]
        answers_BD = causal_BD if self.verify == "causal" else windows_BDD[:, :, 0]
        count_B = verified_prefix(rows.draft_BD, answers_BD)
        last_B = count_B - 1
        row_B = torch.arange(B, device=last_B.device)
        causal_B1 = causal_BD[row_B, last_B, None] if self.verify == "causal" else causal_BD
        return Accepted(
            ids_BK=rows.draft_BD,
            count_B=count_B,
            commit_B=count_B,
            num_pending_B=zero_B,
            draft_BD=self._draft(windows_BDD[row_B, last_B], causal_B1),
        )

    def _draft(self, window_BD: Tensor, causal_B1: Tensor) -> Tensor:
        """A window's choices; under `verify=causal` its first token is the causal answer."""
        if self.verify == "window":
            return window_BD
        return torch.cat((causal_B1, window_BD[:, 1:]), dim=1)
