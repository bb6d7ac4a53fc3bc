"""What a decoder is: two small methods over tensors; `decoders.loop` drives them all.

A decoder sees the rows of one forward, says what to feed (`propose`) and, from the logits, what to
keep (`accept`). It owns no loop, no cache, no clock and no text, and holds no state: whatever must
survive a step lives in `Rows`, so one decoder object serves any number of runs.

Shape suffixes: B rows, P pending slots, T query slots, N slots whose logits are wanted, K kept at
most in one step, D block size, V vocabulary.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

#: What stands in a draft after its last token.
NO_TOKEN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The state of the rows of one forward, all of which are prefilled or all of which are not.

    pending_BP: int64, kept tokens that are not in the cache yet, left-aligned; the last one of a
        row is pending_BP[b, num_pending_B[b] - 1].
    num_pending_B, cached_B: int64; together the number of kept tokens.
    draft_BD: int64, the draft of a decoder that drafts, `NO_TOKEN` past its end; zeros [B, K] for
        the others. Where shapes are not static it is as wide as the longest draft after prefill.
    generators: one a row where the decoder samples, else empty.
    """

    pending_BP: Tensor
    num_pending_B: Tensor
    cached_B: Tensor
    draft_BD: Tensor
    prefill: bool
    generators: tuple[torch.Generator, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One forward's input: int64 tensors [B, T] under the rule of `sdlm.layout` (`start` is 0).

    wanted_BN: int64, the slots whose logits `accept` gets, in this order.
    num_slots_B: int64, slots of each row that are not padding.
    """

    ids_BT: Tensor
    positions_BT: Tensor
    limit_BT: Tensor
    group_BT: Tensor
    wanted_BN: Tensor
    num_slots_B: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What a step keeps.

    ids_BK: int64; row b keeps ids_BK[b, :count_B[b]], at least one of them after prefill.
    commit_B: how many of the slots just fed stay in the cache, counted from the first.
    num_pending_B: how many of the kept ids (all of them, or none) still have to be fed.
    draft_BD: the draft for the next step, in full width; decoders that don't draft hand on what
        they got.
    scores_BK: how sure the decoder is of each of ids_BK, kept or not, where it has worked that
        out. None stands for the model's own probability of ids_BK[b, k] at the k-th wanted slot.
        Only traces look at it.
    """

    ids_BK: Tensor
    count_B: Tensor
    commit_B: Tensor
    num_pending_B: Tensor
    draft_BD: Tensor
    scores_BK: Tensor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One forward of rows, as who watches the loop sees it, before anything is trimmed.

    keys: the rows' requests; rows past them are padding. state, logits_BNV: what `accept` got;
    accepted: what it gave.
    """

    keys: tuple[str, ...]
    state: Rows
    logits_BNV: Tensor
    accepted: Accepted


class Decoder(Protocol):
    """One decoding strategy.

    name: as the command line writes it.
    block: D, the slots of a window; 1 for a decoder that opens none.
    keeps_most: K, the most tokens that one step keeps.
    max_slots: the most query slots of a step after prefill, padding included.
    needs_windows: whether the model must be an SDLM. Such a decoder reads slot k as a guess at the
        token after its own place, unless it has `shift = False`: then at its own, and for models
        trained so.
    samples_with: the seed of its generators, or None where it is greedy.
    reference: spec of the decoder whose ids this one's are compared with.
    promises_equal: whether they must be the same ids.

    `accept` gets logits [B, N, V] in the model's dtype: in bf16 for a bf16 model. Turn them to
    fp32 (`.float()`) before arithmetic, some rows at a time where V is large
    (`decoders.sampling.row_slices`). Neither method should fetch a tensor to the host.
    """

    name: ClassVar[str]
    needs_windows: ClassVar[bool]

    @property
    def block(self) -> int: ...
    @property
    def keeps_most(self) -> int: ...
    @property
    def max_slots(self) -> int: ...
    @property
    def samples_with(self) -> int | None: ...
    @property
    def reference(self) -> str: ...
    @property
    def promises_equal(self) -> bool: ...

    def propose(self, rows: Rows) -> Query: ...

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted: ...
