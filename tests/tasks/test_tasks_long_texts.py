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
    "don't A is right ", "answer\n\n", "\\boxed{\\boxed{", "answer is A, ", ", B and A is ",
    "1 x ", "#### 1 + ", "$(1)", "1 1/1 + ", "1x",
]  # fmt: skip


def reading_s(whole: str) -> float:
    """CPU time of reading a text in every way."""
    started_s = time.process_time()
    choose(whole)
    tidy(find(whole).answer or "")
    extract(whole)
    return time.process_time() - started_s


@pytest.mark.parametrize("piece", PIECES)
def test_a_long_text_is_read_in_a_second(piece: str) -> None:
    text = piece * (LENGTH // len(piece))
    begun = [start + text for start in ("", "answer ", "answer is A", "#### 1 + ")]
    for whole in (*begun, text + "}" * text.count("{")):
        # Again where a busy machine may have been in the way.
        assert any(reading_s(whole) < 1 for _ in range(3))
