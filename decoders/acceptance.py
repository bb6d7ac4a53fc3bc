"""How much of a window is kept: the prefix rules, and verification of a draft.

Pure functions of tensors. Shape suffixes: B rows, D slots of a window.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

Rule = Literal["per-token", "cumulative"]


def check_rule(tau: float, rule: str) -> None:
    if not 0 <= tau <= 1:
        raise ValueError(f"tau is {tau}; it must lie in 0...1")
    if rule not in get_args(Rule):
        raise ValueError(f"rule is {rule!r}; it must be one of {', '.join(get_args(Rule))}")


def confident_prefix(confidence_BD: Tensor, tau: float, rule: Rule) -> Tensor:
    """Length of the longest confident prefix, at least 1; int64 [B].

    per-token: every confidence > tau, strictly (the released code).
    cumulative: product of the confidences so far >= tau (arXiv 2509.24007, equation 7).
    Both compare in fp32.
    """
    threshold = torch.full((), tau, dtype=torch.float32, device=confidence_BD.device)
    if rule == "per-token":
        passes_BD = confidence_BD > threshold
    else:
        passes_BD = confidence_BD.cumprod(dim=-1) >= threshold
    return passes_BD.cumprod(dim=-1).sum(dim=-1).clamp(min=1)


def verified_prefix(draft_BD: Tensor, answers_BD: Tensor) -> Tensor:
    """Largest a >= 1 such that draft token i+1 equals the answer to draft token i for all i < a.

    answers_BD[b, i]: the token that follows draft_BD[b, i]. The first draft token is always kept.
    Returns int64 [B].
    """
    matches_BD = (draft_BD[:, 1:] == answers_BD[:, :-1]).cumprod(dim=-1)
    return 1 + matches_BD.sum(dim=-1)
