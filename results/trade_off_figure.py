# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""The paper's Figure 3 from runs: what a looser threshold τ gains and costs, for each block size.

For each D, accuracy over tokens per forward and over wall-clock speedup. Filled and coloured:
measured. Hollow and grey: published; the paper counts speed in tokens per forward alone, so its
points are on that panel only.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from results.drawing import (
    BLACK,
    COLOURS,
    GREY,
    INCHES,
    Axes,
    Curve,
    Figure,
    Mark,
    Marks,
    Width,
    draw_curve,
    label_points,
    new_figure,
    percent,
    prepare,
    settle,
    ticks,
    times,
)
from results.families import (
    Measure,
    block,
    families,
    legend_shape,
    parse_spec,
    points_of,
    shared_options,
    tau,
)
from results.published import PublishedPoint, counterpart, published_points
from results.summary import BASELINE, SummaryRow

_MARKERS = {
    "ar": "o",
    "block-ar": "X",
    "greedy-confidence": "s",
    "entropy": "^",
    "self-speculative": "D",
}
_OTHER_MARKERS = "vP<>p"
_PUBLISHED, _READ_OFF = "#4d4d4d", "#8c8c8c"
_MEASURES: tuple[Measure, ...] = ("tokens_per_forward", "speedup")
_X_LABELS: dict[Measure, str] = {
    "tokens_per_forward": "tokens per forward",
    "speedup": "wall-clock speedup",
}


class Series(NamedTuple):
    """Published points of one decoder."""

    label: str
    colour: str
    marker: str
    points: list[Mark]


class _Panel(NamedTuple):
    axes: Axes
    measure: Measure
    curves: list[Curve]
    series: list[Series]


def trade_off_figure(rows: Sequence[SummaryRow], width: Width) -> Figure:
    """Of one task, source and batch size, with a decoder that has a block size at least."""
    blocks = sorted({size for row in rows if (size := block(row)) is not None})
    curves = _curves(rows)
    series = [
        published_series(rows[0].task, size, [row for row in rows if block(row) == size])
        for size in blocks
    ]
    labels = [*(curve.label for curve in curves), *(each.label for of in series for each in of)]
    shape = legend_shape(list(dict.fromkeys(labels)), 58 if width == "one-column" else 122)
    stacked = width == "one-column"
    height = (4.3 if stacked else 2.4) * len(blocks) + 0.14 * shape.lines + 0.6
    figure = new_figure(INCHES[width], height)
    grid = figure.subplots(
        *((2 * len(blocks), 1) if stacked else (len(blocks), 2)), sharey=True, squeeze=False
    )
    places = zip([axes for line in grid for axes in line], _cases(blocks), strict=True)
    panels = [
        _Panel(
            axes,
            measure,
            [curve for curve in curves if _belongs(curve, size, rows)],
            series[blocks.index(size)] if measure == "tokens_per_forward" else [],
        )
        for axes, (size, measure) in places
    ]
    for panel, (size, _) in zip(panels, _cases(blocks), strict=True):
        _draw(panel, size)
    _draw_title(figure, rows)
    _draw_legend(figure, panels, labels, shape.columns)
    settle(figure)
    for panel in panels:
        _label(panel)
    return figure


def published_series(task: str, size: int, rows: Sequence[SummaryRow]) -> list[Series]:
    """The published points to compare such rows with. Of figures only what no table prints."""
    found: dict[str, Series] = {}
    for model in dict.fromkeys(counterpart(row.model) for row in rows):
        twin = "Qwen-2.5" + model.removeprefix("SDLM") + "-SFT"
        for point in published_points():
            if point.task != task or not _is_drawn(point, model, twin, size):
                continue
            origin = ", read off" if point.certainty == "read-off" else ""
            label = f"published, {point.model}, {point.decoder}{origin}"
            look = (_READ_OFF if origin else _PUBLISHED, _MARKERS[point.decoder])
            # The captions count speed relative to one token per forward.
            speed = 1.0 if point.decoder == "ar" else point.tokens_per_forward
            assert speed is not None, "of the points drawn only ar's have no speed of their own"
            mark = Mark(speed, point.accuracy, point.tau)
            found.setdefault(label, Series(label, *look, [])).points.append(mark)
    return [
        series._replace(points=sorted(series.points, key=lambda point: point.x))
        for series in found.values()
    ]


def _is_drawn(point: PublishedPoint, model: str, twin: str, size: int) -> bool:
    if point.source.startswith("Table 1") and point.model == twin:
        return True
    if (point.model, point.block) != (model, size) or point.tokens_per_forward is None:
        return False
    # Where a figure's threshold could be told, it was by a table's point at the same place.
    return not (point.certainty == "read-off" and point.tau is not None)


