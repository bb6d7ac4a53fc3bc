"""Functions of lists of numbers that are more than a filter, a mapping and a sum."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NUMBERS, OTHERS, Family, code
from tasks.embedded.humaneval_plus.parts import NUMBER_CONSTANTS, number_maps, number_tests

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
        constants={**NUMBER_CONSTANTS, "r": range(0, 10)},
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
                {"sofar": "sum", "part": "{sum|total}", "start": "0", "step": "result += x", "type": "int"},
                {"sofar": "count", "part": "{number|count}", "start": "0", "step": "result += 1", "type": "int"},
                {"sofar": "list", "part": "list", "start": "[]", "step": "result.append(x)", "type": "list[int]"},
            ),
            TESTS,
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="rotate",
        names="rotate_@way shift_@way rotate",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            "Move the @edge @k {elements|numbers} {of|in} @xs to the @goal.",
            "{Return|Give} @xs with {its|the} @edge @k {elements|numbers} moved to the @goal.",
            "{Rotate|Turn} {@xs|the list @xs} so that {its|the} @edge @k elements come @at.",
        ),
        body="return @xs[@sign@k:] + @xs[:@sign@k]",
        parts=(
            (
                {"way": "left", "edge": "first", "goal": "end", "at": "last", "sign": ""},
                {"way": "right", "edge": "last", "goal": "front", "at": "first", "sign": "-"},
            ),
        ),
        constants={"k": range(2, 8)},
    ),
    Family(
        key="pairs_with",
        names="count_pairs pairs_@pairname num_pairs",
        args=(NUMBERS,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}pairs of {elements|numbers} at different positions in "
            "@xs {whose @pairname is @k|with a @pairname of @k}.",
        ),
        body=code("""
            count = 0
            for i in range(len(@xs)):
                for j in range(i + 1, len(@xs)):
                    if @both == @k:
                        count += 1
            return count
        """),
        parts=(
            (
                {"pairname": "sum", "both": "@xs[i] + @xs[j]"},
                {"pairname": "product", "both": "@xs[i] * @xs[j]"},
                {"pairname": "distance", "both": "abs(@xs[i] - @xs[j])"},
            ),
        ),
        constants={"k": range(2, 16)},
    ),
    Family(
        key="running",
        names="running_@runname cumulative_@runname prefix_@runname",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{RETURN} the list of {{running|cumulative}} @runs of @xs.",
            "For each {position in @xs|element of @xs}, return the @runone of the {elements|numbers} up to it.",
        ),
        body=code("""
            result = []
            for x in @xs:
                result.append(@joined if result else x)
            return result
        """),
        parts=(
            (
                {"runname": "sum", "runs": "{sums|totals}", "runone": "{sum|total}", "joined": "result[-1] + x"},
                {"runname": "product", "runs": "products", "runone": "product", "joined": "result[-1] * x"},
                {"runname": "max", "runs": "{maxima|largest values}", "runone": "{maximum|largest}", "joined": "max(result[-1], x)"},
                {"runname": "min", "runs": "{minima|smallest values}", "runone": "{minimum|smallest}", "joined": "min(result[-1], x)"},
            ),
        ),
    ),
    Family(
        key="dedupe",
        names="dedupe unique remove_duplicates distinct",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{{Return|Give}} {LIST} without {{duplicates|repeated elements}}, "
            "{keeping the order|in order of first appearance}.",
            f"{{Keep|Return}} only the first {{copy|occurrence}} of each {{element|number}} of {LIST}.",
        ),
        body=code("""
            result = []
            for x in @xs:
                if x not in result:
                    result.append(x)
            return result
        """),
    ),
    Family(
        key="spread",
        names="spread max_difference value_range gap",
        args=(NUMBERS.of("some ints"),),
        returns="int",
        docs=(
            f"{RETURN} the @outcome of the {{largest|maximum}} and the {{smallest|minimum}} "
            "{element|number} of {@xs|the non-empty list @xs}.",
        ),
        body="return max(@xs) @op min(@xs)",
        parts=(({"outcome": "difference", "op": "-"}, {"outcome": "sum", "op": "+"}, {"outcome": "product", "op": "*"}),),
    ),
    Family(
        key="every_nth",
        names="every_nth step_through take_every skip",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(
            f"{{Return|Give|Take}} {{every @k|each @k}}-th element of {LIST}, starting @begin.",
            f"{{Return|Give}} the elements of {LIST} from @begins on, in steps of @k.",
        ),
        body="return @xs[@offset::@k]",
        parts=(
            (
                {"begin": "{with the first|at index 0}", "begins": "index 0", "offset": ""},
                {"begin": "{with the second|at index 1}", "begins": "index 1", "offset": "1"},
                {"begin": "{with the third|at index 2}", "begins": "index 2", "offset": "2"},
            ),
        ),
        constants={"k": range(2, 9)},
    ),
    Family(
        key="zip_lists",
        names="pairwise_@zipname zip_@zipname @zipname_lists",
        args=(NUMBERS, OTHERS),
        returns="@type",
        docs=(
            f"{RETURN} the @zipwhole the @zips of {{the |}}{{elements|numbers}} of @xs and @ys at the same "
            "{position|index}{|, up to the end of the shorter list}.",
        ),
        body="return @code",
        parts=(
            (
                {"zipname": "sum", "zips": "sums", "zipped": "x + y"},
                {"zipname": "product", "zips": "products", "zipped": "x * y"},
                {"zipname": "difference", "zips": "differences", "zipped": "x - y"},
                {"zipname": "max", "zips": "{maxima|larger ones}", "zipped": "max(x, y)"},
                {"zipname": "min", "zips": "{minima|smaller ones}", "zipped": "min(x, y)"},
            ),
            (
                {"zipwhole": "list of", "code": "[@gen]", "type": "list[int]"},
                {"zipwhole": "{sum|total} of", "code": "sum(@gen)", "type": "int"},
                {"zipwhole": "largest (0 for none) of", "code": "max((@gen), default=0)", "type": "int"},
            ),
            ({"gen": "@zipped for x, y in zip(@xs, @ys)"},),
        ),
        weight=2,
    ),
    Family(
        key="interleave",
        names="interleave alternate merge_alternately weave",
        args=(NUMBERS, OTHERS),
        returns="list[int]",
        docs=(
            "{Merge|Interleave} @xs and @ys {alternately|by turns}, {starting with|first from} @xs, "
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
            f"{{Split|Cut}} {LIST} into {{chunks|pieces|lists}} of {{@k elements|length @k}}; the last may be shorter.",
            f"{{Return|Give}} {LIST} as a list of {{chunks|lists}} of @k elements, the last perhaps shorter.",
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
            "{Count|Return the number of} {the |}positions in @xs where {an element|a number} is @nbwhat "
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
                {"nbname": "rises", "nbwhat": "{greater|larger} than", "nbtest": "@xs[i] > @xs[i - 1]"},
                {"nbname": "falls", "nbwhat": "{less|smaller} than", "nbtest": "@xs[i] < @xs[i - 1]"},
                {"nbname": "repeats", "nbwhat": "{equal to|the same as}", "nbtest": "@xs[i] == @xs[i - 1]"},
                {"nbname": "jumps", "nbwhat": "more than @k above", "nbtest": "@xs[i] - @xs[i - 1] > @k"},
                {"nbname": "doubles", "nbwhat": "{twice|double}", "nbtest": "@xs[i] == 2 * @xs[i - 1]"},
            ),
        ),
        constants={"k": range(2, 9)},
    ),
    Family(
        key="steps_list",
        names="@stname step_@stname list_@stname",
        args=(NUMBERS,),
        returns="list[int]",
        docs=(f"{RETURN} the list of {{the |}}@stwhat {{each|every}} two {{neighbours|adjacent elements}} {{in|of}} @xs.",),
        body="return [@stcode for i in range(len(@xs) - 1)]",
        parts=(
            (
                {"stname": "sums", "stwhat": "sums of", "stcode": "@xs[i] + @xs[i + 1]"},
                {"stname": "products", "stwhat": "products of", "stcode": "@xs[i] * @xs[i + 1]"},
                {"stname": "increases", "stwhat": "differences (later minus earlier) of", "stcode": "@xs[i + 1] - @xs[i]"},
                {"stname": "maxima", "stwhat": "{maxima|larger ones} of", "stcode": "max(@xs[i], @xs[i + 1])"},
            ),
        ),
    ),
    Family(
        key="is_sorted",
        names="is_@soname check_@soname @soname_test",
        args=(NUMBERS,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} {each|every} {element|number} of {@xs|the list @xs} "
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
        docs=(f"{RETURN} the @sekind {{elements|numbers}} {{of|in}} @xs that are @sewhat @ys{{|, duplicates included}}.",),
        body="return @code",
        parts=(
            (
                {"sename": "common", "sewhat": "{also|found} in", "test": "x in @ys"},
                {"sename": "missing", "sewhat": "{not|missing} in", "test": "x not in @ys"},
            ),
            (
                {"sekind": "{list of the|list of}", "code": "[x for x in @xs if @test]", "type": "list[int]"},
                {"sekind": "{number of|count of}", "code": "sum(1 for x in @xs if @test)", "type": "int"},
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
        docs=(f"{RETURN} the {{sum|total}} of {{the |}}@of the {{elements|numbers}} of @xs at @atwhat {{indices|positions}}.",),
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
)  # fmt: skip
