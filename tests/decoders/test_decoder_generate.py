"""The loop: what it refuses, how it fills rows, what it counts, and what the model is shown."""

import copy
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from decoders.confidence import GreedyConfidence
from decoders.generate import CAPACITY_STEP, Completion, Forward, Request, generate
from decoders.protocol import Accepted, Decoder, Rows
from decoders.registry import build_decoder
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.layout import Layout
from sdlm.model import SDLM
from tests.fakes import TINY_MASK, ScriptedModel, script, tiny_config, tiny_model

SPECS = [
    "ar",
    "block-ar",
    "greedy-confidence(tau=0.5)",
    "entropy(tau=0.5)",
    "self-speculative",
    "self-speculative(verify=causal)",
]
every_decoder = pytest.mark.parametrize("spec", SPECS)


def decoder_of(spec: str, block: int = 4, mask: int = TINY_MASK) -> Decoder:
    return build_decoder(spec, default_block=block, mask_token_id=mask)


def requests_of(*lengths: int) -> list[Request]:
    rng = random.Random(0)
    return [
        Request(key=str(i), ids=tuple(rng.randrange(TINY_MASK) for _ in range(length)))
        for i, length in enumerate(lengths)
    ]


def refused(words: str, *, ids: tuple[int, ...] = (1, 2), **changes: Any) -> None:
    """generate raises at once, before it is asked for an answer."""
    model = changes.pop("model", None) or tiny_model()
    requests = [Request(key="fine", ids=(3,)), Request(key="item-7", ids=ids)]
    decoder = decoder_of(changes.pop("spec", "block-ar"))
    with pytest.raises(ValueError, match=words):
        generate(model, decoder, requests, Ending(budget=4), **changes)


def test_refusals():
    refused(r"'item-7' is empty", ids=())
    refused(r"'item-7' has token id 48; the vocabulary is 0\.\.\.47", ids=(1, 48))
    refused(r"'item-7' has token id -1", ids=(-1,))
    refused(r"'item-7' has 1024 tokens.*context of 1024", ids=(1,) * 1024)
    refused(r"'item-7' has 1025 tokens", ids=(1,) * 1025)
    refused(r"batch size is 0", batch_size=0)


@pytest.mark.parametrize("spec", SPECS[1:])
def test_windows_need_a_model_that_has_them(spec: str):
    plain = SDLM(tiny_config(block_size=None, mask_token_id=None))
    refused(r"autoregressive.*retrofit", model=plain, spec=spec)
    ar = generate(plain, decoder_of("ar"), requests_of(3), Ending(budget=2))
    assert len(next(ar).ids) == 2


@every_decoder
def test_no_requests_no_answers(spec: str):
    assert list(generate(tiny_model(), decoder_of(spec), [], Ending(budget=2))) == []


@every_decoder
def test_the_context_bounds_the_budget(spec: str):
    """Prompt and answer together fill it, and no position lies past what a window needs."""
    model = ScriptedModel(lambda context, ahead: (7, 0.99), max_context=20)
    requests = [Request(key=str(length), ids=(1,) * length) for length in (1, 12, 19)]
    ending = Ending(budget=10**6)
    mask = model.config.mask_token_id
    assert mask is not None
    for completion in generate(model, decoder_of(spec, mask=mask), requests, ending):
        assert len(completion.ids) == 20 - completion.prompt_tokens
        assert completion.finish == "length"
    assert max(position for seen in flat(model) for position in seen.positions) < 20 + 2 * 4
    assert model.caches[0].capacity == CAPACITY_STEP


def flat(model: ScriptedModel) -> list[Any]:
    return [seen for forward in model.forwards for seen in forward]


@dataclass
class Clock:
    """A clock that goes on by `forward_s` in each forward, and else only when told to."""

    now: float = 100.0
    forward_s: float = 1.0

    def perf_counter(self) -> float:
        return self.now

    def tick(self) -> None:
        self.now += self.forward_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("decoders.loop.time", SimpleNamespace(perf_counter=clock.perf_counter))
    return clock


