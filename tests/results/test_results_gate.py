"""The gate: what was planted is found, what was not is not, and unlike runs are not compared."""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from results.gate import Rules, Verdict, as_json, judge, markdown, verdict_line
from results.records import SampleRecord
from results.statistics import mcnemar_exact
from results.store import StoredRun
from tests.results.fake_clock import BASELINE, DECODER, Moods, fake_run, manifest
from tests.results.results_fakes import failed, record

TRIALS = 100
STILL = Moods(jitter=0.01)


@functools.cache
def base_run(trial: int) -> StoredRun:
    return fake_run(2 * trial)


def verdicts(slower: Mapping[str, float], trials: int = TRIALS) -> list[Verdict]:
    return [
        judge(base_run(trial), fake_run(2 * trial + 1, slower=slower), Rules())
        for trial in range(trials)
    ]


def problems(verdict: Verdict) -> dict[str, tuple[str, ...]]:
    return {row.numbers.key.decoder: row.problems for row in verdict.rows}


def changed(run: StoredRun, change: Callable[[SampleRecord], SampleRecord | None]) -> StoredRun:
    """The run with its records changed; None leaves one out."""
    return replace(run, records=[new for old in run.records if (new := change(old)) is not None])


def with_config(run: StoredRun, **config: Any) -> StoredRun:
    return replace(run, manifest=manifest(100, **config))


def other_ids(old: SampleRecord, position: int = 2) -> SampleRecord:
    assert old.ids is not None
    return replace(old, ids=[*old.ids[:position], 999, *old.ids[position + 1 :]])


# Speed.


def test_a_slowdown_of_15_percent_fails():
    found = verdicts({DECODER: 0.15})
    assert sum("slower" in problems(each)[DECODER] for each in found) >= 95
    assert sum("slower" in problems(each)[BASELINE] for each in found) <= 5
    assert all(each.failed == any(problems(each).values()) for each in found)


def test_a_slowdown_of_3_percent_inside_the_noise_passes():
    found = verdicts({DECODER: 0.03})
    assert sum(not each.failed for each in found) >= 95


def test_the_same_decoder_twice_is_the_same():
    """A-A: neither slower nor faster in 19 of 20 runs, for each decoder and for both."""
    found = verdicts({}, trials=200)
    assert sum(each.failed for each in found) <= 10
    for number in (0, 1):
        rows = [each.rows[number] for each in found]
        assert sum(bool(row.problems or row.improvements) for row in rows) <= 10


def test_a_baseline_that_changes_is_not_the_decoder_s_doing():
    """A slower `ar` makes every speedup larger, a faster one smaller."""
    for change in (0.15, -0.15):
        found = [each.rows[1] for each in verdicts({BASELINE: change}, trials=50)]
        assert sum(bool(row.problems or row.improvements) for row in found) <= 5


def test_a_machine_slower_for_all_is_told_from_a_slower_decoder():
    base = fake_run(0, moods=STILL)
    everything = fake_run(1, moods=STILL, slower={BASELINE: 0.1, DECODER: 0.1})
    row = judge(base, everything, Rules()).rows[1]
    assert row.problems == ("slower",)
    assert row.numbers.speed is not None
    assert row.numbers.speed.value == pytest.approx(0.9, abs=0.01)
    assert row.numbers.over_baseline is not None
    assert row.numbers.over_baseline.value == pytest.approx(1, abs=0.01)
    assert row.notes == ("ar is about as much slower: the machine, or what all decoders share",)
    alone = judge(base, fake_run(1, moods=STILL, slower={DECODER: 0.1}), Rules()).rows[1]
    assert alone.problems == ("slower",)
    assert not alone.notes
    faster_ar = judge(base, fake_run(1, moods=STILL, slower={BASELINE: -0.1}), Rules())
    assert not faster_ar.failed
    assert faster_ar.rows[0].improvements == ("faster",)
    assert "less of a speedup" in faster_ar.rows[1].notes[0]


