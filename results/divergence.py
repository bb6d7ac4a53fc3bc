"""Where answers part from those of the reference decoder, and whether rounding explains it.

Two greedy decoders that must agree can still differ where the two likeliest tokens are as good as
equal: another shape of the same computation rounds in another way, and the rest of the answer
follows from the first differing token. So what is looked at is that first token.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from results.measured import outcomes
from results.records import SampleRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """An item whose ids differ from the reference's. A row of `tables/divergences.csv`.

    position: the first differing place in the answer, from 0. token, reference_token: what stands
        there; None where that answer ends before it.
    margin: distance of the two largest logits of the reference there. bound: what rounding can
        make of it, in the run's number type; near_tie: whether the margin lies below.
    """

    task: str
    model: str
    decoder: str
    batch_size: int
    item_id: str
    reference: str
    position: int
    token: int | None
    reference_token: int | None
    margin: float
    bound: float
    near_tie: bool


class Disagreement(NamedTuple):
    """Two answers to an item that are not the same."""

    record: SampleRecord
    reference: SampleRecord
    position: int


def first_difference(ours: Sequence[int], theirs: Sequence[int]) -> int | None:
    """The first place where two answers differ; None where they don't."""
    for position, (our, their) in enumerate(zip(ours, theirs, strict=False)):
        if our != their:
            return position
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def disagreements(
    records: Iterable[SampleRecord], references: Mapping[str, str]
) -> list[Disagreement]:
    """Of items that did not fail. references: decoder -> the decoder it is compared with."""
    records = [record for record in outcomes(records) if record.ids is not None]
    by_key = {(record.model, record.key): record for record in records}
    found: list[Disagreement] = []
    for record in records:
        wanted = record.key._replace(decoder=references.get(record.decoder, ""))
        reference = by_key.get((record.model, wanted))
        if reference is None:
            continue
        assert record.ids is not None, "filtered above"
        assert reference.ids is not None, "filtered above"
        position = first_difference(record.ids, reference.ids)
        if position is not None:
            found.append(Disagreement(record, reference, position))
    return found


def divergence_of(found: Disagreement, margin: float, bound: float) -> Divergence:
    record, reference, position = found
    return Divergence(
        task=record.task,
        model=record.model,
        decoder=record.decoder,
        batch_size=record.batch_size,
        item_id=record.item_id,
        reference=reference.decoder,
        position=position,
        token=_at(record, position),
        reference_token=_at(reference, position),
        margin=margin,
        bound=bound,
        near_tie=margin < bound,
    )


def _at(record: SampleRecord, position: int) -> int | None:
    assert record.ids is not None, "only answers differ"
    return record.ids[position] if position < len(record.ids) else None
