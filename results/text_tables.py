"""One table as Markdown, CSV and LaTeX."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from results.atomic import write_atomic
from results.number_text import UNDEFINED

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the usual encoding of fonts these print as other signs.
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "τ": r"$\tau$",
    "–": "--",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """`groups` of rows, set apart by a rule; CSV has columns of its own, for machines."""

    header: Sequence[str]
    groups: Sequence[Sequence[Sequence[str]]]
    csv_header: Sequence[str]
    csv_rows: Sequence[Sequence[str | int | float | None]]
    notes: Sequence[str]

    def markdown(self) -> str:
        rows = [cells for group in self.groups for cells in group]
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([markdown_table(self.header, rows), *([""] if notes else []), *notes, ""])

    def csv(self) -> str:
        return csv_text([self.csv_header, *self.csv_rows])

    def latex(self) -> str:
        return latex_table(self.header, self.groups, self.notes)


def csv_text(rows: Iterable[Iterable[str | int | float | None]]) -> str:
    """Full precision; an undefined number is an empty cell."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(map(markdown_line, [header, ["---"] * len(header), *rows]))


def markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |"


def one_line(text: str) -> str:
    """Names may hold line breaks, which would end a row of a table or a comment."""
    return " ".join(text.splitlines())


def latex_table(
    header: Sequence[str], groups: Sequence[Sequence[Sequence[str]]], notes: Sequence[str]
) -> str:
    """For the package booktabs; the notes are comments."""
    comments = "".join(f"% {line}\n" for note in notes for line in note.splitlines())
    bodies = ["".join(_latex_line(cells) for cells in group) for group in groups if group]
    return (
        f"{comments}\\begin{{tabular}}{{{'l' * len(header)}}}\n\\toprule\n"
        f"{_latex_line(header)}\\midrule\n" + "\\midrule\n".join(bodies)
    ) + "\\bottomrule\n\\end{tabular}\n"


def write_table(table: TextTable, path_stem: Path) -> list[Path]:
    """`path_stem` + .md, .csv and .tex."""
    texts = {"md": table.markdown(), "csv": table.csv(), "tex": table.latex()}
    paths = [path_stem.with_name(f"{path_stem.name}.{kind}") for kind in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_atomic(path, text)
    return paths


def write_rows(stem: Path, rows: Sequence["DataclassInstance"]) -> list[Path]:
    """Dataclasses of one type, a row each, a column for each field; nothing where there are no
    rows, and nothing of an earlier table."""
    if not rows:
        for kind in ("md", "csv", "tex"):
            stem.with_name(f"{stem.name}.{kind}").unlink(missing_ok=True)
        return []
    columns = [field.name for field in fields(rows[0])]
    values = [[*asdict(row).values()] for row in rows]
    table = TextTable(
        header=columns,
        groups=[[[_cell(value) for value in each] for each in values]],
        csv_header=columns,
        csv_rows=values,
        notes=[],
    )
    return write_table(table, stem)


def _cell(value: object) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _latex_line(cells: Sequence[str]) -> str:
    escaped = ["".join(_LATEX.get(sign, sign) for sign in one_line(cell)) for cell in cells]
    return " & ".join(escaped) + " \\\\\n"
