# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""The trade-off figure: what each decoder's speed costs in accuracy.

Left, accuracy over wall-clock speedup, with the intervals of both and the Pareto front; right,
accuracy over tokens per forward, which is what the speedup could be were every forward as cheap
as an autoregressive one. Decoders that differ only in their threshold τ form one curve; with
several batch sizes, one each, in one colour and with a marker for each size.
No pyplot, so no global state; the same rows give the same SVG under one version of matplotlib.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from results.families import (
    Measure,
    Point,
    families,
    legend_shape,
    points_of,
    shared_options,
    tau,
)
from results.label_places import Box, best_place, curve_obstacles
from results.statistics import pareto_front
from results.summary import SummaryRow

# Okabe and Ito's palette, which colour-blind readers can tell apart. Black is the baseline's.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_BLACK, _GREY, _LIGHT = "#000000", "#8c8c8c", "#d9d9d9"
_FRONT = "Pareto front"
_MARKERS = "sD^vPX<"  # one more than colours, so that 42 families look different
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sdlm-bench",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# Where a label may sit relative to its point, in points, best first.
_OFFSETS = ((0, 9), (11, 7), (-11, 7), (11, -7), (-11, -7), (0, -9), (17, 0), (-17, 0))


class _Curve(NamedTuple):
    """A family and how it looks."""

    label: str
    colour: str
    marker: str
    rows: list[SummaryRow]


def trade_off_plot(
    rows: Sequence[SummaryRow], path_stem: Path, baseline: str = "ar"
) -> list[Path]:
    """Draw the rows of one task, source and model to `path_stem` + .png and .svg."""
    settings = {(row.model, row.task, row.source) for row in rows}
    if len(settings) != 1:
        raise ValueError(
            f"the rows span {len(settings)} settings, expected one task, source and model: draw "
            "one figure for each"
        )
    with matplotlib.rc_context(_STYLE):
        return _save(_figure(rows, baseline), path_stem)


