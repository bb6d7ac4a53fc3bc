"""The example workflow of docs/regression-gate.md: what it says must be what the tools take."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from harness.cli import app

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / "docs/workflows/regression.yml").read_text())
STEPS: list[dict[str, Any]] = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
SCRIPTS: list[str] = [step["run"] for step in STEPS if "run" in step]


def commands(start: str) -> list[list[str]]:
    """Words of every command that begins so after its interpreter."""
    lines = [
        line.partition('bin/python" ')[2]
        for script in SCRIPTS
        for line in script.replace("\\\n", " ").splitlines()
    ]
    return [shlex.split(line) for line in lines if line.startswith(start)]


def test_jobs_and_steps_are_what_a_runner_expects():
    # An unquoted `on` is true in YAML 1.1.
    assert WORKFLOW.keys() == {"name", True, "env", "jobs"}
    assert WORKFLOW[True] == {"pull_request": None}
    for name, job in WORKFLOW["jobs"].items():
        assert job.keys() <= {"runs-on", "permissions", "needs", "if", "steps"}, name
        assert (
            set(job["permissions"])
            == {"measure": {"contents"}, "comment": {"pull-requests"}}[name]
        )
    assert WORKFLOW["jobs"]["comment"]["needs"] in WORKFLOW["jobs"]
    for step in STEPS:
        assert ("run" in step) != ("uses" in step)
        assert step.keys() <= {
            *("name", "id", "if", "uses", "with", "run", "env", "working-directory"),
        }


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_shell(script: str):
    plain = re.sub(r"\$\{\{.*?\}\}", "X", script)
    done = subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_harness_has_the_options_it_is_given():
    group = typer.main.get_command(app)
    runs, compared = commands("-m harness run"), commands("-m harness compare")
    assert len(runs) == 3
    assert len(compared) == 1
    for words in [*runs, *compared, ["-m", "harness", "run", *WORKFLOW["env"]["RUN"].split()]]:
        command = group.commands[words[2]]  # pyright: ignore[reportAttributeAccessIssue]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words[3:] if word.startswith("--")} <= known


def test_base_and_head_are_measured_alike():
    """By the same words, but for who measures and where the results go."""
    _, base, head = commands("-m harness run")
    assert base == [word.replace("head", "base") for word in head]
    assert base != head
    (compared,) = commands("-m harness compare")
    assert compared[3:5] == ["$OUT/base", "$OUT/head"]


def test_the_micro_benchmarks_compare_with_what_the_base_saved():
    saved, compared = commands("-m pytest")
    assert (ROOT / saved[2]).is_file()
    assert saved[2] == compared[2]
    storage = [word for word in saved if word.startswith("--benchmark-storage")]
    assert storage == [word for word in compared if word.startswith("--benchmark-storage")]
    assert "--benchmark-save=base" in saved
    assert "--benchmark-compare=0001" in compared
    (limit,) = [word for word in compared if word.startswith("--benchmark-compare-fail")]
    assert re.fullmatch(r"--benchmark-compare-fail=min:\d+%", limit)
