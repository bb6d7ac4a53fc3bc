"""Confidence scores, filters and draws: as recorded, and as their definitions say."""

import json
import math
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from scipy.stats import chi2

from decoders.generate import Request, generate
from decoders.protocol import Rows
from decoders.registry import build_decoder
from decoders.sampling import (
    Chosen,
    Sampling,
    choose,
    entropy_score,
    keep_top_k,
    keep_top_p,
    probability,
)
from decoders.trimming import Ending
from tests import golden
from tests.fakes import TINY_MASK, TINY_VOCAB, ScriptedModel, tiny_model
from tests.oracles.acceptance import entropy_confidence, softmax

NO_FILTER = Sampling()


def generators(*seeds: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def recorded() -> tuple[list[dict[str, Any]], dict[str, torch.Tensor]]:
    folder = golden.folder()
    record = json.loads((folder / "sampling.json").read_text())
    return record["settings"], load_file(folder / "sampling.safetensors")


def test_filters_and_scores_are_the_recorded_ones():
    records, tensors = recorded()
    compared = 0
    for record in records:
        key, score = record["key"], entropy_score if record["entropy_conf"] else probability
        sampling = Sampling(
            temperature=record["temperature"],
            top_p=record["top_p"] or 1.0,
            top_k=record["top_k"] or 0,
        )
        chosen = choose(tensors["logits"], sampling, generators(0))
        if sampling.temperature:
            if f"{key}.probs" in tensors:
                probs = tensors[f"{key}.probs"].reshape(chosen.probs_BNV.shape)
                torch.testing.assert_close(chosen.probs_BNV, probs, rtol=1e-6, atol=1e-7, msg=key)
                compared += 1
            # The released code was made to draw these tokens.
            chosen = Chosen(tensors["forced_x0"], chosen.probs_BNV)
        assert chosen.ids_BN.tolist() == tensors[f"{key}.x0"].tolist(), key
        got, wanted = score(chosen), tensors[f"{key}.confidence"]
        torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-6, msg=key)
    assert (len(records), compared) == (72, 24)


rows = st.lists(st.floats(-8, 8, width=32), min_size=2, max_size=9)


def one_row(logits: list[float]) -> torch.Tensor:
    return torch.tensor(logits, dtype=torch.float32)[None, None]


@given(rows)
@settings(max_examples=60)
def test_scores_are_their_definitions(logits: list[float]):
    chosen = choose(one_row(logits), NO_FILTER)
    exact = softmax(logits)
    assert chosen.ids_BN.item() == logits.index(max(logits))
    assert probability(chosen).item() == pytest.approx(max(exact), abs=1e-6)
    assert entropy_score(chosen).item() == pytest.approx(entropy_confidence(exact), abs=2e-6)


@given(rows, st.floats(0.05, 1))
@settings(max_examples=60)
def test_top_p_keeps_the_smallest_set_that_exceeds_p(logits: list[float], top_p: float):
    kept = keep_top_p(one_row(logits), top_p).isfinite()[0, 0].tolist()
    exact = softmax(logits)
    order = sorted(range(len(logits)), key=lambda token: -logits[token])
    mass, expected = 0.0, [False] * len(logits)
    for token in order:
        if abs(mass - top_p) < 1e-5 and top_p < 1:
            return  # rounding decides
        if mass > top_p and top_p < 1:
            break
        expected[token] = True
        mass += exact[token]
    assert kept == expected


@given(rows, st.integers(0, 12))
@settings(max_examples=60)
def test_top_k_keeps_ties_with_the_kth(logits: list[float], top_k: int):
    kept = keep_top_k(one_row(logits), top_k).isfinite()[0, 0].tolist()
    least = sorted(logits, reverse=True)[min(top_k, len(logits)) - 1] if top_k else -math.inf
    assert kept == [logit >= least for logit in logits]


def test_among_equals_the_lowest_index_is_chosen():
    assert choose(one_row([1.0, 3.0, 3.0, 2.0]), NO_FILTER).ids_BN.item() == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
        ({"top_k": -1}, "top_k is -1"),
    ],
)
def test_values_out_of_range(fields: dict[str, Any], words: str):
    with pytest.raises(ValueError, match=words):
        Sampling(**fields)


