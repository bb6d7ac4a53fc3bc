"""The paper's tables from runs: tokens per forward (its Table 1) and self-speculation (Table 3).

A line for each model, decoder and threshold; a column for each task, with accuracy and, in
brackets, tokens per forward. Published lines stand apart, below, and say so in a column.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from results.families import block, families, parse_spec, shared_options, tau
from results.number_text import UNDEFINED, number, percent
from results.published import TABLE_TASKS, PublishedPoint, counterpart, published_points
from results.summary import SummaryRow
from results.text_tables import TextTable

_FIXED = ("model", "decoder", "D", "τ", "items", "batch", "origin")
_SPECULATIVE = "self-speculative"
_NOTES = (
    "a cell: accuracy in %, and tokens per forward in brackets; –: undefined or not published.",
    "mean: over the tasks of this table, where a line has all of them.",
    "published: printed in arXiv 2509.24007 or its repository, not measured here; official items. "
    "quoted: the paper's citation of others. uncertain: the paper leaves the setting open.",
)
_COST_NOTES = (
    "of D: mean tokens per forward over the block size. slots/token: query slots fed for a token "
    "kept, mean over tasks. Tokens per forward leave out what verification costs; slots say it.",
)


class _Score(NamedTuple):
    accuracy: float | None
    tokens_per_forward: float | None
    slots: float | None = None


class _Line(NamedTuple):
    """What `_FIXED` names, and a score for each task."""

    fixed: tuple[str, str, int | None, str | None, str, int | None, str]
    scores: Mapping[str, _Score]


def tokens_per_forward_table(rows: Sequence[SummaryRow]) -> TextTable | None:
    """All decoders but the self-speculative; None without rows for it."""
    measured = [row for row in rows if _name(row) != _SPECULATIVE]
    points = [
        point
        for point in published_points()
        if point.source.startswith(("Table 1", "Table 2")) and point.decoder != _SPECULATIVE
    ]
    return _table(measured, points, with_cost=False) if measured else None


def self_speculative_table(rows: Sequence[SummaryRow]) -> TextTable | None:
    """Self-speculation beside `ar` and each decoder with thresholds at its highest, on the tasks
    where it ran; None where it did not."""
    tasks = {row.task for row in rows if _name(row) == _SPECULATIVE}
    highest = {
        (family.rows[-1].model, family.rows[-1].decoder)
        for model in dict.fromkeys(row.model for row in rows)
        for family in families([row for row in rows if row.model == model])
        if tau(family.rows[-1]) is not None
    }
    measured = [
        row
        for row in rows
        if row.task in tasks
        and (_name(row) in ("ar", _SPECULATIVE) or (row.model, row.decoder) in highest)
    ]
    models = {counterpart(row.model) for row in measured}
    points = [
        point
        for point in published_points()
        if point.source == "Table 3"
        or (point.source.startswith("Table 1") and point.tau == "0.98" and point.model in models)
    ]
    return _table(measured, points, with_cost=True) if measured else None


def _name(row: SummaryRow) -> str:
    return parse_spec(row.decoder).name


def _table(
    rows: Sequence[SummaryRow], points: Sequence[PublishedPoint], *, with_cost: bool
) -> TextTable:
    found = dict.fromkeys(row.task for row in rows)
    tasks = [task for task in TABLE_TASKS if task in found]
    tasks += [task for task in found if task not in tasks]
    # D has a column.
    shared = {name: value for name, value in shared_options(rows).items() if name != "block"}
    said = ", ".join(f"{name} {value}" for name, value in shared.items())
    measured = _measured(rows, ("tau", "block", *shared))
    published = _published([point for point in points if point.task in found])
    ends = (["mean"] if len(tasks) > 1 else []) + (["of D", "slots/token"] if with_cost else [])
    pairs = [f"{task} {measure}" for task in tasks for measure in ("accuracy", "tokens/forward")]
    return TextTable(
        header=[*_FIXED, *tasks, *ends],
        groups=[[_cells(line, tasks, ends) for line in group] for group in (measured, published)],
        csv_header=[*_FIXED, *pairs, *(["slots/token"] if with_cost else [])],
        csv_rows=[_csv_cells(line, tasks, with_cost) for line in (*measured, *published)],
        notes=[
            *_NOTES,
            *([f"measured decoders that take them: {said}."] if said else []),
            *(_COST_NOTES if with_cost else ()),
        ],
    )


def _measured(rows: Sequence[SummaryRow], unsaid: Sequence[str]) -> list[_Line]:
    lines: dict[tuple[str, str, str, int], dict[str, _Score]] = {}
    for row in rows:
        key = (row.model, row.decoder, row.source, row.batch_size)
        score = _Score(row.accuracy, row.tokens_per_forward, row.query_slots_per_token)
        lines.setdefault(key, {})[row.task] = score
    firsts = {(row.model, row.decoder, row.source, row.batch_size): row for row in rows}
    return [
        _Line(
            (
                key[0],
                str(parse_spec(key[1]).without(*unsaid)),
                block(firsts[key]),
                tau(firsts[key]),
                key[2],
                key[3],
                "measured",
            ),
            scores,
        )
        for key, scores in lines.items()
    ]


def _published(points: Sequence[PublishedPoint]) -> list[_Line]:
    lines: dict[tuple[str, str, int | None, str | None, str], dict[str, _Score]] = {}
    for point in points:
        origin = "published" + ("" if point.certainty == "printed" else f", {point.certainty}")
        key = (point.model, point.decoder, point.block, point.tau, origin)
        score = _Score(point.accuracy, point.tokens_per_forward)
        lines.setdefault(key, {})[point.task] = score
    return [_Line((*key[:4], "official", None, key[4]), scores) for key, scores in lines.items()]


def _cells(line: _Line, tasks: Sequence[str], ends: Sequence[str]) -> list[str]:
    scores = [line.scores.get(task, _Score(None, None)) for task in tasks]
    accuracy = _mean([score.accuracy for score in scores])
    tokens = _mean([score.tokens_per_forward for score in scores])
    slots = _mean([score.slots for score in scores])
    size = line.fixed[2]
    share = tokens / size if tokens is not None and size is not None else None
    texts = {
        "mean": _cell(_Score(accuracy, tokens)),
        "of D": percent(share, 0),
        "slots/token": number(slots, 2),
    }
    fixed = [UNDEFINED if value is None else str(value) for value in line.fixed]
    return [*fixed, *map(_cell, scores), *(texts[end] for end in ends)]


def _csv_cells(
    line: _Line, tasks: Sequence[str], with_cost: bool
) -> list[str | int | float | None]:
    scores = [line.scores.get(task, _Score(None, None)) for task in tasks]
    pairs = [value for score in scores for value in (score.accuracy, score.tokens_per_forward)]
    slots = [_mean([score.slots for score in scores])] if with_cost else []
    return [*line.fixed, *pairs, *slots]


def _cell(score: _Score) -> str:
    shown = number(score.accuracy, 1, scale=100)
    speed = score.tokens_per_forward
    return shown if speed is None else f"{shown} ({number(speed, 2)})"


def _mean(values: Sequence[float | None]) -> float | None:
    """None where one is missing: a mean over fewer tasks would look like the same thing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
