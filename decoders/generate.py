"""The one loop that drives every decoder: prefill, cache, continuous batching, trimming, counts.

Rows in use are kept contiguous at the front of the cache, so a forward works on views of it. A
finished row is overwritten by the last one in use, and the next prompt is prefilled into the freed
place at the end. Prefill is the first step of a row, whose pending part is the prompt.

Time is read after the one transfer that brings a step's accepted ids to the host, which also waits
for the device. The clock stands still while the caller handles a yielded completion.
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from decoders.protocol import Accepted, Decoder, Rows
from decoders.trimming import Ending, Finish, trim
from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.layout import Layout
from sdlm.model import SDLM, ModelConfig

# Capacities are rounded up to this many slots, so that a kernel compiled for one shape serves
# prompts of many lengths.
CAPACITY_STEP = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt. `key` names it and, with a decoder's seed, decides what is sampled for it."""

    key: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """What one forward cost: `rows` rows active, `query_slots` real slots over all of them."""

    kind: Literal["prefill", "decode"]
    rows: int
    query_slots: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The answer to a request.

    ids: generated tokens, end token excluded; text is set where a stop string cut it.
    kept: tokens of this row that each of its forwards kept; the first is the prefill, which keeps
        none under self-speculation.
    query_slots: slots fed for this row, padding excluded, the prompt included.
    wall_s: from admission to the last id. compute_s: each step's time divided by its rows; over a
        batch these sum to the time spent. first_token_s: until the first kept token.
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
    first_token_s: float
    error: str | None


@dataclass(slots=True, kw_only=True)
class _Row:
    """The host's side of a row in use."""

    request: Request
    ending: Ending
    admitted_s: float
    cached: int = 0
    generated: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    prefills: int = 0
    query_slots: int = 0
    compute_s: float = 0.0
    first_token_s: float = 0.0
    error: str | None = None
    generator: torch.Generator | None = None


def generate(
    model: SDLM,
    decoder: Decoder,
    requests: Sequence[Request],
    ending: Ending,
    *,
    batch_size: int = 1,
    capacity: int | None = None,
    on_forward: Callable[[Forward], None] | None = None,
) -> Iterator[Completion]:
    """Answer every request, in the order in which the answers finish.

    capacity: slots of the cache; calls that share it share compiled shapes. None: what is needed.
    A row's ids and step counts depend on its own request alone. Raises ValueError, before any
    forward, for an empty prompt, one that fills the context, an id outside the vocabulary, or a
    block decoder on a model without windows. The context also bounds the budget. A row whose
    logits are not finite ends with an error, and spoils no other.
    """
    if batch_size < 1:
        raise ValueError(f"batch size is {batch_size}; it must be at least 1")
    for request in requests:
        check_request(model, request)
    if decoder.needs_windows:
        check_windows(model.config, decoder.name)
    slots = needed_capacity(model, [decoder], requests, ending.budget)
    return _Loop(
        model, decoder, requests, ending, batch_size, max(slots, capacity or 0), on_forward
    ).run()


