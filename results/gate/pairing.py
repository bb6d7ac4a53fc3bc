"""The records of one run as rows of samples, to be put beside those of another run."""

from dataclasses import dataclass
from typing import NamedTuple

from results.measured import measured
from results.records import SampleRecord
from results.store import StoredRun


class RowKey(NamedTuple):
    """What must be equal for samples of two runs to be compared; not the model's name, which may
    be a path."""

    task: str
    source: str
    decoder: str
    batch_size: int

    def __str__(self) -> str:
        return f"{self.task} ({self.source}), {self.decoder}, batch size {self.batch_size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One item under one decoder: the ids of each repeat, and what `measured` makes of them all.
    correct: None where nothing is scored."""

    answers: dict[int, list[int]]
    correct: bool | None
    seconds: float

    @property
    def tokens(self) -> int:
        return len(self.answers[min(self.answers)])


Samples = dict[str, Sample | None]
"""By item, in the order in which they were measured; None where one of the repeats failed."""

Rows = dict[RowKey, Samples]


def rows_of(run: StoredRun) -> Rows:
    """Every row of a run, in the order of its tasks and decoders."""
    groups: dict[RowKey, dict[str, list[SampleRecord]]] = {}
    for record in run.records:
        key = RowKey(record.task, record.source, record.decoder, record.batch_size)
        groups.setdefault(key, {}).setdefault(record.item_id, []).append(record)
    config = run.manifest["config"]
    places = {
        name: [*config.get(field, ())]
        for name, field in (("task", "tasks"), ("decoder", "decoders"))
    }

    def place(key: RowKey) -> tuple[int, int, RowKey]:
        """Names that the configuration does not have come last."""
        task, decoder = (
            known.index(name) if name in known else len(known)
            for name, known in ((key.task, places["task"]), (key.decoder, places["decoder"]))
        )
        return task, decoder, key

    return {
        key: {item: _sample(records) for item, records in groups[key].items()}
        for key in sorted(groups, key=place)
    }


def _sample(records: list[SampleRecord]) -> Sample | None:
    item = measured(records)
    if item is None:
        return None
    answers = {record.repeat: record.ids for record in records if record.ids is not None}
    return Sample(answers=answers, correct=item.correct, seconds=item.compute_s)
