"""Logarithms, angles, complex numbers and vectors."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import (
    INTERMEDIATE,
    PRECALCULUS,
    Family,
    Work,
    pick,
    whole,
    worked,
)
from tasks.embedded.math500.notation import (
    added,
    divided,
    lowest,
    multiplied,
    polynomial,
    power,
)
from tasks.embedded.math500.phrases import FIND

#: Twice the exact value: of a whole number, or of that many times a square root.
HALVES: dict[str, tuple[int, int]] = {
    r"\sin 30": (1, 1),
    r"\sin 45": (1, 2),
    r"\sin 60": (1, 3),
    r"\cos 30": (1, 3),
    r"\cos 45": (1, 2),
    r"\cos 60": (1, 1),
    r"\sin 120": (1, 3),
    r"\sin 135": (1, 2),
    r"\sin 150": (1, 1),
    r"\cos 120": (-1, 1),
    r"\cos 135": (-1, 2),
    r"\cos 150": (-1, 3),
}


def _trigonometry(rng: random.Random) -> Work:
    function = pick(rng, tuple(HALVES))
    factor = 2 * whole(rng, 1, 12)
    sign, under = HALVES[function]
    body = "" if under == 1 else rf"\sqrt{{{under}}}"
    value = ("-" if sign < 0 else "") + rf"\frac{{{body or 1}}}{{2}}"
    half = sign * factor // 2
    gold = str(half) if not body else {1: body, -1: f"-{body}"}.get(half, f"{half}{body}")
    steps = (
        rf"${function}^\circ = {value}$.",
        f"${divided(factor, 2)}$, so we get ${gold}$.",
    )
    return worked((factor, function[1:]), gold, *steps, e=rf"{factor}{function}^\circ")


def _logarithms(rng: random.Random) -> Work:
    def one() -> tuple[int, int]:
        base = pick(rng, (2, 2, 3, 4, 5, 6, 10))
        return base, whole(rng, 1, {2: 7, 3: 4, 4: 3, 5: 3, 6: 2, 10: 4}[base])

    (a, m), (b, n) = one(), one()
    steps = (
        f"${power(a, m)} = {a**m}$ and ${power(b, n)} = {b**n}$.",
        f"${added(m, n)}$.",
    )
    e = rf"{_log(a, a**m)} + {_log(b, b**n)}"
    return worked((a, a**m, b, b**n), m + n, *steps, e=e)


def _log(base: int, number: int) -> str:
    return rf"\log_{{{base}}} {number}" if base > 9 else rf"\log_{base} {number}"


def _radians(rng: random.Random) -> Work:
    degrees = 15 * whole(rng, 1, 23)
    if degrees == 180:
        return _radians(rng)
    text = lowest(degrees, 180)
    gold = _pi(text)
    steps = (rf"$\frac{{{degrees}}}{{180}} = {text}$.",)
    return worked((degrees,), gold, *steps, d=degrees)


def _pi(text: str) -> str:
    r"""A fraction as a multiple of pi: `\frac{3\pi}{4}` or `2\pi`."""
    if not text.startswith(r"\frac"):
        return rf"{text}\pi"
    top, bottom = text[len(r"\frac{") : -1].split("}{")
    return rf"\frac{{{'' if top == '1' else top}\pi}}{{{bottom}}}"


def _complex(real: int, imaginary: int) -> str:
    return polynomial(imaginary, real, letter="i") if not real else _sum(real, imaginary)


def _sum(real: int, imaginary: int) -> str:
    if imaginary == 0:
        return str(real)
    body = {1: "i"}.get(abs(imaginary), f"{abs(imaginary)}i")
    return f"{real} {'-' if imaginary < 0 else '+'} {body}"


def _complex_sum(rng: random.Random) -> Work:
    a, b, c, d = (whole(rng, -12, 12) for _ in range(4))
    steps = (f"Real parts: ${added(a, c)}$.", f"Imaginary parts: ${added(b, d)}$.")
    gold = _complex(a + c, b + d)
    e = f"({_complex(a, b)}) + ({_complex(c, d)})"
    return worked((a, b, c, d), gold, *steps, e=e)


def _complex_product(rng: random.Random) -> Work:
    a, b, c, d = whole(rng, 1, 6), whole(rng, -6, 6), whole(rng, 1, 6), whole(rng, -6, 6)
    steps = (
        f"${multiplied(a, c)}$, ${multiplied(b, d)}$ and ${added(a * c, -b * d)}$.",
        f"${multiplied(a, d)}$, ${multiplied(b, c)}$ and ${added(a * d, b * c)}$.",
    )
    gold = _complex(a * c - b * d, a * d + b * c)
    e = f"({_complex(a, b)})({_complex(c, d)})"
    return worked((a, b, c, d), gold, *steps, e=e)


def _dot(rng: random.Random) -> Work:
    size = 3
    one = [whole(rng, -9, 9) for _ in range(size)]
    two = [whole(rng, -9, 9) for _ in range(size)]
    products = [a * b for a, b in zip(one, two, strict=True)]
    first, second = products[0] + products[1], sum(products)
    steps = (
        *(f"${multiplied(a, b)}$." for a, b in zip(one, two, strict=True)),
        f"${added(products[0], products[1])}$ and ${added(first, products[2])}$.",
    )
    texts = [", ".join(map(str, vector)) for vector in (one, two)]
    return worked((*one, *two), second, *steps, u=f"({texts[0]})", v=f"({texts[1]})")


def _determinant(rng: random.Random) -> Work:
    a, b, c, d = (whole(rng, -9, 9) for _ in range(4))
    steps = (
        f"${multiplied(a, d)}$ and ${multiplied(b, c)}$.",
        f"${added(a * d, -b * c)}$.",
    )
    e = rf"\begin{{vmatrix}} {a} & {b} \\ {c} & {d} \end{{vmatrix}}"
    return worked((a, b, c, d), a * d - b * c, *steps, e=e)


def _vector(rng: random.Random) -> Work:
    a, b, c, d, k = *(whole(rng, -9, 9) for _ in range(4)), whole(rng, 2, 6)
    steps = (
        f"${multiplied(k, a)}$ and ${added(k * a, c)}$.",
        f"${multiplied(k, b)}$ and ${added(k * b, d)}$.",
    )
    gold = f"({k * a + c}, {k * b + d})"
    return worked((k, a, b, c, d), gold, *steps, e=f"{k}({a}, {b}) + ({c}, {d})")


VALUE = (
    f"{FIND} [|the value of |the exact value of ]$<e>$.",
    "What is [|the value of |the exact value of ]$<e>$?",
    "[Evaluate|Simplify|Work out] [|the expression ]$<e>$.",
)
RADIANS = (
    r"[Convert|Change] [|an angle of |the angle ]$<d>^\circ$ [to|into] radians.",
    r"[Write|Express|Give] [|an angle of |the angle ]$<d>^\circ$ in radians.",
    r"[What is|How much is] [|an angle of ]$<d>^\circ$ in radians[|, in terms of $\pi$]?",
)
COMPLEX = (
    f"{FIND} [|the value of ]$<e>$[|, where $i^2 = -1$].",
    "What is [|the value of |the result of ]$<e>$?",
    "[Evaluate|Simplify] [|the expression ]$<e>$[|, where $i^2 = -1$].",
    "[Write|Express] $<e>$ in the form $a + bi$[|, with real $a$ and $b$].",
)
DOT = (
    f"{FIND} the [dot|scalar|inner] product of [|the vectors ]$<u>$ and $<v>$.",
    "What is the [dot|scalar|inner] product of [|the vectors ]$<u>$ and $<v>$?",
    "What does the [dot|scalar|inner] product of [|the vectors |the two vectors ]$<u>$ and $<v>$"
    " [equal|come to|amount to]?",
    r"[Let|Suppose] $u = <u>$ and $v = <v>$. [Find|What is|Compute] $u \cdot v$.",
)
DETERMINANT = (
    f"{FIND} [|the determinant |the value of ]$<e>$.",
    "What is [|the determinant |the value of ]$<e>$?",
    "[Evaluate|Work out] [|the determinant |the $2$ by $2$ determinant ]$<e>$.",
)
VECTOR = (
    f"{FIND} [|the vector ]$<e>$.",
    "What [vector |]is $<e>$?",
    "[Evaluate|Simplify|Work out] [|the sum |the expression ]$<e>$.",
    "[Write|Express|Give] $<e>$ as a [single |]vector.",
)

FAMILIES = (
    Family("trigonometry", PRECALCULUS, 2, VALUE, _trigonometry),
    Family("logarithms", INTERMEDIATE, 2, VALUE, _logarithms),
    Family("radians", PRECALCULUS, 2, RADIANS, _radians),
    Family("complex_sum", INTERMEDIATE, 2, COMPLEX, _complex_sum),
    Family("complex_product", PRECALCULUS, 5, COMPLEX, _complex_product),
    Family("dot_product", PRECALCULUS, 5, DOT, _dot),
    Family("determinant", PRECALCULUS, 4, DETERMINANT, _determinant),
    Family("vector", PRECALCULUS, 4, VECTOR, _vector),
)
