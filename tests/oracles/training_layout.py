"""The training layout by definition, slot by slot, with Python loops.

Knows nothing of start, limit and group: a slot is a clean token or a place in a block, and who
sees whom, and what is predicted, is said in those terms (DESIGN.md, section 6).
"""

from collections.abc import Sequence
from typing import NamedTuple

NO_LABEL = -100


class Source(NamedTuple):
    """A sample and where its blocks start."""

    ids: Sequence[int]
    starts: Sequence[int]


class Slot(NamedTuple):
    """block: None for a clean token, else the place where its block starts."""

    sample: int
    token: int
    position: int
    label: int
    block: int | None
    place: int


def slots_of(
    samples: Sequence[Source], block_size: int, mask: int, ends: Sequence[int], shift: bool
) -> list[Slot]:
    """All slots of a row that holds these samples one after the other."""
    slots = []
    for number, (ids, starts) in enumerate(samples):
        for position, token in enumerate(ids):
            slots.append(Slot(number, token, position, NO_LABEL, None, -1))
        for start in starts:
            ended = False
            for place in range(block_size):
                token = ids[start] if place == 0 else mask
                target = start + place + (1 if shift else 0)
                label = NO_LABEL
                if target < len(ids) and not ended:
                    label = ids[target]
                    ended = label in ends
                if place == 0 and not shift:
                    label = NO_LABEL
                slots.append(Slot(number, token, start + place, label, start, place))
    return slots


def sees(query: Slot, key: Slot, causal_attn: bool) -> bool:
    if query.sample != key.sample:
        return False
    if query.block is None:
        return key.block is None and key.position <= query.position
    if key.block is None:
        return key.position < query.block
    return key.block == query.block and (key.place <= query.place or not causal_attn)


def visible(slots: Sequence[Slot], causal_attn: bool) -> list[list[bool]]:
    return [[sees(query, key, causal_attn) for key in slots] for query in slots]


def candidates(ids: Sequence[int], header: Sequence[int], end: int) -> list[int]:
    """Places from the last token of each assistant header to the last token before the end."""
    found: list[int] = []
    for first in range(len(ids) - len(header) + 1):
        if list(ids[first : first + len(header)]) == list(header):
            place = first + len(header) - 1
            while ids[place + 1] != end:
                found.append(place)
                place += 1
            found.append(place)
    return found
