"""What a person sees in the terminal: a progress bar with the time left, and the table."""

import sys
from collections.abc import Callable, Generator, Sequence
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
from results.tables import HEADER, cells

# What a decoder's answers are worth; the other columns say what they cost.
ANSWERS = ("items", "accuracy, % (95 %)", "capped", "guessed", "no answer", "failed")

MOST_SHOWN = 400

# Each takes 3 ms of Python from a decoding loop that has to wait for it.
REFRESHES_PER_S = 2
# Of a bar, two counts of up to five digits, two times, and the spaces between.
NUMBERS_WIDTH = 20 + 11 + 8 + 8 + 5


@contextmanager
def progress_bar(title: str, *, total: int, done: int) -> Generator[Callable[[str], None]]:
    """A bar on standard error; call what it yields once a step, with what was done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        # The name of a decoder or a model, in which brackets are no markup.
        TextColumn("{task.fields[what]}", style="dim", markup=False),
    )
    console = Console(stderr=True)
    # What the numbers leave, which would be cut off in its place.
    room = max(console.width - len(title) - NUMBERS_WIDTH, 8)
    with Progress(
        *columns,
        console=console,
        refresh_per_second=REFRESHES_PER_S,
        # To a terminal, results go above the bar; to a file, not where the bar goes.
        redirect_stdout=sys.stdout.isatty(),
    ) as progress:
        bar = progress.add_task(title, total=total, completed=done, what="")

        def advance(what: str) -> None:
            shown = what if len(what) <= room else f"{what[: room - 1]}…"
            progress.update(bar, advance=1, what=shown)

        yield advance


def as_a_line(text: str) -> str:
    """The beginning of a text that may be anything, without what would steer a terminal."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text[:MOST_SHOWN])
    return " ".join(shown.split()) + ("…" if len(text) > MOST_SHOWN else "")


def print_summary(rows: Sequence[SummaryRow], console: Console) -> None:
    """A table for each task; in a terminal too narrow for it, its two halves, one after the other.

    What all decoders have in common stands once, in the title; so does the source of the items,
    for which the halves have no room.
    """
    groups = dict.fromkeys((row.task, row.source, row.model, row.batch_size) for row in rows)
    for group in groups:
        task, source, model, batch_size = group
        members = [
            row for row in rows if (row.task, row.source, row.model, row.batch_size) == group
        ]
        common = "".join(f", {name} {value}" for name, value in shared_options(members).items())
        title = f"{task}: {source} items, model {model}, batch size {batch_size}{common}"
        costs = [name for name in HEADER[1:] if name not in (*ANSWERS, "source")]
        parts = [_table(title, members, names) for names in (ANSWERS, costs)]
        print_fitting(console, _table(title, members, HEADER[1:]), parts)


def print_fitting(console: Console, whole: Table, parts: Sequence[Table]) -> None:
    """A table, or its parts where a terminal has no room for the whole."""
    width = console.measure(whole, options=console.options.update(max_width=1000)).maximum
    if not console.is_terminal:
        # A file has no width, and its reader must not lose digits to one.
        console.width = max(console.width, width)
    for table in [whole] if width <= console.width else parts:
        console.print(table)


def _table(title: str, rows: Sequence[SummaryRow], names: Sequence[str]) -> Table:
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    # As wide as the longest name; parameters take a second line where there is no room.
    table.add_column(HEADER[0], min_width=17, overflow="fold")
    for name in names:
        # Numbers stay whole; a heading may take two lines.
        heading = name.replace(" (", "\n(").replace("/", "/\n").replace("no a", "no\na")
        table.add_column(heading, justify="right", no_wrap=True)
    shared = shared_options(rows)
    for row in rows:
        spec = str(parse_spec(row.decoder).without(*shared))
        cell_of = dict(zip(HEADER, cells(row), strict=True))
        table.add_row(escape(spec), *(cell_of[name] for name in names))
    return table
