"""Exact statistics against their definitions, written another way, and published values."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.statistics import (
    holm,
    mcnemar_exact,
    minimum_detectable_difference,
    pareto_front,
    trade_off_area,
    wilson,
)

Z = NormalDist().inv_cdf(0.975)
DOCS = Path(__file__).parents[2] / "docs"


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


@pytest.mark.parametrize(
    ("successes", "n", "lo", "hi"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes: int, n: int, lo: float, hi: float):
    """Newcombe 1998, Statistics in Medicine 17: 857-872, table I, method 3."""
    assert wilson(successes, n) == pytest.approx((lo, hi), abs=5e-5)


def test_wilson_covers_what_it_says():
    """On average over shares: for a single share coverage swings about 95 %."""
    rng, covered = np.random.default_rng(0), 0
    intervals = [wilson(successes, 164) for successes in range(165)]
    for share in rng.uniform(0.05, 0.95, 2000).tolist():
        lo, hi = intervals[rng.binomial(164, share)]
        covered += lo <= share <= hi
    assert 0.94 <= covered / 2000 <= 0.96


def test_wilson_of_nothing_is_everything():
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)


@cache
def exact_p(b: int, c: int) -> Fraction:
    """Chance, if each of b + c items falls either way alike, of a split at least as uneven."""
    n = b + c
    splits = [k for k in range(n + 1) if abs(2 * k - n) >= abs(b - c)]
    return Fraction(sum(math.comb(n, k) for k in splits), 2**n)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 6), (3, 3), (10, 2), (40, 61)])
def test_mcnemar_counts_the_splits_as_uneven(b: int, c: int):
    assert mcnemar_exact(b, c) == pytest.approx(float(exact_p(b, c)))


def test_mcnemar_as_published():
    """Fagerland, Lydersen and Laake 2013: 1 and 7 of 21 children (data of Bentur and others)."""
    assert round(mcnemar_exact(1, 7), 3) == 0.070


def test_mcnemar_refuses_negative_counts():
    with pytest.raises(ValueError, match="discordant counts are -1 and 2"):
        mcnemar_exact(-1, 2)


def rejected(p_values: list[Fraction], level: Fraction) -> set[int]:
    """Holm's procedure as he states it: smallest first, stop at the first that is too large."""
    left = dict(enumerate(p_values))
    gone: set[int] = set()
    while left:
        index = min(left, key=lambda each: left[each])
        if left[index] > level / len(left):
            break
        del left[index]
        gone.add(index)
    return gone


P_VALUE = st.fractions(0, 1, max_denominator=50)


@given(st.lists(P_VALUE, max_size=8))
@settings(max_examples=40, deadline=None)
def test_holm_rejects_what_the_step_down_procedure_does(p_values: list[Fraction]):
    found = holm([float(p) for p in p_values])
    for level in (Fraction(1, 100), Fraction(7, 150), Fraction(1, 3), Fraction(99, 100)):
        calls = {index for index, p in enumerate(found) if p <= float(level) + 1e-12}
        assert calls == rejected(p_values, level)
    for p, adjusted in zip(p_values, found, strict=True):
        assert float(p) <= adjusted <= min(1.0, len(p_values) * float(p)) + 1e-12


