"""From records to one row per (task, decoder, batch size): the columns of every table and plot.

Rows are computed from the records each time; nothing is stored half-summarised. A number that is
undefined is None, never 0 or NaN.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import chain
from typing import Any, NamedTuple, get_args, get_type_hints

from results.bootstrap import Estimate, Timed, paired_bootstrap_ratio
from results.comparison import Tested, compare_all
from results.costs import costs
from results.divergence import Divergence
from results.measured import Measured, measured, noisy_of
from results.records import SampleRecord
from results.statistics import wilson

BASELINE = "ar"
"""The decoder that speedups and differences are against."""


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
    # What follows is None in summaries written before there were these columns.
    time_to_first_token_s: float | None = None
    """Median over items."""
    latency_p50_s: float | None = None
    latency_p90_s: float | None = None
    latency_p99_s: float | None = None
    """Quantiles over items of the time from admission to the last id."""
    decode_forward_s: float | None = None
    """Median over items of the time that a decode forward took, a row's share of it."""
    accepted_length: float | None = None
    """Mean tokens kept by a decode forward that kept any."""
    peak_memory_bytes: float | None = None
    """Most memory that tensors took on the GPU, the model included."""
    joules_per_token: float | None = None
    """Energy over generated ids, of the GPU or else the processor packages."""
    noisy_share: float | None = None
    """Share of samples that other programs disturbed, of those whose load was read."""
    unstable: int | None = None
    """Items whose ids differ from one repeat to another; None without repeats."""
    near_ties: int | None = None
    real_divergences: int | None = None
    """Items whose ids differ from the reference's: where the two largest logits are within
    rounding of each other, and others. None also without a reference."""
    fixed_length: int | None = None
    """The length of all answers where nothing but it ended them; then nothing is scored."""
    baseline_model_speedup: float | None = None
    baseline_model_speedup_lo: float | None = None
    baseline_model_speedup_hi: float | None = None
    """Ratio of total tokens/second to those of the baseline model, and its interval."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SummaryRow":
        """The row of a JSON object; ValueError for an unknown, ill-typed or missing value."""
        kinds = get_type_hints(cls)
        if unknown := sorted(data.keys() - kinds.keys()):
            raise ValueError(f"a row has unknown {', '.join(unknown)}")
        for name, value in data.items():
            if not _is_of(value, get_args(kinds[name]) or (kinds[name],)):
                raise ValueError(f"{name} of a row is {value!r:.80}")
        required = {each.name for each in fields(cls) if each.default is MISSING}
        if missing := sorted(required - data.keys()):
            raise ValueError(f"a row lacks {', '.join(missing)}")
        return cls(**data)


def _is_of(value: object, kinds: Sequence[type]) -> bool:
    if isinstance(value, bool) or (isinstance(value, int | float) and not abs(value) < 1e300):
        return False
    # JSON writes some floats as whole numbers.
    return isinstance(value, tuple(kinds)) or (isinstance(value, int) and float in kinds)


class _Setting(NamedTuple):
    """What must be equal for two decoders to be comparable."""

    task: str
    source: str
    model: str
    batch_size: int


_Samples = dict[str, Measured | None]
"""All samples of one decoder in one setting, by item; None where the sample failed."""


def summarise(
    records: Iterable[SampleRecord],
    references: Mapping[str, str],
    baseline: str,
    divergences: Sequence[Divergence] | None = None,
    twin: str | None = None,
) -> list[SummaryRow]:
    """Rows in the order of the tasks' first appearance, then source, model and batch size; within
    each the baseline first, then decoders as `references` lists them, then all others.

    `references` maps a decoder to the decoder whose ids it is compared with; `baseline` is the
    decoder speedups are relative to. Both count only where they ran in the same setting.
    `divergences`: of all items that disagree with their reference, or None if nobody looked.
    `twin`: the decoder that another model, the autoregressive twin, answered under.
    """
    grouped = _by_setting(records)
    settings = {
        setting: {
            decoder: {item: measured(repeats) for item, repeats in items.items()}
            for decoder, items in decoders.items()
        }
        for setting, decoders in grouped.items()
    }
    tasks = list(dict.fromkeys(setting.task for setting in settings))
    first = list(dict.fromkeys([baseline, *references]))
    tested = {
        setting: _against_baseline(decoders, baseline) for setting, decoders in settings.items()
    }
    return [
        SummaryRow(
            **setting._asdict(),
            **_answers(settings[setting][decoder]),
            **_speeds(settings[setting], decoder, baseline, twin),
            **_against_reference(setting, decoder, settings, references, divergences),
            **_tested(tested[setting].get(decoder)),
            **costs(_done(settings[setting][decoder]))._asdict(),
            **_reliability(grouped[setting][decoder], _done(settings[setting][decoder])),
            decoder=decoder,
        )
        for setting in sorted(settings, key=lambda each: (tasks.index(each.task), each))
        for decoder in dict.fromkeys([*first, *settings[setting]])
        if decoder in settings[setting]
    ]


def _by_setting(
    records: Iterable[SampleRecord],
) -> dict[_Setting, dict[str, dict[str, list[SampleRecord]]]]:
    """Setting -> decoder -> item -> the records of its repeats."""
    settings: dict[_Setting, dict[str, dict[str, list[SampleRecord]]]] = {}
    for record in records:
        setting = _Setting(record.task, record.source, record.model, record.batch_size)
        items = settings.setdefault(setting, {}).setdefault(record.decoder, {})
        repeats = items.setdefault(record.item_id, [])
        if any(record.repeat == other.repeat for other in repeats):
            raise ValueError(f"two records of {record.key}: summarise one run at a time")
        repeats.append(record)
    return settings


def _answers(samples: _Samples) -> dict[str, Any]:
    """The columns about what was answered."""
    done = _done(samples)
    scored = [item for item in done if item.correct is not None]
    correct = sum(item.correct is True for item in scored)
    interval = wilson(correct, len(scored)) if scored else None
    return {
        "items": len(samples),
        "failed": len(samples) - len(done),
        "accuracy": _ratio(correct, len(scored)),
        "accuracy_lo": interval.lo if interval else None,
        "accuracy_hi": interval.hi if interval else None,
        "mean_length": _ratio(sum(len(item.ids) for item in done), len(done)),
        "cap_share": _ratio(sum(item.capped for item in done), len(done)),
        "no_answer_share": _ratio(sum(item.unanswered for item in scored), len(scored)),
        "guessed_share": _ratio(sum(item.guessed for item in scored), len(scored)),
        "fixed_length": next((item.fixed_length for item in done), None),
    }


def _speeds(
    decoders: Mapping[str, _Samples], decoder: str, baseline: str, twin: str | None
) -> dict[str, Any]:
    """The columns about tokens for time and for forwards."""
    done = _done(decoders[decoder])
    tokens = sum(len(item.ids) for item in done)
    speedup = _speedup(decoders[decoder], decoders.get(baseline, {}))
    over_twin = _speedup(decoders[decoder], decoders.get(twin or "", {}))
    return {
        "tokens_per_s": _ratio(tokens, math.fsum(item.compute_s for item in done)),
        "speedup": speedup.value if speedup else None,
        "speedup_lo": speedup.lo if speedup else None,
        "speedup_hi": speedup.hi if speedup else None,
        "baseline_model_speedup": over_twin.value if over_twin else None,
        "baseline_model_speedup_lo": over_twin.lo if over_twin else None,
        "baseline_model_speedup_hi": over_twin.hi if over_twin else None,
        "tokens_per_forward": _ratio(tokens, sum(item.forwards for item in done)),
        "query_slots_per_token": _ratio(sum(item.generation_slots for item in done), tokens),
    }


def _tested(tested: Tested | None) -> dict[str, Any]:
    """The columns about correctness beside the baseline's."""
    if tested is None:
        return {}
    comparison = tested.comparison
    return {
        "paired_items": comparison.items,
        "difference": comparison.difference.value,
        "difference_lo": comparison.difference.lo,
        "difference_hi": comparison.difference.hi,
        "p_value": comparison.p_value,
        "p_holm": tested.p_holm,
        "detectable": comparison.detectable,
    }


