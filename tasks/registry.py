"""Task names and the classes behind them, loaded when asked for."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from tasks.item import Task, TaskOptions

TASKS: dict[str, str] = {
    "gsm8k": "tasks.gsm8k:Gsm8k",
    "math500": "tasks.math500:Math500",
    "mmlu": "tasks.mmlu:Mmlu",
    "humaneval_plus": "tasks.humaneval_plus:HumanEvalPlus",
}

#: What makes a class a task; see `tasks.item.Task`.
TASK_PARTS = ("name", "sources", "max_new_tokens", "count", "items", "score", "template_hash")


LM_EVAL = "lm_eval:"
NO_OPTIONS = TaskOptions()


def resolve_task(name: str, options: TaskOptions = NO_OPTIONS) -> Task:
    """The task called `name`, lm-eval's for `lm_eval:NAME`, or the one behind a user's own
    `package.module:Class`.

    An unknown name is an error that lists the choices.
    """
    if options.protocol == "lm-eval":
        from tasks.lm_eval_protocol import LmEvalProtocol

        return LmEvalProtocol(resolve_task(name, replace(options, protocol="paper")), options)
    if name.startswith(LM_EVAL):
        from tasks.lm_eval_task import LmEvalTask

        return LmEvalTask(name.removeprefix(LM_EVAL), options)
    target = TASKS.get(name, name if ":" in name else "")
    if not target:
        near = get_close_matches(name, TASKS, n=1, cutoff=0.0)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ValueError(
            f"unknown task {name!r}: choose from {', '.join(TASKS)}{hint};"
            f" a task of lm-eval is {LM_EVAL}NAME, one of your own module:Class"
        )
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    # A user's module may raise anything.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"task {name!r} can't be imported: {reason}") from None
    missing = [part for part in TASK_PARTS if not hasattr(found, part)]
    if missing:
        raise ValueError(f"task {name!r} is no task: it lacks {', '.join(missing)}")
    if name == "humaneval_plus":
        containment = {"unsafe_execution": options.unsafe_execution}
        return cast(Task, found(**containment, embedded_items=options.embedded_items))
    if name in TASKS:
        return cast(Task, found(embedded_items=options.embedded_items))
    return cast(Task, found())
