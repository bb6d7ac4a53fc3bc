"""Our verdicts and those of lm-eval and math-verify on the same answers.

Each disagreement has a kind, and each kind a justification in docs/scoring.md; a new one fails.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tasks import resolve_task
from tests.tasks.mutated_answers import Made, formula_answers, number_answers
from tests.tasks.official_files import DATA, needs_official

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


def lm_eval_judge(pattern: str, group: int) -> Callable[[str, str], bool]:
    """lm-eval's own filter and metric, with the settings of its gsm8k task."""
    metrics = pytest.importorskip("lm_eval.api.metrics")
    extraction = pytest.importorskip("lm_eval.filters.extraction")
    pick = extraction.RegexFilter(pattern, group_select=group)

    def judge(text: str, gold: str) -> bool:
        stopped = text.split("Question:")[0]
        found = pick.apply([[stopped]], [{}])[0][0]
        score = metrics.exact_match_hf_evaluate(
            [found],
            [gold],
            regexes_to_ignore=[",", "\\$", "(?s).*#### ", "\\.$"],
            ignore_case=True,
        )
        return bool(score["exact_match"])

    return judge


@pytest.fixture(scope="module", params=COUNTS)
def numbers(request: pytest.FixtureRequest) -> list[Judged]:
    strict = lm_eval_judge(r"#### (\-?[0-9\.\,]+)", 0)
    flexible = lm_eval_judge(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", -1)
    task = resolve_task("gsm8k")
    items = task.items("official", DATA)
    return [
        Judged(
            made,
            task.score(items[made.place], made.text, True).correct,
            {
                "strict": strict(made.text, items[made.place].gold),
                "flexible": flexible(made.text, items[made.place].gold),
            },
        )
        for made in number_answers([item.gold for item in items], request.param, 0)
    ]


@pytest.fixture(scope="module", params=COUNTS)
def formulas(request: pytest.FixtureRequest) -> list[Judged]:
    math_verify = pytest.importorskip("math_verify")
    hendrycks = pytest.importorskip("lm_eval.tasks.hendrycks_math.utils")
    rows = (DATA / "math500" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    solutions = [json.loads(row)["solution"] for row in rows]
    task = resolve_task("math500")
    items = task.items("official", DATA)

    def boxed(text: str) -> str | None:
        box = hendrycks.last_boxed_only_string(text)
        return hendrycks.remove_boxed(box) if box else None

    return [
        Judged(
            made,
            task.score(items[made.place], made.text, True).correct,
            {
                "math-verify": math_verify.verify(
                    math_verify.parse(solutions[made.place]), math_verify.parse(made.text)
                ),
                "hendrycks": bool(hendrycks.is_equiv(boxed(made.text), items[made.place].gold)),
            },
        )
        for made in formula_answers([item.gold for item in items], request.param, 0)
    ]


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
