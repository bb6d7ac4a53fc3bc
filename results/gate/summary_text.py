"""A verdict in words: one line, cells of a table, Markdown for a pull request, JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from results.bootstrap import Estimate
from results.gate.numbers import RowNumbers
from results.gate.pairing import RowKey
from results.gate.verdict import RowVerdict, Verdict
from results.number_text import number, p_value, with_interval
from results.records import SCHEMA
from results.text_tables import markdown_table

HEADER = (
    "decoder",
    "items",
    "tokens/s, base",
    "new",
    "new/base (95 %)",
    "same, over {baseline}",
    "finds from",
    "accuracy, points (95 %)",
    "p (Holm)",
    "detectable",
    "changed ids",
    "verdict",
)
_SHORT = ("decoder", "new/base (95 %)", "accuracy, points (95 %)", "changed ids", "verdict")

_NOTES = (
    "new/base: ratio of total tokens/s on the items both runs completed; its interval is over"
    " stretches of time, as a machine is slow for a while.",
    "same, over {baseline}: ratio of the speedups over `{baseline}`. What slows a whole machine"
    " cancels there.",
    "slower: that interval lies below {floor:.2f}; or the one over `{baseline}` does, and the"
    " decoder changed more than `{baseline}`. By tokens/s alone, a slowdown to `finds from` or"
    " less is found four times in five.",
    "accuracy: new minus base; a loss counts where McNemar's exact test, adjusted for all rows"
    " (Holm), is below 0.05. detectable: the smallest difference such a test (unadjusted) finds"
    " four times in five.",
    "changed ids: items with other ids, the first of them, and where it differs first."
    " Equality is {promised}.",
)


def verdict_line(verdict: Verdict) -> str:
    """What a hurried reader needs."""
    rows = verdict.rows
    problems = _counted([problem for row in rows for problem in row.problems], len(rows))
    better = _counted([gain for row in rows for gain in row.improvements], len(rows))
    changed = sum(row.numbers.changed is not None for row in rows)
    fine = "ok: no detectable loss of speed or accuracy" + ("" if changed else ", same ids")
    said = [f"regression: {problems}" if problems else fine]
    if changed and not (verdict.ids_promised or verdict.rules.strict_ids):
        said.append(f"ids changed in {changed} of {len(rows)} rows, where none are promised")
    if better:
        said.append(f"better: {better}")
    if any(row.numbers.speed is None or row.numbers.speed.hi is None for row in rows):
        said.append("not every speed could be judged")
    (base, of_base), (new, of_new) = verdict.noisy
    if base or new:
        said.append(
            f"other programs disturbed {base} of {of_base} samples of the base run and {new} of"
            f" {of_new} of the new one"
        )
    return "; ".join(said)


def cells(row: RowVerdict) -> tuple[str, ...]:
    """A row as text under `HEADER`; an undefined number is a dash."""
    found = row.numbers
    accuracy = found.accuracy
    return (
        found.key.decoder,
        str(found.items),
        number(found.base_tokens_per_s, 1),
        number(found.new_tokens_per_s, 1),
        _estimate(found.speed, digits=3),
        _estimate(found.over_baseline, digits=3),
        number(row.least_found, 2),
        _estimate(accuracy and accuracy.difference, digits=1, scale=100, sign="+"),
        p_value(row.p_holm),
        number(accuracy and accuracy.detectable, 1, scale=100),
        _change(found),
        ", ".join([*row.problems, *row.improvements]) or _no_finding(row),
    )


def header(verdict: Verdict) -> list[str]:
    return [name.format(baseline=verdict.rules.baseline) for name in HEADER]


def groups(verdict: Verdict) -> dict[str, list[RowVerdict]]:
    """Rows by what tables have in their title."""
    found: dict[str, list[RowVerdict]] = {}
    for row in verdict.rows:
        found.setdefault(_title(row.numbers.key), []).append(row)
    return found


def remarks(verdict: Verdict) -> list[str]:
    """What the table has no room for, a line each."""
    lines = [f"{row.numbers.key}: {note}" for row in verdict.rows for note in row.notes]
    lines += [
        f"{row.numbers.key}: {row.numbers.newly_failed} items fail that the base run completed"
        for row in verdict.rows
        if row.numbers.newly_failed
    ]
    lines += [f"allowed to differ: {name}, {how}" for name, how in verdict.allowed]
    lines += [f"in the base run alone: {key}" for key in verdict.only_in_base]
    lines += [f"in the new run alone: {key}" for key in verdict.only_in_new]
    lines += [f"{name}: {base}, then {new}" for name, (base, new) in verdict.software.items()]
    if any(commit.endswith("+") for commit in verdict.software["git_commit"]):
        lines.append("a commit with +: the code had changes that it does not hold")
    return lines


def explanations(verdict: Verdict) -> list[str]:
    """What the columns mean, a line each."""
    if verdict.ids_promised:
        promised = "promised"
    elif verdict.rules.strict_ids:
        promised = "not promised, but asked for by --strict-ids"
    else:
        promised = "not promised, so changes are told only"
    return [
        note.format(baseline=verdict.rules.baseline, floor=verdict.rules.floor, promised=promised)
        for note in _NOTES
    ]


def markdown(verdict: Verdict) -> str:
    """For a comment on a pull request: the line, what was found, and the rest folded away."""
    parts = [f"**{verdict_line(verdict)}**"]
    names = header(verdict)
    for title, rows in groups(verdict).items():
        told = [row for row in rows if row.problems or row.improvements]
        if told:
            short = [[cells(row)[HEADER.index(name)] for name in _SHORT] for row in told]
            parts += [f"{title}:", markdown_table(_SHORT, short)]
    parts.append(
        f"<details><summary>All rows, and what the columns mean</summary>\n\n"
        f"base `{verdict.base}`, new `{verdict.new}`"
    )
    for title, rows in groups(verdict).items():
        parts += [f"{title}:", markdown_table(names, [cells(row) for row in rows])]
    notes = [*remarks(verdict), *explanations(verdict)]
    parts += ["\n".join(f"- {line}" for line in notes), "</details>"]
    return "\n\n".join(parts) + "\n"


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Everything of the verdict as plain data."""
    return {
        "schema": SCHEMA,
        "verdict": "regression" if verdict.failed else "ok",
        "summary": verdict_line(verdict),
        "base": verdict.base,
        "new": verdict.new,
        "tolerance": verdict.rules.tolerance,
        "ids_promised": verdict.ids_promised,
        "strict_ids": verdict.rules.strict_ids,
        "noisy_samples": {
            name: {"noisy": noisy, "known": known}
            for name, (noisy, known) in zip(("base", "new"), verdict.noisy, strict=True)
        },
        "rows": [_row_json(row) for row in verdict.rows],
        "allowed": [each._asdict() for each in verdict.allowed],
        "only_in_base": [key._asdict() for key in verdict.only_in_base],
        "only_in_new": [key._asdict() for key in verdict.only_in_new],
        "software": {
            name: {"base": base, "new": new} for name, (base, new) in verdict.software.items()
        },
    }


