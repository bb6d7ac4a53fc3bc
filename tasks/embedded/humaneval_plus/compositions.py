"""Lists of numbers, filtered, mapped and summed up: shared parts, held-out combinations."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import NUMBERS, POSITIVE, Family
from tasks.embedded.humaneval_plus.parts import (
    LISTINGS,
    NUMBER_CONSTANTS,
    REDUCTIONS,
    number_maps,
    number_tests,
)

TESTS = number_tests("x")
MAPS = number_maps("x")
RETURN = "{Return|Compute|Find|Give}"
IN = "{in|from}"
WHOLE = ({"gen": "@expr for x in @xs if @test"},)
KEPT = ({"gen": "x for x in @xs if @test"},)
MAPPED = ({"gen": "@expr for x in @xs"},)

WHOLE_DOCS = (
    f"{RETURN} the @what the @of the @ones {IN} @xs.@tail",
    "{Take|Keep} the @ones {in|from} @xs, @each, and return the @what the results.@tail",
)
KEPT_DOCS = (
    f"{RETURN} the @what the @ones {IN} @xs.@tail",
    "{Look only at|Keep only} the @ones {in|from} @xs and return the @what them.@tail",
)
MAPPED_DOCS = (
    f"{RETURN} the @what the @of the {{numbers|elements}} {IN} @xs.@tail",
    "{From|For} {the numbers in @xs|the list @xs}, @each, and return the @what the results.@tail",
)

REDUCED = "@red_@which @red_of_@which get_@red @which_@red"
FAMILIES: tuple[Family, ...] = (
    Family(
        key="filter_map_reduce",
        names="@red_@how_@which @which_@how_@red @red_@how",
        args=(NUMBERS,),
        returns="@type",
        docs=WHOLE_DOCS,
        body="return @code",
        parts=(REDUCTIONS, MAPS, TESTS, WHOLE),
        constants=NUMBER_CONSTANTS,
        weight=4,
    ),
    Family(
        key="filter_map_list",
        names="@how_@which @which_@how @red_@how",
        args=(NUMBERS,),
        returns="@type",
        docs=WHOLE_DOCS,
        body="return @code",
        parts=(LISTINGS, MAPS, TESTS, WHOLE),
        constants=NUMBER_CONSTANTS,
        weight=3,
    ),
    Family(
        key="filter_reduce",
        names=REDUCED,
        args=(NUMBERS,),
        returns="@type",
        docs=KEPT_DOCS,
        body="return @code",
        parts=(REDUCTIONS, TESTS, KEPT),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="filter_list",
        names="keep_@which only_@which @which_only @which_@red",
        args=(NUMBERS,),
        returns="@type",
        docs=KEPT_DOCS,
        body="return @code",
        parts=(LISTINGS, TESTS, KEPT),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="map_reduce",
        names="@red_@how @how_@red get_@red_@how",
        args=(NUMBERS,),
        returns="@type",
        docs=MAPPED_DOCS,
        body="return @code",
        parts=(REDUCTIONS, MAPS, MAPPED),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="map_list",
        names="@how_all @red_@how @how_each",
        args=(NUMBERS,),
        returns="@type",
        docs=MAPPED_DOCS,
        body="return @code",
        parts=(LISTINGS, MAPS, MAPPED),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="count_if",
        names="count_@which num_@which how_many_@which @which_count",
        args=(NUMBERS,),
        returns="int",
        docs=(
            f"{RETURN} {{the number of @ones in|how many @ones are in|how many @ones there are "
            "in} @xs.",
            "{Count|Count up} the @ones {in|from} @xs.",
        ),
        body="return sum(1 for x in @xs if @test)",
        parts=(TESTS,),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="every_or_some",
        names="@quant_@which has_@quant_@which is_@quant_@which",
        args=(NUMBERS,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} @quantifier in @xs @isit.",
            "{Return|Give} True if @quantifier of @xs @isit, {else False|and False otherwise}.",
        ),
        body="return @quant(@test for x in @xs)",
        parts=(
            (
                {"quant": "all", "quantifier": "{every|each} number"},
                {"quant": "any", "quantifier": "{at least one|some|any} number"},
            ),
            TESTS,
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="range_reduce",
        names="@red_@which @red_@which_to range_@red",
        args=(POSITIVE,),
        returns="@type",
        docs=(
            f"{RETURN} the @what the @of the @ones {{from 1 to @n|up to and including @n}}"
            "{| (starting at 1)}.@tail",
        ),
        body="return @code",
        parts=(
            (*REDUCTIONS[:1], *LISTINGS[:1], *LISTINGS[3:]),
            tuple(part for part in number_maps("x") if part["how"] not in ("abs", "half")),
            tuple(
                part for part in TESTS if part["which"] not in ("positive", "negative", "between")
            ),
            ({"gen": "@expr for x in range(1, @n + 1) if @test"},),
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
)