def fits(counts: Counter[int], probabilities: list[float]) -> bool:
    """Pearson's test at a level that one in a million honest runs misses."""
    total, statistic, cells = sum(counts.values()), 0.0, 0
    assert all(probabilities[token] > 0 for token in counts)
    for token, probability_ in enumerate(probabilities):
        if probability_ > 0:
            expected = total * probability_
            statistic += (counts[token] - expected) ** 2 / expected
            cells += 1
    return statistic < chi2.isf(1e-6, cells - 1)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1.0),
        Sampling(temperature=0.5),
        Sampling(temperature=2.0, top_k=4),
        Sampling(temperature=1.0, top_p=0.8),
    ],
    ids=["plain", "cold", "hot-top-k", "top-p"],
)
def test_draws_follow_the_distribution(sampling: Sampling):
    logits = [2.0, 1.5, 1.0, 0.5, 0.0, -1.0]
    draws = 20_000
    chosen = choose(one_row(logits).expand(1, draws, -1), sampling, generators(7))
    kept = [logit / sampling.temperature for logit in logits]
    if sampling.top_k:
        kept = [x if x >= sorted(kept)[-sampling.top_k] else -math.inf for x in kept]
    if sampling.top_p < 1:
        assert sum(softmax(kept)[:3]) > 0.8 > sum(softmax(kept)[:2])
        kept = [*kept[:3], *[-math.inf] * 3]
    counts = Counter(chosen.ids_BN[0].tolist())
    assert fits(counts, softmax(kept))
    assert not fits(counts, softmax(logits[::-1]))


def answers(
    spec: str, batch_size: int, requests: list[Request], budget: int = 12
) -> dict[str, tuple[int, ...]]:
    decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
    done = generate(tiny_model(1), decoder, requests, Ending(budget=budget), batch_size=batch_size)
    return {completion.key: completion.ids for completion in done}


def requests_of(count: int, prompt: tuple[int, ...] = (5, 6)) -> list[Request]:
    return [Request(key=f"item-{i}", ids=(*prompt, i % 40)) for i in range(count)]


SAMPLED = [
    "ar(temperature=1.5,seed={})",
    "greedy-confidence(tau=0.3,temperature=1.5,seed={})",
    "entropy(tau=0.5,temperature=1.5,top_p=0.9,top_k=20,seed={})",
]


@pytest.mark.parametrize("spec", SAMPLED)
def test_what_is_drawn_depends_on_seed_and_key_alone(spec: str):
    requests = requests_of(5)
    alone = answers(spec.format(3), 1, requests)
    for batch_size, order in ((1, requests), (2, requests[::-1]), (5, requests)):
        assert answers(spec.format(3), batch_size, order) == alone
    other_seed = answers(spec.format(4), 1, requests)
    assert all(other_seed[key] != ids for key, ids in alone.items())
    renamed = [Request(key=f"other {each.key}", ids=each.ids) for each in requests]
    other_keys = answers(spec.format(3), 1, renamed)
    assert all(other_keys[f"other {key}"] != ids for key, ids in alone.items())


@pytest.mark.parametrize("spec", SAMPLED)
def test_without_a_temperature_the_seed_changes_nothing(spec: str):
    greedy = spec.replace("temperature=1.5", "temperature=0")
    requests = requests_of(3)
    assert answers(greedy.format(3), 1, requests) == answers(greedy.format(4), 1, requests)


def test_drawn_tokens_follow_the_models_distribution():
    """Through the whole loop: the first token after one prompt, drawn for a thousand keys."""
    requests = [Request(key=str(i), ids=(5, 6, 7)) for i in range(1000)]
    drawn = answers("ar(temperature=3,seed=1)", 50, requests, budget=1)
    model = ScriptedModel(lambda context, ahead: (9, 0.7), vocab_size=TINY_VOCAB)
    decoder = build_decoder("ar(temperature=1,seed=1)", default_block=4, mask_token_id=TINY_MASK)
    scripted = generate(model, decoder, requests, Ending(budget=1), batch_size=50)
    counts = Counter(completion.ids[0] for completion in scripted)
    rest = 0.3 / (TINY_VOCAB - 1)
    expected = [rest] * TINY_VOCAB
    expected[9] = 0.7
    assert fits(counts, expected)
    assert len(set(drawn.values())) > 5


def test_a_sampled_answer_is_not_compared_as_if_it_had_to_be_equal():
    for spec, promised in (("ar", True), ("ar(temperature=0.7)", False)):
        decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
        assert decoder.promises_equal is promised
        assert (decoder.samples_with is None) is promised


def test_the_two_scores_disagree_where_they_should():
    """Half on one token and the rest spread: likely, but uncertain. Two tokens: the reverse."""
    spread = torch.full((1, 4, 64), math.log(0.45 / 63))
    spread[..., 3] = math.log(0.55)
    pair = torch.full((1, 4, 64), math.log(0.02 / 62))
    pair[..., 3], pair[..., 5] = math.log(0.4901), math.log(0.4899)
    for logits, by_probability, by_entropy in ((spread, 4, 1), (pair, 1, 4)):
        for name, count in (("greedy-confidence", by_probability), ("entropy", by_entropy)):
            spec = f"{name}(tau=0.5)"
            decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
            accepted = decoder.accept(rows_of_one(), logits)
            assert accepted.count_B.tolist() == [count], name
            assert accepted.ids_BK.tolist() == [[3] * 4]


def rows_of_one() -> Rows:
    one = torch.tensor([1])
    return Rows(
        pending_BP=one[None],
        num_pending_B=one,
        cached_B=one,
        draft_BD=torch.zeros(1, 4, dtype=torch.int64),
        prefill=False,
    )
