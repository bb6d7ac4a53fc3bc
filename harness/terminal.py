"""What a person sees in the terminal: a progress bar with the time left, and the table."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from results import SummaryRow
from results.families import parse_spec, shared_options

Cell = Callable[[SummaryRow], str]


@contextmanager
def progress_bar(title: str, *, total: int, done: int) -> Generator[Callable[[str], None]]:
    """A bar on standard error; call what it yields once a step, with what was done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", style="dim"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(title, total=total, completed=done, what="")

        def advance(what: str) -> None:
            progress.update(bar, advance=1, what=what)

        yield advance


def print_summary(rows: Sequence[SummaryRow], console: Console) -> None:
    """Every number with its interval, for each task: one table, or two where one is too wide."""
    groups = dict.fromkeys((row.task, row.source, row.model, row.batch_size) for row in rows)
    for group in groups:
        task, source, model, batch_size = group
        members = [
            row for row in rows if (row.task, row.source, row.model, row.batch_size) == group
        ]
        shared = shared_options(members)
        facts = [f"batch {batch_size}", *(f"{name} {value}" for name, value in shared.items())]
        title = f"{task} ({source} items), model {model}, {', '.join(facts)}"
        table = _table(title, members, {**ANSWERS, **SPEED})
        width = console.measure(table, options=console.options.update(max_width=1000)).maximum
        if not console.is_terminal:
            # A log has no width to keep to, and its reader must not lose digits to one.
            console.width = max(console.width, width)
        if width <= console.width:
            console.print(table)
            continue
        for columns in (ANSWERS, SPEED):
            console.print(_table(title, members, columns))


def _table(title: str, rows: Sequence[SummaryRow], columns: Mapping[str, Cell]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    # The longest name; parameters move to a second line where there is no room.
    table.add_column("decoder", min_width=17, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    shared = shared_options(rows)
    for row in rows:
        name, options = parse_spec(row.decoder).without(*shared)
        inner = ",".join(f"{key}={value}" for key, value in options)
        spec = f"{name} ({inner})" if inner else name
        table.add_row(escape(spec), *(escape(cell(row)) for cell in columns.values()))
    return table


def _accuracy(row: SummaryRow) -> str:
    return _percent(row.accuracy) + _interval(row.accuracy_lo, row.accuracy_hi, 100, 1)


def _speedup(row: SummaryRow) -> str:
    return _number(row.speedup, 2) + _interval(row.speedup_lo, row.speedup_hi, 1, 2)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _interval(low: float | None, high: float | None, factor: float, digits: int) -> str:
    if low is None or high is None:
        return ""
    return f" [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"


ANSWERS: dict[str, Cell] = {
    "items": lambda row: str(row.items),
    "source": lambda row: row.source,
    "accuracy %": _accuracy,
    "capped\n%": lambda row: _percent(row.cap_share),
    "no an-\nswer %": lambda row: _percent(row.no_answer_share),
    "failed": lambda row: str(row.failed),
}
SPEED: dict[str, Cell] = {
    "tokens/s": lambda row: _number(row.tokens_per_s, 0),
    "speedup": _speedup,
    "tokens/\nforward": lambda row: _number(row.tokens_per_forward, 2),
    "slots/\ntoken": lambda row: _number(row.query_slots_per_token, 2),
    "same\nids %": lambda row: _percent(row.agreement),
}
