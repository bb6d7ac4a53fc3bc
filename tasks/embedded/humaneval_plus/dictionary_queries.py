"""Dictionaries that are read: filtered, mapped, merged."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import DICT, Arg, Family, code
from tasks.embedded.humaneval_plus.parts import NUMBER_CONSTANTS, number_maps, number_tests

RETURN = "{Return|Give|Find}"
VALUE_TESTS = number_tests("val", "values")
OTHER_DICT = Arg("e", "counts", ("e", "other", "more"))

FAMILIES: tuple[Family, ...] = (
    Family(
        key="dict_filter",
        names="@diname_@which @which_@diname pick_@which",
        args=(DICT,),
        returns="@type",
        docs=(
            f"{RETURN} the @diwhat @d whose {{value|number}} @isit@ditail.",
            "{In|From} {@d|the dictionary @d}, {return|find} the @dishort whose value "
            "@isit@ditail.",
        ),
        body="return @code",
        parts=(
            (
                {
                    "diname": "keys",
                    "diwhat": "list of {the keys|keys} {in|of}",
                    "dishort": "list of keys",
                    "ditail": "",
                    "code": "[key for @gen]",
                    "type": "list[str]",
                },
                {
                    "diname": "sorted",
                    "diwhat": "sorted list of {the keys|keys} {in|of}",
                    "dishort": "sorted list of keys",
                    "ditail": "",
                    "code": "sorted(key for @gen)",
                    "type": "list[str]",
                },
                {
                    "diname": "count",
                    "diwhat": "number of {the keys|keys} {in|of}",
                    "dishort": "number of keys",
                    "ditail": "",
                    "code": "sum(1 for @gen)",
                    "type": "int",
                },
                {
                    "diname": "part",
                    "diwhat": "{part|smaller dictionary} with those keys of",
                    "dishort": "dictionary of those keys",
                    "ditail": "",
                    "code": "{key: val for @gen}",
                    "type": "dict[str, int]",
                },
                {
                    "diname": "joined",
                    "diwhat": "keys {in|of}",
                    "dishort": "keys",
                    "ditail": ", joined by commas",
                    "code": "','.join(key for @gen)",
                    "type": "str",
                },
            ),
            number_tests("val"),
            ({"gen": "key, val in @d.items() if @test"},),
        ),
        constants=NUMBER_CONSTANTS,
        weight=3,
    ),
    Family(
        key="dict_values",
        names="@vaname_@which @which_@vaname values_@which",
        args=(DICT,),
        returns="@type",
        docs=(f"{RETURN} the @vawhat the @ones {{in|from}} {{@d|the dictionary @d}}@vatail.",),
        body="return @code",
        parts=(
            (
                {
                    "vaname": "sum",
                    "vawhat": "{sum|total} of",
                    "vatail": "",
                    "code": "sum(@gen)",
                    "type": "int",
                },
                {
                    "vaname": "max",
                    "vawhat": "{largest|maximum} of",
                    "vatail": "{, or 0 for none| (0 for none)}",
                    "code": "max((@gen), default=0)",
                    "type": "int",
                },
                {
                    "vaname": "min",
                    "vawhat": "{smallest|minimum} of",
                    "vatail": "{, or 0 for none| (0 for none)}",
                    "code": "min((@gen), default=0)",
                    "type": "int",
                },
                {
                    "vaname": "sorted",
                    "vawhat": "sorted list of",
                    "vatail": "",
                    "code": "sorted(@gen)",
                    "type": "list[int]",
                },
            ),
            VALUE_TESTS,
            ({"gen": "val for val in @d.values() if @test"},),
        ),
        constants=NUMBER_CONSTANTS,
        weight=2,
    ),
    Family(
        key="dict_map",
        names="map_@how @how_values change_@how",
        args=(DICT,),
        returns="dict[str, int]",
        docs=(
            "{Return|Give} {a copy of|the dictionary} @d where the values are the @of {its "
            "values|the old ones}.",
        ),
        body="return {key: @expr for key, val in @d.items()}",
        parts=(number_maps("val"),),
        constants=NUMBER_CONSTANTS,
    ),
    Family(
        key="merge",
        names="merge_@mename combine merge_dicts",
        args=(DICT, OTHER_DICT),
        returns="dict[str, int]",
        docs=(
            "{Merge|Combine} {the dictionaries |}@d and @e; {for a key in both|where both have a "
            "key}, {take|use} the @mename of {the|its} values.",
        ),
        body=code("""
            result = dict(@d)
            for key, val in @e.items():
                result[key] = @joined if key in result else val
            return result
        """),
        parts=(
            (
                {"mename": "sum", "joined": "result[key] + val"},
                {"mename": "maximum", "joined": "max(result[key], val)"},
                {"mename": "minimum", "joined": "min(result[key], val)"},
                {"mename": "product", "joined": "result[key] * val"},
            ),
        ),
    ),
)