def _against_reference(
    setting: _Setting,
    decoder: str,
    settings: Mapping[_Setting, Mapping[str, _Samples]],
    references: Mapping[str, str],
    divergences: Sequence[Divergence] | None,
) -> dict[str, Any]:
    """The columns about ids beside the reference's."""
    decoders = settings[setting]
    reference = decoders.get(references.get(decoder, ""), {})
    agreement = _agreement(decoders[decoder], reference)
    if agreement is None or divergences is None:
        return {"agreement": agreement}
    place = (setting.task, setting.model, decoder, setting.batch_size)
    ties = [
        found.near_tie
        for found in divergences
        if place == (found.task, found.model, found.decoder, found.batch_size)
    ]
    return {
        "agreement": agreement,
        "near_ties": sum(ties),
        "real_divergences": len(ties) - sum(ties),
    }


def _reliability(
    items: Mapping[str, Sequence[SampleRecord]], done: Sequence[Measured]
) -> dict[str, Any]:
    """The columns about how far the measurement can be trusted."""
    repeated = any(len(repeats) > 1 for repeats in items.values())
    return {
        "noisy_share": _ratio(*noisy_of(chain.from_iterable(items.values()))),
        "unstable": sum(item.unstable for item in done) if repeated else None,
    }


def _done(samples: _Samples) -> list[Measured]:
    return [sample for sample in samples.values() if sample is not None]


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
                if ours.correct is not None and theirs.correct is not None
            ]
            for decoder, samples in decoders.items()
            if decoder != baseline
        }
    )


def _agreement(samples: _Samples, reference: _Samples) -> float | None:
    pairs = _pairs(samples, reference)
    return _ratio(sum(ours.ids == theirs.ids for ours, theirs in pairs), len(pairs))


def _pairs(samples: _Samples, others: _Samples) -> list[tuple[Measured, Measured]]:
    """Items both completed, in an order that does not depend on that of the records."""
    return [
        (ours, theirs)
        for item in sorted(samples.keys() & others.keys())
        if (ours := samples[item]) is not None and (theirs := others[item]) is not None
    ]
