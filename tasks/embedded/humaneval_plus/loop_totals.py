"""Totals that are kept step by step over lists, letters and digits."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NATURAL, NUMBERS, POSITIVE, STRING, Family, code
from tasks.embedded.humaneval_plus.parts import limit_tests

RETURN = "{Return|Compute|Find|Give}"

FAMILIES: tuple[Family, ...] = (
    Family(
        key="alternating",
        names="alternating alternating_sum plus_minus",
        args=(NUMBERS,),
        returns="int",
        docs=(
            f"{RETURN} the {{alternating sum|result of adding and subtracting by turns}} of "
            f"{{@xs|the numbers in @xs}}: the first is @startname, the next {{the other way|the "
            f"opposite}}, and so on.",
        ),
        body=code("""
            total = 0
            sign = @one
            for x in @xs:
                total += sign * x
                sign = -sign
            return total
        """),
        parts=(
            (
                {"startname": "{added|plus}", "one": "1"},
                {"startname": "{subtracted|minus}", "one": "-1"},
            ),
        ),
    ),
    Family(
        key="to_base",
        names="to_base base_digits convert_base",
        args=(NATURAL.of("positive"),),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of {{the |}}{{digits|base-@m digits}} of {{@n|the positive "
            f"number @n}} in base @m, {{the @endname first|@endname digit first}}.",
        ),
        body=code("""
            result = []
            while @n > 0:
                result.append(@n % @m)
                @n //= @m
            return result@turn
        """),
        parts=(
            (
                {"endname": "{last|lowest}", "turn": ""},
                {"endname": "{leading|highest}", "turn": "[::-1]"},
            ),
        ),
        constants={"m": range(2, 10)},
    ),
    Family(
        key="sum_until",
        names="sum_until enough how_many_needed",
        args=(NUMBERS,),
        returns="int",
        docs=(
            "{Count|Return} how many {elements|numbers} from the start of @xs are {needed|added} "
            "until their sum is @reached @k, or -1 if it never is.",
        ),
        body=code("""
            total = 0
            for i, x in enumerate(@xs):
                total += x
                if total @op @k:
                    return i + 1
            return -1
        """),
        parts=(
            (
                {"reached": "{at least|no less than}", "op": ">="},
                {"reached": "{above|greater than}", "op": ">"},
            ),
        ),
        constants={"k": range(5, 30)},
    ),
    Family(
        key="balance",
        names="depth balance track height",
        args=(STRING,),
        returns="@type",
        docs=(
            "{Start|Begin} at 0, go up by @p for {each|every} '@c' {in|of} @s and down by @q for "
            "{each|every} other letter; return @bawhat.",
        ),
        body=code("""
            level = 0
            result = [0]
            for c in @s:
                level += @p if c == '@c' else -@q
                result.append(level)
            return @baend
        """),
        parts=(
            (
                {"bawhat": "the {last|final} level", "baend": "level", "type": "int"},
                {"bawhat": "the highest level", "baend": "max(result)", "type": "int"},
                {"bawhat": "the lowest level", "baend": "min(result)", "type": "int"},
            ),
        ),
        constants={"c": "abcdeghilmnorst", "p": range(1, 6), "q": range(1, 6)},
    ),
    Family(
        key="count_range",
        names="count_@which_to num_@which_to range_@which",
        args=(POSITIVE,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}numbers {from 1 to @n|up to @n, from 1 on,} "
            "whose @raname @isit.",
        ),
        body="return sum(1 for i in range(1, @n + 1) if @test)",
        parts=(
            (
                {"raname": "digit sum", "val": "sum(int(c) for c in str(i))"},
                {"raname": "last digit", "val": "i % 10"},
                {"raname": "first digit", "val": "int(str(i)[0])"},
            ),
            limit_tests("@val"),
        ),
        constants={"t": range(1, 9)},
    ),
)
