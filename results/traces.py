"""How answers came about: for each (item, decoder) what every forward proposed and what was kept.

`traces/<task>.jsonl` of a run folder, one JSON object a line. Traces are for looking at, by the
viewer of the report: no number is computed from them, and a run has them only where asked for.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from results.atomic import write_atomic
from results.sample_files import file_name
from results.stored_json import parse_json

StepKind = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A token that a forward proposed."""

    text: str
    """What it adds to the text."""
    confidence: float
    """The decoder's own score of it, within 0-1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One forward. The first `kept` of `proposed` were kept; none may be, as while a long prompt
    is fed in chunks."""

    kind: StepKind
    proposed: list[Proposed]
    kept: int

    def __post_init__(self) -> None:
        if not 0 <= self.kept <= len(self.proposed):
            raise ValueError(
                f"kept is {self.kept} of {len(self.proposed)} proposed tokens, expected 0 to "
                f"{len(self.proposed)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One item under one decoder, from the prompt's first forward to the answer's last."""

    task: str
    item_id: str
    decoder: str
    """Full decoder spec."""
    prompt: str
    steps: list[Step]


def traces_path(folder: Path, task: str) -> Path:
    """Where a run folder has the traces of a task."""
    return folder / "traces" / f"{file_name(task)}.jsonl"


def write_traces(path: Path, traces: Sequence[Trace]) -> None:
    """The whole file at once; the folder is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(trace), allow_nan=False) for trace in traces)
    write_atomic(path, "".join(f"{line}\n" for line in lines))


def read_traces(path: Path) -> list[Trace]:
    """Every trace of a file. ValueError with file and line for anything that is none, and for a
    second trace of the same item and decoder."""
    found: dict[tuple[str, str, str], Trace] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            trace = _trace(_parsed(line))
            key = (trace.task, trace.item_id, trace.decoder)
            if key in found:
                raise ValueError(f"a second trace of {trace.item_id} under {trace.decoder}")
            found[key] = trace
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number}: {error}; remove the file, or have it made anew by"
                " `harness run` … --resume --traces N"
            ) from None
    return list(found.values())


def _parsed(line: bytes) -> object:
    try:
        return parse_json(line)
    except ValueError:
        raise ValueError("not valid JSON") from None


def _trace(data: object) -> Trace:
    given = _object(data, "a trace", ("task", "item_id", "decoder", "prompt", "steps"))
    return Trace(
        task=_text(given, "task"),
        item_id=_text(given, "item_id"),
        decoder=_text(given, "decoder"),
        prompt=_text(given, "prompt"),
        steps=[_step(each) for each in _list(given, "steps")],
    )


def _step(data: object) -> Step:
    given = _object(data, "a step", ("kind", "proposed", "kept"))
    kind, kept = given["kind"], given["kept"]
    if kind not in get_args(StepKind):
        raise ValueError(f"kind is {kind!r:.80}, expected one of {', '.join(get_args(StepKind))}")
    if isinstance(kept, bool) or not isinstance(kept, int):
        raise ValueError(f"kept is {kept!r:.80}, expected a whole number")
    return Step(
        kind=kind, proposed=[_proposed(each) for each in _list(given, "proposed")], kept=kept
    )


def _proposed(data: object) -> Proposed:
    given = _object(data, "a proposed token", ("text", "confidence"))
    confidence = given["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ValueError(f"confidence is {confidence!r:.80}, expected a number")
    if not 0 <= confidence <= 1:
        raise ValueError(f"confidence is {confidence!r:.80}, expected 0 to 1")
    return Proposed(text=_text(given, "text"), confidence=float(confidence))


def _object(data: object, what: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, dict) or data.keys() != set(names):
        raise ValueError(f"got {data!r:.80}, expected {what} with {', '.join(names)}")
    return cast("dict[str, Any]", data)


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r:.80}, expected a string")
    return value


def _list(given: Mapping[str, Any], name: str) -> list[object]:
    value = given[name]
    if not isinstance(value, list):
        raise ValueError(f"{name} is {value!r:.80}, expected a list")
    return cast("list[object]", value)
