"""Perfect answers to the official items score 100 %, and shuffled references what chance gives.

docs/scoring.md has the table of what came out.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from tasks import Item, Task, limit, resolve_task
from tests.tasks.official_files import DATA, needs_official

pytestmark = needs_official


@cache
def everything(name: str) -> tuple[Task, list[Item]]:
    task = resolve_task(name)
    return task, task.items("official", DATA)


def restyled(gold: str) -> str:
    """The same formula as another hand would write it."""
    text = re.sub(r"\\frac(?=\{)", r"\\dfrac", gold).replace("\\left", "").replace("\\right", "")
    return re.sub(r"(?<!\d),(?!\\)|,(?!\d|\\)", ", ", text)


def grouped(gold: str) -> str:
    return f"{int(gold):,}" if re.fullmatch(r"-?\d+", gold) else gold


Form = Callable[[str], str]
MATH_FORMS: dict[str, Form] = {
    "boxed": lambda gold: f"We simplify and get\n\\[\n\\boxed{{{gold}}}\n\\]",
    "boxed, restyled": lambda gold: f"First \\boxed{{7}}? No: $\\boxed{{{restyled(gold)}}}$.",
    "final answer": lambda gold: f"We are done.\n\nThe final answer is ${gold}$.",
    "bare": lambda gold: f"**Answer:** {gold}",
    "last formula": lambda gold: f"Adding $1$ and $2$ leads to \\({gold}\\).",
}
NUMBER_FORMS: dict[str, Form] = {
    "marker": lambda gold: f"She has 3 + 4 = 7.\n#### {gold}",
    "marker, money": lambda gold: f"It is 7.\n#### \\${grouped(gold)}.00\n\nQuestion: And 5?",
    "boxed": lambda gold: f"Step 1: 3 + 4 = 7.\n\\[ \\boxed{{{gold}}} \\] (in 2 steps)",
    "boxed, unit": lambda gold: f"so $\\boxed{{\\${grouped(gold)} \\text{{ dollars}}}}$",
    "boxed, equation": lambda gold: f"\\boxed{{x = 7 \\times 1 = {gold}}}",
    "prose": lambda gold: f"First 3 + 4 = 7. In all that makes {grouped(gold)} apples.",
}
LETTER_FORMS: dict[str, Form] = {
    "letter": lambda gold: gold,
    "letter and text": lambda gold: f"({gold}) because of A and B",
    "sentence": lambda gold: f"A is tempting.\n\nThe correct answer is **{gold}**.",
    "boxed": lambda gold: f"so $\\boxed{{\\text{{{gold}}}}}$",
}
FORMS = {"math500": MATH_FORMS, "gsm8k": NUMBER_FORMS, "mmlu": LETTER_FORMS}
CASES = [(name, form) for name, forms in FORMS.items() for form in forms]


def wrong(task: Task, items: Sequence[Item], form: Form) -> list[tuple[str, str | None]]:
    scores = [(item, task.score(item, form(item.gold), True)) for item in items]
    return [(item.gold, score.answer) for item, score in scores if not score.correct]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_perfect_answers(name: str, form: str) -> None:
    task, items = everything(name)
    assert wrong(task, items, FORMS[name][form]) == []


def test_own_solutions() -> None:
    """The worked solutions of the files themselves, which models were trained to imitate."""
    task, items = everything("math500")
    rows = (DATA / "math500" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    solutions = [json.loads(row)["solution"] for row in rows]
    scores = [task.score(*pair, True) for pair in zip(items, solutions, strict=True)]
    assert all(score.correct and score.extracted_by == "boxed" for score in scores)
    task, items = everything("gsm8k")
    rows = (DATA / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").split("\n")
    solutions = [json.loads(row)["answer"] for row in rows if row]
    scores = [task.score(*pair, True) for pair in zip(items, solutions, strict=True)]
    assert all(score.correct and score.extracted_by == "marker" for score in scores)


def shuffled_share(name: str, items: list[Item], task: Task) -> tuple[float, float]:
    """The accuracy with another item's reference as the answer, and what chance gives: the share
    of pairs whose references are equal (as numbers, letters, or to the comparing process)."""
    golds = [item.gold for item in items]
    dealt = golds.copy()
    random.Random(0).shuffle(dealt)
    form = next(iter(FORMS[name].values()))
    right = [
        task.score(item, form(gold), True).correct for item, gold in zip(items, dealt, strict=True)
    ]
    same = sum(count**2 for count in Counter(golds).values())
    return sum(right) / len(right), same / len(golds) ** 2


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("gsm8k", 1319),
        ("mmlu", 14042),
        ("math500", 100),
        pytest.param("math500", 500, marks=pytest.mark.slow),
    ],
)
def test_shuffled_references_score_what_chance_gives(name: str, size: int) -> None:
    task, items = everything(name)
    share, chance = shuffled_share(name, limit(items, size, 1), task)
    print(f"{name}, {size} items: {share:.2%} right, {chance:.2%} by chance")
    assert abs(share - chance) < 4 * (chance * (1 - chance) / size) ** 0.5