def test_the_tolerance_is_what_decides():
    base, new = fake_run(0, moods=STILL), fake_run(1, moods=STILL, slower={DECODER: 0.1})
    assert judge(base, new, Rules(tolerance=0.05)).failed
    assert judge(base, new, Rules(tolerance=0.0)).failed
    assert not judge(base, new, Rules(tolerance=0.2)).failed
    back = judge(new, base, Rules(tolerance=0.05))
    assert back.rows[1].improvements == ("faster",)
    assert not back.failed
    for wrong in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="--tolerance"):
            Rules(tolerance=wrong)


def test_neither_decoders_order_in_time_nor_a_run_s_name_matters():
    base, new = fake_run(0), fake_run(1)
    turned = replace(new, records=[*new.records[100:], *new.records[:100]])
    assert judge(base, turned, Rules()).rows == judge(base, new, Rules()).rows


def test_repeats_count_by_the_median_of_the_quiet_ones():
    base, new = fake_run(0, items=20), fake_run(1, items=20)
    repeats = ((9.0, 0.9), (5.0, 0.0), (1.0, 0.0), (0.2, 0.1))
    records = [
        replace(
            each,
            repeat=repeat,
            compute_s=each.compute_s * factor,
            machine={"other_load": load},
        )
        for each in new.records
        if each.compute_s is not None
        for repeat, (factor, load) in enumerate(repeats)
    ]
    found = judge(base, replace(new, records=records), Rules())
    assert [row.numbers.speed for row in found.rows] == [
        row.numbers.speed for row in judge(base, new, Rules()).rows
    ]


# Ids.


def test_a_changed_id_fails_whatever_the_speed():
    base = fake_run(0, moods=STILL)
    new = changed(
        fake_run(1, moods=STILL, slower={DECODER: -0.5}),
        lambda old: other_ids(old) if old.key[1:3] == ("7", DECODER) else old,
    )
    verdict = judge(base, new, Rules())
    assert problems(verdict) == {BASELINE: (), DECODER: ("ids changed",)}
    assert verdict.rows[1].improvements == ("faster",)
    assert verdict.rows[1].numbers.changed == (1, "7", 2)
    assert "ids changed in 1 of 2 rows" in verdict_line(verdict)


def test_an_answer_that_goes_on_differs_where_the_other_ends():
    base = fake_run(0, items=20)
    cut = changed(
        base,
        lambda old: (
            replace(
                old,
                ids=[*(old.ids or []), 5],
                kept=[*(old.kept or []), 1],
                forwards={"prefill": 1, "decode": len(old.kept or [])},
            )
            if old.item_id in ("3", "4")
            else old
        ),
    )
    length = len(base.records[3].ids or [])
    for verdict in (judge(base, cut, Rules()), judge(cut, base, Rules())):
        assert verdict.rows[0].numbers.changed == (2, "3", length)


@pytest.mark.parametrize(
    ("config", "options", "fails"),
    [
        ({}, {}, True),
        ({"dtype": "bfloat16"}, {}, False),
        ({"dtype": "bfloat16"}, {"strict_ids": True}, True),
        ({"limit": 5}, {"allow_different": ("limit",)}, True),
        ({"model_sha256": "0"}, {"allow_different": ("model_sha256",)}, False),
        ({"attention": "flex"}, {"allow_different": ("attention",)}, False),
    ],
)
def test_where_equality_is_promised(
    config: dict[str, Any], options: dict[str, Any], *, fails: bool
):
    """In float32, of the same weights, data and way of computing."""
    base, new = fake_run(0), changed(fake_run(1), other_ids)
    both = config if config.get("dtype") else {}
    verdict = judge(with_config(base, **both), with_config(new, **config), Rules(**options))
    assert verdict.failed == fails
    strict = verdict.rules.strict_ids
    assert verdict.ids_promised == as_json(verdict)["ids_promised"] == (fails and not strict)
    assert ("Equality is not promised, but asked for" in markdown(verdict)) == strict
    assert all(row.numbers.changed == (100, "0", 2) for row in verdict.rows)
    if not fails:
        assert "where none are promised" in verdict_line(verdict)
        assert verdict.rows[0].notes == ("ids changed where equality is not promised",)


