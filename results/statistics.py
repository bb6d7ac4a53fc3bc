# scipy has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
"""Intervals and tests behind the tables: how sure a difference is, how small one could be seen.

Accuracies get Wilson intervals. Comparisons are paired, item by item: an exact McNemar test and
bootstrap intervals that resample items, since items, not tokens, are what was drawn at random.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    lo: float
    hi: float


class Estimate(NamedTuple):
    """A value and its interval. One item says nothing about the spread: no interval then."""

    value: float
    lo: float | None
    hi: float | None


class Timed(NamedTuple):
    """What one item yielded and took."""

    tokens: int
    seconds: float


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson score interval of a share; of no trials at all it is everything, 0 to 1."""
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials: expected 0 <= successes <= n")
    if n == 0:
        return Interval(0.0, 1.0)
    found = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high))


def paired_bootstrap_ratio(
    decoder: Sequence[Timed],
    baseline: Sequence[Timed],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | None:
    """Speedup: the ratio of total tokens/second over the same items, in the same order.

    The interval is the percentile bootstrap over items; resamples in which the ratio is undefined
    (no baseline token, no time) are left out. None when the ratio itself is undefined.
    """
    rows = [(*ours, *theirs) for ours, theirs in zip(decoder, baseline, strict=True)]
    totals = [math.fsum(column) for column in zip(*rows, strict=True)] or [0.0] * 4
    if totals[1] == 0 or totals[2] == 0:
        return None
    value = (totals[0] * totals[3]) / (totals[2] * totals[1])

    def ratio(sample: Floats) -> float:
        # Column by column in one order, so that equal columns have equal sums to the last bit.
        tokens, seconds, base_tokens, base_seconds = sample.sum(axis=0).tolist()
        below = base_tokens * seconds
        return (tokens * base_seconds) / below if below else math.nan

    return _with_interval(value, rows, ratio, level, resamples, seed)


def paired_bootstrap_difference(
    values: Sequence[float],
    baseline: Sequence[float],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | None:
    """Mean of `values` minus mean of `baseline` over the same items; correctness counts as 0 or 1.
    None without items."""
    rows = [(ours - theirs,) for ours, theirs in zip(values, baseline, strict=True)]
    if not rows:
        return None
    value = math.fsum(row[0] for row in rows) / len(rows)
    return _with_interval(value, rows, lambda sample: float(sample.mean()), level, resamples, seed)


def _with_interval(
    value: float,
    rows: Sequence[tuple[float, ...]],
    statistic: Callable[[Floats], float],
    level: float,
    resamples: int,
    seed: int,
) -> Estimate:
    """Percentile bootstrap interval of a statistic of the rows."""
    n = len(rows)
    if n < 2:
        return Estimate(value, None, None)
    table = np.asarray(rows, dtype=np.float64)
    generator = np.random.default_rng(seed)
    draws = [statistic(table[generator.integers(0, n, n)]) for _ in range(resamples)]
    tail = (1 - level) / 2
    lo, hi = np.nanquantile(draws, [tail, 1 - tail]).tolist()
    return Estimate(value, lo, hi)


def mcnemar_exact(b: int, c: int) -> float:
    """Two-sided p-value that items only one side gets right fall evenly: `b` to it, `c` to the
    other. Without such items there is nothing to tell apart: 1."""
    if b < 0 or c < 0:
        raise ValueError(f"discordant counts are {b} and {c}: expected 0 or more")
    return float(stats.binomtest(b, b + c).pvalue) if b + c else 1.0


def minimum_detectable_difference(
    discordant: int, n: int, *, level: float = 0.95, power: float = 0.8
) -> float | None:
    """The smallest difference of two accuracies on the same `n` items that a McNemar test would
    find with the given power, when `discordant` items differ in correctness.

    With d = discordant/n it solves δ√n = z_level·√d + z_power·√(d - δ²) (Connor 1987). It is never
    less than what the exact test finds with that power when every differing item falls to one
    side. None when n items are too few for the exact test to ever be significant.
    """
    if not 0 <= discordant <= n:
        raise ValueError(f"{discordant} discordant of {n} items: expected 0 <= discordant <= n")
    needed = next(k for k in itertools.count(1) if mcnemar_exact(k, 0) < 1 - level)
    if needed > n:
        return None
    # P(Binomial(n, δ) >= needed) = power, by the beta form of the binomial tail.
    one_sided = float(stats.beta.ppf(power, needed, n - needed + 1))
    z_level = float(stats.norm.ppf((1 + level) / 2))
    z_power = float(stats.norm.ppf(power))
    share = discordant / n
    root = z_power * math.sqrt(share * max(0.0, n - z_level**2 + z_power**2))
    solution = (z_level * math.sqrt(n * share) + root) / (n + z_power**2)
    return max(solution, one_sided)


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
