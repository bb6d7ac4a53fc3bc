"""What the report's charts show, before anything is drawn: curves, guides and words.

A setting is a run, task, source of items, model and batch size: within it all speedups are against
the same baseline. Different settings never share a pair of axes but for the batch-size curve.
svg.py draws these into the page, pictures.py into files.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from results.families import families, shared_options, tau
from results.report.runs import ReportedRun
from results.statistics import pareto_front
from results.summary import SummaryRow
from results.tables import HEADER, cells

Column = Literal["accuracy", "speedup", "tokens_per_forward", "tokens_per_s", "batch_size", "tau"]
Place = tuple[float, float]

_SAID = ("accuracy, % (95 %)", "speedup (95 %)", "tokens/forward", "tokens/s")


class Series(NamedTuple):
    """A decoder family; `number` decides its look, and is None for the baseline."""

    label: str
    number: int | None
    decoders: frozenset[str]

    def of(self, rows: Iterable[SummaryRow]) -> list[SummaryRow]:
        """Its rows, in the order of τ."""
        members = [row for row in rows if row.decoder in self.decoders]
        return sorted(members, key=lambda row: float(tau(row) or 0))


class Dot(NamedTuple):
    """A row in a chart, with its intervals; ends equal to the value where there is none."""

    x: float
    y: float
    across: tuple[float, float]
    up: tuple[float, float]
    label: str
    tip: str


class Curve(NamedTuple):
    series: Series
    dots: list[Dot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One pair of axes."""

    x: Column
    y: Column
    curves: list[Curve]
    x_range: Place
    y_range: Place
    guides: list[tuple[Place, Place]]
    """Dashed lines."""
    front: list[Place]
    """The Pareto front, or nothing."""
    with_labels: bool


class Figure(NamedTuple):
    """Charts that belong together."""

    name: str
    """Tells it from the others of its run."""
    run: str
    task: str
    title: str
    charts: list[Chart]


class Setting(NamedTuple):
    run: str
    task: str
    source: str
    model: str
    batch_size: int

    def figure(self, kind: str, charts: list[Chart], several: bool) -> Figure:
        name = f"{self.task}-{kind}"
        return Figure(
            f"{name}-batch-{self.batch_size}" if several else name,
            self.run,
            self.task,
            self.title,
            charts,
        )

    @property
    def title(self) -> str:
        return f"{self.task}, {self.source} items, {self.model}, batch size {self.batch_size}"


def series_of(rows: Sequence[SummaryRow], baseline: str) -> list[Series]:
    """The families of all rows, so that each looks the same in all charts."""
    found: list[Series] = []
    for label, members in families(rows, shared_options(rows)):
        decoders = frozenset(row.decoder for row in members)
        if baseline in decoders:
            found.append(Series(f"{label} (baseline)", None, decoders))
        else:
            number = sum(each.number is not None for each in found)
            found.append(Series(label, number, decoders))
    return found


def trade_offs(
    runs: Sequence[ReportedRun], series: Sequence[Series], baseline: str
) -> list[Figure]:
    """Accuracy over speedup, and speedup over tokens per forward, of each setting."""
    figures: list[Figure] = []
    for setting, rows in _settings(runs).items():
        base = [row for row in rows if row.decoder == baseline]
        charts = [_accuracy_over_speedup(rows, series, base), _overhead(rows, series, base)]
        drawn = [chart for chart in charts if chart is not None]
        if drawn:
            figures.append(setting.figure("overhead", drawn, _several_sizes(runs)))
    return figures


def sweeps(runs: Sequence[ReportedRun], series: Sequence[Series]) -> list[Figure]:
    """Accuracy and speedup over τ, of families with several thresholds."""
    figures: list[Figure] = []
    columns: tuple[Column, ...] = ("accuracy", "speedup")
    for setting, rows in _settings(runs).items():
        swept = [each for each in series if len({tau(row) for row in each.of(rows)} - {None}) > 1]
        charts = [
            chart
            for y in columns
            if (chart := _chart([(each, each.of(rows)) for each in swept], "tau", y))
        ]
        if charts:
            figures.append(setting.figure("threshold", charts, _several_sizes(runs)))
    return figures


def batch_curves(runs: Sequence[ReportedRun], series: Sequence[Series]) -> list[Figure]:
    """Tokens/s and speedup over the batch size, where there are several; a curve a decoder."""
    figures: list[Figure] = []
    columns: tuple[Column, ...] = ("tokens_per_s", "speedup")
    settings = _settings(runs)
    for (run, task, source, model), group in groupby(settings, key=lambda setting: setting[:4]):
        rows = [row for setting in group for row in settings[setting]]
        rows.sort(key=lambda row: row.batch_size)
        if len({row.batch_size for row in rows}) < 2:
            continue
        decoders = [
            (each, [row for row in rows if row.decoder == decoder])
            for each in series
            for decoder in dict.fromkeys(row.decoder for row in each.of(rows))
        ]
        charts = [
            chart for y in columns if (chart := _chart(decoders, "batch_size", y, labelled=True))
        ]
        if charts:
            title = f"{task}, {source} items, {model}"
            figures.append(Figure(f"{task}-batch-size", run, task, title, charts))
    return figures


def number_text(column: Column) -> Callable[[float], str]:
    """How an axis writes its numbers."""
    if column == "accuracy":
        return lambda value: f"{100 * value:g} %"
    return lambda value: f"{value:g}×" if column == "speedup" else f"{value:g}"


