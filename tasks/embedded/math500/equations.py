"""Equations and inequalities of the first degree, and systems of two of them."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import (
    ALGEBRA,
    INTERMEDIATE,
    PAIR,
    PREALGEBRA,
    UNKNOWN,
    Family,
    Work,
    pick,
    whole,
    worked,
)
from tasks.embedded.math500.notation import (
    added,
    divided,
    multiplied,
    over,
    polynomial,
    term,
)
from tasks.embedded.math500.phrases import EQUATION, FIND


def _shift(rng: random.Random) -> Work:
    moved, right = whole(rng, -30, 30), whole(rng, 2, 50)
    step = f"Move ${abs(moved)}$ to the other side: $<x> = {added(right, -moved)}$."
    left = polynomial(1, moved)
    return worked((moved, right), right - moved, step, left=left, right=right)


def _scale(rng: random.Random) -> Work:
    factor, value = whole(rng, 2, 12), whole(rng, -12, 12)
    step = f"Divide by ${factor}$: $<x> = {divided(factor * value, factor)}$."
    left = term(factor, "<x>")
    return worked((factor, factor * value), value, step, left=left, right=factor * value)


def _two_step(rng: random.Random) -> Work:
    factor, value, moved = whole(rng, 2, 9), whole(rng, -9, 12), whole(rng, -20, 20)
    right = factor * value + moved
    steps = (
        f"${added(right, -moved)}$, so ${term(factor, '<x>')} = {factor * value}$.",
        f"Then $<x> = {divided(factor * value, factor)}$.",
    )
    left = polynomial(factor, moved)
    return worked((factor, moved, right), value, *steps, left=left, right=right)


def _both_sides(rng: random.Random) -> Work:
    small, extra, value = whole(rng, 2, 6), whole(rng, 2, 6), whole(rng, -9, 12)
    moved = whole(rng, -20, 20)
    other = extra * value + moved
    if abs(other) < 2:
        return _both_sides(rng)
    steps = (
        f"${added(small + extra, -small)}$ and ${added(other, -moved)}$,"
        f" so ${term(extra, '<x>')} = {extra * value}$.",
        f"Then $<x> = {divided(extra * value, extra)}$.",
    )
    left, right = polynomial(small + extra, moved), polynomial(small, other)
    numbers = (small + extra, moved, small, other)
    return worked(numbers, value, *steps, left=left, right=right)


def _bracket(rng: random.Random) -> Work:
    factor, inner, value = whole(rng, 2, 9), whole(rng, -9, 9), whole(rng, -9, 12)
    right = factor * (value + inner)
    if right == 0:
        return _bracket(rng)
    steps = (
        f"Divide by ${factor}$: ${divided(right, factor)}$, so"
        f" ${polynomial(1, inner)} = {right // factor}$.",
        f"Then $<x> = {added(right // factor, -inner)}$.",
    )
    left = f"{factor}({polynomial(1, inner)})"
    return worked((factor, inner, right), value, *steps, left=left, right=right)


def _proportion(rng: random.Random) -> Work:
    bottom, top, scale = whole(rng, 3, 9), whole(rng, 2, 8), whole(rng, 2, 9)
    if top == bottom:
        return _proportion(rng)
    steps = (
        f"Multiply crosswise: ${multiplied(top, scale * bottom)}$,"
        f" so ${bottom}<x> = {top * scale * bottom}$.",
        f"Then $<x> = {divided(top * scale * bottom, bottom)}$.",
    )
    left, right = over("<x>", scale * bottom), over(top, bottom)
    return worked((scale * bottom, top, bottom), top * scale, *steps, left=left, right=right)


def _sum_difference(rng: random.Random) -> Work:
    large, small = whole(rng, 4, 30), whole(rng, -9, 20)
    if small >= large:
        return _sum_difference(rng)
    both, apart = large + small, large - small
    steps = (
        f"Add the equations: ${added(both, apart)}$, so $2<x> = {2 * large}$"
        f" and $<x> = {divided(2 * large, 2)}$.",
        f"Then $<y> = {added(both, -large)}$.",
    )
    first, second = f"<x> + <y> = {both}", f"<x> - <y> = {apart}"
    return worked((both, apart), f"({large}, {small})", *steps, first=first, second=second)


def _elimination(rng: random.Random) -> Work:
    first, second = whole(rng, 2, 6), whole(rng, 2, 6)
    x, y = whole(rng, -6, 9), whole(rng, -9, 9)
    one, two, factor = first * x + y, second * x - y, first + second
    steps = (
        f"Add the equations: ${added(first, second)}$ and ${added(one, two)}$,"
        f" so ${factor}<x> = {factor * x}$.",
        f"Then $<x> = {divided(factor * x, factor)}$.",
        f"${multiplied(first, x)}$, so $<y> = {added(one, -first * x)}$.",
    )
    return worked(
        (first, one, second, two),
        f"({x}, {y})",
        *steps,
        first=f"{first}<x> + <y> = {one}",
        second=f"{second}<x> - <y> = {two}",
    )


def _consecutive(rng: random.Random) -> Work:
    middle = whole(rng, 5, 40)
    steps = (
        f"The middle integer is ${divided(3 * middle, 3)}$.",
        f"The largest is ${added(middle, 1)}$.",
    )
    return worked((3 * middle,), middle + 1, *steps, s=3 * middle)


def _phrase(rng: random.Random) -> Work:
    factor, value, moved = whole(rng, 2, 9), whole(rng, 2, 12), whole(rng, 2, 20)
    right = factor * value + moved
    steps = (
        f"${added(right, -moved)}$.",
        f"The number is ${divided(factor * value, factor)}$.",
    )
    return worked((factor, moved, right), value, *steps, k=factor, a=moved, b=right)


INTERVALS = {
    "<": r"(-\infty, {})",
    r"\le": r"(-\infty, {}]",
    ">": r"({}, \infty)",
    r"\ge": r"[{}, \infty)",
}
TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}


def _inequality(rng: random.Random) -> Work:
    factor, value, moved = whole(rng, 2, 9), whole(rng, -9, 12), whole(rng, -20, 20)
    sign, right = pick(rng, tuple(INTERVALS)), factor * value + moved
    steps = (
        f"${added(right, -moved)}$, so ${factor}<x> {sign} {factor * value}$.",
        f"${divided(factor * value, factor)}$, so $<x> {sign} {value}$.",
    )
    e = f"{polynomial(factor, moved)} {sign} {right}"
    return worked((factor, moved, sign, right), INTERVALS[sign].format(value), *steps, e=e)


def _turned(rng: random.Random) -> Work:
    factor, value, moved = whole(rng, 2, 9), whole(rng, -9, 9), whole(rng, 2, 20)
    sign, right = pick(rng, tuple(INTERVALS)), moved - factor * value
    turned = TURNED[sign]
    steps = (
        f"${added(right, -moved)}$, so $-{factor}<x> {sign} {-factor * value}$.",
        f"Dividing by a negative number turns the sign: ${divided(-factor * value, -factor)}$,"
        f" so $<x> {turned} {value}$.",
    )
    e = f"{moved} - {factor}<x> {sign} {right}"
    return worked((moved, factor, sign, right), INTERVALS[turned].format(value), *steps, e=e)


def _between(rng: random.Random) -> Work:
    low, length, moved = whole(rng, -9, 9), whole(rng, 2, 12), whole(rng, -9, 9)
    high, closed = low + length, rng.random() < 0.5
    bottom, top = low + moved, high + moved
    signs = (r"\le", "<") if closed else ("<", r"\le")
    gold = f"[{low}, {high})" if closed else f"({low}, {high}]"
    steps = (
        f"Take ${moved}$ from each part." if moved > 0 else f"Add ${-moved}$ to each part.",
        f"${added(bottom, -moved)}$ and ${added(top, -moved)}$.",
        f"So ${low} {signs[0]} <x> {signs[1]} {high}$.",
    )
    e = f"{bottom} {signs[0]} {polynomial(1, moved)} {signs[1]} {top}"
    return worked((bottom, moved, top, *signs), gold, *steps, e=e)


SYSTEM = (
    "[Solve|Find the solution of] [the system|the equations] $<first>$ and $<second>$."
    "[| Write your answer as $(<x>, <y>)$.]",
    "[Suppose|Let] $<first>$ and $<second>$. [Find|What is|Determine] the pair $(<x>, <y>)$.",
    "If $<first>$ and $<second>$, [what is $(<x>, <y>)$?|find $(<x>, <y>)$.|compute $(<x>,"
    " <y>)$.]",
    f"{FIND} the [ordered pair|point|pair] $(<x>, <y>)$ [with|such that|for which] $<first>$"
    " and $<second>$.",
)
INEQUALITY = (
    "Solve [|the inequality ]$<e>$.[| Write your answer in interval notation."
    "| Give the solution as an interval.]",
    "[Find|Determine|Give] [all $<x>$|the set of all $<x>$|all real numbers $<x>$]"
    " [such that|with|for which] $<e>$.[| Use interval notation.]",
    "For [which|what] [values of|real numbers] $<x>$ is $<e>$?[| Answer with an interval.]",
    "[What|Which] interval [contains exactly the|is the set of all] solutions of $<e>$?",
)
SUMS = (
    "The sum of three consecutive integers is $<s>$. [What is|Find|Determine] the"
    " [largest|greatest] [of them|integer|of the three].",
    "Three consecutive integers [add up to|have the sum|sum to|have a total of] $<s>$."
    " [Find|Compute|What is] the [largest|greatest] [of them|one].",
    "[Find|Determine] the [largest|greatest] of three consecutive integers [whose sum is|that add"
    " up to|with sum] $<s>$.",
)
PHRASE = (
    "When a number is multiplied by $<k>$ and $<a>$ is [added|then added], the result is $<b>$."
    " [Find|What is|Determine] the number.",
    "The sum of $<a>$ and $<k>$ times a number [is|equals] $<b>$. [Find|What is|Compute]"
    " [the|this] number.",
    "If $<a>$ is added to $<k>$ times a number, [the result is|one gets|we get] $<b>$."
    " [Find|What is|Determine] [the|this] number.",
    "[Find|Determine|What is] the number for which $<a>$ more than $<k>$ times the number"
    " [is|equals|is equal to] $<b>$.",
)

FAMILIES = (
    Family("shift", ALGEBRA, 1, EQUATION, _shift, UNKNOWN),
    Family("scale", ALGEBRA, 1, EQUATION, _scale, UNKNOWN),
    Family("two_step", ALGEBRA, 2, EQUATION, _two_step, UNKNOWN),
    Family("both_sides", ALGEBRA, 3, EQUATION, _both_sides, UNKNOWN),
    Family("bracket", ALGEBRA, 3, EQUATION, _bracket, UNKNOWN),
    Family("proportion", PREALGEBRA, 3, EQUATION, _proportion, UNKNOWN),
    Family("sum_difference", ALGEBRA, 4, SYSTEM, _sum_difference, PAIR),
    Family("elimination", ALGEBRA, 5, SYSTEM, _elimination, PAIR),
    Family("consecutive", PREALGEBRA, 2, SUMS, _consecutive),
    Family("phrase", ALGEBRA, 2, PHRASE, _phrase),
    Family("inequality", ALGEBRA, 3, INEQUALITY, _inequality, UNKNOWN),
    Family("turned_inequality", INTERMEDIATE, 4, INEQUALITY, _turned, UNKNOWN),
    Family("between", INTERMEDIATE, 4, INEQUALITY, _between, UNKNOWN),
)
