"""Parts for texts: tests of words and letters, and mappings of words."""

from __future__ import annotations

from tasks.embedded.humaneval_plus.family import Choices, Part

LETTERS = "abcdeghilmnorst"
#: What `word_tests` and `char_tests` draw.
WORD_CONSTANTS: dict[str, Choices] = {"k": range(2, 7), "c": LETTERS}


def word_tests(v: str) -> tuple[Part, ...]:
    """Tests of a word written `v`, told in the plural."""
    return (
        {
            "which": "long",
            "ones": "words {longer than @k letters|of more than @k letters}",
            "test": f"len({v}) > @k",
        },
        {
            "which": "short",
            "ones": "words {shorter than @k letters|of less than @k letters}",
            "test": f"len({v}) < @k",
        },
        {
            "which": "starting",
            "ones": "words that {start|begin} with '@c'",
            "test": f"{v}.startswith('@c')",
        },
        {"which": "ending", "ones": "words that end with '@c'", "test": f"{v}.endswith('@c')"},
        {
            "which": "having",
            "ones": "words {containing|that contain} '@c'",
            "test": f"'@c' in {v}",
        },
        {
            "which": "lacking",
            "ones": "words {without|not containing} '@c'",
            "test": f"'@c' not in {v}",
        },
        {"which": "palindrome", "ones": "words that are palindromes", "test": f"{v} == {v}[::-1]"},
    )


def word_maps(v: str) -> tuple[Part, ...]:
    """Mappings of a word written `v`."""
    return (
        {"how": "upper", "of": "upper-case forms of", "expr": f"{v}.upper()", "kind": "str"},
        {"how": "reverse", "of": "reversals of", "expr": f"{v}[::-1]", "kind": "str"},
        {"how": "length", "of": "lengths of", "expr": f"len({v})", "kind": "int"},
        {"how": "first", "of": "first letters of", "expr": f"{v}[:1]", "kind": "str"},
        {"how": "last", "of": "last letters of", "expr": f"{v}[-1:]", "kind": "str"},
        {"how": "double", "of": "doubled forms of", "expr": f"{v} * 2", "kind": "str"},
    )


def char_tests(v: str) -> tuple[Part, ...]:
    """Tests of a lower-case letter written `v`, told in the plural."""
    return (
        {"which": "vowel", "ones": "vowels (aeiou)", "test": f"{v} in 'aeiou'"},
        {
            "which": "consonant",
            "ones": "{letters other than vowels (aeiou)|letters that are not in 'aeiou'}",
            "test": f"{v} not in 'aeiou'",
        },
        {
            "which": "before",
            "ones": "letters {before|that come before} '@c' in the alphabet",
            "test": f"{v} < '@c'",
        },
        {
            "which": "after",
            "ones": "letters {after|that come after} '@c' in the alphabet",
            "test": f"{v} > '@c'",
        },
        {
            "which": "not",
            "ones": "letters {other than|different from} '@c'",
            "test": f"{v} != '@c'",
        },
    )
