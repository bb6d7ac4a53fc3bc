"""What a forward looks like - chunks, groups, padding, shorter chains - changes no answer."""

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders import loop
from decoders.generate import Completion, Forward, Request, generate
from decoders.registry import DECODERS, build_decoder
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.model import SDLM
from tests.fakes import TINY_MASK, tiny_config, tiny_model

SPECS = [
    *DECODERS,
    "greedy-confidence(tau=0.3)",
    "self-speculative(verify=causal)",
    "self-speculative(draft_tau=0.3)",
    "ar(temperature=0.7)",
]
every_decoder = pytest.mark.parametrize("spec", SPECS)
LONG_ENOUGH = 300


def requests_of(lengths: list[int], seed: int = 0) -> list[Request]:
    rng = random.Random(seed)
    return [
        Request(key=str(row), ids=tuple(rng.randrange(TINY_MASK) for _ in range(length)))
        for row, length in enumerate(lengths)
    ]


def answers(model: SDLM, spec: str, requests: list[Request], **options: Any) -> list[Completion]:
    decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
    options.setdefault("budget", 12)
    ending = Ending(budget=options.pop("budget"))
    done = generate(model, decoder, requests, ending, **options)
    return sorted(done, key=lambda completion: completion.key)


def said(done: list[Completion]) -> list[tuple[object, ...]]:
    """Ids, what each decoding step kept, and the slots that were fed for it."""
    return [
        (each.ids, each.kept[each.prefill_forwards :], each.query_slots, each.finish)
        for each in done
    ]


@every_decoder
@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    most=st.integers(1, 31),
    batch_size=st.integers(1, 4),
)
@settings(max_examples=10)
def test_prompts_in_chunks_and_in_groups(
    spec: str, lengths: list[int], most: int, batch_size: int
):
    model, requests = tiny_model(1), requests_of(lengths)
    whole = answers(model, spec, requests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "PREFILL_SLOTS", most)
        parts = answers(model, spec, requests, batch_size=batch_size)
    assert said(parts) == said(whole)
    for request, done in zip(requests, parts, strict=True):
        assert done.prefill_forwards == -(-len(request.ids) // most)
        assert set(done.kept[: done.prefill_forwards - 1]) <= {0}


def test_a_prefill_feeds_no_more_slots_than_it_may():
    forwards: list[Forward] = []
    lengths = [100, 200, 500, 30, 513, 40, 40]
    answers(tiny_model(1), "ar", requests_of(lengths), batch_size=7, on_forward=forwards.append)
    prefills = [forward for forward in forwards if forward.kind == "prefill"]
    assert [(each.rows, each.query_slots) for each in prefills] == [
        (2, 300),
        (1, 500),
        (1, 30),
        (1, 512),
        (1, 1),
        (2, 80),
    ]


def test_longest_first():
    done = list(
        generate(
            tiny_model(1),
            build_decoder("ar", default_block=4, mask_token_id=TINY_MASK),
            requests_of([3, 9, 5, 9]),
            Ending(budget=2),
            order="longest-first",
        )
    )
    assert [completion.key for completion in done] == ["1", "3", "2", "0"]


@pytest.fixture
def static_shapes(monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, ...]]:
    """A model that wants few shapes; collects those of its forwards (rows, slots, keys)."""
    shapes: set[tuple[int, ...]] = set()
    original = SDLM.forward

    def noting(self: SDLM, ids: torch.Tensor, positions: Any, layout: Any, *rest: Any) -> Any:
        shapes.add((*ids.shape, layout.num_keys))
        return original(self, ids, positions, layout, *rest)

    monkeypatch.setattr(SDLM, "static_shapes", True)
    monkeypatch.setattr(SDLM, "static_keys", True)
    monkeypatch.setattr(SDLM, "forward", noting)
    return shapes


