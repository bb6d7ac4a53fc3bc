"""What a training run leaves: a folder for others, its record, its log as text and figure."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from sdlm.checkpoint import load_model
from sdlm.hf_config import read_config
from sdlm.layout import causal_layout
from sdlm.model_names import model_folder
from sdlm.retrofit import display
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.export import command_line
from tests.sdlm.training_fakes import losses

CONFIG = TrainConfig(max_steps=3, batch_tokens=600, log_every=1)
LINE = {
    "step": 1200,
    "tokens": 3_000_000,
    "loss": 1.25,
    "loss_per_slot": [0.5, 2.0],
    "accuracy_per_slot": [0.9, 0.4],
    "lr": 1e-3,
    "tokens_per_s": 1234.4,
    "elapsed_s": 100.0,
}


@pytest.fixture(scope="module")
def trained(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "nano-again"
    retrofit(replace(CONFIG, max_steps=1), "nano-ar", home / "data.jsonl", out, causal_attn=True)
    return out


def test_transformers_opens_the_folder(trained: Path):
    """And the released SDLM code finds its three fields in the config."""
    raw = json.loads((trained / "config.json").read_text())
    tokenizer = transformers.AutoTokenizer.from_pretrained(trained)
    mask = tokenizer.convert_tokens_to_ids("<|mask|>")
    assert (raw["block_size"], raw["causal_attn"], raw["text_mask_token_id"]) == (4, True, mask)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(trained, dtype=torch.float32)
    ours = load_model(trained, dtype=torch.float32)
    chat = [{"role": "user", "content": "2 + 2?"}]
    ids = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )["input_ids"]
    positions = torch.arange(ids.shape[1])[None]
    with torch.no_grad():
        mine = ours(ids, positions, causal_layout(1, ids.shape[1]))
        torch.testing.assert_close(mine, theirs.eval()(ids).logits, rtol=0, atol=1e-4)


def test_the_record_says_what_was_trained(trained: Path):
    record = json.loads((trained / "training.json").read_text())
    assert (record["base"], record["ranks"], record["samples"]) == ("nano-ar", 1, 300)
    # A resumed run must share it: flex pads rows, and the plan of batches follows their width.
    assert record["attention"] == "dense"
    assert 0 < record["totals"]["epochs"] < 1


def test_the_command_kept_has_no_machine_s_folders(monkeypatch: pytest.MonkeyPatch):
    words = ["retrofit", "--base", "/home/a/base", "--out=/b=c/out", "--lr=1e-3", "--data", "d/e"]
    monkeypatch.setattr("sys.argv", words)
    kept = command_line()[-6:]
    assert kept == ["--base", "base", "--out=out", "--lr=1e-3", "--data", "d/e"]


def test_the_loss_is_drawn(trained: Path, home: Path):
    assert (trained / "loss.png").read_bytes().startswith(b"\x89PNG")
    drawn = (trained / "loss.svg").read_text()
    for words in ("nano-again", "slot 3", "accuracy", "training tokens (millions)"):
        assert f"<!-- {words} -->" in drawn
    out = trained.parent / "short"
    retrofit(replace(CONFIG, max_steps=1, log_every=9), "nano", home / "data.jsonl", out)
    assert [line["step"] for line in losses(out)] == [1], "a run's end is a line"
    assert (out / "loss.png").exists()


def test_a_slot_without_labels_has_no_loss(home: Path, tmp_path: Path):
    """The first, where nothing is shifted. And the legend of many slots fits."""
    out = tmp_path / "out"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        retrofit(CONFIG, "nano", home / "data.jsonl", out, block_size=20, shift=False)
    assert not read_config(out).shift
    assert read_config(model_folder("nano")).shift
    for line in losses(out):
        assert line["loss_per_slot"][0] is line["accuracy_per_slot"][0] is None
        assert line["loss_per_slot"][1] > 0
    assert "<!-- slot 19 -->" in (out / "loss.svg").read_text()


def test_progress_is_a_line_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]):
    with display.progress_display(visible=True) as show:
        show(LINE, 0.25)
    assert capsys.readouterr().err == (
        "step 1,200  loss 1.2500 (0.500/2.000)  0:05:00 left  1,234 tokens/s  25.0%"
        "  3,000,000 tokens  accuracy 0.900/0.400  lr 1.00e-03\n"
    )
    with display.progress_display(visible=True) as show:
        show(LINE | {"loss_per_slot": [None, 2.0], "accuracy_per_slot": [None, 0.4]}, 0.25)
    told = capsys.readouterr().err
    assert "(-/2.000)" in told
    assert "accuracy -/0.400" in told
    with display.progress_display(visible=False) as show:
        show(LINE, 0.25)
    assert capsys.readouterr().err == ""


def test_progress_is_a_bar_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    with display.progress_display(visible=True) as show:
        show(LINE, 0.25)
        show(LINE, 1.2)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "step 1,200  loss 1.2500 (0.500/2.000)  0:00:00 left" in shown
