"""Strings and lists of words: which words, which letters, how they are changed."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import SENTENCE, STRING, WORDS, Family
from tasks.embedded.humaneval_plus.word_parts import (
    LETTERS,
    WORD_CONSTANTS,
    char_tests,
    word_maps,
    word_tests,
)

RETURN = "{Return|Give|Find}"

FAMILIES: tuple[Family, ...] = (
    Family(
        key="word_list",
        names="@which_@how @how_@which get_@which",
        args=(WORDS,),
        returns="list[@kind]",
        docs=(
            f"{RETURN} the {{list of the |}}@of the @ones {{in|from}} @ws.",
            "{Keep|Take} the @ones {in|from} @ws and {return|give} the @of these.",
        ),
        body="return [@expr for w in @ws if @test]",
        parts=(word_maps("w"), word_tests("w")),
        constants=WORD_CONSTANTS,
        weight=3,
    ),
    Family(
        key="sentence_words",
        names="@which_@how @how_words pick_@which",
        args=(SENTENCE,),
        returns="str",
        docs=(
            f"{RETURN} the @of the @ones in the {{sentence|text}} @s, joined by @sepname.",
            "{Split|Cut} @s at spaces and {return|give} the @of the @ones, joined by @sepname.",
        ),
        body="return '@sep'.join(@expr for w in @s.split() if @test)",
        parts=(
            tuple(part for part in word_maps("w") if part["kind"] == "str"),
            word_tests("w"),
            (
                {"sepname": "{spaces|a space}", "sep": " "},
                {"sepname": "{commas|a comma}", "sep": ","},
                {"sepname": "{hyphens|a hyphen}", "sep": "-"},
            ),
        ),
        constants=WORD_CONSTANTS,
        weight=3,
    ),
    Family(
        key="count_words",
        names="count_@which num_@which how_many_@which",
        args=(SENTENCE,),
        returns="int",
        docs=(
            "{Count|Return the number of} {the |}@ones in {the sentence @s|the text @s|@s, split "
            "at spaces}.",
        ),
        body="return sum(1 for w in @s.split() if @test)",
        parts=(word_tests("w"),),
        constants=WORD_CONSTANTS,
        weight=2,
    ),
    Family(
        key="letters_of",
        names="@which_@chname @chname_@which letters_@which",
        args=(STRING,),
        returns="@type",
        docs=(
            f"{RETURN} @chwhat the @ones {{in|from}} {{@s|the lower-case string @s|the word "
            f"@s}}@chtail.",
        ),
        body="return @code",
        parts=(
            (
                {
                    "chname": "count",
                    "chwhat": "the {number|count} of",
                    "chtail": "",
                    "code": "sum(1 for @gen)",
                    "type": "int",
                },
                {
                    "chname": "keep",
                    "chwhat": "a string of",
                    "chtail": "{|, in order}",
                    "code": "''.join(c for @gen)",
                    "type": "str",
                },
                {
                    "chname": "upper",
                    "chwhat": "a string of",
                    "chtail": "{, in upper case|, made upper case}",
                    "code": "''.join(c.upper() for @gen)",
                    "type": "str",
                },
                {
                    "chname": "doubled",
                    "chwhat": "a string of",
                    "chtail": ", {each doubled|each twice}",
                    "code": "''.join(c * 2 for @gen)",
                    "type": "str",
                },
                {
                    "chname": "list",
                    "chwhat": "a list of",
                    "chtail": "{|, in order}",
                    "code": "[c for @gen]",
                    "type": "list[str]",
                },
                {
                    "chname": "sorted",
                    "chwhat": "a sorted list of",
                    "chtail": "",
                    "code": "sorted(c for @gen)",
                    "type": "list[str]",
                },
            ),
            char_tests("c"),
            ({"gen": "c in @s if @test"},),
        ),
        constants={"c": LETTERS},
        weight=3,
    ),
    Family(
        key="change_letters",
        names="@chname_@which change_@which convert_@which",
        args=(STRING,),
        returns="str",
        docs=(
            "{Return|Give} @s with the @ones @changed and the {other letters|others|rest} "
            "unchanged.",
            "{In|Within} @s, the @ones are @changed; return the {result|new string}.",
        ),
        body="return ''.join(@new if @test else c for c in @s)",
        parts=(
            (
                {"chname": "upper", "changed": "put into upper case", "new": "c.upper()"},
                {"chname": "mask", "changed": "replaced by '@mask'", "new": "'@mask'"},
                {"chname": "double", "changed": "doubled", "new": "c * 2"},
            ),
            char_tests("c"),
        ),
        constants={"c": LETTERS, "mask": "*#-_.x?"},
        weight=2,
    ),
    Family(
        key="reverse_words",
        names="reverse_words flip_words words_backwards",
        args=(SENTENCE,),
        returns="str",
        docs=(
            "{Return|Give} {the sentence @s|@s} with {its|the} words in reverse order, joined by "
            "@sepname.",
            "{Reverse|Turn round} the order of the words {of|in} @s and join them by @sepname.",
        ),
        body="return '@sep'.join(@s.split()[::-1])",
        parts=(
            (
                {"sepname": "spaces", "sep": " "},
                {"sepname": "commas", "sep": ","},
                {"sepname": "hyphens", "sep": "-"},
            ),
        ),
    ),
    Family(
        key="is_palindrome",
        names="is_palindrome check_palindrome reads_same",
        args=(STRING,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether|Test whether} {@s|the string @s} {reads "
            "the same "
            "forwards and backwards|is a palindrome|equals its own reverse}.",
        ),
        body="return @s == @s[::-1]",
    ),
    Family(
        key="capitalise",
        names="@caname capitalise change_case",
        args=(SENTENCE,),
        returns="str",
        docs=(
            "{Return|Give} {the sentence @s|the text @s|@s} with @cawhat{|, the rest unchanged}.",
        ),
        body="return @code",
        parts=(
            (
                {
                    "caname": "title_words",
                    "cawhat": "the first letter of {each|every} word in upper case",
                    "code": "' '.join(w[:1].upper() + w[1:] for w in @s.split())",
                },
                {
                    "caname": "end_words",
                    "cawhat": "the last letter of {each|every} word in upper case",
                    "code": "' '.join(w[:-1] + w[-1:].upper() for w in @s.split())",
                },
                {
                    "caname": "shout_long",
                    "cawhat": "{each|every} word longer than @k letters in upper case",
                    "code": "' '.join(w.upper() if len(w) > @k else w for w in @s.split())",
                },
                {
                    "caname": "shout_short",
                    "cawhat": "{each|every} word shorter than @k letters in upper case",
                    "code": "' '.join(w.upper() if len(w) < @k else w for w in @s.split())",
                },
            ),
        ),
        constants={"k": range(2, 7)},
    ),
    Family(
        key="replace_letter",
        names="replace_letter swap_letter substitute",
        args=(STRING,),
        returns="str",
        docs=(
            "{Replace|Change} {each|every} '@c' in {@s|the string @s} {by|to} '@e'.",
            "{Return|Give} @s with {each|every} '@c' {replaced by|changed to} '@e'.",
        ),
        body="return @s.replace('@c', '@e')",
        constants={"c,e": [(a, b) for a in LETTERS for b in LETTERS if a != b]},
    ),
    Family(
        key="remove_letters",
        names="remove_letters drop_letters without_letters",
        args=(STRING,),
        returns="str",
        docs=(
            "{Remove|Drop|Delete} {each|every} '@c' and {each|every} '@e' from {@s|the string "
            "@s}.",
            "{Return|Give} @s without {the letters|any} '@c' and '@e'.",
        ),
        body="return ''.join(c for c in @s if c not in '@c@e')",
        constants={"c,e": [(a, b) for a in LETTERS for b in LETTERS if a != b]},
    ),
)
