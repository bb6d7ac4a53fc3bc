# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""The report's charts as files for slides and papers: PNG, SVG and PDF."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from results.drawing import (
    BLACK,
    COLOURS,
    GREY,
    MARKERS,
    Axes,
    Mark,
    Marks,
    label_points,
    new_figure,
    prepare,
    save_figure,
    settle,
    style,
    ticks,
)
from results.families import legend_shape
from results.report.charts import Chart, Curve, Figure, Series, axis_label, number_text


def draw_pictures(figure: Figure, charts: Sequence[Chart], path_stem: Path) -> list[Path]:
    """Some charts of a figure side by side, to `path_stem` + .png, .svg and .pdf."""
    labels = {curve.series.label for chart in charts for curve in chart.curves}
    width = 5.0 * len(charts)
    legend = legend_shape([*labels], round(13.5 * width))
    with style():
        drawing = new_figure(width, 4.2 + 0.19 * legend.lines)
        (panels,) = drawing.subplots(1, len(charts), squeeze=False)
        for axes, chart in zip(panels, charts, strict=True):
            _draw(axes, chart)
        drawing.suptitle(figure.title, fontsize=10)
        found: dict[str, Any] = {}
        for axes in panels:
            handles, names = axes.get_legend_handles_labels()
            found |= dict(zip(names, handles, strict=True))
        drawing.legend(
            [*found.values()],
            [*found],
            loc="outside lower center",
            ncols=legend.columns,
            frameon=False,
            fontsize=8.5,
        )
        settle(drawing)
        for axes, chart in zip(panels, charts, strict=True):
            if chart.with_labels:
                _label(axes, chart)
        return save_figure(drawing, path_stem)


def _draw(axes: Axes, chart: Chart) -> None:
    prepare(axes)
    for (x0, y0), (x1, y1) in chart.guides:
        axes.plot([x0, x1], [y0, y1], color=GREY, linewidth=0.8, linestyle="--", zorder=1.5)
    for curve in chart.curves:
        _draw_curve(axes, curve)
    if chart.x == "batch_size":
        sizes = sorted({dot.x for curve in chart.curves for dot in curve.dots})
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes)
    else:
        axes.xaxis.set_major_locator(ticks(6))
    axes.set_xlim(*chart.x_range)
    axes.set_ylim(*chart.y_range)
    text_x, text_y = number_text(chart.x), number_text(chart.y)
    axes.xaxis.set_major_formatter(lambda value, _: text_x(value))
    axes.yaxis.set_major_formatter(lambda value, _: text_y(value))
    axes.set_xlabel(axis_label(chart.x))
    axes.set_ylabel(axis_label(chart.y))


def _draw_curve(axes: Axes, curve: Curve) -> None:
    colour = _colour(curve.series)
    for dot in curve.dots:
        line: dict[str, Any] = {"color": colour, "linewidth": 0.9, "alpha": 0.4, "zorder": 2}
        axes.plot([dot.x, dot.x], [*dot.up], **line)
        axes.plot([*dot.across], [dot.y, dot.y], **line)
    number = curve.series.number
    axes.plot(
        [dot.x for dot in curve.dots],
        [dot.y for dot in curve.dots],
        color=colour,
        marker="o" if number is None else MARKERS[number % len(MARKERS)],
        markeredgecolor="white",
        markeredgewidth=0.7,
        linestyle="-" if len(curve.dots) > 1 else "none",
        label=curve.series.label,
        zorder=3,
    )


def _label(axes: Axes, chart: Chart) -> None:
    label_points(
        axes,
        [
            Marks(
                _colour(curve.series),
                [Mark(dot.x, dot.y, dot.label or None) for dot in curve.dots],
            )
            for curve in chart.curves
        ],
    )


def _colour(series: Series) -> str:
    return BLACK if series.number is None else COLOURS[series.number % len(COLOURS)]
