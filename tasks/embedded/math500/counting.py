"""Numbers of ways: choices, orders, selections and multiples."""

from __future__ import annotations

import random
from math import comb, factorial, perm

from tasks.embedded.math500.family import COUNTING, Family, Work, pick, whole, worked
from tasks.embedded.math500.notation import added, divided, division, multiplied, times
from tasks.embedded.math500.phrases import FIND

WORDS = """
    ALL APPLE BEE BANK BOOK CALL COFFEE DAD EGG ERROR FREE GOOD GREEN HAPPY HELLO KAYAK LEVEL
    MOM MOON NOON ODD PAPER PUPPY RADAR SEE SHEEP SLEEP SPOON TALL TEETH TOO TOOTH TREE WALL
    WELL ZOO ADD BALL BALLS BELL BELLS BOOT CIVIC CLASS DRESS EVEN FLOOR GLASS GRASS INN LADDER
    LETTER MEET MISS NEED PEEL POOL RABBIT ROOM ROOT SEED SHELL SOON STOOD SUMMER SWEET WHEEL
    WOOL
"""


def _choices(rng: random.Random) -> Work:
    a, b = whole(rng, 2, 12), whole(rng, 2, 12)
    return worked((a, b), a * b, f"Each choice is free: ${multiplied(a, b)}$.", a=a, b=b)


def _between(rng: random.Random) -> Work:
    low = whole(rng, 2, 60)
    high = low + whole(rng, 5, 39)
    steps = (f"${added(high, -low)}$.", f"Both ends count: ${added(high - low, 1)}$.")
    return worked((low, high), high - low + 1, *steps, a=low, b=high)


def _multiples(rng: random.Random) -> Work:
    top, by = whole(rng, 20, 99), whole(rng, 3, 12)
    count = top // by
    steps = (f"{division(top, by)}, so there are ${count}$.",)
    return worked((top, by), count, *steps, n=top, m=by)


def _multiples_between(rng: random.Random) -> Work:
    low, by = whole(rng, 12, 45), whole(rng, 3, 9)
    high = low + whole(rng, 15, 45)
    upto, before = high // by, (low - 1) // by
    steps = (
        f"Up to ${high}$: {division(high, by)}.",
        f"Below ${low}$: {division(low - 1, by)}.",
        f"${added(upto, -before)}$.",
    )
    return worked((low, high, by), upto - before, *steps, a=low, b=high, m=by)


def _permutation(rng: random.Random) -> Work:
    k = whole(rng, 2, 3)
    n = whole(rng, 4, 12 if k == 2 else 9)
    factors = [n - i for i in range(k)]
    steps = [f"There are ${times(*factors)}$ ways.", f"${multiplied(n, n - 1)}$."]
    if k == 3:
        steps.append(f"${multiplied(n * (n - 1), n - 2)}$.")
    return worked((n, k), perm(n, k), *steps, n=n, k=k)


def _combination(rng: random.Random) -> Work:
    n, k = whole(rng, 4, 12), whole(rng, 2, 3)
    steps = [f"${multiplied(n, n - 1)}$ and ${divided(n * (n - 1), 2)}$."]
    if k == 3:
        pairs = comb(n, 2)
        steps += [
            f"${multiplied(pairs, n - 2)}$ and ${divided(pairs * (n - 2), 3)}$.",
        ]
    return worked((n, k), comb(n, k), *steps, n=n, k=k)


def _letters(rng: random.Random) -> Work:
    word = pick(rng, WORDS.split())
    ways = factorial(len(word))
    steps = [f"There are ${len(word)}$ letters: ${len(word)}! = {ways}$."]
    for letter in sorted(set(word)):
        repeated = word.count(letter)
        if repeated > 1:
            steps.append(
                f"{letter} comes ${repeated}$ times: ${divided(ways, factorial(repeated))}$."
            )
            ways //= factorial(repeated)
    return worked((word,), ways, *steps, w=word)


def _committee(rng: random.Random) -> Work:
    a, b = whole(rng, 3, 8), whole(rng, 2, 9)
    pairs = comb(a, 2)
    steps = (
        f"Pairs: ${multiplied(a, a - 1)}$ and ${divided(a * (a - 1), 2)}$.",
        f"There are ${b}$ ways for the other place.",
        f"${multiplied(pairs, b)}$.",
    )
    return worked((a, b), pairs * b, *steps, a=a, b=b)


def _overlap(rng: random.Random) -> Work:
    both, only, other, none = (whole(rng, 2, 12) for _ in range(4))
    one, two, everyone = both + only, both + other, both + only + other + none
    steps = (
        f"${added(one, two)}$ and ${added(one + two, -both)}$ do at least one.",
        f"${added(everyone, -(one + two - both))}$.",
    )
    return worked((everyone, one, two, both), none, *steps, n=everyone, a=one, b=two, c=both)


