"""Prompts for distillation: the test sets' words around training questions."""

import json
from pathlib import Path

import pytest

from tasks.gsm8k import Gsm8k
from tasks.gsm8k import prompt as gsm8k_prompt
from tasks.item import Item, Message
from tasks.math500 import Math500
from tasks.prompts import main
from tasks.published import GSM8K_TRAIN

ENDINGS = {
    "gsm8k": "write your final answer inside \\boxed{}.",
    "math500": "write your final answer inside \\boxed{}.",
    "humaneval_plus": '"""\n',
}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A folder with a training split of our own: as many rows as were published."""
    (tmp_path / "gsm8k").mkdir()
    lines = [
        json.dumps({"question": f"What is {n} + 1?", "answer": f"One more.\n#### {n + 1}"})
        for n in range(GSM8K_TRAIN.count)
    ]
    (tmp_path / "gsm8k" / "train.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def rows(out: Path, *options: object) -> list[dict[str, object]]:
    main([*map(str, options), "--out", str(out)])
    return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.filterwarnings("ignore:.*not the published rows")
def test_rows_ask_as_the_test_sets_do_and_hold_the_reference(data_dir: Path, tmp_path: Path):
    mix = "gsm8k=2,math500=1,humaneval_plus=1"
    found = rows(
        tmp_path / "out", "--mix", mix, "--count", 400, "--seed", 1, "--data-dir", data_dir
    )
    assert len(found) == 400
    tasks = [row["task"] for row in found]
    assert 140 < tasks.count("gsm8k") < 260
    seen: set[str] = set()
    for row in found:
        system, user, answer = [Message(**turn) for turn in row["messages"]]  # type: ignore[attr-defined]
        assert (system.role, user.role, answer.role) == ("system", "user", "assistant")
        task = str(row["task"])
        assert user.content.endswith(ENDINGS[task])
        if task == "gsm8k":
            number = int(user.content.split()[2])
            assert (system, user) == gsm8k_prompt("official", f"What is {number} + 1?")
            item = Item(id="x", messages=(), gold=str(number + 1))
            assert Gsm8k().score(item, answer.content, True).correct
            assert user.content not in seen
            seen.add(user.content)
        if task == "math500":
            item = Item(id="x", messages=(), gold="0")
            assert Math500().score(item, answer.content, True).extracted_by == "boxed"


@pytest.mark.filterwarnings("ignore:.*not the published rows")
def test_each_training_question_stands_once_and_the_seed_orders_them(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    options = ["--count", GSM8K_TRAIN.count + 5, "--data-dir", data_dir]
    first = rows(tmp_path / "a", *options)
    assert "7,473 rows written: gsm8k/train has no more questions" in capsys.readouterr().err
    assert len({json.dumps(row) for row in first}) == len(first) == GSM8K_TRAIN.count
    again, other = rows(tmp_path / "b", *options), rows(tmp_path / "c", *options, "--seed", 1)
    assert again == first
    assert other != first
    assert sorted(map(json.dumps, other)) == sorted(map(json.dumps, first))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--count", "0"], "--count must be at least 1, got 0"),
        (["--mix", "mmlu"], "got 'mmlu'; each of gsm8k, math500, humaneval_plus may stand once"),
        (["--data-dir", "nowhere"], "gsm8k/train"),
        (["--out", "."], "--out is .; it must be a file"),
    ],
)
def test_mistakes_are_one_line(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        main(["--out", str(tmp_path / "out"), *options])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
