"""LaTeX for numbers and small sums; signs are written as a person writes them.

Sums are worked in steps that a small model can do: no product of two digits, no division with a
remainder and no fraction of large numbers is done in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, isqrt

from tasks.embedded.products import by_tens


def wrap(number: int) -> str:
    """A number as a right operand: parentheses around a negative one."""
    return f"({number})" if number < 0 else str(number)


def plus(left: int | str, right: int) -> str:
    """`left + right`, or `left - 3` for a negative number."""
    return f"{left} - {-right}" if right < 0 else f"{left} + {right}"


def added(left: int, right: int) -> str:
    """A sum with its result."""
    return f"{plus(left, right)} = {left + right}"


def total(numbers: Sequence[int]) -> str:
    """A sum of several numbers, added up one by one: `4 + 2 + 3 = 6 + 3 = 9`."""
    sums: list[str] = []
    for place in range(len(numbers) - 1):
        text = str(sum(numbers[: place + 1]))
        for number in numbers[place + 1 :]:
            text = plus(text, number)
        sums.append(text)
    return " = ".join([*sums, str(sum(numbers))])


def times(*factors: int) -> str:
    """A product, without its result."""
    return r" \cdot ".join([str(factors[0]), *map(wrap, factors[1:])])


def multiplied(left: int, right: int) -> str:
    """A product with its result; of two digits, by tens and ones first."""
    return f"{times(left, right)} = {by_tens(left, right)}{left * right}"


def divided(left: int, right: int) -> str:
    """An exact quotient with its result."""
    assert left % right == 0, "only exact quotients are written so"
    return rf"{left} \div {wrap(right)} = {left // right}"


def squared(number: int) -> str:
    """A square with its result."""
    return f"{wrap(number)}^2 = {by_tens(abs(number), abs(number))}{number * number}"


def division(number: int, by: int) -> str:
    """Division with remainder, as two formulas: `$5 \\cdot 11 = 55$ and $60 - 55 = 5$`."""
    product = number // by * by
    return rf"${number // by} \cdot {by} = {product}$ and ${added(number, -product)}$"


def over(top: int | str, bottom: int | str) -> str:
    """A fraction as it stands."""
    sign, top = ("-", str(top)[1:]) if str(top).startswith("-") else ("", top)
    return rf"{sign}\frac{{{top}}}{{{bottom}}}"


def lowest(top: int, bottom: int) -> str:
    """A fraction in lowest terms; a whole number where it is one."""
    common = gcd(top, bottom) * (-1 if bottom < 0 else 1)
    top, bottom = top // common, bottom // common
    return str(top) if bottom == 1 else over(top, bottom)


def reduced(top: int, bottom: int) -> str:
    """A fraction, divided by one common prime factor after the other: `12/18 = 6/9 = 2/3`."""
    forms = [over(top, bottom)]
    if bottom < 0:
        top, bottom = -top, -bottom
        forms.append(over(top, bottom))
    for prime in prime_factors(gcd(top, bottom)):
        top, bottom = top // prime, bottom // prime
        forms.append(over(top, bottom))
    if bottom == 1:
        # A fraction over 1 is written so only where it is what there was.
        forms[1:] = [*forms[1:-1], str(top)]
    return " = ".join(forms)


def term(factor: int, body: str) -> str:
    """`3x`, `x` or `-x`."""
    return {1: body, -1: f"-{body}"}.get(factor, f"{factor}{body}")


def polynomial(*factors: int, letter: str = "<x>") -> str:
    """A polynomial, the highest power first."""
    text = ""
    for power, factor in zip(range(len(factors) - 1, -1, -1), factors, strict=True):
        if factor == 0:
            continue
        body = ("", letter)[power] if power < 2 else f"{letter}^{power}"
        bare = term(abs(factor), body) if body else str(abs(factor))
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + bare
    return text


def root(number: int) -> str:
    """A square root in simplest form: `5`, `\\sqrt{3}` or `2\\sqrt{3}`."""
    outside = next(k for k in range(isqrt(number), 0, -1) if number % (k * k) == 0)
    inside = number // (outside * outside)
    if inside == 1:
        return str(outside)
    return term(outside, rf"\sqrt{{{inside}}}")


def power(base: int | str, exponent: int) -> str:
    """A power, with braces only where LaTeX needs them."""
    return f"{base}^{exponent}" if 0 <= exponent < 10 else f"{base}^{{{exponent}}}"


def listed(numbers: Sequence[int]) -> str:
    """Numbers in one formula, separated by commas."""
    return ", ".join(map(str, numbers))


def prime_factors(number: int) -> list[int]:
    """The prime factors in rising order, each as often as it divides the number."""
    found: list[int] = []
    factor = 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found


def factoring(number: int) -> str:
    """The divisions that lead to `factored`, a formula each."""
    steps: list[str] = []
    rest = number
    for prime in prime_factors(number)[:-1]:
        steps.append(f"${divided(rest, prime)}$")
        rest //= prime
    return ", ".join(steps)


def factored(number: int) -> str:
    """A number as a product of prime powers."""
    primes = prime_factors(number)
    parts = [
        str(prime) if primes.count(prime) == 1 else power(prime, primes.count(prime))
        for prime in sorted(set(primes))
    ]
    return r" \cdot ".join(parts)
