"""Stand-ins that need no download: tokenizers, small random models, a scripted model, decoders."""

import functools
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from decoders.confidence import GreedyConfidence
from decoders.protocol import Accepted, Rows
from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.checkpoint import hf_tensors
from sdlm.layout import Layout, dense_mask
from sdlm.model import SDLM, ModelConfig

TINY_VOCAB = 48
TINY_MASK = TINY_VOCAB - 1


def decode_bytes(ids: Sequence[int]) -> str:
    """Ids as the bytes of a text; a character cut short becomes the replacement character."""
    return bytes(ids).decode("utf-8", errors="replace")


def decode_pieces(pieces: Sequence[str]) -> Callable[[Sequence[int]], str]:
    """A tokenizer whose token i is the text pieces[i]."""
    return lambda ids: "".join(pieces[index] for index in ids)


def edit_json(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a JSON file's object in place."""
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def tiny_config(**changes: object) -> ModelConfig:
    fields = {
        "family": "qwen2",
        "vocab_size": TINY_VOCAB,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_layers": 2,
        "num_heads": 4,
        "num_kv_heads": 2,
        "head_dim": 16,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "max_context": 1024,
        "qkv_bias": True,
        "block_size": 4,
        "mask_token_id": TINY_MASK,
    }
    return ModelConfig(**{**fields, **changes})


@functools.cache
def tiny_model(seed: int = 0, *, impl: Impl = Impl.DENSE, **changes: Any) -> SDLM:
    """A random two-layer SDLM of which every accepted length and a wide spread of logits come.

    Attention follows distance rather than content (large q and k biases) and outweighs a slot's
    own token, so a window's slots often agree with what is said once their tokens are known.
    """
    model = SDLM(tiny_config(**changes), impl)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in hf_tensors(dict(model.named_parameters()), model.config).items():
            parameter.normal_(generator=generator).mul_(_spread(name, parameter))
            if name.endswith("norm.weight"):
                parameter.add_(1)
    return model.eval().requires_grad_(False)


def _spread(name: str, parameter: Tensor) -> float:
    """Standard deviation of a parameter's values."""
    if name.endswith("norm.weight"):
        return 0.1
    if name.endswith("bias"):
        return 0.5 if "v_proj" in name else 2.5
    if name == "model.embed_tokens.weight":
        return 0.75
    gain = next((g for part, g in _GAINS.items() if part in name), 1.0)
    return gain / math.sqrt(parameter.shape[1])


_GAINS = {"q_proj": 0.6, "k_proj": 0.6, "o_proj": 3.0, "lm_head": 4.0}


class Seen(NamedTuple):
    """One row of one forward, as its layout has it: copies, safe to look at afterwards."""

    ids: list[int]
    positions: list[int]
    visible: Tensor
    offset: int


# (the kept tokens a slot sees with the first of its window, places past the last of them)
#  -> (the token it predicts, its probability)
Answer = Callable[[tuple[int, ...], int], tuple[int, float]]


class ScriptedModel:
    """A model that answers by a rule and checks what it is shown.

    It keeps ids and positions where a model keeps keys and values, so that what a slot sees is
    exactly what the cache holds where the mask lets it look. It asserts that this is what
    DESIGN.md, section 2, says: kept tokens 0 ... n-2 and the whole of the own window.
    """

    impl = Impl.DENSE
    static_shapes = static_keys = False
    device = torch.device("cpu")

    def __init__(
        self,
        answer: Answer,
        *,
        vocab_size: int = 64,
        max_context: int = 512,
        on_forward: Callable[[], None] = lambda: None,
    ) -> None:
        self.answer, self.on_forward = answer, on_forward
        self.config = tiny_config(
            vocab_size=vocab_size, mask_token_id=vocab_size - 1, max_context=max_context
        )
        self.forwards: list[list[Seen]] = []
        self.caches: list[KVCache] = []

    def new_cache(self, rows: int, capacity: int) -> KVCache:
        self.caches.append(
            KVCache(
                layers=1,
                rows=rows,
                kv_heads=1,
                capacity=capacity,
                head_dim=2,
                dtype=torch.int64,
                device=self.device,
            )
        )
        return self.caches[-1]

    take_cache = new_cache

    def __call__(
        self,
        ids_BT: Tensor,
        positions_BT: Tensor,
        layout: Layout,
        cache: KVCache,
        wanted_BN: Tensor,
    ) -> Tensor:
        self.on_forward()
        slots_BT = layout.offset_B[:, None] + torch.arange(ids_BT.shape[1])
        fed_B1T2 = torch.stack((ids_BT, positions_BT), dim=-1)[:, None]
        known_B1S2, _ = cache.append(
            0, fed_B1T2, fed_B1T2, cache.places(slots_BT), layout.num_keys
        )
        visible_BTS = dense_mask(layout)
        rows = zip(
            ids_BT.tolist(),
            positions_BT.tolist(),
            visible_BTS,
            layout.offset_B.tolist(),
            strict=True,
        )
        seen = [Seen(*row) for row in rows]
        self.forwards.append(seen)
        logits_BNV = torch.empty(*wanted_BN.shape, self.config.vocab_size)
        groups_BS = layout.key_groups()
        for b, wanted in enumerate(wanted_BN.tolist()):
            for n, t in enumerate(wanted):
                keys = visible_BTS[b, t].nonzero()[:, 0]
                fed_together = groups_BS[b, keys] > 0
                logits_BNV[b, n] = self._logits(
                    known_B1S2[b, 0, keys[~fed_together]].tolist(),
                    known_B1S2[b, 0, keys[fed_together]].tolist(),
                    positions_BT[b, t].item(),
                )
        return logits_BNV

    def _logits(self, kept: list[list[int]], window: list[list[int]], position: float) -> Tensor:
        assert [place for _, place in kept] == list(range(len(kept))), "kept tokens, in order"
        context, ahead = [token for token, _ in kept], 0
        if window:
            places = [place for _, place in window]
            assert places == list(range(len(kept), len(kept) + len(window))), "then the window"
            first, *rest = (token for token, _ in window)
            assert set(rest) <= {self.config.mask_token_id}, "which is masked but for its first"
            context.append(first)
            ahead = int(position) - len(kept)
        else:
            assert position == len(kept) - 1, "a kept token sees up to itself"
        token, probability = self.answer(tuple(context), ahead)
        others = (1 - probability) / (self.config.vocab_size - 1)
        logits_V = torch.full((self.config.vocab_size,), math.log(max(others, 1e-30)))
        logits_V[token] = math.log(probability)
        return logits_V

    decode = __call__


def script(
    answers: Sequence[Sequence[int]], prompt_tokens: int, sure: Callable[[int], float]
) -> Answer:
    """Rows told apart by their prompt's first token; sure(i): probability of answer token i."""

    def answer(context: tuple[int, ...], ahead: int) -> tuple[int, float]:
        index = len(context) + ahead - prompt_tokens
        tokens = answers[context[0]]
        return tokens[index % len(tokens)], sure(index)

    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SomeDecoder(GreedyConfidence):
    """A user's own decoder: keeps as many tokens as the window's first one says."""

    name: ClassVar[str] = "some"

    stride: int = 3
    loud: bool = False

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        ids_BK = logits_BNV.argmax(dim=-1)
        count_B = 1 + (ids_BK[:, 0] * self.stride) % self.block
        return Accepted(
            ids_BK=ids_BK,
            count_B=count_B,
            commit_B=rows.num_pending_B,
            num_pending_B=count_B,
            draft_BD=rows.draft_BD,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedyDecoder(GreedyConfidence):
    """A user's own decoder with a parameter that has no default."""

    name: ClassVar[str] = "needy"

    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlyDecoder(GreedyConfidence):
    """A user's own decoder that takes its process down."""

    name: ClassVar[str] = "deadly"

    def accept(self, rows: Rows, logits_BNV: Tensor) -> Accepted:
        os._exit(1)


NOT_A_DECODER = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenDecoder(GreedyConfidence):
    """What a user's own may be."""

    def __post_init__(self) -> None:
        raise TypeError("no such thing")
