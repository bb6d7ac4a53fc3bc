"""Fractions, mixed numbers, decimals and percentages."""

from __future__ import annotations

import random
from math import gcd, lcm

from tasks.embedded.math500.family import PREALGEBRA, Family, Work, pick, whole, worked
from tasks.embedded.math500.notation import (
    added,
    divided,
    lowest,
    multiplied,
    over,
    reduced,
)
from tasks.embedded.math500.phrases import FIND, FRACTION


def _proper(rng: random.Random, largest: int) -> tuple[int, int]:
    """A fraction between 0 and 1 in lowest terms."""
    while True:
        bottom = whole(rng, 2, largest)
        top = whole(rng, 1, bottom - 1)
        if gcd(top, bottom) == 1:
            return top, bottom


def _alike(rng: random.Random) -> Work:
    bottom = whole(rng, 3, 15)
    first, second = whole(rng, 1, bottom - 1), whole(rng, 1, bottom - 1)
    steps = (
        f"Add the numerators: ${added(first, second)}$.",
        f"The sum is ${reduced(first + second, bottom)}$.",
    )
    gold = lowest(first + second, bottom)
    e = f"{over(first, bottom)} + {over(second, bottom)}"
    return worked((first, second, bottom), gold, *steps, e=e)


def _unlike(rng: random.Random, sign: int) -> Work:
    a, b = _proper(rng, 9)
    c, d = _proper(rng, 9)
    common = lcm(b, d)
    if b == d or common > 45:
        return _unlike(rng, sign)
    left, right = a * common // b, sign * c * common // d
    steps = (
        f"The common denominator is ${common}$: ${over(a, b)} = {over(left, common)}$"
        f" and ${over(c, d)} = {over(abs(right), common)}$.",
        f"${added(left, right)}$, so we get ${reduced(left + right, common)}$.",
    )
    if left + right == 0:
        return _unlike(rng, sign)
    e = f"{over(a, b)} {'+' if sign > 0 else '-'} {over(c, d)}"
    return worked((a, b, c, d), lowest(left + right, common), *steps, e=e)


def _product(rng: random.Random) -> Work:
    a, b = _proper(rng, 9)
    c, d = _proper(rng, 9)
    steps = (
        f"${multiplied(a, c)}$ and ${multiplied(b, d)}$.",
        f"The product is ${reduced(a * c, b * d)}$.",
    )
    e = rf"{over(a, b)} \cdot {over(c, d)}"
    return worked((a, b, c, d), lowest(a * c, b * d), *steps, e=e)


def _quotient(rng: random.Random) -> Work:
    a, b = _proper(rng, 9)
    c, d = _proper(rng, 9)
    steps = (
        rf"Multiply by the reciprocal: ${over(a, b)} \cdot {over(d, c)}$.",
        f"${multiplied(a, d)}$ and ${multiplied(b, c)}$.",
        f"The quotient is ${reduced(a * d, b * c)}$.",
    )
    e = rf"{over(a, b)} \div {over(c, d)}"
    return worked((a, b, c, d), lowest(a * d, b * c), *steps, e=e)


def _simplify(rng: random.Random) -> Work:
    top, bottom = _proper(rng, 12)
    common = whole(rng, 2, 9)
    a, b = top * common, bottom * common
    steps = (f"Divide by common factors: ${reduced(a, b)}$.",)
    return worked((a, b), lowest(a, b), *steps, e=over(a, b))


def _improper(rng: random.Random) -> Work:
    units = whole(rng, 2, 9)
    top, bottom = _proper(rng, 9)
    gold = units * bottom + top
    steps = (f"${multiplied(units, bottom)}$ and ${added(units * bottom, top)}$.",)
    e = f"{units}{over(top, bottom)}"
    return worked((units, top, bottom), over(gold, bottom), *steps, e=e)


def _mixed_sum(rng: random.Random) -> Work:
    one, two = whole(rng, 2, 6), whole(rng, 2, 6)
    a, b = _proper(rng, 6)
    c, d = _proper(rng, 6)
    common = lcm(b, d)
    if b == d or common > 20:
        return _mixed_sum(rng)
    left, right = a * common // b, c * common // d
    both, top = one + two, left + right
    steps = (
        f"The whole parts give ${added(one, two)}$.",
        f"${over(a, b)} = {over(left, common)}$ and ${over(c, d)} = {over(right, common)}$, and"
        f" ${added(left, right)}$.",
        f"${multiplied(both, common)}$ and ${added(both * common, top)}$, so the sum is"
        f" ${reduced(both * common + top, common)}$.",
    )
    gold = lowest(both * common + top, common)
    e = f"{one}{over(a, b)} + {two}{over(c, d)}"
    return worked((one, a, b, two, c, d), gold, *steps, e=e)


