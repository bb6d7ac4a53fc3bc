"""Models that repeat themselves write long texts; reading one must not take long."""

from __future__ import annotations

import time

import pytest

from tasks.latex import find, tidy
from tasks.letters import choose
from tasks.numbers import extract

LENGTH = 20_000
PIECES = [
    "(", "a ", "answer is ", "not answer is A ", "\\boxed{", "\\boxed{1}", "$", "$ ", " ", "\n",
    "1", "1 ", "1,", "{", "\\", "\\(", "\\[", "$$a", "_", "*", "\\text{", "A is right? ", "A is ",
    "#### ", "answer ", "answer to a ", "\\frac{1}{2}", "-", "A", "A. ", "A\n", "option ",
    "don't A is right ", "answer\n\n", "\\boxed{\\boxed{",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    for whole in (text, f"answer {text}", text + "}" * text.count("{")):
        started_s = time.process_time()
        choose(whole)
        tidy(find(whole).answer or "")
        extract(whole)
        # Linear reading takes a tenth of a second, quadratic minutes; a busy machine lies between.
        assert time.process_time() - started_s < 10
