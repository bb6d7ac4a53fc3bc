"""Planted truths: a model that accepts by a known pattern and costs a known time gives back just
that, through worker, records and summary."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from results import SummaryRow, summarise
from results.costs import accepted_lengths
from tests.harness.planting import PROMPT_TOKENS, Clock, planted_run

AR, BLOCK_AR = "ar", "block-ar(block=4)"
FAST = "greedy-confidence(tau=0.9,rule=per-token,block=4)"
SPECULATIVE = "self-speculative(verify=window,block=4)"
ASKED = ["ar", "block-ar", "greedy-confidence(tau=0.9)", "self-speculative"]
REFERENCES: dict[str, str] = dict.fromkeys((BLOCK_AR, FAST, SPECULATIVE), BLOCK_AR)
LENGTHS = [9, 30, 4, 17, 1, 23]


def sure(index: int) -> float:
    """Every third token is one that the model hesitates over."""
    return 0.6 if index % 3 == 2 else 0.99


def expected_steps(length: int) -> list[int]:
    """What each forward of the confidence decoder keeps of an answer, its end token not counted:
    up to four tokens, the first in any case, and none from the first hesitation on."""
    steps: list[int] = []
    done = 0
    while done <= length:
        taken = 1
        while taken < 4 and sure(done) > 0.9 and sure(done + taken) > 0.9:
            taken += 1
        steps.append(min(done + taken, length) - done)
        done += taken
    return steps


def table(records: Any) -> dict[str, SummaryRow]:
    return {row.decoder: row for row in summarise(records, REFERENCES, AR)}


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own load has no part in a planted run."""
    monkeypatch.setattr("harness.watching.Watch.facts", lambda _: {})


pytestmark = pytest.mark.usefixtures("unwatched")


