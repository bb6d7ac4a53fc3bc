"""A training log as a figure: loss and accuracy of each slot over the tokens trained on.

Apart from `results.plots`, which training may not import; it looks the same. No pyplot, so no
global state; the same log gives the same SVG under one version of matplotlib.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sdlm.whole_file import whole_file

# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", ":", "-.")
LEGEND_ROWS = 12
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sdlm-bench",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def loss_plot(log: Sequence[dict[str, Any]], title: str, path_stem: Path) -> list[Path]:
    """Draw the lines of a `log.jsonl` to `path_stem` + .png and .svg."""
    with matplotlib.rc_context(STYLE):
        columns = math.ceil(len(log[0]["loss_per_slot"]) / LEGEND_ROWS)
        figure = Figure(figsize=(9.0 + columns, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        tokens = [line["tokens"] / 1e6 for line in log]
        panels = zip(figure.subplots(1, 2), ("loss", "accuracy"), strict=True)
        for axes, measure in panels:
            slots = list(zip(*(line[f"{measure}_per_slot"] for line in log), strict=True))
            for slot, values in enumerate(slots):
                axes.plot(
                    tokens,
                    [math.nan if value is None else value for value in values],
                    color=COLOURS[slot % len(COLOURS)],
                    linestyle=DASHES[slot // len(COLOURS) % len(DASHES)],
                    linewidth=0.9,
                    label=f"slot {slot}",
                )
            axes.set_xlabel("training tokens (millions)")
            axes.set_ylabel(measure)
            axes.grid(color="#ececec", linewidth=0.6)
        handles = figure.axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside right center", frameon=False, ncols=columns)
        figure.suptitle(title)
        return _save(figure, path_stem)


def _save(figure: Figure, path_stem: Path) -> list[Path]:
    path_stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [path_stem.with_name(f"{path_stem.name}.{kind}") for kind in ("png", "svg")]
    with whole_file(paths[0]) as draft:
        figure.savefig(draft, format="png", dpi=200, metadata={"Software": None})
    with whole_file(paths[1]) as draft:
        figure.savefig(draft, format="svg", metadata={"Date": None})
    return paths
