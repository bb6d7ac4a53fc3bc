"""MATH answers: what is found in a text, and what equals what, case by case and generated."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.boxes import last_box
from tasks.equality import Equality
from tasks.item import Item
from tasks.latex import find, tidy
from tasks.math500 import Math500

TASK = Math500()
EQUALITY = Equality()


def correct(gold: str, text: str) -> bool:
    return TASK.score(Item(id="x", messages=(), gold=gold), text, True).correct


FOUND = [
    ("so \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}", "boxed"),
    ("\\boxed{1}, then \\boxed{2}. 3", "2", "boxed"),
    ("\\boxed 5", "5", "boxed"),
    ("\\boxed\\frac{1}{3}", "\\frac{1}{3}", "boxed"),
    ("\\fbox{7}", "7", "boxed"),
    ("\\boxed{\\boxed{5}}", "5", "boxed"),
    ("\\boxed{1 + \\boxed{2}}", "1 + 2", "boxed"),
    ("\\[\n\\boxed{(3,4]}\n\\]", "(3,4]", "boxed"),
    ("\\boxed{\\{1,2\\}}", "\\{1,2\\}", "boxed"),
    ("\\boxed{1", None, "none"),
    ("\\boxed{\\frac{1}{2}", None, "none"),
    ("so 8. \\boxed{1}, or rather \\boxed{\\frac{1}{2", None, "none"),
    ("\\boxed{1 + \\boxed{2}", None, "none"),
    ("\\boxed{1 + 2\n\nOnce more: \\boxed{3}", "3", "boxed"),
    ("write it in \\boxed{}", "", "none"),
    ("so we get \\[ x = \\frac12 \\]", "x = \\frac12", "fallback"),
    ("so we get \\( \\frac12 \\) apples", "\\frac12", "fallback"),
    ("The final answer is $\\frac{3}{4}$. I hope it is correct.", "\\frac{3}{4}", "marker"),
    ("The answer is $x=2$ and $x=3$.", "x=2, x=3", "marker"),
    ("The answer is\n\\[\n12\n\\]", "12", "marker"),
    ("**Answer:** 12", "12", "marker"),
    ("The answer is 12 apples because each has 3.", "12", "marker"),
    ("The answer is 3\\sqrt{2}.", "3\\sqrt{2}", "marker"),
    ("The answer is even.", "even", "marker"),
    ("The answer is not clear to me", None, "none"),
    ("3 + 4 = 7\n#### 7\nQuestion: 8?", "7", "marker"),
    ("it costs $5 and $6", "6", "fallback"),
    ("It is 7", "7", "fallback"),
    ("no idea", None, "none"),
]


@pytest.mark.parametrize(("text", "answer", "by"), FOUND)
def test_what_is_found(text: str, answer: str | None, by: str) -> None:
    found = find(text)
    assert found == (answer or None, by)


PAIRS = [
    ("\\frac12", "0.5", True),
    ("\\frac12", "\\dfrac{1}{2}", True),
    ("\\frac12", "1/2", True),
    ("\\frac13", "0.33", False),
    ("(3,4]", "(3,4)", False),
    ("(3,4)", "(3,4]", False),
    ("(3,4]", "(3, 4]", True),
    ("2,3,4", "1,2,3", False),
    ("2,3,4", "4, 2, 3", True),
    ("2,3,4", "2,3", False),
    ("(2,3)", "(3,2)", False),
    ("2", "\\pm 2", False),
    ("\\pm 2", "2", False),
    ("\\pm 2", "2, -2", True),
    ("12", "12\\%", True),
    ("0.12", "12\\%", True),
    ("13", "12\\%", False),
    ("12", "-12", False),
    ("90^\\circ", "90", True),
    ("\\text{Evelyn}", "Evelyn", True),
    ("\\text{even}", "\\text{odd}", False),
    ("\\text{(E)}", "E", True),
    ("10,\\!080", "10080", True),
    ("\\$18.90", "18.90 dollars", True),
    ("5.4 \\text{ cents}", "5.4", True),
    ("6 - 5i", "-5i+6", True),
    ("2k", "2", False),
    ("(a+5)(b+2)", "ab + 2a + 5b + 10", True),
    ("3\\sqrt{13}", "\\sqrt{117}", True),
    ("x^2", "x^3", False),
    ("y = -2x", "-2x", True),
    ("12", "\\text{not 12}", False),
    ("12", "12 or 13", False),
    (
        "\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}",
        "\\begin{pmatrix} 2 \\\\ 1 \\end{pmatrix}",
        False,
    ),
]


@pytest.mark.parametrize(("gold", "answer", "same"), PAIRS)
def test_what_equals_what(gold: str, answer: str, same: bool) -> None:
    assert correct(gold, f"Thus \\boxed{{{answer}}}.") is same
    assert correct(gold, f"The answer is ${answer}$.") is same


def written(sign: str, size: int) -> list[str]:
    """A whole number as people and models write it."""
    grouped = f"{size:,}"
    return [
        f"{sign}{size}",
        f"{sign}{grouped}",
        f"{sign}{grouped.replace(',', '{,}')}",
        f"{sign}{grouped.replace(',', ',' + chr(92) + '!')}",
        f"{sign}{grouped.replace(',', chr(92) + ',')}",
        f"{sign}{size}.00",
        f"{sign}\\${grouped}",
        f"{sign}{size}\\%",
        f"{sign}{size} dollars",
        f"{sign}{size} \\text{{ apples}}",
        f"{sign}{size}\\text{{ cm}}^2",
        f"{sign}{size}^\\circ",
        f"{sign}\\frac{{{3 * size}}}{{3}}",
        f"{sign}\\dfrac{{{4 * size}}}{{4}}",
        f"x = {sign}{size}",
        f"{sign}{size}.",
        f"\\text{{{sign}{size}}}",
        f"{sign.replace('-', '−')}{size}",
    ]


WRAPPERS = [
    "We get\n\\[\n\\boxed{%s}\n\\]\n",
    "Therefore the answer is $\\boxed{%s}$. I hope this helps you.",
    "First \\boxed{17}. On reflection it is \\boxed{%s}.",
    "\\boxed{\\boxed{%s}}",
    "### Answer\n\n**$\\boxed{%s}$**",
    "Final Answer: The final answer is $%s$. I hope it is correct.",
    "**Answer:** \\(%s\\)",
]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(-(10**7), 10**7),
    form=st.integers(0, 17),
    wrapper=st.sampled_from(WRAPPERS),
    off=st.sampled_from([-10, -1, 1, 7]),
)
def test_whole_numbers_in_every_format(n: int, form: int, wrapper: str, off: int) -> None:
    sign = "-" if n < 0 else ""
    text = wrapper % written(sign, abs(n))[form]
    assert correct(str(n), text)
    assert not correct(str(n + off), text)


@settings(max_examples=60, deadline=None)
@given(
    upper=st.integers(-99, 99),
    lower=st.integers(2, 99),
    form=st.integers(0, 5),
    k=st.integers(1, 5),
)
def test_fractions_in_every_format(upper: int, lower: int, form: int, k: int) -> None:
    sign, size = ("-" if upper < 0 else ""), abs(upper)
    answer = [
        f"{sign}\\frac{{{size}}}{{{lower}}}",
        f"{sign}\\dfrac{{{size * k}}}{{{lower * k}}}",
        f"\\frac{{{upper}}}{{{lower}}}",
        f"{upper}/{lower}",
        f"x = {sign}\\tfrac{{{size}}}{{{lower}}}",
        f"{sign}\\left(\\frac{{{size}}}{{{lower}}}\\right)",
    ][form]
    gold = f"{sign}\\frac{{{size}}}{{{lower}}}"
    assert correct(gold, f"so it is $\\boxed{{{answer}}}$.")
    assert not correct(f"\\frac{{{upper + 1}}}{{{lower}}}", f"so it is $\\boxed{{{answer}}}$.")


@given(
    st.sampled_from(["\\frac{1}{2}", "(3,4]", "x^{2}", "\\{1,2\\}", "\\sqrt{\\frac{2}{3}}"]),
    st.integers(1, 12),
    st.sampled_from(["", "First \\boxed{9}, "]),
)
def test_a_cut_off_box_is_no_answer(inside: str, cut: int, before: str) -> None:
    whole = f"{before}\\boxed{{{inside}}}"
    assert find(whole) == (inside, "boxed")
    assert find(whole[: -min(cut, len(inside))]).answer is None


@given(st.text(alphabet="\\boxed{}fracanswer is$()[]12=,.\n", max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = find(text)
    assert (found.answer is None) == (found.extracted_by == "none")
    if found.answer:
        tidy(found.answer)
    last_box(text)


@pytest.mark.parametrize(
    "text", ["Here $x = 14 + 27$, so", "What is $41$? We see that 41", "We get\n\\[ 41 \\]\nand"]
)
def test_nothing_is_guessed_from_an_unfinished_answer(text: str) -> None:
    item = Item(id="x", messages=(), gold="41")
    assert TASK.score(item, text, finished=True).extracted_by == "fallback"
    score = TASK.score(item, text, finished=False)
    assert (score.correct, score.answer, score.extracted_by) == (False, None, "none")
    declared = TASK.score(item, text + " \\boxed{41}, but", finished=False)
    assert (declared.correct, declared.extracted_by, declared.finished) == (True, "boxed", False)
