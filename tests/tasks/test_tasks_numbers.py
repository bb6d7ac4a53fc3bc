"""Answer extraction: cases known to go wrong, and values rendered in every format."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.gsm8k import Gsm8k
from tasks.item import Item
from tasks.numbers import extract, last_box, numbers_in, parse_number, render

CASES = [
    ("…so 1,250 dollars.\n#### \\$1,250.00", "1250", "marker"),
    ("The change is small.\n#### -3", "-3", "marker"),
    ("It weighs half.\n#### 0.5", "0.5", "marker"),
    ("#### 12 apples. Question: next one? 9 + 9 = 18", "12", "marker"),
    ("#### 12\n#### 13", "12", "marker"),
    ("####\n18", "18", "marker"),
    ("#### Total: $18", "18", "marker"),
    ("#### The answer is 18 eggs", "18", "marker"),
    ("#### \\textbf{18}", "18", "marker"),
    ("#### 10 - 3 = 7", "7", "marker"),
    ("#### Total = 5 + 7 = 12", "12", "marker"),
    ("#### 3 - 10 = - 7", "-7", "marker"),
    ("#### \\$1,250 - $3.50 = $1,246.50", "1246.5", "marker"),
    ("#### 2 x (5 boxes + 7 boxes) = 2 x 12 = 24 boxes (x = 3)", "24", "marker"),
    ("#### \\frac{1}{2} \\times 1 1/2 = 3/4", "0.75", "marker"),
    ("#### 18 = 6 * 3", "18", "marker"),
    ("#### 18 eggs = 1.5 dozen", "18", "marker"),
    ("#### 18. Check: 3 + 4 = 7", "18", "marker"),
    ("#### 10 - 3 = ?", "10", "marker"),
    ("#### Step 1: 16 - 7 = 9\nSo 2 are left", "2", "fallback"),
    ("#### Step 1: eggs left\n16 - 7 = 9\n#### Step 2\n9 * 2 = 18", "18", "fallback"),
    ("#### Step 1\n16 - 7 = 9\n#### 18", "18", "marker"),
    ("18 per day (see step 2)", "2", "fallback"),
    ("first \\boxed{4}, then \\boxed{5}. 6", "5", "boxed"),
    ("#### 7 and \\boxed{8}", "8", "boxed"),
    ("\\boxed 5", "5", "boxed"),
    ("\\boxed -5.", "-5", "boxed"),
    ("\\boxed{\\text{18 dollars}}", "18", "boxed"),
    ("\\boxed{x = 3 + 4 = 7}", "7", "boxed"),
    ("\\boxed{\\frac{3}{4}}", "0.75", "boxed"),
    ("\\boxed\\frac{1}{3}", "1/3", "boxed"),
    ("\\boxed{1\\frac{1}{2}}", "1.5", "boxed"),
    ("\\boxed{- 3}", "-3", "boxed"),
    ("\\boxed{1{,}250}", "1250", "boxed"),
    ("\\boxed{50\\%}", "50", "boxed"),
    ("\\boxed{} #### 9", "9", "marker"),
    ("it is 8, \\boxed{1", "1", "fallback"),
    ("#### unknown, maybe", None, "none"),
    ("no number here", None, "none"),
    ("", None, "none"),
    ("\\boxed{no}", None, "none"),
    ("He is left with $1,250.", "1250", "fallback"),
    ("10-3", "3", "fallback"),
    ("10 - 3", "3", "fallback"),
    ("10 -3", "3", "fallback"),
    ("pages 5–10", "10", "fallback"),
    ("a grade-3 class", "3", "fallback"),
    ("(4)-3", "3", "fallback"),
    ("- 3 apples", "3", "fallback"),
    ("The answer is -3.", "-3", "fallback"),
    ("That is −$5.", "-5", "fallback"),
    ("That is $-5", "-5", "fallback"),
    ("x = - 3", "-3", "fallback"),
    ("1/0", None, "none"),
    ("9" * 5000, None, "none"),
    ("**18**", "18", "fallback"),
    ("3*4", "4", "fallback"),
    ("half, .5", "0.5", "fallback"),
]


@pytest.mark.parametrize(("text", "answer", "by"), CASES)
def test_cases(text: str, answer: str | None, by: str) -> None:
    found = extract(text)
    assert (found.answer, found.extracted_by) == (answer, by)


def thousands(n: int) -> str:
    return f"{n:,}"


def formats(n: int) -> list[str]:
    """A whole number as people and models write it."""
    sign, size = ("-" if n < 0 else ""), abs(n)
    return [
        f"{sign}{size}",
        f"{sign}{thousands(size)}",
        f"{sign}{size}.00",
        f"{sign}${thousands(size)}.00",
        f"{sign}\\${thousands(size)}",
        f"{sign}{thousands(size).replace(',', '{,}')}",
        f"{sign}{size}%",
        f"{sign}{size} dollars",
        f"{sign}{size} km.",
        f"{sign}\\frac{{{size * 3}}}{{3}}",
        f"{sign}{size * 4}/4",
        f"{sign.replace('-', '−')}{size}",
    ]


WRAPPERS = [
    ("so it is \\boxed{%s}.", "boxed"),
    ("$\\boxed{\\text{%s}}$", "boxed"),
    ("3 + 4 = 7.\n#### %s", "marker"),
    ("3 + 4 = 7.\n#### %s\nQuestion: 5 and 6?", "marker"),
    ("After 2 days the answer is %s", "fallback"),
    ("After 2 days it is = %s.", "fallback"),
]


@given(n=st.integers(-(10**9), 10**9), form=st.integers(0, 11), wrapper=st.sampled_from(WRAPPERS))
def test_whole_numbers_in_every_format(n: int, form: int, wrapper: tuple[str, str]) -> None:
    text, by = wrapper
    found = extract(text % formats(n)[form])
    assert (found.value, found.extracted_by) == (n, by)


@given(
    n=st.integers(-(10**7), 10**7),
    places=st.integers(1, 4),
    wrapper=st.sampled_from(WRAPPERS),
)
def test_decimals_keep_sign_and_places(n: int, places: int, wrapper: tuple[str, str]) -> None:
    value = Fraction(n, 10**places)
    size = str(abs(n)).rjust(places + 1, "0")
    text = f"{'-' if n < 0 else ''}{size[:-places]}.{size[-places:]}"
    assert extract(wrapper[0] % text).value == value


@given(upper=st.integers(-999, 999), lower=st.integers(1, 99))
def test_fractions(upper: int, lower: int) -> None:
    value = Fraction(upper, lower)
    sign = "-" if upper < 0 else ""
    for text in (f"{upper}/{lower}", f"{sign}\\frac{{{abs(upper)}}}{{{lower}}}",
                 f"\\dfrac{{{upper}}}{{{lower}}}"):  # fmt: skip
        assert extract(f"\\boxed{{{text}}}").value == value
        assert parse_number(text) == value


@given(st.fractions())
def test_rendering_reads_back(value: Fraction) -> None:
    assert parse_number(render(value)) == value


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_minus_between_numbers_is_no_sign(a: int, b: int) -> None:
    for text in (f"{a}-{b}", f"{a} - {b}", f"{a}–{b}", f"{a} − {b}"):
        assert numbers_in(text) == [a, b]


@given(st.text(alphabet="\\boxed{}#$-+.,/% 0123456789ab\n", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = extract(text)
    assert (found.answer is None) == (found.extracted_by == "none")


@given(st.text(alphabet="ab{}", max_size=20).filter(lambda t: t.count("{") == t.count("}")))
def test_boxes_balance(inside: str) -> None:
    depth = 0
    for char in inside:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return
    assert last_box(f"x \\boxed{{{inside}}} y") == inside


@pytest.mark.parametrize(
    ("gold", "text", "correct"),
    [("1250", "#### \\$1,250.00", True), ("18", "\\boxed{18.0}", True), ("18", "18.5", False),
     ("3", "\\boxed{-3}", False), ("5", "none at all", False)],
)  # fmt: skip
def test_equality_is_exact(gold: str, text: str, correct: bool) -> None:
    item = Item(id="x", messages=(), gold=gold)
    assert Gsm8k().score(item, text, True).correct is correct


@pytest.mark.parametrize(
    ("text", "extracted_by"),
    [
        ("She has 14 + 27 = 41", "none"),
        ("She has 14 + 27 = \\boxed{41}. Then", "boxed"),
        ("#### 41\n\nQuestion: Ann has 3", "marker"),
    ],
)
def test_nothing_is_guessed_from_an_unfinished_answer(text: str, extracted_by: str) -> None:
    item = Item(id="x", messages=(), gold="41")
    score = Gsm8k().score(item, text, finished=False)
    assert (score.extracted_by, score.finished) == (extracted_by, False)
    assert score.correct == (score.answer == "41") == (extracted_by != "none")
