"""Options to be found: each letter is its option's, and no set of options is the suite's."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from tasks.embedded.mmlu import eval_items, lookups

OPTION = re.compile(r"^([A-D])\. (.+)$", re.MULTILINE)
FOUND = re.compile(r"It is (.+?)\. The answer is ([A-D])\.(?: |$)")


def test_each_letter_is_that_of_the_option_asked_for() -> None:
    for row in islice(lookups(0), 5_000):
        options = OPTION.findall(row.question)
        assert [letter for letter, _ in options] == list("ABCD")
        assert len({text for _, text in options}) == 4
        found = FOUND.findall(row.answer)
        assert all((letter, text) in options for text, letter in found)
        assert row.question.startswith(f"Question: Find {', '.join(text for text, _ in found)}.\n")


def test_letters_are_equally_frequent() -> None:
    letters = Counter(
        letter for row in islice(lookups(1), 5_000) for _, letter in FOUND.findall(row.answer)
    )
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
