"""The GSM8K task: prompts, sources, official files, subsets and the registry."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import TASKS, Item, Task, data_hash, limit, resolve_task
from tasks.embedded.gsm8k import eval_items
from tasks.gsm8k import Gsm8k, prompt
from tasks.math500 import Math500
from tasks.published import OfficialFile
from tasks.sources import official_file, official_rows

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SDLM_SHARED", ROOT.parent / "shared"))

pytestmark = pytest.mark.filterwarnings("ignore:.*not the published rows")


@pytest.fixture(autouse=True)
def _no_data_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDLM_DATA_DIR", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def write_official(root: Path, count: int = 1319, zipped: bool = False) -> Path:
    """A stand-in for the official file, with made-up items."""
    folder = root / "gsm8k"
    folder.mkdir(parents=True)
    rows = [
        {"question": f"What is {n} + {n}?", "answer": f"Add them.\n#### {2 * n:,}"}
        for n in range(count)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path = folder / ("test.jsonl.gz" if zipped else "test.jsonl")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    return path


def test_embedded_items_ask_the_bare_question() -> None:
    task = Gsm8k()
    items = task.items("embedded", None)
    assert len(items) == task.count("embedded") == 200
    assert items[7].id == "gsm8k/embedded/0007"
    for item, problem in zip(items, eval_items(), strict=True):
        assert [(m.role, m.content) for m in item.messages] == [("user", problem.question)]
        assert item.gold == problem.gold


def test_embedded_answers_fit_the_cap() -> None:
    cap = Gsm8k().max_new_tokens["embedded"]
    assert max(len(problem.answer) for problem in eval_items()) / 3 * 1.5 <= cap


@pytest.mark.parametrize("zipped", [False, True])
def test_official_items(tmp_path: Path, zipped: bool) -> None:
    write_official(tmp_path, zipped=zipped)
    items = Gsm8k().items("official", tmp_path)
    assert len(items) == Gsm8k().count("official") == 1319
    assert items[600].id == "gsm8k/test/0600"
    assert items[600].gold == "1200"
    system, user = items[600].messages
    assert (system.role, system.content) == ("system", "You are a helpful assistant.")
    assert user.role == "user"
    assert user.content.startswith("What is 600 + 600?\n")
    assert "\\boxed{}" in user.content


def test_braces_in_a_question_are_kept() -> None:
    assert prompt("official", "a {b} {}")[1].content.startswith("a {b} {}\n")
    assert prompt("embedded", "a {b} {}")[0].content == "a {b} {}"


def test_the_variable_names_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_official(tmp_path)
    monkeypatch.setenv("SDLM_DATA_DIR", str(tmp_path))
    assert len(Gsm8k().items("official")) == 1319
    with pytest.raises(ValueError, match="elsewhere"):
        Gsm8k().items("official", tmp_path / "elsewhere")


@pytest.mark.parametrize("given_dir", [True, False])
def test_missing_data_names_the_file_and_both_ways(tmp_path: Path, given_dir: bool) -> None:
    with pytest.raises(ValueError, match=r"gsm8k/test\.jsonl") as caught:
        Gsm8k().items("official", tmp_path if given_dir else None)
    message = str(caught.value)
    assert "--data-dir" in message
    assert "SDLM_DATA_DIR" in message
    assert "\n" not in message


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = write_official(tmp_path)
    lines = path.read_text().splitlines()
    for broken in ("{oops", "[1]", '{"question": "q"}', '{"question": 3, "answer": "a"}'):
        path.write_text("\n".join([*lines[:4], broken, *lines[5:]]))
        with pytest.raises(ValueError, match=r"test\.jsonl, line 5"):
            Gsm8k().items("official", tmp_path)


@pytest.mark.parametrize("count", [0, 1318, 1320])
def test_a_wrong_number_of_items_is_an_error(tmp_path: Path, count: int) -> None:
    write_official(tmp_path, count)
    with pytest.raises(ValueError, match=f"expected 1,319 items, got {count:,}"):
        Gsm8k().items("official", tmp_path)


def test_a_broken_archive_is_an_error(tmp_path: Path) -> None:
    path = write_official(tmp_path, zipped=True)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match="cannot be read"):
        Gsm8k().items("official", tmp_path)


def test_an_answer_without_a_marker_is_an_error(tmp_path: Path) -> None:
    path = write_official(tmp_path)
    path.write_text(path.read_text().replace('#### 20"', '20"', 1))
    with pytest.raises(ValueError, match="expected a number after ####"):
        Gsm8k().items("official", tmp_path)


def test_unusual_line_separators_do_not_split_rows(tmp_path: Path) -> None:
    record = {"q": "a\u2028b"}
    text = json.dumps(record, ensure_ascii=False) + "\n\n"
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    file = OfficialFile(name="x.jsonl", count=1, sha256="", hub=None)
    assert [row.record for row in official_rows(file, tmp_path)] == [record]


def test_the_shared_official_file() -> None:
    if not (SHARED / "data" / "gsm8k" / "test.jsonl").is_file():
        pytest.skip("shared data not found: set SDLM_SHARED")
    items = Gsm8k().items("official", SHARED / "data")
    assert official_file(SHARED / "data", "gsm8k/test.jsonl").name == "test.jsonl"
    assert len({item.id for item in items}) == 1319
    rows = (SHARED / "data" / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").split("\n")
    for item, row in zip(items[:50], rows[:50], strict=True):
        answer = json.loads(row)["answer"]
        score = Gsm8k().score(item, answer, True)
        assert score.correct
        assert score.extracted_by == "marker"


@pytest.mark.parametrize(
    ("box", "correct", "answer"),
    [
        ("18", True, "18"),
        ("18.00", True, "18"),
        ("18.0000001", False, "18.0000001"),
        ("x = 9 + 9 = 18", True, "18"),
        ("18 \\text{ dollars}", True, "18"),
        ("\\frac{36}{2}", True, "18"),
        ("2 \\times 9", True, "2 \\times 9"),
        ("3^2 + 9", True, "3^2 + 9"),
        ("\\sqrt{324}", True, "\\sqrt{324}"),
        ("18 \\text{ cm}^2", True, "18 \\text{ cm}^2"),
        ("18, 2", False, "18, 2"),
        ("18 - 3", False, "18 - 3"),
        ("18 dollars and 50 cents", False, "18 dollars and 50 cents"),
        ("\\sqrt{18}", False, "\\sqrt{18}"),
        ("18!", False, "18!"),
    ],
)
def test_a_box_is_one_number_or_an_expression(box: str, correct: bool, answer: str) -> None:
    """The first number of an expression is not its value."""
    score = Gsm8k().score(Item(id="x", messages=(), gold="18"), f"so \\boxed{{{box}}}", True)
    assert (score.correct, score.answer, score.extracted_by) == (correct, answer, "boxed")


def test_expressions_may_part_thousands() -> None:
    item = Item(id="x", messages=(), gold="64000")
    for box in ("64,000 \\times 1", "32{,}000 \\cdot 2", "63,000 + 1,000"):
        assert Gsm8k().score(item, f"\\boxed{{{box}}}", True).correct


def test_a_last_box_that_is_cut_off_leaves_the_guess() -> None:
    item = Item(id="x", messages=(), gold="4")
    score = Gsm8k().score(item, "first \\boxed{4}, then we see \\boxed{5", True)
    assert (score.correct, score.answer, score.extracted_by) == (False, "5", "fallback")


def test_hashes_follow_the_content() -> None:
    task = Gsm8k()
    items = task.items("embedded", None)
    assert data_hash(items) == data_hash(tuple(items)) != data_hash(items[1:])
    assert len(task.template_hash("official")) == 64
    assert task.template_hash("official") != task.template_hash("embedded")


def numbered(count: int) -> list[Item]:
    return [Item(id=f"t/{n}", messages=(), gold=str(n)) for n in range(count)]


@given(count=st.integers(0, 40), n=st.integers(0, 60), seed=st.integers(0, 5))
def test_limit_is_a_seeded_sample_in_order(count: int, n: int, seed: int) -> None:
    items = numbered(count)
    some = limit(items, n, seed)
    assert len(some) == min(n, count)
    assert [int(item.gold) for item in some] == sorted({int(item.gold) for item in some})
    assert some == limit(items, n, seed)
    assert limit(items, count + 1, seed) == items


def test_limit_depends_on_the_seed_and_refuses_negative_numbers() -> None:
    assert limit(numbered(100), 10, 0) != limit(numbered(100), 10, 1)
    with pytest.raises(ValueError, match="-1"):
        limit(numbered(3), -1, 0)


def test_registry() -> None:
    for name in TASKS:
        task = resolve_task(name)
        assert task.name == name
        assert set(task.max_new_tokens) == set(task.sources)
    with pytest.raises(ValueError, match=r"'gsm8'.*gsm8k.*nearest is 'gsm8k'"):
        resolve_task("gsm8")
    assert resolve_task("tasks.gsm8k:Gsm8k").name == "gsm8k"
    for name, reason in [
        ("no_such:Thing", "No module"),
        ("tasks.item:Nothing", "no attribute"),
        ("tests.broken_module:X", "ZeroDivisionError"),
    ]:
        with pytest.raises(ValueError, match=f"can't be imported: .*{reason}"):
            resolve_task(name)
    with pytest.raises(ValueError, match="lacks name, sources"):
        resolve_task("tasks.item:Item")


def test_importing_tasks_loads_no_heavy_library_and_no_other_package() -> None:
    code = (
        "import sys, tasks, tasks.gsm8k\n"
        "bad = {'torch', 'transformers', 'numpy', 'sdlm', 'decoders', 'results', 'harness'}\n"
        "print(sorted(bad & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("task", [Gsm8k(), Math500()])
@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ("So \\boxed{12}.\n\nQuestion: Ann has 3 pens.\n\\boxed{18}", True),
        ("So \\boxed{18}.\n\nQuestion: Ann has 3 pens.\n\\boxed{12}", False),
        ("#### 12\nQ: Ann has 3 pens.\n#### 18", True),
        ("So \\boxed{12}.\n\n**Question:** Ann has 3 pens.\n\\boxed{18}", True),
        ("So \\boxed{12}.\n\n### Problem: Ann has 3 pens.\n\\boxed{18}", True),
        ("So \\boxed{12}.\n Human: Ann has 3 pens.\n\\boxed{18}", True),
        ("Question 1: eggs? \\boxed{9}\nQuestion 2: money? \\boxed{12}", True),
        # Told again, it is the question that was asked.
        ("#### Understanding\nQuestion: how much?\n3 + 9 = 12\n\\boxed{12}", True),
        ("#### Step 1: read\nProblem: how much?\n#### Step 2: add\n\\boxed{12}", True),
        ("Let us see.\nProblem: Bea has 3 pens.\nShe gets 9. \\boxed{12}", True),
    ],
)
def test_what_a_text_runs_on_into_is_no_part_of_its_answer(
    task: Task, text: str, correct: bool
) -> None:
    item = Item(id="x", messages=(), gold="12")
    assert task.score(item, text, True).correct is correct
