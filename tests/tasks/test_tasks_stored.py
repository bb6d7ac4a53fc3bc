"""Our verdicts and others' on stored answers of a real model (Qwen2.5-Coder-0.5B-Instruct).

`tests.tasks.stored_answers` made them. Every disagreement is listed here, with its justification
in docs/scoring.md.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from tasks import resolve_task
from tasks.humaneval_plus import HumanEvalPlus
from tasks.sandbox import Sandbox
from tests.tasks.judges import Judges, Reference, gsm8k_judges, math_judges
from tests.tasks.official_files import DATA, math_solutions, needs_official
from tests.tasks.stored_answers import read_stored

pytestmark = needs_official
#: Programs judged by default; the slow test judges all.
SAMPLE = 24


def disagreements(task_name: str, judges: Judges, solutions: list[str]) -> dict[str, set[str]]:
    """Judge and what we say -> the answers about which that judge says otherwise."""
    task = resolve_task(task_name)
    items = {item.id: item for item in task.items("official", DATA)}
    places = {item_id: place for place, item_id in enumerate(items)}
    found: dict[str, set[str]] = defaultdict(set)
    for answer in read_stored(task_name):
        item = items[answer.id]
        score = task.score(item, answer.text, True)
        reference = Reference(item.gold, solutions[places[answer.id]])
        for name, says in judges.items():
            if says(answer.text, reference) != score.correct:
                ours = "right" if score.correct else "wrong"
                number = answer.id.rpartition("/")[2]
                found[f"{name}: ours {ours}, {score.extracted_by}"].add(f"{number} {answer.kind}")
    return dict(found)


def test_gsm8k() -> None:
    golds = [item.gold for item in resolve_task("gsm8k").items("official", DATA)]
    assert disagreements("gsm8k", gsm8k_judges(), golds) == {}


def test_math500() -> None:
    assert disagreements("math500", math_judges(), math_solutions()) == {}


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(None, marks=pytest.mark.slow)])
def test_humaneval_plus(count: int | None, sandbox: Sandbox) -> None:
    task = HumanEvalPlus(sandbox=sandbox)
    items = {item.id: item for item in task.items("official", DATA)}
    stored = read_stored("humaneval_plus")
    answers = stored if count is None else stored[:: len(stored) // count]
    scores = task.score_all((items[answer.id], answer.text, True) for answer in answers)
    differ = {
        f"{answer.id} {answer.kind}": score.details
        for answer, score in zip(answers, scores, strict=True)
        if (score.details["base"], score.details["plus"]) != (answer.base, answer.plus)
    }
    assert differ == {}
