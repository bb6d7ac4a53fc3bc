"""Arithmetic and geometric sequences, and sums of them."""

from __future__ import annotations

import random

from tasks.embedded.math500.family import ALGEBRA, INTERMEDIATE, Family, Work, pick, whole, worked
from tasks.embedded.math500.notation import added, divided, listed, lowest, multiplied, over, total
from tasks.embedded.math500.phrases import FIND


def _next(rng: random.Random) -> Work:
    first, step = whole(rng, 2, 40), whole(rng, -9, 12)
    terms = [first + k * step for k in range(4)]
    steps = (f"Each step adds ${added(terms[1], -first)}$.", f"${added(terms[3], step)}$.")
    return worked((first, step), terms[3] + step, *steps, e=listed(terms))


def _nth(rng: random.Random) -> Work:
    first, step, n = whole(rng, 2, 30), whole(rng, -9, 12), whole(rng, 6, 13)
    steps = (
        f"The common difference is ${added(first + step, -first)}$.",
        f"${added(n, -1)}$ and ${multiplied(n - 1, step)}$.",
        f"${added(first, (n - 1) * step)}$.",
    )
    gold = first + (n - 1) * step
    terms = [first + k * step for k in range(3)]
    return worked((first, step, n), gold, *steps, e=listed(terms), n=n)


def _middle(rng: random.Random) -> Work:
    middle, step = whole(rng, 4, 50), whole(rng, 2, 20)
    low, high = middle - step, middle + step
    steps = (f"${added(low, high)}$.", f"The middle term is ${divided(2 * middle, 2)}$.")
    return worked((low, high), middle, *steps, a=low, b=high)


def _how_many(rng: random.Random) -> Work:
    first, step, n = whole(rng, 2, 20), whole(rng, 2, 9), whole(rng, 5, 13)
    last = first + (n - 1) * step
    steps = (
        f"The common difference is ${added(first + step, -first)}$.",
        f"${added(last, -first)}$ and ${divided(last - first, step)}$ steps.",
        f"${added(n - 1, 1)}$.",
    )
    e = rf"{listed([first, first + step, first + 2 * step])}, \ldots, {last}"
    return worked((first, step, last), n, *steps, e=e)


def _geometric(rng: random.Random) -> Work:
    ratio = pick(rng, (2, 2, 3, -2))
    first, n = whole(rng, 2, 9), 5 if ratio == 3 else pick(rng, (5, 6))
    terms = [first * ratio**k for k in range(n)]
    steps = [f"The ratio is ${divided(terms[1], first)}$."]
    steps += [f"${multiplied(term, ratio)}$." for term in terms[2:-1]]
    return worked((first, ratio, n), terms[-1], *steps, e=listed(terms[:3]), n=n)


def _endless(rng: random.Random) -> Work:
    bottom = whole(rng, 2, 9)
    top = whole(rng, 1, bottom - 1)
    first = whole(rng, 1, 12)
    if lowest(top, bottom) != over(top, bottom):
        return _endless(rng)
    rest = bottom - top
    steps = (
        f"${added(bottom, -top)}$, so $1 - {over(top, bottom)} = {over(rest, bottom)}$.",
        f"${multiplied(first, bottom)}$, and the sum is"
        rf" ${first * bottom} \div {rest} = {lowest(first * bottom, rest)}$.",
    )
    gold = lowest(first * bottom, rest)
    return worked((first, top, bottom), gold, *steps, a=first, r=over(top, bottom))


def _sum(rng: random.Random) -> Work:
    first, step, n = whole(rng, 1, 12), whole(rng, 2, 6), pick(rng, (4, 6, 8, 10))
    last = first + (n - 1) * step
    steps = (
        f"${added(n, -1)}$ and ${multiplied(n - 1, step)}$,"
        f" so the last term is ${added(first, (n - 1) * step)}$.",
        f"${added(first, last)}$ and ${divided(n, 2)}$.",
        f"${multiplied(n // 2, first + last)}$.",
    )
    gold = n // 2 * (first + last)
    return worked((first, step, n), gold, *steps, a=first, d=step, n=n)


def _sigma(rng: random.Random) -> Work:
    factor, constant, n = whole(rng, 2, 6), whole(rng, -4, 9), whole(rng, 4, 6)
    if factor + constant == 0:
        return _sigma(rng)
    terms = [factor * k + constant for k in range(1, n + 1)]
    last = factor * n
    steps = (
        f"The first term is ${added(factor, constant)}$.",
        f"${multiplied(factor, n)}$ and the last is ${added(last, constant)}$.",
        f"The terms grow by ${factor}$: ${total(terms)}$.",
    )
    body = f"{factor}k + {constant}" if constant > 0 else f"{factor}k - {-constant}"
    return worked((factor, constant, n), sum(terms), *steps, e=rf"\sum_{{k=1}}^{n} ({body})")


