"""Lists of numbers: their order, their pieces, neighbours and other lists."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NUMBERS, OTHERS, Family, code
from tasks.embedded.humaneval_plus.parts import number_maps

RETURN = "{Return|Find|Give|Compute}"
LIST = "{@xs|the list @xs}"

FAMILIES: tuple[Family, ...] = (
    Family(
        key="interleave",
        names="interleave alternate merge_alternately weave",
        args=(NUMBERS, OTHERS),
        returns="list[int]",
        docs=(
            "{Merge|Interleave} @xs and @ys {alternately|by turns}, {starting with|first from} "
            "@xs, "
            "{up to the end of the shorter list|and stop after the shorter list}.",
        ),
        body=code("""
            result = []
            for x, y in zip(@xs, @ys):
                result.append(x)
                result.append(y)
            return result
        """),
    ),
    Family(
        key="ranked",
        names="second_@size runner_up @size_but_one",
        args=(NUMBERS.of("two ints"),),
        returns="int",
        docs=(
            f"{RETURN} the second {{@size|@size distinct}} {{number|value|element}} of @xs, "
            "{counting equal numbers once|where equal numbers count once}.",
        ),
        body="return sorted(set(@xs))[@place]",
        parts=(({"size": "largest", "place": "-2"}, {"size": "smallest", "place": "1"}),),
    ),
    Family(
        key="chunk",
        names="chunk split_chunks group_by_size batches",
        args=(NUMBERS,),
        returns="list[list[int]]",
        docs=(
            f"{{Split|Cut}} {LIST} into {{chunks|pieces|lists}} of {{@k elements|length @k}}; "
            f"the last may be shorter.",
            f"{{Return|Give}} {LIST} as a list of {{chunks|lists}} of @k elements, the last "
            f"perhaps shorter.",
        ),
        body="return [@xs[i:i + @k] for i in range(0, len(@xs), @k)]",
        constants={"k": range(2, 8)},
    ),
    Family(
        key="slice_ends",
        names="@slname slice_list cut get_part",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{{Return|Give}} {{a list of |}}@slwhat @k {{elements|numbers}} of {LIST}@slorder.",
        ),
        body="return @xs[@slice]@turn",
        parts=(
            (
                {"slname": "take_first", "slwhat": "the first", "slice": ":@k"},
                {"slname": "take_last", "slwhat": "the last", "slice": "-@k:"},
                {"slname": "drop_first", "slwhat": "all but the first", "slice": "@k:"},
                {"slname": "drop_last", "slwhat": "all but the last", "slice": ":-@k"},
            ),
            (
                {"slorder": "{|, in order}", "turn": ""},
                {"slorder": "{, in reverse order|, reversed}", "turn": "[::-1]"},
            ),
        ),
        constants={"k": range(2, 8)},
    ),
    Family(
        key="neighbours",
        names="@nbname neighbour_@nbname adjacent_@nbname",
        args=(NUMBERS,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}positions in @xs where {an element|a number} is "
            "@nbwhat "
            "the one {before it|just before}.",
        ),
        body=code("""
            count = 0
            for i in range(1, len(@xs)):
                if @nbtest:
                    count += 1
            return count
        """),
        parts=(
            (
                {
                    "nbname": "rises",
                    "nbwhat": "{greater|larger} than",
                    "nbtest": "@xs[i] > @xs[i - 1]",
                },
                {
                    "nbname": "falls",
                    "nbwhat": "{less|smaller} than",
                    "nbtest": "@xs[i] < @xs[i - 1]",
                },
                {
                    "nbname": "repeats",
                    "nbwhat": "{equal to|the same as}",
                    "nbtest": "@xs[i] == @xs[i - 1]",
                },
                {
                    "nbname": "jumps",
                    "nbwhat": "more than @k above",
                    "nbtest": "@xs[i] - @xs[i - 1] > @k",
                },
                {
                    "nbname": "doubles",
                    "nbwhat": "{twice|double}",
                    "nbtest": "@xs[i] == 2 * @xs[i - 1]",
                },
            ),
        ),
        constants={"k": range(2, 9)},
    ),
    Family(
        key="steps_list",
        names="@stname step_@stname list_@stname",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of {{the |}}@stwhat {{each|every}} two {{neighbours|adjacent "
            f"elements}} {{in|of}} @xs.",
        ),
        body="return [@stcode for i in range(len(@xs) - 1)]",
        parts=(
            (
                {"stname": "sums", "stwhat": "sums of", "stcode": "@xs[i] + @xs[i + 1]"},
                {"stname": "products", "stwhat": "products of", "stcode": "@xs[i] * @xs[i + 1]"},
                {
                    "stname": "increases",
                    "stwhat": "differences (later minus earlier) of",
                    "stcode": "@xs[i + 1] - @xs[i]",
                },
                {
                    "stname": "maxima",
                    "stwhat": "{maxima|larger ones} of",
                    "stcode": "max(@xs[i], @xs[i + 1])",
                },
            ),
        ),
    ),
    Family(
        key="is_sorted",
        names="is_@soname check_@soname @soname_test",
        args=(NUMBERS,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} {each|every} {element|number} of "
            "{@xs|the list @xs} "
            "{but the first|after the first} is @sowhat the one before{| it}.",
        ),
        body="return all(@xs[i] @op @xs[i - 1] for i in range(1, len(@xs)))",
        parts=(
            (
                {"soname": "increasing", "sowhat": "{greater|larger} than", "op": ">"},
                {"soname": "sorted", "sowhat": "at least", "op": ">="},
                {"soname": "decreasing", "sowhat": "{less|smaller} than", "op": "<"},
                {"soname": "changing", "sowhat": "different from", "op": "!="},
            ),
        ),
    ),
    Family(
        key="set_lists",
        names="@sename list_@sename @sename_lists",
        args=(NUMBERS, OTHERS),
        returns="@type",
        docs=(
            f"{RETURN} the @sekind {{elements|numbers}} {{of|in}} @xs that are @sewhat @ys{{|, "
            f"duplicates included}}.",
        ),
        body="return @code",
        parts=(
            (
                {"sename": "common", "sewhat": "{also|found} in", "test": "x in @ys"},
                {"sename": "missing", "sewhat": "{not|missing} in", "test": "x not in @ys"},
            ),
            (
                {
                    "sekind": "{list of the|list of}",
                    "code": "[x for x in @xs if @test]",
                    "type": "list[int]",
                },
                {
                    "sekind": "{number of|count of}",
                    "code": "sum(1 for x in @xs if @test)",
                    "type": "int",
                },
            ),
        ),
    ),
    Family(
        key="sort_by",
        names="sort_@byname order_@byname sorted_@byname",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(f"{{Sort|Order}} {LIST} @by, @ending; {{equal ones|ties}} keep their order.",),
        body="return sorted(@xs, key=lambda x: @turned@keyed)",
        parts=(
            (
                {"byname": "abs", "by": "by absolute value", "keyed": "abs(x)"},
                {"byname": "mod", "by": "by {remainder|value} modulo @m", "keyed": "(x % @m)"},
                {"byname": "distance", "by": "by distance {from|to} @m", "keyed": "abs(x - @m)"},
            ),
            (
                {"ending": "{smallest|lowest} first", "turned": ""},
                {"ending": "{largest|highest} first", "turned": "-"},
            ),
        ),
        constants={"m": range(2, 12)},
    ),
    Family(
        key="sum_at",
        names="sum_@atname total_@atname add_@atname",
        args=(NUMBERS,),
        returns="int",
        docs=(
            f"{RETURN} the {{sum|total}} of {{the |}}@of the {{elements|numbers}} of @xs at "
            f"@atwhat {{indices|positions}}.",
        ),
        body="return sum(@expr for x in @xs[@slice])",
        parts=(
            tuple(part for part in number_maps("x") if part["how"] != "neg"),
            (
                {"atname": "even", "atwhat": "even", "slice": "::2"},
                {"atname": "odd", "atwhat": "odd", "slice": "1::2"},
            ),
        ),
        constants={"m": range(2, 10)},
    ),
)
