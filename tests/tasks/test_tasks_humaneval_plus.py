"""HumanEval+: items, verdicts and scores, held against evalplus's own."""

from __future__ import annotations

import gzip
import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks import Item, TaskOptions, data_hash, resolve_task
from tasks.humaneval_plus import HumanEvalPlus, prompt, read_problem
from tasks.judging import Judge, Verdicts
from tasks.sandbox import Sandbox
from tasks.sandbox_job import Ending, Job, Limits, SandboxError
from tasks.sandbox_values import Answer

pytestmark = pytest.mark.filterwarnings("ignore:.*not the published rows")


def made_up(number: int) -> dict[str, Any]:
    """A row as in the published file."""
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def plus{number}(x):\n    """ x and {number} """\n',
        "entry_point": f"plus{number}",
        "canonical_solution": f"    return x + {number}\n",
        "test": "",
        "contract": "",
        "base_input": [[1], [2]],
        "plus_input": [[3], [-4], [10**20]],
        "atol": 0,
    }


def write_rows(folder: Path, rows: list[dict[str, Any]], zipped: bool = True) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = folder / "humaneval_plus" / "HumanEvalPlus.jsonl"
    path.parent.mkdir(parents=True)
    if zipped:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(text))
    else:
        path.write_bytes(text)
    return folder


@pytest.fixture(scope="module")
def small(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> tuple[HumanEvalPlus, list[Item]]:
    folder = write_rows(tmp_path_factory.mktemp("data"), [made_up(n) for n in range(164)])
    task = HumanEvalPlus(sandbox=sandbox)
    with pytest.warns(UserWarning, match="not the published rows"):
        return task, task.items("official", folder)


def test_items(small: tuple[HumanEvalPlus, list[Item]]) -> None:
    task, items = small
    assert len(items) == task.count("official") == 164
    assert [item.id for item in items[:2]] == [f"humaneval_plus/test/000{n}" for n in range(2)]
    assert items[7].messages == prompt("official", made_up(7)["prompt"])
    assert items[7].messages[0].role == "system"
    assert items[7].messages[1].content.endswith(made_up(7)["prompt"])
    assert task.max_new_tokens["official"] == 512
    assert data_hash(items) != data_hash(items[1:])
    problem = read_problem(items[7])
    assert problem.plus_input == [[3], [-4], [10**20]]
    embedded = task.items("embedded", None)
    assert len(embedded) == task.count("embedded") == 200
    assert not {item.id for item in embedded} & {item.id for item in items}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("prompt", None, "field 'prompt'"),
        ("task_id", "x", "task_id"),
        ("base_input", [], "base_input"),
        ("plus_input", [3], "plus_input"),
        ("atol", "0", "atol"),
    ],
)
def test_a_faulty_row_is_named(
    sandbox: Sandbox, tmp_path: Path, field: str, value: object, message: str
) -> None:
    rows = [made_up(n) for n in range(164)]
    rows[4][field] = value
    with pytest.raises(ValueError, match=rf"line 5.*{message}"):
        HumanEvalPlus(sandbox=sandbox).items("official", write_rows(tmp_path, rows, zipped=False))


def test_missing_items_and_files_are_errors(tmp_path: Path, sandbox: Sandbox) -> None:
    task = HumanEvalPlus(sandbox=sandbox)
    with pytest.raises(ValueError, match=r"HumanEvalPlus.jsonl.*--data-dir"):
        task.items("official", tmp_path)
    with pytest.raises(ValueError, match="expected 164 items, got 3"):
        task.items("official", write_rows(tmp_path, [made_up(n) for n in range(3)]))


def test_no_connection_is_tried(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    task = HumanEvalPlus(sandbox=sandbox)
    items = task.items("official", write_rows(tmp_path, [made_up(n) for n in range(164)]))
    assert task.score(items[3], "return x + 3", True).correct


def test_without_a_sandbox_the_task_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_rows(tmp_path, [made_up(n) for n in range(164)])
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ValueError, match="no sandbox for generated programs"):
        HumanEvalPlus().items("official", folder)
    task = HumanEvalPlus(unsafe_execution=True)
    items = task.items("official", folder)
    assert task.score(items[3], "return x + 3", True).correct