# Accuracy.


def scored(run: StoredRun, wrong: set[int], decoder: str = DECODER) -> StoredRun:
    return changed(
        run,
        lambda old: (
            replace(old, correct=int(old.item_id) not in wrong) if old.decoder == decoder else old
        ),
    )


def test_an_accuracy_loss_beyond_noise_fails():
    base, new = scored(fake_run(0), set()), scored(fake_run(1), {*range(12)})
    verdict = judge(base, new, Rules())
    row = verdict.rows[1]
    assert row.problems == ("less accurate",)
    assert row.p_holm == pytest.approx(2 * mcnemar_exact(0, 12))
    assert row.numbers.accuracy is not None
    assert row.numbers.accuracy.difference.value == pytest.approx(-0.12)
    back = judge(new, base, Rules())
    assert not back.failed
    assert back.rows[1].improvements == ("more accurate",)
    # 6 of 6 are significant alone, and not among two rows.
    assert not judge(base, scored(fake_run(1), {*range(6)}), Rules()).failed


def test_one_sample_of_164_is_no_detectable_difference():
    """Case 20 of the project's list."""
    run = {
        name: scored(fake_run(seed, items=164), {5}) for seed, name in ((0, "base"), (1, "new"))
    }
    run["new"] = scored(run["new"], {5, 9})
    verdict = judge(run["base"], run["new"], Rules())
    row = verdict.rows[1]
    assert not verdict.failed
    accuracy = row.numbers.accuracy
    assert accuracy is not None
    assert (accuracy.better, accuracy.worse) == (0, 1)
    assert accuracy.difference.lo is not None
    assert accuracy.difference.hi is not None
    assert accuracy.difference.lo < 0 < accuracy.difference.hi
    assert accuracy.detectable is not None
    text = markdown(verdict)
    assert "no detectable difference" in text
    assert f"| {100 * accuracy.detectable:.1f} |" in text


def test_what_is_not_scored_is_not_compared():
    unscored = [
        changed(
            fake_run(seed),
            lambda old: replace(old, fixed_length=9, correct=None, extracted_by=None, answer=None),
        )
        for seed in (0, 1)
    ]
    verdict = judge(*unscored, Rules())
    assert not verdict.failed
    assert all(row.numbers.accuracy is None and row.p_holm is None for row in verdict.rows)
    json.dumps(as_json(verdict), allow_nan=False)
    markdown(verdict)


def test_samples_that_fail_now_are_a_problem():
    base = fake_run(0)
    broken = changed(
        fake_run(1), lambda old: failed(old.item_id, old.decoder) if old.item_id < "15" else old
    )
    verdict = judge(base, broken, Rules())
    count = sum(str(item) < "15" for item in range(100))
    assert all(row.problems == ("failing",) for row in verdict.rows)
    assert all(row.numbers.newly_failed == count for row in verdict.rows)
    assert all(row.numbers.items == 100 - count for row in verdict.rows)
    assert "failing in 2 of 2 rows" in verdict_line(verdict)
    assert not judge(broken, base, Rules()).failed


