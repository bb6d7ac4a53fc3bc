"""MMLU's letter rule: what chooses a letter, what is ambiguous, what is no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.item import Item
from tasks.letters import LETTERS, choose
from tasks.mmlu import Mmlu

CHOSEN = [
    ("B", "B", "marker"),
    ("(B)", "B", "marker"),
    ("B. 4", "B", "marker"),
    ("Answer: B", "B", "marker"),
    ("The correct answer is **B**", "B", "marker"),
    ("A is tempting but B is right", "B", "fallback"),
    ("b", "B", "marker"),
    ("b)", "B", "marker"),
    ("answer: b", "B", "marker"),
    ("**B**", "B", "marker"),
    ("B\n\nBecause it is.", "B", "marker"),
    ("\\boxed{B}", "B", "boxed"),
    ("\\boxed{\\text{b}}", "B", "boxed"),
    ("$\\boxed{\\textbf{(B) } 4}$", "B", "boxed"),
    ("\\boxed{4}\nAnswer: B", "B", "marker"),
    ("The answer is A, because B is wrong", "A", "marker"),
    ("The answer is A because cats purr", "A", "marker"),
    ("I would choose option C.", "C", "marker"),
    ("Option D is correct.", "D", "fallback"),
    ("The answer is A. Wait, the answer is C.", "C", "marker"),
    ("B\n\nQuestion: Next?\nA. x\nB. y\nAnswer: C", "B", "marker"),
    ("A. 4\nB. 5\nC. 6\nD. 7\nThe answer is C", "C", "marker"),
    ("The correct option is (D).", "D", "marker"),
    ("Answer:\nB", "B", "marker"),
    ("### Answer\n\n**B. Paris**", "B", "marker"),
    ("The answer is $\\text{D}$", "D", "marker"),
    ("The answer is \\(B\\).", "B", "marker"),
    ("Is B correct? No. D is correct.", "D", "fallback"),
    ("The answer to 2 + 2 is C", "C", "marker"),
    ("Statement A is true. Thus the answer should be C", "C", "marker"),
    ("So B", "B", "fallback"),
    # A second letter that begins a clause of its own.
    ("The answer is B, and A is incorrect.", "B", "marker"),
    ("The correct answer is C, D is too large.", "C", "marker"),
    ("The answer is B and A can be ruled out", "B", "marker"),
    ("The answer is B, A isn't correct", "B", "marker"),
    ("The answer is B, (A) can't be right.", "B", "marker"),
    ("The answer is A, and B, C, and D are all wrong.", "A", "marker"),
    ("B, and A is incorrect.", "B", "marker"),
]
NO_ANSWER = [
    "",
    " \n",
    "a dog",
    "A dog is an animal",
    "Answer: A dog",
    "The answer is a vitamin",
    "The answer is A or B",
    "The answer is (A) and (C).",
    "The answer is B or A, and both are right",
    "The answer is B or A is",
    "The answer is A, B and C",
    "The answer is A and B only",
    "The answer is A and C are correct",
    "The answer is A, and C is also possible",
    "The answer is A, and C would be right as well",
    "A, B and C are wrong",
    "A, B are both correct",
    "A, B",
    "B and C",
    "Both A and C are correct",
    "It could be A or B",
    "A is right and so is B; B is right",
    "A. 4\nB. 5",
    "A\n\nSo the answer is B",
    "I don't think B is right.",
    "I wonder whether the answer is A",
    "The answer is not A",
    "The wrong answer is A",
    "The answer is B?",
    "\\boxed{A, B}",
    "vitamin C",
    "hepatitis B is caused by a virus",
    "Paris",
    "None of the above",
    "E",
    "ABCD",
]


@pytest.mark.parametrize(("text", "letter", "by"), CHOSEN)
def test_what_chooses_a_letter(text: str, letter: str, by: str) -> None:
    assert choose(text) == (letter, by)


@pytest.mark.parametrize("text", NO_ANSWER)
def test_what_is_no_answer(text: str) -> None:
    assert choose(text) == (None, "none")


FORMS = [
    ("{}", "marker"),
    ("({})", "marker"),
    ("{}.", "marker"),
    ("{}. Paris", "marker"),
    ("{}) Paris", "marker"),
    ("**{}**", "marker"),
    ("**{}.** Paris", "marker"),
    ("Answer: {}", "marker"),
    ("**Answer:** {}", "marker"),
    ("Answer: ({}) Paris", "marker"),
    ("answer is {}", "marker"),
    ("The correct answer is: {}.", "marker"),
    ("The correct option is **{}**: Paris", "marker"),
    ("My reasoning is long.\n\nTherefore, the answer is {}.", "marker"),
    ("I choose {}", "marker"),
    ("We pick option {}, as it fits.", "marker"),
    ("\\boxed{{{}}}", "boxed"),
    ("$\\boxed{{\\text{{{}}}}}$", "boxed"),
    ("Clearly {} is correct.", "fallback"),
    ("Option {} is the best answer.", "fallback"),
]
PROSE = st.sampled_from(
    [
        "",
        "Let us think. ",
        "It isn't easy.\n",
        "A capital city is a city. ",
        "1. First, read it.\n",
    ]
)


@given(letter=st.sampled_from(LETTERS), form=st.sampled_from(FORMS))
def test_every_form_gives_its_letter(letter: str, form: tuple[str, str]) -> None:
    text, by = form
    assert choose(text.format(letter)) == (letter, by)


@given(
    letter=st.sampled_from(LETTERS), form=st.sampled_from(["{}", "({})", "{}. 4", "answer: {}"])
)
def test_small_letters_in_the_forms_that_were_asked_for(letter: str, form: str) -> None:
    assert choose(form.format(letter.lower())) == (letter, "marker")


@given(letter=st.sampled_from(LETTERS), form=st.sampled_from(FORMS), before=PROSE)
def test_prose_before_gives_the_letter_or_no_answer(
    letter: str, form: tuple[str, str], before: str
) -> None:
    assert choose(before + form[0].format(letter)).letter in (letter, None)


@given(one=st.sampled_from(LETTERS), other=st.sampled_from(LETTERS), link=st.sampled_from(
    [" or ", " and ", ", ", "/", ") or (", " & "]))  # fmt: skip
def test_two_letters_are_no_answer(one: str, other: str, link: str) -> None:
    for form in ("The answer is {}.", "({})", "Answer: ({})", "I choose {}", "\\boxed{{{}}}"):
        assert one == other or choose(form.format(one + link + other)).letter is None


@given(st.text(alphabet="ABCDabcd ().:*\\boxed{}\nIisranwe", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    choice = choose(text)
    assert (choice.letter is None) == (choice.extracted_by == "none")


def test_scores() -> None:
    item = Item(id="x", messages=(), gold="B", subject="anatomy")
    assert Mmlu().score(item, "(b)", True).correct
    assert not Mmlu().score(item, "C", True).correct
    cut = Mmlu().score(item, "The options are", finished=False)
    assert (cut.correct, cut.answer, cut.extracted_by, cut.finished) == (
        False,
        None,
        "none",
        False,
    )
    told_again = "Let me restate.\nQuestion: which?\nA. x\nB. y\nAnswer: B"
    assert Mmlu().score(item, told_again, True).correct
    run_on = "Answer: B\n\n**Question:** next?\nAnswer: C"
    assert Mmlu().score(item, run_on, True).correct
    guess = "A is tempting but B is right"
    assert Mmlu().score(item, guess, True).extracted_by == "fallback"
    assert Mmlu().score(item, guess, False).extracted_by == "none"
    with pytest.raises(ValueError, match="'E'"):
        Mmlu().score(Item(id="x", messages=(), gold="E"), "A", True)
