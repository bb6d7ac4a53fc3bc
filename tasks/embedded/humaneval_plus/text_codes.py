"""Strings as wholes: codes, comparisons, slices and joins."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import SENTENCE, STRING, WORDS, Arg, Family, code
from tasks.embedded.humaneval_plus.word_parts import (
    LETTERS,
)

RETURN = "{Return|Give|Find}"
OTHER_STRING = Arg("z", "word", ("t", "other", "second"))

FAMILIES: tuple[Family, ...] = (
    Family(
        key="run_length",
        names="run_length compress encode_runs",
        args=(STRING,),
        returns="str",
        docs=(
            "{Compress|Encode|Write} {@s|the string @s} {as|by} runs of equal letters: "
            "{each|every} run becomes @runwhat.",
        ),
        body=code("""
            result = ''
            i = 0
            while i < len(@s):
                j = i
                while j < len(@s) and @s[j] == @s[i]:
                    j += 1
                result += @runcode
                i = j
            return result
        """),
        parts=(
            (
                {
                    "runwhat": "the letter and {its count|the run's length}",
                    "runcode": "@s[i] + str(j - i)",
                },
                {
                    "runwhat": "{its count|the run's length} and the letter",
                    "runcode": "str(j - i) + @s[i]",
                },
            ),
        ),
    ),
    Family(
        key="extreme_word",
        names="@exname find_@exname get_@exname",
        args=(WORDS.of("some words"),),
        returns="str",
        docs=(
            f"{RETURN} the {{@exwhat word|word that is @exwhat}} {{in|of}} @ws; "
            "{of several, the first|the first one if there are several}.",
        ),
        body="return @func(@ws, key=@keyed)",
        parts=(
            (
                {"exname": "longest", "exwhat": "longest", "func": "max", "keyed": "len"},
                {"exname": "shortest", "exwhat": "shortest", "func": "min", "keyed": "len"},
                {
                    "exname": "richest",
                    "exwhat": "richest in '@c'",
                    "func": "max",
                    "keyed": "lambda w: w.count('@c')",
                },
                {
                    "exname": "poorest",
                    "exwhat": "poorest in '@c'",
                    "func": "min",
                    "keyed": "lambda w: w.count('@c')",
                },
            ),
        ),
        constants={"c": LETTERS},
    ),
    Family(
        key="caesar",
        names="caesar shift_letters encrypt encode",
        args=(STRING,),
        returns="str",
        docs=(
            "{Shift|Move} {each|every} {letter|lower-case letter} of @s @k places @direction in "
            "the alphabet, "
            "{wrapping around|going round at the end}.",
        ),
        body="return ''.join(chr((ord(c) - 97 @sign @k) % 26 + 97) for c in @s)",
        parts=(
            (
                {"direction": "{forward|on}", "sign": "+"},
                {"direction": "{back|backwards}", "sign": "-"},
            ),
        ),
        constants={"k": range(1, 20)},
    ),
    Family(
        key="acronym",
        names="acronym initials first_letters",
        args=(SENTENCE,),
        returns="str",
        docs=(
            f"{RETURN} the {{first|initial}} letters of the words {{in|of}} {{@s|the sentence "
            f"@s}}, {{together|as one string}}@style.",
            "{Make|Build} an acronym {of|from} {@s|the words of @s}: the first letters{| of the "
            "words}@style.",
        ),
        body="return ''.join(@expr for w in @s.split())",
        parts=(
            (
                {"style": "", "expr": "w[0]"},
                {"style": ", {in upper case|made upper case}", "expr": "w[0].upper()"},
            ),
        ),
    ),
    Family(
        key="is_anagram",
        names="is_anagram are_anagrams same_letters",
        args=(STRING, OTHER_STRING),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} @s and @z {are anagrams|have the same "
            "letters, each as often"
            "|consist of the same letters, each as often}{|, in any order}.",
        ),
        body="return sorted(@s) == sorted(@z)",
    ),
    Family(
        key="two_strings",
        names="@twname strings_@twname compare_strings",
        args=(STRING, OTHER_STRING),
        returns="@type",
        docs=(f"{RETURN} @twwhat {{the strings |}}@s and @z@twend.",),
        body="return @code",
        parts=(
            (
                {
                    "twname": "common",
                    "twwhat": "the {number|count} of different letters in both",
                    "twend": "",
                    "code": "len(set(@s) & set(@z))",
                    "type": "int",
                },
                {
                    "twname": "matches",
                    "twwhat": "{how many|the number of} positions with equal letters in",
                    "twend": "",
                    "code": "sum(1 for x, y in zip(@s, @z) if x == y)",
                    "type": "int",
                },
                {
                    "twname": "mismatches",
                    "twwhat": "{how many|the number of} positions with different letters in",
                    "twend": "{|, up to the shorter end}",
                    "code": "sum(1 for x, y in zip(@s, @z) if x != y)",
                    "type": "int",
                },
                {
                    "twname": "longer",
                    "twwhat": "the longer of",
                    "twend": ", or {@s|the first} if equally long",
                    "code": "@s if len(@s) >= len(@z) else @z",
                    "type": "str",
                },
                {
                    "twname": "shorter",
                    "twwhat": "the shorter of",
                    "twend": ", or {@s|the first} if equally long",
                    "code": "@s if len(@s) <= len(@z) else @z",
                    "type": "str",
                },
            ),
        ),
    ),
    Family(
        key="slice_string",
        names="@slname slice_string cut_string",
        args=(STRING,),
        returns="str",
        docs=("{Return|Give} @slwhat {the string |}@s@slorder.",),
        body="return @s[@slice]@turn",
        parts=(
            (
                {
                    "slname": "head",
                    "slwhat": "the first @k {letters|characters} of",
                    "slice": ":@k",
                },
                {
                    "slname": "tail",
                    "slwhat": "the last @k {letters|characters} of",
                    "slice": "-@k:",
                },
                {
                    "slname": "rest",
                    "slwhat": "all but the first @k {letters|characters} of",
                    "slice": "@k:",
                },
                {
                    "slname": "trim",
                    "slwhat": "all but the last @k {letters|characters} of",
                    "slice": ":-@k",
                },
                {
                    "slname": "thin",
                    "slwhat": "every @k-th {letter|character} (from the first on) of",
                    "slice": "::@k",
                },
            ),
            (
                {"slorder": "", "turn": ""},
                {"slorder": "{, in reverse order|, reversed}", "turn": "[::-1]"},
                {"slorder": ", {repeated @r times|@r times}", "turn": " * @r"},
                {"slorder": ", {in upper case|made upper case}", "turn": ".upper()"},
            ),
        ),
        constants={"k": range(2, 7), "r": range(2, 6)},
        weight=2,
    ),
    Family(
        key="letter_runs",
        names="count_doubles double_letters repeats",
        args=(STRING,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}{letters|characters} {of|in} {@s|the string @s} "
            "that @runs the one {before|just before}{| it}.",
        ),
        body=code("""
            count = 0
            for i in range(1, len(@s)):
                if @s[i] @op @s[i - 1]:
                    count += 1
            return count
        """),
        parts=(
            (
                {"runs": "{equal|are equal to}", "op": "=="},
                {"runs": "differ from", "op": "!="},
                {"runs": "come in the alphabet after", "op": ">"},
            ),
        ),
    ),
    Family(
        key="join_with",
        names="join_words join_all connect glue",
        args=(WORDS,),
        returns="str",
        docs=(
            "{Join|Connect} {the words in|the words of|the list} @ws@worder with '@sep' {between "
            "them|in between}.",
        ),
        body="return '@sep'.join(@joined)",
        parts=(
            (
                {"worder": "{| in their order}", "joined": "@ws"},
                {"worder": " {in reverse order|from last to first}", "joined": "@ws[::-1]"},
                {"worder": " {in sorted order|sorted alphabetically}", "joined": "sorted(@ws)"},
            ),
        ),
        constants={"sep": ["-", "+", "/", "_", ";", ":", " and ", " or ", "*", "="]},
    ),
)
