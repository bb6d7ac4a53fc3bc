"""`harness self-distil`: a training file with the model's own answers."""

import json
from pathlib import Path

import pytest

from tasks.numbers import extract
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
    refused(harness("self-distil", *options), "none.jsonl can't be read")


def test_with_a_judge_only_an_answer_of_the_same_result_replaces_the_data_s(
    model: Path, tmp_path: Path
):
    data, own, judged = (tmp_path / name for name in ("data.jsonl", "own.jsonl", "judged.jsonl"))
    prompts = [text.split(".")[0] for text in TEXTS[:40]]
    options = ["--model", model, "--max-new-tokens", 40, "--batch-size", 8]

    def write(answers: list[str]) -> None:
        rows = [
            {"prompt": prompt, "response": answer}
            for prompt, answer in zip(prompts, answers, strict=True)
        ]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))

    write(["x"] * len(prompts))
    assert harness("self-distil", *options, "--data", data, "--out", own).exit_code == 0
    said = {row["messages"][0]["content"]: row["messages"][1]["content"] for row in read(own)}  # type: ignore[index]
    # Every other answer of the data has the result that the model comes to, where it has one.
    results = {prompt: extract(said[prompt]).answer for prompt in said}
    write(
        [
            f"#### {results[prompt]}" if number % 2 and results.get(prompt) else "#### -12345"
            for number, prompt in enumerate(prompts)
        ]
    )
    given = {row["prompt"]: row["response"] for row in read(data)}
    result = harness("self-distil", *options, "--data", data, "--out", judged, "--judge", "gsm8k")
    assert result.exit_code == 0, result.output
    kept = {row["messages"][0]["content"]: row["messages"][1]["content"] for row in read(judged)}  # type: ignore[index]
    assert list(kept) == list(dict.fromkeys(prompts))
    agreeing = {prompt for prompt in prompts if given[prompt] != "#### -12345"}
    assert agreeing
    assert {prompt for prompt in kept if kept[prompt] == said.get(prompt)} == agreeing
    assert all(kept[prompt] == given[prompt] for prompt in set(prompts) - agreeing)


def test_an_expression_is_no_reference(model: Path, tmp_path: Path):
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    row = {"prompt": TEXTS[0], "response": "so \\boxed{2 \\times 9}"}
    data.write_text(json.dumps(row) + "\n")
    options = ["--model", model, "--data", data, "--out", out, "--judge", "gsm8k"]
    result = harness("self-distil", *options, "--max-new-tokens", 8)
    assert result.exit_code == 0, result.output
    assert "0 answers are the model's own, 1 the data's; 0 unfinished" in result.stderr
    assert read(out)[0]["messages"][1]["content"] == row["response"]  # type: ignore[index]


def test_an_empty_file_is_refused(model: Path, tmp_path: Path):
    (tmp_path / "data.jsonl").write_text("\n")
    options = ["--model", model, "--data", tmp_path / "data.jsonl", "--out", tmp_path / "out"]
    refused(harness("self-distil", *options), "holds no conversation")
