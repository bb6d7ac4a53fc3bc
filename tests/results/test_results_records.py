"""Records: strict both ways, and never half failed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_fakes import failed, record

from results.records import SampleKey, SampleRecord

_SECONDS = st.just(0.0) | st.floats(1e-9, 1e6, allow_nan=False)


@st.composite
def records(draw: st.DrawFn) -> SampleRecord:
    if draw(st.booleans()):
        return failed(draw(st.text(min_size=1)), draw(st.text(min_size=1)), error=draw(st.text()))
    finish = draw(st.sampled_from(["eos", "stop", "length"]))
    return record(
        draw(st.text(min_size=1)),
        draw(st.text(min_size=1)),
        kept=draw(st.lists(st.integers(0, 8), min_size=1, max_size=9)),
        answer=draw(st.none() | st.text()),
        text=draw(st.text(st.characters())),
        finish=finish,
        finished=finish != "length",
        correct=draw(st.booleans()),
        wall_s=draw(_SECONDS),
        compute_s=draw(_SECONDS),
    )


@given(records())
@settings(max_examples=50)
def test_json_round_trip(original: SampleRecord):
    text = json.dumps(original.to_json(), allow_nan=False)
    assert SampleRecord.from_json(json.loads(text)) == original


def test_key_names_task_item_decoder_and_batch_size():
    assert record("7", "ar", batch_size=8).key == SampleKey("gsm8k", "7", "ar", 8)


# Records of before there were these can still be read.
LATER: dict[str, Any] = {"repeat": 0, "fixed_length": None, "prefill_s": None, "machine": None}


def test_a_record_of_old_is_read_as_one_without_what_came_later():
    data = record(prefill_s=0.1, machine={"other_load": 0.5}).to_json()
    old = {name: value for name, value in data.items() if name not in LATER}
    assert SampleRecord.from_json(old) == record(**LATER)


@pytest.mark.parametrize("name", record().to_json().keys() - LATER.keys())
def test_a_missing_key_is_named(name: str):
    data = record().to_json()
    del data[name]
    with pytest.raises(ValueError, match=f"lacks {name}"):
        SampleRecord.from_json(data)


def test_an_unknown_key_is_named():
    with pytest.raises(ValueError, match="unknown seconds"):
        SampleRecord.from_json({**record().to_json(), "seconds": 1.0})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", ""),
        ("batch_size", 0),
        ("batch_size", True),
        ("correct", 1),
        ("correct", None),
        ("answer", 18),
        ("extracted_by", "guess"),
        ("finish", "budget"),
        ("finish", []),
        ("ids", [1, -1, 2]),
        ("ids", [1, 2, 3.0]),
        ("ids", (1, 2, 3)),
        ("forwards", {"prefill": 1}),
        ("forwards", {"prefill": 1, "decode": 2, "verify": 0}),
        ("query_slots", -1),
        ("wall_s", float("nan")),
        ("compute_s", float("inf")),
        ("first_token_s", "0.1"),
        ("first_token_s", -0.1),
        ("details", None),
        ("details", {"f1": float("nan")}),
        ("details", {"parts": [True]}),
        ("repeat", -1),
        ("repeat", None),
        ("fixed_length", 0),
        ("prefill_s", -0.1),
        ("machine", {"other_load": "0.1"}),
        ("machine", {"other_load": float("nan")}),
        ("machine", {"mood": 1.0}),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: Any):
    with pytest.raises(ValueError, match=f"sample record: {name} is"):
        record(**{name: value})


def test_counts_must_tell_one_story():
    with pytest.raises(ValueError, match="kept sums to 4 for 3 ids"):
        record(kept=[1, 3], ids=[5, 6, 7])
    with pytest.raises(ValueError, match="2 entries for 3 forwards"):
        record(kept=[1, 2], forwards={"prefill": 1, "decode": 2})
    with pytest.raises(ValueError, match="finished is True but finish is 'length'"):
        record(finish="length")


def test_answers_of_a_fixed_length_are_not_scored():
    unscored: dict[str, Any] = {"correct": None, "answer": None, "extracted_by": None}
    ended: dict[str, Any] = {"finish": "length", "finished": False, "fixed_length": 3}
    assert record(**ended, **unscored).correct is None
    for name, value in {"correct": True, "answer": "1", "extracted_by": "none"}.items():
        with pytest.raises(ValueError, match=f"{name} is set with fixed_length 3"):
            record(**ended, **{**unscored, name: value})


@pytest.mark.parametrize("change", [{"correct": False}, {"ids": []}, {"answer": "1"}])
def test_a_failed_sample_carries_no_number(change: dict[str, Any]):
    with pytest.raises(ValueError, match="a failed sample has no measurements"):
        failed(**change)


def test_an_empty_answer_is_a_record():
    """A first token that is the end token: one forward, nothing kept."""
    assert record(kept=[0], answer=None, extracted_by="none").ids == []
