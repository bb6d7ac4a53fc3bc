"""HumanEval+: items, verdicts and scores, held against evalplus's own."""

from __future__ import annotations

import ast
import gzip
import json
import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks import Item, data_hash
from tasks.evalplus_rules import Expected, expect, is_right, load_rules
from tasks.humaneval_plus import HumanEvalPlus, prompt, read_problem
from tasks.judging import Judge, Problem, Verdicts
from tasks.sandbox import Sandbox, find_sandbox
from tasks.sandbox_job import Ending, Job, Limits, SandboxError
from tasks.sandbox_runner import encode, type_name
from tasks.sandbox_values import Answer

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SDLM_SHARED", ROOT.parent / "shared"))
OFFICIAL = SHARED / "data" / "humaneval_plus" / "HumanEvalPlus.jsonl.gz"
#: The published evaluate function leaves its loop before it counts a right `find_zero`, and so
#: fails every answer to this item, the reference solution too.
FAILED_BY_EVALPLUS = "HumanEval/32"
SAMPLE = 20
#: Items whose reference needs more than a second of CPU time for all its inputs.
LONG = {15, 36, 59, 83, 94, 130, 139}
pytestmark = pytest.mark.filterwarnings("ignore:.*not the published rows")


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    try:
        return find_sandbox()
    except ValueError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def official(sandbox: Sandbox) -> tuple[HumanEvalPlus, list[Item]]:
    if not OFFICIAL.is_file():
        pytest.skip("shared data not found: set SDLM_SHARED")
    task = HumanEvalPlus(sandbox=sandbox)
    return task, task.items("official", SHARED / "data")


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
    assert items[7].messages == prompt(made_up(7)["prompt"])
    assert items[7].messages[0].role == "system"
    assert items[7].messages[1].content.endswith(made_up(7)["prompt"])
    assert task.max_new_tokens["official"] == 512
    assert data_hash(items) != data_hash(items[1:])
    problem = read_problem(items[7])
    assert problem.plus_input == [[3], [-4], [10**20]]
    with pytest.raises(ValueError, match="no embedded items"):
        task.items("embedded", None)


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


def answer(value: object) -> Answer:
    return Answer(0, 0.0, json.dumps([type_name(value), encode(value)]).encode(), None)


def wanted(value: object, atol: float = 0, entry_point: str = "f") -> Expected:
    return expect(load_rules(), entry_point, atol, answer(value))


@pytest.mark.parametrize(
    ("right", "got", "atol", "verdict"),
    [
        (1, 1, 0, True),
        (1, True, 0, True),
        (1, 1.0, 0, True),
        (1, 2, 0, False),
        ([1, 2], (1, 2), 0, False),
        ([1, 2], [1, 2, 3], 0, False),
        ((1, [2]), (1, [2.0]), 0, True),
        ({1: "a"}, {1.0: "a"}, 0, True),
        (0.1, 0.1 + 5e-7, 0, True),
        (0.1, 0.1 + 5e-6, 0, False),
        (2.5, 2, 1e-4, False),
        ([0.1, 0.2], [0.1, 0.2 + 5e-7], 0, True),
        ([0.1, 0.2], [0.1], 0, False),
        ([0.1, 2], [0.1 + 5e-7, 2], 0, False),
        (10**400, 10**400, 0, True),
        (1.0, 10**400, 0, False),
        (None, None, 0, True),
        ("a", "b", 1e-6, False),
        (3, 3.00001, 1e-4, False),
        (3.0, 3.00001, 1e-4, True),
    ],
)
def test_right_means_what_evalplus_means(
    right: object, got: object, atol: float, verdict: bool
) -> None:
    assert is_right(load_rules(), [], wanted(right, atol), answer(got)) is verdict


def test_the_tolerance_stays_from_the_first_floats_on() -> None:
    rules = load_rules()
    first = wanted([0.5])
    assert first.atol == 1e-6
    assert expect(rules, "f", first.atol, answer([1, 2])).atol == 1e-6
    assert wanted([1, 2]).atol == wanted("0.5").atol == wanted([]).atol == 0


def test_a_root_need_not_be_the_references() -> None:
    rules = load_rules()
    expected = wanted(1.0, 1e-4, "find_zero")
    inputs = [[-1, 0, 1]]
    for got, verdict in ((1.0, True), (-1.0, True), (0.0, False), ("1", False), (None, False)):
        assert is_right(rules, inputs, expected, answer(got)) is verdict


def test_a_reference_without_plain_output_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no plain value"):
        wanted(object())


def perfect(problem: Problem) -> str:
    return f"Sure.\n```python\n{problem.prompt}{problem.canonical_solution}\n```\nDone."


def quick_sample(items: list[Item], count: int, seed: int) -> list[Item]:
    quick = [item for number, item in enumerate(items) if number not in LONG]
    return random.Random(seed).sample(quick, count)