def _recursion(rng: random.Random) -> Work:
    first, factor, moved = whole(rng, 1, 6), whole(rng, 2, 3), whole(rng, -4, 9)
    terms, steps = [first], list[str]()
    for number in (2, 3, 4):
        product = factor * terms[-1]
        steps.append(
            f"${multiplied(factor, terms[-1])}$ and $a_{number} = {added(product, moved)}$."
        )
        terms.append(product + moved)
    e = f"{factor}a_n + {moved}" if moved > 0 else f"{factor}a_n - {-moved}"
    return worked((first, factor, moved), terms[-1], *steps, a=first, e=e)


NEXT = (
    f"{FIND} the next [term|number] [of|in] the [arithmetic |]sequence $<e>$.",
    "What is the next [term|number] [of|in] the [arithmetic |]sequence $<e>$?",
    "[The sequence|The pattern|A sequence that starts] $<e>$ continues in the same way. [Find|What"
    " is] the next [term|number].",
)
NTH = (
    f"{FIND} [term number $<n>$|the $<n>$th term] of the arithmetic [sequence|progression] $<e>,"
    r" \ldots$.",
    r"The [sequence|list] $<e>, \ldots$ is arithmetic. [Find|What is|Compute] [the $<n>$th term|"
    "term number $<n>$].",
    r"What is the $<n>$th [term|number] of the arithmetic [sequence|progression] $<e>, \ldots$?",
)
MIDDLE = (
    "[Find|Determine] $<x>$ [if|given that|so that] $<a>, <x>, <b>$ is an arithmetic"
    " [sequence|progression].",
    "The numbers $<a>$, $<x>$, $<b>$ [form|are] an arithmetic [sequence|progression]. [What is"
    " $<x>$?|Find $<x>$.]",
    "What [number|value of $<x>$] makes $<a>, <x>, <b>$ an arithmetic [sequence|progression]?",
)
HOW_MANY = (
    "How many [terms|numbers] [are|are there] in the [arithmetic |]sequence $<e>$?",
    "[Find|Determine|Compute] the number of [terms|numbers] in the arithmetic"
    " [sequence|progression|list] $<e>$.",
    "The [arithmetic |]sequence $<e>$ has how many [terms|numbers]?",
)
GEOMETRIC = (
    f"{FIND} the $<n>$th term of the geometric [sequence|progression] $<e>"
    r", \ldots$.",
    r"The [sequence|list] $<e>, \ldots$ is geometric. [Find|What is|Compute] its $<n>$th term.",
    r"What is the $<n>$th [term|number] of the geometric [sequence|progression] $<e>, \ldots$?",
)
ENDLESS = (
    f"{FIND} the sum of the infinite geometric series with first term $<a>$ and"
    " [common ratio|ratio] $<r>$.",
    "An infinite geometric series has [first term|initial term] $<a>$ and [common ratio|ratio]"
    " $<r>$. [Find|What is|Compute] its sum.",
    "What is the sum of an infinite geometric series [with|that has] [common ratio|ratio]"
    " $<r>$ and first term $<a>$?",
)
SUM = (
    f"{FIND} the sum of the first $<n>$ terms of the arithmetic [sequence|progression] with first"
    " term $<a>$ and [common |]difference $<d>$.",
    "An arithmetic [sequence|progression] has first term $<a>$ and [common |]difference $<d>$."
    " [Find|What is|Compute] the sum of its first $<n>$ terms.",
    "What do the first $<n>$ terms of an arithmetic [sequence|progression] add up to, if it"
    " [starts"
    " at|begins with] $<a>$ and has [common |]difference $<d>$?",
)
SIGMA = (
    f"{FIND} [|the value of |the sum ]$<e>$.",
    "What is [|the value of |the sum ]$<e>$?",
    "[Evaluate|Simplify] [|the sum |the series ]$<e>$.",
)
RECURSION = (
    "[A sequence|The sequence $(a_n)$] has $a_1 = <a>$ and $a_{n+1} = <e>$. [Find|What is|Compute]"
    " $a_4$.",
    "[If|Given that|Knowing that] $a_1 = <a>$ and $a_{n+1} = <e>$, [find|what is|compute] $a_4$.",
    f"{FIND} $a_4$ [if|when] $a_1 = <a>$ and $a_{{n+1}} = <e>$ [for $n \\ge 1$|for all $n$].",
)

FAMILIES = (
    Family("next_term", ALGEBRA, 1, NEXT, _next),
    Family("nth_term", ALGEBRA, 3, NTH, _nth),
    Family("middle_term", ALGEBRA, 2, MIDDLE, _middle, {"x": "x y m"}),
    Family("number_of_terms", ALGEBRA, 3, HOW_MANY, _how_many),
    Family("geometric_term", INTERMEDIATE, 3, GEOMETRIC, _geometric),
    Family("endless_sum", INTERMEDIATE, 4, ENDLESS, _endless),
    Family("arithmetic_sum", ALGEBRA, 5, SUM, _sum),
    Family("sigma", INTERMEDIATE, 5, SIGMA, _sigma),
    Family("recursion", INTERMEDIATE, 5, RECURSION, _recursion),
)
