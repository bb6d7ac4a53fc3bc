# scipy has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""How much faster is one run than another, when the machine had its moods in both?

Within a run decoders take turns, so a slow minute hits them all and cancels. Two runs do not share
their minutes: items measured one after the other are slow together, and an interval that takes
them for independent is far too narrow (docs/regression-gate.md has the shares).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from results.bootstrap import Estimate, Timed
from results.statistics import LEVEL, POWER

BLOCKS = 8
"""Stretches of time that a run is divided into. Fewer hold longer bursts together, more know the
spread better; 8 was the best of 5 to 20 in simulation."""

Floats = NDArray[np.float64]


def ratio_over_time(
    above: Sequence[Sequence[Timed]],
    below: Sequence[Sequence[Timed]],
    orders: Sequence[Sequence[int]],
) -> Estimate | None:
    """Product of the total tokens/second of `above` over that of `below`; each lists what the same
    items, in the same order, took in one measurement.

    orders: for each run the items' numbers in the order in which they were measured.

    The interval is that of batch means (Schmeiser 1982, Operations Research 30: 556-568; Law 2015,
    Simulation Modeling and Analysis, 9.5.3) of the log ratio, linearised: each item's influence on
    it is summed over `BLOCKS` stretches of time, whose sums are nearly independent, and Student's
    t allows for how few they are. Runs in different orders have different stretches; the wider
    interval counts.

    None when the ratio is undefined or 0: a measurement without time or without tokens. One item
    says nothing about the spread: no interval then.
    """
    sides = [(_columns(side), 1) for side in above] + [(_columns(side), -1) for side in below]
    if any(not columns.size or not columns.sum(axis=1).all() for columns, _ in sides):
        return None
    log = 0.0
    influence = np.zeros(sides[0][0].shape[1])
    for columns, sign in sides:
        tokens, seconds = columns.sum(axis=1)
        log += sign * math.log(tokens / seconds)
        influence += sign * (columns[0] / tokens - columns[1] / seconds)
    items = len(influence)
    if items < 2:
        return Estimate(math.exp(log), None, None)
    blocks = min(BLOCKS, items)
    half = _quantile(blocks) * max(_error(influence[[*order]], blocks) for order in orders)
    return Estimate(math.exp(log), math.exp(log - half), math.exp(log + half))


def least_found(ratio: Estimate, floor: float, items: int) -> float | None:
    """The largest ratio whose interval, as wide as this one, would lie below `floor` four times in
    five; anything nearer to 1 is likely to be missed. None without an interval."""
    if ratio.hi is None:
        return None
    blocks = min(BLOCKS, items)
    half = math.log(ratio.hi / ratio.value)
    return floor * math.exp(
        -half * (1 + float(stats.t.ppf(POWER, blocks - 1)) / _quantile(blocks))
    )


def _columns(side: Sequence[Timed]) -> Floats:
    return np.asarray(side, dtype=np.float64).reshape(-1, 2).T


def _error(influence: Floats, blocks: int) -> float:
    """Standard error of the sum, which is 0, from the sums of the blocks."""
    sums = np.asarray([block.sum() for block in np.array_split(influence, blocks)])
    return math.sqrt(float(np.square(sums).sum()) * blocks / (blocks - 1))


def _quantile(blocks: int) -> float:
    return float(stats.t.ppf((1 + LEVEL) / 2, blocks - 1))
