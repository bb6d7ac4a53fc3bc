"""Remainders, units digits and congruences."""

from __future__ import annotations

import random
from math import gcd

from tasks.embedded.math500.family import NUMBERS, UNKNOWN, Family, Work, whole, worked
from tasks.embedded.math500.notation import added, division, listed, multiplied, power, times
from tasks.embedded.math500.phrases import FIND


def _remainder(rng: random.Random) -> Work:
    number, by = whole(rng, 15, 99), whole(rng, 3, 12)
    steps = (f"{division(number, by)}.",)
    return worked((number, by), number % by, *steps, e=number, m=by)


def _product(rng: random.Random) -> Work:
    a, b, by = whole(rng, 12, 50), whole(rng, 12, 50), whole(rng, 3, 9)
    rest = a % by * (b % by)
    steps = (
        f"{division(a, by)}.",
        f"{division(b, by)}.",
        f"${multiplied(a % by, b % by)}$.",
        f"{division(rest, by)}.",
    )
    return worked((a, b, by), rest % by, *steps, e=times(a, b), m=by)


def _power(rng: random.Random) -> Work:
    base, exponent, by = whole(rng, 2, 9), whole(rng, 3, 5), whole(rng, 4, 12)
    rest, steps = base % by, list[str]()
    for _ in range(exponent - 1):
        steps.append(f"${multiplied(rest, base)}$: {division(rest * base, by)}.")
        rest = rest * base % by
    steps.insert(0, f"${base}$ leaves ${base % by}$.")
    return worked((base, exponent, by), rest, *steps, e=power(base, exponent), m=by)


def _multiple(rng: random.Random) -> Work:
    number, by = whole(rng, 15, 99), whole(rng, 3, 12)
    count = number // by + 1
    steps = (
        f"{division(number, by)}.",
        f"${added(number // by, 1)}$ and ${multiplied(count, by)}$.",
    )
    return worked((number, by), count * by, *steps, n=number, m=by)


def _units(rng: random.Random) -> Work:
    base, exponent = whole(rng, 2, 19), whole(rng, 6, 40)
    digit = base % 10
    if digit < 2:
        return _units(rng)
    cycle = [digit]
    while (following := cycle[-1] * digit % 10) != digit:
        cycle.append(following)
    length = len(cycle)
    place = exponent % length or length
    steps = (
        f"The units digits of the powers repeat: ${listed(cycle)}$.",
        f"{division(exponent, length)}, so take number ${place}$ of them.",
    )
    return worked((base, exponent), cycle[place - 1], *steps, e=power(base, exponent))


def _inverse(rng: random.Random) -> Work:
    by, number = whole(rng, 5, 13), whole(rng, 2, 12)
    if number >= by or gcd(number, by) != 1:
        return _inverse(rng)
    gold = pow(number, -1, by)
    return worked((number, by), gold, *_multiples(number, gold, by), a=number, m=by)


def _multiples(number: int, last: int, by: int) -> tuple[str, str]:
    """What the multiples of a number leave, up to the one that is looked for."""
    left = [number * k % by for k in range(1, last + 1)]
    return (
        f"Add ${number}$ and take ${by}$ away where possible: ${listed(left)}$.",
        rf"This is ${last} \cdot {number} = {last * number}$.",
    )


def _congruence(rng: random.Random) -> Work:
    by, factor, gold = whole(rng, 5, 12), whole(rng, 2, 9), whole(rng, 2, 11)
    if factor >= by or gold >= by or gcd(factor, by) != 1:
        return _congruence(rng)
    rest, moved = factor * gold % by, whole(rng, 1, 9)
    steps = (f"${added(rest + moved, -moved)}$.", *_multiples(factor, gold, by))
    e = rf"{factor}<x> + {moved} \equiv {rest + moved} \pmod{{{by}}}"
    return worked((factor, moved, rest + moved, by), gold, *steps, e=e, m=by)


REMAINDER = (
    f"{FIND} the remainder when $<e>$ is divided by $<m>$.",
    "What is the remainder [when|if] $<e>$ is divided by $<m>$?",
    "What remainder [does $<e>$ leave when|is left when $<e>$ is] divided by $<m>$?",
    "[Find|Compute|What is] the [residue|remainder] of $<e>$ modulo $<m>$.",
    "When $<e>$ is divided by $<m>$, what is the remainder?",
)
MULTIPLE = (
    f"{FIND} the [smallest|least] multiple of $<m>$ [greater|larger|bigger] than $<n>$.",
    "What is the [smallest|least] multiple of $<m>$ that is [greater|larger] than $<n>$?",
    "What is the [smallest|least|first] [integer|number] above $<n>$ that is divisible by $<m>$?",
)
UNITS = (
    f"{FIND} the [units|last|ones] digit of [|the number ]$<e>$.",
    "What is the [units|last|ones] digit of [|the number |the power ]$<e>$?",
    "In what digit does [|the number |the power ]$<e>$ end?",
)
INVERSE = (
    f"{FIND} the [multiplicative |]inverse of $<a>$ [modulo|mod] $<m>$.",
    "What is the [multiplicative |]inverse of $<a>$ [modulo|mod] $<m>$?",
    r"[Find|Determine] the [smallest|least] positive $<x>$ [with|such that|for which]"
    r" $<a><x> \equiv 1 \pmod{<m>}$.",
)
CONGRUENCE = (
    "[Solve|Solve the congruence] $<e>$ [for|with] $0 \\le <x> < <m>$.",
    "[Find|Determine] the [smallest|least] [nonnegative|positive] integer $<x>$ [with|such"
    " that|for"
    " which] $<e>$.",
    "What is the [smallest|least] positive integer $<x>$ [with|such that|for which] $<e>$?",
)

FAMILIES = (
    Family("remainder", NUMBERS, 1, REMAINDER, _remainder),
    Family("product_remainder", NUMBERS, 4, REMAINDER, _product),
    Family("power_remainder", NUMBERS, 5, REMAINDER, _power),
    Family("next_multiple", NUMBERS, 2, MULTIPLE, _multiple),
    Family("units_digit", NUMBERS, 4, UNITS, _units),
    Family("modular_inverse", NUMBERS, 5, INVERSE, _inverse, UNKNOWN),
    Family("congruence", NUMBERS, 5, CONGRUENCE, _congruence, UNKNOWN),
)
