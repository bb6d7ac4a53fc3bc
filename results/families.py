"""What a figure draws, before anything is drawn: which rows form one curve, and its label.

Decoder specs, `name(key=value,…)`, are read here for legends and labels only.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Literal, NamedTuple

from results.summary import SummaryRow

_SPEC = re.compile(r"(?P<name>[^(]+)(?:\((?P<options>.*)\))?", re.DOTALL)
_MEASURES = {
    "accuracy": "accuracy",
    "speedup": "a speedup",
    "tokens_per_forward": "tokens per forward",
}

Measure = Literal["speedup", "tokens_per_forward"]


class Spec(NamedTuple):
    name: str
    options: tuple[tuple[str, str], ...] = ()

    def without(self, *names: str) -> "Spec":
        return Spec(self.name, tuple(pair for pair in self.options if pair[0] not in names))

    def __str__(self) -> str:
        inner = ", ".join(f"{key} {value}" for key, value in self.options)
        return f"{self.name} ({inner})" if inner else self.name


class Family(NamedTuple):
    """Decoders that differ only in their threshold τ, in the order of τ."""

    label: str
    rows: list[SummaryRow]


class Point(NamedTuple):
    """A row that has both coordinates of a panel."""

    row: SummaryRow
    x: float
    accuracy: float


class LegendShape(NamedTuple):
    columns: int
    lines: int


def parse_spec(text: str) -> Spec:
    """Name and options of a full spec. Text of another form is all name, so labels never fail."""
    found = _SPEC.fullmatch(text)
    parts = found["options"].split(",") if found and found["options"] else []
    pairs = [part.partition("=") for part in parts]
    if found is None or any(not key or not equals for key, equals, _ in pairs):
        return Spec(text)
    return Spec(found["name"], tuple((key.strip(), value.strip()) for key, _, value in pairs))


def families(rows: Sequence[SummaryRow], unsaid: Iterable[str] = ()) -> list[Family]:
    """The rows grouped, in the order given; labels leave out τ and the options `unsaid`."""
    groups: dict[Spec, list[SummaryRow]] = {}
    for row in rows:
        groups.setdefault(parse_spec(row.decoder).without("tau"), []).append(row)
    return [
        Family(
            str(spec.without(*unsaid)),
            sorted(members, key=lambda row: float(tau(row) or 0)),
        )
        for spec, members in groups.items()
    ]


def shared_options(rows: Sequence[SummaryRow]) -> dict[str, str]:
    """Options but τ that several families have, all with one value: worth saying once, as they
    tell no two families apart. A spec that lacks an option has it at its default, so a decoder
    that has it in one family must have it in all."""
    specs = {parse_spec(row.decoder).without("tau") for row in rows}
    pairs = {pair for spec in specs for pair in spec.options}
    names = [name for name, _ in pairs]
    return {
        name: value
        for name, value in sorted(pairs)
        if names.count(name) == 1 and _is_shared((name, value), specs)
    }


def _is_shared(pair: tuple[str, str], specs: Set[Spec]) -> bool:
    having = {spec for spec in specs if pair in spec.options}
    decoders = {spec.name for spec in having}
    return len(having) > 1 and having == {spec for spec in specs if spec.name in decoders}


def tau(row: SummaryRow) -> str | None:
    """The threshold as the spec writes it; None for decoders without a numeric one."""
    text = dict(parse_spec(row.decoder).options).get("tau", "")
    return text if re.fullmatch(r"\d*\.?\d+(e-?\d+)?", text) else None


def block(row: SummaryRow) -> int | None:
    """The window's slots, D; None for decoders without windows."""
    text = dict(parse_spec(row.decoder).options).get("block", "")
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else None


def points_of(rows: Sequence[SummaryRow], measure: Measure) -> list[Point]:
    """The rows whose accuracy and `measure` are defined."""
    found: list[Point] = []
    for row in rows:
        x = row.speedup if measure == "speedup" else row.tokens_per_forward
        if x is not None and row.accuracy is not None:
            found.append(Point(row, x, row.accuracy))
    return found


def lacking(rows: Sequence[SummaryRow], name: Callable[[SummaryRow], str]) -> list[str]:
    """What keeps rows out of a figure, or of one of its panels, a line for each measure."""
    lines: list[str] = []
    for column, words in _MEASURES.items():
        names = [name(row) for row in rows if getattr(row, column) is None]
        if names:
            named = "all" if len(names) == len(rows) else ", ".join(names)
            lines.append(f"without {words}: {named}")
    return lines


def legend_shape(labels: Sequence[str], characters: int = 125) -> LegendShape:
    """As many columns as the labels leave room for in a line of `characters`, evenly filled."""
    fitting = max(1, min(4, characters // (max(map(len, labels)) + 6)))
    lines = math.ceil(len(labels) / fitting)
    return LegendShape(math.ceil(len(labels) / lines), lines)
