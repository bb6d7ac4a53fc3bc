"""Our verdicts and those of lm-eval and math-verify on the same answers.

Each disagreement has a kind, and each kind a justification in docs/scoring.md; a new one fails.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pytest

from tasks import resolve_task
from tests.tasks.judges import Judges, Reference, gsm8k_judges, math_judges
from tests.tasks.mutated_answers import Made, formula_answers, number_answers
from tests.tasks.official_files import DATA, math_solutions, needs_official

pytestmark = needs_official
#: Answers of each task.
COUNTS = [104, pytest.param(260, marks=pytest.mark.slow)]


class Judged(NamedTuple):
    """An answer, our verdict, and that of others by name."""

    made: Made
    ours: bool
    others: dict[str, bool]


def disagreements(judged: list[Judged], other: str) -> Counter[tuple[str, bool, bool]]:
    """How often they differ: (kind, whether the answer is right, whether we say so)."""
    return Counter(
        (one.made.kind, one.made.right, one.ours)
        for one in judged
        if one.ours != one.others[other]
    )


def judge(task_name: str, made: list[Made], solutions: list[str], judges: Judges) -> list[Judged]:
    task = resolve_task(task_name)
    items = task.items("official", DATA)
    judged: list[Judged] = []
    for one in made:
        reference = Reference(items[one.place].gold, solutions[one.place])
        others = {name: says(one.text, reference) for name, says in judges.items()}
        judged.append(Judged(one, task.score(items[one.place], one.text, True).correct, others))
    return judged


@pytest.fixture(scope="module", params=COUNTS)
def numbers(request: pytest.FixtureRequest) -> list[Judged]:
    golds = [item.gold for item in resolve_task("gsm8k").items("official", DATA)]
    made = number_answers(golds, request.param, 0)
    return judge("gsm8k", made, golds, gsm8k_judges())


@pytest.fixture(scope="module", params=COUNTS)
def formulas(request: pytest.FixtureRequest) -> list[Judged]:
    golds = [item.gold for item in resolve_task("math500").items("official", DATA)]
    made = formula_answers(golds, request.param, 0)
    return judge("math500", made, math_solutions(), math_judges())


def test_our_verdicts_on_numbers_are_the_truth_but_for_guesses(numbers: list[Judged]) -> None:
    """A last number that isn't the answer is what `fallback` is labelled for."""
    assert {one.made.kind for one in numbers if one.ours != one.made.right} == {"prose and step"}
    assert not [one for one in numbers if one.ours and not one.made.right]


def test_our_verdicts_on_formulas_are_the_truth(formulas: list[Judged]) -> None:
    assert not [one for one in formulas if one.ours != one.made.right]


def test_gsm8k_against_lm_eval(numbers: list[Judged]) -> None:
    strict = disagreements(numbers, "strict")
    # Only `####` counts there; and of "$7.00" it takes "7.00", which is not the text "7".
    assert {kind for kind, _, _ in strict}.isdisjoint({"marker", "marker and run-on"})
    assert all(right and ours for _, right, ours in strict)
    flexible = disagreements(numbers, "flexible")
    assert {kind for kind, _, _ in flexible} == {
        "marker and money",
        "box",
        "box and later words",
        "box and expression",
        "decimals",
    }
    assert all(right and ours for _, right, ours in flexible)


def test_math_against_math_verify_and_lm_eval(formulas: list[Judged]) -> None:
    assert disagreements(formulas, "math-verify").keys() <= {("box cut off", False, False)}
    hendrycks = disagreements(formulas, "hendrycks")
    # Without a box it finds nothing; in boxes it compares text after its own clean-up.
    assert {kind for kind, _, _ in hendrycks} == {"final answer", "last formula", "brackets"}
    assert all(right and ours for _, right, ours in hendrycks)
