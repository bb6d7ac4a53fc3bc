"""Tasks: items, prompts, answer extraction and scoring."""

from tasks.item import Item, Message, Metric, PromptProtocol, Score, Source, Task, TaskOptions
from tasks.registry import TASKS, resolve_task
from tasks.sampling import limit
from tasks.sources import check_data, data_files, data_hash

__all__ = [
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
