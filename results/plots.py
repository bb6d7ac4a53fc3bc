# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""The trade-off figure: what each decoder's speed costs in accuracy.

Left, accuracy over wall-clock speedup, with the intervals of both and the Pareto front; right,
accuracy over tokens per forward, which is what the speedup could be were every forward as cheap
as an autoregressive one. Decoders that differ only in their threshold τ form one curve; with
several batch sizes, one each, in one colour and with a marker for each size.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results.drawing import (
    BLACK,
    COLOURS,
    GREY,
    LIGHT,
    MARKERS,
    Axes,
    Curve,
    Figure,
    Mark,
    Marks,
    draw_curve,
    label_points,
    new_figure,
    percent,
    prepare,
    save_figure,
    settle,
    style,
    ticks,
    times,
)
from results.families import (
    Measure,
    families,
    lacking,
    legend_shape,
    points_of,
    shared_options,
    tau,
)
from results.statistics import pareto_front
from results.summary import BASELINE, SummaryRow

_FRONT = "Pareto front"


def trade_off_plot(
    rows: Sequence[SummaryRow], path_stem: Path, baseline: str = BASELINE
) -> list[Path]:
    """Draw the rows of one task, source and model to `path_stem` + .png, .svg and .pdf."""
    settings = {(row.model, row.task, row.source) for row in rows}
    if len(settings) != 1:
        raise ValueError(
            f"the rows span {len(settings)} settings, expected one task, source and model: draw "
            "one figure for each"
        )
    with style():
        return save_figure(_figure(rows, baseline), path_stem)


def _figure(rows: Sequence[SummaryRow], baseline: str) -> Figure:
    curves = _curves(rows, baseline)
    legend = legend_shape([*(curve.label for curve in curves), _FRONT])
    figure = new_figure(9.0, 4.2 + 0.19 * legend.lines)
    left, right = figure.subplots(1, 2, sharey=True)
    panels: list[tuple[Axes, Measure]] = [(left, "speedup"), (right, "tokens_per_forward")]
    for axes, measure in panels:
        _draw_curves(axes, curves, measure)
        axes.xaxis.set_major_locator(ticks(6))
    _draw_front(left, rows)
    _draw_baseline(left, right, rows, baseline)
    left.set_xlabel("wall-clock speedup")
    left.xaxis.set_major_formatter(times)
    left.set_ylabel("accuracy")
    left.yaxis.set_major_formatter(percent)
    right.set_xlabel("tokens per forward")
    _draw_title(figure, rows)
    _draw_legend(figure, left, legend.columns, rows)
    settle(figure)
    for axes, measure in panels:
        _label_thresholds(axes, curves, measure)
    return figure


def _batch_sizes(rows: Sequence[SummaryRow]) -> list[int]:
    return sorted({row.batch_size for row in rows})


def _curves(rows: Sequence[SummaryRow], baseline: str) -> list[Curve]:
    sizes = _batch_sizes(rows)
    looks = zip(itertools.cycle(COLOURS), itertools.cycle(MARKERS), strict=False)
    curves: list[Curve] = []
    scored = [row for row in rows if row.accuracy is not None]
    for label, members in families(scored, shared_options(rows)):
        is_baseline = members[0].decoder == baseline
        colour, marker = (BLACK, "o") if is_baseline else next(looks)
        if is_baseline:
            label = f"{label} (baseline)"
        if len(sizes) == 1:
            curves.append(Curve(label, colour, marker, members))
            continue
        for size, own_marker in zip(sizes, itertools.cycle(MARKERS), strict=False):
            of_size = [row for row in members if row.batch_size == size]
            if of_size:
                curves.append(Curve(f"{label}, batch size {size}", colour, own_marker, of_size))
    return curves


def _draw_curves(axes: Axes, curves: Sequence[Curve], measure: Measure) -> None:
    prepare(axes)
    for curve in curves:
        draw_curve(axes, curve, measure)


def _draw_front(axes: Axes, rows: Sequence[SummaryRow]) -> None:
    """One front for each batch size: speedups at different sizes have different baselines."""
    label: str | None = _FRONT
    for size in _batch_sizes(rows):
        of_size = [row for row in rows if row.batch_size == size]
        places = [(point.x, point.accuracy) for point in points_of(of_size, "speedup")]
        front = [places[index] for index in pareto_front(places)]
        xs, ys = [x for x, _ in front], [y for _, y in front]
        axes.plot(xs, ys, color=LIGHT, linewidth=6, zorder=1, label=label)
        label = None


def _draw_baseline(left: Axes, right: Axes, rows: Sequence[SummaryRow], baseline: str) -> None:
    dashed: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": "--", "zorder": 1.5}
    for row in rows:
        if row.decoder == baseline and row.accuracy is not None:
            left.axhline(row.accuracy, **dashed)
            right.axhline(row.accuracy, **dashed)
    left.axvline(1.0, **dashed)
    left.annotate(
        f"{baseline} = 1×",
        (1.0, 0.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, 4),
        textcoords="offset points",
        fontsize=8,
        color=GREY,
    )


def _draw_title(figure: Figure, rows: Sequence[SummaryRow]) -> None:
    first = rows[0]
    counts = sorted({row.items for row in rows})
    items = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    sizes = _batch_sizes(rows)
    batches = f"batch size{'s' if len(sizes) > 1 else ''} {', '.join(map(str, sizes))}"
    facts = [f"{items} {first.source} items", batches]
    facts += [f"{name} {value}" for name, value in shared_options(rows).items()]
    figure.suptitle(f"{first.model} on {first.task}\n{', '.join(facts)}", fontsize=10)


def _draw_legend(figure: Figure, axes: Axes, columns: int, rows: Sequence[SummaryRow]) -> None:
    several = len(_batch_sizes(rows)) > 1
    notes = [
        "bars: 95 % intervals; numbers: threshold τ; dashed: baseline",
        *lacking(
            rows,
            lambda row: row.decoder + (f", batch size {row.batch_size}" if several else ""),
        ),
    ]
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=8.5,
        title="\n".join(notes),
        title_fontsize=8,
    )


def _label_thresholds(axes: Axes, curves: Sequence[Curve], measure: Measure) -> None:
    """Write τ beside each point of a curve."""
    label_points(
        axes,
        [
            Marks(
                curve.colour,
                [
                    Mark(point.x, point.accuracy, tau(point.row))
                    for point in points_of(curve.rows, measure)
                ],
            )
            for curve in curves
        ],
    )
