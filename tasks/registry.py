"""Task names and the classes behind them, loaded when asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import cast

from tasks.item import Task

TASKS: dict[str, str] = {
    "gsm8k": "tasks.gsm8k:Gsm8k",
    "math500": "tasks.math500:Math500",
    "mmlu": "tasks.mmlu:Mmlu",
    "humaneval_plus": "tasks.humaneval_plus:HumanEvalPlus",
}

#: What makes a class a task; see `tasks.item.Task`.
TASK_PARTS = ("name", "sources", "max_new_tokens", "count", "items", "score", "template_hash")


def resolve_task(name: str) -> Task:
    """The task called `name`, or the one behind a user's own `package.module:Class`.

    An unknown name is an error that lists the choices.
    """
    target = TASKS.get(name, name if ":" in name else "")
    if not target:
        near = get_close_matches(name, TASKS, n=1, cutoff=0.0)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ValueError(
            f"unknown task {name!r}: choose from {', '.join(TASKS)}{hint};"
            " a task of your own is module:Class"
        )
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"task {name!r} can't be imported: {error}") from None
    missing = [part for part in TASK_PARTS if not hasattr(found, part)]
    if missing:
        raise ValueError(f"task {name!r} is no task: it lacks {', '.join(missing)}")
    return cast(Task, found())
