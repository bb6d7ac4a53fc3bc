"""Quadratic equations with whole roots, and equations with an absolute value."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import (
    ALGEBRA,
    INTERMEDIATE,
    UNKNOWN,
    Family,
    Work,
    whole,
    worked,
)
from tasks.embedded.math500.notation import (
    added,
    lowest,
    multiplied,
    plus,
    polynomial,
    reduced,
    squared,
    times,
    wrap,
)
from tasks.embedded.math500.phrases import FIND


def _roots(rng: random.Random) -> tuple[int, int, tuple[str, ...]]:
    """Two whole roots, the smaller first, and the steps that factor their polynomial."""
    small, large = sorted((whole(rng, -9, 9), whole(rng, -9, 9)))
    if small == large or small + large in (-1, 0, 1):
        return _roots(rng)
    minus, also = -large, -small
    steps = (
        f"{_pairs(minus, also)}.",
        f"${times(minus, also)} = {minus * also}$ and ${plus(minus, also)} = {minus + also}$.",
        f"So it factors as $({polynomial(1, minus)})({polynomial(1, also)})$.",
    )
    return small, large, steps


def _pairs(minus: int, also: int) -> str:
    """The pairs with the right product up to the one with the right sum, or difference."""
    product = abs(minus * also)
    sign = "+" if minus * also > 0 else "-"
    tried: list[str] = []
    for small in range(1, min(abs(minus), abs(also)) + 1):
        if product % small == 0:
            large = product // small
            both = large + small if sign == "+" else large - small
            tried.append(rf"${small} \cdot {large}$ with ${large} {sign} {small} = {both}$")
    return f"${product}$ is " + ", ".join(tried)


def _factor(rng: random.Random) -> Work:
    small, large, steps = _roots(rng)
    gold = f"({polynomial(1, -large)})({polynomial(1, -small)})"
    e = polynomial(1, -small - large, small * large)
    return worked((-small - large, small * large), gold, *steps[:2], e=e)


def _root(rng: random.Random, largest: bool) -> Work:
    small, large, steps = _roots(rng)
    gold = large if largest else small
    last = f"The roots are ${large}$ and ${small}$."
    e = polynomial(1, -small - large, small * large)
    return worked((-small - large, small * large), gold, *steps, last, e=e)


def _vieta(rng: random.Random) -> Work:
    a, b, c = whole(rng, 2, 9), whole(rng, -20, 20), whole(rng, -20, 20)
    steps = (f"The sum of the roots is $-{wrap(b)} \\div {a} = {reduced(-b, a)}$.",)
    return worked((a, b, c), lowest(-b, a), *steps, e=polynomial(a, b, c))


def _discriminant(rng: random.Random) -> Work:
    a, b, c = whole(rng, 2, 6), whole(rng, -12, 12), whole(rng, -6, 6)
    steps = (
        f"Here $a = {a}$, $b = {b}$, $c = {c}$.",
        f"${squared(b)}$.",
        f"${multiplied(4, a)}$ and ${multiplied(4 * a, c)}$.",
        f"${added(b * b, -4 * a * c)}$.",
    )
    return worked((a, b, c), b * b - 4 * a * c, *steps, e=polynomial(a, b, c))


def _absolute(rng: random.Random) -> Work:
    factor, middle, apart = whole(rng, 2, 6), whole(rng, -9, 9), whole(rng, 2, 12)
    steps = (
        f"Divide by ${factor}$: $|{polynomial(1, -middle)}| = {apart}$.",
        f"The solutions are ${added(middle, apart)}$ and ${added(middle, -apart)}$.",
        f"Their product is ${multiplied(middle + apart, middle - apart)}$.",
    )
    e = f"{factor}|{polynomial(1, -middle)}| = {factor * apart}"
    gold = (middle + apart) * (middle - apart)
    return worked((factor, middle, factor * apart), gold, *steps, e=e)


FACTOR = (
    "[Factor|Factorise|Factor completely] [|the polynomial |the quadratic |the expression ]$<e>$.",
    "[Write|Express] [|the quadratic ]$<e>$ as a product of [two|two linear] factors.",
    "What is the [factored form|factorization] of [|the quadratic ]$<e>$?",
)
LARGER = (
    f"{FIND} the [larger|greater] [root|solution] of $<e> = 0$.",
    "What is the [larger|greater] [root|solution|value of $<x>$] if $<e> = 0$?",
    "The equation $<e> = 0$ has two [roots|solutions]. [Find|Give|What is] the"
    " [larger|greater] one.",
)
SMALLER = (
    f"{FIND} the [smaller|lesser] [root|solution] of $<e> = 0$.",
    "What is the [smaller|lesser] [root|solution|value of $<x>$] if $<e> = 0$?",
    "The equation $<e> = 0$ has two [roots|solutions]. [Find|Give|What is] the"
    " [smaller|lesser] one.",
)
VIETA = (
    f"{FIND} the sum of the [roots|solutions] of [|the equation ]$<e> = 0$.",
    "What is the sum of the [roots|solutions|values of $<x>$] [if|when] $<e> = 0$?",
    "The equation $<e> = 0$ has two [roots|solutions]. [Find|What is] their sum.",
)
DISCRIMINANT = (
    f"{FIND} the discriminant of [|the quadratic |the polynomial ]$<e>$.",
    "What is the discriminant of [|the quadratic |the polynomial ][$<e>$|$<e> = 0$]?",
)
ABSOLUTE = (
    f"{FIND} the product of the [solutions|roots] of [|the equation ]$<e>$.",
    "What is the product of [all|the] [solutions|values of $<x>$] [of|for] $<e>$?",
    "The equation $<e>$ has two [roots|solutions]. [Find|What is] their product.",
)

FAMILIES = (
    Family("factor", ALGEBRA, 3, FACTOR, _factor, UNKNOWN),
    Family("larger_root", ALGEBRA, 4, LARGER, lambda rng: _root(rng, True), UNKNOWN),
    Family("smaller_root", ALGEBRA, 4, SMALLER, lambda rng: _root(rng, False), UNKNOWN),
    Family("vieta", INTERMEDIATE, 2, VIETA, _vieta, UNKNOWN),
    Family("discriminant", INTERMEDIATE, 4, DISCRIMINANT, _discriminant, UNKNOWN),
    Family("absolute", INTERMEDIATE, 5, ABSOLUTE, _absolute, UNKNOWN),
)
