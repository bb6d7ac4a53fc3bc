"""`self-distil` goes on where it was ended: what is answered once is not answered again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from decoders.requests import Completion
from harness import distilling
from tests.harness.tiny import TEXTS, harness, refused

ROWS = [{"prompt": text, "response": "No."} for text in TEXTS[:12]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def distil(model: Path, data: Path, *options: object) -> Result:
    arguments = ["--model", model, "--data", data, "--max-new-tokens", 30, "--batch-size", 2]
    return harness("self-distil", *arguments, "--out", data.with_name("out"), *options)


def ends_after(patch: pytest.MonkeyPatch, number: int) -> list[str]:
    """Let the process end after so many answers; the keys of all answers that were asked for."""
    asked: list[str] = []
    real = distilling.generate

    def generate(model: Any, decoder: Any, requests: Any, *rest: Any, **more: Any) -> Any:
        asked.extend(request.key for request in requests)
        answers: Iterator[Completion] = real(model, decoder, requests, *rest, **more)
        for count, answer in enumerate(answers):
            if count == number:
                raise KeyboardInterrupt
            yield answer

    patch.setattr(distilling, "generate", generate)
    return asked


@pytest.fixture
def ended(model: Path, data: Path) -> Path:
    """The answers of a command that was ended after five of them."""
    with pytest.MonkeyPatch.context() as patch:
        ends_after(patch, 5)
        result = distil(model, data)
    assert result.exit_code == 130
    assert "Traceback" not in result.output
    assert not data.with_name("out").exists()
    path = data.with_name("out.answers")
    assert len(path.read_text().splitlines()) == 1 + 5
    return path


def whole(model: Path, data: Path) -> str:
    """What a command writes that nothing ends."""
    folder = data.parent / "whole"
    folder.mkdir()
    copy = folder / data.name
    copy.write_bytes(data.read_bytes())
    assert distil(model, copy).exit_code == 0
    return (folder / "out").read_text()


@pytest.mark.parametrize("torn", ["", '{"place": "x", "te'])
def test_it_goes_on_with_what_is_missing(
    model: Path, data: Path, ended: Path, monkeypatch: pytest.MonkeyPatch, torn: str
):
    with ended.open("a") as file:
        file.write(torn)
    answered = {json.loads(line)["place"] for line in ended.read_text().splitlines()[1:6]}
    asked = ends_after(monkeypatch, 100)
    result = distil(model, data, "--resume")
    assert result.exit_code == 0, result.output
    assert sorted([*asked, *answered]) == sorted(f"{data}:{n}" for n in range(1, len(ROWS) + 1))
    assert not ended.exists()
    assert data.with_name("out").read_text() == whole(model, data)


def test_a_kill_before_the_first_line_was_whole(model: Path, data: Path):
    data.with_name("out.answers").write_text('{"model_sha')
    assert distil(model, data, "--resume").exit_code == 0
    assert data.with_name("out").read_text() == whole(model, data)


def test_answers_are_not_overwritten_without_being_asked(model: Path, data: Path, ended: Path):
    before = ended.read_bytes()
    refused(distil(model, data), "out.answers holds the answers", "--resume")
    assert ended.read_bytes() == before


def test_other_settings_are_refused(model: Path, data: Path, ended: Path):
    before = ended.read_bytes()
    refused(
        distil(model, data, "--resume", "--max-new-tokens", 31), "max_new_tokens 30", "it is 31"
    )
    refused(distil(model, data, "--resume", "--decoder", "entropy"), "with decoder ar, and")
    refused(distil(model, data, "--resume", "--dtype", "bfloat16"), "with dtype torch.float32")
    other = data.with_name("other.jsonl")
    other.write_bytes(data.read_bytes())
    refused(
        distil(model, data, "--resume", "--data", other), "was begun with data ", "other.jsonl"
    )
    data.write_text(data.read_text() + json.dumps({"prompt": "a", "response": "b"}) + "\n")
    refused(distil(model, data, "--resume"), "was begun with data_sha256")
    assert ended.read_bytes() == before


@pytest.mark.parametrize("damage", ["{}\n", "[1]\n", "\x00\n", '{"place": 1, "text": "a"}\n'])
def test_damaged_answers_are_refused(model: Path, data: Path, ended: Path, damage: str):
    ended.write_text(ended.read_text() + damage)
    refused(distil(model, data, "--resume"), "out.answers is damaged")


def test_a_full_disk_names_the_file_that_it_is_about(
    model: Path, data: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sdlm.whole_file.os.replace", full)
    result = distil(model, data)
    assert result.exit_code == 2
    said = f"error: {data.with_name('out')} can't be written: No space left on device"
    assert result.stderr.splitlines()[-1] == said
    assert data.with_name("out.answers").exists()


def test_nothing_to_go_on_with(model: Path, data: Path):
    refused(distil(model, data, "--resume"), "out.answers does not exist")
    refused(distil(model, data, "--resume", "--out", "-"), "--resume goes on with a file")


def test_prompts_that_stand_there_before_are_dropped(model: Path, data: Path):
    expected = whole(model, data)
    again = [{"prompt": row["prompt"], "response": "Yes."} for row in ROWS[:3]]
    data.write_text(data.read_text() + "".join(json.dumps(row) + "\n" for row in again))
    result = distil(model, data)
    assert "3 prompts of" in result.stderr
    assert data.with_name("out").read_text() == expected


def test_another_decoder_answers(model: Path, data: Path):
    """One that promises the same ids under the same windows gives the same file."""
    assert distil(model, data, "--decoder", "block-ar").exit_code == 0
    expected = data.with_name("out").read_text()
    assert distil(model, data, "--decoder", "self-speculative").exit_code == 0
    assert data.with_name("out").read_text() == expected
    assert expected != ""
