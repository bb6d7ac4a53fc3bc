"""What several trainings make of one model: accuracy and tokens per forward, over all their tasks.

    python -m tests.benchmarks.trainings "100000=runs/curve/0.1" "300000=runs/curve/0.3" \
        --axis "retrofit slots" --stem docs/nano/retrofit-curve

Each argument names a training and the run folder of its evaluation; all must have the same tasks
and items. A table has a line for each training and decoder; where the names are numbers, a plot
shows both measures over them. Accuracy is the mean of the tasks' accuracies, with an interval from
their Wilson intervals: tasks are independent, so its distance from the mean to a side is the root
of the sum of theirs squared, over the number of tasks (MOVER: Zou and Donner 2008, Statistics in
Medicine 27: 1693-1702).
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from results.atomic import write_atomic


class Evaluated(NamedTuple):
    """The name of a training, and where its evaluation lies."""

    name: str
    run: Path


def table(trainings: Sequence[Evaluated]) -> pd.DataFrame:
    """A row for each training and decoder: the mean over tasks, and each task's accuracy."""
    rows: list[dict[str, object]] = []
    compared: set[tuple[tuple[str, str, int], ...]] = set()
    for training in trainings:
        summary = pd.DataFrame(json.loads((training.run / "summary.json").read_text())["rows"])
        for decoder, group in summary.groupby("decoder", sort=False):
            compared.add(tuple(zip(group.task, group.source, group["items"], strict=True)))
            mean = group.accuracy.mean()
            below, above = (
                ((group.accuracy - bound) ** 2).sum() ** 0.5 / len(group)
                for bound in (group.accuracy_lo, group.accuracy_hi)
            )
            rows.append(
                {
                    "training": training.name,
                    "decoder": decoder,
                    "accuracy": mean,
                    "accuracy_lo": mean - below,
                    "accuracy_hi": mean + above,
                    "tokens_per_forward": group.tokens_per_forward.mean(),
                }
                | dict(zip(group.task, group.accuracy, strict=True))
            )
    if len(compared) != 1:
        raise ValueError("the runs differ in tasks or items; evaluate all of them alike")
    return pd.DataFrame(rows)


def markdown(found: pd.DataFrame) -> str:
    """The table with percentages, for documents."""
    tasks = list(found.columns[6:])
    lines = [
        "| " + " | ".join(["training", "decoder", "accuracy, % (95 %)", "tokens/forward", *tasks]),
        "|---" * 2 + "|---:" * (2 + len(tasks)),
    ]
    for row in found.to_dict("records"):
        accuracy = "{accuracy:.1%} ({accuracy_lo:.1%}–{accuracy_hi:.1%})".format(**row)
        cells = [row["training"], f"`{row['decoder']}`", accuracy.replace("%", "")]
        cells += [f"{row['tokens_per_forward']:.2f}", *(f"{100 * row[t]:.1f}" for t in tasks)]
        lines.append("| " + " | ".join(map(str, cells)))
    return "".join(line + " |\n" for line in lines)


def plot(found: pd.DataFrame, axis: str, stem: Path) -> None:
    """Accuracy and tokens per forward over the trainings' numbers, a curve for each decoder."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for decoder, group in found.groupby("decoder", sort=False):
        x = group.training.astype(float)
        below, above = group.accuracy - group.accuracy_lo, group.accuracy_hi - group.accuracy
        error = [100 * below, 100 * above]
        left.errorbar(x, 100 * group.accuracy, yerr=error, marker="o", capsize=2, label=decoder)
        right.plot(x, group.tokens_per_forward, marker="o")
    left.set_ylabel("accuracy, %, mean over tasks")
    right.set_ylabel("tokens per forward, mean over tasks")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel(axis)
        axes.grid(alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    for suffix in (".svg", ".png"):
        figure.savefig(f"{stem}{suffix}", dpi=150)


def main() -> None:
    """Write STEM.md, STEM.csv and, where names are numbers, the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trainings", nargs="+", help="NAME=RUN FOLDER")
    parser.add_argument(
        "--stem", type=Path, required=True, help="where to write, without an ending"
    )
    parser.add_argument("--axis", help="what the names count; draws the plot")
    args = parser.parse_args()
    pairs = [text.partition("=") for text in args.trainings]
    if unnamed := [name for name, equals, _ in pairs if not equals]:
        parser.error(f"got {unnamed[0]!r}; a training is given as NAME=RUN FOLDER")
    found = table([Evaluated(name, Path(run)) for name, _, run in pairs])
    write_atomic(Path(f"{args.stem}.md"), markdown(found))
    write_atomic(Path(f"{args.stem}.csv"), found.to_csv(index=False, float_format="%.6g"))
    if args.axis is not None:
        plot(found, args.axis, args.stem)
    print(markdown(found), end="")


if __name__ == "__main__":
    main()