def _decimal(rng: random.Random) -> Work:
    hundredths = whole(rng, 2, 99)
    text = f"0.{hundredths:02d}".rstrip("0")
    top, bottom = int(text[2:]), 10 ** (len(text) - 2)
    steps = (f"As a fraction this is ${reduced(top, bottom)}$.",)
    return worked((text,), lowest(top, bottom), *steps, e=text)


def _percent(rng: random.Random) -> Work:
    percent, tens = whole(rng, 2, 18) * 5, whole(rng, 2, 12)
    base = tens * (20 if percent % 10 else 10)
    unit, count = base * (5 if percent % 10 else 10) // 100, percent // (5 if percent % 10 else 10)
    small = 5 if percent % 10 else 10
    steps = (
        rf"${small}\%$ of ${base}$ is ${divided(base, 100 // small)}$.",
        f"${divided(percent, small)}$ and ${multiplied(count, unit)}$.",
    )
    return worked((percent, base), count * unit, *steps, p=percent, b=base)


def _change(rng: random.Random) -> Work:
    base, percent = whole(rng, 2, 12) * 20, pick(rng, (5, 10, 15, 20, 25, 30, 40, 50, 60, 75))
    sign = pick(rng, (1, -1))
    moved, parts = base * percent // 100, 100 // gcd(percent, 100)
    low, high = sorted((base, base + sign * moved))
    steps = (
        f"The change is ${added(high, -low)}$.",
        f"As a fraction of ${base}$ it is ${reduced(moved, base)}$.",
        f"${divided(100, parts)}$ and ${multiplied(percent * parts // 100, 100 // parts)}$.",
    )
    return worked(
        (base, base + sign * moved),
        percent,
        *steps,
        a=base,
        b=base + sign * moved,
        way="increase" if sign > 0 else "decrease",
        ways="rises" if sign > 0 else "falls",
    )


SIMPLIFY = (
    "[Simplify|Reduce] [|the fraction ]$<e>$[| to lowest terms| completely| as far as possible].",
    "[Write|Express] [|the fraction ]$<e>$ in [lowest terms|simplest form|simplified form].",
    "What is [|the fraction ]$<e>$ in [lowest terms|simplest form|reduced form]?",
)
IMPROPER = (
    "[Write|Express] [|the mixed number ]$<e>$ as [an improper|a single|a common] fraction.",
    "What is [|the mixed number ]$<e>$ as [an improper|a single|a common] fraction?",
    "[Convert|Change|Turn] [|the mixed number ]$<e>$ [to|into] an improper fraction.",
)
DECIMAL = (
    "[Write|Express] [|the decimal |the number ]$<e>$ as a [common|simplified|reduced] fraction.",
    "What [common|simplified|reduced] fraction [equals|is equal to] [|the decimal ]$<e>$?",
    "[Convert|Change] [|the decimal |the number ]$<e>$ [to|into] a fraction in lowest terms.",
)
PERCENT = (
    rf"{FIND} $<p>\%$ of [|the number ]$<b>$.",
    r"What [number |]is $<p>\%$ of [|the number ]$<b>$?",
    r"[At a school|At a club|At a fair|In a town], $<p>\%$ of the $<b>$ [guests|people|visitors]"
    " [bring|have|own] [a hat|a bag|a bike]. How many is that?",
    r"How [much|large] is $<p>\%$ of [|the number ]$<b>$?",
)
CHANGE = (
    "The [price|value|weight|number] [|of an item ]<ways> from $<a>$ to $<b>$. [Find|What is]"
    " the percent <way>.",
    "[Find|Compute|Determine] the [percent|percentage] <way> [from|going from] $<a>$ to $<b>$.",
    "By what [percent|percentage] [does a price <way>|does a value <way>] [if|when] it <ways>"
    " from $<a>$ to $<b>$?",
)

FAMILIES = (
    Family("alike", PREALGEBRA, 1, FRACTION, _alike),
    Family("unlike_sum", PREALGEBRA, 3, FRACTION, lambda rng: _unlike(rng, 1)),
    Family("unlike_difference", PREALGEBRA, 3, FRACTION, lambda rng: _unlike(rng, -1)),
    Family("fraction_product", PREALGEBRA, 2, FRACTION, _product),
    Family("fraction_quotient", PREALGEBRA, 3, FRACTION, _quotient),
    Family("simplify", PREALGEBRA, 2, SIMPLIFY, _simplify),
    Family("improper", PREALGEBRA, 1, IMPROPER, _improper),
    Family("mixed_sum", PREALGEBRA, 4, FRACTION, _mixed_sum),
    Family("decimal", PREALGEBRA, 2, DECIMAL, _decimal),
    Family("percent", PREALGEBRA, 2, PERCENT, _percent),
    Family("percent_change", PREALGEBRA, 4, CHANGE, _change),
)