def test_the_planted_pattern_and_speedup_are_found(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(forward_s=1.0, slot_s=0.05)
    rows = table(planted_run(monkeypatch, clock, ASKED, LENGTHS, sure))
    tokens = sum(LENGTHS)
    ar_s = sum((length + 1) * (1 + 0.05 * PROMPT_TOKENS) for length in LENGTHS)
    steps = [expected_steps(length) for length in LENGTHS]
    # A step feeds what the last one kept, the end token never, and a window of four.
    slots = sum(PROMPT_TOKENS + 4 + sum(kept + 4 for kept in taken[:-1]) for taken in steps)
    forwards = sum(map(len, steps))
    assert rows[AR].tokens_per_s == pytest.approx(tokens / ar_s)
    assert rows[AR].tokens_per_forward == tokens / (tokens + len(LENGTHS))
    assert rows[FAST].tokens_per_forward == tokens / forwards
    assert rows[FAST].query_slots_per_token == (slots - len(LENGTHS) * PROMPT_TOKENS) / tokens
    assert rows[FAST].speedup == pytest.approx(ar_s / (forwards + 0.05 * slots))
    accepted = [kept for taken in steps for kept in taken[1:] if kept]
    assert rows[FAST].accepted_length == sum(accepted) / len(accepted)
    assert rows[FAST].time_to_first_token_s == pytest.approx(1 + 0.05 * (PROMPT_TOKENS + 4))
    assert rows[AR].decode_forward_s == pytest.approx(1.05)
    assert rows[BLOCK_AR].decode_forward_s == pytest.approx(1 + 0.05 * 5)


def test_self_speculation_that_is_always_right_keeps_all(monkeypatch: pytest.MonkeyPatch):
    """The windows' answers don't depend on how far ahead they look, so every draft holds."""
    rows = table(planted_run(monkeypatch, Clock(), ASKED, [40, 12], sure))
    row = rows[SPECULATIVE]
    # A prefill that keeps none, then four a forward, the end token in one of them.
    assert row.tokens_per_forward == 52 / ((1 + 11) + (1 + 4))
    assert row.accepted_length == 4
    assert row.agreement == 1
    assert row.speedup == pytest.approx((41 + 13) / (12 + 5))


def test_counting_is_the_same_for_every_decoder(monkeypatch: pytest.MonkeyPatch):
    """Told to keep the same ids one by one, all count the same tokens and decode forwards."""
    records = planted_run(
        monkeypatch, Clock(), ["ar", "block-ar", "greedy-confidence(tau=1)"], LENGTHS, sure
    )
    counts = {
        spec: [
            (each.item_id, each.ids, each.kept, each.forwards, each.finish, each.wall_s)
            for each in records
            if each.decoder == spec
        ]
        for spec in dict.fromkeys(each.decoder for each in records)
    }
    first, *others = counts.values()
    assert len(others) == 2
    assert len(first) == len(LENGTHS)
    for other in others:
        assert sorted(other) == sorted(first)
    rows = summarise(records, {}, AR)
    assert len({(row.tokens_per_s, row.tokens_per_forward, row.mean_length) for row in rows}) == 1
    assert {row.speedup for row in rows} == {1.0}


def test_all_decoders_count_the_same_ids(monkeypatch: pytest.MonkeyPatch):
    """However they came by them: prompt, end token and what is past it are nobody's."""
    records = planted_run(monkeypatch, Clock(), ASKED, LENGTHS, sure)
    for record in records:
        length = LENGTHS[int(record.item_id)]
        assert record.ids == [1 + index % 50 for index in range(length)]
        assert sum(record.kept or []) == length
        assert record.finish == "eos"
    for batch_size in (2, 4):
        batched = planted_run(
            monkeypatch, Clock(), ASKED, LENGTHS, sure, batch_sizes=(batch_size,)
        )
        assert sorted((each.item_id, each.decoder, each.kept) for each in batched) == sorted(
            (each.item_id, each.decoder, each.kept) for each in records
        )


def test_the_histogram_is_the_planted_one(monkeypatch: pytest.MonkeyPatch):
    records = planted_run(monkeypatch, Clock(), ASKED, LENGTHS, sure)
    found = {
        row.length: row.forwards
        for row in accepted_lengths(records)
        if row.decoder == FAST and row.part == "whole"
    }
    planted = [kept for length in LENGTHS for kept in expected_steps(length)[1:] if kept]
    assert found == {length: planted.count(length) for length in set(planted)}


def test_a_fixed_length_separates_speed_from_length(monkeypatch: pytest.MonkeyPatch):
    """Whatever ended the answers ends none of them, for any decoder."""
    records = planted_run(monkeypatch, Clock(), ASKED, [3, 50], sure, fixed_length=12)
    assert {len(record.ids or []) for record in records} == {12}
    assert {record.finish for record in records} == {"length"}
    assert all(
        record.correct is record.answer is record.extracted_by is None for record in records
    )
    rows = table(records)
    assert {row.accuracy for row in rows.values()} == {None}
    assert rows[AR].tokens_per_forward == 1
    assert rows[SPECULATIVE].tokens_per_forward == 12 / 4


def test_repeats_are_passes_over_all_items_with_equal_ids(monkeypatch: pytest.MonkeyPatch):
    records = planted_run(monkeypatch, Clock(), ["ar", "block-ar"], LENGTHS, sure, repeats=3)
    assert [record.repeat for record in records] == [
        repeat for repeat in range(3) for _ in range(2 * len(LENGTHS))
    ]
    firsts = [
        next(each.decoder for each in records if (each.repeat, each.item_id) == (repeat, "0"))
        for repeat in range(3)
    ]
    assert firsts == [AR, BLOCK_AR, AR]
    rows = summarise(records, REFERENCES, AR)
    assert [(row.items, row.unstable) for row in rows] == [(6, 0), (6, 0)]


def drift(now: float) -> float:
    """The machine gets half as slow again, and quick again, over and over."""
    return 1.25 + 0.25 * math.sin(now / 900)


class Bursts:
    """Now and then, for a while, everything takes three times as long."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._until, self._slow = 0.0, False

    def __call__(self, now: float) -> float:
        if now >= self._until:
            self._slow = self._rng.random() < 0.1
            self._until = now + self._rng.uniform(5, 60)
        return drift(now) * (3.0 if self._slow else 1.0)


def test_drift_hits_all_alike(monkeypatch: pytest.MonkeyPatch):
    """Interleaved and paired, decoders share whatever slows the machine."""
    lengths = [random.Random(1).randint(5, 30) for _ in range(25)]
    true = true_speedup(lengths)
    clock = Clock(slot_s=0.05, disturbed=drift)
    row = table(planted_run(monkeypatch, clock, ASKED[::2], lengths, sure))[FAST]
    assert row.speedup_lo is not None
    assert row.speedup_hi is not None
    assert row.speedup_lo <= true <= row.speedup_hi
    assert row.speedup == pytest.approx(true, rel=0.02)


@pytest.mark.slow
def test_the_speedup_is_found_through_bursts(monkeypatch: pytest.MonkeyPatch):
    """Few items with rare bursts leave the interval a little narrow: see docs/measuring.md."""
    inside, ratios = 0, list[float]()
    for seed in range(16):
        rng = random.Random(seed)
        lengths = [rng.randint(5, 30) for _ in range(60)]
        true = true_speedup(lengths)
        clock = Clock(slot_s=0.05, disturbed=Bursts(seed))
        row = table(planted_run(monkeypatch, clock, ASKED[::2], lengths, sure))[FAST]
        assert row.speedup is not None
        assert row.speedup_lo is not None
        assert row.speedup_hi is not None
        inside += row.speedup_lo <= true <= row.speedup_hi
        ratios.append(row.speedup / true)
    assert inside >= 15
    assert sum(ratios) / len(ratios) == pytest.approx(1, abs=0.03)


def true_speedup(lengths: Sequence[int]) -> float:
    """That of an undisturbed clock."""
    ar_s = sum((length + 1) * 1.05 for length in lengths)
    fast_s = 0.0
    for steps in map(expected_steps, lengths):
        fast_s += len(steps) + 0.05 * (5 + sum(kept + 4 for kept in steps[:-1]))
    return ar_s / fast_s
