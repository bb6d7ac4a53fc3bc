"""Bootstrap intervals against every possible resample, and against the truth of simulations."""

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.bootstrap import (
    Estimate,
    Timed,
    paired_bootstrap_difference,
    paired_bootstrap_ratio,
)

Pairs = list[tuple[Timed, Timed]]


def ratio(pairs: Pairs, weights: Sequence[float]) -> float:
    speeds = [
        sum(w * side.tokens for w, side in zip(weights, sides, strict=True))
        / sum(w * side.seconds for w, side in zip(weights, sides, strict=True))
        for sides in zip(*pairs, strict=True)
    ]
    return speeds[0] / speeds[1]


def spread(pairs: Pairs, weights: Sequence[float]) -> float:
    """Root of the summed squares of how the log ratio moves when a single one of the items that
    `weights` counts weighs a little more."""
    step, squares = 1e-5, 0.0
    for index, weight in enumerate(weights):
        more, less = ([*weights], [*weights])
        more[index] += step
        less[index] -= step
        squares += weight * (math.log(ratio(pairs, more) / ratio(pairs, less)) / (2 * step)) ** 2
    return math.sqrt(squares)


def assert_quantiles(found: Estimate, everything: list[tuple[float, int]]) -> None:
    """The interval's ends are 2.5 % and 97.5 % quantiles of the exact distribution, values with
    their weights, up to three standard errors of 2,000 draws (0.0105)."""
    assert found.lo is not None
    assert found.hi is not None
    whole = sum(ways for _, ways in everything)
    for end, level in ((found.lo, 0.025), (found.hi, 0.975)):
        below = sum(ways for value, ways in everything if value < end - 1e-6) / whole
        up_to = sum(ways for value, ways in everything if value <= end + 1e-6) / whole
        assert below - 0.0105 <= level <= up_to + 0.0105


def test_the_ratio_against_all_resamples():
    """Bootstrap-t by its definition: ratio·exp(-t·se), for t of all 823,543 resamples."""
    ours = [Timed(n, s) for n, s in ((9, 2), (40, 7), (25, 4), (30, 4), (12, 2), (33, 6), (20, 3))]
    base = [Timed(n, n * 0.4) for n in (10, 38, 25, 31, 15, 29, 22)]
    pairs, items = list(zip(ours, base, strict=True)), len(ours)
    value, scale = ratio(pairs, [1] * items), spread(pairs, [1] * items)
    found = paired_bootstrap_ratio(ours, base)
    assert found is not None
    assert found.value == pytest.approx(value)
    ends: list[tuple[float, int]] = []
    reached: list[float] = []
    for rows in itertools.combinations_with_replacement(range(items), items):
        counts = [rows.count(row) for row in range(items)]
        ways = math.factorial(items) // math.prod(map(math.factorial, counts))
        reached.append(ratio(pairs, counts))
        move, own = math.log(reached[-1] / value), spread(pairs, counts)
        ends.append((value * math.exp(min(-move * scale / max(own, 1e-6), 9)), ways))
    assert sum(ways for _, ways in ends) == items**items
    assert_quantiles(found, ends)
    assert found.lo is not None
    assert found.hi is not None
    assert min(reached) < found.lo
    assert found.hi < max(reached)


def test_the_difference_against_all_resamples():
    """Six draws from five items, each twice, and a half gain and a half loss."""
    ours, base = [1.0, 1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0]
    found = paired_bootstrap_difference(ours, base)
    assert found is not None
    assert found.value == pytest.approx(0.2)
    gains = [a - b for a, b in zip(ours, base, strict=True)]
    weights = {kind: 2 * gains.count(kind) + abs(int(kind)) for kind in (-1.0, 0.0, 1.0)}
    draws = itertools.product(weights, repeat=6)
    assert_quantiles(found, [(sum(d) / 6, math.prod(weights[k] for k in d)) for d in draws])


def test_the_difference_of_a_published_table():
    """Approval of a prime minister asked twice: 150 of 1,600 from yes to no, 86 from no to yes;
    difference 0.04, 95 % interval 0.02 to 0.06 (Agresti 2002, Categorical Data Analysis, 10.1)."""
    first, second = [1] * 150 + [0] * 86 + [1] * 1364, [0] * 150 + [1] * 86 + [1] * 1364
    found = paired_bootstrap_difference(first, second)
    assert found is not None
    assert found == pytest.approx((0.04, 0.0214, 0.0586), abs=0.0015)


def test_differences_cover_what_they_say():
    """Over decoders that change 4-20 % of the answers, up to 70 % of those one way."""
    rng = np.random.default_rng(0)
    covered = 0
    for draw in range(2000):
        n, differ, up = rng.integers(100, 201), rng.uniform(0.04, 0.2), rng.uniform(0.3, 0.7)
        kinds = rng.random(n)
        better = (kinds < differ * up).astype(float)
        worse = ((kinds >= differ * up) & (kinds < differ)).astype(float)
        found = paired_bootstrap_difference(
            better.tolist(), worse.tolist(), resamples=199, seed=draw
        )
        assert found is not None
        assert found.lo is not None
        assert found.hi is not None
        covered += found.lo - 1e-9 <= differ * (2 * up - 1) <= found.hi + 1e-9
    assert 0.94 <= covered / 2000 <= 0.96


