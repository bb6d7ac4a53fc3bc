"""`harness score`: stored answers in, verdicts out; bad input ends in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.score_report import NO_ANSWER_BOUND, by_level, by_subject, tally, warnings_about
from harness.scoring import Answer, Scored, read_answers
from results.statistics import wilson
from tasks import Item, Score
from tasks.gsm8k import Gsm8k
from tests.tasks.official_files import DATA, needs_official, write_all

pytestmark = pytest.mark.filterwarnings("ignore:.*not the published rows")


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDLM_DATA_DIR", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def run(task: str, lines: list[object] | str, *more: str) -> Result:
    text = lines if isinstance(lines, str) else "".join(json.dumps(line) + "\n" for line in lines)
    return CliRunner().invoke(app, ["score", "--task", task, "--answers", "-", *more], input=text)


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_rows_with_their_own_gold_need_no_data() -> None:
    result = run(
        "gsm8k",
        [
            {"id": 7, "gold": "1,250", "text": "so \\boxed{\\$1250}"},
            {"id": "b", "gold": 3, "text": "#### 4", "finish": "eos"},
            {"id": "c", "gold": "0.5", "text": "It is 0.5", "finish": "length", "tokens": 9},
            {"id": "d", "gold": 1, "text": "hm", "finish": None},
            {"id": "e", "gold": "0.5", "text": "It is 0.5", "finish": "stop"},
        ],
    )
    assert rows(result) == [
        {"id": 7, "correct": True, "answer": "1250", "extracted_by": "boxed", "finished": True},
        {"id": "b", "correct": False, "answer": "4", "extracted_by": "marker", "finished": True},
        {"id": "c", "correct": False, "answer": None, "extracted_by": "none",
         "finished": False},
        {"id": "d", "correct": False, "answer": None, "extracted_by": "none", "finished": True},
        {"id": "e", "correct": True, "answer": "0.5", "extracted_by": "fallback",
         "finished": True},
    ]  # fmt: skip
    lo, hi = wilson(2, 5)
    assert f"gsm8k accuracy: 40.0% (2 of 5; 95 % interval {lo:.1%} to {hi:.1%})" in result.stderr
    assert "guessed (fallback): 20.0% of the answers, which make 20.0% of the" in result.stderr
    assert "no answer found: 40.0%" in result.stderr
    assert "cut off: 20.0%; unfinished, cut off without a declared answer: 1" in result.stderr
    assert "warning: no answer was found in 40% of all answers" in result.stderr


def test_mathematical_and_lettered_gold() -> None:
    math = run("math500", [{"id": 1, "gold": "\\frac12", "text": "$\\boxed{0.5}$"}])
    assert rows(math)[0]["correct"] is True
    golds = ["B", "b", "(B)", 1]
    mmlu = run("mmlu", [{"id": k, "gold": gold, "text": "(B)"} for k, gold in enumerate(golds)])
    assert [row["correct"] for row in rows(mmlu)] == [True] * 4


def test_items_named_by_id_come_from_any_source(data_dir: Path) -> None:
    lines = [
        {"id": "gsm8k/test/0003", "text": "#### 6"},
        {"id": "gsm8k/embedded/0000", "text": "no idea"},
        {"id": "own", "gold": 1, "text": "1"},
    ]
    result = run("gsm8k", lines, "--data-dir", str(data_dir))
    assert [row["correct"] for row in rows(result)] == [True, False, True]
    embedded = run("gsm8k", [lines[1]])
    assert rows(embedded)[0]["id"] == "gsm8k/embedded/0000"


def test_breakdown_by_subject_and_level(data_dir: Path) -> None:
    mmlu = [
        {"id": f"mmlu/test/{n:05d}", "text": "B" if n < 100 else "C"} for n in range(0, 600, 3)
    ]
    result = run("mmlu", mmlu, "--data-dir", str(data_dir))
    right = 34 / 200
    assert f"mmlu accuracy, micro average: {right:.1%} (34 of 200" in result.stderr
    first = sum(n < 247 for n in range(0, 600, 3))
    assert f"mmlu accuracy, mean over 3 subjects: {34 / first / 3:.1%}" in result.stderr
    assert "subject_02" in result.stderr
    math = [{"id": f"math500/test/{n:04d}", "text": f"\\boxed{{{n + 1}}}"} for n in range(30)]
    result = run("math500", math, "--data-dir", str(data_dir))
    assert "math500 accuracy, micro average: 100.0% (30 of 30" in result.stderr
    assert "mean over 3 subjects: 100.0%" in result.stderr
    assert "level" in result.stderr


BAD = [
    ("{oops", "not JSON"),
    ("[1]", "a list; give"),
    ("3", "a int; give"),
    ("[" * 100_000, "not JSON"),
    ('{"text": "x", "gold": 1}', "id is None"),
    ('{"id": true, "text": "x", "gold": 1}', "id is True"),
    ('{"id": 1.5, "text": "x", "gold": 1}', "id is 1.5"),
    ('{"id": 1, "gold": 1}', "text is None"),
    ('{"id": 1, "text": null, "gold": 1}', "text is None"),
    ('{"id": 1, "text": "x", "gold": 1, "finish": 3}', "finish is 3"),
    ('{"id": 1, "text": "x", "gold": null}', "gold is None"),
    ('{"id": 1, "text": "x", "gold": [1]}', "gold is [1]"),
    ('{"id": 1, "text": "x", "gold": "many"}', "'many' is not a number"),
    ('{"id": "a", "text": "x", "gold": 1}', "id 'a' was given in line 1 already"),
    ('{"id": "gsm8k/test/9999", "text": "x"}', "unknown id 'gsm8k/test/9999'"),
    ('{"id": 12, "text": "x"}', "unknown id 12"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_line_is_named_and_nothing_is_written(
    line: str, message: str, tmp_path: Path, data_dir: Path
) -> None:
    out = tmp_path / "out.jsonl"
    text = f'{{"id": "a", "gold": 1, "text": "1"}}\n\n{line}\n'
    more = ("--data-dir", str(data_dir))
    for target in ("-", str(out)):
        result = run("gsm8k", text, "--out", target, *more)
        assert result.exit_code == 2
        assert result.stdout == ""
        (error,) = result.stderr.splitlines()
        assert error.startswith("error: standard input, line 3: ")
        assert message in error
        assert not list(tmp_path.iterdir())


def test_ids_differ_in_what_is_written() -> None:
    """Half a surrogate pair is written as a question mark, which is an id as well."""
    lines = [{"id": name, "gold": 1, "text": "1"} for name in ("a?", "a\ud800")]
    result = run("gsm8k", lines)
    assert result.exit_code == 2
    assert "line 2: id 'a\\ud800' was given in line 1 already" in result.stderr


def test_wrong_golds_of_other_tasks() -> None:
    for task, gold in [("mmlu", "E"), ("mmlu", 4), ("mmlu", -1), ("math500", " ")]:
        result = run(task, [{"id": 1, "gold": gold, "text": "A"}])
        assert result.exit_code == 2
        assert "standard input, line 1: " in result.stderr


def test_other_mistakes_end_in_one_line(tmp_path: Path) -> None:
    for arguments, message in [
        (["--task", "gsm9k", "--answers", "-"], "unknown task 'gsm9k'"),
        (["--task", "gsm8k", "--answers", str(tmp_path / "none")], "can't be read"),
        (["--task", "gsm8k", "--answers", "-"], "standard input holds no answer"),
        (["--task", "gsm8k", "--answers", "-", "--out", str(tmp_path)], "is a folder"),
        (["--task", "gsm8k", "--answers", "-", "--out", str(tmp_path / "a/b")], "not exist"),
    ]:
        result = CliRunner().invoke(app, ["score", *arguments], input="\n")
        assert result.exit_code == 2
        (error,) = result.stderr.splitlines()
        assert message in error


def test_official_items_without_data_name_the_file() -> None:
    result = run("mmlu", [{"id": "mmlu/test/00000", "text": "A"}])
    assert result.exit_code == 2
    (error,) = result.stderr.splitlines()
    assert "mmlu/test.jsonl not found" in error
    assert "--data-dir" in error


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run("gsm8k", [{"id": "é\ud800", "gold": 1, "text": "\ud800 1"}], "--out", str(out))
    assert result.exit_code == 0
    assert result.stdout == ""
    assert json.loads(out.read_text(encoding="utf-8"))["id"] == "é?"
    assert list(tmp_path.iterdir()) == [out]


def scored(subject: str, level: str, extracted_by: Any, correct: bool) -> Scored:
    item = Item(id="x", messages=(), gold="A", subject=subject, level=level)
    score = Score(
        correct=correct,
        answer=None if extracted_by == "none" else "A",
        extracted_by=extracted_by,
        finished=True,
    )
    return Scored(answer=Answer(id=1, item=item, text="", finished=True), score=score)


def test_a_subject_without_answers_is_never_a_silent_zero() -> None:
    fine = [scored("anatomy", "1", "marker", True) for _ in range(90)]
    lost = [scored("virology", "2", "none", False) for _ in range(10)]
    (warning,) = warnings_about(tally(fine + lost), by_subject(fine + lost))
    assert "100% of subject virology (10 of 10)" in warning
    assert not warnings_about(tally(fine), by_subject(fine))
    assert 0 < NO_ANSWER_BOUND < 0.5


def test_groups_without_names_are_left_out_and_levels_are_numbers() -> None:
    some = [scored("", level, "boxed", True) for level in ("10", "9", "1")]
    assert by_subject(some) == {}
    assert list(by_level(some)) == ["1", "9", "10"]


@pytest.mark.parametrize("task", ["gsm8k", "math500", "mmlu"])
def test_a_run_misses_its_data_before_it_looks_at_a_model(task: str, tmp_path: Path) -> None:
    """A model that doesn't exist isn't even noticed."""
    arguments = ["run", "--model", str(tmp_path / "none"), "--data", "official", "--tasks", task]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])
    assert result.exit_code == 2
    (error,) = result.stderr.splitlines()
    assert f"official data {task}/" in error
    assert "--data-dir" in error
    assert not list(tmp_path.iterdir())


def test_an_answer_may_name_its_item_by_another_of_its_names():
    class Nicknamed(Gsm8k):
        def item_id(self, name: str) -> str:
            return name.replace("nick-", "gsm8k/embedded/")

    names = ("nick-0007", "gsm8k/embedded/0008")
    lines = [json.dumps({"id": name, "text": "x"}) for name in names]
    answers = read_answers(lines, "answers", Nicknamed(), None)
    assert [answer.id for answer in answers] == [*names]
    assert [answer.item.id[-4:] for answer in answers] == ["0007", "0008"]


def test_an_answer_that_failed_in_decoding_has_no_text_and_counts_as_wrong() -> None:
    row = {"id": 1, "gold": "4", "text": None, "finish": None, "error": "logits are not finite"}
    assert rows(run("gsm8k", [row])) == [
        {"id": 1, "correct": False, "answer": None, "extracted_by": "none", "finished": False}
    ]
    assert run("gsm8k", [{"id": 1, "gold": "4", "text": None}]).exit_code == 2


@needs_official
def test_an_item_under_two_names_is_answered_twice() -> None:
    names = ("HumanEval/1", "humaneval_plus/test/0001")
    lines = [{"id": name, "text": "x"} for name in names]
    result = run("humaneval_plus", lines, "--data-dir", str(DATA))
    assert result.exit_code == 2
    assert "line 2" in result.stderr
    assert "line 1 already" in result.stderr
