# matplotlib leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false
"""What every figure shares: its look, curves with intervals, labels kept apart, how it is saved.

The one file of this package that imports matplotlib; the figures take `Axes` and `Figure` from
here. No pyplot, so no global state; the same rows give the same files under one version of
matplotlib.
"""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from results.atomic import drafted
from results.families import Measure, Point, points_of
from results.label_places import Box, best_place, curve_obstacles
from results.summary import SummaryRow

# Okabe and Ito's palette, which colour-blind readers can tell apart. Black is the baseline's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
BLACK, GREY, LIGHT = "#000000", "#8c8c8c", "#d9d9d9"
MARKERS = "sD^vPX<"  # one more than colours, so that 42 families look different
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "sdlm-bench",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "lines.linewidth": 1.3,
    "lines.markersize": 6.5,
    "savefig.dpi": 200,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# Of figures for a printed page: small, as nothing is scaled there, and with real fonts in PDF.
PRINT_STYLE: dict[Any, Any] = {
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 4.5,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
}
Width = Literal["one-column", "two-column"]
INCHES: dict[Width, float] = {"one-column": 3.3, "two-column": 6.9}
# Dates and versions would make two files of the same rows differ.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
# Where a label may sit relative to its point, in points, best first.
_OFFSETS = (
    *((0, 9), (11, 7), (-11, 7), (11, -7), (-11, -7), (0, -9), (17, 0), (-17, 0)),
    *((0, 18), (0, -18), (20, 13), (-20, 13), (20, -13), (-20, -13)),
    *((0, 27), (0, -27), (27, 22), (-27, 22), (27, -22), (-27, -22), (0, 36), (0, -36)),
)
_FAR = 17.5


class Curve(NamedTuple):
    """A family and how it looks."""

    label: str
    colour: str
    marker: str
    rows: list[SummaryRow]


class Mark(NamedTuple):
    """A point drawn, and what to write beside it."""

    x: float
    y: float
    text: str | None


class Marks(NamedTuple):
    """The points of one curve, in its order."""

    colour: str
    points: list[Mark]


def style(changes: dict[Any, Any] | None = None) -> AbstractContextManager[None]:
    """Draw and save within this."""
    return matplotlib.rc_context(_STYLE | (changes or {}))


def new_figure(width: float, height: float) -> Figure:
    """A figure of that many inches, which lays itself out."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Fix the layout. Labels are placed by their size on the page, so they come after this."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def save_figure(
    figure: Figure, path_stem: Path, kinds: Sequence[str] = ("png", "svg", "pdf")
) -> list[Path]:
    """Write `path_stem` + .png and so on, the same bytes for the same figure."""
    path_stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [path_stem.with_name(f"{path_stem.name}.{kind}") for kind in kinds]
    for path, kind in zip(paths, kinds, strict=True):
        with drafted(path) as draft:
            figure.savefig(draft, format=kind, metadata=_METADATA[kind])
    return paths


def ticks(most: int) -> MaxNLocator:
    """At most so many, at round numbers."""
    return MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])


def times(value: float, _: object) -> str:
    return f"{value:g}×"


def percent(value: float, _: object) -> str:
    return f"{100 * value:g} %"


def prepare(axes: Axes) -> None:
    """A faint grid, and room at the edges for labels."""
    axes.grid(color="#ececec", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.07, y=0.06)


def draw_curve(axes: Axes, curve: Curve, measure: Measure) -> None:
    """A family's points with their intervals, filled, joined where it has several."""
    points = points_of(curve.rows, measure)
    for point in points:
        _draw_intervals(axes, point, curve.colour, measure == "speedup")
    axes.plot(
        [point.x for point in points],
        [point.accuracy for point in points],
        color=curve.colour,
        marker=curve.marker,
        markeredgecolor="white",
        markeredgewidth=0.7,
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


def label_points(axes: Axes, curves: Sequence[Marks], size: float = 7.5) -> None:
    """Write each point's text beside it, where it covers least; a line leads to its point where
    that is far, or another nearer."""
    obstacles = [
        obstacle
        for curve in curves
        for obstacle in curve_obstacles(
            [tuple(axes.transData.transform((point.x, point.y))) for point in curve.points]
        )
    ]
    page = Box(*axes.bbox.extents)
    taken: list[Box] = []
    for curve in curves:
        for point in curve.points:
            if point.text is None:
                continue
            trials = [_annotate(axes, point, curve.colour, size, at) for at in _OFFSETS]
            boxes = [Box(*trial.get_window_extent().extents) for trial in trials]
            strays = [_is_nearer_to_another(axes, curves, point, box) for box in boxes]
            best = best_place(boxes, page, obstacles, taken, strays)
            taken.append(boxes[best])
            for trial in trials:
                trial.remove()
            with_line = strays[best] or math.hypot(*_OFFSETS[best]) > _FAR
            _annotate(axes, point, curve.colour, size, _OFFSETS[best], with_line)


def _is_nearer_to_another(axes: Axes, curves: Sequence[Marks], own: Mark, box: Box) -> bool:
    middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)

    def distance(point: Mark) -> float:
        return math.dist(middle, axes.transData.transform((point.x, point.y)))

    return any(distance(point) < distance(own) for curve in curves for point in curve.points)


def _annotate(
    axes: Axes,
    point: Mark,
    colour: str,
    size: float,
    offset: tuple[float, float],
    with_line: bool = False,
) -> Annotation:
    line: dict[str, Any] = {"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkB": 2}
    return axes.annotate(
        point.text or "",
        (point.x, point.y),
        xytext=offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=size,
        color=colour,
        arrowprops=line | {"shrinkA": 0} if with_line else None,
        path_effects=[withStroke(linewidth=1.8, foreground="white")],
        zorder=4,
    )