def _cases(blocks: Sequence[int]) -> list[tuple[int, Measure]]:
    return list(itertools.product(blocks, _MEASURES))


def _curves(rows: Sequence[SummaryRow]) -> list[Curve]:
    """Families with their looks; a label has one look, whatever the block size. It names the
    model where several models have one block size."""
    models = list(dict.fromkeys(row.model for row in rows))
    pairs = {(block(row), row.model) for row in rows}
    are_mixed = any(
        sum(size == other for other, _ in pairs) > 1 for size, _ in pairs if size is not None
    )
    unsaid = ("block", *shared_options(rows))
    looks: dict[str, tuple[str, str]] = {}
    colours, others = itertools.cycle(COLOURS), itertools.cycle(_OTHER_MARKERS)
    curves: list[Curve] = []
    for model in models:
        for label, members in families([row for row in rows if row.model == model], unsaid):
            if are_mixed:
                label = f"{Path(model).name}: {label}"
            name = parse_spec(members[0].decoder).name
            if label not in looks:
                colour = BLACK if members[0].decoder == BASELINE else next(colours)
                looks[label] = (colour, _MARKERS[name] if name in _MARKERS else next(others))
            curves.append(Curve(label, *looks[label], members))
    return curves


def _belongs(curve: Curve, size: int, rows: Sequence[SummaryRow]) -> bool:
    """Whether it is of this block size, or of none and of a model that has no others."""
    first = curve.rows[0]
    own = block(first)
    if own is not None:
        return own == size
    sizes = {block(row) for row in rows if row.model == first.model} - {None}
    return not sizes or size in sizes


def _draw(panel: _Panel, size: int) -> None:
    axes = panel.axes
    prepare(axes)
    axes.axvline(1.0, color=GREY, linewidth=0.6, linestyle="--", zorder=1.5)
    for series in panel.series:
        axes.plot(
            [point.x for point in series.points],
            [point.y for point in series.points],
            color=series.colour,
            linestyle=":",
            linewidth=0.8,
            marker=series.marker,
            markerfacecolor="white",
            markeredgecolor=series.colour,
            markeredgewidth=0.8,
            label=series.label,
            zorder=2.5,
        )
    # ar last: block-ar's wider marker shows behind it where both are at one place.
    for curve in sorted(panel.curves, key=lambda curve: curve.colour == BLACK):
        draw_curve(axes, curve, panel.measure)
    models = dict.fromkeys(Path(curve.rows[0].model).name for curve in panel.curves)
    axes.set_title(f"D = {size}: {', '.join(models)}", loc="left")
    axes.set_xlabel(_X_LABELS[panel.measure])
    axes.xaxis.set_major_locator(ticks(6))
    if panel.measure == "speedup":
        axes.xaxis.set_major_formatter(times)
    axes.yaxis.set_major_formatter(percent)
    axes.tick_params(labelleft=True)
    axes.set_ylabel("accuracy")


def _draw_title(figure: Figure, rows: Sequence[SummaryRow]) -> None:
    first = rows[0]
    counts = sorted({row.items for row in rows})
    items = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    lines = [f"{first.task}: {items} {first.source} items, batch size {first.batch_size}"]
    # D is said above its panels.
    shared = {name: value for name, value in shared_options(rows).items() if name != "block"}
    if shared:
        lines.append(", ".join(f"{name} {value}" for name, value in shared.items()))
    figure.suptitle("\n".join(lines), fontsize=7.5)


def _draw_legend(
    figure: Figure, panels: Sequence[_Panel], labels: Sequence[str], columns: int
) -> None:
    handles = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.axes.get_legend_handles_labels(), strict=True)
    }
    ordered = list(dict.fromkeys(labels))
    notes = ["bars: 95 % intervals; numbers: threshold τ"]
    if any(panel.series for panel in panels):
        notes.append("hollow: published, official items, not measured here")
    figure.legend(
        [handles[label] for label in ordered],
        ordered,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        borderaxespad=0.2,
        title="\n".join(notes),
        title_fontsize=6.5,
    )


def _label(panel: _Panel) -> None:
    """τ beside each point, measured first: they get the better places."""
    measured = [
        Marks(
            curve.colour,
            [
                Mark(point.x, point.accuracy, tau(point.row))
                for point in points_of(curve.rows, panel.measure)
            ],
        )
        for curve in panel.curves
    ]
    published = [Marks(series.colour, series.points) for series in panel.series]
    label_points(panel.axes, [*measured, *published], size=6)