# Unlike runs.


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"protocol": "lm_eval"}, "protocol (paper, then lm_eval)"),
        ({"model_sha256": "00" * 32}, f"model_sha256 ({'ab' * 15}a…, then {'00' * 15}0…)"),
        ({"dtype": "bfloat16"}, "dtype (float32, then bfloat16)"),
        ({"device": "cuda"}, "device (cpu, then cuda)"),
        ({"batch_sizes": [8]}, "batch_sizes (the new run without 1 and with 8)"),
        ({"decoders": [DECODER]}, "decoders (the new run without ar)"),
        ({"max_new_tokens": {"gsm8k": 9}}, "max_new_tokens (gsm8k 256, then 9)"),
        ({"data_sha256": {"gsm8k": "0"}}, "data_sha256 (gsm8k "),
        ({"template_sha256": {"gsm8k": "0"}}, "template_sha256 (gsm8k "),
        ({"fixed_length": None}, "fixed_length (absent, then null)"),
    ],
)
def test_unlike_configurations_are_refused(config: dict[str, Any], words: str):
    base, new = fake_run(0), with_config(fake_run(1), **config)
    (name,) = config
    with pytest.raises(ValueError, match="the runs differ") as refusal:
        judge(base, new, Rules())
    assert words in str(refusal.value)
    assert str(refusal.value).endswith(f"--allow-different {name}")
    verdict = judge(base, new, Rules(allow_different=(name,)))
    assert [each.name for each in verdict.allowed] == [name]
    assert f"allowed to differ: {name}, " in markdown(verdict)


def test_one_model_under_two_names():
    """As of two checkouts: the hash says that it is the same."""
    new = with_config(changed(fake_run(1), lambda old: replace(old, model="b/m")), model="b/m")
    with pytest.raises(ValueError, match=r"differ in model \(nano, then b/m\): "):
        judge(fake_run(0), new, Rules())
    verdict = judge(fake_run(0), new, Rules(allow_different=("model",)))
    assert len(verdict.rows) == 2
    assert verdict.ids_promised


def test_the_first_differences_are_named_and_all_can_be_allowed():
    base = fake_run(0)
    new = with_config(fake_run(1), dtype="float16", device="cuda", limit=5, seed=3)
    new.manifest["hardware"] = {"cpu": "another"}
    with pytest.raises(ValueError, match="and 1 more") as refusal:
        judge(base, new, Rules(allow_different=("seed",)))
    names = str(refusal.value).rpartition(" ")[2].split(",")
    assert set(names) == {"seed", "dtype", "device", "limit", "hardware"}
    assert len(judge(base, new, Rules(allow_different=tuple(names))).allowed) == 5
    with pytest.raises(ValueError, match=r"known are model, .*hardware.*, items"):
        judge(base, new, Rules(allow_different=("dtyp",)))


def test_hardware_and_who_did_the_work_count_and_software_does_not():
    base, new = fake_run(0), fake_run(1)
    new.manifest["hardware"] |= {"memory_bytes": 5}
    packages = {"torch": "2.14.0", "ray": None, "peft": None}
    new.manifest["software"] = {"git_commit": "7654321+", "packages": packages}
    base.manifest["software"]["packages"]["ray"] = "2.50.0"
    verdict = judge(base, new, Rules())
    assert verdict.software == {
        "git_commit": ("1234567", "7654321+"),
        "torch": ("2.13.0", "2.14.0"),
        "ray": ("2.50.0", "–"),
    }
    new.manifest["hardware"] |= {"gpu": "a GPU"}
    with pytest.raises(ValueError, match=r"hardware \(gpu absent, then a GPU\)"):
        judge(base, new, Rules())
    new.manifest["hardware"] = base.manifest["hardware"]
    new.manifest["invocations"] = [{"engine": "ray", "workers": 2, "threads": 2}]
    with pytest.raises(ValueError, match=r"engine .*workers"):
        judge(base, new, Rules())


def test_item_sets_that_differ_are_refused_or_cut_to_what_is_shared():
    base = fake_run(0)
    new = changed(fake_run(1), lambda old: old if int(old.item_id) >= 30 else None)
    extra = [record(f"x{number}", name) for name in (BASELINE, DECODER) for number in range(5)]
    new = replace(new, records=[*new.records, *extra])
    with pytest.raises(ValueError, match=r"items .*100, then 75, 70 of them in both"):
        judge(base, new, Rules())
    verdict = judge(base, new, Rules(allow_different=("items",)))
    assert [row.numbers.items for row in verdict.rows] == [70, 70]
    assert "100, then 75, 70 of them in both" in markdown(verdict)
    nothing = replace(new, records=extra)
    with pytest.raises(ValueError, match=r"no item .* in common"):
        judge(base, nothing, Rules(allow_different=("items",)))