def needed_capacity(
    model: SDLM, decoders: Iterable[Decoder], requests: Iterable[Request], budget: int
) -> int:
    """Cache slots a row that any of the decoders may need for any of the requests."""
    longest = max((len(request.ids) for request in requests), default=0)
    kept = min(longest + budget, model.config.max_context)
    widest = max(max(decoder.max_slots, decoder.block) for decoder in decoders)
    return -(-(kept + widest) // CAPACITY_STEP) * CAPACITY_STEP


def check_windows(config: ModelConfig, name: str) -> None:
    if config.block_size is None:
        raise ValueError(
            f"decoder {name!r} needs an SDLM, and this model is autoregressive (its config has no"
            " block_size); use the decoder ar, or retrofit the model: python -m sdlm.retrofit"
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


class _Loop:
    def __init__(
        self,
        model: SDLM,
        decoder: Decoder,
        requests: Sequence[Request],
        ending: Ending,
        batch_size: int,
        capacity: int,
        on_forward: Callable[[Forward], None] | None,
    ) -> None:
        self.model, self.decoder, self.ending = model, decoder, ending
        self.on_forward = on_forward
        self.waiting = deque(requests)
        self.rows: list[_Row] = []
        self.clock_s = 0.0
        num_rows = max(1, min(batch_size, len(requests)))
        self.cache: KVCache = model.new_cache(num_rows, capacity)
        kept_BK = torch.zeros(num_rows, decoder.keeps_most, dtype=torch.int64, device=model.device)
        self.pending_BK, self.draft_BD = kept_BK, kept_BK.clone()
        self.num_pending_B = torch.zeros_like(self.cache.lengths_B)

    @torch.inference_mode()
    def run(self) -> Iterator[Completion]:
        while self.waiting or self.rows:
            started_s = time.perf_counter()
            first = len(self.rows)
            self._admit()
            if first < len(self.rows):
                self._step(first, prefill=True, started_s=started_s)
            else:
                self._step(0, prefill=False, started_s=started_s)
            yield from self._finished()

    def _admit(self) -> None:
        while self.waiting and len(self.rows) < self.cache.rows:
            request = self.waiting.popleft()
            self.cache.reset(len(self.rows))
            room = self.model.config.max_context - len(request.ids)
            row = _Row(
                request=request, ending=_bounded(self.ending, room), admitted_s=self.clock_s
            )
            if self.decoder.samples_with is not None:
                row.generator = _generator(self.decoder.samples_with, request.key, self.model)
            self.rows.append(row)

    def _step(self, first: int, *, prefill: bool, started_s: float) -> None:
        rows = self.rows[first:]
        state = self._state(first, prefill=prefill)
        query = self.decoder.propose(state)
        T = query.ids_BT.shape[1]
        cache = self.cache.view(first, len(self.rows))
        flex = self.model.impl is Impl.FLEX
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=state.cached_B,
            # Compiled attention wants one shape; dense attention reads no further than it must.
            num_keys=cache.capacity if flex else max(row.cached for row in rows) + T,
            causal_attn=self.model.config.causal_attn,
        )
        logits_BNV = self.model(query.ids_BT, query.positions_BT, layout, cache, query.wanted_BN)
        # The largest logit of a row is NaN or infinite if any is (-inf aside, which can't win).
        sound_B = logits_BNV.amax(dim=(1, 2)).isfinite()
        if self.decoder.samples_with is not None:
            # Drawing from them would raise, for all rows.
            logits_BNV = logits_BNV.masked_fill(~sound_B[:, None, None], 0)
        accepted = self.decoder.accept(state, logits_BNV)
        counts = (accepted.count_B, accepted.commit_B, query.num_slots_B, sound_B.long())
        report = torch.cat((torch.stack(counts, dim=1), accepted.ids_BK), dim=1).tolist()
        self._keep(first, cache, accepted)
        self._account(rows, report, prefill=prefill, started_s=started_s)

    def _state(self, first: int, *, prefill: bool) -> Rows:
        last = len(self.rows)
        rows = self.rows[first:last]
        if prefill:
            lengths = [len(row.request.ids) for row in rows]
            padded = [
                row.request.ids + (0,) * (max(lengths) - len(row.request.ids)) for row in rows
            ]
            pending_BP = torch.tensor(padded, device=self.model.device)
            num_pending_B = torch.tensor(lengths, device=self.model.device)
        else:
            # No row has more pending tokens than its last step kept.
            pending_BP = self.pending_BK[first:last, : max(row.kept[-1] for row in rows)]
            num_pending_B = self.num_pending_B[first:last]
        return Rows(
            pending_BP=pending_BP,
            num_pending_B=num_pending_B,
            cached_B=self.cache.lengths_B[first:last],
            draft_BD=self.draft_BD[first:last],
            prefill=prefill,
            generators=tuple(row.generator for row in rows if row.generator is not None),
        )

    def _keep(self, first: int, cache: KVCache, accepted: Accepted) -> None:
        """Commit the cache and hand on what the decoder needs in its next step."""
        last = len(self.rows)
        cache.commit(accepted.commit_B)
        self.pending_BK[first:last] = accepted.ids_BK
        self.num_pending_B[first:last] = accepted.num_pending_B
        self.draft_BD[first:last] = accepted.draft_BD

    def _account(
        self, rows: list[_Row], report: list[list[int]], *, prefill: bool, started_s: float
    ) -> None:
        for row, (count, commit, num_slots, sound, *ids) in zip(rows, report, strict=True):
            if not sound:
                row.error = (
                    f"logits of prompt {row.request.key!r} are not finite; the weights overflow in"
                    f" {self.model.dtype}: try another dtype, such as float32"
                )
            row.generated += ids[:count]
            row.kept.append(count)
            row.cached += commit
            row.query_slots += num_slots
            row.prefills += prefill
        seconds = time.perf_counter() - started_s
        self.clock_s += seconds
        for row in rows:
            row.compute_s += seconds / len(rows)
            if not row.first_token_s and row.generated:
                row.first_token_s = self.clock_s - row.admitted_s
        if self.on_forward is not None:
            self.on_forward(
                Forward(
                    kind="prefill" if prefill else "decode",
                    rows=len(rows),
                    query_slots=sum(num_slots for _, _, num_slots, *_ in report),
                    seconds=seconds,
                )
            )

    def _finished(self) -> Iterator[Completion]:
        """Yield the rows that ended and close the gaps they leave."""
        for index in reversed(range(len(self.rows))):
            row = self.rows[index]
            trimmed = trim(row.generated, row.ending, seen=len(row.generated) - row.kept[-1])
            if trimmed.finish is None and row.error is None:
                continue
            last = len(self.rows) - 1
            if index != last:
                self.cache.move(last, index)
                for state in (self.pending_BK, self.num_pending_B, self.draft_BD):
                    state[index] = state[last]
                self.rows[index] = self.rows[last]
            self.rows.pop()
            overrun = len(row.generated) - len(trimmed.ids)
            yield Completion(
                key=row.request.key,
                prompt_tokens=len(row.request.ids),
                ids=trimmed.ids,
                text=trimmed.text,
                finish=trimmed.finish or "length",
                kept=_drop_last(row.kept, overrun),
                prefill_forwards=row.prefills,
                decode_forwards=len(row.kept) - row.prefills,
                query_slots=row.query_slots,
                wall_s=self.clock_s - row.admitted_s,
                compute_s=row.compute_s,
                first_token_s=row.first_token_s,
                error=row.error,
            )


def _bounded(ending: Ending, room: int) -> Ending:
    """The ending with a budget that the context has room for."""
    return Ending(
        budget=min(ending.budget, room),
        eos_token_ids=ending.eos_token_ids,
        stop=ending.stop,
        decode=ending.decode,
    )


def _drop_last(kept: list[int], overrun: int) -> tuple[int, ...]:
    """Kept counts without the tokens past the answer's end, which lie in the last steps."""
    counts = list(kept)
    for index in reversed(range(len(counts))):
        dropped = min(counts[index], overrun)
        counts[index] -= dropped
        overrun -= dropped
    return tuple(counts)


def _generator(seed: int, key: str, model: SDLM) -> torch.Generator:
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    generator = torch.Generator(device=model.device)
    return generator.manual_seed(int.from_bytes(digest[:8], "big") >> 1)