def check_perfect(task: HumanEvalPlus, items: list[Item]) -> None:
    answers = [(item, perfect(read_problem(item)), True) for item in items]
    for item, score in zip(items, task.score_all(answers), strict=True):
        assert score.correct, (item.id, score.details)
        assert score.details["base"] is score.details["plus"] is True
        assert score.extracted_by == "marker"


def test_perfect_answers_to_a_sample(official: tuple[HumanEvalPlus, list[Item]]) -> None:
    task, items = official
    check_perfect(task, quick_sample(items, SAMPLE, seed=0))


@pytest.mark.slow
def test_perfect_answers_to_all(official: tuple[HumanEvalPlus, list[Item]]) -> None:
    check_perfect(*official)


@pytest.mark.slow
def test_another_items_answers_score_nothing(official: tuple[HumanEvalPlus, list[Item]]) -> None:
    task, items = official
    moved = items[1:] + items[:1]
    answers = [
        (item, perfect(read_problem(other)), True)
        for item, other in zip(items, moved, strict=True)
    ]
    assert not any(score.correct for score in task.score_all(answers))


class Mutator(ast.NodeTransformer):
    """Changes one thing of a program: a number, a comparison, an operator or a result."""

    SWAPS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
        (ast.Lt, ast.LtE),
        (ast.Gt, ast.GtE),
        (ast.LtE, ast.Lt),
        (ast.GtE, ast.Gt),
        (ast.Eq, ast.NotEq),
        (ast.Add, ast.Sub),
        (ast.And, ast.Or),
    )

    def __init__(self, target: int) -> None:
        self.target = target
        self.seen = 0

    def _hit(self) -> bool:
        self.seen += 1
        return self.seen - 1 == self.target

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for old, new in self.SWAPS:
            if type(node) is old and self._hit():
                return new()
        return super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) in (int, float) and self._hit():
            return ast.Constant(node.value + 1)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None and self._hit():
            return ast.Return(ast.Tuple([node.value], ast.Load()))
        if node.value is not None and self._hit():
            return ast.Return(ast.BinOp(node.value, ast.Add(), ast.Constant(1e-7)))
        return self.generic_visit(node)


def mutants(problem: Problem, count: int, seed: int) -> list[str]:
    """The reference solution, then with one change each."""
    source = problem.prompt + problem.canonical_solution
    probe = Mutator(-1)
    probe.visit(ast.parse(source))
    rng = random.Random(f"{problem.id} {seed}")
    targets = [-1, *(rng.randrange(probe.seen) for _ in range(count))]
    return [
        ast.unparse(ast.fix_missing_locations(Mutator(target).visit(ast.parse(source))))
        for target in targets
    ]


def evalplus_verdict(problem: Problem, program: str) -> tuple[bool, bool]:
    """evalplus's own verdict. Mutated reference solutions are harmless enough for its runner."""
    from evalplus.eval import PASS, untrusted_check
    from evalplus.gen.util import trusted_exec

    verdicts: list[bool] = []
    reference = problem.prompt + problem.canonical_solution
    for inputs in (problem.base_input, problem.plus_input):
        expected, times = trusted_exec(
            reference, json.loads(json.dumps(inputs)), problem.entry_point, record_time=True
        )
        status, _ = untrusted_check(
            "humaneval",
            program,
            json.loads(json.dumps(inputs)),
            problem.entry_point,
            expected=expected,
            atol=problem.atol,
            ref_time=times,
            fast_check=True,
            min_time_limit=5.0,
        )
        verdicts.append(status == PASS)
    return verdicts[0], verdicts[1]


def check_agreement(task: HumanEvalPlus, items: list[Item], count: int) -> None:
    work = [
        (item, program)
        for item in items
        for program in mutants(read_problem(item), count, seed=0)
        if item.id != f"humaneval_plus/test/{int(FAILED_BY_EVALPLUS.rpartition('/')[2]):04d}"
    ]
    answers = [(item, f"```python\n{program}\n```", True) for item, program in work]
    passed = 0
    for (item, program), score in zip(work, task.score_all(answers), strict=True):
        ours = (score.details["base"], score.details["plus"])
        assert ours == evalplus_verdict(read_problem(item), program), (item.id, program)
        passed += score.correct
    assert 0 < passed < len(work), "mutants of both kinds are needed"


def test_verdicts_on_mutants_are_evalpluss(official: tuple[HumanEvalPlus, list[Item]]) -> None:
    task, items = official
    check_agreement(task, quick_sample(items, 8, seed=1), 1)


@pytest.mark.slow
def test_verdicts_on_all_mutants_are_evalpluss(
    official: tuple[HumanEvalPlus, list[Item]],
) -> None:
    check_agreement(*official, 2)


def test_what_evalplus_fails_by_mistake_passes_here(
    official: tuple[HumanEvalPlus, list[Item]],
) -> None:
    task, items = official
    problem = read_problem(items[32])
    assert problem.entry_point == "find_zero"
    assert task.score(items[32], perfect(problem), True).correct
    assert evalplus_verdict(problem, problem.prompt + problem.canonical_solution) == (False, False)
