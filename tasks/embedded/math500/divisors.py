"""Divisors, primes and digits of whole numbers."""

from __future__ import annotations

import random
from math import gcd, prod

from tasks.embedded.math500.family import NUMBERS, Family, Work, whole, worked
from tasks.embedded.math500.notation import (
    added,
    divided,
    division,
    factored,
    factoring,
    listed,
    multiplied,
    prime_factors,
    times,
    total,
)
from tasks.embedded.math500.phrases import FIND


def _euclid(large: int, small: int) -> list[str]:
    """The divisions with remainder that lead to the greatest common divisor."""
    steps: list[str] = []
    while small:
        rest = large % small
        steps.append(f"{division(large, small)}.")
        large, small = small, rest
    return steps


def _pair(rng: random.Random, least: int, largest: int) -> tuple[int, int]:
    """Two numbers, the larger first, with a common divisor and at most three divisions."""
    while True:
        common = whole(rng, 2, 12)
        large, small = common * whole(rng, 2, 8), common * whole(rng, 2, 8)
        if least <= small < large <= largest and len(_euclid(large, small)) <= 3:
            return large, small


def _gcd(rng: random.Random) -> Work:
    large, small = _pair(rng, 8, 90)
    return worked((large, small), gcd(large, small), *_euclid(large, small), a=large, b=small)


