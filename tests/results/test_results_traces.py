"""Traces are read as they were written, and everything else is refused by file and line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.traces import Proposed, Step, Trace, read_traces, traces_path, write_traces

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=8)
PROPOSED = st.builds(Proposed, text=TEXTS, confidence=st.floats(0, 1))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    proposed = draw(st.lists(PROPOSED, max_size=5))
    return Step(
        kind=draw(st.sampled_from(("prefill", "decode"))),
        proposed=proposed,
        kept=draw(st.integers(0, len(proposed))),
    )


TRACES = st.builds(
    Trace,
    task=TEXTS,
    item_id=TEXTS,
    decoder=TEXTS,
    prompt=TEXTS,
    steps=st.lists(steps(), max_size=5),
)


def joined(value: Any) -> Any:
    """As JSON returns it: two surrogates in a row become the character they encode."""
    return json.loads(json.dumps(value))


@given(
    st.lists(
        TRACES, max_size=4, unique_by=lambda t: joined([t.task, t.item_id, t.decoder]).__repr__()
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_traces_survive_the_file(tmp_path: Path, traces: list[Trace]):
    path = traces_path(tmp_path, "lm_eval:x/y")
    assert path.parent == tmp_path / "traces"
    write_traces(path, traces)
    found = read_traces(path)
    assert len(found) == len(traces)
    for ours, theirs in zip(traces, found, strict=True):
        assert joined([ours.prompt, ours.decoder]) == [theirs.prompt, theirs.decoder]
        assert [step.kept for step in ours.steps] == [step.kept for step in theirs.steps]
        assert [
            (joined(each.text), each.confidence) for step in ours.steps for each in step.proposed
        ] == [(each.text, each.confidence) for step in theirs.steps for each in step.proposed]


def good() -> dict[str, Any]:
    token = {"text": "a", "confidence": 0.5}
    return {
        "task": "t",
        "item_id": "1",
        "decoder": "ar",
        "prompt": "p",
        "steps": [{"kind": "prefill", "proposed": [token], "kept": 1}],
    }


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    data = good()
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", r"got \[\], expected a trace with task, item_id"),
        (changed(lambda t: t.pop("prompt")), "expected a trace"),
        (changed(lambda t: t.update(extra=1)), "expected a trace"),
        (changed(lambda t: t.update(task=1)), "task is 1, expected a string"),
        (changed(lambda t: t.update(steps={})), "steps is {}, expected a list"),
        (
            changed(lambda t: t["steps"][0].update(kind="x")),
            "kind is 'x', expected one of prefill",
        ),
        (changed(lambda t: t["steps"][0].update(kept=2)), "kept is 2 of 1 proposed tokens"),
        (changed(lambda t: t["steps"][0].update(kept=-1)), "kept is -1 of 1"),
        (changed(lambda t: t["steps"][0].update(kept=True)), "kept is True, expected a whole"),
        (changed(lambda t: t["steps"][0]["proposed"][0].update(confidence="1")), "a number"),
        (changed(lambda t: t["steps"][0]["proposed"][0].update(confidence=None)), "a number"),
        ('{"task": NaN}', "expected a trace"),
        (json.dumps(good()), "a second trace of 1 under ar"),
    ],
)
def test_anything_else_is_refused_with_file_and_line(tmp_path: Path, line: str, words: str):
    path = tmp_path / "t.jsonl"
    path.write_text(f"{json.dumps(good())}\n{line}\n")
    with pytest.raises(ValueError, match=rf"t\.jsonl, line 2: .*{words}"):
        read_traces(path)