def timed_run(
    clock: Clock, spec: str, lengths: list[int], batch_size: int
) -> tuple[list[Completion], list[Forward]]:
    """Answers of the given lengths, with a consumer that takes its time over each."""
    scripts = [[7] * length + [60] for length in lengths]
    model = ScriptedModel(script(scripts, 1, lambda index: 0.99), on_forward=clock.tick)
    requests = [Request(key=str(i), ids=(i,)) for i in range(len(lengths))]
    ending = Ending(budget=64, eos_token_ids=frozenset({60}))
    done: list[Completion] = []
    forwards: list[Forward] = []
    for completion in generate(
        model,
        decoder_of(spec, mask=63),
        requests,
        ending,
        batch_size=batch_size,
        on_forward=forwards.append,
    ):
        clock.now += 1000.0
        done.append(completion)
    return done, forwards


@every_decoder
@pytest.mark.parametrize("batch_size", [1, 3])
def test_time_is_accounted_for_once(spec: str, batch_size: int, clock: Clock):
    """The consumer's thousand seconds between answers are nobody's."""
    done, forwards = timed_run(clock, spec, [3, 9, 5, 1, 4], batch_size)
    spent = sum(forward.seconds for forward in forwards)
    assert spent == len(forwards) * clock.forward_s
    assert sum(completion.compute_s for completion in done) == pytest.approx(spent)
    prefills = sum(forward.seconds for forward in forwards if forward.kind == "prefill")
    assert sum(completion.prefill_s for completion in done) == pytest.approx(prefills)
    assert max(completion.wall_s for completion in done) <= spent
    for completion in done:
        own = completion.prefill_forwards + completion.decode_forwards
        assert completion.prefill_forwards == 1
        if batch_size == 1:
            assert completion.wall_s == completion.compute_s == own
        else:
            assert own <= completion.wall_s
            assert completion.compute_s <= completion.wall_s
        speculative = spec.startswith("self-speculative")
        first_after = 2 if speculative else 1
        assert first_after <= completion.first_token_s <= completion.wall_s
        if batch_size == 1:
            assert completion.first_token_s == first_after


def test_waiting_for_a_place_is_not_counted(clock: Clock):
    done, _ = timed_run(clock, "ar", [6, 6], 1)
    assert [completion.wall_s for completion in done] == [7, 7]


@every_decoder
def test_rows_are_kept_full(spec: str, clock: Clock):
    """As long as prompts wait, every forward of a batch has all its rows; kinds alternate."""
    lengths = [2, 11, 5, 8, 1, 7, 3, 9]
    done, forwards = timed_run(clock, spec, lengths, 3)
    assert sorted(int(completion.key) for completion in done) == list(range(8))
    started = 0
    for forward in forwards:
        if forward.kind == "prefill":
            started += forward.rows
        elif started < len(lengths):
            assert forward.rows == 3
    assert started == len(lengths)
    assert forwards[0] == Forward(
        kind="prefill", rows=3, query_slots=forwards[0].query_slots, seconds=1.0
    )
    counted = sum(completion.query_slots for completion in done)
    assert sum(forward.query_slots for forward in forwards) == counted
    decodes = sum(forward.rows for forward in forwards if forward.kind == "decode")
    assert decodes == sum(completion.decode_forwards for completion in done)


@pytest.mark.parametrize(
    ("spec", "slots"),
    [
        # Eight tokens after a prompt of three, four slots a window.
        ("ar", 3 + 7 * 1),
        ("block-ar", 3 + 4 + 7 * (1 + 4)),
        ("greedy-confidence(tau=0)", 3 + 4 + 4 + 4),
        ("greedy-confidence(tau=1)", 3 + 4 + 7 * (1 + 4)),
        ("self-speculative", 3 + 4 + 2 * (4 + 16)),
        ("self-speculative(verify=causal)", 3 + 4 + 2 * (4 + 16)),
    ],
)
def test_query_slots_by_formula(spec: str, slots: int):
    """Padding and the neighbour's prompt are not among them."""
    model = ScriptedModel(lambda context, ahead: (7, 0.99))
    requests = [Request(key="short", ids=(1, 2, 3)), Request(key="long", ids=(1,) * 30)]
    decoder = decoder_of(spec, mask=63)
    done = list(generate(model, decoder, requests, Ending(budget=8), batch_size=2))
    assert {completion.key: completion.query_slots for completion in done} == {
        "short": slots,
        "long": slots + 27,
    }


