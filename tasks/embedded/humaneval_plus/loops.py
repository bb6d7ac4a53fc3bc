"""Functions that go on step by step."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.conditions import CALLS
from tasks.embedded.humaneval_plus.family import NATURAL, NUMBERS, POSITIVE, STRING, Family, code
from tasks.embedded.humaneval_plus.parts import number_tests

RETURN = "{Return|Compute|Find|Give}"
SMALL = NATURAL.of("small")

FAMILIES: tuple[Family, ...] = (
    Family(
        key="steps_to_zero",
        names="count_steps steps_down num_steps",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}steps until {@n|the number @n} is 0, if each step divides it by @m when it is {divisible by @m|a multiple of @m} "
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
            f"{RETURN} the @cowhat of the sequence that starts at @n{{|, a positive number,}} and {{halves|divides by 2}} even numbers and "
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
                {"coname": "steps", "cowhat": "{number|count} of steps", "start": "0", "step": "result += 1"},
                {"coname": "peak", "cowhat": "{largest|maximum} number", "start": "@n", "step": "result = max(result, @n)"},
                {"coname": "total", "cowhat": "{sum|total}", "start": "@n", "step": "result += @n"},
            ),
        ),
    ),
    Family(
        key="countdown",
        names="countdown count_@way steps_list @way_list",
        args=(NATURAL,),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of numbers from @from @way in steps of @m{{, not beyond @limit| as far as @limit}}.",
            "{Count|Go} @way from @from by @m, {not beyond|as far as} @limit, and return the {list|numbers as a list}.",
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
            f"{RETURN} the {{sum|total}} of @newhat {{over|for}} all pairs i, j with i from 1 to @n and j from 1 to @upper.",
            "{Add up|Sum} @newhat, where i goes from 1 to @n and {for each i, |}j from 1 to @upper.",
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
                {"nename": "squares", "newhat": "{i * i + j|the values i * i + j}", "term": "i * i + j"},
                {"nename": "remainders", "newhat": "{i % j|the remainders i % j}", "term": "i % j"},
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
            f"{RETURN} the @fiwhat of the sequence that starts with @p, @q and where {{each|every}} further {{term|number}} is @firule.",
            "A sequence {starts with|begins with} @p and @q, and each next {term|number} is @firule. {Return|Give} its @fiwhat.",
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
        constants={"p,q": [(p, q) for p in range(0, 5) for q in range(1, 6)], "k": range(2, 6)},
        weight=2,
    ),
    Family(
        key="halve_until",
        names="times_divided halve_count divide_until",
        args=(NATURAL,),
        returns="int",
        docs=(
            "{Count|Return} how often {@n|the number @n} {must be|has to be} divided by @m (rounding down) until it is {below|less than} @k.",
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
            "{Count|Return the number of} {the |}steps {until|it takes until} a value that starts at @k and is @grown {in each step|each time} {exceeds @n|is above @n}.",
        ),
        body=code("""
            x = @k
            count = 0
            while x <= @n:
                x @grow
                count += 1
            return count
        """),
        parts=(({"grown": "{multiplied by @m|made @m times as large}", "grow": "*= @m"}, {"grown": "increased by @m", "grow": "+= @m"}),),
        constants={"m": range(2, 8), "k": range(1, 10)},
    ),
    Family(
        key="fizz_list",
        names="fizz_list call_list say_all",
        args=(SMALL,),
        returns="list[str]",
        docs=(
            "{Return|Give} a list for the numbers {1 to|from 1 to} @n: '@first' for multiples of @m, {else|otherwise} the number as a string.",
            "{List|Write down} the numbers {1 to|from 1 to} @n as strings, but '@first' {for|in place of} multiples of @m.",
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
            "{Replace|Keep replacing} {@n|the number @n} by the sum of its {digits|decimal digits} until it is {below|less than} @k, and return {it|the result}.",
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
            "{Return|Give} @rewhat {after|resulting from} @n steps that start at @k, where each step is to @change.",
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
                {"rewhat": "the list of all values, with the start", "end": "result", "type": "list[int]"},
                {"rewhat": "the {last|final} value", "end": "x", "type": "int"},
                {"rewhat": "the {sum|total} of all values, with the start", "end": "sum(result)", "type": "int"},
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
            f"{RETURN} a list of @n {{rows|lists}} of @k {{numbers|integers}} each, where row i and column j (from 0) {{hold|have}} @grwhat.",
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
            "{Return|Give} the {list of |}powers of @m{, starting with 1,| from 1 on} that are {at most @n|not above @n}.",
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
                {"order": "{first 1, then 2|1 long, 2 long} and so on", "over": "range(1, @n + 1)"},
                {"order": "{first @n, then one less|@n long, then one less} and so on, down to 1", "over": "range(@n, 0, -1)"},
                {"order": "{first @m, then one more|@m long, then one more} each time", "over": "range(@m, @m + @n)"},
                {"order": "{first @m, then @m more|@m long, then @m more} each time", "over": "range(@m, @m * @n + 1, @m)"},
            ),
        ),
        constants={"mark": "*#+-=oxab", "m": range(2, 7)},
    ),
    Family(
        key="first_that",
        names="first_@which next_@which @which_numbers",
        args=(SMALL,),
        returns="list[int]",
        docs=(f"{RETURN} the list of the first @n {{positive numbers|numbers from 1 on}} that are @that.",),
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
                {"which": "multiples", "that": "{multiples of|divisible by} @m", "test": "x % @m == 0"},
                {"which": "others", "that": "{not multiples of|not divisible by} @m", "test": "x % @m != 0"},
                {"which": "remainders", "that": "1 {modulo|when taken modulo} @m", "test": "x % @m == 1"},
                {"which": "shared", "that": "{divisible by @m or 5|multiples of @m or of 5}", "test": "x % @m == 0 or x % 5 == 0"},
            ),
        ),
        constants={"m": [2, 3, 4, 6, 7, 8, 9]},
    ),
    Family(
        key="alternating",
        names="alternating alternating_sum plus_minus",
        args=(NUMBERS,),
        returns="int",
        docs=(
            f"{RETURN} the {{alternating sum|result of adding and subtracting by turns}} of {{@xs|the numbers in @xs}}: the first is @startname, the next {{the other way|the opposite}}, and so on.",
        ),
        body=code("""
            total = 0
            sign = @one
            for x in @xs:
                total += sign * x
                sign = -sign
            return total
        """),
        parts=(({"startname": "{added|plus}", "one": "1"}, {"startname": "{subtracted|minus}", "one": "-1"}),),
    ),
    Family(
        key="to_base",
        names="to_base base_digits convert_base",
        args=(NATURAL.of("positive"),),
        returns="list[int]",
        docs=(f"{RETURN} the list of {{the |}}{{digits|base-@m digits}} of {{@n|the positive number @n}} in base @m, {{the @endname first|@endname digit first}}.",),
        body=code("""
            result = []
            while @n > 0:
                result.append(@n % @m)
                @n //= @m
            return result@turn
        """),
        parts=(({"endname": "{last|lowest}", "turn": ""}, {"endname": "{first|highest}", "turn": "[::-1]"}),),
        constants={"m": range(2, 10)},
    ),
    Family(
        key="sum_until",
        names="sum_until enough how_many_needed",
        args=(NUMBERS,),
        returns="int",
        docs=(
            "{Count|Return} how many {elements|numbers} from the start of @xs are {needed|added} until their sum is @reached @k, or -1 if it never is.",
        ),
        body=code("""
            total = 0
            for i, x in enumerate(@xs):
                total += x
                if total @op @k:
                    return i + 1
            return -1
        """),
        parts=(({"reached": "{at least|no less than}", "op": ">="}, {"reached": "{above|greater than}", "op": ">"}, {"reached": "{below|less than}", "op": "<"}),),
        constants={"k": range(5, 30)},
    ),
    Family(
        key="balance",
        names="level depth balance track",
        args=(STRING,),
        returns="@type",
        docs=(
            "{Start|Begin} at 0, go up by @p for {each|every} '@c' {in|of} @s and down by @q for {each|every} other letter; return @bawhat.",
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
        docs=("{Count|Return the number of} {the |}numbers {from 1 to @n|up to @n, from 1 on,} whose @raname @isit.",),
        body="return sum(1 for i in range(1, @n + 1) if @test)",
        parts=(
            (
                {"raname": "digit sum", "val": "sum(int(c) for c in str(i))"},
                {"raname": "last digit", "val": "i % 10"},
                {"raname": "first digit", "val": "int(str(i)[0])"},
            ),
            number_tests("@val", wide=False),
        ),
        constants={"t": range(1, 9)},
    ),
)  # fmt: skip