def _row_json(row: RowVerdict) -> dict[str, Any]:
    found, accuracy = row.numbers, row.numbers.accuracy
    return {
        **found.key._asdict(),
        "problems": [*row.problems],
        "improvements": [*row.improvements],
        "notes": [*row.notes],
        "items": found.items,
        "newly_failed": found.newly_failed,
        "base_tokens_per_s": found.base_tokens_per_s,
        "new_tokens_per_s": found.new_tokens_per_s,
        "speed": found.speed._asdict() if found.speed else None,
        "over_baseline": found.over_baseline._asdict() if found.over_baseline else None,
        "least_found": row.least_found,
        "accuracy": {**accuracy._asdict(), "difference": accuracy.difference._asdict()}
        if accuracy
        else None,
        "p_holm": row.p_holm,
        "changed_ids": found.changed._asdict() if found.changed else None,
    }


def _title(key: RowKey) -> str:
    return f"{key.task}: {key.source} items, batch size {key.batch_size}"


def _counted(words: Sequence[str], rows: int) -> str:
    return ", ".join(f"{word} in {count} of {rows} rows" for word, count in Counter(words).items())


def _no_finding(row: RowVerdict) -> str:
    return "no detectable difference" + (", see the notes" if row.notes else "")


def _estimate(found: Estimate | None, *, digits: int, scale: float = 1, sign: str = "") -> str:
    ends = found or (None, None, None)
    return with_interval(*ends, digits=digits, scale=scale, sign=sign)


def _change(found: RowNumbers) -> str:
    if found.changed is None:
        return "0"
    items, item_id, position = found.changed
    return f"{items} ({item_id} at {position})"