@pytest.mark.parametrize(
    ("text", "base", "plus", "label"),
    [
        ("```python\ndef plus7(x):\n    return x + 7\n```", True, True, "marker"),
        ("return x + 7", True, True, "fallback"),
        ("return x + 7 if x > 0 else 0", True, False, "fallback"),
        ("return x + 7 if x > 2 or x < 0 else 0", False, True, "fallback"),
        ("return x + 8", False, False, "fallback"),
        ("return x + 7.0", True, False, "fallback"),
        ("print('passed')", False, False, "none"),
        ("Sorry.", False, False, "none"),
        (
            "```python\nimport os\nos._exit(0)\ndef plus7(x):\n    return x + 7\n```",
            *2 * [False],
            "marker",
        ),
    ],
)
def test_base_and_extra_inputs_are_judged_apart(
    small: tuple[HumanEvalPlus, list[Item]], text: str, base: bool, plus: bool, label: str
) -> None:
    task, items = small
    score = task.score(items[7], text, False)
    assert (score.details["base"], score.details["plus"]) == (base, plus)
    assert score.correct == (base and plus)
    assert score.extracted_by == label
    assert score.finished is False
    assert (score.answer is None) == (label == "none")
    assert bool(score.details["reason"]) != score.correct
    assert score.details["retried"] is False


def test_an_endless_loop_is_tried_twice_and_marked(
    small: tuple[HumanEvalPlus, list[Item]],
) -> None:
    task, items = small
    text = "    while x == 3:\n        pass\n    return x + 7"
    details = task.score(items[7], text, True).details
    assert details["base_status"] == "passed"
    assert details["plus_status"] == "timeout"
    assert details["retried"] is True


def test_any_part_of_the_items_in_any_order(small: tuple[HumanEvalPlus, list[Item]]) -> None:
    task, items = small
    answers = [(items[n], f"return x + {n + (n % 2)}", True) for n in (9, 150, 3, 42, 9, 8)]
    scores = [score.correct for score in task.score_all(answers)]
    assert scores == [False, True, False, True, False, True]
    assert HumanEvalPlus().score(items[5], "return x + 5", True).correct


def test_who_stops_asking_stops_the_work(
    sandbox: Sandbox, small: tuple[HumanEvalPlus, list[Item]]
) -> None:
    task, items = HumanEvalPlus(sandbox=sandbox, workers=1), small[1]
    scores = task.score_all([(item, "return x", True) for item in items])
    next(scores)
    began = time.monotonic()
    scores.close()
    del scores
    assert task.score(items[9], "return x + 9", True).correct
    assert time.monotonic() - began < 10


class Shaky:
    """A sandbox whose first tries end otherwise than they should."""

    method = "none"

    def __init__(self, real: Sandbox, faults: list[Ending | SandboxError]) -> None:
        self.real = real
        self.faults = faults

    def run(self, job: Job, limits: Limits, accept: Callable[[Answer], str | None]) -> Ending:
        if "return x + 7  # judged" in job.program and self.faults:
            fault = self.faults.pop(0)
            if isinstance(fault, SandboxError):
                raise fault
            return fault
        return self.real.run(job, limits, accept)


def judged(sandbox: Sandbox, small: tuple[HumanEvalPlus, list[Item]], *faults: Any) -> Verdicts:
    shaky: Any = Shaky(sandbox, list(faults))
    program = "def plus7(x):\n    return x + 7  # judged\n"
    (verdicts,) = Judge(shaky, 2).judge([(read_problem(small[1][7]), program)])
    return verdicts


def test_one_timeout_is_made_good_and_marked(
    sandbox: Sandbox, small: tuple[HumanEvalPlus, list[Item]]
) -> None:
    late = Ending("timeout", "too long by the clock", 0)
    base, plus = judged(sandbox, small, late)
    assert (base.status, base.retried, plus.status) == ("passed", True, "passed")
    base, plus = judged(sandbox, small, late, late)
    assert (base.status, base.retried, plus.status) == ("timeout", True, "passed")


def test_a_sandbox_that_does_not_start_is_an_error_and_no_verdict(
    sandbox: Sandbox, small: tuple[HumanEvalPlus, list[Item]]
) -> None:
    base, plus = judged(sandbox, small, SandboxError("once"))
    assert base.status == plus.status == "passed"
    assert not base.retried
    with pytest.raises(SandboxError, match="twice"):
        judged(sandbox, small, SandboxError("once"), SandboxError("twice"))


def test_an_item_has_evalplus_s_name_too(sandbox: Sandbox) -> None:
    task = HumanEvalPlus(sandbox=sandbox)
    assert task.item_id("HumanEval/42") == "humaneval_plus/test/0042"
    for other in ("humaneval_plus/test/0042", "42", "HumanEval/x", "HumanEval/"):
        assert task.item_id(other) == other


@pytest.mark.parametrize("allowed", [False, True])
def test_the_user_s_leave_reaches_the_search_for_a_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, allowed: bool
) -> None:
    asked: list[bool] = []

    def search(unsafe_execution: bool) -> Sandbox:
        asked.append(unsafe_execution)
        raise ValueError("none here")

    monkeypatch.setattr("tasks.humaneval_plus.find_sandbox", search)
    task = resolve_task("humaneval_plus", TaskOptions(unsafe_execution=allowed))
    with pytest.raises(ValueError, match="none here"):
        task.items("official", write_rows(tmp_path, [made_up(n) for n in range(164)]))
    assert asked == [allowed]
