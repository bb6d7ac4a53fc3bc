"""Tasks: items, prompts, answer extraction and scoring."""

from tasks.item import (
    EMBEDDED_ITEMS,
    Item,
    Message,
    Metric,
    PromptProtocol,
    Score,
    Source,
    Task,
    TaskOptions,
)
from tasks.registry import TASKS, resolve_task
from tasks.sampling import limit
from tasks.sources import check_data, data_files, data_hash

__all__ = [
    "EMBEDDED_ITEMS",
    "TASKS",
    "Item",
    "Message",
    "Metric",
    "PromptProtocol",
    "Score",
    "Source",
    "Task",
    "TaskOptions",
    "check_data",
    "data_files",
    "data_hash",
    "limit",
    "resolve_task",
]
