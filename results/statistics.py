# scipy has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
"""Exact tests of accuracies, how small a difference they find, and scores of trade-offs.

Accuracies get Wilson intervals. Comparisons are paired, item by item, by McNemar's exact test.
Intervals that resample items are in `results.bootstrap`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from scipy import optimize, stats

LEVEL = 0.95
"""Of all intervals; tests are at 1 - LEVEL."""
POWER = 0.8
"""The chance with which a difference called detectable is found."""


class Interval(NamedTuple):
    lo: float
    hi: float


def wilson(successes: int, n: int) -> Interval:
    """Score interval of a share (Wilson 1927, JASA 22: 209-212): the shares that a score test at
    this level does not reject. Of no trials at all it is everything, 0 to 1.

    On average over the shares it covers what it says, for a single one a little more or less
    (Brown, Cai and DasGupta 2001, Statistical Science 16: 101-133).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials: expected 0 <= successes <= n")
    if n == 0:
        return Interval(0.0, 1.0)
    found = stats.binomtest(successes, n).proportion_ci(LEVEL, method="wilson")
    return Interval(float(found.low), float(found.high))


def mcnemar_exact(b: int, c: int) -> float:
    """Two-sided p-value that items only one side gets right fall evenly: `b` to it, `c` to the
    other (McNemar 1947, Psychometrika 12: 153-157; exact by the binomial distribution). Without
    such items there is nothing to tell apart: 1.

    Exact means never too small; with few such items it is too large, up to double
    (Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13: 91).
    """
    if b < 0 or c < 0:
        raise ValueError(f"discordant counts are {b} and {c}: expected 0 or more")
    return float(stats.binomtest(b, b + c).pvalue) if b + c else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order (Holm 1979, Scandinavian Journal of Statistics 6:
    65-70). Calling those at most α significant, the chance of one or more false calls is at most
    α, however the tests depend on each other - as decoders run on the same items do."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for tests_left, index in zip(range(len(order), 0, -1), order, strict=True):
        largest = max(largest, min(1.0, tests_left * p_values[index]))
        adjusted[index] = largest
    return adjusted


def minimum_detectable_difference(discordant: int, n: int) -> float | None:
    """The smallest difference of two accuracies on `n` items that McNemar's exact test would find
    with the chance `POWER`, when a share of `discordant`/n of all items differs in correctness.

    Computed from the test's exact power (Duffy 1984, Biometrics 40: 1005-1015), not by the normal
    approximation (Connor 1987, Biometrics 43: 207-211), which promises a little too much. Where
    even a one-sided share of that size would be missed, it is the one-sided share that is not.
    None when n items are too few for the exact test to ever be significant.

    Limits: the share is itself estimated from the items; and it describes a repetition of the
    experiment, so it says nothing more about a difference that was observed.
    """
    if not 0 <= discordant <= n:
        raise ValueError(f"{discordant} discordant of {n} items: expected 0 <= discordant <= n")
    needed = math.floor(1 - math.log2(1 - LEVEL)) + 1  # the least k with 2 * 2**-k < 1 - LEVEL
    if needed > n:
        return None
    # P(Binomial(n, δ) >= needed) = POWER, by the beta form of the binomial tail.
    one_sided = float(stats.beta.ppf(POWER, needed, n - needed + 1))
    share = discordant / n
    if share <= one_sided:
        return one_sided
    differing = np.arange(needed, n + 1)
    chance = stats.binom.pmf(differing, n, share)
    differing, chance = differing[chance > 1e-12], chance[chance > 1e-12]
    tail = (1 - LEVEL) / 2
    allowed = stats.binom.ppf(tail, differing, 0.5)
    allowed -= stats.binom.cdf(allowed, differing, 0.5) > tail

    def surplus(difference: float) -> float:
        worse = (1 - difference / share) / 2
        return float(chance @ stats.binom.cdf(allowed, differing, worse)) - POWER

    return cast("float", optimize.brentq(surplus, 0.0, share))


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of the points no other point beats: none is at least as large in both coordinates
    and larger in one. Ordered by the first coordinate."""
    order = sorted(range(len(points)), key=lambda index: points[index], reverse=True)
    front: list[int] = []
    for index in order:
        x, y = points[index]
        if not front or y > points[front[-1]][1] or (x, y) == points[front[-1]]:
            front.append(index)
    return front[::-1]


def trade_off_area(
    points: Sequence[tuple[float, float]], baseline_accuracy: float, *, max_speedup: float
) -> float | None:
    """Area under the (speedup, accuracy) staircase from speedup 1 to `max_speedup`, over that of
    a decoder as accurate as the baseline at every speed. None for a baseline that gets nothing
    right.

    The staircase at s is the best accuracy of the points at least s times as fast as the baseline,
    0 where there is none: the hypervolume indicator (Zitzler and Thiele 1999, IEEE Transactions on
    Evolutionary Computation 3: 257-271) with the reference point (1, 0), cut at `max_speedup`.
    0 is a family no faster than the baseline; 1 is one that keeps the baseline's accuracy up to
    `max_speedup`; above 1 it is more accurate than the baseline.

    It rewards speed at kept accuracy, and any setting not beaten by another. Limits: it depends on
    `max_speedup`, so only values of one maximum compare; a fast setting counts however inaccurate
    it is, in proportion to its accuracy; more settings never lower it, so families should be swept
    equally finely; and noise raises it, since each step is a maximum over settings.
    """
    if not max_speedup > 1:
        raise ValueError(f"maximum speedup is {max_speedup}: expected more than 1")
    if baseline_accuracy == 0:
        return None
    area, reached = 0.0, 1.0
    for index in pareto_front(points):
        speedup, accuracy = points[index]
        step = min(max(speedup, reached), max_speedup)
        area += (step - reached) * accuracy
        reached = step
    return area / ((max_speedup - 1) * baseline_accuracy)