@every_decoder
def test_cache_and_positions_after_a_rejection(spec: str):
    """The cache holds the prompt and what was kept, and the next step's positions go on there."""
    model, decoder = tiny_model(1), decoder_of(spec)
    prompt = (4, 9, 3, 17, 30)
    steps: list[tuple[list[int], list[int], int]] = []
    original = model.forward

    def recording(ids: torch.Tensor, positions: torch.Tensor, layout: Layout, *rest: Any) -> Any:
        steps.append((ids[0].tolist(), positions[0].tolist(), int(layout.offset_B[0])))
        return original(ids, positions, layout, *rest)

    model.forward = recording
    try:
        ending = Ending(budget=24)
        (done,) = generate(model, decoder, [Request(key="", ids=prompt)], ending)
    finally:
        del model.forward
    rejects = any(count < decoder.keeps_most for count in done.kept[1:-1])
    assert rejects == (decoder.keeps_most > 1)
    text = [*prompt, *done.ids]
    kept = len(prompt)
    for index, (ids, positions, cached) in enumerate(steps):
        chain = spec.startswith("self-speculative") and index > 0
        pending = len(prompt) if index == 0 else done.kept[index - 1]
        assert cached == (kept if chain else kept - pending)
        fed = decoder.block if chain else pending
        assert positions[:fed] == list(range(cached, cached + fed))
        confirmed = min(done.kept[index], decoder.block) if chain else pending
        assert ids[:confirmed] == text[cached : cached + confirmed]
        kept += done.kept[index]
    assert kept == len(text)


def uneven(context: tuple[int, ...], ahead: int) -> tuple[int, float]:
    """A token that depends on all that is seen; rows whose prompt starts with 1 are sure of all
    they say, the others of nothing."""
    token = hash((context, ahead)) % 50
    return token, 0.99 if context[0] == 1 else 0.2


def test_an_uneven_batch_shows_nobody_anything_of_another():
    """Row A keeps 1 a step and row B 8, for twenty steps; then C takes the place of B. The
    scripted model asserts that every slot sees its own kept tokens and window, and no more."""
    decoder = build_decoder("greedy-confidence(tau=0.5)", default_block=8, mask_token_id=63)
    a = Request(key="A", ids=(2, 5, 5))
    b = Request(key="B", ids=(1, 9))
    c = Request(key="C", ids=(1, 4, 4, 4, 4, 4))
    ending = Ending(budget=160)

    def run(*requests: Request) -> tuple[dict[str, Completion], ScriptedModel]:
        model = ScriptedModel(uneven)
        done = generate(model, decoder, requests, ending, batch_size=2)
        return {completion.key: completion for completion in done}, model

    alone = {request.key: run(request)[0][request.key] for request in (a, b, c)}
    together, model = run(a, b, c)
    assert together["A"].kept == (1,) * 160
    assert together["B"].kept == together["C"].kept == (8,) * 20
    for key, completion in alone.items():
        assert together[key].ids == completion.ids
        assert together[key].kept == completion.kept
        assert together[key].query_slots == completion.query_slots

    # The mask itself: what a row may see lies below its kept tokens, or in its own window.
    assert [len(forward) for forward in model.forwards[:23]] == [2] * 20 + [1] + [2] * 2
    for seen in flat(model):
        for row in seen.visible:
            columns = row.nonzero()[:, 0].tolist()
            past = [column for column in columns if column < seen.offset]
            assert past == list(range(len(past))), "a stretch of kept tokens from the start"
            assert max(columns) < seen.offset + len(seen.ids)


