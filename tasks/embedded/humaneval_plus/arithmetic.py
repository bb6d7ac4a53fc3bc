"""Whole numbers: digits, divisors, powers and products."""

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
from tasks.embedded.humaneval_plus.parts import limit_tests

RETURN = "{Return|Compute|Find|Calculate}"
NAMED = "{@n|the number @n|the integer @n}"
NATURAL_NUMBER = "{@n|the whole number @n|the non-negative number @n}"

FAMILIES: tuple[Family, ...] = (
    Family(
        key="clamp",
        names="clamp limit bound restrict",
        args=(NUMBER,),
        returns="int",
        docs=(
            f"{{Limit|Clamp|Restrict}} {NAMED} to the range from @lo to @hi.",
            "{Return|Give} {@n|the number @n}, but {at least @lo and at most @hi"
            "|no less than @lo and no more than @hi}.",
        ),
        body="return max(@lo, min(@hi, @n))",
        constants={"lo,hi": [(lo, hi) for lo in range(-5, 9) for hi in range(lo + 2, 25)]},
    ),
    Family(
        key="digit_reduce",
        names="digit_@dred @dred_digits @dred_of_digits",
        args=(NATURAL,),
        returns="int",
        docs=(
            f"{RETURN} the @dwhat the @ones of {NATURAL_NUMBER}.@dtail",
            f"{{Look at|Take}} the @ones of {NATURAL_NUMBER} and return their @dnoun.@dtail",
        ),
        body="return @dcode",
        parts=(
            (
                {
                    "dred": "sum",
                    "dwhat": "{sum|total} of",
                    "dnoun": "{sum|total}",
                    "dtail": "",
                    "dcode": "sum(@gen)",
                },
                {
                    "dred": "max",
                    "dwhat": "{largest|maximum} of",
                    "dnoun": "maximum",
                    "dtail": " Return 0 if there are none.",
                    "dcode": "max((@gen), default=0)",
                },
                {
                    "dred": "count",
                    "dwhat": "number of",
                    "dnoun": "{count|number}",
                    "dtail": "",
                    "dcode": "sum(1 for c in str(@n) if @test)",
                },
            ),
            limit_tests("int(c)", "digits"),
            ({"gen": "int(c) for c in str(@n) if @test"},),
        ),
        constants={"t": range(1, 9)},
        weight=2,
    ),
    Family(
        key="digit_sum",
        names="digit_sum sum_digits add_digits",
        args=(NATURAL,),
        returns="int",
        docs=(
            f"{RETURN} the {{sum|total}} of {{the digits|all digits|the decimal digits}} of @n.",
            f"{{Add up|Sum}} {{the digits|all digits|the decimal digits}} of {NATURAL_NUMBER}.",
        ),
        body=code("""
            total = 0
            while @n > 0:
                total += @n % 10
                @n //= 10
            return total
        """),
    ),
    Family(
        key="reverse_digits",
        names="reverse_digits reverse_number flip_digits",
        args=(NATURAL,),
        returns="int",
        docs=(
            f"{{Return|Give|Compute}} the number {{made of|that has|with}} the digits of "
            f"{NATURAL_NUMBER} in {{reverse order|reverse}}.",
            f"{{Reverse|Flip}} the digits of {NATURAL_NUMBER}{{| and return the number}}.",
        ),
        body="return int(str(@n)[::-1])",
    ),
    Family(
        key="gcd",
        names="gcd greatest_common_divisor common_divisor hcf",
        args=(FIRST.of("positive"), SECOND.of("positive")),
        returns="int",
        docs=(
            f"{RETURN} the {{greatest|largest|biggest}} {{common divisor|common factor}} of "
            "@a and @b{| (both positive)}.",
            "{Return|Find} the {largest|greatest} number that divides {both @a and @b|@a and @b}.",
        ),
        body=code("""
            while @b:
                @a, @b = @b, @a % @b
            return @a
        """),
    ),
    Family(
        key="lcm",
        names="lcm least_common_multiple common_multiple",
        args=(FIRST.of("positive"), SECOND.of("positive")),
        returns="int",
        docs=(
            f"{RETURN} the {{least|smallest|lowest}} common multiple of @a and @b{{| (both "
            f"positive)}}.",
            "{Return|Find} the {least|smallest|lowest} positive number that {both @a and @b divide"
            "|is a multiple of both @a and @b}.",
        ),
        body=code("""
            result = @a
            while result % @b != 0:
                result += @a
            return result
        """),
    ),
    Family(
        key="running_product",
        names="factorial product_to running_product multiply_range",
        args=(NUMBER.of("small"),),
        returns="int",
        docs=(
            f"{RETURN} the {{product of|result of multiplying}} {{all|the}} @factors "
            "{from 1 to @n|up to @n, starting at 1}{.|, or 1 if there are none.}",
        ),
        body=code("""
            result = 1
            for i in range(1, @n + 1@by):
                result *= @factor
            return result
        """),
        parts=(
            (
                {"factors": "{integers|whole numbers|numbers}", "by": "", "factor": "i"},
                {"factors": "odd {integers|numbers}", "by": ", 2", "factor": "i"},
                {"factors": "squares of the numbers", "by": "", "factor": "i * i"},
                {"factors": "numbers i + @k for i", "by": "", "factor": "i + @k"},
                {"factors": "doubles of the numbers", "by": "", "factor": "i * 2"},
            ),
        ),
        constants={"k": range(1, 9)},
    ),
    Family(
        key="power",
        names="power raise_to to_power powered",
        args=(NUMBER,),
        returns="int",
        docs=(
            f"{RETURN} {NAMED} {{raised to the power @k|to the power of @k}}.",
            f"{{Raise|Take}} {NAMED} to the power @k.",
        ),
        body="return @n ** @k",
        constants={"k": range(2, 8)},
    ),
    Family(
        key="is_prime",
        names="is_prime check_prime prime_test",
        args=(NATURAL,),
        returns="bool",
        docs=(
            f"{{Return True if|Check whether|Tell whether|Test if}} {NATURAL_NUMBER} is "
            "{prime|a prime number}{|. Numbers below 2 are not}.",
        ),
        body=code("""
            if @n < 2:
                return False
            for i in range(2, int(@n ** 0.5) + 1):
                if @n % i == 0:
                    return False
            return True
        """),
    ),
    Family(
        key="divisors",
        names="@divs divisor_@divs get_@divs",
        args=(POSITIVE,),
        returns="@type",
        docs=(
            f"{RETURN} the @divisors {{divisors|factors}} of {{@n|the positive number "
            f"@n}}@except.",
        ),
        body="return @divcode",
        parts=(
            (
                {
                    "divs": "count",
                    "divisors": "{number of|count of}",
                    "divcode": "sum(1 for i in range(1, @upto) if @n % i == 0)",
                    "type": "int",
                },
                {
                    "divs": "total",
                    "divisors": "{sum of|total of} the",
                    "divcode": "sum(i for i in range(1, @upto) if @n % i == 0)",
                    "type": "int",
                },
                {
                    "divs": "listed",
                    "divisors": "{list of|ascending list of} the",
                    "divcode": "[i for i in range(1, @upto) if @n % i == 0]",
                    "type": "list[int]",
                },
            ),
            (
                {"except": "{|, including 1 and @n}", "upto": "@n + 1"},
                {"except": "{, except @n itself|, without @n itself}", "upto": "@n"},
            ),
        ),
    ),
    Family(
        key="smallest_divisor",
        names="smallest_divisor least_factor first_divisor",
        args=(NUMBER.of("positive"),),
        returns="int",
        docs=(
            f"{RETURN} the {{smallest|least}} {{divisor|factor}} of {{@n|the number @n}} that is "
            "{above|greater than} @k{.|, or @n if there is none.| (@n if there is none).}",
        ),
        body=code("""
            for i in range(@after, @n):
                if @n % i == 0:
                    return i
            return @n
        """),
        constants={"k,after": [(k, k + 1) for k in range(1, 10)]},
    ),
    Family(
        key="multiples_of_two",
        names="sum_multiples add_multiples multiples_total",
        args=(POSITIVE,),
        returns="int",
        docs=(
            f"{RETURN} the {{sum|total}} of the numbers below @n that are {{multiples of"
            "|divisible by} @lo @conj @hi.",
        ),
        body="return sum(i for i in range(@n) if i % @lo == 0 @conj i % @hi == 0)",
        parts=(({"conj": "or"}, {"conj": "and"}),),
        constants={"lo,hi": [(lo, hi) for lo in range(2, 8) for hi in range(lo + 1, 10)]},
    ),
)