def test_rows_of_one_run_alone_are_named():
    base, new = fake_run(0), with_config(fake_run(1), decoders=[BASELINE, "entropy"])
    new = changed(
        new, lambda old: replace(old, decoder="entropy") if old.decoder == DECODER else old
    )
    verdict = judge(base, new, Rules(allow_different=("decoders",)))
    assert [row.numbers.key.decoder for row in verdict.rows] == [BASELINE]
    assert [key.decoder for key in verdict.only_in_base] == [DECODER]
    assert [key.decoder for key in verdict.only_in_new] == ["entropy"]
    # A run that was cut short is not one of fewer decoders.
    short = changed(fake_run(1), lambda old: old if old.decoder == BASELINE else None)
    with pytest.raises(ValueError, match=r"items .*100, then 0"):
        judge(base, short, Rules())


# What is written.


def test_markdown_begins_with_the_verdict_and_folds_the_rest():
    base, new = fake_run(0, moods=STILL), fake_run(1, moods=STILL, slower={DECODER: 0.3})
    verdict = judge(base, new, Rules())
    text = markdown(verdict)
    assert text.startswith("**regression: slower in 1 of 2 rows**\n\n")
    short, _, rest = text.partition("<details>")
    assert len(short.splitlines()) < 12
    assert DECODER in short
    assert "| ar |" not in short
    assert "| ar |" in rest
    assert rest.rstrip().endswith("</details>")
    assert "git_commit: 1234567, then 1234567" in rest
    assert "a commit with +" not in rest


def test_what_other_programs_disturbed_is_told():
    def loaded(load: float) -> Callable[[SampleRecord], SampleRecord]:
        return lambda old: (
            replace(old, machine={"other_load": load if old.decoder == DECODER else 0.0})
            if old.item_id != "0"
            else old
        )

    quiet = judge(fake_run(0), changed(fake_run(1), loaded(0.1)), Rules())
    assert "other programs" not in verdict_line(quiet)
    base, new = fake_run(0), changed(fake_run(1), loaded(0.5))
    verdict = judge(base, new, Rules())
    known = sum(each.item_id != "0" for each in new.records)
    noisy = sum(each.item_id != "0" and each.decoder == DECODER for each in new.records)
    assert 0 < noisy < known < len(new.records)
    assert verdict_line(verdict).endswith(
        f"; other programs disturbed 0 of 0 samples of the base run and {noisy} of {known} of the"
        " new one"
    )
    assert as_json(verdict)["noisy_samples"] == {
        "base": {"noisy": 0, "known": 0},
        "new": {"noisy": noisy, "known": known},
    }


def test_decoders_that_differ_at_their_ends_are_told_apart():
    specs = [f"greedy-confidence(tau=0.9,rule={rule},block=4)" for rule in ("per-token", "x")]
    runs = [with_config(fake_run(0), decoders=[BASELINE, spec]) for spec in specs]
    with pytest.raises(ValueError, match=r"without .*rule=per-token,block=4\) and with .*rule=x,"):
        judge(*runs, Rules())


def test_json_holds_every_number():
    verdict = judge(fake_run(0), fake_run(1), Rules(tolerance=0.1))
    data = json.loads(json.dumps(as_json(verdict), allow_nan=False))
    assert (data["verdict"], data["tolerance"]) == ("ok", 0.1)
    row, numbers = data["rows"][1], verdict.rows[1].numbers
    assert numbers.speed is not None
    assert row["speed"] == numbers.speed._asdict()
    assert row["decoder"] == DECODER
    assert row["accuracy"]["difference"]["value"] == 0
    assert row["changed_ids"] is None
    assert 0.5 < row["least_found"] < 0.9
