"""What stops a training command, or shortens its data: each says so in one line."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sdlm.checkpoint import save_model
from sdlm.command_line import user_errors
from sdlm.pretrain import main as pretrain
from sdlm.retrofit.__main__ import main as retrofit
from sdlm.retrofit.config import TrainConfig
from sdlm.retrofit.run_state import FILE_NAME
from sdlm.tokenizer import load_tokenizer, save_tokenizer
from tests.full_disk import files_of_at_most
from tests.sdlm.training_fakes import conversation, tiny_trainable

CONFIG = TrainConfig(max_steps=2, batch_tokens=600, log_every=1)
Capture = pytest.CaptureFixture[str]


def save_base(home: Path, folder: Path, vocab_size: int = 264) -> str:
    model = tiny_trainable(vocab_size=vocab_size, block_size=None, mask_token_id=None)
    save_model(model, folder, torch.float32)
    save_tokenizer(load_tokenizer(home / "tokenizer"), folder)
    return str(folder)


@pytest.fixture
def base(home: Path, tmp_path: Path) -> str:
    return save_base(home, tmp_path / "base")


@pytest.fixture
def data(home: Path) -> Path:
    return home / "data.jsonl"


def test_overlong_samples_are_counted(base: str, tmp_path: Path, capsys: Capture):
    long = conversation(1)
    long["messages"][1]["content"] *= 10
    hopeless = conversation(2)
    hopeless["messages"][0]["content"] *= 50
    rows = [conversation(n) for n in range(8)] + [long, hopeless]
    data, out = tmp_path / "data.jsonl", tmp_path / "out"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    retrofit(CONFIG, base, data, out, max_length=150)
    closing = "; of 10 samples 1 were cut to --max-length and 1 were left out, where"
    closing += " --max-length or --budget has no room for a block"
    assert capsys.readouterr().err.splitlines()[-1].endswith(closing)
    record = json.loads((out / "training.json").read_text())
    assert (record["samples_cut"], record["samples_without_room"]) == (1, 1)


def test_a_tokenizer_of_another_model(home: Path, data: Path, tmp_path: Path):
    base = save_base(home, tmp_path / "base", vocab_size=200)
    message = "the tokenizer has 264 tokens and the model in .*base only 200; they don't belong"
    with pytest.raises(ValueError, match=message):
        retrofit(CONFIG, base, data, tmp_path / "out")


def test_a_model_that_is_nowhere(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def offline(name: str, **_: object) -> str:
        raise ConnectionError("no route to the hub\nand more")

    monkeypatch.setattr("huggingface_hub.snapshot_download", offline)
    message = "'some/model' is neither a folder nor to be had from the hub .no route to the hub.;"
    with pytest.raises(ValueError, match=message):
        retrofit(CONFIG, "some/model", data, tmp_path / "out")
    # An empty name would be the folder that the command is run from.
    for name in ("nowhere", ""):
        with pytest.raises(ValueError, match=f"'{name}' is not a folder; give nano or nano-ar"):
            retrofit(CONFIG, name, data, tmp_path / "out")


def test_adapters_need_a_trained_model(home: Path, base: str, data: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="--lora-rank adapts a model that is trained already"):
        pretrain(replace(CONFIG, lora_rank=2), data, home / "tokenizer", tmp_path / "out")
    with pytest.raises(ValueError, match="--lora-rank is 65; above 64, the model's width"):
        retrofit(replace(CONFIG, lora_rank=65), base, data, tmp_path / "out")


def test_a_base_to_go_on_from_has_the_shape_asked_for(
    home: Path, base: str, data: Path, tmp_path: Path
):
    words, out = home / "tokenizer", tmp_path / "out"
    with pytest.raises(ValueError, match="num_layers is 2 and not 3; num_heads is 4 and not 8"):
        pretrain(CONFIG, data, words, out, base=base, layers=3, hidden_size=64, heads=8)
    with pytest.raises(ValueError, match="--hidden-size 384 is no multiple of twice --heads 0"):
        pretrain(CONFIG, data, words, out, heads=0)


def test_a_folder_that_no_run_can_be_in(base: str, data: Path, tmp_path: Path):
    """Said before anything is read, and nothing in it is touched."""
    before = {path: path.read_bytes() for path in Path(base).iterdir()}
    with pytest.raises(ValueError, match="holds a model, which would be replaced"):
        retrofit(CONFIG, base, data, Path(base))
    assert {path: path.read_bytes() for path in Path(base).iterdir()} == before
    for out in (data, data / "below"):
        with pytest.raises(ValueError, match=r"data\.jsonl is no folder to be written to"):
            retrofit(CONFIG, base, data, out)
    retrofit(CONFIG, base, data, tmp_path / "out")
    with pytest.raises(ValueError, match="holds a run already; add --resume"):
        retrofit(CONFIG, base, data, tmp_path / "out")


def test_a_folder_that_may_not_be_written_to(
    base: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(ValueError, match="is no folder to be written to"):
        retrofit(CONFIG, base, data, tmp_path / "new" / "out")


@pytest.mark.parametrize("changed", ["base", "tokenizer"])
def test_another_base_of_the_same_name_is_another_run(
    home: Path, base: str, data: Path, tmp_path: Path, changed: str
):
    config, out = replace(CONFIG, lora_rank=2), tmp_path / "out"
    retrofit(config, base, data, out)
    path = Path(base) / ("model.safetensors" if changed == "base" else "chat_template.jinja")
    if changed == "base":
        model = tiny_trainable(vocab_size=264, block_size=None, mask_token_id=None)
        with torch.no_grad():
            model.norm.weight[0] += 1
        save_model(model, Path(base), torch.float32)
    else:
        assert path.exists()
        path.write_text(path.read_text() + "\n{# reworded #}")
    with pytest.raises(ValueError, match=rf"another run: .*{changed}_sha256 was "):
        retrofit(config, base, data, out, resume=True)


def test_a_mask_token_that_texts_have(base: str, data: Path, tmp_path: Path):
    with pytest.raises(ValueError, match=r"data\.jsonl:1 has the mask token 1 in its text or its"):
        retrofit(CONFIG, base, data, tmp_path / "out", mask_token="<|im_start|>")
    with pytest.raises(ValueError, match="text_mask_token_id 2 is also an end token"):
        retrofit(CONFIG, base, data, tmp_path / "out", mask_token="<|im_end|>")
    spoken = {"prompt": "a", "response": "the <|mask|> token"}
    mixed = tmp_path / "data.jsonl"
    mixed.write_text(data.read_text() + json.dumps(spoken) + "\n")
    with pytest.raises(ValueError, match=r"data\.jsonl:301 has the mask token 3"):
        retrofit(CONFIG, base, mixed, tmp_path / "out")


def test_texts_longer_than_the_model_s_context(home: Path, data: Path, tmp_path: Path):
    base = tmp_path / "base"
    model = tiny_trainable(
        vocab_size=264, block_size=None, mask_token_id=None, max_context=30, eos_token_ids=(2,)
    )
    save_model(model, base, torch.float32)
    save_tokenizer(load_tokenizer(home / "tokenizer"), base)
    message = "the longest sample has [0-9]+ tokens and the model's context only 30; add --max-len"
    with pytest.raises(ValueError, match=message):
        retrofit(CONFIG, str(base), data, tmp_path / "out")


def test_a_block_longer_than_every_response(base: str, data: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="every sample is left out: --max-length or --bud"):
        retrofit(CONFIG, base, data, tmp_path / "out", block_size=500)


def test_a_device_without_memory(
    base: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*arguments: object, **options: object) -> None:
        raise torch.OutOfMemoryError("out of memory. Tried to allocate 2.00 GiB.\nSee the manual")

    monkeypatch.setattr("sdlm.retrofit.loop.training_loss", full)
    message = "--device cpu has too little memory .out of memory. Tried to allocate 2.00 GiB..; lo"
    with pytest.raises(ValueError, match=message):
        retrofit(CONFIG, base, data, tmp_path / "out")


@pytest.mark.parametrize(
    ("size", "name"), [(10_000, FILE_NAME), (400, "log.jsonl"), (1000, FILE_NAME)]
)
def test_a_full_disk_leaves_the_old_checkpoint(
    base: str, data: Path, tmp_path: Path, capsys: Capture, size: int, name: str
):
    out = tmp_path / "out"
    config = replace(CONFIG, log_every=1 if name == "log.jsonl" else 1000)
    retrofit(config, base, data, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    longer = replace(config, max_steps=9)
    with pytest.raises(SystemExit) as end, user_errors(), files_of_at_most(size):
        retrofit(longer, base, data, out, resume=True)
    assert end.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"error: {out / name} can't be written: ")
    assert last.endswith(("File too large", "File too large (os error 27)"))
    assert {path.name for path in out.iterdir()} == before.keys()
    assert (out / FILE_NAME).read_bytes() == before[FILE_NAME]
    retrofit(longer, base, data, out, resume=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_a_checkpoint(
    base: str,
    data: Path,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
):
    from sdlm.retrofit import loop

    def interrupted(*arguments: object) -> dict:
        os.kill(os.getpid(), number)
        return log_step(*arguments)

    log_step = loop.log_step
    monkeypatch.setattr(loop, "log_step", interrupted)
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as end:
        retrofit(replace(CONFIG, max_steps=50), base, data, out)
    assert end.value.code == 130
    closing = capsys.readouterr().err.splitlines()[-1]
    assert closing.startswith(f"{out}: stopped after 1 steps, ")
    assert closing.endswith("; go on with --resume")
    monkeypatch.undo()
    retrofit(CONFIG, base, data, out, resume=True)
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"{out}: done after 2 steps")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_the_first_step(tmp_path: Path, number: signal.Signals):
    """While the data is read, say, which here never comes."""
    os.mkfifo(tmp_path / "data.jsonl")
    started = tmp_path / "started"
    code = (
        "import pathlib, sys, typer\n"
        "from sdlm.command_line import run_command\n"
        "def command(data: str):\n"
        f"    pathlib.Path({str(started)!r}).touch()\n"
        "    open(data).read()\n"
        "run_command(command)\n"
    )
    line = [sys.executable, "-c", code, str(tmp_path / "data.jsonl")]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    while not started.exists():
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")