@every_decoder
def test_what_rejected_and_freed_slots_hold_does_not_matter(spec: str):
    """On a real model: all that is not kept is overwritten with values that would show."""
    model, decoder = tiny_model(1), decoder_of(spec)
    requests, ending = requests_of(3, 9, 1, 5), Ending(budget=16)

    def answers() -> dict[str, tuple[int, ...]]:
        done = generate(model, decoder, requests, ending, batch_size=2)
        return {completion.key: completion.ids for completion in done}

    clean, original, overwritten = answers(), model.forward, 0

    def spoilt(ids: Any, positions: Any, layout: Layout, cache: KVCache, wanted: Any) -> Any:
        nonlocal overwritten
        for row, length in enumerate(layout.offset_B.tolist()):
            for keys, values in zip(cache.k_BKSD, cache.v_BKSD, strict=True):
                overwritten += int(values[row, :, length:].count_nonzero())
                keys[row, :, length:] = values[row, :, length:] = 1e4
        return original(ids, positions, layout, cache, wanted)

    model.forward = spoilt
    try:
        assert answers() == clean
    finally:
        del model.forward
    assert overwritten


@pytest.mark.parametrize("impl", Impl)
def test_a_prompt_that_overflows_spoils_no_later_one(impl: Impl):
    """The keys and values that it leaves behind are NaN, and a weight of 0 does not undo that."""
    model = copy.deepcopy(tiny_model(1, impl=impl))
    model.embedding.weight[40] = float("nan")
    bad, good = Request(key="bad", ids=(1, 2, 3, 40, 5, 6, 7)), Request(key="good", ids=(11, 2, 2))
    ending = Ending(budget=6)
    (alone,) = generate(model, decoder_of("ar"), [good], ending)
    _, after = generate(model, decoder_of("ar"), [bad, good], ending)
    assert after.ids == alone.ids
    assert len(set(after.ids)) > 1


def test_answers_come_as_they_finish():
    """A short answer is handed over while a long one is still being made."""
    scripts = [[7] * 30 + [60], [7] * 2 + [60]]
    model = ScriptedModel(script(scripts, 1, lambda index: 0.2))
    requests = [Request(key="long", ids=(0,)), Request(key="short", ids=(1,))]
    ending = Ending(budget=64, eos_token_ids=frozenset({60}))
    run: Iterator[Completion] = generate(
        model,
        decoder_of("ar"),
        requests,
        ending,
        batch_size=2,
    )
    assert next(run).key == "short"
    assert len(model.forwards) == 3
    assert next(run).key == "long"


@pytest.mark.parametrize("spec", [*SPECS, "ar(temperature=0.7)"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_not_finite_are_an_error_and_not_token_0(spec: str, value: float):
    model = copy.deepcopy(tiny_model())
    with torch.no_grad():
        model.norm.weight[3] = value
    (answer,) = generate(model, decoder_of(spec), requests_of(5), Ending(budget=4))
    assert answer.error is not None
    assert "logits of prompt '0' are not finite" in answer.error
    assert "float32" in answer.error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count_B": 0}, "kept 0 tokens in a step"),
        ({"count_B": -1}, "kept -1 tokens"),
        ({"count_B": 5}, "kept 5 tokens"),
        ({"commit_B": 9}, "and 9 of the [0-9] slots it fed"),
        ({"commit_B": -1}, "and -1 of the"),
    ],
)
def test_a_decoder_that_breaks_the_protocol_ends_in_an_error(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, int], message: str
):
    """And not in a loop without end, or with a cache that holds what was never fed."""

    def accept(self: GreedyConfidence, rows: Rows, logits_BNV: torch.Tensor) -> Accepted:
        honest = original(self, rows, logits_BNV)
        if rows.prefill:
            return honest
        return replace(
            honest, **{k: torch.full_like(honest.count_B, v) for k, v in change.items()}
        )

    original = GreedyConfidence.accept
    monkeypatch.setattr(GreedyConfidence, "accept", accept)
    decoder = decoder_of("greedy-confidence")
    answers = generate(tiny_model(), decoder, requests_of(3, 5), Ending(budget=20), batch_size=2)
    for answer in answers:
        assert re.search(f"decoder 'greedy-confidence' .*{message}", answer.error or "")
