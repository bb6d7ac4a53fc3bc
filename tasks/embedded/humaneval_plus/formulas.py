"""Whole numbers put into a formula: steps, rounding, shares."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import (
    FIRST,
    NATURAL,
    NUMBER,
    POSITIVE,
    SECOND,
    Family,
    code,
)

RETURN = "{Return|Compute|Find|Calculate}"
NATURAL_NUMBER = "{@n|the whole number @n|the non-negative number @n}"
STEPS = (
    {"did": "{double|twice}", "one": "@n * 2"},
    {"did": "the square of", "one": "@n * @n"},
    {"did": "@f times", "one": "@n * @f"},
    {"did": "the absolute value of", "one": "abs(@n)"},
    {"did": "half (rounded down) of", "one": "@n // 2"},
    {"did": "the cube of", "one": "@n ** 3"},
)
THEN = (
    {"then": "{plus|increased by} @k", "two": "+ @k"},
    {"then": "{minus|decreased by} @k", "two": "- @k"},
    {"then": "modulo @k", "two": "% @k"},
)
PAIRS = (
    {"pair": "sum", "both": "@a + @b"},
    {"pair": "difference", "both": "@a - @b"},
    {"pair": "product", "both": "@a * @b"},
    {"pair": "{maximum|larger}", "both": "max(@a, @b)"},
    {"pair": "{minimum|smaller}", "both": "min(@a, @b)"},
)
OUTER = (
    {"outer": "square", "done": "(@both) ** 2"},
    {"outer": "double", "done": "(@both) * 2"},
    {"outer": "absolute value", "done": "abs(@both)"},
    {"outer": "negative", "done": "-(@both)"},
    {"outer": "last value modulo @k", "done": "(@both) % @k"},
)

FAMILIES: tuple[Family, ...] = (
    Family(
        key="triangle_number",
        names="triangle triangle_number nth_triangle",
        args=(NATURAL,),
        returns="int",
        docs=(
            f"{RETURN} the {{sum|total}} of {{all|the}} {{integers|whole numbers}} from 1 to @n"
            "{| without a loop}@extra.",
            "{Return|Give} the triangle number of @n, 1 + 2 + ... + @n@extra.",
        ),
        body="return @n * (@n + 1) // 2@added",
        parts=(
            (
                {"extra": "", "added": ""},
                {"extra": ", plus @k", "added": " + @k"},
                {"extra": ", times @k", "added": " * @k"},
            ),
        ),
        constants={"k": range(2, 10)},
    ),
    Family(
        key="round_to_multiple",
        names="round_@way @way_multiple round_to",
        args=(NATURAL,),
        returns="int",
        docs=(
            f"{{Round|Take}} {NATURAL_NUMBER} @way to {{a|the next}} multiple of @k.",
            f"{RETURN} the @nearest multiple of @k that is @compared @n.",
        ),
        body="return @rounded",
        parts=(
            (
                {
                    "way": "down",
                    "nearest": "{largest|greatest}",
                    "compared": "{at most|not above}",
                    "rounded": "@n // @k * @k",
                },
                {
                    "way": "up",
                    "nearest": "{smallest|least}",
                    "compared": "{at least|not below}",
                    "rounded": "(@n + @k - 1) // @k * @k",
                },
            ),
        ),
        constants={"k": range(3, 25)},
    ),
    Family(
        key="two_steps",
        names="transform calc compute formula",
        args=(NUMBER,),
        returns="int",
        docs=(f"{RETURN} @did @n, {{all |the result |}}@then.",),
        body="return (@one) @two",
        parts=(STEPS, THEN),
        constants={"f": range(3, 10), "k": range(2, 20)},
        weight=2,
    ),
    Family(
        key="pair_formula",
        names="combine pair_value join_numbers mix",
        args=(FIRST, SECOND),
        returns="int",
        docs=(
            f"{RETURN} the @outer of the @pair of @a and @b.",
            "{Take|Form} the @pair of @a and @b and return its @outer.",
        ),
        body="return @done",
        parts=(PAIRS, OUTER),
        constants={"k": range(2, 12)},
        weight=2,
    ),
    Family(
        key="average",
        names="average mean middle",
        args=(FIRST, SECOND),
        returns="@type",
        docs=(f"{RETURN} the {{average|mean|arithmetic mean}} of @a and @b@rounding.",),
        body="return (@a + @b) @over 2",
        parts=(
            (
                {"rounding": "{| as a float}", "over": "/", "type": "float"},
                {
                    "rounding": "{, rounded down| rounded down to an integer}",
                    "over": "//",
                    "type": "int",
                },
            ),
        ),
    ),
    Family(
        key="is_power",
        names="is_power power_of check_power",
        args=(POSITIVE,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} {@n|the positive number @n} is "
            "{a power of @k|@k to some power}{| (1 counts)}.",
        ),
        body=code("""
            while @n % @k == 0:
                @n //= @k
            return @n == 1
        """),
        constants={"k": range(2, 11)},
    ),
    Family(
        key="boxes",
        names="pack fill_boxes split_up share",
        args=(NATURAL,),
        returns="list[int]",
        docs=(
            "{Pack|Put} @n {things|eggs|books} {into boxes|in boxes} of @k and return a list: the "
            "number of full boxes and {the number left over|what is left over}.",
            "{Return|Give} the list of the {quotient|whole part} and the {remainder|rest} of @n "
            "divided by @k.",
        ),
        body="return [@n // @k, @n % @k]",
        constants={"k": range(3, 25)},
    ),
    Family(
        key="percent",
        names="change_price new_price adjust",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Return|Give|Compute} {@n|the price @n} {@direction by @k percent|@k percent "
            "@less}, with the "
            "change rounded down.",
        ),
        body="return @n @sign @n * @k // 100",
        parts=(
            (
                {"direction": "{increased|raised}", "less": "higher", "sign": "+"},
                {"direction": "{decreased|reduced}", "less": "lower", "sign": "-"},
            ),
        ),
        constants={"k": range(5, 60, 5)},
    ),
)
