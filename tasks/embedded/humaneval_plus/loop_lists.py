"""Lists and grids that are built step by step."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.conditions import CALLS
from tasks.embedded.humaneval_plus.family import NATURAL, Family, code

RETURN = "{Return|Compute|Find|Give}"
SMALL = NATURAL.of("small")

FAMILIES: tuple[Family, ...] = (
    Family(
        key="fizz_list",
        names="fizz_list call_list say_all",
        args=(SMALL,),
        returns="list[str]",
        docs=(
            "{Return|Give} a list for the numbers {1 to|from 1 to} @n: '@first' for multiples of "
            "@m, {else|otherwise} the number as a string.",
            "{List|Write down} the numbers {1 to|from 1 to} @n as strings, but '@first' {for|in "
            "place of} multiples of @m.",
        ),
        body="return ['@first' if i % @m == 0 else str(i) for i in range(1, @n + 1)]",
        constants={"first,second": CALLS, "m": range(2, 8)},
    ),
    Family(
        key="digital_root",
        names="digital_root sum_until_small reduce_digits",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Replace|Keep replacing} {@n|the number @n} by the sum of its {digits|decimal "
            "digits} until it is {below|less than} @k, and return {it|the result}.",
        ),
        body=code("""
            while @n >= @k:
                @n = sum(int(c) for c in str(@n))
            return @n
        """),
        constants={"k": range(10, 40)},
    ),
    Family(
        key="repeat_step",
        names="repeat_step iterate apply_times simulate",
        args=(SMALL,),
        returns="@type",
        docs=(
            "{Start|Begin} with @k and @n times {in a row |}@change; return @rewhat.",
            "{Return|Give} @rewhat {after|resulting from} @n steps that start at @k, where each "
            "step is to @change.",
        ),
        body=code("""
            x = @k
            result = [@k]
            for i in range(@n):
                x = @next
                result.append(x)
            return @end
        """),
        parts=(
            (
                {"change": "multiply it by @m", "next": "x * @m"},
                {"change": "multiply it by @m and add @p", "next": "x * @m + @p"},
                {"change": "add @p", "next": "x + @p"},
                {"change": "subtract @p", "next": "x - @p"},
                {"change": "square it and take it modulo @h", "next": "x * x % @h"},
            ),
            (
                {
                    "rewhat": "the list of all values, with the start",
                    "end": "result",
                    "type": "list[int]",
                },
                {"rewhat": "the {last|final} value", "end": "x", "type": "int"},
                {
                    "rewhat": "the {sum|total} of all values, with the start",
                    "end": "sum(result)",
                    "type": "int",
                },
            ),
        ),
        constants={"k": range(2, 10), "m": range(2, 6), "p": range(1, 10), "h": range(11, 40)},
        weight=2,
    ),
    Family(
        key="grid",
        names="grid_@grname make_@grname table_@grname",
        args=(SMALL,),
        returns="list[list[int]]",
        docs=(
            f"{RETURN} a list of @n {{rows|lists}} of @k {{numbers|integers}} each, where row i "
            f"and column j (from 0) {{hold|have}} @grwhat.",
        ),
        body="return [[@term for j in range(@k)] for i in range(@n)]",
        parts=(
            (
                {"grname": "products", "grwhat": "{i * j|the product i * j}", "term": "i * j"},
                {"grname": "sums", "grwhat": "{i + j|the sum i + j}", "term": "i + j"},
                {"grname": "numbered", "grwhat": "@m * i + j", "term": "@m * i + j"},
                {"grname": "constant", "grwhat": "@m", "term": "@m"},
            ),
        ),
        constants={"k": range(2, 7), "m": range(2, 10)},
    ),
    Family(
        key="powers",
        names="powers powers_up_to list_powers",
        args=(NATURAL,),
        returns="list[int]",
        docs=(
            "{Return|Give} the {list of |}powers of @m{, starting with 1,| from 1 on} that are "
            "{at most @n|not above @n}.",
        ),
        body=code("""
            result = []
            x = 1
            while x <= @n:
                result.append(x)
                x *= @m
            return result
        """),
        constants={"m": range(2, 12)},
    ),
    Family(
        key="stairs",
        names="stairs rows_of pyramid staircase",
        args=(SMALL,),
        returns="list[str]",
        docs=(
            "{Return|Give|Build} a list of @n strings of '@mark': @order.",
            "{Draw|Build} @n {rows|lines} of '@mark' as a list: @order.",
        ),
        body="return ['@mark' * i for i in @over]",
        parts=(
            (
                {
                    "order": "{first 1, then 2|1 long, 2 long} and so on",
                    "over": "range(1, @n + 1)",
                },
                {
                    "order": "{first @n, then one less|@n long, then one less} and so on, down "
                    "to 1",
                    "over": "range(@n, 0, -1)",
                },
                {
                    "order": "{first @m, then one more|@m long, then one more} each time",
                    "over": "range(@m, @m + @n)",
                },
                {
                    "order": "{first @m, then @m more|@m long, then @m more} each time",
                    "over": "range(@m, @m * @n + 1, @m)",
                },
            ),
        ),
        constants={"mark": "*#+-=oxab", "m": range(2, 7)},
    ),
    Family(
        key="first_that",
        names="first_@which next_@which @which_numbers",
        args=(SMALL,),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of the first @n {{positive numbers|numbers from 1 on}} that are "
            f"@that.",
        ),
        body=code("""
            result = []
            x = 1
            while len(result) < @n:
                if @test:
                    result.append(x)
                x += 1
            return result
        """),
        parts=(
            (
                {
                    "which": "multiples",
                    "that": "{multiples of|divisible by} @m",
                    "test": "x % @m == 0",
                },
                {
                    "which": "others",
                    "that": "{not multiples of|not divisible by} @m",
                    "test": "x % @m != 0",
                },
                {
                    "which": "remainders",
                    "that": "1 {modulo|when taken modulo} @m",
                    "test": "x % @m == 1",
                },
                {
                    "which": "shared",
                    "that": "{divisible by @m or 5|multiples of @m or of 5}",
                    "test": "x % @m == 0 or x % 5 == 0",
                },
            ),
        ),
        constants={"m": [2, 3, 4, 6, 7, 8, 9]},
    ),
)
