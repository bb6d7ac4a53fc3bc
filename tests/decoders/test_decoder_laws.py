"""What every decoder promises: it is its definition, and batching can't be seen in its answers."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from decoders.generate import Completion, Request, generate
from decoders.protocol import Decoder
from decoders.registry import DECODERS, build_decoder
from decoders.trimming import Ending
from sdlm.attention import Impl
from sdlm.model import SDLM
from tests.fakes import TINY_MASK, tiny_model
from tests.oracles.agreement import assert_same_ids
from tests.oracles.decoding import Answer, ReferenceDecoder

# A confidence this near its threshold may fall on either side by rounding.
NEAR_THRESHOLD = 1e-4
OWN_DECODER = "tests.fakes:SomeDecoder"


def decoder_of(spec: str, block: int = 4) -> Decoder:
    return build_decoder(spec, default_block=block, mask_token_id=TINY_MASK)


def requests_of(prompts: Sequence[Sequence[int]]) -> list[Request]:
    return [Request(key=str(i), ids=tuple(prompt)) for i, prompt in enumerate(prompts)]


def answers(
    model: SDLM, decoder: Decoder, requests: Sequence[Request], ending: Ending, batch_size: int = 1
) -> dict[str, Completion]:
    done = list(generate(model, decoder, requests, ending, batch_size=batch_size))
    assert len({completion.key for completion in done}) == len(done) == len(requests)
    return {completion.key: completion for completion in done}


def what_matters(completion: Completion) -> tuple[object, ...]:
    """All of a completion that must not depend on its neighbours."""
    forwards = (completion.prefill_forwards, completion.decode_forwards)
    return (
        completion.ids,
        completion.finish,
        completion.kept,
        forwards,
        completion.query_slots,
        completion.prompt_tokens,
    )


token = st.integers(0, TINY_MASK - 1)
prompts = st.lists(st.lists(token, min_size=1, max_size=12), min_size=1, max_size=4)
models = st.builds(
    lambda seed, causal_attn: tiny_model(seed, causal_attn=causal_attn),
    st.integers(1, 4),
    st.booleans(),
)
blocks = st.sampled_from([2, 3, 4, 8])
endings = st.builds(
    lambda budget, eos: Ending(budget=budget, eos_token_ids=eos),
    st.integers(1, 20),
    st.frozensets(token, max_size=4),
)
taus = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0])
rules = st.sampled_from(["per-token", "cumulative"])
specs = st.one_of(
    st.sampled_from(
        ["ar", "block-ar", "self-speculative", "self-speculative(verify=causal)", OWN_DECODER]
    ),
    st.builds(
        "self-speculative(verify={},draft_tau={})".format,
        st.sampled_from(["window", "causal"]),
        taus,
    ),
    st.builds(
        "{}(tau={},rule={})".format, st.sampled_from(["greedy-confidence", "entropy"]), taus, rules
    ),
)


def reference_answer(
    reference: ReferenceDecoder, decoder: Decoder, prompt: Sequence[int], ending: Ending
) -> Answer:
    task = (prompt, ending.budget, ending.eos_token_ids)
    if decoder.name == "ar":
        return reference.ar(*task)
    if decoder.name == "block-ar":
        return reference.block_ar(*task, block=decoder.block)
    if decoder.name == "self-speculative":
        return reference.self_speculation(
            *task, block=decoder.block, verify=decoder.verify, draft_tau=decoder.draft_tau
        )
    return reference.confidence(
        *task,
        block=decoder.block,
        tau=decoder.tau,
        rule=decoder.rule,
        entropy=decoder.name == "entropy",
    )


@given(models, blocks, specs, prompts, endings)
@settings(max_examples=60)
def test_each_decoder_is_its_definition(
    model: SDLM, block: int, spec: str, prompts: list[list[int]], ending: Ending
):
    """Cached, batched and fp32 against recomputed, alone and fp64."""
    assume(spec != OWN_DECODER)
    decoder, reference = decoder_of(spec, block), ReferenceDecoder(model)
    got = answers(model, decoder, requests_of(prompts), ending, batch_size=len(prompts))
    for key, completion in got.items():
        expected = reference_answer(reference, decoder, prompts[int(key)], ending)
        assert_same_ids(completion.ids, expected.ids, expected.gaps.__getitem__)
        assume(expected.margin > NEAR_THRESHOLD)
        assert list(completion.kept) == expected.kept
        assert completion.query_slots == expected.query_slots
        shorter = len(expected.ids) < ending.budget
        assert completion.finish == ("eos" if shorter else "length")


def shuffled(requests: list[Request], seed: int) -> list[Request]:
    return random.Random(seed).sample(requests, len(requests))


def check_batched_is_alone(
    model: SDLM,
    block: int,
    spec: str,
    prompts: list[list[int]],
    ending: Ending,
    batch_size: int,
    order: int,
):
    decoder, requests = decoder_of(spec, block), requests_of(prompts)
    alone = answers(model, decoder, requests, ending)
    together = answers(model, decoder, shuffled(requests, order), ending, batch_size)
    for key, completion in alone.items():
        assert what_matters(together[key]) == what_matters(completion)


# model, block, spec, prompts, ending, batch size, order
batches = st.tuples(models, blocks, specs, prompts, endings, st.integers(1, 5), st.integers(0, 99))


@given(batches)
@settings(max_examples=60)
def test_batched_in_any_order_is_alone(case: tuple[Any, ...]):
    check_batched_is_alone(*case)


@pytest.mark.parametrize("spec", [*DECODERS, OWN_DECODER])
def test_lengths_around_a_blocks(spec: str):
    """Prompts of 3, 17, 128 and 129 tokens: alone, together in two orders, among a long one."""
    model, decoder, ending = tiny_model(1), decoder_of(spec), Ending(budget=12)
    rng = random.Random(0)
    lengths = (3, 17, 128, 129, 300)
    prompts = [[rng.randrange(TINY_MASK) for _ in range(length)] for length in lengths]
    *requests, long = requests_of(prompts)
    alone = answers(model, decoder, requests, ending)
    batches = [requests, requests[::-1], [long, *requests], [*requests, long]]
    for batch in batches:
        together = answers(model, decoder, batch, ending, batch_size=len(batch))
        for key, completion in alone.items():
            assert what_matters(together[key]) == what_matters(completion)


@pytest.mark.parametrize("block", [2, 4, 8])
@pytest.mark.parametrize(
    ("verify", "plain"), [("window", "block-ar"), ("causal", "ar")], ids=["window", "causal"]
)
def test_self_speculation_changes_no_id(verify: str, plain: str, block: int):
    """200 random prompts; every accepted length occurs, so this is no empty promise."""
    model, ending, rng = tiny_model(1), Ending(budget=16), random.Random(block)
    prompts = [[rng.randrange(TINY_MASK) for _ in range(rng.randint(1, 9))] for _ in range(200)]
    decoder = decoder_of(f"self-speculative(verify={verify})", block)
    assert decoder.promises_equal
    reference = decoder_of(decoder.reference)
    assert reference == decoder_of(plain, block)
    got = answers(model, decoder, requests_of(prompts), ending, 50)
    expected = answers(model, reference, requests_of(prompts), ending, 50)

    def gap_at(key: str, index: int) -> float:
        definition = ReferenceDecoder(model)
        tokens = [*prompts[int(key)], *expected[key].ids[:index]]
        if verify == "causal":
            return definition.causal(tokens).gap
        return definition.window(tokens, block)[0].gap

    lengths = set()
    for key, completion in got.items():
        assert_same_ids(
            completion.ids, expected[key].ids, lambda index, key=key: gap_at(key, index)
        )
        lengths |= set(completion.kept)
    assert set(range(block + 1)) <= lengths


@pytest.mark.parametrize("causal_attn", [False, True])
@pytest.mark.parametrize("name", ["greedy-confidence", "entropy"])
def test_threshold_one_keeps_one_and_threshold_zero_all(name: str, causal_attn: bool):
    model = tiny_model(2, causal_attn=causal_attn)
    requests = requests_of([[4, 9, 3], [11], [8, 8, 30, 2, 7]])
    ending = Ending(budget=16)
    plain = answers(model, decoder_of("block-ar"), requests, ending)
    strict = answers(model, decoder_of(f"{name}(tau=1)"), requests, ending, batch_size=3)
    loose = answers(model, decoder_of(f"{name}(tau=0)"), requests, ending, batch_size=3)
    for key, completion in plain.items():
        assert what_matters(strict[key]) == what_matters(completion)
        assert strict[key].kept == (1,) * 16
        assert loose[key].kept == (4,) * 4


def test_causal_windows_first_token_is_plain_causal():
    """With `causal_attn` the first slot of a window sees no mask token, so block-ar is ar."""
    model = tiny_model(3, causal_attn=True)
    requests, ending = requests_of([[4, 9, 3], [11]]), Ending(budget=20)
    windows = answers(model, decoder_of("block-ar"), requests, ending)
    plain = answers(model, decoder_of("ar"), requests, ending)
    for key in plain:
        assert_same_ids(windows[key].ids, plain[key].ids, lambda index: float("nan"))


def in_turns(*runs: Iterator[Completion]) -> list[Completion]:
    """One completion of each run after the other, until all are done."""
    done, left = [], list(runs)
    while left:
        for run in list(left):
            completion = next(run, None)
            if completion is None:
                left.remove(run)
            else:
                done.append(completion)
    return done


def test_decoders_leave_no_state_behind():
    """One object, used for two runs that take turns and between them by others, is like new."""
    model, ending = tiny_model(1), Ending(budget=12)
    requests = requests_of([[3, 1, 4], [1, 5], [9, 2, 6, 5]])
    specs = [
        "entropy(tau=0.5)",
        "greedy-confidence(tau=0.5)",
        "self-speculative",
        "greedy-confidence(tau=0.5)",
        "entropy(tau=0.5)",
        "block-ar",
    ]
    used = {spec: decoder_of(spec) for spec in specs}
    for spec in specs:
        fresh = answers(model, decoder_of(spec), requests, ending)
        again = answers(model, used[spec], requests, ending, batch_size=2)
        turns = in_turns(
            generate(model, used[spec], requests, ending),
            generate(model, used[spec], requests, ending, batch_size=3),
        )
        for completion in [*again.values(), *turns]:
            assert what_matters(completion) == what_matters(fresh[completion.key])


@pytest.mark.parametrize(
    "spec",
    ["entropy(tau=0.5)", pytest.param("self-speculative", marks=pytest.mark.slow)],
)
def test_flex_in_a_ragged_batch_is_dense_alone(spec: str):
    """The third prompt waits for a place, so rows join and leave."""
    requests = requests_of([[4, 9, 3], [11, 2, 2, 7], [8, 30]])
    ending = Ending(budget=12)
    alone = answers(tiny_model(1), decoder_of(spec), requests, ending)
    model = tiny_model(1, impl=Impl.FLEX)
    together = answers(model, decoder_of(spec), requests, ending, batch_size=2)
    for key, completion in alone.items():
        assert what_matters(together[key]) == what_matters(completion)


def test_a_difference_is_told_apart_from_rounding():
    assert_same_ids([1, 2], [1, 2], lambda index: 0.0)
    with pytest.raises(AssertionError, match=r"first at 1 \(near tie: top-2 gap 5e-05\)"):
        assert_same_ids([1, 2, 3], [1, 4, 3], lambda index: 5e-5)
    with pytest.raises(AssertionError, match=r"first at 2 \(real: top-2 gap 0.5\)"):
        assert_same_ids([1, 2], [1, 2, 3], lambda index: 0.5)


@pytest.mark.slow
@given(batches)
@settings(max_examples=600, suppress_health_check=list(HealthCheck))
def test_batched_in_any_order_is_alone_many_times(case: tuple[Any, ...]):
    check_batched_is_alone(*case)
