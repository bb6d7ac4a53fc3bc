"""Traces show what the decoder did: its tokens, its scores, its steps; and cost nothing else."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders.generate import Completion, Request, generate
from decoders.protocol import Decoder, Step
from decoders.registry import build_decoder
from decoders.trimming import Ending
from harness.tracing import Watcher, pieces, traced_steps
from results.traces import read_traces, traces_path
from sdlm.team import TeamLost
from tests.fakes import TINY_MASK, decode_bytes, tiny_model
from tests.harness.conftest import Finished
from tests.harness.tiny import OUR_OWN_ITEMS, SPECS, harness, records, summary
from tests.oracles.decoding import ReferenceDecoder

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

PROMPT = (5, 9, 2, 31, 17)
BUDGET = 24


def decoder_of(spec: str) -> Decoder:
    return build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)


def watched(spec: str, budget: int = BUDGET) -> tuple[Completion, Watcher]:
    watcher = Watcher(decoder_of(spec))
    requests = [Request(key="1", ids=PROMPT)]
    (completion,) = generate(
        tiny_model(1), decoder_of(spec), requests, Ending(budget=budget), on_step=watcher
    )
    return completion, watcher


def test_proposals_and_confidences_are_the_oracle_s():
    """Each step's tokens, kept or not, with their probabilities in an fp64 model that has no
    cache."""
    reference = ReferenceDecoder(tiny_model(1))
    for spec in ("ar", "block-ar", "greedy-confidence(tau=0.6)", "self-speculative"):
        completion, watcher = watched(spec)
        done: list[int] = []
        for (kind, ids, scores), kept in zip(watcher.steps, completion.kept, strict=True):
            tokens = [*PROMPT, *done]
            if spec == "ar":
                choices = [reference.causal(tokens)]
            else:
                choices = reference.window(tokens, 4)[: 1 if spec == "block-ar" else 4]
            if spec == "self-speculative" and kind == "prefill":
                assert (ids, scores, kept) == ([], [], 0)
                continue
            assert ids == [choice.token for choice in choices]
            expected = [choice.logits.softmax(-1).max().item() for choice in choices]
            assert scores == pytest.approx(expected, abs=1e-4)
            done += ids[:kept]
        assert tuple(done) == completion.ids


def test_a_causal_draft_begins_with_the_causal_answer():
    reference = ReferenceDecoder(tiny_model(1))
    completion, watcher = watched("self-speculative(verify=causal)")
    done: list[int] = []
    for (_, ids, scores), kept in zip(watcher.steps[1:], completion.kept[1:], strict=True):
        tokens = [*PROMPT, *done]
        first, *_ = choices = [reference.causal(tokens), *reference.window(tokens, 4)[1:]]
        assert ids == [choice.token for choice in choices]
        assert scores[0] == pytest.approx(first.logits.softmax(-1).max().item(), abs=1e-4)
        done += ids[:kept]
    assert tuple(done) == completion.ids


def test_a_shortened_chain_proposes_as_much_as_it_verifies():
    completion, watcher = watched("self-speculative(slot_budget=10)")
    assert {len(ids) for _, ids, _ in watcher.steps[1:]} == {2}
    assert completion.ids == watched("self-speculative")[0].ids


def test_a_draft_that_ends_early_shows_what_it_has():
    completion, watcher = watched("self-speculative(draft_tau=0.3)")
    whole, everything = watched("self-speculative")
    assert completion.ids == whole.ids
    assert len({len(ids) for _, ids, _ in watcher.steps[1:]}) > 1
    for _, ids, scores in watcher.steps[1:]:
        assert len(ids) == len(scores) <= 4
        assert all(score > 0.3 for score in scores[1:])
    assert watcher.steps[1][1] == everything.steps[1][1][: len(watcher.steps[1][1])]


@pytest.mark.parametrize("rule", ["per-token", "cumulative"])
@pytest.mark.parametrize("name", ["greedy-confidence", "entropy"])
def test_the_scores_decide_what_is_kept(name: str, rule: str):
    completion, watcher = watched(f"{name}(tau=0.7,rule={rule})")
    for (_, ids, scores), kept in zip(watcher.steps, completion.kept[:-1], strict=False):
        assert len(ids) == len(scores) == 4
        product, sure = 1.0, 0
        for score in scores:
            product *= score
            if not (score > 0.7 if rule == "per-token" else product >= 0.7):
                break
            sure += 1
        assert kept == max(1, sure)


@pytest.mark.parametrize("spec", ["ar", "entropy(tau=0.6)", "self-speculative"])
def test_watching_changes_nothing(spec: str):
    (alone,) = generate(
        tiny_model(1), decoder_of(spec), [Request(key="1", ids=PROMPT)], Ending(budget=BUDGET)
    )
    seen = watched(spec)[0]
    assert (alone.ids, alone.kept, alone.query_slots) == (seen.ids, seen.kept, seen.query_slots)


def test_a_batch_is_shown_row_by_row():
    keys: list[tuple[str, ...]] = []

    def look(step: Step) -> None:
        keys.append(step.keys)
        assert step.logits_BNV.shape[0] == step.accepted.ids_BK.shape[0] >= len(step.keys)

    requests = [Request(key=str(n), ids=(n, 3)) for n in range(3)]
    ending = Ending(budget=3)
    _ = [*generate(tiny_model(1), decoder_of("ar"), requests, ending, batch_size=2, on_step=look)]
    assert keys[0] == ("0", "1")
    assert {key for each in keys for key in each} == {"0", "1", "2"}


@given(st.text(max_size=12), st.integers(0, 6))
@settings(max_examples=200)
def test_pieces_add_up_and_cut_no_character(text: str, first: int):
    """Tokens are bytes, so most characters take several."""
    ids = [*text.encode("utf-8", errors="ignore")]
    text = decode_bytes(ids)
    first = min(first, len(ids))
    found = pieces(ids, text, decode_bytes, first)
    assert len(found) == len(ids) - first
    whole = decode_bytes(ids[:first]).rstrip("\ufffd")
    assert whole + "".join(found) == text or "\ufffd" in text
    if "\ufffd" not in text:
        assert "\ufffd" not in "".join(found)
        if first == 0:
            assert [len(piece) for piece in found].count(1) == len(text)


@given(st.lists(st.integers(0, 255), max_size=12))
def test_pieces_of_no_text_at_all_add_up_too(ids: list[int]):
    assert "".join(pieces(ids, decode_bytes(ids), decode_bytes)) == decode_bytes(ids)


def test_text_that_a_stop_string_cut_inside_a_token():
    words = ["one ", "two STOP", "three"]

    def decode(ids: list[int] | tuple[int, ...] | object) -> str:
        return "".join(words[index] for index in ids)  # pyright: ignore[reportGeneralTypeIssues]

    assert pieces([0, 1], "one two ", decode) == ["one ", "two "]
    assert pieces([0, 1, 2], "one two ", decode) == ["one ", "two ", ""]


def test_chunks_of_a_long_prompt_are_steps_too():
    watcher = Watcher(decoder_of("block-ar"))
    request = Request(key="1", ids=tuple(range(40)) * 20)
    (completion,) = generate(
        tiny_model(1), decoder_of("block-ar"), [request], Ending(budget=3), on_step=watcher
    )

    def decode(ids: object) -> str:
        return "".join(chr(97 + index % 26) for index in ids)  # pyright: ignore[reportGeneralTypeIssues]

    text = decode(completion.ids)
    steps = traced_steps(completion, text, watcher.steps, decode, decode)
    assert [(step.kind, step.kept) for step in steps] == [
        *(("prefill", 0), ("prefill", 1), ("decode", 1), ("decode", 1))
    ]
    assert "".join(token.text for step in steps for token in step.proposed) == text


def test_a_run_has_traces_of_its_first_items_under_every_decoder(finished: Finished):
    found = read_traces(traces_path(finished.folder, "gsm8k"))
    measured = {key[1:3]: record for key, record in records(finished.folder).items()}
    assert [each.decoder for each in found] == [*SPECS] * 4
    assert {(each.item_id, each.decoder) for each in found} == measured.keys()
    for trace in found:
        record = measured[trace.item_id, trace.decoder]
        assert [step.kept for step in trace.steps] == record.kept
        kept = [token for step in trace.steps for token in step.proposed[: step.kept]]
        assert "".join(token.text for token in kept) == record.text
        kinds = [step.kind for step in trace.steps]
        assert kinds == ["prefill"] + ["decode"] * (len(kinds) - 1)
        assert trace.prompt.count("<|im_start|>") == 3
        assert "apples" in trace.prompt
        for step in trace.steps:
            assert all(0 <= token.confidence <= 1 for token in step.proposed)
    assert "the trace of" not in finished.result.stderr


def test_as_many_traces_as_asked_for_and_made_once(model: Path, tmp_path: Path):
    out = tmp_path / "run"
    run = ["run", "--model", model, "--limit", 2, "--max-new-tokens", 4, "--decoders", "ar"]
    assert harness(*run, "--traces", 0, "--out", out).exit_code == 0
    assert not (out / "traces").exists()
    again = harness(*run, "--traces", 1, "--out", out, "--resume")
    assert again.exit_code == 0
    path = traces_path(out, "gsm8k")
    assert len(read_traces(path)) == 1
    before = path.stat()
    assert harness(*run, "--traces", 1, "--out", out, "--resume").exit_code == 0
    assert path.stat().st_ino == before.st_ino
    path.write_text("{")
    assert harness(*run, "--traces", 1, "--out", out, "--resume").exit_code == 0
    assert len(read_traces(path)) == 1


def test_an_answer_that_has_become_another_is_told(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "harness.tracing.ending_for", lambda plan, task, spec: Ending(budget=task.budget - 1)
    )
    run = ["run", "--model", model, "--limit", 1, "--max-new-tokens", 4, "--decoders", "ar"]
    result = harness(*run, "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert "the trace of gsm8k/test/" in result.stderr
    assert "is of another answer than was measured" in result.stderr


def test_a_decoder_that_breaks_when_watched_costs_the_run_nothing(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def broken(_: Step) -> list[float]:
        raise RuntimeError("no scores")

    monkeypatch.setattr("harness.tracing.scores_of", broken)
    run = ["run", "--model", model, "--limit", 1, "--max-new-tokens", 4]
    specs = "ar,greedy-confidence(tau=0.5),self-speculative"
    result = harness(*run, "--decoders", specs, "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert "under ar: RuntimeError: no scores" in result.stderr
    (line,) = traces_path(tmp_path / "run", "gsm8k").read_text().splitlines()
    assert json.loads(line)["decoder"].startswith("self-speculative")


@pytest.mark.parametrize(
    "lost_at", ["harness.tracing.trace_of", "harness.running.find_divergences"]
)
def test_a_model_that_is_lost_once_all_is_measured_costs_no_summary(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost_at: str
):
    def lost(*_: object) -> None:
        raise TeamLost("rank 1 has ended")

    monkeypatch.setattr(lost_at, lost)
    run = ["run", "--model", model, "--limit", 1, "--max-new-tokens", 4, "--decoders", "ar"]
    result = harness(*run, "--out", tmp_path / "run")
    assert result.exit_code == 0
    (line,) = [
        each for each in result.stderr.splitlines() if "no margins where ids differ" in each
    ]
    assert line.endswith("rank 1 has ended")
    assert len(summary(tmp_path / "run")) == 1


def test_scores_fall_back_to_the_model_s_own_probability():
    """A user's own decoder that gives none."""
    decoder = build_decoder("tests.fakes:SomeDecoder", default_block=4, mask_token_id=TINY_MASK)
    watcher = Watcher(decoder)
    requests = [Request(key="1", ids=PROMPT)]
    _ = [*generate(tiny_model(1), decoder, requests, Ending(budget=4), on_step=watcher)]
    _, ids, scores = watcher.steps[0]
    window = ReferenceDecoder(tiny_model(1)).window(PROMPT, 4)
    assert ids == [choice.token for choice in window]
    expected = torch.stack([choice.logits.softmax(-1).max() for choice in window]).tolist()
    assert scores == pytest.approx(expected, abs=1e-4)
