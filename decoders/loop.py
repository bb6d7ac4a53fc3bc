"""The one loop that drives every decoder: prefill, cache, continuous batching, trimming, counts.

Rows in use are kept contiguous at the front of the cache, so a forward works on views of it. A
finished row is overwritten by the last one in use, and the next prompt is prefilled into the freed
place at the end. Prefill is the first step of a row, whose pending part is the prompt, or what is
left of a long one after chunks of it.

A model with `static_shapes` (one compiled for one shape) always decodes `batch_size` rows with all
slots of the decoder, what no request fills being padding; prefills have powers of two of rows and
of slots.

Time is read after the one transfer that brings a step's accepted ids to the host, which also waits
for the device. The clock stands still while the caller handles a yielded completion.
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from decoders.protocol import NO_TOKEN, Accepted, Decoder, Rows, Step
from decoders.requests import Completion, Forward, ForwardKind, Request
from decoders.trimming import Ending, trim
from sdlm.cache import KVCache
from sdlm.layout import Layout
from sdlm.model import SDLM

# A prefill feeds so many slots at most: prompts that fit together, or a chunk of one. Enough for
# full speed, few enough for little padding and small workspaces.
PREFILL_SLOTS = 512
# Prompts are padded to powers of two from here on where shapes are static.
LEAST_PREFILL_SLOTS = 128


@dataclass(slots=True, kw_only=True)
class _Row:
    """The host's side of a row in use."""

    request: Request
    ending: Ending
    admitted_s: float
    cached: int = 0
    drafted: int = 0
    generated: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    prefills: int = 0
    query_slots: int = 0
    compute_s: float = 0.0
    prefill_s: float = 0.0
    first_token_s: float = 0.0
    error: str | None = None
    generator: torch.Generator | None = None


