"""The training commands end as the harness does: one line for a mistake, exit code 2."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sdlm import pretrain, tokenizer
from sdlm.command_line import run_command, user_errors
from sdlm.retrofit.command import with_train_options
from tests.full_disk import files_of_at_most

ROW = json.dumps({"prompt": "Ann has 3 apples.", "response": "Good."}) + "\n"
Capture = pytest.CaptureFixture[str]


class Command(NamedTuple):
    """A command and the options that it can't do without."""

    function: Callable[..., None]
    options: list[str]


@pytest.fixture(params=["tokenizer", "pretrain"])
def command(request: pytest.FixtureRequest, model: Path) -> Command:
    if request.param == "tokenizer":
        return Command(tokenizer.main, ["--vocab-size", "300"])
    return Command(
        with_train_options(pretrain.main), ["--tokenizer", str(model), "--max-steps", "1"]
    )


def refused(
    command: Command, data: Path, out: Path, patch: pytest.MonkeyPatch, capture: Capture
) -> str:
    """The one line that the command ends in."""
    options = ["--data", str(data), "--out", str(out), *command.options]
    patch.setattr(sys, "argv", ["command", *options])
    with pytest.raises(SystemExit) as end:
        run_command(command.function)
    assert end.value.code == 2
    printed = capture.readouterr()
    assert not printed.out
    (line,) = printed.err.splitlines()
    assert line.startswith("error: ")
    return line


def test_data_that_is_no_text_file(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    data, out = tmp_path / "data.jsonl", tmp_path / "out"
    assert f"{data} does not exist" in refused(command, data, out, monkeypatch, capsys)
    assert f"{tmp_path} is not a file" in refused(command, tmp_path, out, monkeypatch, capsys)
    data.write_bytes(ROW.encode() + b'{"prompt": "\xff"}\n')
    assert f"{data}:2 is not UTF-8" in refused(command, data, out, monkeypatch, capsys)
    for line in ("[" * 100_000, '{"prompt": 3, "response": "a"}'):
        data.write_text(ROW + line + "\n")
        assert f"{data}:2" in refused(command, data, out, monkeypatch, capsys)
    assert not out.exists()


def test_half_a_surrogate_pair_is_no_text(tmp_path: Path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"prompt": "a\\ud800", "response": "b"}\n')
    with pytest.raises(ValueError, match=r"data\.jsonl:1 is not"):
        list(tokenizer.read_texts(data, 1))


def test_an_output_that_is_no_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    data = tmp_path / "data.jsonl"
    data.write_text(ROW)
    for out in (data, data / "below"):
        assert str(data) in refused(command, data, out, monkeypatch, capsys)
    assert data.read_text() == ROW


@pytest.mark.parametrize("size", [100, 2000])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, size: int):
    """The larger file is written by a library that says so with an Exception of no class."""
    data, out = tmp_path / "data.jsonl", tmp_path / "out"
    data.write_text(ROW)
    command = Command(tokenizer.main, ["--vocab-size", "300"])
    with files_of_at_most(size):
        assert "File too large" in refused(command, data, out, monkeypatch, capsys)


@pytest.mark.parametrize("error", [ValueError("a\nb"), OSError("a\nb"), FileNotFoundError("a\nb")])
def test_a_user_s_error_is_one_line(error: Exception, capsys: Capture):
    with pytest.raises(SystemExit) as end, user_errors():
        raise error
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: a b\n"


@pytest.mark.parametrize("error", [BrokenPipeError(), RuntimeError(), KeyboardInterrupt()])
def test_other_errors_stay_what_they_are(error: BaseException, capsys: Capture):
    with pytest.raises(type(error)), user_errors():
        raise error
    assert capsys.readouterr().err == ""


def test_the_command_line_loads_no_torch():
    code = (
        "import sys, sdlm.command_line\n"
        "assert not {'torch', 'transformers', 'tokenizers'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_half_a_surrogate_pair_names_its_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    data = tmp_path / "data.jsonl"
    data.write_text(ROW + '{"prompt": "a \\ud800 b", "response": "c"}\n')
    line = refused(command, data, tmp_path / "out", monkeypatch, capsys)
    assert f"{data}:2" in line
