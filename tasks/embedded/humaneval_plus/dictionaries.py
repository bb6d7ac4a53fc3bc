"""Functions that build dictionaries or read them."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import DICT, NUMBERS, STRING, WORDS, Arg, Family, code
from tasks.embedded.humaneval_plus.parts import NUMBER_CONSTANTS, number_maps, number_tests

RETURN = "{Return|Give|Find}"
VALUE_TESTS = number_tests("val", "values")
OTHER_DICT = Arg("e", "counts", ("e", "other", "more"))
NUMBER_KEYS = (
    {"bykey": "value", "keys": "{number|element}", "keyed": "x"},
    {"bykey": "remainder", "keys": "{remainder|value} modulo @m", "keyed": "x % @m"},
    {"bykey": "size", "keys": "absolute value", "keyed": "abs(x)"},
    {"bykey": "sign", "keys": "whether they are above @m (True or False)", "keyed": "x > @m"},
)
WORD_KEYS = (
    {"bykey": "length", "keys": "length", "keyed": "len(w)"},
    {"bykey": "first", "keys": "first letter", "keyed": "w[:1]"},
    {"bykey": "last", "keys": "last letter", "keyed": "w[-1:]"},
)

FAMILIES: tuple[Family, ...] = (
    Family(
        key="count_numbers",
        names="count_by_@bykey @bykey_counts tally_@bykey",
        args=(NUMBERS,),
        returns="dict",
        docs=(
            f"{RETURN} a dictionary from {{each|every}} @keys {{in @xs|of the numbers in @xs}} to "
            "{how often it occurs|its number of occurrences}.",
            "{Count|Tally} the numbers {in|of} @xs by @keys, {in|as} a dictionary.",
        ),
        body=code("""
            result = {}
            for x in @xs:
                key = @keyed
                result[key] = result.get(key, 0) + 1
            return result
        """),
        parts=(NUMBER_KEYS[:3],),
        constants={"m": range(2, 8)},
    ),
    Family(
        key="count_letters",
        names="letter_counts count_letters letter_frequency",
        args=(STRING,),
        returns="dict[str, int]",
        docs=(
            f"{RETURN} a dictionary from {{each|every}} {{letter|character}} {{of|in}} @s to @what.",
            "{Map|Match} {each|every} {letter|character} {of|in} @s to @what, in a dictionary.",
        ),
        body=code("""
            result = {}
            for i, c in enumerate(@s):
                result[c] = @counted
            return result
        """),
        parts=(
            (
                {"what": "{how often it occurs|its number of occurrences}", "counted": "result.get(c, 0) + 1"},
                {"what": "the index where it occurs last", "counted": "i"},
                {"what": "the index where it occurs first", "counted": "result.get(c, i)"},
                {"what": "@k times its number of occurrences", "counted": "result.get(c, 0) + @k"},
            ),
        ),
        constants={"k": range(2, 9)},
    ),
    Family(
        key="group_words",
        names="group_by_@bykey @bykey_groups sort_into_@bykey",
        args=(WORDS,),
        returns="dict",
        docs=(
            "{Group|Collect} the words {in|of} @ws by @keys: {return|give} a dictionary from @keys to @collected.",
            f"{RETURN} a dictionary from {{each|every}} @keys of the words in @ws to @collected.",
        ),
        body=code("""
            result = {}
            for w in @ws:
                key = @keyed
                result[key] = result.get(key, @empty) + @added
            return result
        """),
        parts=(
            WORD_KEYS,
            (
                {"collected": "the list of {its words|words that have it}", "empty": "[]", "added": "[w]"},
                {"collected": "the number of {its words|words that have it}", "empty": "0", "added": "1"},
                {"collected": "the total length of {its words|words that have it}", "empty": "0", "added": "len(w)"},
            ),
        ),
        weight=2,
    ),
    Family(
        key="group_numbers",
        names="group_by_@bykey @bykey_groups collect_@bykey",
        args=(NUMBERS,),
        returns="dict",
        docs=(
            "{Group|Collect} the numbers {in|of} @xs by @keys: {return|give} a dictionary from that to @collected.",
        ),
        body=code("""
            result = {}
            for x in @xs:
                key = @keyed
                result[key] = result.get(key, @empty) + @added
            return result
        """),
        parts=(
            NUMBER_KEYS[1:],
            (
                {"collected": "the list of {its numbers|the numbers that have it}", "empty": "[]", "added": "[x]"},
                {"collected": "the sum of {its numbers|the numbers that have it}", "empty": "0", "added": "x"},
            ),
        ),
        constants={"m": range(2, 8)},
    ),
    Family(
        key="invert",
        names="invert swap_keys flip_dict reverse_dict",
        args=(DICT,),
        returns="dict",
        docs=(
            "{Invert|Turn round} {@d|the dictionary @d}: {return|give} a dictionary from values to keys; for equal "
            "values, the last key {counts|is kept}.",
            "{Return|Give} a dictionary from the values of @d to {its|the} keys{, the last key for equal values| (the last one for equal values)}.",
        ),
        body="return {val: key for key, val in @d.items()}",
    ),
    Family(
        key="dict_filter",
        names="@diname_@which @which_@diname pick_@which",
        args=(DICT,),
        returns="@type",
        docs=(
            f"{RETURN} the @diwhat @d whose {{value|number}} @isit@ditail.",
            "{In|From} {@d|the dictionary @d}, {return|find} the @dishort whose value @isit@ditail.",
        ),
        body="return @code",
        parts=(
            (
                {"diname": "keys", "diwhat": "list of {the keys|keys} {in|of}", "dishort": "list of keys", "ditail": "", "code": "[key for @gen]", "type": "list[str]"},
                {"diname": "sorted", "diwhat": "sorted list of {the keys|keys} {in|of}", "dishort": "sorted list of keys", "ditail": "", "code": "sorted(key for @gen)", "type": "list[str]"},
                {"diname": "count", "diwhat": "number of {the keys|keys} {in|of}", "dishort": "number of keys", "ditail": "", "code": "sum(1 for @gen)", "type": "int"},
                {"diname": "part", "diwhat": "{part|smaller dictionary} with those keys of", "dishort": "dictionary of those keys", "ditail": "", "code": "{key: val for @gen}", "type": "dict[str, int]"},
                {"diname": "joined", "diwhat": "keys {in|of}", "dishort": "keys", "ditail": ", joined by commas", "code": "','.join(key for @gen)", "type": "str"},
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
                {"vaname": "sum", "vawhat": "{sum|total} of", "vatail": "", "code": "sum(@gen)", "type": "int"},
                {"vaname": "max", "vawhat": "{largest|maximum} of", "vatail": "{, or 0 for none| (0 for none)}", "code": "max((@gen), default=0)", "type": "int"},
                {"vaname": "min", "vawhat": "{smallest|minimum} of", "vatail": "{, or 0 for none| (0 for none)}", "code": "min((@gen), default=0)", "type": "int"},
                {"vaname": "sorted", "vawhat": "sorted list of", "vatail": "", "code": "sorted(@gen)", "type": "list[int]"},
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
        docs=("{Return|Give} {a copy of|the dictionary} @d where the values are the @of {its values|the old ones}.",),
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
            "{Merge|Combine} {the dictionaries |}@d and @e; {for a key in both|where both have a key}, {take|use} the @mename of {the|its} values.",
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
    Family(
        key="most_frequent",
        names="most_frequent mode commonest top_item",
        args=(Arg("xs", "some ints", NUMBERS.names),),
        returns="int",
        docs=(
            f"{RETURN} the {{element|number}} that {{occurs|appears}} @often in {{@xs|the non-empty list @xs}}; "
            "{of several, the @tied|if several do, the @tied}.",
        ),
        body="return @code",
        parts=(
            ({"often": "{most often|most frequently}", "func": "max"}, {"often": "{least often|least frequently}", "func": "min"}),
            (
                {"tied": "first one", "code": "@func(@xs, key=@xs.count)"},
                {"tied": "smallest one", "code": "@func(sorted(@xs), key=@xs.count)"},
                {"tied": "last one", "code": "@func(@xs[::-1], key=@xs.count)"},
            ),
        ),
    ),
    Family(
        key="best_key",
        names="best_key key_@bename find_key @bename",
        args=(DICT.of("some counts"),),
        returns="str",
        docs=(
            f"{RETURN} the key {{with|that has}} the @bewhat in {{@d|the dictionary @d}}; {{of several, the first|the first of several}}.",
        ),
        body="return @func(@d, key=@keyed)",
        parts=(
            (
                {"bename": "largest", "bewhat": "{largest|highest} value", "func": "max", "keyed": "@d.get"},
                {"bename": "smallest", "bewhat": "{smallest|lowest} value", "func": "min", "keyed": "@d.get"},
                {"bename": "nearest", "bewhat": "value {nearest|closest} to @k", "func": "min", "keyed": "lambda key: abs(@d[key] - @k)"},
                {"bename": "farthest", "bewhat": "value {farthest|most distant} from @k", "func": "max", "keyed": "lambda key: abs(@d[key] - @k)"},
            ),
        ),
        constants={"k": range(2, 16)},
    ),
    Family(
        key="look_up",
        names="look_up lookup_@loname fetch_all @loname_values",
        args=(DICT, WORDS),
        returns="@type",
        docs=(
            f"{RETURN} the @lowhat the values that @d has for the {{words|keys}} {{in|of}} @ws, {{with|taking}} @k for a missing {{word|key}}.",
        ),
        body="return @code",
        parts=(
            (
                {"loname": "list", "lowhat": "list of", "code": "[@gen]", "type": "list[int]"},
                {"loname": "sum", "lowhat": "{sum|total} of", "code": "sum(@gen)", "type": "int"},
                {"loname": "max", "lowhat": "{maximum|largest} (0 for no words) of", "code": "max((@gen), default=0)", "type": "int"},
            ),
            ({"gen": "@d.get(w, @k) for w in @ws"},),
        ),
        constants={"k": range(0, 12)},
    ),
    Family(
        key="word_table",
        names="@taname_table map_@taname words_to_@taname",
        args=(WORDS,),
        returns="dict",
        docs=("{Return|Give|Build} a dictionary from {each|every} {word|string} {in|of} @ws @tato.",),
        body="return {w: @expr for w in @ws}",
        parts=(
            (
                {"taname": "length", "tato": "to its length", "expr": "len(w)"},
                {"taname": "reverse", "tato": "to its reverse", "expr": "w[::-1]"},
                {"taname": "count", "tato": "to {how often it occurs|its number of occurrences}", "expr": "@ws.count(w)"},
                {"taname": "letter", "tato": "to its number of '@c'", "expr": "w.count('@c')"},
                {"taname": "index", "tato": "to the index where it first occurs", "expr": "@ws.index(w)"},
                {"taname": "long", "tato": "to whether it has more than @k letters", "expr": "len(w) > @k"},
            ),
        ),
        constants={"c": "abcdeghilmnorst", "k": range(2, 7)},
    ),
    Family(
        key="keys_in_order",
        names="keys_in_order rank_keys sorted_keys",
        args=(DICT,),
        returns="list[str]",
        docs=(f"{RETURN} the {{list of |}}keys of {{@d|the dictionary @d}} sorted by @keyname, @ending; ties keep their order.",),
        body="return sorted(@d, key=lambda key: @turned@keyed)",
        parts=(
            (
                {"keyname": "value", "keyed": "@d[key]"},
                {"keyname": "length of the key", "keyed": "len(key)"},
                {"keyname": "absolute value of the value", "keyed": "abs(@d[key])"},
            ),
            ({"ending": "{smallest|lowest} first", "turned": ""}, {"ending": "{largest|highest} first", "turned": "-"}),
        ),
    ),
)  # fmt: skip
