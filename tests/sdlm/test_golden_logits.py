"""Single forwards of the released code: same input, same mask, same logits, same kept keys.

`conf_cached` and `plain_causal` are this project's own forms; `conf_nocache` feeds no causal copy
of the window's first token; self-speculation is packed otherwise (each window with its own copy of
the chain before it), so there it is compared window by window who sees what, and the answers.
"""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from decoders.protocol import Query, Rows
from decoders.windows import chain_query, pending_query, window_query
from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.layout import Layout, dense_mask, padded_slots
from sdlm.model import SDLM
from tests import golden

TOLERANCE = 1e-4
# One capacity, and by default few slot counts: each shape that flex meets costs a compilation.
CAPACITY = 256
FEW_SLOTS = (8, 16, 32)


class Run(NamedTuple):
    """Which implementation a test runs, and whether on all calls."""

    impl: Impl
    all_calls: bool = True


RUNS = [
    pytest.param(Run(Impl.DENSE), id="dense"),
    pytest.param(Run(Impl.FLEX, all_calls=False), id="flex"),
    pytest.param(Run(Impl.FLEX), id="flex-all", marks=pytest.mark.slow),
]


class Call(NamedTuple):
    """One recorded forward. `visible` has a column a key: kept tokens, then those fed."""

    info: dict
    ids: Tensor
    positions: Tensor
    visible: Tensor
    logits: Tensor
    kept_keys: Tensor | None
    kept_values: Tensor | None

    @property
    def normative(self) -> bool:
        return "quirk" not in self.info


def slots_of_ours(info: dict) -> int:
    """Slots that this project feeds for a call: self-speculation is packed more tightly."""
    verifies = info["layout"].startswith("ss") and info["call"] > 0
    return padded_slots(info["D"] + info["D"] ** 2 if verifies else info["q_len"])


def calls(model_name: str, run: Run, *layouts: str) -> list[Call]:
    tensors = golden.tensors(model_name, "logits.safetensors")
    chosen = []
    for info in golden.read(model_name, "logits.json")["calls"]:
        if info["layout"] in layouts and (run.all_calls or slots_of_ours(info) in FEW_SLOTS):
            key = info["key"]
            names = ("input_ids", "position_ids", "visible", "logits", "k", "v")
            chosen.append(Call(info, *(tensors.get(f"{key}.{name}") for name in names)))
    assert chosen
    return chosen


def layout_of(model: SDLM, query: Query, offset: int, num_keys: int) -> Layout:
    return Layout(
        start_BT=torch.zeros_like(query.limit_BT),
        limit_BT=query.limit_BT,
        group_BT=query.group_BT,
        offset_B=torch.tensor([offset]),
        num_keys=num_keys,
        causal_attn=model.config.causal_attn,
    )


def rows_of(pending: list[int], cached: int, draft: list[int] | None = None) -> Rows:
    return Rows(
        pending_BP=torch.tensor([pending], dtype=torch.int64),
        num_pending_B=torch.tensor([len(pending)]),
        cached_B=torch.tensor([cached]),
        draft_BD=torch.tensor([draft or [0]]),
        prefill=cached == 0,
    )


@torch.inference_mode()
def logits_of(model: SDLM, cache: KVCache, query: Query) -> Tensor:
    """All slots' logits [T, V]; the cache holds what came before."""
    layout = layout_of(model, query, int(cache.lengths_B), cache.capacity)
    return model(query.ids_BT, query.positions_BT, layout, cache)[0]


def filled(model: SDLM, tokens: list[int]) -> KVCache:
    """A cache that holds `tokens`."""
    cache = model.new_cache(rows=1, capacity=CAPACITY)
    if tokens:
        logits_of(model, cache, pending_query(rows_of(tokens, 0)))
        cache.commit(torch.tensor([len(tokens)]))
    return cache


