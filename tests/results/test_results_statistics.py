"""Statistics against their definitions, written another way."""

import itertools
import math
import random
from collections.abc import Callable
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.statistics import (
    Estimate,
    Timed,
    mcnemar_exact,
    minimum_detectable_difference,
    paired_bootstrap_difference,
    paired_bootstrap_ratio,
    pareto_front,
    wilson,
)

Z = NormalDist().inv_cdf(0.975)


def bisect(below: Callable[[float], bool], lo: float, hi: float) -> float:
    for _ in range(80):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if below(middle) else (lo, middle)
    return lo


@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (0, 164), (164, 164), (1, 3), (7, 20), (1100, 1319)]
)
def test_wilson_holds_the_shares_a_score_test_accepts(successes: int, n: int):
    share = successes / n

    def accepted(p: float) -> bool:
        return (share - p) ** 2 <= Z**2 * p * (1 - p) / n

    lo = 0.0 if successes == 0 else bisect(lambda p: not accepted(p), 0.0, share)
    hi = 1.0 if successes == n else bisect(accepted, share, 1.0)
    found = wilson(successes, n)
    assert found.lo == pytest.approx(lo, abs=1e-9)
    assert found.hi == pytest.approx(hi, abs=1e-9)


def test_wilson_of_nothing_is_everything():
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)


def ratio(pairs: list[tuple[Timed, Timed]]) -> float:
    speeds = [
        sum(side.tokens for side in sides) / sum(side.seconds for side in sides)
        for sides in zip(*pairs, strict=True)
    ]
    return speeds[0] / speeds[1]


def assert_quantiles(found: Estimate, everything: list[float]) -> None:
    """The interval's ends are 2.5 % and 97.5 % quantiles of the exact resampling distribution,
    up to three standard errors of 2,000 draws (0.0105)."""
    assert found.lo is not None
    assert found.hi is not None
    for end, level in ((found.lo, 0.025), (found.hi, 0.975)):
        below = sum(value < end - 1e-12 for value in everything) / len(everything)
        up_to = sum(value <= end + 1e-12 for value in everything) / len(everything)
        assert below - 0.0105 <= level <= up_to + 0.0105


def test_bootstrap_ratio_against_all_resamples():
    ours = [Timed(10, 0.2), Timed(40, 0.5), Timed(25, 0.4), Timed(30, 0.3), Timed(12, 0.2)]
    base = [Timed(10, 0.5), Timed(38, 1.9), Timed(25, 1.1), Timed(31, 1.4), Timed(15, 0.9)]
    pairs = list(zip(ours, base, strict=True))
    found = paired_bootstrap_ratio(ours, base)
    assert found is not None
    assert found.value == pytest.approx(ratio(pairs))
    everything = [ratio(list(draw)) for draw in itertools.product(pairs, repeat=5)]
    assert_quantiles(found, everything)


def test_bootstrap_difference_against_all_resamples():
    ours, base = [1.0, 1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0]
    found = paired_bootstrap_difference(ours, base)
    assert found is not None
    assert found.value == pytest.approx(0.2)
    gains = [a - b for a, b in zip(ours, base, strict=True)]
    assert_quantiles(found, [sum(draw) / 5 for draw in itertools.product(gains, repeat=5)])


TIMED = st.builds(Timed, st.integers(1, 500), st.floats(0.01, 100))
PAIRS = st.lists(st.tuples(TIMED, TIMED), min_size=2, max_size=12)


@given(PAIRS)
@settings(max_examples=15, deadline=None)
def test_identical_inputs_are_exactly_one(pairs: list[tuple[Timed, Timed]]):
    side = [ours for ours, _ in pairs]
    assert paired_bootstrap_ratio(side, side) == (1.0, 1.0, 1.0)


@given(PAIRS, st.floats(0.001, 1000))
@settings(max_examples=15, deadline=None)
def test_a_machine_slower_for_both_changes_nothing(pairs: list[tuple[Timed, Timed]], by: float):
    ours, base = map(list, zip(*pairs, strict=True))
    slow = [[Timed(each.tokens, each.seconds * by) for each in side] for side in (ours, base)]
    assert paired_bootstrap_ratio(*slow) == pytest.approx(paired_bootstrap_ratio(ours, base))