class Loop:
    """One decoder's way through the requests; see `decoders.generate.generate`."""

    def __init__(
        self,
        model: SDLM,
        decoder: Decoder,
        requests: Sequence[Request],
        ending: Ending,
        batch_size: int,
        capacity: int,
        on_forward: Callable[[Forward], None] | None,
        on_step: Callable[[Step], None] | None,
    ) -> None:
        self.model, self.decoder, self.ending = model, decoder, ending
        self.on_forward, self.on_step = on_forward, on_step
        self.waiting = deque(requests)
        self.rows: list[_Row] = []
        self.clock_s = 0.0
        num_rows = batch_size if model.static_shapes else max(1, min(batch_size, len(requests)))
        self.cache: KVCache = model.take_cache(num_rows, capacity)
        kept_BK = torch.zeros(num_rows, decoder.keeps_most, dtype=torch.int64, device=model.device)
        self.pending_BK, self.draft_BD = kept_BK, kept_BK.clone()
        self.num_pending_B = torch.ones_like(self.cache.lengths_B)
        self.no_generator = torch.Generator(device=model.device)

    @torch.inference_mode()
    def run(self) -> Iterator[Completion]:
        try:
            while self.waiting or self.rows:
                started_s = time.perf_counter()
                first = len(self.rows)
                self._admit()
                if first < len(self.rows):
                    self._prefill(first, started_s)
                else:
                    self._step(0, prefill=False, started_s=started_s)
                yield from self._finished()
        finally:
            self.model.spare = self.cache

    def _admit(self) -> None:
        """Take as many waiting requests as one forward may prefill."""
        for _ in range(self._group_size()):
            request = self.waiting.popleft()
            self.cache.reset(len(self.rows))
            room = self.model.config.max_context - len(request.ids)
            # The context bounds the budget.
            ending = replace(self.ending, budget=min(self.ending.budget, room))
            row = _Row(request=request, ending=ending, admitted_s=self.clock_s)
            if self.decoder.samples_with is not None:
                row.generator = _generator(self.decoder.samples_with, request.key, self.model)
            self.rows.append(row)

    def _group_size(self) -> int:
        free = min(self.cache.rows - len(self.rows), len(self.waiting))
        longest, size = 0, 0
        for size in range(free):
            longest = max(longest, self._prompt_width(len(self.waiting[size].ids)))
            if size > 0 and (size + 1) * longest > PREFILL_SLOTS:
                break
        else:
            size = free
        if self.model.static_shapes and size > 0:
            size = 1 << (size.bit_length() - 1)
        return size

    def _prompt_width(self, length: int) -> int:
        """Slots that a prompt of this length takes in a prefill, its window's not counted."""
        return padded_prompt(length, self.decoder) if self.model.static_shapes else length

    def _prefill(self, first: int, started_s: float) -> None:
        """The first step of the rows from `first` on, after chunks where the one is too long."""
        row = self.rows[first]
        while len(row.request.ids) - row.cached > PREFILL_SLOTS:
            self._feed_chunk(first)
            self._spend([row], "prefill", PREFILL_SLOTS, started_s)
            started_s = time.perf_counter()
        self._step(first, prefill=True, started_s=started_s)

    def _feed_chunk(self, index: int) -> None:
        row, device = self.rows[index], self.model.device
        stop = row.cached + PREFILL_SLOTS
        ids_1T = torch.tensor([row.request.ids[row.cached : stop]], device=device)
        positions_1T = torch.arange(row.cached, stop, device=device)[None]
        zeros_1T = torch.zeros_like(ids_1T)
        cache = self.cache.view(index, index + 1)
        layout = Layout(
            start_BT=zeros_1T,
            limit_BT=positions_1T + 1,
            group_BT=zeros_1T,
            offset_B=cache.lengths_B,
            num_keys=cache.capacity if self.model.static_keys else stop,
            causal_attn=self.model.config.causal_attn,
        )
        last_11 = zeros_1T[:, :1] + PREFILL_SLOTS - 1
        # The last logit is read, not used: it waits for the device, so that time is right.
        self.model(ids_1T, positions_1T, layout, cache, last_11)[0, 0, 0].item()
        cache.commit(torch.full_like(cache.lengths_B, PREFILL_SLOTS))
        row.kept.append(0)
        row.cached = stop
        row.query_slots += PREFILL_SLOTS
        row.prefills += 1

    def _step(self, first: int, *, prefill: bool, started_s: float) -> None:
        rows = self.rows[first:]
        static = self.model.static_shapes
        last = self.cache.rows if static and not prefill else len(self.rows)
        state = self._state(first, last, prefill=prefill)
        query = self.decoder.propose(state)
        T = query.ids_BT.shape[1]
        most_cached = max(row.cached for row in rows)
        cache = self.cache if last - first == self.cache.rows else self.cache.view(first, last)
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=state.cached_B,
            # Dense attention that is not compiled reads no further than it must.
            num_keys=cache.capacity if self.model.static_keys else most_cached + T,
            causal_attn=self.model.config.causal_attn,
        )
        forward = self.model if prefill else self.model.decode
        logits_BNV = forward(query.ids_BT, query.positions_BT, layout, cache, query.wanted_BN)
        # The largest logit of a row is NaN or infinite if any is (-inf aside, which can't win).
        sound_B = logits_BNV.amax(dim=(1, 2)).isfinite()
        if self.decoder.samples_with is not None:
            # Drawing from them would raise, for all rows.
            logits_BNV = logits_BNV.masked_fill(~sound_B[:, None, None], 0)
        accepted = self.decoder.accept(state, logits_BNV)
        counts = (
            accepted.count_B,
            accepted.commit_B,
            query.num_slots_B,
            (accepted.draft_BD != NO_TOKEN).sum(dim=1),
            sound_B.long(),
        )
        report = torch.cat((torch.stack(counts, dim=1), accepted.ids_BK), dim=1).tolist()
        if self.on_step is not None:
            # Before the tensors that it may look at are written over.
            keys = tuple(row.request.key for row in rows)
            self.on_step(Step(keys=keys, state=state, logits_BNV=logits_BNV, accepted=accepted))
        self._keep(first, last, cache, accepted)
        self._account(rows, report[: len(rows)], prefill=prefill, started_s=started_s)

    def _state(self, first: int, last: int, *, prefill: bool) -> Rows:
        rows = self.rows[first:last]
        draft_BD = self.draft_BD[first:last]
        if prefill:
            prompts = [row.request.ids[row.cached :] for row in rows]
            longest = self._prompt_width(max(map(len, prompts)))
            padded = [prompt + (0,) * (longest - len(prompt)) for prompt in prompts]
            pending_BP = torch.tensor(padded, device=self.model.device)
            num_pending_B = torch.tensor([len(p) for p in prompts], device=self.model.device)
        else:
            pending_BP = self.pending_BK[first:last]
            if not self.model.static_shapes:
                # No row has more pending tokens than its last step kept.
                pending_BP = pending_BP[:, : max(row.kept[-1] for row in rows)]
                draft_BD = draft_BD[:, : max(row.drafted for row in rows)]
            num_pending_B = self.num_pending_B[first:last]
        generators: list[torch.Generator] = []
        if self.decoder.samples_with is not None:
            generators = [row.generator or self.no_generator for row in rows]
            generators += [self.no_generator] * (last - first - len(rows))
        return Rows(
            pending_BP=pending_BP,
            num_pending_B=num_pending_B,
            cached_B=self.cache.lengths_B[first:last],
            draft_BD=draft_BD,
            prefill=prefill,
            generators=tuple(generators),
        )

    def _keep(self, first: int, last: int, cache: KVCache, accepted: Accepted) -> None:
        """Commit the cache and hand on what the decoder needs in its next step."""
        cache.commit(accepted.commit_B)
        self.pending_BK[first:last, : accepted.ids_BK.shape[1]] = accepted.ids_BK
        self.num_pending_B[first:last] = accepted.num_pending_B
        self.draft_BD[first:last] = accepted.draft_BD
        self._idle(len(self.rows), last)

    def _idle(self, first: int, last: int) -> None:
        """Rows without a request stay empty, with one token pending, which a query expects."""
        if first < last:
            self.cache.lengths_B[first:last] = 0
            self.num_pending_B[first:last] = 1

    def _account(
        self, rows: list[_Row], report: list[list[int]], *, prefill: bool, started_s: float
    ) -> None:
        for row, line in zip(rows, report, strict=True):
            count, commit, num_slots, row.drafted, sound, *ids = line
            if not sound:
                row.error = (
                    f"logits of prompt {row.request.key!r} are not finite; the weights overflow in"
                    f" {self.model.dtype}: try another dtype, such as float32"
                )
            # Keeping nothing would never end, and a cache with more than was fed is rubbish.
            elif not (0 if prefill else 1) <= count <= len(ids) or not 0 <= commit <= num_slots:
                row.error = (
                    f"decoder {self.decoder.name!r} kept {count} tokens in a step and {commit} of"
                    f" the {num_slots} slots it fed: see decoders/protocol.py"
                )
                count = 0
            row.generated += ids[:count]
            row.kept.append(count)
            row.cached += commit
            row.query_slots += num_slots
            row.prefills += prefill
        query_slots = sum(num_slots for _, _, num_slots, *_ in report)
        self._spend(rows, "prefill" if prefill else "decode", query_slots, started_s)

    def _spend(
        self, rows: list[_Row], kind: ForwardKind, query_slots: int, start_s: float
    ) -> None:
        """Share out the time of a forward that began at `start_s` among its rows."""
        seconds = time.perf_counter() - start_s
        self.clock_s += seconds
        for row in rows:
            row.compute_s += seconds / len(rows)
            if kind == "prefill":
                row.prefill_s += seconds / len(rows)
            if not row.first_token_s and row.generated:
                row.first_token_s = self.clock_s - row.admitted_s
        if self.on_forward is not None:
            self.on_forward(
                Forward(kind=kind, rows=len(rows), query_slots=query_slots, seconds=seconds)
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
            self._idle(last, last + 1)
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
                prefill_s=row.prefill_s,
                first_token_s=row.first_token_s,
                error=row.error,
            )


def prompt_slots(length: int, decoder: Decoder, *, static: bool) -> int:
    """Cache slots that the prefill of a prompt touches, with padding where shapes are static."""
    in_chunks = (length - 1) // PREFILL_SLOTS * PREFILL_SLOTS
    rest = length - in_chunks
    return in_chunks + (padded_prompt(rest, decoder) if static else rest)


def padded_prompt(length: int, decoder: Decoder) -> int:
    """Slots of a prompt such that it and the decoder's window are a power of two together."""
    window = decoder.block if decoder.needs_windows else 0
    return max(LEAST_PREFILL_SLOTS, 1 << (length + window - 1).bit_length()) - window


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
