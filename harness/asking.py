"""What a user asks for, checked as far as that goes without loading torch.

So a wrong task name, or data that is nowhere to be had, is said at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from harness.run_config import (
    Attention,
    Dtype,
    EngineName,
    Order,
    Setup,
    SourceChoice,
)
from sdlm.model_names import PACKAGED
from tasks import Source, Task, TaskOptions, check_data, resolve_task

MOST_BATCH_SIZE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The options of `harness run` that decide what is measured and looked at, as the user gave
    them.

    baseline_model: another one that answers the same prompts under `ar`.
    batch_sizes: "auto" is one size, found from the memory.
    attention, max_new_tokens: None is the default of the device and of the task.
    fixed_length: None lets answers end. repeats: how often each sample is measured.
    repeat_noisy: whether samples that others disturbed are measured again.
    traces: items of each task that are decoded once more to be looked at.
    """

    model: str
    baseline_model: str | None
    tasks: str
    decoders: str
    tau: str
    block: int | None
    limit: int
    batch_sizes: tuple[int, ...] | Literal["auto"]
    order: Order
    dtype: Dtype
    attention: Attention | None
    setup: Setup
    max_new_tokens: int | None
    fixed_length: int | None
    repeats: int
    traces: int
    repeat_noisy: bool
    seed: int
    data: SourceChoice
    data_dir: Path | None
    task_options: TaskOptions


def wish_of(given: Mapping[str, Any]) -> Wish:
    """The wish of options by their names, those that `Setup` and `TaskOptions` hold among them."""
    made: dict[str, Any] = {
        "batch_sizes": parse_batch_sizes(given["batch_size"], given["batch_sizes"]),
        "setup": Setup(**{each.name: given[each.name] for each in fields(Setup)}),
        "task_options": TaskOptions(
            **{each.name: given[each.name] for each in fields(TaskOptions) if each.name in given}
        ),
    }
    plain = {each.name: given[each.name] for each in fields(Wish) if each.name not in made}
    return Wish(**plain, **made)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Who does the work: this process, or Ray workers; it changes nothing that is measured.

    workers: None is one a GPU, else one a core. ray_address: None starts a Ray of our own.
    """

    name: EngineName
    workers: int | None = None
    ray_address: str | None = None

    def __post_init__(self) -> None:
        for option, given in (("--workers", self.workers), ("--ray-address", self.ray_address)):
            if self.name != "ray" and given is not None:
                raise ValueError(f"{option} {given!r} is for Ray's workers; add --engine ray")
        if self.workers is not None:
            check_least("--workers", self.workers, 1)


def check_together(wish: Wish, engine: EngineChoice) -> None:
    """Raise ValueError for options of which one would have no effect beside the other."""
    shared = wish.setup.tensor_parallel > 1
    if engine.name == "ray" and shared:
        raise ValueError("--tensor-parallel and --engine ray don't go together; leave one")
    if wish.repeat_noisy and (engine.name == "ray" or shared):
        other = "--tensor-parallel" if shared else "--engine ray"
        raise ValueError(
            f"--repeat-noisy and {other} don't go together: what other programs take can't be"
            " told from what the run's own processes do; leave one"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTask:
    """A task and where its items come from."""

    task: Task
    source: Source


def asked_tasks(wish: Wish) -> list[AskedTask]:
    """The tasks by name; ValueError for an unknown one, and for official data that is missing."""
    asked: list[AskedTask] = []
    options = wish.task_options
    for option, given in (
        ("--apply-chat-template", options.apply_chat_template),
        ("--include-path", options.include_path),
    ):
        if given and "lm_eval:" not in wish.tasks and options.protocol == "paper":
            raise ValueError(f"{option} is for lm-eval's prompts; name a task lm_eval:NAME")
    for name in split_option(wish.tasks, "--tasks"):
        task = resolve_task(name, wish.task_options)
        asked.append(AskedTask(task=task, source=source_of(task, wish)))
    for each in asked:
        if each.source == "official":
            check_data(each.task.name, wish.task_options.protocol, wish.data_dir)
    return asked


def source_of(task: Task, wish: Wish) -> Source:
    """A task with one source that isn't ours to choose, such as lm-eval's, has that one."""
    if task.sources == ("lm_eval",):
        return "lm_eval"
    if wish.data == "auto":
        return "embedded" if wish.model in PACKAGED else "official"
    return wish.data


def split_option(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError(f"{option} is empty; give names or values separated by commas")
    return list(dict.fromkeys(parts))


def check_least(option: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{option} is {value}; it must be at least {least}")


def parse_batch_sizes(
    batch_size: str | None, batch_sizes: str | None
) -> tuple[int, ...] | Literal["auto"]:
    """`--batch-size N|auto` or `--batch-sizes N,N`; neither is 1."""
    if batch_size is not None and batch_sizes is not None:
        raise ValueError(
            f"--batch-size {batch_size} and --batch-sizes {batch_sizes} are both given; give one"
        )
    if batch_sizes is not None:
        parts = split_option(batch_sizes, "--batch-sizes")
        return tuple(dict.fromkeys(_size("--batch-sizes", part) for part in parts))
    if batch_size == "auto":
        return "auto"
    return (_size("--batch-size", "1" if batch_size is None else batch_size),)


def _size(option: str, text: str) -> int:
    if not text.isdecimal():
        wanted = (
            "a whole number, or auto; several go to --batch-sizes"
            if option == "--batch-size"
            else "whole numbers; auto goes to --batch-size, alone"
        )
        raise ValueError(f"{option} has {text!r}; give {wanted}")
    size = int(text)
    check_batch_size(option, size)
    return size


def check_batch_size(option: str, size: int) -> None:
    """Where shapes are fixed, memory is taken for all rows, however few there are to decode."""
    check_least(option, size, 1)
    if size > MOST_BATCH_SIZE:
        raise ValueError(
            f"{option} is {size:,}; at most {MOST_BATCH_SIZE:,} rows are decoded at once"
        )
