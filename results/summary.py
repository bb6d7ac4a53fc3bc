"""From records to one row per (task, decoder, batch size): the columns of every table and plot.

Rows are computed from the records each time; nothing is stored half-summarised. A number that is
undefined is None, never 0 or NaN.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from results.bootstrap import Estimate, Timed, paired_bootstrap_ratio
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
    return [
        _row(setting, decoder, settings[setting], references.get(decoder), baseline)
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
) -> SummaryRow:
    samples = decoders[decoder]
    done = [sample for sample in samples.values() if sample is not None]
    tokens = sum(len(sample.ids) for sample in done)
    correct = sum(sample.correct for sample in done)
    interval = wilson(correct, len(done)) if done else None
    speedup = _speedup(samples, decoders.get(baseline, {}))
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
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _speedup(samples: _Samples, baseline: _Samples) -> Estimate | None:
    pairs = _pairs(samples, baseline)
    return paired_bootstrap_ratio(
        [Timed(len(ours.ids), ours.compute_s) for ours, _ in pairs],
        [Timed(len(theirs.ids), theirs.compute_s) for _, theirs in pairs],
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