def _lcm(rng: random.Random) -> Work:
    large, small = _pair(rng, 4, 45)
    common = gcd(large, small)
    steps = (
        *_euclid(large, small),
        f"The gcd is ${common}$, and ${divided(small, common)}$.",
        f"The lcm is ${multiplied(large, small // common)}$.",
    )
    return worked((large, small), large * small // common, *steps, a=large, b=small)


def _composite(rng: random.Random, largest: int) -> int:
    """A number up to a limit with small primes only and at least three prime factors."""
    while True:
        number = whole(rng, 12, largest)
        primes = prime_factors(number)
        if len(primes) >= 3 and len(set(primes)) >= 2 and primes[-1] <= 11:
            return number


def _count(rng: random.Random) -> Work:
    number = _composite(rng, 200)
    primes = prime_factors(number)
    powers = [primes.count(prime) for prime in sorted(set(primes))]
    gold = prod(n + 1 for n in powers)
    steps = (
        f"{factoring(number)}.",
        f"${number} = {factored(number)}$, with exponents ${listed(powers)}$.",
        f"Add $1$ to each: ${times(*(n + 1 for n in powers))} = {gold}$.",
    )
    return worked((number,), gold, *steps, n=number)


def _sum(rng: random.Random) -> Work:
    number = _composite(rng, 100)
    primes = prime_factors(number)
    sums: list[int] = []
    steps = [f"{factoring(number)}.", f"${number} = {factored(number)}$."]
    for prime in sorted(set(primes)):
        powers = [prime**k for k in range(primes.count(prime) + 1)]
        sums.append(sum(powers))
        steps.append(f"${total(powers)}$.")
    steps.append(f"${times(*sums)} = {prod(sums)}$.")
    return worked((number,), prod(sums), *steps, n=number)


def _largest_prime(rng: random.Random) -> Work:
    number = _composite(rng, 200)
    gold = prime_factors(number)[-1]
    return worked((number,), gold, f"{factoring(number)}.", f"${gold}$ is prime.", n=number)


def _primes(rng: random.Random) -> Work:
    low = whole(rng, 1, 80)
    high = low + whole(rng, 10, 20)
    primes = [n for n in range(max(low, 2), high + 1) if len(prime_factors(n)) == 1]
    if len(primes) < 2:
        return _primes(rng)
    steps = (f"The primes are ${listed(primes)}$.", f"There are ${len(primes)}$ of them.")
    return worked((low, high), len(primes), *steps, a=low, b=high)


def _digits(rng: random.Random) -> Work:
    number = whole(rng, 100, 9999)
    digits = [int(digit) for digit in str(number)]
    steps = (f"${total(digits)}$.",)
    return worked((number,), sum(digits), *steps, n=number)


def _to_ten(rng: random.Random) -> Work:
    base = whole(rng, 3, 9)
    digits = [whole(rng, 1, base - 1), whole(rng, 0, base - 1), whole(rng, 0, base - 1)]
    a, b, c = digits
    parts = [a * base * base, b * base, c]
    steps = (
        f"${multiplied(base, base)}$ and ${multiplied(a, base * base)}$.",
        f"${multiplied(b, base)}$.",
        f"${added(parts[0], parts[1])}$ and ${added(parts[0] + parts[1], c)}$.",
    )
    return worked((f"{a}{b}{c}", base), sum(parts), *steps, d=f"{a}{b}{c}_{base}")


def _from_ten(rng: random.Random) -> Work:
    base, number = whole(rng, 3, 9), whole(rng, 12, 90)
    rest, digits, steps = number, "", list[str]()
    while rest:
        count, digit = divmod(rest, base)
        steps.append(f"{division(rest, base)}.")
        rest, digits = count, f"{digit}{digits}"
    steps.append(f"Read the remainders upwards: ${digits}$.")
    return worked((number, base), f"{digits}_{base}", *steps, n=number, b=base)


GCD = (
    f"{FIND} the greatest common [divisor|factor] of $<a>$ and $<b>$.",
    "What is the [greatest|largest|highest] common [divisor|factor] of [|the numbers ]$<b>$ and"
    " $<a>$?",
    r"[Find|Compute|Evaluate|What is] $\gcd(<a>, <b>)$.",
    "What is the largest [integer|number|whole number] that divides [both |]$<a>$ and $<b>$?",
)
LCM = (
    f"{FIND} the least common multiple of $<a>$ and $<b>$.",
    "What is the [least|smallest|lowest] common multiple of $<b>$ and $<a>$?",
    "What is the smallest positive [integer|number] [divisible by both|that is a multiple of both]"
    " $<a>$ and $<b>$?",
)
COUNT = (
    "How many [positive |]divisors does [|the number ]$<n>$ have?",
    f"{FIND} the number of positive [divisors|factors] of $<n>$.",
    "How many positive [integers|whole numbers] [divide|are divisors of|are factors of] $<n>$?",
)
SUM = (
    f"{FIND} the sum of [all|the] positive [divisors|factors] of $<n>$.",
    "What is the sum of [all|the] positive [divisors|factors] of $<n>$?",
    "What do [all|the] positive [divisors|factors] of $<n>$ add up to?",
)
LARGEST_PRIME = (
    f"{FIND} the [largest|greatest] prime [factor|divisor] of $<n>$.",
    "What is the [largest|greatest] prime [factor|divisor] of $<n>$?",
    "What is the [largest|greatest] prime [number |]that divides $<n>$?",
)
PRIMES = (
    "How many [primes|prime numbers] are [there |]from $<a>$ to $<b>$[| inclusive]?",
    f"{FIND} the number of [primes|prime numbers] from $<a>$ to $<b>$[| inclusive].",
    "How many of the [integers|numbers|whole numbers] from $<a>$ to $<b>$ are prime?",
)
DIGITS = (
    f"{FIND} the sum of the digits of [|the number |the integer ]$<n>$.",
    "What is the [sum of the digits|digit sum] of [|the number |the integer ]$<n>$?",
    "What do the digits of [|the number |the integer ]$<n>$ add up to?",
)
TO_TEN = (
    "[Write|Express|Rewrite] [|the number ]$<d>$ [in|using] base $10$.",
    "What is [|the number ]$<d>$ [in base $10$|as a base $10$ number|in base ten]?",
    f"{FIND} the base $10$ [value|form] of [|the number ]$<d>$.",
)
FROM_TEN = (
    "[Write|Express] [|the number |the integer ]$<n>$ in base $<b>$.",
    "What is [|the number ]$<n>$ [in base $<b>$|as a base $<b>$ number]?",
    "[Convert|Change] [|the number |the base $10$ number ]$<n>$ to base $<b>$.",
)

FAMILIES = (
    Family("gcd", NUMBERS, 3, GCD, _gcd),
    Family("lcm", NUMBERS, 4, LCM, _lcm),
    Family("divisor_count", NUMBERS, 3, COUNT, _count),
    Family("divisor_sum", NUMBERS, 5, SUM, _sum),
    Family("largest_prime", NUMBERS, 3, LARGEST_PRIME, _largest_prime),
    Family("primes", NUMBERS, 3, PRIMES, _primes),
    Family("digit_sum", NUMBERS, 1, DIGITS, _digits),
    Family("to_base_ten", NUMBERS, 4, TO_TEN, _to_ten),
    Family("from_base_ten", NUMBERS, 4, FROM_TEN, _from_ten),
)
