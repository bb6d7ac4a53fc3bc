"""Choosing tokens from logits: temperature, top-p, top-k, and the two confidence scores.

In the order of the released SDLM code: divide by the temperature, keep the top-p nucleus, keep the
top k, softmax. Without a temperature the choice is the argmax (the lowest index among equals), and
the filters still reshape the distribution that confidence is read from.

Shape suffixes: B rows, N slots, V vocabulary.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

LEAST_TEMPERATURE = 1e-4
# Logits are turned to fp32 this many at a time (at least a row's): on a CPU what is made of them
# then stays in memory that is used again, elsewhere it stays bounded.
SLICE_LOGITS, CPU_SLICE_LOGITS = 1 << 27, 1 << 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are chosen; a decoder that samples is one of these.

    temperature 0 is greedy; top_p 1 and top_k 0 filter nothing. seed: of the rows' generators.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        # Logits divided by less than the least could overflow.
        if self.temperature != 0 and not LEAST_TEMPERATURE <= self.temperature < float("inf"):
            raise ValueError(
                f"temperature is {self.temperature}; it must be 0 (greedy) or at least"
                f" {LEAST_TEMPERATURE}"
            )
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it must lie above 0 and be at most 1")
        if self.top_k < 0:
            raise ValueError(f"top_k is {self.top_k}; it must be 0 (off) or more")

    @property
    def samples_with(self) -> int | None:
        return self.seed if self.temperature > 0 else None


class Chosen(NamedTuple):
    """Tokens int64 [B, N] and the distribution they came from, fp32 [B, N, V]."""

    ids_BN: Tensor
    probs_BNV: Tensor


def row_slices(logits_BNV: Tensor) -> list[slice]:
    """The rows, in slices of so many logits as are made fp32 at a time."""
    B, N, V = logits_BNV.shape
    most = CPU_SLICE_LOGITS if logits_BNV.device.type == "cpu" else SLICE_LOGITS
    step = max(1, most // (N * V))
    return [slice(first, min(first + step, B)) for first in range(0, B, step)]


def greedy_ids(logits_BNV: Tensor) -> Tensor:
    """The argmax of each slot, int64 [B, N]; the lowest index among equals."""
    slices = row_slices(logits_BNV)
    # In bf16 a CPU takes twice as long.
    return torch.cat([logits_BNV[rows].float().argmax(dim=-1) for rows in slices])


def choose(
    logits_BNV: Tensor, sampling: Sampling, generators: Sequence[torch.Generator] = ()
) -> Chosen:
    """One token a slot: the argmax, or with a temperature a draw from the row's own generator."""
    logits_BNV = logits_BNV.float()
    if sampling.temperature > 0:
        logits_BNV = logits_BNV / sampling.temperature
    logits_BNV = keep_top_k(keep_top_p(logits_BNV, sampling.top_p), sampling.top_k)
    probs_BNV = logits_BNV.softmax(dim=-1)
    if sampling.temperature == 0:
        return Chosen(logits_BNV.argmax(dim=-1), probs_BNV)
    drawn = [
        torch.multinomial(probs_NV, 1, generator=generator)[:, 0]
        for probs_NV, generator in zip(probs_BNV, generators, strict=True)
    ]
    return Chosen(torch.stack(drawn), probs_BNV)


def keep_top_p(logits_BNV: Tensor, top_p: float) -> Tensor:
    """The smallest set of likeliest tokens whose mass exceeds `top_p`; the rest becomes -inf."""
    if top_p == 1:
        return logits_BNV
    sorted_BNV, order_BNV = logits_BNV.sort(dim=-1, descending=True, stable=True)
    mass_before_BNV = sorted_BNV.softmax(dim=-1).cumsum(dim=-1).roll(1, dims=-1)
    mass_before_BNV[..., 0] = 0
    kept_BNV = sorted_BNV.masked_fill(mass_before_BNV > top_p, float("-inf"))
    return torch.empty_like(logits_BNV).scatter_(-1, order_BNV, kept_BNV)


def keep_top_k(logits_BNV: Tensor, top_k: int) -> Tensor:
    """The k likeliest tokens, ties with the k-th included; the rest becomes -inf."""
    if top_k == 0:
        return logits_BNV
    least_BN1 = logits_BNV.topk(min(top_k, logits_BNV.shape[-1]), dim=-1).values[..., -1:]
    return logits_BNV.masked_fill(logits_BNV < least_BN1, float("-inf"))


def probability(chosen: Chosen) -> Tensor:
    """Probability of the chosen token, fp32 [B, N] (arXiv 2509.24007, equation 8)."""
    return chosen.probs_BNV.gather(-1, chosen.ids_BN[..., None])[..., 0]


def entropy_score(chosen: Chosen) -> Tensor:
    """1 - H/log V, fp32 [B, N] (equation 9), with the released code's 1e-9 in the logarithm."""
    probs_BNV = chosen.probs_BNV
    # In place: a vocabulary's worth of new memory costs more than the sum.
    terms_BNV = (probs_BNV + 1e-9).log_().mul_(probs_BNV)
    return 1 + terms_BNV.sum(dim=-1) / math.log(probs_BNV.shape[-1])
