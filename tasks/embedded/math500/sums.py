"""Sums of whole numbers, and short stories that call for one."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import PREALGEBRA, Family, Work, whole, worked
from tasks.embedded.math500.notation import added, divided, listed, multiplied, times, total, wrap
from tasks.embedded.math500.phrases import EXPRESSION, FIND


def _product_first(rng: random.Random) -> Work:
    start, left, right = whole(rng, 2, 40), whole(rng, 2, 9), whole(rng, 2, 9)
    steps = (
        f"First multiply: ${multiplied(left, right)}$.",
        f"Then ${added(start, left * right)}$.",
    )
    gold = start + left * right
    return worked((start, left, right), gold, *steps, e=f"{start} + {times(left, right)}")


def _signs(rng: random.Random) -> Work:
    first, second, third = (whole(rng, -20, 20) for _ in range(3))
    steps = (
        f"${first} - {wrap(second)} = {first - second}$.",
        f"${added(first - second, third)}$.",
    )
    text = f"{first} - {wrap(second)} + {wrap(third)}"
    return worked((first, second, third), first - second + third, *steps, e=text)


def _two_products(rng: random.Random) -> Work:
    a, b, c, d = (whole(rng, 2, 9) for _ in range(4))
    steps = (
        f"${multiplied(a, b)}$ and ${multiplied(c, d)}$.",
        f"${added(a * b, -c * d)}$.",
    )
    return worked((a, b, c, d), a * b - c * d, *steps, e=f"{times(a, b)} - {times(c, d)}")


def _bars(rng: random.Random) -> Work:
    a, b, c, d = whole(rng, 2, 20), whole(rng, 21, 40), whole(rng, 2, 20), whole(rng, 2, 20)
    steps = (
        f"${added(a, -b)}$, so $|{a} - {b}| = {b - a}$.",
        f"${added(-c, -d)}$, so $|-{c} - {d}| = {c + d}$.",
        f"${added(b - a, c + d)}$.",
    )
    text = f"|{a} - {b}| + |-{c} - {d}|"
    return worked((a, b, c, d), b - a + c + d, *steps, e=text)


def _average(rng: random.Random) -> Work:
    mean = whole(rng, 5, 25)
    numbers = [whole(rng, max(2, mean - 8), mean + 8) for _ in range(3)]
    numbers.append(4 * mean - sum(numbers))
    if numbers[-1] < 2:
        return _average(rng)
    steps = (f"The sum is ${total(numbers)}$.", f"The mean is ${divided(4 * mean, 4)}$.")
    return worked(numbers, mean, *steps, e=listed(numbers))


def _median(rng: random.Random) -> Work:
    numbers = [whole(rng, 2, 60) for _ in range(5)]
    ordered = sorted(numbers)
    steps = (f"In order: ${listed(ordered)}$.", f"The middle one is ${ordered[2]}$.")
    return worked(numbers, ordered[2], *steps, e=listed(numbers))


def _unit_price(rng: random.Random) -> Work:
    bought, price, wanted = whole(rng, 2, 9), whole(rng, 2, 12), whole(rng, 2, 12)
    if bought == wanted:
        return _unit_price(rng)
    steps = (
        f"One costs ${divided(bought * price, bought)}$ dollars.",
        f"${multiplied(wanted, price)}$.",
    )
    gold = wanted * price
    return worked(
        (bought, bought * price, wanted), gold, *steps, n=bought, p=bought * price, m=wanted
    )


def _share(rng: random.Random) -> Work:
    small, more, unit = whole(rng, 2, 5), whole(rng, 2, 5), whole(rng, 2, 9)
    large = small + more - 1
    parts = small + large
    steps = (
        f"There are ${added(small, large)}$ parts.",
        f"One part is ${divided(parts * unit, parts)}$.",
        f"The larger share is ${multiplied(large, unit)}$.",
    )
    return worked(
        (parts * unit, small, large), large * unit, *steps, s=parts * unit, a=small, b=large
    )


AVERAGE = (
    f"{FIND} the [mean|average|arithmetic mean] of [|the numbers |the four numbers ]$<e>$.",
    "What is the [mean|average|arithmetic mean] of [|the numbers |the four numbers ]$<e>$?",
    "[Four test scores are|The entries of a list are|A data set consists of] $<e>$. [Find|What is]"
    " their [mean|average].",
)
MEDIAN = (
    f"{FIND} the median of [|the numbers |the five numbers |the list ]$<e>$.",
    "What is the median of [|the numbers |the five numbers |the list ]$<e>$?",
    "[Five test scores are|The entries of a list are|A data set consists of] $<e>$. [Find|Give|"
    "Determine] [their|the] median.",
)
PRICE = (
    "If $<n>$ [pens|books|tickets|apples|cups] cost $<p>$ dollars, how many dollars do $<m>$"
    " [of them |]cost?",
    "[A shop|A store|Ana|Ben] sells $<n>$ [pens|books|tickets|cups] for $<p>$ dollars."
    " [At this rate,|At the same price,] what is the cost of $<m>$, in dollars?",
    f"The price of $<n>$ [pens|books|tickets|mugs|boxes] is $<p>$ dollars. {FIND} the price of"
    " $<m>$ [|of them ]in dollars.",
)
SHARE = (
    "[Two friends|Two sisters|Ana and Ben] [share|split|divide] $<s>$ [dollars|coins|cards] in the"
    " ratio $<a>:<b>$. How many does the one with the larger share get?",
    "[The number $<s>$|A sum of $<s>$|A total of $<s>$] is [divided|split] into two parts in the"
    " ratio $<a>:<b>$. [Find|What is] the larger part.",
    "Two [numbers|amounts] are in the ratio $<a>:<b>$ and [their sum is|add up to] $<s>$. [Find|"
    "Compute|Determine] the larger [one|of them].",
)

FAMILIES = (
    Family("product_first", PREALGEBRA, 1, EXPRESSION, _product_first),
    Family("signs", PREALGEBRA, 1, EXPRESSION, _signs),
    Family("two_products", PREALGEBRA, 2, EXPRESSION, _two_products),
    Family("bars", PREALGEBRA, 3, EXPRESSION, _bars),
    Family("average", PREALGEBRA, 2, AVERAGE, _average),
    Family("median", PREALGEBRA, 1, MEDIAN, _median),
    Family("unit_price", PREALGEBRA, 2, PRICE, _unit_price),
    Family("share", PREALGEBRA, 3, SHARE, _share),
)