def axis_label(column: Column) -> str:
    return {
        "accuracy": "accuracy",
        "speedup": "wall-clock speedup",
        "tokens_per_forward": "tokens per forward",
        "tokens_per_s": "tokens/s",
        "batch_size": "batch size",
        "tau": "threshold τ",
    }[column]


def _several_sizes(runs: Sequence[ReportedRun]) -> bool:
    return len({row.batch_size for run in runs for row in run.rows}) > 1


def _settings(runs: Sequence[ReportedRun]) -> dict[Setting, list[SummaryRow]]:
    found: dict[Setting, list[SummaryRow]] = {}
    for run in runs:
        for row in run.rows:
            setting = Setting(run.name, row.task, row.source, row.model, row.batch_size)
            found.setdefault(setting, []).append(row)
    # Batch sizes of a task side by side.
    return dict(sorted(found.items(), key=lambda each: _first(found, each[0])))


def _first(settings: dict[Setting, list[SummaryRow]], setting: Setting) -> int:
    """Where the first setting stands that differs from this one in batch size alone."""
    return next(at for at, each in enumerate(settings) if each[:4] == setting[:4])


def _accuracy_over_speedup(
    rows: Sequence[SummaryRow], series: Sequence[Series], base: Sequence[SummaryRow]
) -> Chart | None:
    members = [(each, each.of(rows)) for each in series]
    chart = _chart(members, "speedup", "accuracy", labelled=True, also_x=(1.0,))
    if chart is None:
        return None
    places = [(dot.x, dot.y) for curve in chart.curves for dot in curve.dots]
    chart.front.extend(places[index] for index in pareto_front(places))
    (left, right), (low, high) = chart.x_range, chart.y_range
    chart.guides.append(((1.0, low), (1.0, high)))
    chart.guides.extend(
        ((left, row.accuracy), (right, row.accuracy)) for row in base if row.accuracy is not None
    )
    return chart


def _overhead(
    rows: Sequence[SummaryRow], series: Sequence[Series], base: Sequence[SummaryRow]
) -> Chart | None:
    """With the line on which every forward costs what one of the baseline costs."""
    if not base or not base[0].tokens_per_forward:
        return None
    per_forward = base[0].tokens_per_forward
    ideal = [row.tokens_per_forward / per_forward for row in rows if row.tokens_per_forward]
    chart = _chart(
        [(each, each.of(rows)) for each in series],
        "tokens_per_forward",
        "speedup",
        labelled=True,
        also_x=(0.0,),
        also_y=(0.0, *ideal),
    )
    if chart is not None:
        end = min(chart.x_range[1], chart.y_range[1] * per_forward)
        chart.guides.append(((0.0, 0.0), (end, end / per_forward)))
    return chart


def _chart(
    members: Sequence[tuple[Series, Sequence[SummaryRow]]],
    x: Column,
    y: Column,
    *,
    labelled: bool = False,
    also_x: tuple[float, ...] = (),
    also_y: tuple[float, ...] = (),
) -> Chart | None:
    """Axes around all dots and intervals, and what they must hold besides; None without dots."""
    curves = [
        Curve(series, [dot for row in rows if (dot := _dot(row, x, y)) is not None])
        for series, rows in members
    ]
    if x == "batch_size":
        # A curve is one decoder, so its last label says it all.
        curves = [
            curve._replace(
                dots=[dot._replace(label="") for dot in curve.dots[:-1]] + curve.dots[-1:]
            )
            for curve in curves
        ]
    drawn = [curve for curve in curves if curve.dots]
    if not drawn:
        return None
    dots = [dot for curve in drawn for dot in curve.dots]
    return Chart(
        x=x,
        y=y,
        curves=drawn,
        x_range=_padded([*also_x, *(end for dot in dots for end in dot.across)], x),
        y_range=_padded([*also_y, *(end for dot in dots for end in dot.up)], y),
        guides=[],
        front=[],
        with_labels=labelled,
    )


def _dot(row: SummaryRow, x: Column, y: Column) -> Dot | None:
    at, value = _value(row, x), _value(row, y)
    if at is None or value is None:
        return None
    return Dot(
        x=at,
        y=value,
        across=_ends(row, x, at),
        up=_ends(row, y, value),
        label=tau(row) or "",
        tip=_tip(row),
    )


def _value(row: SummaryRow, column: Column) -> float | None:
    if column == "tau":
        text = tau(row)
        return None if text is None else float(text)
    return getattr(row, column)


def _ends(row: SummaryRow, column: Column, value: float) -> Place:
    if column not in ("accuracy", "speedup"):
        return (value, value)
    lo, hi = getattr(row, f"{column}_lo"), getattr(row, f"{column}_hi")
    return (value if lo is None else lo, value if hi is None else hi)


def _padded(values: Sequence[float], column: Column) -> Place:
    """A range that holds the values with room beside them, and nothing impossible."""
    lo, hi = min(values), max(values)
    if column == "batch_size":
        return (lo / 1.2, hi * 1.2)
    room = 0.07 * (hi - lo) or 0.1 * abs(hi) or 0.1
    most = 1.0 if column in ("accuracy", "tau") else math.inf
    return (max(lo - room, 0.0), min(hi + room, most))


def _tip(row: SummaryRow) -> str:
    """What a dot is, in words."""
    said = dict(zip(HEADER, cells(row), strict=True))
    numbers = [f"{name}: {said[name]}" for name in HEADER if name in _SAID]
    return "\n".join([f"{row.decoder}, batch size {row.batch_size}", *numbers])
