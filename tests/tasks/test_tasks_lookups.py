"""Options to be found: each letter is its option's, and no set of options is the suite's."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from tasks.embedded.drills import Drill
from tasks.embedded.mmlu import eval_items, lookups

OPTION = re.compile(r"^([A-D])\. (.+)$", re.MULTILINE)


def found(row: Drill) -> list[tuple[str, str]]:
    """Each option of the answer with its letter; nothing of the answer may be left over."""
    read = ", ".join(f"{text} {letter}" for letter, text in OPTION.findall(row.question))
    form = re.compile(re.escape(read) + r"\. It is (.+?) ([A-D])\. The answer is \2\.(?: |$)")
    assert form.sub("", row.answer) == "", row
    return form.findall(row.answer)


def test_each_letter_is_that_of_its_option_and_those_asked_for_are_given() -> None:
    lengths: set[int] = set()
    for row in islice(lookups(0), 5_000):
        options = OPTION.findall(row.question)
        assert [letter for letter, _ in options] == list("ABCD")
        assert len({text for _, text in options}) == 4
        assert all((letter, text) in options for text, letter in found(row))
        asked = ", ".join(text for text, _ in found(row))
        assert row.question.startswith(f"Question: Find {asked}.\n")
        lengths.add(len(found(row)))
    assert lengths == {1, 2, 3}


def test_letters_are_equally_frequent() -> None:
    letters = Counter(letter for row in islice(lookups(1), 5_000) for _, letter in found(row))
    assert all(0.23 < letters[letter] / letters.total() < 0.27 for letter in "ABCD")


def test_no_options_of_an_evaluation_question_stand_together() -> None:
    suite = {
        frozenset(text for _, text in OPTION.findall(problem.messages[-1].content))
        for problem in eval_items()
    }
    assert all(len(options) == 4 for options in suite)
    for row in islice(lookups(2), 20_000):
        assert frozenset(text for _, text in OPTION.findall(row.question)) not in suite


def test_rows_are_the_seeds() -> None:
    assert list(islice(lookups(3), 50)) == list(islice(lookups(3), 50))
    assert list(islice(lookups(3), 50)) != list(islice(lookups(4), 50))
