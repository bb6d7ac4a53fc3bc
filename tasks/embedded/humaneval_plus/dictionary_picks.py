"""The best of a dictionary or list, look-ups, tables, order."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import DICT, NUMBERS, WORDS, Arg, Family

RETURN = "{Return|Give|Find}"

FAMILIES: tuple[Family, ...] = (
    Family(
        key="most_frequent",
        names="most_frequent mode commonest top_item",
        args=(Arg("xs", "some ints", NUMBERS.names),),
        returns="int",
        docs=(
            f"{RETURN} the {{element|number}} that {{occurs|appears}} @often in {{@xs|the "
            f"non-empty list @xs}}; "
            "{of several, the @tied|if several do, the @tied}.",
        ),
        body="return @code",
        parts=(
            (
                {"often": "{most often|most frequently}", "func": "max"},
                {"often": "{least often|least frequently}", "func": "min"},
            ),
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
            f"{RETURN} the key {{with|that has}} the @bewhat in {{@d|the dictionary @d}}; {{of "
            f"several, the first|the first of several}}.",
        ),
        body="return @func(@d, key=@keyed)",
        parts=(
            (
                {
                    "bename": "largest",
                    "bewhat": "{largest|highest} value",
                    "func": "max",
                    "keyed": "@d.get",
                },
                {
                    "bename": "smallest",
                    "bewhat": "{smallest|lowest} value",
                    "func": "min",
                    "keyed": "@d.get",
                },
                {
                    "bename": "nearest",
                    "bewhat": "value {nearest|closest} to @k",
                    "func": "min",
                    "keyed": "lambda key: abs(@d[key] - @k)",
                },
                {
                    "bename": "farthest",
                    "bewhat": "value {farthest|most distant} from @k",
                    "func": "max",
                    "keyed": "lambda key: abs(@d[key] - @k)",
                },
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
            f"{RETURN} the @lowhat the values that @d has for the {{words|keys}} {{in|of}} @ws, "
            f"{{with|taking}} @k for a missing {{word|key}}.",
        ),
        body="return @code",
        parts=(
            (
                {"loname": "list", "lowhat": "list of", "code": "[@gen]", "type": "list[int]"},
                {"loname": "sum", "lowhat": "{sum|total} of", "code": "sum(@gen)", "type": "int"},
                {
                    "loname": "max",
                    "lowhat": "{maximum|largest} (0 for no words) of",
                    "code": "max((@gen), default=0)",
                    "type": "int",
                },
            ),
            ({"gen": "@d.get(w, @k) for w in @ws"},),
        ),
        constants={"k": range(12)},
    ),
    Family(
        key="word_table",
        names="@taname_table map_@taname words_to_@taname",
        args=(WORDS,),
        returns="dict",
        docs=(
            "{Return|Give|Build} a dictionary from {each|every} {word|string} {in|of} @ws @tato.",
        ),
        body="return {w: @expr for w in @ws}",
        parts=(
            (
                {"taname": "length", "tato": "to its length", "expr": "len(w)"},
                {"taname": "reverse", "tato": "to its reverse", "expr": "w[::-1]"},
                {
                    "taname": "count",
                    "tato": "to {how often it occurs|its number of occurrences}",
                    "expr": "@ws.count(w)",
                },
                {"taname": "letter", "tato": "to its number of '@c'", "expr": "w.count('@c')"},
                {
                    "taname": "index",
                    "tato": "to the index where it first occurs",
                    "expr": "@ws.index(w)",
                },
                {
                    "taname": "long",
                    "tato": "to whether it has more than @k letters",
                    "expr": "len(w) > @k",
                },
            ),
        ),
        constants={"c": "abcdeghilmnorst", "k": range(2, 7)},
    ),
    Family(
        key="keys_in_order",
        names="keys_in_order rank_keys sorted_keys",
        args=(DICT,),
        returns="list[str]",
        docs=(
            f"{RETURN} the {{list of |}}keys of {{@d|the dictionary @d}} sorted by @keyname, "
            f"@ending; ties keep their order.",
        ),
        body="return sorted(@d, key=lambda key: @turned@keyed)",
        parts=(
            (
                {"keyname": "value", "keyed": "@d[key]"},
                {"keyname": "length of the key", "keyed": "len(key)"},
                {"keyname": "absolute value of the value", "keyed": "abs(@d[key])"},
            ),
            (
                {"ending": "{smallest|lowest} first", "turned": ""},
                {"ending": "{largest|highest} first", "turned": "-"},
            ),
        ),
    ),
)
