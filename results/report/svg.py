"""The report's charts as SVG text that takes its colours from the page's style.

matplotlib draws the files under `plots/`; its output cannot follow a reader's dark mode, and takes
seconds where this takes milliseconds. Everything put in is escaped by `Markup.format`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from results.label_places import Box, best_place, curve_obstacles
from results.report.charts import Chart, Dot, Place, Series, axis_label, number_text

WIDTH, HEIGHT = 470.0, 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 14.0, 12.0, 46.0
_FOOT = HEIGHT - _BOTTOM
_CHARACTER, _LINE = 6.3, 12.0
_OFFSETS = (
    *((0, -12), (14, -9), (-14, -9), (14, 9), (-14, 9), (0, 12), (20, 0), (-20, 0)),
    *((0, -22), (0, 22), (25, -16), (-25, -16), (25, 16), (-25, 16), (0, -33), (0, 33)),
)
# Round the origin, about 5 units each way; a shape tells families apart where colours do not.
_SHAPES = (
    "M-4.4-4.4H4.4V4.4H-4.4Z",
    "M0-6L6 0L0 6L-6 0Z",
    "M0-5.8L5.6 4.4H-5.6Z",
    "M0 5.8L5.6-4.4H-5.6Z",
    "M-2-5.6H2V-2H5.6V2H2V5.6H-2V2H-5.6V-2H-2Z",
    "M-5.8 0L4.4-5.6V5.6Z",
    "M5.8 0L-4.4-5.6V5.6Z",
)
_DISC = "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z"


class Scale(NamedTuple):
    """Values from `lo` to `hi` onto units from `start` to `end`."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        ends = (value, self.lo, self.hi)
        given, lo, hi = map(math.log, ends) if self.log else ends
        return round(self.start + (given - lo) / (hi - lo) * (self.end - self.start), 2)


class _Axes(NamedTuple):
    x: Scale
    y: Scale

    def path(self, places: Sequence[Place], css: str) -> Markup:
        path = "L".join(f"{self.x.at(x)} {self.y.at(y)}" for x, y in places)
        return _mark('<path class="{css}" d="M{path}"/>', css=css, path=path)


def draw(chart: Chart, task: str) -> Markup:
    """The chart; without the page's style it is black. task: for the words of who can't see it."""
    is_log = chart.x == "batch_size"
    axes = _Axes(
        Scale(*chart.x_range, _LEFT, WIDTH - _RIGHT, is_log), Scale(*chart.y_range, _FOOT, _TOP)
    )
    parts = [*_grid(chart, axes)]
    if chart.front:
        parts.append(axes.path(chart.front, "front"))
    parts += [axes.path(guide, "guide") for guide in chart.guides]
    for curve in chart.curves:
        parts += _curve(axes, curve.series, curve.dots)
    if chart.with_labels:
        parts += _labels(chart, axes)
    return _mark(
        '<svg viewBox="0 0 {w:g} {h:g}" role="img" aria-label="{y} over {x}, {task}">{all}</svg>',
        w=WIDTH,
        h=HEIGHT,
        x=axis_label(chart.x),
        y=axis_label(chart.y),
        task=task,
        all=Markup("").join(parts),
    )


def swatch(series: Series) -> Markup:
    """A legend's marker."""
    return _mark(
        '<svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">'
        '<path class="mark {css}" d="{shape}"/></svg>',
        css=_css(series),
        shape=_shape(series),
    )


def ticks(lo: float, hi: float, most: int = 6) -> list[float]:
    """At most so many round numbers from `lo` to `hi`, a step of 1, 2, 2.5 or 5 times ten to some
    power apart."""
    power = 10.0 ** math.floor(math.log10((hi - lo) / most))
    for step in (power * each for each in (1, 2, 2.5, 5, 10, 20)):
        first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
        if last - first < most:
            return [round(number * step, 12) for number in range(first, last + 1)]
    raise AssertionError("the largest step always fits")


def _mark(template: str, **values: object) -> Markup:
    return Markup(template).format(**values)


def _css(series: Series) -> str:
    return "base" if series.number is None else f"c{series.number % 6}"


