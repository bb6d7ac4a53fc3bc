"""Rows against plain loops over the records, and what undefined numbers become."""

import random
from dataclasses import asdict
from typing import Any

import pytest
from results_fakes import REFERENCES, SPECS, failed, realistic_run, record

from results.records import SampleRecord
from results.statistics import minimum_detectable_difference
from results.summary import SummaryRow, summarise

DESIGN_COLUMNS = (
    "task, source, model, decoder, batch_size, items, accuracy, accuracy_lo, accuracy_hi, "
    "tokens_per_s, speedup, speedup_lo, speedup_hi, tokens_per_forward, query_slots_per_token, "
    "mean_length, cap_share, no_answer_share, failed, agreement"
)
LATER_COLUMNS = (
    ", guessed_share, paired_items, difference, difference_lo, difference_hi, p_value, p_holm, "
    "detectable, time_to_first_token_s, latency_p50_s, latency_p90_s, latency_p99_s, "
    "decode_forward_s, accepted_length, peak_memory_bytes, joules_per_token, noisy_share, "
    "unstable, near_ties, real_divergences, fixed_length, "
    "baseline_model_speedup, baseline_model_speedup_lo, baseline_model_speedup_hi"
)


def rows_by_decoder(records: list[SampleRecord], **options: Any) -> dict[str, SummaryRow]:
    defaults: dict[str, Any] = {"references": REFERENCES, "baseline": "ar"}
    return {row.decoder: row for row in summarise(records, **{**defaults, **options})}


def test_columns_are_the_design_s():
    row = summarise([record()], {}, "ar")[0]
    assert ", ".join(asdict(row)) == DESIGN_COLUMNS + LATER_COLUMNS


def test_every_column_by_a_plain_loop():
    records = realistic_run(items=60)
    rows = rows_by_decoder(records)
    assert list(rows) == list(SPECS)
    for spec, row in rows.items():
        data = [each.to_json() for each in records if each.decoder == spec]
        base = {each.item_id: each for each in records if each.decoder == "ar"}
        tokens = seconds = forwards = slots = correct = capped = unanswered = guessed = 0
        for sample in data:
            tokens += len(sample["ids"])
            seconds += sample["compute_s"]
            forwards += 1 + sample["forwards"]["decode"]
            slots += sample["query_slots"] - sample["prompt_tokens"]
            correct += sample["correct"]
            capped += not sample["finished"]
            unanswered += sample["extracted_by"] == "none"
            guessed += sample["extracted_by"] == "fallback"
        base_speed = tokens_of(base) / sum(each.compute_s or 0 for each in base.values())
        assert row.items == 60
        assert row.failed == 0
        assert row.accuracy == correct / 60
        assert row.tokens_per_s == pytest.approx(tokens / seconds)
        assert row.speedup == pytest.approx(tokens / seconds / base_speed)
        assert row.tokens_per_forward == tokens / forwards
        assert row.query_slots_per_token == slots / tokens
        assert row.mean_length == tokens / 60
        assert row.cap_share == capped / 60
        assert row.no_answer_share == unanswered / 60
        assert row.guessed_share == guessed / 60 > 0


def tokens_of(records: dict[str, SampleRecord]) -> int:
    return sum(len(each.ids or []) for each in records.values())


def test_a_batch_counts_its_own_tokens():
    """Four rows of 10, 20, 30 and 40 ids are 100 tokens, whatever was padded around them."""
    records = [
        record(str(n), tokens=n, batch_size=4, compute_s=0.5, wall_s=2.0, prompt_tokens=500)
        for n in (10, 20, 30, 40)
    ]
    row = summarise(records, {}, "ar")[0]
    assert row.tokens_per_s == 100 / 2.0
    assert row.mean_length == 25


def test_the_same_ids_count_the_same_under_any_decoder():
    rows = rows_by_decoder([record(str(i), spec, tokens=i) for spec in SPECS for i in (3, 9, 27)])
    measured = {
        (row.tokens_per_s, row.speedup, row.mean_length, row.tokens_per_forward)
        for row in rows.values()
    }
    assert len(measured) == 1
    assert all(row.speedup == 1 for row in rows.values())
    assert {row.agreement for spec, row in rows.items() if spec != "ar"} == {1.0}


def test_a_prompt_in_chunks_counts_as_one_prefill():
    whole = record(kept=[0, 2, 2])
    chunks = record(kept=[0, 0, 0, 2, 2], forwards={"prefill": 3, "decode": 2})
    (row,), (chunked,) = (summarise([each], {"ar": "ar"}, "ar") for each in (whole, chunks))
    assert row.tokens_per_forward == chunked.tokens_per_forward == 4 / 3


def test_the_baseline_against_itself_is_one():
    row = rows_by_decoder(realistic_run(items=20))["ar"]
    assert (row.speedup, row.speedup_lo, row.speedup_hi) == (1.0, 1.0, 1.0)


def test_a_failed_sample_is_counted_and_carries_nothing():
    good = [record("1", correct=True, tokens=4), record("2", correct=False, tokens=6)]
    with_failure = rows_by_decoder([*good, failed("3")])["ar"]
    without = rows_by_decoder(good)["ar"]
    assert (with_failure.items, with_failure.failed) == (3, 1)
    assert asdict(with_failure) | {"items": 2, "failed": 0} == asdict(without)


def test_speedup_and_agreement_are_paired_on_what_both_completed():
    fast = "block-ar(block=4)"
    records = [
        record("1", tokens=10, compute_s=1.0),
        record("2", tokens=10, compute_s=100.0),
        record("3", tokens=10, compute_s=1.0),
        record("1", fast, tokens=10, compute_s=0.5),
        failed("2", fast),
        record("3", fast, tokens=10, compute_s=0.5, ids=[7] * 10),
        record("4", fast, tokens=10, compute_s=50.0),
    ]
    row = rows_by_decoder(records, references={fast: "ar"})[fast]
    assert row.speedup == 2.0
    assert row.agreement == 0.5