def test_holm_as_published():
    """The four p-values of the Wikipedia article on the method: at 5 % it rejects H4 and H1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def power(difference: float, share: float, n: int) -> float:
    """Chance that the test finds the decoder better, over every outcome of n items."""
    gain, loss = (share + difference) / 2, (share - difference) / 2
    return math.fsum(
        math.comb(n, b) * math.comb(n - b, c) * gain**b * loss**c * (1 - share) ** (n - b - c)
        for b in range(n + 1)
        for c in range(min(b, n - b + 1))
        if exact_p(b, c) < Fraction(1, 20)
    )


@pytest.mark.parametrize(("discordant", "n"), [(15, 30), (24, 60), (60, 60)])
def test_the_detectable_difference_is_found_four_times_in_five(discordant: int, n: int):
    found = minimum_detectable_difference(discordant, n)
    assert found is not None
    assert power(found, discordant / n, n) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("discordant", "n"), [(60, 500), (164, 1319), (1400, 14042)])
def test_the_detectable_difference_is_near_its_normal_approximation(discordant: int, n: int):
    """δ√n = z_level·√d + z_power·√(d - δ²), by Connor 1987. The exact test sees a little less."""
    share, found = discordant / n, minimum_detectable_difference(discordant, n)
    assert found is not None
    approximate = bisect(
        lambda x: (
            x * math.sqrt(n)
            < Z * math.sqrt(share) + NormalDist().inv_cdf(0.8) * math.sqrt(share - x * x)
        ),
        0.0,
        math.sqrt(share),
    )
    assert approximate < found < 1.06 * approximate


@pytest.mark.parametrize("n", [6, 20, 164, 1319])
def test_detectable_difference_without_discordant_items(n: int):
    """Then it is the share at which 6 one-sided items of n turn up four times in five."""
    found = minimum_detectable_difference(0, n)
    assert found is not None
    fewer = sum(math.comb(n, k) * found**k * (1 - found) ** (n - k) for k in range(6))
    assert 1 - fewer == pytest.approx(0.8)
    # There is no jump where differing items become too many to be all on one side.
    above = minimum_detectable_difference(math.floor(found * n) + 1, n)
    assert above == pytest.approx(found, rel=0.05)


def test_too_few_items_detect_nothing():
    assert minimum_detectable_difference(0, 0) is None
    assert minimum_detectable_difference(5, 5) is None
    with pytest.raises(ValueError, match="3 discordant of 2"):
        minimum_detectable_difference(3, 2)


def detectable_table() -> str:
    """Detectable differences in percentage points, for docs/measuring.md."""
    sizes, shares = (50, 100, 200, 500, 1000, 2000), (2, 5, 10, 20, 30)
    lines = [
        "| items | " + " | ".join(f"{share} % differ" for share in shares) + " |",
        "|---:|" + "---:|" * len(shares),
    ]
    for n in sizes:
        found = [minimum_detectable_difference(n * share // 100, n) for share in shares]
        cells = ["–" if each is None else f"{100 * each:.1f}" for each in found]
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def test_the_table_of_detectable_differences():
    assert detectable_table() in (DOCS / "measuring.md").read_text(encoding="utf-8")


COORDINATE = st.integers(0, 5).map(float)
POINTS = st.lists(st.tuples(COORDINATE, COORDINATE), max_size=10)


@given(POINTS)
@settings(max_examples=40, deadline=None)
def test_pareto_front_is_what_nothing_beats(points: list[tuple[float, float]]):
    def beaten(point: tuple[float, float]) -> bool:
        return any(
            all(a >= b for a, b in zip(other, point, strict=True)) and other != point
            for other in points
        )

    front = pareto_front(points)
    assert sorted(front) == [i for i, point in enumerate(points) if not beaten(point)]
    assert [points[i][0] for i in front] == sorted(points[i][0] for i in front)


@given(POINTS, st.integers(2, 6), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_trade_off_area_adds_up_unit_steps(
    points: list[tuple[float, float]], most: int, baseline: int
):
    """Coordinates are whole, so the staircase is level within each unit of speedup."""
    steps = [max((y for x, y in points if x >= s), default=0.0) for s in range(2, most + 1)]
    found = trade_off_area(points, baseline, max_speedup=most)
    assert found == pytest.approx(sum(steps) / (baseline * (most - 1)))


def test_trade_off_area_at_its_landmarks():
    assert trade_off_area([], 0.8, max_speedup=4) == 0
    assert trade_off_area([(1, 0.8), (0.5, 0.9)], 0.8, max_speedup=4) == 0
    assert trade_off_area([(4, 0.8)], 0.8, max_speedup=4) == pytest.approx(1)
    assert trade_off_area([(9, 0.8)], 0.8, max_speedup=4) == pytest.approx(1)
    assert trade_off_area([(2, 0.8), (4, 0.4)], 0.8, max_speedup=4) == pytest.approx(2 / 3)
    assert trade_off_area([(4, 1.0)], 0.8, max_speedup=4) == pytest.approx(1.25)
    assert trade_off_area([(4, 0.1)], 0, max_speedup=4) is None
    with pytest.raises(ValueError, match="maximum speedup is 1: expected more than 1"):
        trade_off_area([], 0.8, max_speedup=1)
