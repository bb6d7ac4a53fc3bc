"""Functions of strings and lists of words."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import SENTENCE, STRING, WORDS, Arg, Family, code
from tasks.embedded.humaneval_plus.parts import (
    LETTERS,
    WORD_CONSTANTS,
    char_tests,
    word_maps,
    word_tests,
)

RETURN = "{Return|Give|Find}"
OTHER_STRING = Arg("z", "word", ("t", "other", "second"))

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
        docs=("{Count|Return the number of} {the |}@ones in {the sentence @s|the text @s|@s, split at spaces}.",),
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
        docs=(f"{RETURN} @chwhat the @ones {{in|from}} {{@s|the lower-case string @s|the word @s}}@chtail.",),
        body="return @code",
        parts=(
            (
                {"chname": "count", "chwhat": "the {number|count} of", "chtail": "", "code": "sum(1 for @gen)", "type": "int"},
                {"chname": "keep", "chwhat": "a string of", "chtail": "{|, in order}", "code": "''.join(c for @gen)", "type": "str"},
                {"chname": "upper", "chwhat": "a string of", "chtail": "{, in upper case|, made upper case}", "code": "''.join(c.upper() for @gen)", "type": "str"},
                {"chname": "doubled", "chwhat": "a string of", "chtail": ", {each doubled|each twice}", "code": "''.join(c * 2 for @gen)", "type": "str"},
                {"chname": "list", "chwhat": "a list of", "chtail": "{|, in order}", "code": "[c for @gen]", "type": "list[str]"},
                {"chname": "sorted", "chwhat": "a sorted list of", "chtail": "", "code": "sorted(c for @gen)", "type": "list[str]"},
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
            "{Return|Give} @s with the @ones @changed and the {other letters|others|rest} unchanged.",
            "{In|Within} @s, the @ones are @changed; return the {result|new string}.",
        ),
        body="return ''.join(@new if @test else c for c in @s)",
        parts=(
            (
                {"chname": "upper", "changed": "in upper case", "new": "c.upper()"},
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
            "{Return|Give} {the sentence @s|@s} with {its|the} words in reverse order, joined by @sepname.",
            "{Reverse|Turn round} the order of the words {of|in} @s and join them by @sepname.",
        ),
        body="return '@sep'.join(@s.split()[::-1])",
        parts=(({"sepname": "spaces", "sep": " "}, {"sepname": "commas", "sep": ","}, {"sepname": "hyphens", "sep": "-"}),),
    ),
    Family(
        key="is_palindrome",
        names="is_palindrome check_palindrome reads_same",
        args=(STRING,),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether|Test whether} {@s|the string @s} {reads the same "
            "forwards and backwards|is a palindrome|equals its own reverse}.",
        ),
        body="return @s == @s[::-1]",
    ),
    Family(
        key="capitalise",
        names="@caname capitalise change_case",
        args=(SENTENCE,),
        returns="str",
        docs=("{Return|Give} {the sentence @s|the text @s|@s} with @cawhat{|, the rest unchanged}.",),
        body="return @code",
        parts=(
            (
                {"caname": "title_words", "cawhat": "the first letter of {each|every} word in upper case", "code": "' '.join(w[:1].upper() + w[1:] for w in @s.split())"},
                {"caname": "end_words", "cawhat": "the last letter of {each|every} word in upper case", "code": "' '.join(w[:-1] + w[-1:].upper() for w in @s.split())"},
                {"caname": "shout_long", "cawhat": "{each|every} word longer than @k letters in upper case", "code": "' '.join(w.upper() if len(w) > @k else w for w in @s.split())"},
                {"caname": "shout_short", "cawhat": "{each|every} word shorter than @k letters in upper case", "code": "' '.join(w.upper() if len(w) < @k else w for w in @s.split())"},
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
            "{Remove|Drop|Delete} {each|every} '@c' and {each|every} '@e' from {@s|the string @s}.",
            "{Return|Give} @s without {the letters|any} '@c' and '@e'.",
        ),
        body="return ''.join(c for c in @s if c not in '@c@e')",
        constants={"c,e": [(a, b) for a in LETTERS for b in LETTERS if a != b]},
    ),
    Family(
        key="run_length",
        names="run_length compress encode_runs",
        args=(STRING,),
        returns="str",
        docs=(
            "{Compress|Encode|Write} {@s|the string @s} {as|by} runs of equal letters: {each|every} run becomes @runwhat.",
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
                {"runwhat": "the letter and {its count|the run's length}", "runcode": "@s[i] + str(j - i)"},
                {"runwhat": "{its count|the run's length} and the letter", "runcode": "str(j - i) + @s[i]"},
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
                {"exname": "richest", "exwhat": "richest in '@c'", "func": "max", "keyed": "lambda w: w.count('@c')"},
                {"exname": "poorest", "exwhat": "poorest in '@c'", "func": "min", "keyed": "lambda w: w.count('@c')"},
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
            "{Shift|Move} {each|every} {letter|lower-case letter} of @s @k places @direction in the alphabet, "
            "{wrapping around|going round at the end}.",
        ),
        body="return ''.join(chr((ord(c) - 97 @sign @k) % 26 + 97) for c in @s)",
        parts=(({"direction": "{forward|on}", "sign": "+"}, {"direction": "{back|backwards}", "sign": "-"}),),
        constants={"k": range(1, 20)},
    ),
    Family(
        key="acronym",
        names="acronym initials first_letters",
        args=(SENTENCE,),
        returns="str",
        docs=(
            f"{RETURN} the {{first|initial}} letters of the words {{in|of}} {{@s|the sentence @s}}, {{together|as one string}}@style.",
            "{Make|Build} an acronym {of|from} {@s|the words of @s}: the first letters{| of the words}@style.",
        ),
        body="return ''.join(@expr for w in @s.split())",
        parts=(({"style": "", "expr": "w[0]"}, {"style": ", {in upper case|made upper case}", "expr": "w[0].upper()"}),),
    ),
    Family(
        key="is_anagram",
        names="is_anagram are_anagrams same_letters",
        args=(STRING, OTHER_STRING),
        returns="bool",
        docs=(
            "{Return True if|Check whether|Tell whether} @s and @z {are anagrams|have the same letters, each as often"
            "|are made of the same letters}{|, in any order}.",
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
                {"twname": "common", "twwhat": "the {number|count} of different letters in both", "twend": "", "code": "len(set(@s) & set(@z))", "type": "int"},
                {"twname": "matches", "twwhat": "{how many|the number of} positions with equal letters in", "twend": "", "code": "sum(1 for x, y in zip(@s, @z) if x == y)", "type": "int"},
                {"twname": "mismatches", "twwhat": "{how many|the number of} positions with different letters in", "twend": "{|, up to the shorter end}", "code": "sum(1 for x, y in zip(@s, @z) if x != y)", "type": "int"},
                {"twname": "longer", "twwhat": "the longer of", "twend": ", or {@s|the first} if equally long", "code": "@s if len(@s) >= len(@z) else @z", "type": "str"},
                {"twname": "shorter", "twwhat": "the shorter of", "twend": ", or {@s|the first} if equally long", "code": "@s if len(@s) <= len(@z) else @z", "type": "str"},
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
                {"slname": "head", "slwhat": "the first @k {letters|characters} of", "slice": ":@k"},
                {"slname": "tail", "slwhat": "the last @k {letters|characters} of", "slice": "-@k:"},
                {"slname": "rest", "slwhat": "all but the first @k {letters|characters} of", "slice": "@k:"},
                {"slname": "trim", "slwhat": "all but the last @k {letters|characters} of", "slice": ":-@k"},
                {"slname": "thin", "slwhat": "every @k-th {letter|character} (from the first on) of", "slice": "::@k"},
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
            "{Count|Return the number of} {the |}{letters|characters} {of|in} {@s|the string @s} that @runs the one {before|just before}{| it}.",
        ),
        body=code("""
            count = 0
            for i in range(1, len(@s)):
                if @s[i] @op @s[i - 1]:
                    count += 1
            return count
        """),
        parts=(({"runs": "{equal|are equal to}", "op": "=="}, {"runs": "differ from", "op": "!="}, {"runs": "come in the alphabet after", "op": ">"}),),
    ),
    Family(
        key="join_with",
        names="join_words join_all connect glue",
        args=(WORDS,),
        returns="str",
        docs=("{Join|Connect} {the words in|the words of|the list} @ws @worder with '@sep' {between them|in between}.",),
        body="return '@sep'.join(@joined)",
        parts=(
            (
                {"worder": "{|in their order}", "joined": "@ws"},
                {"worder": "{in reverse order|from last to first}", "joined": "@ws[::-1]"},
                {"worder": "{in sorted order|sorted alphabetically}", "joined": "sorted(@ws)"},
            ),
        ),
        constants={"sep": ["-", "+", "/", "_", ";", ":", " and ", " or ", "*", "="]},
    ),
)  # fmt: skip
