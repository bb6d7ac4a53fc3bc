"""Parts that many families share: tests of numbers, mappings, ways to sum up.

A family combines them, and an evaluation item is a combination in words that training never
showed, of parts that it showed in others.
"""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import Choices, Part

#: What `number_tests` and `number_maps` draw.
NUMBER_CONSTANTS: dict[str, Choices] = {
    "f": range(2, 8),
    "t": range(10),
    "lo,hi": [(low, high) for low in range(1, 8) for high in range(low + 3, 20)],
    "m": range(2, 10),
}


def limit_tests(v: str, noun: str = "numbers") -> tuple[Part, ...]:
    """Tests of a number written `v` that suit digits as well.

    `ones`, those that pass, are told in the plural; `isit` is the verb.
    """
    return (
        {"which": "even", "ones": f"even {noun}", "isit": "is even", "test": f"{v} % 2 == 0"},
        {"which": "odd", "ones": f"odd {noun}", "isit": "is odd", "test": f"{v} % 2 == 1"},
        {
            "which": "above",
            "ones": f"{noun} {{above|greater than|over}} @t",
            "isit": "is {above|greater than|over} @t",
            "test": f"{v} > @t",
        },
        {
            "which": "below",
            "ones": f"{noun} {{below|less than|under}} @t",
            "isit": "is {below|less than|under} @t",
            "test": f"{v} < @t",
        },
        {
            "which": "min",
            "ones": f"{noun} that are {{at least @t|@t or more}}",
            "isit": "is {at least @t|@t or more}",
            "test": f"{v} >= @t",
        },
        {
            "which": "max",
            "ones": f"{noun} that are {{at most @t|@t or less}}",
            "isit": "is {at most @t|@t or less}",
            "test": f"{v} <= @t",
        },
        {
            "which": "other",
            "ones": f"{noun} {{other than|different from|not equal to}} @t",
            "isit": "is {not|different from|not equal to} @t",
            "test": f"{v} != @t",
        },
    )


def number_tests(v: str, noun: str = "numbers") -> tuple[Part, ...]:
    """Tests of a number written `v`, told as in `limit_tests`."""
    return (
        *limit_tests(v, noun),
        {
            "which": "multiple",
            "ones": f"{{multiples of @f|{noun} divisible by @f}}",
            "isit": "is {a multiple of|divisible by} @f",
            "test": f"{v} % @f == 0",
        },
        {
            "which": "indivisible",
            "ones": f"{noun} {{not divisible by @f|that are not multiples of @f}}",
            "isit": "is {not divisible by|not a multiple of} @f",
            "test": f"{v} % @f != 0",
        },
        {
            "which": "between",
            "ones": f"{noun} {{from @lo to @hi|between @lo and @hi (inclusive)}}",
            "isit": "is {from @lo to @hi|between @lo and @hi (inclusive)}",
            "test": f"@lo <= {v} <= @hi",
        },
        {
            "which": "positive",
            "ones": f"{{positive {noun}|{noun} above zero}}",
            "isit": "is {positive|above zero}",
            "test": f"{v} > 0",
        },
        {
            "which": "negative",
            "ones": f"{{negative {noun}|{noun} below zero}}",
            "isit": "is {negative|below zero}",
            "test": f"{v} < 0",
        },
    )


def number_maps(v: str) -> tuple[Part, ...]:
    """Mappings of a number written `v`: `of`, a prefix, and `each`, a command."""
    return (
        {"how": "square", "of": "squares of", "each": "square each", "expr": f"{v} * {v}"},
        {"how": "cube", "of": "cubes of", "each": "cube each", "expr": f"{v} ** 3"},
        {
            "how": "times",
            "of": "{products of @m and|results of multiplying by @m}",
            "each": "multiply each by @m",
            "expr": f"{v} * @m",
        },
        {
            "how": "plus",
            "of": "results of adding @m to",
            "each": "{add @m to each|increase each by @m}",
            "expr": f"{v} + @m",
        },
        {
            "how": "minus",
            "of": "results of subtracting @m from",
            "each": "{subtract @m from each|decrease each by @m}",
            "expr": f"{v} - @m",
        },
        {
            "how": "half",
            "of": "halves (rounded down) of",
            "each": "halve each, rounding down",
            "expr": f"{v} // 2",
        },
        {
            "how": "abs",
            "of": "{absolute values|magnitudes} of",
            "each": "take the absolute value of each",
            "expr": f"abs({v})",
        },
        {"how": "neg", "of": "negatives of", "each": "negate each", "expr": f"-{v}"},
        {
            "how": "mod",
            "of": "{remainders|values} modulo @m of",
            "each": "take each modulo @m",
            "expr": f"{v} % @m",
        },
    )


NO_TAIL = ""
OR_ZERO = "{ Return 0 if there are none.| If there are none, return 0.| The result for none is 0.}"
#: Ways to sum up a generator expression @gen: `what`, a noun with "of", and what it returns.
REDUCTIONS: tuple[Part, ...] = (
    {"red": "sum", "what": "{sum|total} of", "code": "sum(@gen)", "tail": NO_TAIL, "type": "int"},
    {
        "red": "largest",
        "what": "{largest|maximum} of",
        "code": "max((@gen), default=0)",
        "tail": OR_ZERO,
        "type": "int",
    },
    {
        "red": "smallest",
        "what": "{smallest|minimum} of",
        "code": "min((@gen), default=0)",
        "tail": OR_ZERO,
        "type": "int",
    },
    {
        "red": "distinct",
        "what": "{number of distinct values|count of different values} among",
        "code": "len({@gen})",
        "tail": NO_TAIL,
        "type": "int",
    },
)
LISTINGS: tuple[Part, ...] = (
    {"red": "list", "what": "list of", "code": "[@gen]", "tail": NO_TAIL, "type": "list[int]"},
    {
        "red": "sorted",
        "what": "{sorted list of|list in ascending order of}",
        "code": "sorted(@gen)",
        "tail": NO_TAIL,
        "type": "list[int]",
    },
    {
        "red": "descending",
        "what": "{list in descending order of|list from largest to smallest of}",
        "code": "sorted((@gen), reverse=True)",
        "tail": NO_TAIL,
        "type": "list[int]",
    },
    {
        "red": "backwards",
        "what": "{reversed list of|list in reverse order of}",
        "code": "[@gen][::-1]",
        "tail": NO_TAIL,
        "type": "list[int]",
    },
)
