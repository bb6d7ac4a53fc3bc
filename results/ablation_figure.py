# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""The paper's Figure 4 from runs: what each design choice is worth, as bars for each task.

Accuracy with its interval, and tokens per forward. Right of a task's bars, hollow markers are what
the paper printed; which of its bars most numbers belong to is not known, and the legend says so.
"""

from collections.abc import Sequence
from typing import Any

from results.drawing import (
    BLACK,
    COLOURS,
    INCHES,
    Axes,
    Figure,
    Width,
    new_figure,
    percent,
    settle,
)
from results.families import legend_shape, parse_spec
from results.figure_rows import Ablation
from results.published import published_points
from results.summary import SummaryRow

_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "---")
_VARIANTS = {
    "baseline": ("o", "baseline"),
    "no shift": ("v", "no shift (likely)"),
    "causal": ("^", "causal (likely)"),
    "unassigned": ("D", "which bar is not known"),
}
_PUBLISHED = "#4d4d4d"
_HOLLOW: dict[str, Any] = {
    "linestyle": "none",
    "markerfacecolor": "none",
    "markeredgecolor": _PUBLISHED,
    "markeredgewidth": 0.8,
    "zorder": 4,
}


def ablation_figure(ablations: Sequence[Ablation], width: Width) -> Figure:
    """Bars for each task of any ablation; where one did not run a task its bar is missing."""
    groups = list(dict.fromkeys((row.task, row.source) for each in ablations for row in each.rows))
    stacked = width == "one-column"
    found = {task for task, _ in groups}
    published = [point for point in published_points() if point.variant and point.task in found]
    labels = [each.name for each in ablations]
    labels += [_label(variant) for variant in _VARIANTS if published]
    shape = legend_shape(labels, 58 if stacked else 122)
    notes = [*_decoders(ablations), "lines: 95 % intervals"]
    if published:
        notes.append("hollow: published, official items, not measured here")
    height = (3.2 if stacked else 1.9) + 0.14 * shape.lines + 0.4 + 0.1 * len(notes)
    figure = new_figure(INCHES[width], height)
    panels: list[Axes] = [*figure.subplots(*((2, 1) if stacked else (1, 2)))]
    slots = len(ablations) + (1 if published else 0)
    for axes, is_accuracy in zip(panels, (True, False), strict=True):
        for place, ablation in enumerate(ablations):
            _draw_bars(axes, ablation, groups, place, slots, is_accuracy)
        axes.set_xticks(range(len(groups)), [f"{task}\n({source})" for task, source in groups])
        axes.set_xlim(-0.5, len(groups) - 0.5)
        if len(groups) > 3:
            axes.tick_params(axis="x", labelrotation=35)
        axes.tick_params(axis="x", length=0)
        axes.grid(axis="y", color="#ececec", linewidth=0.6)
        axes.set_axisbelow(True)
    for variant, (marker, _) in _VARIANTS.items():
        places = [
            (group + _offset(len(ablations), slots) + _aside(variant), point.accuracy)
            for group, (task, _) in enumerate(groups)
            for point in published
            if (point.task, point.variant) == (task, variant)
        ]
        if places:
            xs, ys = [x for x, _ in places], [y for _, y in places]
            panels[0].plot(xs, ys, label=_label(variant), marker=marker, **_HOLLOW)
    panels[0].set_ylabel("accuracy")
    panels[0].yaxis.set_major_formatter(percent)
    panels[1].set_ylabel("tokens per forward")
    _draw_legend(figure, panels[0], shape.columns, "\n".join(notes))
    settle(figure)
    return figure


def _decoders(ablations: Sequence[Ablation]) -> list[str]:
    """The decoder of all bars, or a line for each that has bars, with the names of its runs."""
    names: dict[str, list[str]] = {}
    for ablation in ablations:
        for spec in dict.fromkeys(row.decoder for row in ablation.rows):
            names.setdefault(str(parse_spec(spec)), []).append(ablation.name)
    if len(names) == 1:
        return [*names]
    return [f"{', '.join(runs)}: {spec}" for spec, runs in names.items()]


def _label(variant: str) -> str:
    return f"published, SDLM-3B, {_VARIANTS[variant][1]}"


def _aside(variant: str) -> float:
    """The baseline beside the others: it is often within a point of them."""
    return -0.06 if variant == "baseline" else 0.06


def _offset(place: int, slots: int) -> float:
    return (place - (slots - 1) / 2) * 0.84 / slots


def _draw_bars(
    axes: Axes,
    ablation: Ablation,
    groups: Sequence[tuple[str, str]],
    place: int,
    slots: int,
    is_accuracy: bool,
) -> None:
    xs: list[float] = []
    rows: list[SummaryRow] = []
    for group, key in enumerate(groups):
        for row in ablation.rows:
            value = row.accuracy if is_accuracy else row.tokens_per_forward
            if (row.task, row.source) == key and value is not None:
                xs.append(group + _offset(place, slots))
                rows.append(row)
    heights = [(row.accuracy if is_accuracy else row.tokens_per_forward) or 0.0 for row in rows]
    axes.bar(
        xs,
        heights,
        width=0.84 / slots * 0.92,
        color=COLOURS[place % len(COLOURS)],
        hatch=_HATCHES[place % len(_HATCHES)],
        edgecolor="white",
        linewidth=0,
        label=ablation.name,
    )
    for x, row in zip(xs, rows, strict=True):
        if is_accuracy and row.accuracy_lo is not None and row.accuracy_hi is not None:
            axes.plot([x, x], [row.accuracy_lo, row.accuracy_hi], color=BLACK, linewidth=0.8)


def _draw_legend(figure: Figure, axes: Axes, columns: int, notes: str) -> None:
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda index: labels[index].startswith("published"))
    figure.legend(
        [handles[index] for index in order],
        [labels[index] for index in order],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        title=notes,
        title_fontsize=6.5,
    )
