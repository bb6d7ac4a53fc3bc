"""`harness self-distil`: a training file with the model's own answers."""

import json
from pathlib import Path

import pytest

from tests.harness.tiny import TEXTS, harness, refused

ROWS = [
    {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "no"}]}
    for text in TEXTS[:9]
] + [{"prompt": "Ann has 5 apples.", "response": "Good.", "template": "left out"}]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_answers_are_what_decoding_says(model: Path, data: Path, tmp_path: Path, batch_size: int):
    prompts = [
        row["prompt"] if "prompt" in row else row["messages"][0]["content"]  # type: ignore[index]
        for row in ROWS
    ]
    lines = "".join(
        json.dumps({"id": number, "prompt": text}) + "\n" for number, text in enumerate(prompts)
    )
    options = ["--model", model, "--decoder", "ar", "--input", "-", "--max-new-tokens", 30]
    decoded = harness("decode", *options, "--out", tmp_path / "decoded", stdin=lines)
    assert decoded.exit_code == 0, decoded.output
    expected = [
        {
            "messages": [
                {"role": "user", "content": text},
                {"role": "assistant", "content": row["text"]},
            ]
        }
        for text, row in zip(prompts, read(tmp_path / "decoded"), strict=True)
        if row["finish"] != "length"
    ]
    assert 0 < len(expected) < len(ROWS)
    result = harness(
        "self-distil", "--model", model, "--data", data, "--out", tmp_path / "out",
        "--max-new-tokens", 30, "--batch-size", batch_size,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert read(tmp_path / "out") == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", ["data.jsonl:2", "not JSON"]),
        ('{"text": "a"}', ["data.jsonl:2", "neither messages, nor prompt"]),
        (
            '{"messages": [{"role": "assistant", "content": "a"},'
            ' {"role": "user", "content": "b"}]}',
            ["data.jsonl:2", "last turn is not an answer"],
        ),
    ],
)
def test_a_faulty_line_is_named_and_nothing_written(
    model: Path, data: Path, tmp_path: Path, line: str, words: list[str]
):
    data.write_text(json.dumps(ROWS[0]) + "\n" + line + "\n")
    refused(
        harness("self-distil", "--model", model, "--data", data, "--out", tmp_path / "out"),
        *words,
    )
    assert not (tmp_path / "out").exists()


def test_data_that_is_not_there(model: Path, tmp_path: Path):
    options = ["--model", model, "--data", tmp_path / "none.jsonl", "--out", tmp_path / "out"]
    refused(harness("self-distil", *options), "none.jsonl does not exist")
