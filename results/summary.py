"""From records to one row per (task, decoder, batch size): the columns of every table and plot.

Rows are computed from the records each time; nothing is stored half-summarised. A number that is
undefined is None, never 0 or NaN.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from results.bootstrap import Estimate, Timed, paired_bootstrap_ratio
from results.comparison import Tested, compare_all
from results.records import SampleRecord
from results.statistics import wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """One decoder on one task. Shares and accuracies are within 0-1.

    A sample that failed counts in `items` and `failed` and in no other column.
    """

    task: str
    source: str
    model: str
    decoder: str
    """Full decoder spec."""
    batch_size: int
    items: int
    """All samples, failed ones included."""
    accuracy: float | None
    """Correct samples over samples that did not fail."""
    accuracy_lo: float | None
    accuracy_hi: float | None
    """95 % Wilson interval."""
    tokens_per_s: float | None
    """Generated ids over the seconds of compute spent on them."""
    speedup: float | None
    """Ratio of total tokens/second to the baseline's, on the items both completed."""
    speedup_lo: float | None
    speedup_hi: float | None
    """95 % bootstrap interval over items."""
    tokens_per_forward: float | None
    """Generated ids over forwards, a prefill counted as one."""
    query_slots_per_token: float | None
    """Query slots fed, without those of the prompt, over generated ids."""
    mean_length: float | None
    """Mean number of generated ids."""
    cap_share: float | None
    """Share of samples that hit the budget."""
    no_answer_share: float | None
    """Share of samples in which no answer was found."""
    failed: int
    """Samples with an error."""
    agreement: float | None
    """Share of items whose ids equal the reference decoder's, of those both completed. None when
    the decoder has no reference in this run."""
    guessed_share: float | None
    """Share of samples whose answer is a fallback: guessed from the text, not declared in it."""
    # What follows compares correctness with the baseline's. It is None for the baseline itself,
    # without a baseline, and in summaries written before there were these columns.
    paired_items: int | None = None
    """Items both completed."""
    difference: float | None = None
    """Accuracy minus the baseline's, on those items."""
    difference_lo: float | None = None
    difference_hi: float | None = None
    """95 % bootstrap interval over items."""
    p_value: float | None = None
    """McNemar's exact test of that difference."""
    p_holm: float | None = None
    """The same, adjusted for the number of decoders in this setting."""
    detectable: float | None = None
    """Smallest difference that test finds four times in five at 5 %, with as many items differing
    as here; None also when the items are too few to ever find one."""


class _Setting(NamedTuple):
    """What must be equal for two decoders to be comparable."""

    task: str
    source: str
    model: str
    batch_size: int


class _Done(NamedTuple):
    """A sample that did not fail, with the types that this implies."""

    correct: bool
    ids: list[int]
    compute_s: float
    forwards: int
    generation_slots: int
    capped: bool
    unanswered: bool
    guessed: bool


_Samples = dict[str, _Done | None]
"""All samples of one decoder in one setting, by item; None where the sample failed."""


def summarise(
    records: Iterable[SampleRecord], references: Mapping[str, str], baseline: str
) -> list[SummaryRow]:
    """Rows in the order of the tasks' first appearance, then source, model and batch size; within
    each the baseline first, then decoders as `references` lists them, then all others.

    `references` maps a decoder to the decoder whose ids it is compared with; `baseline` is the
    decoder speedups are relative to. Both count only where they ran in the same setting.
    """
    settings: dict[_Setting, dict[str, _Samples]] = {}
    for record in records:
        setting = _Setting(record.task, record.source, record.model, record.batch_size)
        samples = settings.setdefault(setting, {}).setdefault(record.decoder, {})
        if record.item_id in samples:
            raise ValueError(f"two records of {record.key}: summarise one run at a time")
        samples[record.item_id] = None if record.error is not None else _done(record)
    tasks = list(dict.fromkeys(setting.task for setting in settings))
    first = list(dict.fromkeys([baseline, *references]))
    tested = {
        setting: _against_baseline(decoders, baseline) for setting, decoders in settings.items()
    }
    return [
        _row(
            setting,
            decoder,
            settings[setting],
            references.get(decoder),
            baseline,
            tested[setting].get(decoder),
        )
        for setting in sorted(settings, key=lambda each: (tasks.index(each.task), each))
        for decoder in dict.fromkeys([*first, *settings[setting]])
        if decoder in settings[setting]
    ]


