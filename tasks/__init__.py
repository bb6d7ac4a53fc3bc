"""Tasks: items, prompts, answer extraction and scoring."""

from tasks.item import Item, Message, Score, Source, Task
from tasks.registry import TASKS, resolve_task
from tasks.sampling import limit
from tasks.sources import data_files, data_hash

__all__ = [
    "TASKS",
    "Item",
    "Message",
    "Score",
    "Source",
    "Task",
    "data_files",
    "data_hash",
    "limit",
    "resolve_task",
]
