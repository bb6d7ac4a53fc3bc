"""One table as Markdown, CSV and LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results.atomic import write_atomic

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
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
        lines = [self.header, ["---"] * len(self.header), *self._rows()]
        table = "".join(
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
            for cells in lines
        )
        return "\n".join([table, *(f"- {note}" for note in self.notes)]) + "\n"

    def csv(self) -> str:
        """Full precision; an undefined number is an empty cell."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([self.csv_header, *self.csv_rows])
        return file.getvalue()

    def latex(self) -> str:
        """For the package booktabs; the notes are comments."""
        comments = "".join(f"% {note}\n" for note in self.notes)
        groups = ["".join(_latex_line(cells) for cells in group) for group in self.groups if group]
        return (
            f"{comments}\\begin{{tabular}}{{{'l' * len(self.header)}}}\n\\toprule\n"
            f"{_latex_line(self.header)}\\midrule\n" + "\\midrule\n".join(groups)
        ) + "\\bottomrule\n\\end{tabular}\n"

    def _rows(self) -> list[Sequence[str]]:
        return [cells for group in self.groups for cells in group]


def write_table(table: TextTable, path_stem: Path) -> list[Path]:
    """`path_stem` + .md, .csv and .tex."""
    texts = {"md": table.markdown(), "csv": table.csv(), "tex": table.latex()}
    paths = [path_stem.with_name(f"{path_stem.name}.{kind}") for kind in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_atomic(path, text)
    return paths


def _latex_line(cells: Sequence[str]) -> str:
    escaped = ["".join(_LATEX.get(sign, sign) for sign in cell) for cell in cells]
    return " & ".join(escaped) + " \\\\\n"
