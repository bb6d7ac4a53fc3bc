"""What a reader of a run's tables has to be told about its times, a line each."""

from collections.abc import Sequence

from results.measured import NOISY_LOAD, noisy_of
from results.records import SampleKey, SampleRecord


def reliability_warnings(records: Sequence[SampleRecord]) -> list[str]:
    """Noisy samples, answers that changed from one repeat to the next, and answers that nothing
    ended."""
    found = (_fixed_length(records), _noise(records), _unstable(records))
    return [line for line in found if line is not None]


def _fixed_length(records: Sequence[SampleRecord]) -> str | None:
    length = next((each.fixed_length for each in records if each.fixed_length is not None), None)
    if length is None:
        return None
    return (
        f"answers are {length} ids long whatever would end them (--fixed-length): this is about"
        " speed alone, and nothing is scored"
    )


def _noise(records: Sequence[SampleRecord]) -> str | None:
    noisy, known = noisy_of(records)
    if not noisy:
        return None
    return (
        f"other programs took more than {NOISY_LOAD:.0%} of the cores during {noisy} of"
        f" {known} samples (the column noisy of tables/summary); their times suffer: --resume"
        " --repeat-noisy measures them again"
    )


def _unstable(records: Sequence[SampleRecord]) -> str | None:
    answers: dict[SampleKey, set[tuple[int, ...] | None]] = {}
    for record in records:
        ids = None if record.ids is None else tuple(record.ids)
        answers.setdefault(record.key._replace(repeat=0), set()).add(ids)
    # An item of which a repeat failed has failed, and counts as nothing else.
    changed = [key for key, found in answers.items() if len(found) > 1 and None not in found]
    if not changed:
        return None
    task, item_id, decoder, *_ = changed[0]
    return (
        f"{len(changed)} answers changed from one repeat to another, the first being {item_id} of"
        f" {task} under {decoder}: near ties of logits, or a decoder that is not deterministic"
    )
