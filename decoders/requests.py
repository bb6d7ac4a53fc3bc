"""What the loop is asked and what it answers: requests, completions, and each forward's cost."""

from dataclasses import dataclass
from typing import Literal

from decoders.protocol import Decoder
from decoders.trimming import Finish
from sdlm.model import SDLM, ModelConfig

ForwardKind = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt. `key` names it and, with a decoder's seed, decides what is sampled for it."""

    key: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """What one forward cost: `rows` rows active, `query_slots` real slots over all of them."""

    kind: ForwardKind
    rows: int
    query_slots: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer to a request.

    ids: generated tokens, end token excluded; text is set where a stop string cut it.
    kept: tokens of this row that each of its forwards kept. The prefill comes first: it keeps none
        under self-speculation, nor where it is only a part of a long prompt.
    query_slots: slots fed for this row, padding excluded, the prompt included.
    wall_s: from admission to the last id. compute_s: each step's time divided by its rows; over a
        batch these sum to the time spent; prefill_s: those of prefill among them.
    first_token_s: until the first kept token.
    error: why the answer is worthless, or None.
    """

    key: str
    prompt_tokens: int
    ids: tuple[int, ...]
    text: str | None
    finish: Finish
    kept: tuple[int, ...]
    prefill_forwards: int
    decode_forwards: int
    query_slots: int
    wall_s: float
    compute_s: float
    prefill_s: float
    first_token_s: float
    error: str | None


def check_windows(config: ModelConfig, decoder: Decoder) -> None:
    """Raise ValueError where a decoder that opens windows can't read those of this model."""
    name = decoder.name
    if config.block_size is None:
        raise ValueError(
            f"decoder {name!r} needs an SDLM, and this model is autoregressive (its config has no"
            " block_size); use the decoder ar, or retrofit the model: python -m sdlm.retrofit"
        )
    if config.shift != getattr(decoder, "shift", True):
        reads, trained = ("without", "with") if config.shift else ("with", "without")
        raise ValueError(
            f"decoder {name!r} is for models trained {reads} shift, and this one was trained"
            f" {trained} (see --no-shift in docs/retrofit.md); use ar, or another decoder"
        )


def check_request(model: SDLM, request: Request) -> None:
    length, context = len(request.ids), model.config.max_context
    if length == 0:
        raise ValueError(f"prompt {request.key!r} is empty; it needs at least one token")
    if length >= context:
        raise ValueError(
            f"prompt {request.key!r} has {length} tokens; the model's context of {context} leaves"
            " no room for an answer"
        )
    vocabulary = model.config.vocab_size
    if bad := [token for token in request.ids if not 0 <= token < vocabulary]:
        raise ValueError(
            f"prompt {request.key!r} has token id {bad[0]}; the vocabulary is 0...{vocabulary - 1}"
        )