def _save(figure: Figure, path_stem: Path) -> list[Path]:
    """Write `path_stem` + .png and .svg, the same bytes for the same figure."""
    path_stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [path_stem.with_name(f"{path_stem.name}.{kind}") for kind in ("png", "svg")]
    figure.savefig(paths[0], dpi=200, metadata={"Software": None})
    figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _figure(rows: Sequence[SummaryRow], baseline: str) -> Figure:
    curves = _curves(rows, baseline)
    legend = legend_shape([*(curve.label for curve in curves), _FRONT])
    figure = Figure(figsize=(9.0, 4.2 + 0.19 * legend.lines), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    panels: list[tuple[Axes, Measure]] = [(left, "speedup"), (right, "tokens_per_forward")]
    for axes, measure in panels:
        _draw_curves(axes, curves, measure)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    _draw_front(left, rows)
    _draw_baseline(left, right, rows, baseline)
    left.set_xlabel("wall-clock speedup")
    left.xaxis.set_major_formatter(_times)
    left.set_ylabel("accuracy")
    left.yaxis.set_major_formatter(_percent)
    right.set_xlabel("tokens per forward")
    _draw_title(figure, rows)
    several = len(_batch_sizes(rows)) > 1
    hidden = [
        f"{row.decoder}, batch size {row.batch_size}" if several else row.decoder
        for row in rows
        if not points_of([row], "speedup")
    ]
    _draw_legend(figure, left, legend.columns, hidden)
    # Labels are placed by their size on the page, so everything else has to stand by now.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes, measure in panels:
        _label_thresholds(axes, curves, measure)
    return figure


def _times(value: float, _: object) -> str:
    return f"{value:g}×"


def _percent(value: float, _: object) -> str:
    return f"{100 * value:g} %"


def _batch_sizes(rows: Sequence[SummaryRow]) -> list[int]:
    return sorted({row.batch_size for row in rows})


def _curves(rows: Sequence[SummaryRow], baseline: str) -> list[_Curve]:
    sizes = _batch_sizes(rows)
    looks = zip(itertools.cycle(_COLOURS), itertools.cycle(_MARKERS), strict=False)
    curves: list[_Curve] = []
    for label, members in families([row for row in rows if row.accuracy is not None]):
        is_baseline = members[0].decoder == baseline
        colour, marker = (_BLACK, "o") if is_baseline else next(looks)
        if is_baseline:
            label = f"{label} (baseline)"
        if len(sizes) == 1:
            curves.append(_Curve(label, colour, marker, members))
            continue
        for size, own_marker in zip(sizes, itertools.cycle(_MARKERS), strict=False):
            of_size = [row for row in members if row.batch_size == size]
            if of_size:
                curves.append(_Curve(f"{label}, batch size {size}", colour, own_marker, of_size))
    return curves


def _draw_curves(axes: Axes, curves: Sequence[_Curve], measure: Measure) -> None:
    axes.grid(color="#ececec", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.07, y=0.06)
    for curve in curves:
        points = points_of(curve.rows, measure)
        for point in points:
            _draw_intervals(axes, point, curve.colour, measure == "speedup")
        axes.plot(
            [point.x for point in points],
            [point.accuracy for point in points],
            color=curve.colour,
            marker=curve.marker,
            markersize=6.5,
            markeredgecolor="white",
            markeredgewidth=0.7,
            linewidth=1.3,
            linestyle="-" if len(curve.rows) > 1 else "none",
            label=curve.label,
            zorder=3,
        )


def _draw_intervals(axes: Axes, point: Point, colour: str, is_speedup: bool) -> None:
    row = point.row
    line: dict[str, Any] = {"color": colour, "linewidth": 0.9, "alpha": 0.4, "zorder": 2}
    if row.accuracy_lo is not None and row.accuracy_hi is not None:
        axes.plot([point.x] * 2, [row.accuracy_lo, row.accuracy_hi], **line)
    if is_speedup and row.speedup_lo is not None and row.speedup_hi is not None:
        axes.plot([row.speedup_lo, row.speedup_hi], [point.accuracy] * 2, **line)


def _draw_front(axes: Axes, rows: Sequence[SummaryRow]) -> None:
    """One front for each batch size: speedups at different sizes have different baselines."""
    label: str | None = _FRONT
    for size in _batch_sizes(rows):
        of_size = [row for row in rows if row.batch_size == size]
        places = [(point.x, point.accuracy) for point in points_of(of_size, "speedup")]
        front = [places[index] for index in pareto_front(places)]
        xs, ys = [x for x, _ in front], [y for _, y in front]
        axes.plot(xs, ys, color=_LIGHT, linewidth=6, zorder=1, label=label)
        label = None


def _draw_baseline(left: Axes, right: Axes, rows: Sequence[SummaryRow], baseline: str) -> None:
    dashed: dict[str, Any] = {"color": _GREY, "linewidth": 0.8, "linestyle": "--", "zorder": 1.5}
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
        color=_GREY,
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


def _draw_legend(figure: Figure, axes: Axes, columns: int, hidden: Sequence[str]) -> None:
    notes = ["bars: 95 % intervals; numbers: threshold τ; dashed: baseline"]
    if hidden:
        notes.append("without a speedup: " + ", ".join(hidden))
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


def _label_thresholds(axes: Axes, curves: Sequence[_Curve], measure: Measure) -> None:
    """Write τ beside each point of a curve."""
    drawn = [(curve, points_of(curve.rows, measure)) for curve in curves]
    obstacles = [
        obstacle
        for _, points in drawn
        for obstacle in curve_obstacles(
            [tuple(axes.transData.transform((point.x, point.accuracy))) for point in points]
        )
    ]
    page = Box(*axes.bbox.extents)
    taken: list[Box] = []
    for curve, points in drawn:
        for point in points:
            if (text := tau(point.row)) is None:
                continue
            trials = [_annotate(axes, point, text, curve.colour, at) for at in _OFFSETS]
            boxes = [Box(*trial.get_window_extent().extents) for trial in trials]
            best = best_place(boxes, page, obstacles, taken)
            taken.append(boxes[best])
            for trial in [*trials[:best], *trials[best + 1 :]]:
                trial.remove()


def _annotate(
    axes: Axes, point: Point, text: str, colour: str, offset: tuple[float, float]
) -> Annotation:
    return axes.annotate(
        text,
        (point.x, point.accuracy),
        xytext=offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=7.5,
        color=colour,
        path_effects=[withStroke(linewidth=1.8, foreground="white")],
        zorder=4,
    )