def test_speedups_cover_what_they_say():
    """Answers of lognormal length, much alike for both decoders; one decoder's time a token swings
    by a third from item to item, as acceptance does, the baseline's by a tenth."""
    rng, items = np.random.default_rng(1), 120
    truth = 2 * math.exp((0.1**2 - 0.35**2) / 2)
    missed_low = missed_high = 0
    for draw in range(2000):
        hard, own, pace, base_pace = rng.standard_normal((4, items))
        base_tokens = 100 * np.exp(0.5 * hard)
        base_seconds = base_tokens / 30 * np.exp(0.1 * base_pace)
        tokens = 100 * np.exp(0.45 * hard + 0.22 * own)
        seconds = tokens / 60 * np.exp(0.35 * pace)
        found = paired_bootstrap_ratio(
            [*map(Timed, tokens.tolist(), seconds.tolist())],
            [*map(Timed, base_tokens.tolist(), base_seconds.tolist())],
            resamples=199,
            seed=draw,
        )
        assert found is not None
        assert found.lo is not None
        assert found.hi is not None
        missed_low += truth < found.lo
        missed_high += found.hi < truth
    assert 0.04 <= (missed_low + missed_high) / 2000 <= 0.06
    # As often too high as too low, up to three standard errors of the counts.
    assert abs(missed_low - missed_high) < 3 * math.sqrt(missed_low + missed_high)


TIMED = st.builds(Timed, st.integers(1, 500), st.floats(0.01, 100))
PAIRS = st.lists(st.tuples(TIMED, TIMED), min_size=2, max_size=12)
few = settings(max_examples=15, deadline=None)


def sides(pairs: Pairs) -> tuple[list[Timed], list[Timed]]:
    return [ours for ours, _ in pairs], [base for _, base in pairs]


@given(PAIRS)
@few
def test_identical_inputs_are_exactly_one(pairs: Pairs):
    side = [ours for ours, _ in pairs]
    assert paired_bootstrap_ratio(side, side, resamples=199) == (1.0, 1.0, 1.0)


@given(PAIRS, st.floats(0.001, 1000))
@few
def test_a_machine_slower_for_both_changes_nothing(pairs: Pairs, by: float):
    slow = [[Timed(each.tokens, each.seconds * by) for each in side] for side in sides(pairs)]
    found = paired_bootstrap_ratio(*slow, resamples=199)
    assert found == pytest.approx(paired_bootstrap_ratio(*sides(pairs), resamples=199))


@given(PAIRS)
@few
def test_the_other_way_round_is_the_inverse(pairs: Pairs):
    ours, base = sides(pairs)
    one = paired_bootstrap_ratio(ours, base, resamples=199)
    two = paired_bootstrap_ratio(base, ours, resamples=199)
    assert one is not None
    assert one.lo is not None
    assert one.hi is not None
    assert 0 < one.lo <= one.value <= one.hi < math.inf
    assert two == pytest.approx((1 / one.value, 1 / one.hi, 1 / one.lo))


@given(PAIRS, st.randoms())
@few
def test_the_order_of_items_does_not_move_the_value(pairs: Pairs, rng: random.Random):
    shuffled = rng.sample(pairs, len(pairs))
    one = paired_bootstrap_ratio(*sides(pairs), resamples=9)
    two = paired_bootstrap_ratio(*sides(shuffled), resamples=9)
    assert one is not None
    assert two is not None
    assert one.value == two.value


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12))
@few
def test_a_difference_is_within_its_interval_and_never_certain(pairs: list[tuple[float, float]]):
    found = paired_bootstrap_difference(*map(list, zip(*pairs, strict=True)))
    assert found is not None
    assert found.lo is not None
    assert found.hi is not None
    assert -1 <= found.lo <= found.value <= found.hi <= 1
    assert found.lo < found.hi


def test_the_same_seed_gives_the_same_interval():
    rng = random.Random(0)
    ours = [Timed(rng.randint(1, 99), rng.random()) for _ in range(20)]
    base = [Timed(rng.randint(1, 99), rng.random()) for _ in range(20)]
    assert paired_bootstrap_ratio(ours, base) == paired_bootstrap_ratio(ours, base)
    assert paired_bootstrap_ratio(ours, base) != paired_bootstrap_ratio(ours, base, seed=1)


def test_bootstrap_of_too_little():
    assert paired_bootstrap_ratio([], []) is None
    assert paired_bootstrap_difference([], []) is None
    assert paired_bootstrap_ratio([Timed(4, 1)], [Timed(2, 1)]) == (2.0, None, None)
    assert paired_bootstrap_difference([1], [0]) == (1.0, None, None)
    assert paired_bootstrap_ratio([Timed(4, 1)], [Timed(0, 1)]) is None
    assert paired_bootstrap_ratio([Timed(4, 0)], [Timed(2, 1)]) is None
    assert paired_bootstrap_ratio([Timed(0, 1)] * 3, [Timed(2, 1)] * 3) == (0.0, None, None)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        paired_bootstrap_ratio([Timed(4, 1)], [])
    with pytest.raises(ValueError, match=r"score is 2: expected 0 to 1"):
        paired_bootstrap_difference([2], [0])


def test_two_items_reach_no_further_than_their_own_ratios():
    ours, base = [Timed(10, 1), Timed(30, 1)], [Timed(10, 1), Timed(10, 1)]
    assert paired_bootstrap_ratio(ours, base) == pytest.approx((2.0, 1.0, 3.0))


def test_resamples_without_baseline_tokens_are_infinitely_fast():
    found = paired_bootstrap_ratio([Timed(4, 1)] * 2, [Timed(0, 1), Timed(4, 1)])
    assert found == pytest.approx((2.0, 1.0, 2.0))
