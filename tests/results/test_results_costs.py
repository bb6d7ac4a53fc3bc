"""Costs of answers against plain loops, and what repeats and noise make of them."""

import random
import statistics
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_fakes import REFERENCES, SPECS, failed, record

from results.costs import accepted_lengths
from results.divergence import disagreements, divergence_of, first_difference
from results.measured import measured, outcomes
from results.records import SampleRecord
from results.reliability import reliability_warnings
from results.summary import SummaryRow, summarise
from results.tables import summary_markdown


def only_row(records: list[SampleRecord], **options: Any) -> SummaryRow:
    (row,) = summarise(records, {}, "ar", **options)
    return row


def random_records(count: int = 40, **changes: Any) -> list[SampleRecord]:
    rng = random.Random(3)
    made: list[SampleRecord] = []
    for number in range(count):
        kept = [0, *(rng.randint(1, 4) for _ in range(rng.randint(1, 30))), rng.randint(0, 1) * 2]
        compute_s = rng.uniform(0.5, 2)
        measures: dict[str, Any] = {
            "kept": kept,
            "compute_s": compute_s,
            "wall_s": compute_s * 1.5,
            "first_token_s": rng.uniform(0.1, 0.2),
            "prefill_s": 0.3 * compute_s,
            "machine": {"energy_j": rng.uniform(1, 9), "peak_memory_bytes": rng.randint(1, 10**9)},
        }
        made.append(record(str(number), **{**measures, **changes}))
    return made


def test_costs_by_plain_loops():
    records = random_records()
    row = only_row([*records, failed("x")])
    waits = [each.wall_s or 0 for each in records]
    decode = [
        0.7 * (each.compute_s or 0) / (each.forwards or {"decode": 0})["decode"]
        for each in records
    ]
    kept = [length for each in records for length in (each.kept or [])[1:] if length > 0]
    energy = sum((each.machine or {})["energy_j"] for each in records)
    assert row.time_to_first_token_s == statistics.median(e.first_token_s or 0 for e in records)
    assert row.latency_p50_s == pytest.approx(statistics.median(waits))
    assert row.latency_p90_s == pytest.approx(np.percentile(waits, 90))
    assert row.latency_p99_s == pytest.approx(np.percentile(waits, 99))
    assert row.decode_forward_s == pytest.approx(statistics.median(decode))
    assert row.accepted_length == pytest.approx(statistics.fmean(kept))
    peaks = [(each.machine or {})["peak_memory_bytes"] for each in records]
    assert row.peak_memory_bytes == max(peaks)
    tokens = sum(len(each.ids or []) for each in records)
    assert row.joules_per_token == pytest.approx(energy / tokens)
    assert row.noisy_share is None
    assert row.unstable is None


def test_what_was_not_measured_is_none_and_not_less():
    """Some items' energy over all items' tokens would look like thrift."""
    records = random_records(4)
    silent = record("silent", machine=None)
    row = only_row([*records, silent])
    assert row.joules_per_token is None
    assert row.peak_memory_bytes == only_row(records).peak_memory_bytes
    # An item that says nothing of its prefill is in no median of decode forwards.
    assert row.decode_forward_s == only_row(records).decode_forward_s
    assert only_row([record(machine={}, prefill_s=None)]).decode_forward_s is None
    nothing = only_row([failed("1"), failed("2")])
    assert nothing.latency_p50_s is nothing.accepted_length is nothing.joules_per_token is None


def test_plain_decoding_accepts_one_token_a_step():
    """The forward that only finds the end is a forward, and no step that accepts."""
    row = only_row([record(kept=[1, 1, 1, 0]), record("2", kept=[1, 1, 0])])
    assert row.accepted_length == 1
    assert row.tokens_per_forward == 5 / 7


def test_the_histogram_of_accepted_lengths():
    # Eight tokens: two of the prefill, then 3, 1, 2; these start at 2, 5 and 6.
    rows = accepted_lengths([record(kept=[2, 3, 1, 2, 0]), failed("x")])
    assert [(row.part, row.length, row.forwards, row.share) for row in rows] == [
        *(("whole", 1, 1, 1 / 3), ("whole", 2, 1, 1 / 3), ("whole", 3, 1, 1 / 3)),
        ("quarter 2", 3, 1, 1.0),
        ("quarter 3", 1, 1, 1.0),
        ("quarter 4", 2, 1, 1.0),
    ]


@given(
    st.lists(
        st.lists(st.integers(0, 5), min_size=1, max_size=12).filter(any), min_size=1, max_size=5
    )
)
def test_the_histogram_loses_nothing(kept: list[list[int]]):
    rows = accepted_lengths([record(str(i), kept=each) for i, each in enumerate(kept)])
    expected = Counter(length for each in kept for length in each[1:] if length)
    for part in ("whole", "quarter"):
        found = Counter[int]()
        for row in rows:
            found[row.length] += row.forwards * row.part.startswith(part)
        assert +found == expected
    for part in {row.part for row in rows}:
        assert sum(row.share for row in rows if row.part == part) == pytest.approx(1)


def repeats_of(
    times: list[float], loads: list[float | None], **changes: Any
) -> list[SampleRecord]:
    return [
        record(
            repeat=repeat,
            compute_s=time,
            wall_s=time,
            machine=None if load is None else {"other_load": load},
            **changes,
        )
        for repeat, (time, load) in enumerate(zip(times, loads, strict=True))
    ]


def test_an_item_s_time_is_the_median_of_its_repeats():
    row = only_row(repeats_of([0.1, 9.0, 0.3], [None] * 3, tokens=30))
    assert row.items == 1
    assert row.tokens_per_s == 30 / 0.3
    assert row.latency_p50_s == 0.3
    assert row.unstable == 0


