"""Bare sums: true by an oracle, apart from the evaluation numbers, of the sizes of the stories."""

import json
import re
from itertools import islice
from pathlib import Path

import pytest

from tasks.embedded import problem
from tasks.embedded.__main__ import SOURCES, main
from tasks.embedded.drills import Drill, drills
from tasks.embedded.gsm8k import eval_items, in_eval, numbers_text

NUMBER = r"(-?\d+|\(-\d+\))"
SUM = re.compile(rf"\$?{NUMBER} ([-+*/]|\\cdot|\\div) {NUMBER} = (?:(\d+) \+ (\d+) = )?(-?\d+)\$?")


def sums_of(drill: Drill) -> list[tuple[int, str, int, int]]:
    """Operands, operator and result of each line; what stands between adds up to the result."""
    found = []
    for line in drill.answer.split("\n"):
        match = SUM.fullmatch(line)
        assert match, line
        x, op, y, tens, ones, value = match.groups()
        if tens is not None:
            assert op in ("*", "\\cdot")
            assert int(tens) % 10 == 0
            assert int(tens) + int(ones) == int(value), line
        found.append((int(x), op, int(y.strip("()")), int(value)))
    return found


def test_every_line_is_a_true_sum_and_those_asked_for_are_given() -> None:
    for drill in islice(drills(0), 2_000):
        lines = drill.answer.split("\n")
        asked = drill.question[:-1].split(" ", drill.question.count("Work out") + 1)[-1]
        given = [line.partition(" =")[0] for line in lines]
        assert given == [each.removesuffix("$") for each in asked.split(", ")]
        for (x, op, y, value), line in zip(sums_of(drill), lines, strict=True):
            # Multiplied out, so that division is checked without dividing.
            true = {"+": x + y == value, "-": y + value == x, "/": y * value == x}
            true |= {"*": x * y == value, "\\cdot": x * y == value, "\\div": y * value == x}
            assert true[op], line


def test_products_of_two_digits_are_worked_by_tens() -> None:
    for drill in islice(drills(3), 500):
        for x, _, y, _ in (each for each in sums_of(drill) if each[1] == "*"):
            small, large = sorted((x, y))
            hard = small > 2 and 12 < large < 100 and small % 10 and large % 10
            assert (f"{x} * {y} = {x * y}\n" in drill.answer + "\n") == (not hard)


def test_no_sum_is_set_aside_for_evaluation() -> None:
    evaluation = {item.numbers for item in eval_items()}
    signed = 0
    for drill in islice(drills(1), 2_000):
        for x, _, y, _ in sums_of(drill):
            if "$" in drill.answer:
                assert not problem.in_eval("filling", f"{x} {y}")
                signed += x < 0 or y < 0
                continue
            assert (x, y) not in evaluation
            assert not in_eval("numbers", numbers_text((x, y)))
    assert signed > 1_000


def test_most_sums_have_two_digits_and_some_three() -> None:
    largest = [
        max(x, y, value)
        for drill in islice(drills(2), 2_000)
        if "$" not in drill.answer
        for x, _, y, value in sums_of(drill)
    ]
    assert 0.75 < sum(number <= 99 for number in largest) / len(largest) < 0.95


def test_command_line_strews_them_in(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    main(["--mix", "gsm8k=3,sums=2", "--count", "400", "--out", str(out)])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["task"] for row in rows} == {"gsm8k", "sums"}
    assert all(("template" in row) == (row["task"] == "gsm8k") for row in rows)
    assert 0.3 < sum(row["task"] == "sums" for row in rows) / len(rows) < 0.5


def test_command_line_mixes_all_kinds(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    main(["--mix", ",".join(SOURCES), "--count", "120", "--out", str(out)])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["task"] for row in rows} == set(SOURCES)
    for row in rows:
        roles = [message["role"] for message in row["messages"]]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert ("template" in row) == (row["task"] not in ("letters", "sums"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--mix", "gsm8"], "got 'gsm8'; each of gsm8k, math500, humaneval_plus, mmlu, facts,"),
        (["--mix", "gsm8k,gsm8k=2"], "may stand once"),
        (["--mix", "gsm8k=0"], "the weight of gsm8k must be a number above 0"),
        (["--mix", "gsm8k=many"], "the weight of gsm8k must be a number above 0"),
        (["--mix", "gsm8k="], "the weight of gsm8k must be a number above 0"),
        (["--split", "eval", "--mix", "gsm8k,sums"], "are for training only"),
    ],
)
def test_command_line_refuses_what_is_no_mix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], reason: str
) -> None:
    with pytest.raises(SystemExit):
        main([*arguments, "--out", str(tmp_path / "x")])
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_refuses_what_is_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("as it was")
    for out in (tmp_path, tmp_path / "none" / "x", tmp_path / "file" / "x"):
        with pytest.raises(SystemExit):
            main(["--out", str(out)])
        assert f"--out is {out}; it must be a file in a folder" in capsys.readouterr().err

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tasks.embedded.__main__.write_rows", full)
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path / "file")])
    assert "file can't be written: No space left on device" in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["as it was"]
