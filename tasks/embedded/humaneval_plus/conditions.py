"""Answers that depend on limits, divisors and comparisons."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import (
    FIRST,
    NATURAL,
    NUMBER,
    POSITIVE,
    SECOND,
    Arg,
    Family,
    code,
)

CHECK = "{Return True if|Check whether|Tell whether}"
SIDE_A, SIDE_B, SIDE_C = (Arg(slot, "side", (slot,)) for slot in "abc")
WORD_PAIRS = (
    ("yes", "no"),
    ("big", "small"),
    ("good", "bad"),
    ("on", "off"),
    ("high", "low"),
    ("hot", "cold"),
    ("open", "closed"),
    ("red", "blue"),
    ("left", "right"),
    ("in", "out"),
    ("new", "old"),
    ("up", "down"),
)
GRADES = (
    ("gold", "silver", "bronze"),
    ("high", "middle", "low"),
    ("large", "medium", "small"),
    ("A", "B", "C"),
    ("hot", "warm", "cold"),
    ("fast", "normal", "slow"),
    ("first", "second", "third"),
    ("old", "grown", "young"),
)
CALLS = (
    ("fizz", "buzz"),
    ("ping", "pong"),
    ("tick", "tock"),
    ("foo", "bar"),
    ("flip", "flop"),
    ("snap", "crack"),
    ("zip", "zap"),
    ("hip", "hop"),
    ("ding", "dong"),
    ("red", "blue"),
)

FAMILIES: tuple[Family, ...] = (
    Family(
        key="grade",
        names="grade rating label classify",
        args=(NUMBER.of("score"),),
        returns="str",
        docs=(
            "{Return|Give} '@first' if @n is @comparedhi, '@second' if it is @comparedlo, "
            "{else|and otherwise} '@third'.",
            "{Label|Classify} @n: '@first' when {it is |}@comparedhi, '@second' when {it is "
            "|}@comparedlo, else '@third'.",
        ),
        body=code("""
            if @n @op @hi:
                return '@first'
            if @n @op @lo:
                return '@second'
            return '@third'
        """),
        parts=(
            (
                {
                    "comparedhi": "{at least @hi|@hi or more}",
                    "comparedlo": "{at least @lo|@lo or more}",
                    "op": ">=",
                },
                {
                    "comparedhi": "{above|over|greater than} @hi",
                    "comparedlo": "{above|over|greater than} @lo",
                    "op": ">",
                },
            ),
        ),
        constants={
            "first,second,third": GRADES,
            "lo,hi": [(lo, hi) for lo in range(10, 60, 5) for hi in range(lo + 10, 100, 5)],
        },
        weight=2,
    ),
    Family(
        key="fizz",
        names="fizz call_out say shout",
        args=(POSITIVE,),
        returns="str",
        docs=(
            "{Return|Give} '@first@second' if @n is divisible by {both @lo and @hi|@lo and @hi}, "
            "'@first' if only by @lo, '@second' if only by @hi, {else|otherwise} @n as a string.",
            "{Return|Give} '@first' for multiples of @lo, '@second' for multiples of @hi, "
            "'@first@second' for multiples of both, {else|otherwise} str(@n).",
            "{Say|Write} '@first' if @lo divides @n, '@second' if @hi does, '@first@second' if "
            "both do, and {the number|@n} as a string {otherwise|if none does}.",
        ),
        body=code("""
            if @n % @lo == 0 and @n % @hi == 0:
                return '@first@second'
            if @n % @lo == 0:
                return '@first'
            if @n % @hi == 0:
                return '@second'
            return str(@n)
        """),
        constants={
            "first,second": CALLS,
            "lo,hi": [(lo, hi) for lo in range(2, 8) for hi in range(lo + 1, 10)],
        },
        weight=2,
    ),
    Family(
        key="leap",
        names="is_leap leap_year special_year check_year",
        args=(NATURAL,),
        returns="bool",
        docs=(
            f"{CHECK} {{@n|the number @n}} is divisible by @lo but not by @hi@unless.",
            f"{CHECK} @lo divides @n {{and|but}} @hi does not@unless.",
        ),
        body="return @n % @lo == 0 and @rest",
        parts=(
            (
                {"unless": "", "rest": "@n % @hi != 0"},
                {
                    "unless": ", {unless|except if} @top divides it too",
                    "rest": "(@n % @hi != 0 or @n % @top == 0)",
                },
            ),
        ),
        constants={
            "lo,hi,top": [
                (lo, lo * a, lo * a * b)
                for lo in range(2, 6)
                for a in range(2, 6)
                for b in (2, 3, 4)
            ]
        },
    ),
    Family(
        key="compare",
        names="compare comparison which_larger order",
        args=(FIRST, SECOND),
        returns="str",
        docs=(
            "{Return|Give} '@first' if @a is {greater|larger} than @b, '@second' if it is "
            "{less|smaller}, {and otherwise|else} 'same'.",
            "{Compare @a with @b|Compare @a and @b}: {return |}'@first' if @a is "
            "{greater|larger}, '@second' if @b is, else 'same'.",
        ),
        body=code("""
            if @a > @b:
                return '@first'
            if @a < @b:
                return '@second'
            return 'same'
        """),
        constants={"first,second": WORD_PAIRS},
    ),
    Family(
        key="sign",
        names="sign sign_of signum direction",
        args=(NUMBER,),
        returns="int",
        docs=(
            "{Return|Give} @p if {@n|the number @n} is {positive|above zero}, -@p if it is "
            "{negative|below zero}, and 0 {otherwise|if it is zero}.",
        ),
        body=code("""
            if @n > 0:
                return @p
            if @n < 0:
                return -@p
            return 0
        """),
        constants={"p": range(1, 12)},
    ),
    Family(
        key="triangle_kind",
        names="triangle_kind kind_of_triangle triangle_type",
        args=(SIDE_A, SIDE_B, SIDE_C),
        returns="str",
        docs=(
            "{Return|Give|Tell} the kind of {triangle|a triangle} with {the sides|sides} a, b "
            "and c: 'equilateral' {(all equal)|if all are equal}, "
            "'isosceles' {(two equal)|if just two are} or 'scalene'.",
        ),
        body=code("""
            if a == b == c:
                return 'equilateral'
            if a == b or b == c or a == c:
                return 'isosceles'
            return 'scalene'
        """),
    ),
)