def close(got: Tensor, recorded: Tensor) -> None:
    torch.testing.assert_close(got, recorded, rtol=0, atol=TOLERANCE)


def kept_alike(cache: KVCache, call: Call) -> None:
    kept = call.info["kept_cache_len"]
    assert int(cache.lengths_B) == kept
    assert call.kept_keys is not None
    assert call.kept_values is not None
    close(torch.stack(cache.k_BKSD)[:, 0, :, :kept], call.kept_keys)
    close(torch.stack(cache.v_BKSD)[:, 0, :, :kept], call.kept_values)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_cached_windows(model_name: str, run: Run):
    model = golden.load(model_name, run.impl)
    kept_tokens: dict[str, list[int]] = {}
    for call in calls(model_name, run, "conf_cached"):
        info = call.info
        fed = call.ids[0].tolist()
        pending, block = fed[: len(fed) - info["D"]], info["D"]
        before = kept_tokens.get(info["prompt"], []) if info["past_len"] else []
        assert len(before) == info["past_len"]
        query = window_query(rows_of(pending, len(before)), block, golden.MASK)
        assert query.ids_BT.tolist() == call.ids.tolist()
        assert query.positions_BT.tolist() == call.positions.tolist()
        own = layout_of(model, query, len(before), len(before) + len(fed))
        assert torch.equal(dense_mask(own), call.visible), info["key"]
        cache = filled(model, before)
        logits = logits_of(model, cache, query)
        close(logits, call.logits[0])
        close(logits[query.wanted_BN[0]], call.logits[0, -block:])
        cache.commit(torch.tensor([len(pending)]))
        kept_alike(cache, call)
        kept_tokens[info["prompt"]] = before + pending


def bare_window_query(tokens: list[int], block: int) -> Query:
    """A window after `tokens` without a causal copy of the last of them."""
    n = len(tokens)
    slot = torch.arange(n - 1 + block)
    in_window = slot >= n - 1
    return Query(
        ids_BT=torch.tensor([tokens + [golden.MASK] * (block - 1)]),
        positions_BT=slot[None],
        limit_BT=torch.where(in_window, n - 1, slot + 1)[None],
        group_BT=in_window.long()[None],
        wanted_BN=slot[None, n - 1 :],
        num_slots_B=torch.tensor([len(slot)]),
    )


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_windows_without_a_cache(model_name: str, run: Run):
    model = golden.load(model_name, run.impl)
    for call in calls(model_name, run, "conf_nocache"):
        n, block = call.info["tokens_so_far"], call.info["D"]
        query = bare_window_query(call.ids[0, :n].tolist(), block)
        assert query.ids_BT.tolist() == call.ids.tolist()
        assert query.positions_BT.tolist() == call.positions.tolist()
        mask = dense_mask(layout_of(model, query, 0, query.ids_BT.shape[1]))
        logits = logits_of(model, filled(model, []), query)
        assert torch.equal(mask, call.visible) == call.normative, call.info["key"]
        if call.normative:
            close(logits, call.logits[0])
        # The cached form of the same window gives the same answers.
        cached = window_query(rows_of(call.ids[0, :n].tolist(), 0), block, golden.MASK)
        close(logits_of(model, filled(model, []), cached)[-block:], logits[-block:])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_plain_causal(model_name: str, run: Run):
    model = golden.load(model_name, run.impl)
    for call in calls(model_name, run, "plain_causal"):
        query = pending_query(rows_of(call.ids[0].tolist(), 0))
        mask = dense_mask(layout_of(model, query, 0, query.ids_BT.shape[1]))
        assert query.positions_BT.tolist() == call.positions.tolist()
        assert torch.equal(mask, call.visible)
        close(logits_of(model, filled(model, []), query), call.logits[0])


# Who sees what, whatever the packing: (position, token, is it in the slot's own window).
Key = tuple[int, int, bool]