def _done(record: SampleRecord) -> _Done:
    assert record.correct is not None, "a record without error has all measurements"
    assert record.ids is not None, "a record without error has all measurements"
    assert record.compute_s is not None, "a record without error has all measurements"
    assert record.forwards is not None, "a record without error has all measurements"
    assert record.query_slots is not None, "a record without error has all measurements"
    assert record.prompt_tokens is not None, "a record without error has all measurements"
    return _Done(
        correct=record.correct,
        ids=record.ids,
        compute_s=record.compute_s,
        # In however many chunks a prompt was fed, that was its one prefill.
        forwards=min(record.forwards["prefill"], 1) + record.forwards["decode"],
        generation_slots=record.query_slots - record.prompt_tokens,
        capped=record.finish == "length",
        unanswered=record.extracted_by == "none",
        guessed=record.extracted_by == "fallback",
    )


def _row(
    setting: _Setting,
    decoder: str,
    decoders: Mapping[str, _Samples],
    reference: str | None,
    baseline: str,
    tested: Tested | None,
) -> SummaryRow:
    samples = decoders[decoder]
    done = [sample for sample in samples.values() if sample is not None]
    tokens = sum(len(sample.ids) for sample in done)
    correct = sum(sample.correct for sample in done)
    interval = wilson(correct, len(done)) if done else None
    speedup = _speedup(samples, decoders.get(baseline, {}))
    comparison = tested.comparison if tested else None
    return SummaryRow(
        task=setting.task,
        source=setting.source,
        model=setting.model,
        decoder=decoder,
        batch_size=setting.batch_size,
        items=len(samples),
        accuracy=_ratio(correct, len(done)),
        accuracy_lo=interval.lo if interval else None,
        accuracy_hi=interval.hi if interval else None,
        tokens_per_s=_ratio(tokens, math.fsum(sample.compute_s for sample in done)),
        speedup=speedup.value if speedup else None,
        speedup_lo=speedup.lo if speedup else None,
        speedup_hi=speedup.hi if speedup else None,
        tokens_per_forward=_ratio(tokens, sum(sample.forwards for sample in done)),
        query_slots_per_token=_ratio(sum(sample.generation_slots for sample in done), tokens),
        mean_length=_ratio(tokens, len(done)),
        cap_share=_ratio(sum(sample.capped for sample in done), len(done)),
        no_answer_share=_ratio(sum(sample.unanswered for sample in done), len(done)),
        failed=len(samples) - len(done),
        agreement=_agreement(samples, decoders.get(reference, {}) if reference else {}),
        guessed_share=_ratio(sum(sample.guessed for sample in done), len(done)),
        paired_items=comparison.items if comparison else None,
        difference=comparison.difference.value if comparison else None,
        difference_lo=comparison.difference.lo if comparison else None,
        difference_hi=comparison.difference.hi if comparison else None,
        p_value=comparison.p_value if comparison else None,
        p_holm=tested.p_holm if tested else None,
        detectable=comparison.detectable if comparison else None,
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _speedup(samples: _Samples, baseline: _Samples) -> Estimate | None:
    pairs = _pairs(samples, baseline)
    return paired_bootstrap_ratio(
        [Timed(len(ours.ids), ours.compute_s) for ours, _ in pairs],
        [Timed(len(theirs.ids), theirs.compute_s) for _, theirs in pairs],
    )


def _against_baseline(decoders: Mapping[str, _Samples], baseline: str) -> dict[str, Tested]:
    """A decoder compared with itself would be one more test without a question."""
    return compare_all(
        {
            decoder: [
                (ours.correct, theirs.correct)
                for ours, theirs in _pairs(samples, decoders.get(baseline, {}))
            ]
            for decoder, samples in decoders.items()
            if decoder != baseline
        }
    )


def _agreement(samples: _Samples, reference: _Samples) -> float | None:
    pairs = _pairs(samples, reference)
    return _ratio(sum(ours.ids == theirs.ids for ours, theirs in pairs), len(pairs))


def _pairs(samples: _Samples, others: _Samples) -> list[tuple[_Done, _Done]]:
    """Items both completed, in an order that does not depend on that of the records."""
    return [
        (ours, theirs)
        for item in sorted(samples.keys() & others.keys())
        if (ours := samples[item]) is not None and (theirs := others[item]) is not None
    ]