CHOICES = (
    "[Ana|Ben|Mia|Leo] has $<a>$ [shirts|hats] and $<b>$ [ties|scarves]. How many [outfits|pairs]"
    " of one each [are possible|are there]?",
    "A [menu|restaurant] [offers|has] $<a>$ [soups|starters] and $<b>$ [desserts|drinks]. How many"
    " ways are there to choose one of each?",
    "[Find|Compute] the number of ways to [choose|pick] one of $<a>$ [books|pens|toys] and one of"
    " $<b>$ [bags|cards|games].",
)
BETWEEN = (
    "How many [integers|whole numbers] are [there |]from $<a>$ to $<b>$[| inclusive]?",
    f"{FIND} the number of [integers|whole numbers] from $<a>$ to $<b>$, inclusive.",
    r"How many integers $<x>$ [satisfy|are there with] $<a> \le <x> \le <b>$?",
)
MULTIPLES = (
    "How many positive multiples of $<m>$ are [at most|not greater than|less than or equal to]"
    " $<n>$?",
    "How many of the [integers|numbers|whole numbers] from $1$ to $<n>$ are [multiples"
    " of|divisible"
    " by] $<m>$?",
    f"{FIND} the number of [|positive ]multiples of $<m>$ from $1$ to $<n>$[| inclusive].",
)
MULTIPLES_BETWEEN = (
    "How many multiples of $<m>$ are [there |]from $<a>$ to $<b>$[| inclusive]?",
    "How many of the [integers|numbers|whole numbers] from $<a>$ to $<b>$ are [multiples of|"
    "divisible by] $<m>$?",
    f"{FIND} the number of multiples of $<m>$ from $<a>$ to $<b>$[| inclusive].",
)
PERMUTATION = (
    "In how many ways can $<k>$ of $<n>$ [books|people|flags|cups] be [put in a row|lined"
    " up|placed"
    " in order]?",
    "[A club|A team|A class] of $<n>$ [members|students] gives $<k>$ different [prizes|jobs] to"
    " different people. In how many ways?",
    "How many [ordered lists|ordered selections] of $<k>$ different [letters|items|colors] can be"
    " made from $<n>$?",
)
COMBINATION = (
    "In how many ways can $<k>$ [books|people|cards|players] be chosen from $<n>$?",
    "[A club|A team|A class] has $<n>$ [members|students]. How many [groups|committees] of $<k>$"
    " can be [chosen|formed]?",
    "How many subsets [of size $<k>$|with $<k>$ elements] does a set [of size $<n>$|with $<n>$"
    " elements] have?",
    r"[Find|Compute|Evaluate|What is] $\binom{<n>}{<k>}$.",
)
LETTERS = (
    "[In how many ways|In how many different ways] can the letters of <w> be [arranged|ordered|put"
    " in a row]?",
    "How many [different |distinct ][arrangements|orders] [do the letters of <w> have|are there of"
    " the letters of <w>]?",
    f"{FIND} the number of [different|distinct] arrangements of the letters [in|of] <w>.",
)
COMMITTEE = (
    "In how many ways can $2$ of $<a>$ [girls and $1$ of $<b>$ boys|teachers and $1$ of $<b>$"
    " students|red cards and $1$ of $<b>$ blue cards] be [chosen|picked]?",
    "A [team|committee|group] needs $2$ of $<a>$ [women and $1$ of $<b>$ men|seniors and $1$ of"
    " $<b>$ juniors]. How many [are possible|can be formed]?",
    "How many [teams|groups] of $2$ [girls and $1$ boy|teachers and $1$ student] can be"
    " [chosen|formed] from $<a>$ and $<b>$ of them?",
)
OVERLAP = (
    "Of $<n>$ [students|people|children], $<a>$ [play chess|like tea|have a dog] and $<b>$ [sing|"
    "swim|dance]; $<c>$ do both. How many do neither?",
    "In a [class|club|group] of $<n>$, $<a>$ [run|paint], $<b>$ [swim|write] and $<c>$ do both."
    " [Find|What is] the number who do neither.",
    "There are $<n>$ [students|guests|members]. $<a>$ [cook|read], $<b>$ [dance|sing], and $<c>$"
    " do"
    " both. How many [of them |]do neither?",
)

FAMILIES = (
    Family("choices", COUNTING, 1, CHOICES, _choices),
    Family("integers_between", COUNTING, 1, BETWEEN, _between, {"x": "n k x"}),
    Family("multiples", COUNTING, 1, MULTIPLES, _multiples),
    Family("multiples_between", COUNTING, 4, MULTIPLES_BETWEEN, _multiples_between),
    Family("permutation", COUNTING, 2, PERMUTATION, _permutation),
    Family("combination", COUNTING, 3, COMBINATION, _combination),
    Family("letters", COUNTING, 3, LETTERS, _letters),
    Family("committee", COUNTING, 4, COMMITTEE, _committee),
    Family("overlap", COUNTING, 3, OVERLAP, _overlap),
)