def keys_seen(visible: Tensor, ids: list[int], positions: list[int], own: range) -> list[set[Key]]:
    """For each slot of the window at columns `own`: the keys it sees."""
    seen = []
    for row in visible:
        columns = row.nonzero()[:, 0].tolist()
        seen.append({(positions[c], ids[c], c in own) for c in columns})
        assert len(seen[-1]) == len(columns), "no key is seen twice"
    return seen


class Window(NamedTuple):
    """One window of a verifying forward: what its slots see, and their logits."""

    seen: list[set[Key]]
    logits: Tensor


def recorded_windows(call: Call, kept: list[int]) -> tuple[list[int], list[Window]]:
    """The chain and its windows as recorded. With a cache the segments lie in one row, behind the
    kept tokens; without, each is the end of a row of its own."""
    block, past = call.info["D"], call.info["past_len"]
    packed = call.info["layout"] == "ss_cached"
    segments = block * block + block * (block - 1) // 2
    first = call.ids.shape[1] - segments if packed else len(kept)
    chain, windows = [], []
    for segment in range(block):
        row = 0 if packed else segment
        slots = slice(first + segment, first + segment + block)
        first = slots.stop if packed else first
        ids = kept[:past] + call.ids[row].tolist()
        positions = list(range(past)) + call.positions[row % len(call.positions)].tolist()
        own = range(past + slots.start, past + slots.stop)
        seen = keys_seen(call.visible[row, slots], ids, positions, own)
        unrecorded = call.ids.shape[1] - call.logits.shape[1]
        logits = call.logits[row, slots.start - unrecorded : slots.stop - unrecorded]
        chain.append(ids[own.start])
        windows.append(Window(seen, logits))
    return chain, windows


def our_windows(model: SDLM, kept: list[int], chain: list[int]) -> list[Window]:
    block, n = len(chain), len(kept)
    query = chain_query(rows_of([], n, chain), len(chain), len(chain), golden.MASK)
    mask = dense_mask(layout_of(model, query, n, n + query.ids_BT.shape[1]))[0]
    ids = kept + query.ids_BT[0].tolist()
    positions = list(range(n)) + query.positions_BT[0].tolist()
    logits = logits_of(model, filled(model, kept), query)
    windows = []
    for start in range(block, block + block * block, block):
        own = range(n + start, n + start + block)
        slots = slice(start, start + block)
        windows.append(Window(keys_seen(mask[slots], ids, positions, own), logits[slots]))
    return windows


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("model_name", golden.MODELS)
def test_self_speculation(model_name: str, run: Run):
    """Among the cached calls, 0 is the prefill; the others verify."""
    model = golden.load(model_name, run.impl)
    verified = []
    for call in calls(model_name, run, "ss_cached", "ss_nocache"):
        n, prompt = call.info["tokens_so_far"], golden.prompts(model_name)[call.info["prompt"]]
        fed = call.ids[0].tolist()
        if call.info["layout"] == "ss_cached" and call.info["call"] == 0:
            query = window_query(rows_of(prompt, 0), call.info["D"], golden.MASK)
            assert (fed, n) == (query.ids_BT[0].tolist(), len(prompt))
            close(logits_of(model, filled(model, []), query), call.logits[0])
            kept_alike(filled(model, prompt), call)
            continue
        # Tokens accepted by the step before come first in a packed row, kept ones in any other.
        past = call.info["past_len"]
        kept = prompt[:past] + fed[: n - past]
        chain, recorded = recorded_windows(call, kept)
        ours = our_windows(model, kept, chain)
        for got, wanted in zip(ours, recorded, strict=True):
            assert (got.seen == wanted.seen) == call.normative
            if call.normative:
                close(got.logits, wanted.logits)
        if call.kept_keys is not None:
            kept_alike(filled(model, kept), call)
        verified.append(call.normative)
    # At eight slots a window, verifying takes 72; the default run has no such shape.
    assert any(verified) or not run.all_calls