@given(PAIRS, st.randoms())
@settings(max_examples=15, deadline=None)
def test_the_order_of_items_does_not_move_the_value(
    pairs: list[tuple[Timed, Timed]], rng: random.Random
):
    shuffled = rng.sample(pairs, len(pairs))
    one = paired_bootstrap_ratio(*map(list, zip(*pairs, strict=True)))
    two = paired_bootstrap_ratio(*map(list, zip(*shuffled, strict=True)))
    assert one is not None
    assert two is not None
    assert one.value == two.value


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
    with pytest.raises(ValueError, match=r"shorter|longer"):
        paired_bootstrap_ratio([Timed(4, 1)], [])


def test_resamples_without_baseline_tokens_are_left_out():
    found = paired_bootstrap_ratio([Timed(4, 1)] * 2, [Timed(0, 1), Timed(4, 1)])
    assert found is not None
    assert found.value == 2.0
    assert found.lo == 1.0
    assert found.hi == 2.0


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 6), (3, 3), (10, 2), (40, 61)])
def test_mcnemar_sums_the_binomial_tails(b: int, c: int):
    n = b + c
    tail = sum(math.comb(n, k) for k in range(max(b, c), n + 1)) / 2**n
    assert mcnemar_exact(b, c) == pytest.approx(min(1.0, 2 * tail))


def test_mcnemar_refuses_negative_counts():
    with pytest.raises(ValueError, match="discordant counts are -1 and 2"):
        mcnemar_exact(-1, 2)


def test_one_sample_of_164_is_no_difference():
    found = paired_bootstrap_difference([1.0] * 164, [0.0] + [1.0] * 163)
    assert found is not None
    assert found.lo is not None
    assert found.lo <= 0
    assert mcnemar_exact(1, 0) == 1.0
    smallest = minimum_detectable_difference(1, 164)
    assert smallest is not None
    assert 6 / 164 < smallest < 9 / 164


@pytest.mark.parametrize(("discordant", "n"), [(60, 500), (164, 1319), (30, 200)])
def test_detectable_difference_solves_its_equation(discordant: int, n: int):
    share, found = discordant / n, minimum_detectable_difference(discordant, n)
    assert found is not None
    power = NormalDist().inv_cdf(0.8)
    needed = Z * math.sqrt(share) + power * math.sqrt(share - found**2)
    assert found * math.sqrt(n) == pytest.approx(needed)


@pytest.mark.parametrize("n", [6, 20, 164, 1319])
def test_detectable_difference_without_discordant_items(n: int):
    """Then it is the share at which 6 one-sided items of n turn up four times in five."""
    found = minimum_detectable_difference(0, n)
    assert found is not None
    fewer = sum(math.comb(n, k) * found**k * (1 - found) ** (n - k) for k in range(6))
    assert 1 - fewer == pytest.approx(0.8)


def test_a_detectable_difference_is_found_about_four_times_in_five():
    n, discordant, rng = 500, 60, random.Random(1)
    found = minimum_detectable_difference(discordant, n)
    assert found is not None
    better = (discordant / n + found) / 2
    worse = (discordant / n - found) / 2
    hits = 0
    for _ in range(400):
        draws = [rng.random() for _ in range(n)]
        b = sum(draw < better for draw in draws)
        c = sum(better <= draw < better + worse for draw in draws)
        hits += mcnemar_exact(b, c) < 0.05
    assert 0.70 < hits / 400 < 0.87  # the exact test is a little short of the formula's 0.8


def test_too_few_items_detect_nothing():
    assert minimum_detectable_difference(0, 0) is None
    assert minimum_detectable_difference(5, 5) is None
    with pytest.raises(ValueError, match="3 discordant of 2"):
        minimum_detectable_difference(3, 2)


COORDINATE = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(COORDINATE, COORDINATE), max_size=15))
def test_pareto_front_is_what_nothing_beats(points: list[tuple[float, float]]):
    def beaten(point: tuple[float, float]) -> bool:
        return any(
            all(a >= b for a, b in zip(other, point, strict=True)) and other != point
            for other in points
        )

    front = pareto_front(points)
    assert sorted(front) == [i for i, point in enumerate(points) if not beaten(point)]
    assert [points[i][0] for i in front] == sorted(points[i][0] for i in front)
