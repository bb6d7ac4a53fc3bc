"""Task names and the classes behind them, loaded when asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import cast

from tasks.item import Task

TASKS: dict[str, str] = {
    "gsm8k": "tasks.gsm8k:Gsm8k",
}


def resolve_task(name: str) -> Task:
    """The task called `name`; an unknown name is an error that lists the choices."""
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=1, cutoff=0.0)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ValueError(f"unknown task {name!r}: choose from {', '.join(TASKS)}{hint}")
    module, _, attribute = TASKS[name].partition(":")
    return cast(Task, getattr(import_module(module), attribute)())