@every_decoder
@pytest.mark.parametrize(
    "lengths", [[3, 17, 140, 1, 9, 30, 5], [1020, 513, 512, 508, 2], [600, 510]]
)
def test_padding_to_few_shapes(spec: str, lengths: list[int], static_shapes: set[tuple[int, ...]]):
    """Rows and slots that nothing fills: requests of uneven lengths in three rows, some in chunks
    and at the end of the context, or shorter than another and yet with more padding."""
    model, requests = tiny_model(1), requests_of(lengths)
    padded = answers(model, spec, requests, batch_size=3)
    decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
    decoding = {shape for shape in static_shapes if shape[1] < 128}
    assert len(decoding) == 1
    assert all((rows, slots) == (3, decoder.max_slots) for rows, slots, _ in decoding)
    for rows, slots, _ in static_shapes - decoding:
        assert rows in (1, 2)
        assert slots in (128, 256, 512, 1024)
    assert len({keys for _, _, keys in static_shapes}) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SDLM, "static_shapes", False)
        patch.setattr(SDLM, "static_keys", False)
        assert said(padded) == said(answers(model, spec, requests))


@pytest.mark.parametrize("verify", ["window", "causal"])
@pytest.mark.parametrize(("slot_budget", "chain"), [(1, 1), (25, 1), (50, 2), (74, 2), (100, 4)])
def test_a_slot_budget_shortens_the_chain_and_changes_no_id(
    verify: str, slot_budget: int, chain: int
):
    """Five rows of 5 slots for each link of the chain."""
    model, requests = tiny_model(1), requests_of([3, 4, 5, 6, 7])
    spec = f"self-speculative(verify={verify})"
    short = f"self-speculative(verify={verify},slot_budget={slot_budget})"
    free = answers(model, spec, requests, batch_size=5, budget=40)
    forwards: list[Forward] = []
    bound = answers(model, short, requests, batch_size=5, budget=40, on_forward=forwards.append)
    assert [each.ids for each in bound] == [each.ids for each in free]
    full = [forward for forward in forwards if forward.kind == "decode" and forward.rows == 5]
    assert {forward.query_slots for forward in full} == {25 * chain}
    if chain == 1:
        assert all(set(each.kept[1:]) == {1} for each in bound)


@pytest.mark.parametrize("verify", ["window", "causal"])
def test_a_threshold_shortens_drafts_and_changes_no_id(verify: str):
    """Whatever the threshold: the higher it is, the fewer slots and the more steps."""
    model, requests = tiny_model(1), requests_of([3, 4, 5, 6, 7])
    slots, steps, ids = [], [], []
    for tau in (0, 0.3, 0.6, 1):
        spec = f"self-speculative(verify={verify},draft_tau={tau})"
        done = answers(model, spec, requests, batch_size=3, budget=40)
        ids.append([each.ids for each in done])
        slots.append(sum(each.query_slots for each in done))
        steps.append(sum(each.decode_forwards for each in done))
    assert ids[1:] == ids[:-1]
    assert slots == sorted(slots, reverse=True)
    assert steps == sorted(steps)
    assert slots[1] > slots[2]
    # One link of five slots for each of five prompts' 40 tokens, after their prefills.
    assert slots[-1] == 5 * 5 * 40 + sum(len(each.ids) + 4 for each in requests)


def compiled_graphs() -> int:
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def long_model(impl: Impl) -> SDLM:
    model = SDLM(tiny_config(max_context=1024), impl)
    model.load_state_dict(tiny_model(1).state_dict())
    return model.eval().requires_grad_(False)


def test_flex_is_not_compiled_again_as_lengths_grow():
    """300 steps of four rows: one shape for prefill and one for decoding."""
    requests = requests_of([20, 30, 40, 50])
    expected = answers(tiny_model(1), "ar", requests, budget=LONG_ENOUGH)
    before = compiled_graphs()
    got = answers(long_model(Impl.FLEX), "ar", requests, batch_size=4, budget=LONG_ENOUGH)
    assert [each.ids for each in got] == [each.ids for each in expected]
    assert all(each.decode_forwards == LONG_ENOUGH - 1 for each in got)
    assert compiled_graphs() - before <= 2


@pytest.mark.parametrize(
    ("spec", "graphs"),
    [("ar", 1), pytest.param("self-speculative", 1, marks=pytest.mark.slow)],
)
def test_a_compiled_model_says_the_same_and_compiles_once(spec: str, graphs: int):
    requests = requests_of([20, 30, 9])
    expected = answers(tiny_model(1), spec, requests, budget=LONG_ENOUGH)
    model = long_model(Impl.DENSE)
    model.compile_forward()
    before = compiled_graphs()
    # A row ends early, and the last one has no neighbour.
    got = answers(model, spec, requests, batch_size=2, budget=LONG_ENOUGH)
    assert said(got) == said(expected)
    assert compiled_graphs() - before == graphs
