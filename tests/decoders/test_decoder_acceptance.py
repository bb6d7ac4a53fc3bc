"""How much of a window is kept: the rules against loops, and against the released code."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders.acceptance import Rule, check_rule, confident_prefix, verified_prefix
from tests import golden
from tests.oracles.acceptance import prefix_length, verified_length

# Values that meet thresholds exactly, and any others; rounding may put an entropy score below 0.
confidence = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]),
    st.floats(0, 1, width=32),
    st.sampled_from([-1e-7]),
)
several = st.integers(1, 8).flatmap(
    lambda width: st.lists(
        st.lists(confidence, min_size=width, max_size=width), min_size=1, max_size=4
    )
)


@given(
    several, confidence.filter(lambda tau: tau >= 0), st.sampled_from(["per-token", "cumulative"])
)
@settings(max_examples=150)
def test_a_prefix_is_what_the_loop_finds(confidences: list[list[float]], tau: float, rule: Rule):
    got = confident_prefix(torch.tensor(confidences, dtype=torch.float32), tau, rule)
    assert got.tolist() == [prefix_length(row, tau, rule) for row in confidences]


def test_prefixes_are_the_recorded_ones():
    record = json.loads((golden.folder() / "sampling.json").read_text())["prefix_rule"]
    assert len(record) > 20
    for case in record:
        confidences = torch.tensor([case["confidence"]], dtype=torch.float32)
        got = confident_prefix(confidences, case["threshold"], "per-token")
        assert got.item() == case["accepted"] == max(1, case["prefix_len"])


def test_a_confidence_equal_to_the_threshold():
    """Not above it, so `per-token` stops; `cumulative` asks for at least the threshold."""
    equal = torch.tensor([[0.9, 0.5, 0.5, 0.9]])
    assert confident_prefix(equal, 0.5, "per-token").item() == 1
    assert confident_prefix(torch.tensor([[0.5, 1.0, 0.9]]), 0.5, "cumulative").item() == 2
    # 0.9 is no fp32 number; both sides are rounded to the same one.
    assert confident_prefix(torch.tensor([[0.9, 0.9]]), 0.9, "per-token").item() == 1


def test_the_two_rules_differ():
    confidences = torch.tensor([[0.9, 0.9, 0.9, 0.9]])
    assert confident_prefix(confidences, 0.7, "per-token").item() == 4
    assert confident_prefix(confidences, 0.7, "cumulative").item() == 3


@pytest.mark.parametrize("tau", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_threshold_outside_zero_to_one(tau: float):
    with pytest.raises(ValueError, match="tau is"):
        check_rule(tau, "per-token")


def test_an_unknown_rule():
    with pytest.raises(ValueError, match=r"'strict'.*per-token, cumulative"):
        check_rule(0.5, "strict")


pairs = st.integers(1, 8).flatmap(
    lambda width: st.tuples(
        *[st.lists(st.integers(0, 2), min_size=width, max_size=width) for _ in range(2)]
    )
)


@given(
    st.lists(pairs, min_size=1, max_size=4).filter(
        lambda all_: len({len(a) for a, _ in all_}) == 1
    )
)
@settings(max_examples=100)
def test_a_verified_prefix_is_what_the_loop_finds(rows: list[tuple[list[int], list[int]]]):
    drafts, answers = (torch.tensor(part) for part in zip(*rows, strict=True))
    expected = [verified_length(draft, answer) for draft, answer in rows]
    assert verified_prefix(drafts, answers).tolist() == expected
