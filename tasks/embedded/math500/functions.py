"""Values of functions, powers, and products of brackets."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import (
    ALGEBRA,
    FUNCTION,
    INTERMEDIATE,
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
    polynomial,
    power,
    root,
    squared,
)
from tasks.embedded.math500.phrases import FIND


def _linear_value(rng: random.Random) -> Work:
    factor, constant, at = whole(rng, 2, 9), whole(rng, -20, 20), whole(rng, -9, 12)
    steps = (f"${multiplied(factor, at)}$.", f"${added(factor * at, constant)}$.")
    gold = factor * at + constant
    return worked((factor, constant, at), gold, *steps, e=polynomial(factor, constant), k=at)


def _quadratic_value(rng: random.Random) -> Work:
    a, b, c, at = whole(rng, 2, 4), whole(rng, -9, 9), whole(rng, -20, 20), whole(rng, -6, 6)
    square, middle = a * at * at, b * at
    steps = (
        f"${squared(at)}$ and ${multiplied(a, at * at)}$.",
        f"${multiplied(b, at)}$.",
        f"${added(square, middle)}$ and ${added(square + middle, c)}$.",
    )
    gold = square + middle + c
    return worked((a, b, c, at), gold, *steps, e=polynomial(a, b, c), k=at)


def _composition(rng: random.Random) -> Work:
    a, b, c, d = whole(rng, 2, 5), whole(rng, -9, 9), whole(rng, 2, 5), whole(rng, -9, 9)
    at = whole(rng, 1, 6)
    inner = c * at + d
    gold = a * inner + b
    steps = (
        f"Inside: ${multiplied(c, at)}$ and ${added(c * at, d)}$.",
        f"Outside: ${multiplied(a, inner)}$ and ${added(a * inner, b)}$.",
    )
    outer_text, inner_text = polynomial(a, b), polynomial(c, d)
    return worked((a, b, c, d, at), gold, *steps, e=outer_text, i=inner_text, k=at)


def _inverse(rng: random.Random) -> Work:
    factor, constant, at = whole(rng, 2, 9), whole(rng, -20, 20), whole(rng, -9, 12)
    value = factor * at + constant
    steps = (
        f"We need ${polynomial(factor, constant)} = {value}$.",
        f"${added(value, -constant)}$, so $<x> = {divided(factor * at, factor)}$.",
    )
    return worked((factor, constant, value), at, *steps, e=polynomial(factor, constant), k=value)


def _same_base(rng: random.Random) -> Work:
    base, one, two = whole(rng, 2, 9), whole(rng, 2, 12), whole(rng, 2, 12)
    steps = (f"Add the exponents: ${added(one, two)}$.",)
    e = rf"{power(base, one)} \cdot {power(base, two)}"
    return worked((base, one, two), power(base, one + two), *steps, e=e)


def _exponent(rng: random.Random) -> Work:
    base = pick(rng, (2, 2, 3, 5, 10))
    highest = {2: 7, 3: 4, 5: 3, 10: 4}[base]
    exponent, moved = whole(rng, 2, highest), whole(rng, -9, 9)
    steps = (
        f"${base**exponent} = {power(base, exponent)}$, so ${polynomial(1, moved)} = {exponent}$.",
        f"Then $<x> = {added(exponent, -moved)}$.",
    )
    left, right = f"{base}^{{{polynomial(1, moved)}}}", base**exponent
    return worked((base, moved, right), exponent - moved, *steps, left=left, right=right)


def _powers(rng: random.Random) -> Work:
    (a, m), (b, n) = (
        (base, whole(rng, 2, {2: 6, 3: 4, 4: 3, 5: 3, 10: 3}.get(base, 2)))
        for base in (whole(rng, 2, 10), whole(rng, 2, 10))
    )
    steps = (
        f"${power(a, m)} = {a**m}$ and ${power(b, n)} = {b**n}$.",
        f"${added(a**m, b**n)}$.",
    )
    return worked((a, m, b, n), a**m + b**n, *steps, e=f"{power(a, m)} + {power(b, n)}")


def _surd(rng: random.Random) -> Work:
    factor, outside, inside = whole(rng, 2, 9), whole(rng, 2, 6), pick(rng, (2, 3, 5, 6, 7))
    under = outside * outside * inside
    steps = (
        rf"${multiplied(outside * outside, inside)}$, so $\sqrt{{{under}}} = {root(under)}$.",
        f"${multiplied(factor, outside)}$.",
    )
    gold = rf"{factor * outside}\sqrt{{{inside}}}"
    return worked((factor, under), gold, *steps, e=rf"{factor}\sqrt{{{under}}}")


def _expand(rng: random.Random) -> Work:
    one, two = whole(rng, -9, 9), whole(rng, -9, 9)
    if one + two in (-1, 0, 1):
        return _expand(rng)
    steps = (
        f"The middle coefficient is ${added(one, two)}$.",
        f"The constant is ${multiplied(one, two)}$.",
    )
    e = f"({polynomial(1, one)})({polynomial(1, two)})"
    return worked((one, two), polynomial(1, one + two, one * two), *steps, e=e)


VALUE = (
    "[If|Given that|Knowing that] $<f>(<x>) = <e>$, [what is $<f>(<k>)$?|find $<f>(<k>)$.|"
    "what is the value of $<f>(<k>)$?]",
    "[Let|Define] $<f>(<x>) = <e>$. [Find|Compute|What is|Determine] $<f>(<k>)$.",
    f"{FIND} $<f>(<k>)$ [for|if|when] $<f>(<x>) = <e>$.",
    "[The function $<f>$|A function] is [given|defined] by $<f>(<x>) = <e>$. [Find|Compute]"
    " $<f>(<k>)$.",
)
COMPOSITION = (
    "[If|Given that] $f(<x>) = <e>$ and $g(<x>) = <i>$, [what is|find the value of|compute|find]"
    " $f(g(<k>))$.",
    "[Let|Define|Suppose] $f(<x>) = <e>$ and $g(<x>) = <i>$. [Find|What is|Compute|Determine]"
    " $f(g(<k>))$.",
    f"{FIND} $f(g(<k>))$ [for|if|when] $g(<x>) = <i>$ and $f(<x>) = <e>$.",
)
INVERSE = (
    "[If|Given that|Knowing that] $<f>(<x>) = <e>$, [what is|find|compute] $<f>^{-1}(<k>)$.",
    "[Let|Define] $<f>(<x>) = <e>$. [For which $<x>$ is|For what value of $<x>$ is]"
    " $<f>(<x>) = <k>$?",
    "[Find|Determine] the [number|value of] $<x>$ [with|for which] $<f>(<x>) = <k>$, [where|if]"
    " $<f>(<x>) = <e>$.",
)
SAME_BASE = (
    "[Write|Express|Give] $<e>$ as a [single power|power] of one [base|number].",
    "[Simplify|Combine] [|the product ]$<e>$[| into one power].[| Leave your answer as a power.]",
    "What [single power|power] [is equal to|equals] [|the product ]$<e>$?",
)
EXPONENT = (
    "[Solve|Solve the equation] $<left> = <right>$[| for $<x>$].",
    "[Find|Determine] [|the value of |the number ]$<x>$ [if|such that|with] $<left> = <right>$.",
    "If $<left> = <right>$, [what is $<x>$?|find $<x>$.|what is the value of $<x>$?]",
    "[For what|For which] [value of|number] $<x>$ is $<left> = <right>$?",
)
VALUE_OF = (
    f"{FIND} [|the value of ]$<e>$.",
    "What is [|the value of |the sum ]$<e>$?",
    "[Evaluate|Simplify] [|the expression |the sum ]$<e>$.",
)
SURD = (
    "[Simplify|Simplify the expression|Simplify the radical] $<e>$[| completely| fully].",
    "[Write|Express] $<e>$ in [simplest|simplified] [radical |]form.",
    "What is $<e>$ in [simplest|simplified] [radical |]form?",
)
EXPAND = (
    "[Expand|Multiply out|Expand the product] $<e>$[|. Collect like terms].",
    "[Write|Express] [|the product ]$<e>$ as a [polynomial|quadratic] in $<x>$.",
    "What [polynomial|quadratic] [equals|is equal to] [|the product ]$<e>$?",
)

FAMILIES = (
    Family("linear_value", ALGEBRA, 2, VALUE, _linear_value, FUNCTION),
    Family("quadratic_value", ALGEBRA, 4, VALUE, _quadratic_value, FUNCTION),
    Family("composition", ALGEBRA, 4, COMPOSITION, _composition, {"x": "x t n"}),
    Family("inverse", ALGEBRA, 3, INVERSE, _inverse, FUNCTION),
    Family("same_base", ALGEBRA, 1, SAME_BASE, _same_base),
    Family("exponent", INTERMEDIATE, 3, EXPONENT, _exponent, UNKNOWN),
    Family("powers", ALGEBRA, 2, VALUE_OF, _powers),
    Family("surd", INTERMEDIATE, 4, SURD, _surd),
    Family("expand", ALGEBRA, 3, EXPAND, _expand, UNKNOWN),
)
