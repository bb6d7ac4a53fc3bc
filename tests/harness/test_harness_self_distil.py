"""`harness self-distil`: a training file with the model's own answers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from harness.distilling import agrees, answer_all, distil, read_conversations
from harness.kept_answers import OwnAnswer
from harness.models import open_model
from harness.planning import build_decoders
from harness.run_config import Mismatch
from sdlm.tokenizer import load_tokenizer
from tasks import Item, Score, resolve_task
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
        ("[" * 100_000, ["data.jsonl:2", "not JSON"]),
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


def test_a_conversation_that_the_template_refuses_is_named(
    model: Path, data: Path, tmp_path: Path
):
    shutil.copytree(model, tmp_path / "broken")
    template = "{% if '203' in messages[0].content %}{{ raise_exception('no 203') }}{% endif %}"
    (tmp_path / "broken" / "chat_template.jinja").write_text(template + "{{ messages }}")
    rows = [{"prompt": f"{n} pears", "response": "No."} for n in (201, 202, 203)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--model", tmp_path / "broken", "--data", data, "--out", tmp_path / "out"]
    refused(harness("self-distil", *options), f"{data}:3: ", "chat template", "no 203")


def test_data_that_is_not_there(model: Path, tmp_path: Path):
    options = ["--model", model, "--data", tmp_path / "none.jsonl", "--out", tmp_path / "out"]
    refused(harness("self-distil", *options), "none.jsonl does not exist")


class Parity:
    """A task whose result is whether a text has an odd number of letters."""

    def score(self, item: Item, text: str, finished: bool) -> Score:
        answer = str(len(text) % 2)
        return Score(
            correct=answer == item.gold, answer=answer, extracted_by="marker", finished=finished
        )


def test_with_a_judge_only_an_answer_of_the_same_result_replaces_the_data_s(
    model: Path, tmp_path: Path
):
    loaded = open_model(
        str(model), model, dtype="auto", attention=None, device="cpu", need_tokenizer=True
    )
    data = tmp_path / "data.jsonl"
    rows = [
        {"prompt": text.split(",")[0], "response": "x" * (1 + number % 2)}
        for number, text in enumerate(TEXTS[:80])
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    conversations = read_conversations(data, loaded)
    kept: dict[str, OwnAnswer] = {}
    decoder = build_decoders(["ar"], model, None)["ar"]
    answer_all(loaded, decoder, conversations, kept.__setitem__, max_new_tokens=40, batch_size=8)

    def answers(judge: Any, on_mismatch: Mismatch = "data") -> dict[str, str]:
        found = distil(conversations, kept, judge, on_mismatch)
        return {row["messages"][0]["content"]: row["messages"][1]["content"] for row in found}

    own, judged = answers(None), answers(Parity())
    assert len(own) < len(rows) == len(judged)  # unfinished answers keep the data's
    expected = {
        row["prompt"]: own[row["prompt"]]
        if row["prompt"] in own and len(own[row["prompt"]]) % 2 == len(row["response"]) % 2
        else row["response"]
        for row in rows
    }
    assert judged == expected
    same = {prompt: text for prompt, text in own.items() if judged[prompt] == text}
    assert 0 < len(same) < len(own)
    assert answers(Parity(), "drop") == same


def test_only_a_judge_finds_what_is_dropped(model: Path, data: Path, tmp_path: Path):
    options = ["--model", model, "--data", data, "--out", tmp_path / "out"]
    result = harness("self-distil", *options, "--on-mismatch", "drop")
    refused(result, "--on-mismatch drop", "--judge")


def test_an_answer_that_failed_is_left_out_and_counted(model: Path, data: Path, tmp_path: Path):
    shutil.copytree(model, tmp_path / "spoilt")
    state = load_file(tmp_path / "spoilt" / "model.safetensors")
    # Only one of the questions is about the number 5.
    token = load_tokenizer(model).get_vocab()["5"]
    state["model.embed_tokens.weight"][token] = float("nan")
    save_file(state, tmp_path / "spoilt" / "model.safetensors")
    texts = [f"Ann has {n} apples." for n in (1, 5, 8, 9, 11, 22)]
    rows = [{"prompt": text, "response": "No."} for text in texts]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--model", tmp_path / "spoilt", "--max-new-tokens", 30]
    lines = "".join(json.dumps({"id": text, "prompt": text}) + "\n" for text in texts)
    decoded = harness("decode", *options, "--decoder", "ar", "--input", "-", stdin=lines)
    answers = [json.loads(line) for line in decoded.stdout.splitlines()]
    failed = [row for row in answers if "error" in row]
    own = [row["text"] for row in answers if row["finish"] == "eos"]
    assert texts[1] in [row["id"] for row in failed]
    assert own
    for judge in ([], ["--judge", "gsm8k"]):
        out = tmp_path / "out"
        result = harness("self-distil", *options, "--data", data, "--out", out, *judge)
        assert result.exit_code == 0, result.output
        kept = read(out)
        told = result.stderr.splitlines()[-1]
        assert f" result and {len(failed)} failed (the first: logits of prompt '{data}:" in told
        assert "are not finite" in told
        if judge:
            # None comes to the result of the data's answer, which has none.
            expected = [row["prompt"] for row in rows]
            expected = [text for text in expected if text not in {row["id"] for row in failed}]
            assert [row["messages"][0]["content"] for row in kept] == expected  # type: ignore[index]
            left = "left out are 0 unfinished, 0 with another result and"
            assert told.startswith(
                f"0 answers are the model's own, {len(expected)} the data's; {left}"
            )
        else:
            assert [row["messages"][1]["content"] for row in kept] == own  # type: ignore[index]
            unfinished = len(texts) - len(own) - len(failed)
            assert told.startswith(f"{len(own)} answers are the model's own, 0 the data's; ")
            assert f"; left out are {unfinished} unfinished, 0 with another" in told


def test_an_expression_is_no_reference(model: Path, tmp_path: Path):
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    row = {"prompt": TEXTS[0], "response": "so \\boxed{2 \\times 9}"}
    data.write_text(json.dumps(row) + "\n")
    options = ["--model", model, "--data", data, "--out", out, "--judge", "gsm8k"]
    result = harness("self-distil", *options, "--max-new-tokens", 8)
    assert result.exit_code == 0, result.output
    assert (
        "0 answers are the model's own, 1 the data's; left out are 0 unfinished" in result.stderr
    )
    assert read(out)[0]["messages"][1]["content"] == row["response"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("judge", "answer", "same", "other"),
    [
        ("gsm8k", "2 * 9 = 18\n#### 18", "So 18 of them.\n#### 18.0", "#### 81"),
        ("math500", "so $\\boxed{\\frac{1}{2}}$", "\\boxed{0.5}", "\\boxed{2}"),
        ("mmlu", "bat A, trout B. The bat A. The answer is A.", "The answer is A.", "It is B."),
    ],
)
def test_results_are_compared_as_the_task_compares_them(
    judge: str, answer: str, same: str, other: str
):
    task = resolve_task(judge)
    assert agrees(task, answer, same)
    assert not agrees(task, answer, other)
    assert not agrees(task, "no result here", same)


def test_an_empty_file_is_refused(model: Path, tmp_path: Path):
    (tmp_path / "data.jsonl").write_text("")
    options = ["--model", model, "--data", tmp_path / "data.jsonl", "--out", tmp_path / "out"]
    refused(harness("self-distil", *options), "holds no conversation")
