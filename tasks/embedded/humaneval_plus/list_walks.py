"""Lists of numbers walked through: rotated, added up, paired, without duplicates."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NUMBERS, OTHERS, Family, code

RETURN = "{Return|Find|Give|Compute}"
LIST = "{@xs|the list @xs}"

FAMILIES: tuple[Family, ...] = (
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
            "{Count|Return the number of} {the |}pairs of {elements|numbers} at different "
            "positions in "
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
            "For each {position in @xs|element of @xs}, return the @runone of the "
            "{elements|numbers} up to it.",
        ),
        body=code("""
            result = []
            for x in @xs:
                result.append(@joined if result else x)
            return result
        """),
        parts=(
            (
                {
                    "runname": "sum",
                    "runs": "{sums|totals}",
                    "runone": "{sum|total}",
                    "joined": "result[-1] + x",
                },
                {
                    "runname": "product",
                    "runs": "products",
                    "runone": "product",
                    "joined": "result[-1] * x",
                },
                {
                    "runname": "max",
                    "runs": "{maxima|largest values}",
                    "runone": "{maximum|largest}",
                    "joined": "max(result[-1], x)",
                },
                {
                    "runname": "min",
                    "runs": "{minima|smallest values}",
                    "runone": "{minimum|smallest}",
                    "joined": "min(result[-1], x)",
                },
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
            f"{{Keep|Return}} only the first {{copy|occurrence}} of each {{element|number}} of "
            f"{LIST}.",
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
        parts=(
            (
                {"outcome": "difference", "op": "-"},
                {"outcome": "sum", "op": "+"},
                {"outcome": "product", "op": "*"},
            ),
        ),
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
            f"{RETURN} the @zipwhole the @zips of {{the |}}{{elements|numbers}} of @xs and @ys "
            f"at the same "
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
                {
                    "zipwhole": "largest (0 for none) of",
                    "code": "max((@gen), default=0)",
                    "type": "int",
                },
            ),
            ({"gen": "@zipped for x, y in zip(@xs, @ys)"},),
        ),
        weight=2,
    ),
)
