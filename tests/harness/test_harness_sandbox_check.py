"""`harness sandbox-check` prints what held and says whether all did."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from harness import sandbox_check as module
from tasks.sandbox import Sandbox
from tasks.sandbox_attacks import Held
from tasks.sandbox_command import Method
from tasks.sandbox_job import Ending

FAILED = Ending("failed", "wrong output", 0)


def check(
    monkeypatch: pytest.MonkeyPatch, works: set[Method], results: list[Held]
) -> tuple[bool, str]:
    def find(methods: tuple[Method, ...]) -> Sandbox:
        if methods[0] not in works:
            raise ValueError(f"no sandbox: {methods[0]} is not installed")
        return Sandbox(method=methods[0])

    def attack(sandbox: Sandbox) -> Iterator[Held]:
        yield from results

    monkeypatch.setattr(module, "find_sandbox", find)
    monkeypatch.setattr(module, "run_attacks", attack)
    shown = io.StringIO()
    sound = module.sandbox_check(Console(file=shown, width=200))
    return sound, shown.getvalue()


def test_all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, shown = check(monkeypatch, {"bwrap", "unshare"}, [Held("fork bomb", FAILED, [], 0.5)])
    assert sound
    assert shown.count("fork bomb") == shown.count("held") == 2
    assert shown.count("used for generated programs") == 1


def test_a_breach_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Held("fork bomb", FAILED, ["a process outlived it"], 0.5)
    sound, shown = check(monkeypatch, {"unshare"}, [broken])
    assert not sound
    assert "BROKEN: a process outlived it" in shown
    assert "bwrap is not installed" in shown


def test_no_sandbox_is_not_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    sound, shown = check(monkeypatch, set(), [])
    assert not sound
    assert "humaneval_plus is refused" in shown
