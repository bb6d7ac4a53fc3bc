"""Choices between two answers, and tests that are joined."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.conditions import CHECK, WORD_PAIRS
from tasks.embedded.humaneval_plus.family import (
    FIRST,
    NUMBER,
    SECOND,
    Family,
    code,
)
from tasks.embedded.humaneval_plus.parts import number_tests

#: Tests with the limit k, and the same ones with the limit h, for a second place.
SINGLE = tuple(
    {
        **part,
        "isit": part["isit"].replace("@t", "@k").replace("@f", "@k"),
        "test": part["test"].replace("@t", "@k").replace("@f", "@k"),
    }
    for part in number_tests("@n")
    if part["which"] != "between"
)
FURTHER = tuple(
    {
        "also": part["which"],
        "isalso": part["isit"].replace("@k", "@h"),
        "tested": part["test"].replace("@k", "@h"),
    }
    for part in SINGLE
)
#: Joined by "and" these never pass, by "or" always or nearly so.
CONTRARY = ({"even", "odd"}, {"positive", "negative"}, {"multiple", "indivisible"})
TWO_TESTS = tuple(
    {**one, **two}
    for one in SINGLE
    for two in FURTHER
    if one["which"] != two["also"] and {one["which"], two["also"]} not in CONTRARY
)
LIMITS = {"k": range(2, 16), "h": range(2, 12)}
VALUES = (
    {"thenval": "its double", "elseval": "its double", "one": "@n * 2", "two": "@n * 2"},
    {"thenval": "its square", "elseval": "its square", "one": "@n * @n", "two": "@n * @n"},
    {
        "thenval": "its half (rounded down)",
        "elseval": "its half (rounded down)",
        "one": "@n // 2",
        "two": "@n // 2",
    },
    {"thenval": "its negative", "elseval": "its negative", "one": "-@n", "two": "-@n"},
    {"thenval": "@n plus @p", "elseval": "@n plus @q", "one": "@n + @p", "two": "@n + @q"},
    {"thenval": "@n minus @p", "elseval": "@n minus @q", "one": "@n - @p", "two": "@n - @q"},
    {"thenval": "@p times @n", "elseval": "@q times @n", "one": "@n * @p", "two": "@n * @q"},
    {"thenval": "0", "elseval": "0", "one": "0", "two": "0"},
)
TWO_VALUES = tuple(
    {"thenval": one["thenval"], "one": one["one"], "elseval": two["elseval"], "two": two["two"]}
    for one in VALUES
    for two in VALUES
    if one is not two
)

FAMILIES: tuple[Family, ...] = (
    Family(
        key="both_tests",
        names="@which_@conj_@also check_@which is_@which_@also",
        args=(NUMBER,),
        returns="bool",
        docs=(
            f"{CHECK} {{@n|the number @n}} @isit @conj @isalso.",
            "{Return|Give} True if @n @isit @conj @isalso, {else|and otherwise} False.",
        ),
        body="return @test @conj @tested",
        parts=(TWO_TESTS, ({"conj": "and"}, {"conj": "or"})),
        constants=LIMITS,
        weight=3,
    ),
    Family(
        key="word_if",
        names="label_@which name_@which word_@which",
        args=(NUMBER,),
        returns="str",
        docs=(
            "{Return|Give} '@first' if {@n|the number @n} @isit, {else|and otherwise} '@second'.",
            "{Return|Give} '@second', or '@first' if {@n|the number @n} @isit.",
        ),
        body="return '@first' if @test else '@second'",
        parts=(SINGLE,),
        constants={**LIMITS, "first,second": WORD_PAIRS},
        weight=2,
    ),
    Family(
        key="value_if",
        names="change_@which step_@which next_@which",
        args=(NUMBER,),
        returns="int",
        docs=(
            "If {@n|the number @n} @isit, {return|give} @thenval, {else|otherwise} @elseval.",
            "{Return|Give} @thenval if @n @isit, {else|and otherwise} @elseval.",
        ),
        body="return @one if @test else @two",
        parts=(SINGLE, TWO_VALUES),
        constants={**LIMITS, "p": range(2, 10), "q": range(2, 10)},
        weight=3,
    ),
    Family(
        key="nearest",
        names="nearest closest nearer_of",
        args=(NUMBER,),
        returns="int",
        docs=(
            "{Return|Give|Find} the one of @lo and @hi that is {nearer|closer} to {@n|the number "
            "@n}, {or @lo|@lo} {if both are as near|on a tie}.",
        ),
        body="return @lo if abs(@n - @lo) <= abs(@n - @hi) else @hi",
        constants={"lo,hi": [(lo, hi) for lo in range(10) for hi in range(lo + 3, 25)]},
    ),
    Family(
        key="ticket",
        names="ticket_price price fare fee",
        args=(NUMBER.of("score"),),
        returns="int",
        docs=(
            "{Return|Give} the {price|fare} for age @n: @p {under|below} @lo, @q from @hi on, "
            "and @r {otherwise|in between}.",
            "{Return|Give} @p if {the age |}@n is {under|below} @lo, @q if it is {at least "
            "@hi|@hi or more}, {else|otherwise} @r.",
        ),
        body=code("""
            if @n < @lo:
                return @p
            if @n >= @hi:
                return @q
            return @r
        """),
        constants={
            "lo,hi": [(lo, hi) for lo in range(4, 20) for hi in range(50, 75, 5)],
            "p,q,r": [(p, q, r) for p in range(2, 6) for q in range(6, 10) for r in range(10, 14)],
        },
    ),
    Family(
        key="two_numbers",
        names="check_@twname numbers_@twname test_@twname",
        args=(FIRST, SECOND),
        returns="bool",
        docs=(f"{CHECK} @twhow @a and @b @verb @twwhat.",),
        body="return @code",
        parts=(
            (
                {
                    "twname": "all",
                    "twhow": "{both|both of}",
                    "verb": "are",
                    "code": "@left and @right",
                },
                {
                    "twname": "any",
                    "twhow": "{at least one of|one or both of}",
                    "verb": "is",
                    "code": "@left or @right",
                },
                {
                    "twname": "one",
                    "twhow": "{exactly one of|just one of}",
                    "verb": "is",
                    "code": "(@left) != (@right)",
                },
                {
                    "twname": "none",
                    "twhow": "{neither of|none of}",
                    "verb": "is",
                    "code": "not (@left or @right)",
                },
            ),
            (
                {"twwhat": "even", "left": "@a % 2 == 0", "right": "@b % 2 == 0"},
                {"twwhat": "{above|greater than} @k", "left": "@a > @k", "right": "@b > @k"},
                {"twwhat": "{below|less than} @k", "left": "@a < @k", "right": "@b < @k"},
                {
                    "twwhat": "{divisible by|evenly divisible by} @k",
                    "left": "@a % @k == 0",
                    "right": "@b % @k == 0",
                },
                {"twwhat": "{positive|above zero}", "left": "@a > 0", "right": "@b > 0"},
            ),
        ),
        constants={"k": range(2, 12)},
        weight=2,
    ),
)
