"""Lists of numbers: what is where, what is replaced, where to stop."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NUMBERS, Family, code
from tasks.embedded.humaneval_plus.parts import NUMBER_CONSTANTS, number_tests

RETURN = "{Return|Find|Give|Compute}"
LIST = "{@xs|the list @xs}"
TESTS = number_tests("x")

FAMILIES: tuple[Family, ...] = (
    Family(
        key="index_of",
        names="index_@which find_@which @end_@which position_@which",
        args=(NUMBERS,),
        returns="int",
        docs=(
            f"{RETURN} the {{index|position}} of the @end number in @xs that @isit"
            "{, or -1 if there is none.| (-1 if there is none).|. Return -1 if there is none.}",
        ),
        body=code("""
            for i in @order:
                x = @xs[i]
                if @test:
                    return i
            return -1
        """),
        parts=(
            (
                {"end": "first", "order": "range(len(@xs))"},
                {"end": "last", "order": "range(len(@xs) - 1, -1, -1)"},
            ),
            TESTS,
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="indices",
        names="indices_@which where_@which positions_@which",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(f"{RETURN} the {{list of |}}{{indices|positions}} of the @ones in {LIST}.",),
        body="return [i for i, x in enumerate(@xs) if @test]",
        parts=(TESTS,),
        constants=NUMBER_CONSTANTS,
    ),
    Family(
        key="partition",
        names="partition_@which split_@which separate_@which",
        args=(NUMBERS,),
        returns="list[list[int]]",
        docs=(
            f"{{Split|Separate}} {LIST} into two lists: first the @ones, then the "
            "{other numbers|others|rest}.",
            f"{{Return|Give}} a list of two lists: the @ones in {LIST}, and the {{others|rest}}.",
        ),
        body=code("""
            left = [x for x in @xs if @test]
            right = [x for x in @xs if not @test]
            return [left, right]
        """),
        parts=(TESTS,),
        constants=NUMBER_CONSTANTS,
    ),
    Family(
        key="replace_if",
        names="replace_@which change_@which set_@which",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{{Change|Set}} the @ones in {LIST} @news and leave the {{others|rest}}.",
            f"{{Return|Give}} {LIST} with the @ones {{changed|set}} @news.",
        ),
        body="return [@new if @test else x for x in @xs]",
        parts=(
            (
                {"news": "to @r", "new": "@r"},
                {"news": "to their squares", "new": "x * x"},
                {"news": "to their negatives", "new": "-x"},
                {"news": "to their doubles", "new": "x * 2"},
            ),
            TESTS,
        ),
        constants={**NUMBER_CONSTANTS, "r": range(10)},
        weight=2,
    ),
    Family(
        key="before_stop",
        names="@sofar_until_@which until_@which @sofar_before",
        args=(NUMBERS,),
        returns="@type",
        docs=(
            f"{RETURN} the @part of the numbers in @xs that {{come before|precede}} the first "
            "one that @isit{| (all if there is none)}.",
        ),
        body=code("""
            result = @start
            for x in @xs:
                if @test:
                    break
                @step
            return result
        """),
        parts=(
            (
                {
                    "sofar": "sum",
                    "part": "{sum|total}",
                    "start": "0",
                    "step": "result += x",
                    "type": "int",
                },
                {
                    "sofar": "count",
                    "part": "{number|count}",
                    "start": "0",
                    "step": "result += 1",
                    "type": "int",
                },
                {
                    "sofar": "list",
                    "part": "list",
                    "start": "[]",
                    "step": "result.append(x)",
                    "type": "list[int]",
                },
            ),
            TESTS,
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
)
