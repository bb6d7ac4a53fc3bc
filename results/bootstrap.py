"""Intervals that resample items, since items, not tokens, are what was drawn at random.

Both sides of a comparison are resampled together, so what makes an item slow or hard for both
cancels (Efron and Tibshirani 1993, An Introduction to the Bootstrap). Which bootstrap, is decided
by coverage: the plain percentile interval holds the true difference too seldom, and misses the
true ratio on one side more than on the other (docs/measuring.md has the shares). Each function
says why.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from results.statistics import LEVEL

Floats = NDArray[np.float64]

# Rows looked up at a time: a block of them stays within a few MB, however many items there are.
_BLOCK = 1 << 18


class Estimate(NamedTuple):
    """A value and its interval. One item says nothing about the spread: no interval then."""

    value: float
    lo: float | None
    hi: float | None


class Timed(NamedTuple):
    """What one item yielded and took."""

    tokens: float
    seconds: float


class _Ratios(NamedTuple):
    logs: Floats
    scales: Floats
    """Standard errors of the logs, all short of the same factor, the root of the items."""


def paired_bootstrap_ratio(
    decoder: Sequence[Timed],
    baseline: Sequence[Timed],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | None:
    """Speedup: the ratio of total tokens/second over the same items, in the same order.

    The interval is the bootstrap-t of the log ratio, with the delta method's standard error
    (Efron and Tibshirani 1993, chapter 12; Hall 1988, Annals of Statistics 16: 927-953). Items
    differ much in length, and a few long ones decide both the ratio and how well it is known;
    dividing by each resample's own standard error accounts for that, percentiles do not.

    It never reaches beyond the resampled ratios, which matters for a handful of items only.
    None when the ratio is undefined: no time, or no baseline token. A ratio of 0 has no interval.
    """
    rows = [(*ours, *theirs) for ours, theirs in zip(decoder, baseline, strict=True)]
    totals = [math.fsum(column) for column in zip(*rows, strict=True)] or [0.0] * 4
    if totals[1] == 0 or totals[2] == 0:
        return None
    value = (totals[0] * totals[3]) / (totals[2] * totals[1])
    if len(rows) < 2 or value == 0:
        return Estimate(value, None, None)
    columns = np.asarray(rows, dtype=np.float64).T
    (log,), (scale,) = _log_ratios(columns[:, None])
    if scale < 1e-12:  # every item says the same, but for rounding
        return Estimate(value, value, value)
    blocks = _resampled_rows(len(rows), len(rows), resamples, seed)
    # `take` column by column: sums of equal columns are then equal to the last bit.
    drawn = [_log_ratios(np.stack([column.take(block) for column in columns])) for block in blocks]
    logs = np.concatenate([each.logs for each in drawn])
    scales = np.concatenate([each.scales for each in drawn])
    logs, scales = logs[~np.isnan(logs)] - log, scales[~np.isnan(logs)]
    # Resamples of one item over and over have no spread, and none of the baseline's tokens make
    # an infinite ratio: far out in the tail either way.
    pivots = np.clip(logs / np.fmax(scales, 1e-9 * scale), -1e9, 1e9)
    below, above = scale * _quantiles(pivots)
    reachable = logs[np.isfinite(logs)]
    lo = max(-above, min(0.0, reachable.min()))
    hi = min(-below, max(0.0, reachable.max()))
    return Estimate(value, value * math.exp(min(lo, 0.0)), value * math.exp(max(hi, 0.0)))


def paired_bootstrap_difference(
    scores: Sequence[float],
    baseline: Sequence[float],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | None:
    """Mean of `scores` minus mean of `baseline` over the same items. Scores are within 0-1;
    correctness counts as 0 or 1. None without items.

    The interval is the percentile bootstrap of the items and one more, which is half a gain of 1
    and half a loss of 1 (after Agresti and Min 2005, Statistics in Medicine 24: 729-740). Without
    it resamples know only the kinds of item that were seen: where none got worse, none ever would,
    and where no item differs the interval would be the point 0. It moves no end by more than
    about 1/n.
    """
    for score in (*scores, *baseline):
        if not 0 <= score <= 1:
            raise ValueError(f"score is {score}: expected 0 to 1")
    gains = [ours - theirs for ours, theirs in zip(scores, baseline, strict=True)]
    if not gains:
        return None
    value = math.fsum(gains) / len(gains)
    if len(gains) < 2:
        return Estimate(value, None, None)
    halves = np.asarray([*gains, *gains, 1.0, -1.0], dtype=np.float64)
    blocks = _resampled_rows(len(halves), len(gains) + 1, resamples, seed)
    means = np.concatenate([halves.take(block).mean(axis=1) for block in blocks])
    lo, hi = _quantiles(means).tolist()
    return Estimate(value, min(lo, value), max(hi, value))


def _log_ratios(columns: Floats) -> _Ratios:
    """Log of the ratio for each resample; `columns` are (quantity, resample, item)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = columns.mean(axis=2)
        tokens, seconds, base_tokens, base_seconds = columns / means[:, :, None]
        logs = np.log(means[0] / means[2]) - np.log(means[1] / means[3])
        # How much the log would move if an item weighed more; these sum to 0.
        influence = (tokens - base_tokens) - (seconds - base_seconds)
    return _Ratios(logs, np.sqrt(np.square(influence).mean(axis=1)))


def _resampled_rows(n: int, size: int, resamples: int, seed: int) -> Iterator[NDArray[np.integer]]:
    """Which of `n` rows make up each resample, drawn with replacement: blocks of (resample,
    size)."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _BLOCK // size)
    for start in range(0, resamples, at_once):
        yield generator.integers(0, n, (min(at_once, resamples - start), size))


def _quantiles(values: Floats) -> Floats:
    """The two ends, by the definition under which few resamples cover as much as many (position
    p(R + 1) among R)."""
    tail = (1 - LEVEL) / 2
    return np.quantile(values, [tail, 1 - tail], method="weibull")