def test_quiet_repeats_count_where_there_are_any():
    noisy = repeats_of([5.0, 1.0, 7.0, 2.0], [0.9, 0.15, 0.16, None], tokens=30)
    row = only_row(noisy)
    assert row.tokens_per_s == 30 / 1.5
    assert row.noisy_share == 2 / 3
    all_noisy = only_row(repeats_of([5.0, 7.0], [0.9, 0.5], tokens=30))
    assert all_noisy.tokens_per_s == 30 / 6.0
    assert all_noisy.noisy_share == 1


def test_repeats_add_no_items_and_no_certainty_to_accuracy():
    once = [record(str(i), correct=i < 7) for i in range(10)]
    thrice = [
        record(str(i), correct=i < 7, repeat=repeat) for repeat in range(3) for i in range(10)
    ]
    one, three = only_row(once), only_row(thrice)
    assert (three.items, three.accuracy_lo) == (10, one.accuracy_lo)
    assert three.mean_length == one.mean_length


def test_an_item_of_which_any_repeat_failed_has_failed():
    records = [record("1"), record("1", repeat=1), record("2"), failed("2", repeat=1)]
    row = only_row(records)
    assert (row.items, row.failed) == (2, 1)
    assert outcomes(records) == [records[0], records[3]]


def test_answers_that_change_are_counted_and_told():
    changed = [record("1"), record("1", repeat=1, ids=[9, 9, 9])]
    same = [record("2"), record("2", repeat=1)]
    assert only_row([*changed, *same]).unstable == 1
    (line,) = reliability_warnings([*changed, *same])
    assert line.startswith("1 answers changed from one repeat to another, the first being 1 of")
    assert not reliability_warnings(same)


def test_noise_is_told():
    loads = [{"other_load": 0.5}, {"other_load": 0.1}, None]
    records = [record(str(i), machine=machine) for i, machine in enumerate(loads)]
    (line,) = reliability_warnings(records)
    assert "more than 15% of the cores during 1 of 2 samples" in line
    assert "noisy" in line


def test_a_fixed_length_has_speeds_and_no_accuracy():
    unscored: dict[str, Any] = {"correct": None, "answer": None, "extracted_by": None}
    ended: dict[str, Any] = {"finish": "length", "finished": False, "fixed_length": 3}
    records = [record(str(i), spec, **unscored, **ended) for spec in SPECS for i in range(4)]
    rows = summarise(records, REFERENCES, "ar")
    for row in rows:
        assert row.accuracy is row.accuracy_lo is row.no_answer_share is row.difference is None
        assert (row.speedup, row.cap_share, row.fixed_length) == (1, 1, 3)
    (line,) = reliability_warnings(records)
    assert "3 ids long" in line
    assert "nothing is scored" in line
    assert f"> warning: {line}" in summary_markdown(rows, warnings=[line])


def test_a_repeat_that_is_there_twice_is_refused():
    with pytest.raises(ValueError, match="two records of"):
        only_row([record(repeat=1), record(), record(repeat=1)])


@given(st.lists(st.integers(0, 1), max_size=5), st.lists(st.integers(0, 1), max_size=5))
def test_the_first_difference(ours: list[int], theirs: list[int]):
    found = first_difference(ours, theirs)
    if found is None:
        assert ours == theirs
    else:
        assert ours[:found] == theirs[:found]
        assert ours[found : found + 1] != theirs[found : found + 1]


def test_disagreements_become_columns():
    fast = SPECS[2]
    records = [
        *(record(str(i), REFERENCES[fast], ids=[5, 6, 7]) for i in range(4)),
        record("0", fast, ids=[5, 6, 7]),
        record("1", fast, ids=[5, 9, 7]),
        record("2", fast, kept=[1, 1], ids=[5, 6]),
        record("3", fast, kept=[4], ids=[5, 6, 7, 8], forwards={"prefill": 1, "decode": 0}),
        record("1", fast, ids=[5, 6, 9], repeat=1),
        *(record("4", REFERENCES[fast]), record("4", fast, ids=[9, 6, 7])),
        failed("4", fast, repeat=1),
    ]
    found = disagreements(records, REFERENCES)
    assert [(each.record.item_id, each.position) for each in found] == [
        *(("1", 1), ("2", 2), ("3", 3))
    ]
    margins = (0.0001, 0.5, 2.0)
    rows = [divergence_of(each, m, 0.01) for each, m in zip(found, margins, strict=True)]
    assert [(row.token, row.reference_token, row.near_tie) for row in rows] == [
        *((9, 6, True), (None, 7, False), (8, None, False))
    ]
    table = {row.decoder: row for row in summarise(records, REFERENCES, "ar", rows)}
    assert table[fast].agreement == 1 / 4
    assert (table[fast].near_ties, table[fast].real_divergences) == (1, 2)
    reference = table[REFERENCES[fast]]
    assert (reference.agreement, reference.near_ties, reference.real_divergences) == (1, 0, 0)
    alone = [each for each in records if each.decoder == fast]
    (row,) = summarise(alone, REFERENCES, "ar", rows)
    assert (row.near_ties, row.real_divergences) == (None, None)
    unseen = {row.decoder: row for row in summarise(records, REFERENCES, "ar")}
    assert unseen[fast].near_ties is None


def test_measured_needs_no_order():
    repeats = repeats_of([1.0, 2.0, 9.0], [None] * 3)
    assert measured(repeats) == measured(repeats[::-1])
