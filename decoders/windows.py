"""Queries: pending tokens alone, pending tokens with a window, a draft chain with its windows.

Shape suffixes as in `decoders.protocol`; K is the length of a chain here.
"""

import torch
from torch import Tensor

from decoders.protocol import NO_TOKEN, Query, Rows


def pending_query(rows: Rows) -> Query:
    """Pending tokens, causally; the logits of the last one are wanted. Plain autoregression."""
    positions_BP, limit_BP = _causal_slots(rows)
    return Query(
        ids_BT=rows.pending_BP,
        positions_BT=positions_BP,
        limit_BT=limit_BP,
        group_BT=torch.zeros_like(limit_BP),
        wanted_BN=rows.num_pending_B[:, None] - 1,
        num_slots_B=rows.num_pending_B,
    )


def window_query(rows: Rows, block: int, mask_token_id: int, *, causal_too: bool = False) -> Query:
    """Pending tokens, then the window `[x_{n-1}, M, ..., M]` at positions n-1 ... n+D-2.

    The window sees x_0 ... x_{n-2} and itself (arXiv 2509.24007, equation 5), not the causal copy
    of x_{n-1}. Its D slots' logits are wanted, and with `causal_too` then the last pending slot's.
    """
    B, P = rows.pending_BP.shape
    causal_BP, causal_limit_BP = _causal_slots(rows)
    last_B1 = rows.num_pending_B[:, None] - 1
    window_BD = rows.pending_BP.new_full((B, block), mask_token_id)
    window_BD[:, :1] = rows.pending_BP.gather(1, last_B1)
    start_B1 = rows.cached_B[:, None] + last_B1
    slot_D = torch.arange(block, device=last_B1.device)
    wanted_BN = (P + slot_D).expand(B, block)
    return Query(
        ids_BT=torch.cat((rows.pending_BP, window_BD), dim=1),
        positions_BT=torch.cat((causal_BP, start_B1 + slot_D), dim=1),
        limit_BT=torch.cat((causal_limit_BP, start_B1.expand(B, block)), dim=1),
        group_BT=torch.cat((torch.zeros_like(causal_BP), torch.ones_like(window_BD)), dim=1),
        wanted_BN=torch.cat((wanted_BN, last_B1), dim=1) if causal_too else wanted_BN,
        num_slots_B=rows.num_pending_B + block,
    )


def chain_query(
    rows: Rows, length: int, block: int, mask_token_id: int, *, causal_too: bool = False
) -> Query:
    """The draft chain y_1 ... y_K, K = `length`, causally, then for each y_k of it a window
    `[y_k, M, ..., M]` of D slots.

    Window k sees the n kept tokens, y_1 ... y_{k-1} and itself. The K x D window slots' logits are
    wanted, and with `causal_too` then the chain's. Where a row's draft is shorter, masks fill the
    chain, which no token before them sees.
    """
    drafted_BK = rows.draft_BD[:, :length] != NO_TOKEN
    draft_BK = rows.draft_BD[:, :length].where(drafted_BK, mask_token_id)
    B, D, device = len(draft_BK), block, draft_BK.device
    slot_D, slot_K = torch.arange(D, device=device), torch.arange(length, device=device)
    chain_BK = rows.cached_B[:, None] + slot_K
    windows_BKD = draft_BK.new_full((B, length, D), mask_token_id)
    windows_BKD[:, :, 0] = draft_BK
    group_N = (slot_K + 1).repeat_interleave(D)
    wanted_N = torch.arange(length, length + length * D, device=device)
    if causal_too:
        wanted_N = torch.cat((wanted_N, slot_K))
    return Query(
        ids_BT=torch.cat((draft_BK, windows_BKD.flatten(1)), dim=1),
        positions_BT=torch.cat((chain_BK, (chain_BK[:, :, None] + slot_D).flatten(1)), dim=1),
        limit_BT=torch.cat((chain_BK + 1, chain_BK.repeat_interleave(D, dim=1)), dim=1),
        group_BT=torch.cat((torch.zeros_like(slot_K), group_N)).expand(B, -1),
        wanted_BN=wanted_N.expand(B, -1),
        num_slots_B=drafted_BK.sum(dim=1) * (1 + D),
    )


def _causal_slots(rows: Rows) -> tuple[Tensor, Tensor]:
    """Positions and limits of the pending tokens, each [B, P]; padding slots get limit 1."""
    slot_P = torch.arange(rows.pending_BP.shape[1], device=rows.pending_BP.device)
    positions_BP = rows.cached_B[:, None] + slot_P
    real_BP = slot_P < rows.num_pending_B[:, None]
    return positions_BP, torch.where(real_BP, positions_BP + 1, 1)
