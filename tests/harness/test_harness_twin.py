"""The autoregressive twin: another model's plain decoding, measured among the run's own."""

from pathlib import Path

import pytest

from results.traces import read_traces, traces_path
from sdlm.tokenizer import train_tokenizer
from tests.harness.tiny import (
    OUR_OWN_ITEMS,
    TEXTS,
    VOCAB,
    harness,
    make_model,
    manifest,
    records,
    refused,
    summary,
)

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

TWIN = "ar(model=twin)"
OPTIONS = ("--limit", 3, "--max-new-tokens", 8, "--traces", 1)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "twin"
    # Other end tokens than the model's, which must not end its answers.
    ends = tuple(range(26, VOCAB, 10))
    make_model(folder, seed=8, block_size=None, mask_token_id=None, eos_token_ids=ends)
    train_tokenizer(TEXTS, VOCAB, folder)
    return folder


@pytest.fixture(scope="module")
def both(model: Path, twin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "both"
    result = harness(
        *("run", "--model", model, "--baseline-model", twin, *OPTIONS, "--out", out),
        *("--decoders", "ar,block-ar,self-speculative"),
    )
    assert result.exit_code == 0, result.output
    return out


def test_the_twin_answers_as_it_does_alone(both: Path, twin: Path, tmp_path: Path):
    run = ["run", "--model", twin, *OPTIONS, "--decoders", "ar", "--out", tmp_path / "alone"]
    assert harness(*run).exit_code == 0
    alone = {key.item_id: each.ids for key, each in records(tmp_path / "alone").items()}
    assert "eos" in {each.finish for each in records(tmp_path / "alone").values()}
    found = records(both)
    answers = {key.item_id: each.ids for key, each in found.items() if key.decoder == TWIN}
    assert answers == alone
    own = {key.item_id: each.ids for key, each in found.items() if key.decoder == "ar"}
    assert own != alone


def test_speedups_are_against_both(both: Path):
    rows = {row["decoder"]: row for row in summary(both)}
    assert list(rows) == [
        *("ar", "block-ar(block=4)", "self-speculative(verify=window,block=4)", TWIN)
    ]
    assert rows["ar"]["speedup"] == rows[TWIN]["baseline_model_speedup"] == 1
    for row in rows.values():
        ratio = row["speedup"] / rows[TWIN]["speedup"]
        assert row["baseline_model_speedup"] == pytest.approx(ratio)
        assert row["baseline_model_speedup_lo"] <= ratio <= row["baseline_model_speedup_hi"]
    assert rows[TWIN]["agreement"] is rows[TWIN]["near_ties"] is None
    assert rows[TWIN]["paired_items"] == 3
    config = manifest(both)["config"]
    assert config["baseline_model_sha256"] != config["model_sha256"]
    assert config["decoders"] == list(rows)


def test_the_twin_is_traced_with_its_own_model(both: Path):
    traced = {each.decoder: each for each in read_traces(traces_path(both, "gsm8k"))}
    assert list(traced)[-1] == TWIN
    kept = [token.text for step in traced[TWIN].steps for token in step.proposed[: step.kept]]
    texts = {
        record.text
        for key, record in records(both).items()
        if (key.decoder, key.item_id) == (TWIN, traced[TWIN].item_id)
    }
    assert texts == {"".join(kept)}


def test_without_a_twin_its_columns_are_empty(model: Path, tmp_path: Path):
    run = ["run", "--model", model, *OPTIONS, "--decoders", "ar", "--out", tmp_path / "run"]
    assert harness(*run).exit_code == 0
    (row,) = summary(tmp_path / "run")
    assert row["baseline_model_speedup"] is None


def test_a_twin_with_another_tokenizer_is_refused(model: Path, tmp_path: Path):
    other = make_model(tmp_path / "other", block_size=None, mask_token_id=None)
    train_tokenizer([text.upper() for text in TEXTS[:20]], VOCAB, other)
    out = tmp_path / "run"
    run = ["run", "--model", model, "--baseline-model", other, *OPTIONS, "--out", out]
    refused(harness(*run), "other token ids for the prompt of gsm8k/test/", "tokenizer")
    assert not out.exists()


def test_an_unknown_twin_is_refused_before_anything_is_loaded(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delattr("harness.planning.open_model")
    run = ["run", "--model", model, "--out", tmp_path / "run", "--baseline-model"]
    refused(harness(*run, "no such model"), "'no such model'")
    refused(harness(*run, model, "--tensor-parallel", 2), "--baseline-model", "together")
