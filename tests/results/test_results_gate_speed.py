"""Ratios of two runs: their definition, their intervals against the truth, and a true speedup."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import summarise
from results.bootstrap import Estimate, Timed, paired_bootstrap_ratio
from results.gate.speed import least_found, ratio_over_time
from tests.results.fake_clock import (
    BASELINE,
    DECODER,
    MOODS,
    RUNNER,
    TRUE_SPEEDUP,
    Moods,
    fake_run,
    steps_of,
    timings,
    two_runs,
)

# Student's t with 7 degrees of freedom, 97.5 % and 80 %, from a printed table.
T_7, T_7_OF_POWER = 2.3646, 0.8960


def whole(found: Estimate | None) -> tuple[float, float, float]:
    assert found is not None
    assert found.lo is not None
    assert found.hi is not None
    return found.value, found.lo, found.hi


def log_rate(side: Sequence[Timed], weights: Sequence[float]) -> float:
    tokens = sum(w * timed.tokens for w, timed in zip(weights, side, strict=True))
    return math.log(
        tokens / sum(w * timed.seconds for w, timed in zip(weights, side, strict=True))
    )


def by_definition(
    above: list[list[Timed]], below: list[list[Timed]], order: list[int]
) -> tuple[float, float]:
    """Log ratio and the half width of its interval: how it moves as each of eight stretches of
    time weighs more, whose spread Student's t turns into an interval."""
    n = len(order)

    def log_ratio(weights: Sequence[float]) -> float:
        return sum(log_rate(side, weights) for side in above) - sum(
            log_rate(side, weights) for side in below
        )

    cuts = [0]
    for block in range(8):
        cuts.append(cuts[-1] + n // 8 + (block < n % 8))
    moves: list[float] = []
    for start, stop in pairwise(cuts):
        more, less = [1.0] * n, [1.0] * n
        for item in order[start:stop]:
            more[item] += 1e-5
            less[item] -= 1e-5
        moves.append((log_ratio(more) - log_ratio(less)) / 2e-5)
    variance = sum((move - sum(moves) / 8) ** 2 for move in moves) * 8 / 7
    return log_ratio([1.0] * n), T_7 * math.sqrt(variance)


@st.composite
def measurements(draw: st.DrawFn) -> list[list[Timed]]:
    items = draw(st.integers(8, 30))
    numbers = st.tuples(st.integers(1, 90), st.floats(0.01, 9))
    side = st.lists(numbers, min_size=items, max_size=items)
    return [[Timed(*each) for each in draw(side)] for _ in range(4)]


@given(measurements(), st.randoms())
def test_the_ratio_by_its_definition(sides: list[list[Timed]], random):
    order = [*range(len(sides[0]))]
    random.shuffle(order)
    value, lo, hi = whole(ratio_over_time(sides[:1], sides[1:2], [order]))
    log, half = by_definition(sides[:1], sides[1:2], order)
    assert math.log(value) == pytest.approx(log, abs=1e-6)
    assert math.log(hi / value) == pytest.approx(half, rel=1e-3, abs=1e-6)
    assert math.log(value / lo) == pytest.approx(half, rel=1e-3, abs=1e-6)
    value, _, hi = whole(ratio_over_time(sides[:2], sides[2:], [order]))
    log, half = by_definition(sides[:2], sides[2:], order)
    assert math.log(value) == pytest.approx(log, abs=1e-6)
    assert math.log(hi / value) == pytest.approx(half, rel=1e-3, abs=1e-6)


@given(measurements())
def test_ratios_turned_round_and_run_in_other_orders(sides: list[list[Timed]]):
    new, base = sides[:2]
    given_order, mixed = [*range(len(new))], [*range(len(new))][::2] + [*range(len(new))][1::2]
    value, lo, hi = whole(ratio_over_time([new], [base], [given_order]))
    turned = whole(ratio_over_time([base], [new], [given_order]))
    assert turned == pytest.approx((1 / value, 1 / hi, 1 / lo))
    scaled = [Timed(tokens, 3 * seconds) for tokens, seconds in new]
    slower = whole(ratio_over_time([scaled], [base], [given_order]))
    assert slower == pytest.approx((value / 3, lo / 3, hi / 3))
    other = whole(ratio_over_time([new], [base], [mixed]))
    both = whole(ratio_over_time([new], [base], [given_order, mixed]))
    assert both == max((other, (value, lo, hi)), key=lambda found: found[2])


def test_what_has_no_ratio_or_no_interval():
    some, none, idle = [Timed(3, 1.0)], [Timed(0, 1.0)], [Timed(3, 0.0)]
    assert ratio_over_time([[]], [[]], [[]]) is None
    for side in (none, idle):
        assert ratio_over_time([some], [side], [[0]]) is None
        assert ratio_over_time([side], [some], [[0]]) is None
    assert ratio_over_time([some], [some], [[0]]) == (1, None, None)
    assert least_found(Estimate(1.0, None, None), 0.95, 1) is None


def test_the_least_slowdown_found():
    """An interval half as wide again as one that just reaches the floor, by the t of the power."""
    found = least_found(Estimate(1.0, math.exp(-0.1), math.exp(0.1)), 0.95, 100)
    assert found == pytest.approx(0.95 * math.exp(-0.1 * (1 + T_7_OF_POWER / T_7)), rel=1e-4)


@pytest.mark.parametrize(
    ("moods", "items", "least", "most"),
    [("items apart", 100, 0.94, 0.96), ("short spells", 200, 0.935, 0.96)],
)
def test_intervals_over_time_hold_the_truth(moods: str, items: int, least: float, most: float):
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        new, base = two_runs(rng, items, MOODS[moods])
        _, lo, hi = whole(ratio_over_time([new], [base], [range(items)]))
        covered += lo <= 1 <= hi
    assert least <= covered / 2000 <= most


def test_intervals_over_items_do_not_hold_the_truth_between_runs():
    """Why a gate needs the others."""
    rng = np.random.default_rng(2)
    covered = 0
    for draw in range(100):
        new, base = two_runs(rng, 100, MOODS["short spells"])
        _, lo, hi = whole(paired_bootstrap_ratio(new, base, resamples=199, seed=draw))
        covered += lo <= 1 <= hi
    assert covered < 80


@pytest.mark.parametrize("moods", [Moods(), RUNNER])
def test_the_true_speedup_lies_in_its_interval(moods: Moods):
    """Within a run decoders take turns, so spells and drift mostly cancel: resampled items do."""
    covered, draws = 0, 800
    for draw in range(draws):
        steps = steps_of(60, draw)
        seconds = timings(np.random.default_rng(draw), steps, moods)
        ours, theirs = (
            [Timed(int(kept.sum()), took) for kept, took in zip(steps, seconds[name], strict=True)]
            for name in (DECODER, BASELINE)
        )
        _, lo, hi = whole(paired_bootstrap_ratio(ours, theirs, resamples=199, seed=draw))
        covered += lo <= TRUE_SPEEDUP <= hi
    # Two standard errors of 800 draws.
    assert 0.935 <= covered / draws <= 0.965


def test_the_summary_finds_the_true_speedup():
    found = 0
    for seed in range(20):
        _, row = summarise(fake_run(seed).records, {}, BASELINE)
        assert row.decoder == DECODER
        assert row.speedup_lo is not None
        assert row.speedup_hi is not None
        assert row.speedup_hi < 1.15 * row.speedup_lo
        # The answers are the same in all these runs, so their own ratio is what is true of them.
        found += row.speedup_lo <= true_speedup_of(100) <= row.speedup_hi
    assert found >= 19


def true_speedup_of(items: int) -> float:
    steps = steps_of(items, 0)
    per_forward = sum(kept.sum() for kept in steps) / sum(map(len, steps))
    return TRUE_SPEEDUP / 2.5 * per_forward
