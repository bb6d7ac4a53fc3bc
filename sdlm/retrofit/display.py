"""What a person sees of a training run: one bar on a terminal, else a line now and then."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

# A line of the log, and the share of the run that is done.
Show = Callable[[dict[str, Any], float], None]


@contextmanager
def progress_display(*, visible: bool) -> Generator[Show]:
    """On standard error; of several ranks one is visible."""
    if not visible:
        yield lambda line, done: None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda line, done: print(_text(line, done), file=sys.stderr, flush=True)
        return
    columns = (BarColumn(20), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("starting", total=1.0)
        yield lambda line, done: progress.update(
            bar, completed=min(done, 1.0), description=_text(line, done)
        )


@contextmanager
def reading_display(data: Path) -> Generator[Callable[[int], None]]:
    """A bar on a terminal while a file is read; what this yields is told of bytes as they are."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"tokenising {data.name}", total=data.stat().st_size)
        yield lambda done: progress.advance(bar, done)


def _text(line: dict[str, Any], done: float) -> str:
    """What changes the most stands first: a narrow terminal cuts the end off."""
    done = min(done, 1.0)
    left = int(line["elapsed_s"] / done * (1 - done))
    loss, accuracy = (_per_slot(line[f"{what}_per_slot"]) for what in ("loss", "accuracy"))
    return (
        f"step {line['step']:,}  loss {line['loss']:.4f} ({loss})"
        f"  {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
        f"  {line['tokens_per_s']:,.0f} tokens/s  {done:.1%}  {line['tokens']:,} tokens"
        f"  accuracy {accuracy}  lr {line['lr']:.2e}"
    )


def _per_slot(values: list[float | None]) -> str:
    return "/".join("-" if value is None else f"{value:.3f}" for value in values)
