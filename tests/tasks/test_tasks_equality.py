"""The comparing process: it answers, it is killed in time, it comes back, it harms nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tasks.equality import LIMIT_S, WALL_S, Equality
from tasks.item import Item
from tasks.math500 import Math500

ROOT = Path(__file__).resolve().parents[2]
TOWERS = [
    "2^{9^{9^{9^9}}}",
    "9!!!!!!",
    "10^{10^{10}}",
    "\\int_0^{\\infty} e^{-x^{x^x}} dx",
]


def test_equal_text_needs_no_process() -> None:
    equality = Equality()
    assert equality.compare("2^{9^{9^9}}", "2^{9^{9^9}}") == "equal"
    assert equality._process is None


@pytest.mark.parametrize("tower", TOWERS)
def test_a_tower_of_powers_returns_and_the_next_comparison_works(tower: str) -> None:
    equality = Equality(limit_s=1.0, wall_s=5.0)
    assert equality.compare("\\frac12", "0.5") == "equal"
    started_s = time.monotonic()
    with pytest.warns(UserWarning, match="counts as wrong"):
        assert equality.compare("2", tower) == "too long"
    assert time.monotonic() - started_s < 7.0
    assert equality.compare("\\frac12", "0.5") == "equal"


def test_the_task_counts_a_tower_as_wrong_and_says_so() -> None:
    item = Item(id="x", messages=(), gold="2")
    with pytest.warns(UserWarning, match="too much memory"):
        score = Math500().score(item, f"\\boxed{{{TOWERS[0]}}}", True)
    assert not score.correct
    assert score.extracted_by == "boxed"
    assert score.details == {"comparison": "too long"}
    assert LIMIT_S < WALL_S <= 10


def test_a_killed_process_is_replaced() -> None:
    equality = Equality()
    assert equality.compare("\\frac12", "0.5") == "equal"
    assert equality._process is not None
    equality._process.kill()
    equality._process.wait()
    assert equality.compare("\\frac12", "0.5") == "equal"


def test_a_long_answer_is_not_even_read() -> None:
    equality = Equality()
    assert equality.compare("1", "1 + " * 1000 + "1") == "different"
    assert equality._process is None


def test_threads_get_their_own_verdicts() -> None:
    equality = Equality()
    verdicts: dict[int, str] = {}

    def ask(k: int) -> None:
        verdicts[k] = equality.compare(str(k), f"\\frac{{{2 * k}}}{{2}}" if k % 2 else f"{k}+1")

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == {k: "equal" if k % 2 else "different" for k in range(1, 9)}


def test_a_forked_process_does_not_share_the_pipe() -> None:
    equality = Equality()
    assert equality.compare("\\frac12", "0.5") == "equal"
    child = os.fork()
    if child == 0:
        os._exit(0 if equality.compare("\\frac13", "\\dfrac{2}{6}") == "equal" else 1)
    assert os.waitpid(child, 0)[1] == 0
    first = equality._process
    assert equality.compare("\\frac12", "0.50") == "equal"
    assert equality._process is first


def test_the_process_ends_with_its_owner() -> None:
    code = (
        "from tasks.equality import Equality\n"
        "e = Equality(); e.compare('1', '1.0'); print(e._process.pid)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not Path(f"/proc/{done.stdout.strip()}").exists()


def test_a_missing_library_is_said_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import no_such_library\n")
    monkeypatch.setattr("tasks.equality.WORKER", worker)
    with pytest.raises(ValueError, match=r"no_such_library.*is math-verify installed"):
        Equality().compare("1", "1.0")


def test_only_the_process_imports_math_verify() -> None:
    code = (
        "import sys, tasks, tasks.math500, tasks.mmlu, tasks.gsm8k, tasks.sources\n"
        "bad = {'math_verify', 'sympy', 'huggingface_hub', 'pyarrow', 'pandas'}\n"
        "print(sorted(bad & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    users = [
        path.name
        for path in (ROOT / "tasks").rglob("*.py")
        if "import math_verify" in path.read_text() or "from math_verify" in path.read_text()
    ]
    assert users == ["equality_worker.py"]


def test_signals_to_the_whole_job_are_not_for_it() -> None:
    """Ctrl-C reaches every process of a terminal's group, and some schedulers tell every process
    of a job to end. A run finishes its sample then, whose verdict must be the right one."""
    equality = Equality()
    assert equality.compare("\\frac12", "0.5") == "equal"
    process = equality._process
    assert process is not None
    assert os.getpgid(process.pid) != os.getpgid(0)
    process.send_signal(signal.SIGTERM)
    assert equality.compare("\\frac14", "0.25") == "equal"
    assert equality._process is process
