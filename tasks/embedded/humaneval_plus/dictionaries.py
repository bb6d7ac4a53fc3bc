"""Dictionaries that are built: counts, groups, inversion."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import DICT, NUMBERS, STRING, WORDS, Family, code

RETURN = "{Return|Give|Find}"
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
            f"{RETURN} a dictionary from {{each|every}} {{letter|character}} {{of|in}} @s to "
            f"@what.",
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
                {
                    "what": "{how often it occurs|its number of occurrences}",
                    "counted": "result.get(c, 0) + 1",
                },
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
            "{Group|Collect} the words {in|of} @ws by @keys: {return|give} a dictionary from "
            "@keys to @collected.",
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
                {
                    "collected": "the list of {its words|words that have it}",
                    "empty": "[]",
                    "added": "[w]",
                },
                {
                    "collected": "the number of {its words|words that have it}",
                    "empty": "0",
                    "added": "1",
                },
                {
                    "collected": "the total length of {its words|words that have it}",
                    "empty": "0",
                    "added": "len(w)",
                },
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
            "{Group|Collect} the numbers {in|of} @xs by @keys: {return|give} a dictionary from "
            "that to @collected.",
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
                {
                    "collected": "the list of {its numbers|the numbers that have it}",
                    "empty": "[]",
                    "added": "[x]",
                },
                {
                    "collected": "the sum of {its numbers|the numbers that have it}",
                    "empty": "0",
                    "added": "x",
                },
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
            "{Invert|Turn round} {@d|the dictionary @d}: {return|give} a dictionary from values "
            "to keys; for equal "
            "values, the last key {counts|is kept}.",
            "{Return|Give} a dictionary from the values of @d to {its|the} keys{, the last key "
            "for equal values| (the last one for equal values)}.",
        ),
        body="return {val: key for key, val in @d.items()}",
    ),
)
