"""Going on step by step: until a value is reached, or a number of times."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NATURAL, POSITIVE, Family, code

RETURN = "{Return|Compute|Find|Give}"
SMALL = NATURAL.of("small")

FAMILIES: tuple[Family, ...] = (
    Family(
        key="steps_to_zero",
        names="count_steps steps_down num_steps",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}steps until {@n|the number @n} is 0, if each "
            "step divides it by @m when it is {divisible by @m|a multiple of @m} "
            "and {else|otherwise} subtracts 1.",
        ),
        body=code("""
            count = 0
            while @n > 0:
                @n = @n // @m if @n % @m == 0 else @n - 1
                count += 1
            return count
        """),
        constants={"m": range(2, 12)},
    ),
    Family(
        key="collatz",
        names="collatz collatz_@coname path_@coname",
        args=(POSITIVE.of("positive"),),
        returns="int",
        docs=(
            f"{RETURN} the @cowhat of the sequence that starts at @n{{|, a positive number,}} "
            f"and {{halves|divides by 2}} even numbers and "
            "turns odd x {into|to} 3 * x + 1, {until 1|until it is 1}.",
        ),
        body=code("""
            result = @start
            while @n != 1:
                @n = @n // 2 if @n % 2 == 0 else 3 * @n + 1
                @step
            return result
        """),
        parts=(
            (
                {
                    "coname": "steps",
                    "cowhat": "{number|count} of steps",
                    "start": "0",
                    "step": "result += 1",
                },
                {
                    "coname": "peak",
                    "cowhat": "{largest|maximum} number",
                    "start": "@n",
                    "step": "result = max(result, @n)",
                },
                {
                    "coname": "total",
                    "cowhat": "{sum|total}",
                    "start": "@n",
                    "step": "result += @n",
                },
            ),
        ),
    ),
    Family(
        key="countdown",
        names="countdown count_@way steps_list @way_list",
        args=(NATURAL,),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of numbers from @from @way in steps of @m{{, not beyond @limit| "
            f"as far as @limit}}.",
            "{Count|Go} @way from @from by @m, {not beyond|as far as} @limit, and return the "
            "{list|numbers as a list}.",
        ),
        body="return list(range(@range))",
        parts=(
            (
                {"way": "down", "from": "@n", "limit": "1", "range": "@n, 0, -@m"},
                {"way": "down", "from": "@n", "limit": "0", "range": "@n, -1, -@m"},
                {"way": "up", "from": "0", "limit": "@n", "range": "0, @n + 1, @m"},
                {"way": "up", "from": "@m", "limit": "@n", "range": "@m, @n + 1, @m"},
            ),
        ),
        constants={"m": range(2, 13)},
    ),
    Family(
        key="nested_sum",
        names="nested_@nename double_loop grid_@nename",
        args=(SMALL,),
        returns="int",
        docs=(
            f"{RETURN} the {{sum|total}} of @newhat {{over|for}} all pairs i, j with i from 1 to "
            f"@n and j from 1 to @upper.",
            "{Add up|Sum} @newhat, where i goes from 1 to @n and {for each i, |}j from 1 to "
            "@upper.",
        ),
        body=code("""
            total = 0
            for i in range(1, @n + 1):
                for j in range(1, @upper + 1):
                    total += @term
            return total
        """),
        parts=(
            (
                {"nename": "products", "newhat": "{i * j|the products i * j}", "term": "i * j"},
                {"nename": "sums", "newhat": "{i + j|the sums i + j}", "term": "i + j"},
                {
                    "nename": "squares",
                    "newhat": "{i * i + j|the values i * i + j}",
                    "term": "i * i + j",
                },
                {
                    "nename": "remainders",
                    "newhat": "{i % j|the remainders i % j}",
                    "term": "i % j",
                },
                {"nename": "scaled", "newhat": "@m * i + j", "term": "@m * i + j"},
            ),
            ({"upper": "i"}, {"upper": "@n"}, {"upper": "@k"}),
        ),
        constants={"m": range(2, 10), "k": range(2, 7)},
        weight=2,
    ),
    Family(
        key="fibonacci",
        names="fib sequence nth_term recur",
        args=(SMALL,),
        returns="@type",
        docs=(
            f"{RETURN} the @fiwhat of the sequence that starts with @p, @q and where "
            f"{{each|every}} further {{term|number}} is @firule.",
            "A sequence {starts with|begins with} @p and @q, and each next {term|number} is "
            "@firule. {Return|Give} its @fiwhat.",
        ),
        body=code("""
            x, y = @p, @q
            result = []
            for i in range(@n):
                result.append(x)
                x, y = y, @finext
            return @fiend
        """),
        parts=(
            (
                {"fiwhat": "term @n (term 0 is @p)", "fiend": "x", "type": "int"},
                {"fiwhat": "first @n terms as a list", "fiend": "result", "type": "list[int]"},
                {"fiwhat": "first @n terms' {sum|total}", "fiend": "sum(result)", "type": "int"},
            ),
            (
                {"firule": "the sum of the two before", "finext": "x + y"},
                {"firule": "the product of the two before", "finext": "x * y"},
                {"firule": "the sum of the two before, plus @k", "finext": "x + y + @k"},
                {"firule": "@k times the last plus the one before", "finext": "@k * y + x"},
            ),
        ),
        constants={"p,q": [(p, q) for p in range(5) for q in range(1, 6)], "k": range(2, 6)},
        weight=2,
    ),
    Family(
        key="halve_until",
        names="times_divided halve_count divide_until",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Count|Return} how often {@n|the number @n} {must be|has to be} divided by @m "
            "(rounding down) until it is {below|less than} @k.",
        ),
        body=code("""
            count = 0
            while @n >= @k:
                @n //= @m
                count += 1
            return count
        """),
        constants={"m": range(2, 8), "k": range(2, 20)},
    ),
    Family(
        key="grow_until",
        names="grow_until growth_steps times_grown",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}steps {until|it takes until} a value that "
            "starts at @k and is @grown {in each step|each time} {exceeds @n|is above @n}.",
        ),
        body=code("""
            x = @k
            count = 0
            while x <= @n:
                x @grow
                count += 1
            return count
        """),
        parts=(
            (
                {"grown": "{multiplied by @m|made @m times as large}", "grow": "*= @m"},
                {"grown": "increased by @m", "grow": "+= @m"},
            ),
        ),
        constants={"m": range(2, 8), "k": range(1, 10)},
    ),
)
