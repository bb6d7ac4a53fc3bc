"""Masks by definition, with Python loops over single slots.

`rule` spells out the one rule of `sdlm.layout` from its three integers. The others know nothing of
those integers: they say who sees whom in terms of kept tokens and windows (DESIGN.md, section 2).
"""

from collections.abc import Sequence
from typing import NamedTuple

Mask = list[list[bool]]


def rule(
    start: Sequence[int],
    limit: Sequence[int],
    group: Sequence[int],
    offset: int,
    num_keys: int,
    causal_attn: bool,
) -> Mask:
    """One row's mask [slots][keys] from its layout."""
    mask = [[False] * num_keys for _ in limit]
    for slot in range(len(limit)):
        for key in range(num_keys):
            in_prefix = start[slot] <= key < limit[slot]
            fed_now = offset <= key < offset + len(limit)
            together = fed_now and group[slot] > 0 and group[slot] == group[key - offset]
            if together and causal_attn:
                together = key - offset <= slot
            mask[slot][key] = in_prefix or together
    return mask


class Slot(NamedTuple):
    """A token fed or cached: its position, and its window (0: kept, so processed causally)."""

    position: int
    window: int = 0


def sees(query: Slot, key: Slot, causal_attn: bool) -> bool:
    """Whether `query` may attend to `key`, both of one sequence.

    A kept token sees the kept tokens up to itself. A window that begins with the copy of token
    n-1 sees kept tokens 0...n-2 and itself; `query.position` minus its place in the window is n-1,
    which the caller has made sure of by numbering windows by n.
    """
    if query.window == 0:
        return key.window == 0 and key.position <= query.position
    if key.window == 0:
        return key.position < query.window - 1
    same = key.window == query.window
    return same and (key.position <= query.position or not causal_attn)


def mask_of(queries: Sequence[Slot], keys: Sequence[Slot], causal_attn: bool) -> Mask:
    return [[sees(query, key, causal_attn) for key in keys] for query in queries]


def kept(first: int, stop: int) -> list[Slot]:
    return [Slot(position) for position in range(first, stop)]


def window(n: int, block: int) -> list[Slot]:
    """The window after n kept tokens: positions n-1 ... n+block-2."""
    return [Slot(position, n) for position in range(n - 1, n - 1 + block)]
