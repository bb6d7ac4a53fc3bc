"""Other judges of answers: lm-eval's and math-verify's own functions, as their tasks call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest


class Reference(NamedTuple):
    """What an item's answer is held against: the answer alone and the worked solution."""

    gold: str
    solution: str


Judges = dict[str, Callable[[str, Reference], bool]]


@cache
def gsm8k_judges() -> Judges:
    """The filters and the metric of lm-eval's `gsm8k`."""
    return {
        "strict": _lm_eval_judge(r"#### (\-?[0-9\.\,]+)", 0),
        "flexible": _lm_eval_judge(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", -1),
    }


def _lm_eval_judge(pattern: str, group: int) -> Callable[[str, Reference], bool]:
    metrics = pytest.importorskip("lm_eval.api.metrics")
    extraction = pytest.importorskip("lm_eval.filters.extraction")
    pick = extraction.RegexFilter(pattern, group_select=group)

    def judge(text: str, reference: Reference) -> bool:
        stopped = text.split("Question:")[0]
        found = pick.apply([[stopped]], [{}])[0][0]
        score = metrics.exact_match_hf_evaluate(
            [found],
            [reference.gold],
            regexes_to_ignore=[",", "\\$", "(?s).*#### ", "\\.$"],
            ignore_case=True,
        )
        return bool(score["exact_match"])

    return judge


@cache
def math_judges() -> Judges:
    """math-verify on whole texts (lm-eval's `minerva_math`, the paper) and `hendrycks_math`."""
    math_verify = pytest.importorskip("math_verify")
    hendrycks = pytest.importorskip("lm_eval.tasks.hendrycks_math.utils")

    def by_math_verify(text: str, reference: Reference) -> bool:
        solution = math_verify.parse(reference.solution)
        return bool(math_verify.verify(solution, math_verify.parse(text)))

    def by_hendrycks(text: str, reference: Reference) -> bool:
        box = hendrycks.last_boxed_only_string(text)
        answer = hendrycks.remove_boxed(box) if box else None
        return bool(hendrycks.is_equiv(answer, reference.gold))

    return {"math-verify": by_math_verify, "hendrycks": by_hendrycks}
