"""The task that docs/adding-a-task.md shows must run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tasks import limit, resolve_task
from tasks.sandbox_command import ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]


def test_the_task_of_the_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "adding-a-task.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n# my_tasks.py\n(.*?)```", page, re.S)
    (tmp_path / "my_tasks.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_tasks", raising=False)
    task = resolve_task("my_tasks:Backwards")
    items = task.items("embedded", None)
    assert len(items) == task.count("embedded") == 6
    assert len(limit(items, 3, 0)) == 3
    assert task.max_new_tokens["embedded"] == 32
    assert len(task.template_hash("embedded")) == 64
    with pytest.raises(ValueError, match="no official items"):
        task.items("official", None)
    lines = [
        {"id": "backwards/lamp", "text": "First m, then a.\nAnswer: Pmal"},
        {"id": "backwards/river", "text": "Answer: river"},
        {"id": "backwards/stone", "text": "I don't kn", "finish": "length"},
    ]
    result = CliRunner().invoke(
        app,
        ["score", "--task", "my_tasks:Backwards", "--answers", "-"],
        input="\n".join(map(json.dumps, lines)),
    )
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["correct"] for row in rows] == [True, False, False]
    assert [row["extracted_by"] for row in rows] == ["marker", "marker", "none"]
    assert [row["finished"] for row in rows] == [True, True, False]
    assert "backwards accuracy: 33.3%" in result.stderr


def test_the_variables_of_the_sandbox() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    number = f"{len(ENVIRONMENT)} fixed variables"
    # bubblewrap sets PWD itself.
    assert f"| environment | {number}, and `PWD` | {number} |" in page