def test_undefined_is_none():
    rows = rows_by_decoder([failed("1"), record("1", SPECS[1], kept=[0], extracted_by="none")])
    undefined = asdict(rows["ar"])
    assert {name for name, value in undefined.items() if value is not None} == {
        *("task", "source", "model", "decoder", "batch_size", "items", "failed")
    }
    empty = rows[SPECS[1]]
    assert empty.query_slots_per_token is None
    assert empty.speedup is None
    assert empty.agreement == 1.0  # its own reference
    assert (empty.tokens_per_s, empty.tokens_per_forward, empty.mean_length) == (0, 0, 0)


def test_without_baseline_or_reference_in_the_setting():
    records = [record("1"), record("1", SPECS[1], batch_size=8), record("1", SPECS[2], task="x")]
    for row in summarise(records, {SPECS[2]: SPECS[1]}, "ar"):
        assert row.agreement is None
        assert (row.speedup is None) == (row.decoder != "ar")


def test_one_item_has_a_speedup_and_no_interval():
    row = rows_by_decoder([record("1"), record("1", SPECS[1], compute_s=0.25)])[SPECS[1]]
    assert (row.speedup, row.speedup_lo, row.speedup_hi) == (2.0, None, None)


def test_the_order_of_records_changes_no_number():
    records = realistic_run(items=15)
    shuffled = random.Random(3).sample(records, len(records))
    assert rows_by_decoder(shuffled) == rows_by_decoder(records)


def test_rows_come_by_task_batch_size_and_reference_order():
    records = [
        record("1", spec, task=task, batch_size=size)
        for task in ("mmlu", "gsm8k")
        for size in (8, 1)
        for spec in ("zeta", SPECS[3], SPECS[2], "ar")
    ]
    found = [(r.task, r.batch_size, r.decoder) for r in summarise(records, REFERENCES, "ar")]
    order = ("ar", SPECS[2], SPECS[3], "zeta")
    assert found == [
        (task, n, spec) for task in ("mmlu", "gsm8k") for n in (1, 8) for spec in order
    ]


def test_two_records_of_one_key_are_refused():
    with pytest.raises(ValueError, match="two records of"):
        summarise([record("1"), record("1", wall_s=9.0)], {}, "ar")


def judged(decoder: str, correct: list[bool], **changes: Any) -> list[SampleRecord]:
    return [record(f"{i}", decoder, correct=right, **changes) for i, right in enumerate(correct)]


def test_accuracy_is_compared_with_the_baseline_on_what_both_completed():
    baseline = judged("ar", [True] * 30 + [False] * 10)
    better = [*judged(SPECS[1], [True] * 38), failed("38", SPECS[1]), record("new", SPECS[1])]
    worse = judged(SPECS[2], [False] * 12 + [True] * 18 + [False] * 10)
    rows = rows_by_decoder([*baseline, *better, *worse])
    up, down = rows[SPECS[1]], rows[SPECS[2]]
    assert (up.items, up.paired_items, down.paired_items) == (40, 38, 40)
    assert up.difference == pytest.approx(8 / 38)
    assert down.difference == pytest.approx(-12 / 40)
    assert (up.p_value, down.p_value) == pytest.approx((2 / 2**8, 2 / 2**12))
    # Two tests: the smaller is doubled, the larger counts once.
    assert (up.p_holm, down.p_holm) == pytest.approx((2 / 2**8, 4 / 2**12))
    assert up.difference_lo is not None
    assert up.difference_lo > 0
    assert down.difference_hi is not None
    assert down.difference_hi < 0
    assert up.detectable == minimum_detectable_difference(8, 38)


def test_each_setting_is_a_family_of_its_own():
    def p_holm(*tasks: str) -> float | None:
        samples = [
            each
            for task in tasks
            for spec in ("ar", *SPECS[1:4])
            for each in judged(spec, [spec == "ar"] * 7, task=task)
        ]
        return summarise(samples, {}, "ar")[1].p_holm

    assert p_holm("gsm8k") == p_holm("gsm8k", "mmlu") == pytest.approx(3 * 2 / 2**7)


def test_the_baseline_is_not_tested_against_itself():
    row = rows_by_decoder(judged("ar", [True, False]))["ar"]
    assert {row.paired_items, row.difference, row.p_value, row.p_holm, row.detectable} == {None}


def test_a_run_in_two_parts_is_summarised_as_one():
    """37 samples, the last of them cut off and done again, and 63 more."""
    run = [each for each in realistic_run(items=100) if each.decoder in SPECS[:3]]
    parts = {True: list[SampleRecord](), False: list[SampleRecord]()}
    for each in run:
        parts[int(each.item_id) < 36].append(each)
    assert rows_by_decoder([*parts[True], *parts[False]]) == rows_by_decoder(run)
    with pytest.raises(ValueError, match="two records of"):
        rows_by_decoder([*run, run[0]])


def test_a_failed_sample_has_no_part_in_speed():
    kept = [*judged("ar", [True] * 9), *judged(SPECS[1], [True] * 9, compute_s=0.25)]
    lost = [failed("9", SPECS[1]), record("9", compute_s=99.0)]
    row, whole = (rows_by_decoder(each)[SPECS[1]] for each in (kept, [*kept, *lost]))
    assert (whole.items, whole.failed) == (10, 1)
    for name in ("tokens_per_s", "speedup", "speedup_lo", "speedup_hi", "paired_items"):
        assert getattr(whole, name) == getattr(row, name)