def _shape(series: Series) -> str:
    """Six colours and seven shapes, so that 42 families differ."""
    return _DISC if series.number is None else _SHAPES[series.number % len(_SHAPES)]


def _grid(chart: Chart, axes: _Axes) -> list[Markup]:
    """Lines with their numbers, and what the axes mean."""
    sizes = sorted({dot.x for curve in chart.curves for dot in curve.dots})
    at_x = sizes if chart.x == "batch_size" else ticks(*chart.x_range)
    text_x, text_y = number_text(chart.x), number_text(chart.y)
    right = WIDTH - _RIGHT
    return [
        *(
            _mark(
                '<path class="grid" d="M{x} {top}V{foot}"/>'
                '<text class="tick" x="{x}" y="{low}" text-anchor="middle">{text}</text>',
                x=axes.x.at(value), top=_TOP, foot=_FOOT, low=_FOOT + 15, text=text_x(value),
            )
            for value in at_x
        ),
        *(
            _mark(
                '<path class="grid" d="M{left} {y}H{right}"/>'
                '<text class="tick" x="{at}" y="{low}" text-anchor="end">{text}</text>',
                y=axes.y.at(value), left=_LEFT, right=right, at=_LEFT - 7,
                low=axes.y.at(value) + 4, text=text_y(value),
            )
            for value in ticks(*chart.y_range)
        ),
        _mark(
            '<path class="axis" d="M{l} {t}V{f}H{r}"/>'
            '<text class="label" x="{x}" y="{y}" text-anchor="middle">{words_x}</text>'
            '<text class="label" transform="rotate(-90)" x="{up}" y="11" text-anchor="middle">'
            "{words_y}</text>",
            l=_LEFT, t=_TOP, f=_FOOT, r=right, x=(_LEFT + right) / 2, y=HEIGHT - 8,
            up=-(_TOP + _FOOT) / 2, words_x=axis_label(chart.x), words_y=axis_label(chart.y),
        ),
    ]  # fmt: skip


def _curve(axes: _Axes, series: Series, dots: Sequence[Dot]) -> list[Markup]:
    """A line, then intervals, then markers, which a resting pointer asks for their tip."""
    css = _css(series)
    parts: list[Markup] = []
    if len(dots) > 1:
        parts.append(axes.path([(dot.x, dot.y) for dot in dots], f"curve {css}"))
    for dot in dots:
        bars = ([(end, dot.y) for end in dot.across], [(dot.x, end) for end in dot.up])
        parts += [axes.path(bar, f"bar {css}") for bar in bars if bar[0] != bar[1]]
    for dot in dots:
        parts.append(
            _mark(
                '<path class="mark {css}" transform="translate({x} {y})" d="{shape}">'
                "<title>{tip}</title></path>",
                css=css,
                shape=_shape(series),
                x=axes.x.at(dot.x),
                y=axes.y.at(dot.y),
                tip=dot.tip,
            )
        )
    return parts


def _labels(chart: Chart, axes: _Axes) -> list[Markup]:
    """Each dot's text beside it, where it covers least."""
    places = [
        [(axes.x.at(dot.x), axes.y.at(dot.y)) for dot in curve.dots] for curve in chart.curves
    ]
    obstacles = [each for of_curve in places for each in curve_obstacles(of_curve)]
    page = Box(_LEFT, _TOP, WIDTH - _RIGHT, _FOOT)
    taken: list[Box] = []
    parts: list[Markup] = []
    for curve, of_curve in zip(chart.curves, places, strict=True):
        for dot, (x, y) in zip(curve.dots, of_curve, strict=True):
            if not dot.label:
                continue
            half = len(dot.label) * _CHARACTER / 2
            boxes = [
                Box(x + dx - half, y + dy - _LINE / 2, x + dx + half, y + dy + _LINE / 2)
                for dx, dy in _OFFSETS
            ]
            best = best_place(boxes, page, obstacles, taken)
            taken.append(boxes[best])
            parts.append(
                _mark(
                    '<text class="tau {css}" x="{x}" y="{y}" text-anchor="middle">{text}</text>',
                    css=_css(curve.series),
                    x=round(x + _OFFSETS[best][0], 2),
                    y=round(y + _OFFSETS[best][1] + 4, 2),
                    text=dot.label,
                )
            )
    return parts
